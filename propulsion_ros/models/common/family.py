# SPDX-License-Identifier: Apache-2.0
"""What every actuator family is to the rest of the package: one step from command to wrench."""
from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from propulsion_ros.models.common.facts import FamilyFacts
from propulsion_ros.settings.errors import CommandError, ConfigError
from propulsion_ros.settings.quantity import BoolArray, FloatArray

T = TypeVar('T')
_NONE = np.zeros(0)
FIELDS = ('position', 'velocity', 'effort')
"""Fields of a command and of a state, as JointState has them."""
WRENCH_NAMES = ('force.x', 'force.y', 'force.z', 'torque.x', 'torque.y', 'torque.z')
"""Command names of a family that is commanded by a wrench."""


_MOST_ROBOTS = 10_000_000
"""Of many more a computer has not the memory."""


def numbers_of(
    given: Any, error: Callable[[str], Exception], kinds: str = 'fiu'
) -> FloatArray:
    """Return a new array of numbers, with NaN for what an array masks.

    Raises the error of a text for what numpy does not have as numbers, which are ``kinds`` of its
    types: for texts, truths, objects and rows of several lengths.
    """
    try:
        values = np.asanyarray(given)
    except (TypeError, ValueError, RuntimeError):
        # Also of tensors that are on a graphics card, or have a gradient.
        values = np.zeros(0, object)
    if values.dtype.kind not in kinds:
        raise error(f'expected numbers, got {shown(given)}')
    array = np.array(values, dtype=float)
    if np.ma.isMaskedArray(values):
        array[np.ma.getmaskarray(values)] = np.nan
    return array


def require_counts(key: str, example: str, given: object, counts: tuple[Any, ...]) -> None:
    """Raise `ConfigError` for what is no number of robots, or more than fit into a computer."""
    for n in counts:
        if not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 1:
            raise ConfigError(key, f'expected how many robots, {example}, got {given!r}')
    if math.prod(counts) > _MOST_ROBOTS:
        raise ConfigError(key, f'expected at most {_MOST_ROBOTS} robots, got {given!r}')


def shown(given: Any) -> str:
    """Return what was given in place of numbers, in one line."""
    if isinstance(given, np.ndarray):
        return f'an array of {given.dtype}, shape {given.shape}'
    return f'{type(given).__name__} {reprlib.repr(given)}'


def _arrays(given: Any) -> None:
    """Turn lists in fields of a frozen dataclass into arrays of numbers."""
    for key, value in vars(given).items():
        is_right = type(value) is np.ndarray and value.dtype.char == 'd'
        if value is not None and not is_right:
            array = numbers_of(value, lambda problem, key=key: CommandError(f'{key}: {problem}'))  # type: ignore[misc]
            object.__setattr__(given, key, array)


@dataclass(frozen=True)
class Command:
    """What was commanded, one column for each of `Family.command_names`; lists are accepted.

    ``position``, ``velocity`` and ``effort`` are (..., m), in SI units; NaN where a name was never
    commanded or takes another field.
    """

    position: FloatArray | None = None
    velocity: FloatArray | None = None
    effort: FloatArray | None = None

    def __post_init__(self) -> None:
        _arrays(self)

    def refuse_other(self, names: Sequence[str], fields: Sequence[str]) -> None:
        """Raise `CommandError` for a number in a field that its name does not take."""
        for field in FIELDS:
            value = getattr(self, field)
            others = [i for i, taken in enumerate(fields) if taken != field]
            if value is None or not others or np.isnan(value[..., others]).all():
                continue
            given = np.where(np.isin(range(len(fields)), others), value, np.nan)
            at = tuple(np.argwhere(~np.isnan(given))[0])
            raise CommandError(
                f'{names[at[-1]]}: expected {fields[at[-1]]}, got {field} {given[at]:g}; leave a '
                'field out that is not meant'
            )


def refuse_negative(
    values: FloatArray | None, names: Sequence[str], field: str, unit: str, why: str
) -> None:
    """Raise `CommandError` for a value below 0 of the field of a command, (..., n), by its name."""
    if values is None or not np.count_nonzero(negative := values < 0.0):
        return
    at = tuple(np.argwhere(negative)[0])
    number = f'{values[at]:g} {unit}'.rstrip()
    raise CommandError(f'{names[at[-1]]}: {field} {number} is negative, {why}')


def require_batch(indices: Any, batch: tuple[int, ...]) -> None:
    """Raise `IndexError` for indices of environments that are not in a batch.

    States in their place, which come after them, are a `ConfigError`.
    """
    if isinstance(indices, Mapping):
        raise ConfigError(
            'indices', 'expected which are reset, such as [0, 2], or None for all, got '
            f'{type(indices).__name__}; states by name are state={{...}}'
        )
    if indices is not None and not batch:
        raise IndexError('reset: expected no indices, there is no batch axis')
    try:
        np.broadcast_to(0, batch)[indices]
    except IndexError as error:
        raise IndexError(f'reset: indices of a batch of {batch}: {error}') from None


def restart(owner: object, indices: Any, batch: tuple[int, ...], **starts: NDArray[Any]) -> None:
    """Return states of a model to their start, all or in some environments of a batch.

    Parameters
    ----------
    owner : object
        Has each state as an attribute; it need not have it yet where ``indices`` is None.
    indices : index or None
        Of the leading batch axes; None for all of it.
    batch : tuple of int
        The batch axes.
    **starts : ndarray
        By the state's name: how it begins, (..., n).

    Raises
    ------
    IndexError
        For indices where there is no batch axis.
    """
    require_batch(indices, batch)
    for name, start in starts.items():
        # Outputs share the state, so it is replaced and not written to.
        state = (start if indices is None else getattr(owner, name)).copy()
        if indices is not None:
            state[indices] = start[indices]
        setattr(owner, name, state)


def read_only(values: T) -> T:
    """Make arrays read-only, those in tuples and mappings too, and return them.

    What a program is given shares arrays with models: writing to them would change a simulation.
    """
    # By place, and not by `Mapping`: keywords and its test would take longer than all else here.
    if isinstance(values, np.ndarray):
        values.setflags(False)  # type: ignore[call-arg]
    elif isinstance(values, tuple | dict):
        for part in values.values() if isinstance(values, dict) else values:
            if isinstance(part, np.ndarray):
                part.setflags(False)  # type: ignore[call-arg]
            elif part is not None:
                read_only(part)
    return values


def given_or_safe(given: FloatArray, safe: FloatArray) -> FloatArray:
    """Return values of a command (..., m), ``safe`` where NaN means that there is none."""
    missing = np.isnan(given)
    return np.where(missing, safe, given) if np.count_nonzero(missing) else given.copy()


@dataclass(frozen=True)
class BodyState:
    """Motion of the vehicle through its fluid, in base_link axes; lists are accepted.

    Attributes
    ----------
    velocity : FloatArray, optional
        Velocity relative to the fluid [m/s], shape (..., 3).
    angular_velocity : FloatArray, optional
        Angular velocity of the body [rad/s], shape (..., 3).
    gravity : FloatArray, optional
        Acceleration of gravity [m/s^2], shape (..., 3).
    height : FloatArray, optional
        Height of the origin of base_link above that of the world [m], shape (...).
    up : FloatArray, optional
        Unit vector along z of the world, shape (..., 3); ground effect needs it beside `height`.
    """

    velocity: FloatArray | None = None
    angular_velocity: FloatArray | None = None
    gravity: FloatArray | None = None
    height: FloatArray | None = None
    up: FloatArray | None = None

    def __post_init__(self) -> None:
        _arrays(self)

    @property
    def twist(self) -> FloatArray | None:
        """Velocity, then angular velocity or 0 where it is not known, (..., 6)."""
        velocity, rate = self.velocity, self.angular_velocity
        if velocity is None:
            return None
        if rate is None:
            rate = np.zeros_like(velocity)
        elif rate.shape != velocity.shape:
            velocity, rate = np.broadcast_arrays(velocity, rate)
        return np.concatenate((velocity, rate), axis=-1)

    @property
    def heights(self) -> FloatArray | None:
        """Height of all actuators, so that it fits (..., n)."""
        height = self.height
        return height if height is None or not height.ndim else height[..., None]

    def met(self, motion: FloatArray, table: FloatArray, by_row: bool = False) -> FloatArray:
        """Return what n actuators meet of a motion, (..., m).

        Parameters
        ----------
        motion : FloatArray
            `twist` or one of the vectors, k numbers.
        table : FloatArray
            Linear functions of it, m / n of each actuator, (k, m).
        by_row : bool
            Whether those of one actuator stand together; else the first ones of all come first.
        """
        # Not by a call of `product`, which would cost a part of the step.
        return np.asarray(motion.dot(table) if motion.ndim < 3 else motion @ table)


class MotionOfEach(BodyState):
    """The same for each of n actuators: every field has a row for each, (..., n, 3) and (..., n).

    It is the motion of the axes of base_link as joints have turned them with the actuator's link.
    """

    @property
    def heights(self) -> FloatArray | None:
        """Height of each actuator, (..., n)."""
        return self.height

    def met(self, motion: FloatArray, table: FloatArray, by_row: bool = False) -> FloatArray:
        """Return what each actuator meets of its own row of a motion; see `BodyState.met`."""
        n, m = motion.shape[-2], table.shape[1]
        owner = np.arange(m) // (m // n) if by_row else np.arange(m) % n
        return np.asarray(np.einsum('...mk,km->...m', motion[..., owner, :], table))


class TankState(NamedTuple):
    """What is left in the tanks of a family after a step, in base_link axes.

    The ``mass`` of propellant [kg] is (..., m), its centre ``com`` [m] (..., m, 3), and its
    ``inertia`` about that [kg m^2] (..., m, 3, 3).
    """

    mass: FloatArray
    com: FloatArray
    inertia: FloatArray


class BatteryState(NamedTuple):
    """What a step did to the batteries of a family, each (..., m).

    Over the step they have a mean ``voltage`` [V] and a mean ``current`` [A], at least 0; after it
    a ``charge`` over the capacity, 0 to 1.
    """

    voltage: FloatArray
    current: FloatArray
    charge: FloatArray


# A tuple, because a dataclass that is frozen takes three times as long to make.
class Output(NamedTuple):
    """What one step did.

    Its arrays stay as they are in later steps; those that a program is given are read-only.

    Attributes
    ----------
    wrench : FloatArray
        Net force [N] and torque [N m] in base_link axes about its origin, shape (..., 6).
    thrusts : FloatArray
        How hard each actuator pushes along its row of `axes` [N], shape (..., n).
    axes : FloatArray
        Direction of each thrust in base_link, (..., n, 3), or (n, 3) where it is one for all.
    position, velocity, effort : FloatArray or None
        State [rad], [rad/s], [N], one column for each of `state_names`; NaN for no such field.
    computed, applied : FloatArray or None
        The value before and after physical limits and faults, shape (..., n).
    flags : mapping of str to BoolArray
        Physical limits that were met, each (..., n) or (..., m): 'saturated', 'dry', ...
    tanks : TankState or None
        Propellant left, for families that burn any.
    batteries : BatteryState or None
        Batteries of families that have any.
    """

    wrench: FloatArray
    thrusts: FloatArray
    axes: FloatArray
    position: FloatArray | None = None
    velocity: FloatArray | None = None
    effort: FloatArray | None = None
    computed: FloatArray | None = None
    applied: FloatArray | None = None
    flags: Mapping[str, BoolArray] = MappingProxyType({})
    tanks: TankState | None = None
    batteries: BatteryState | None = None

    @property
    def forces(self) -> FloatArray:
        """Force of each actuator in base_link axes [N], shape (..., n, 3)."""
        # Multiplied out where it is read: in a large batch it can cost more than the step itself.
        return np.asarray(self.thrusts[..., None] * self.axes)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what a copy is made of, as a mapping that is read-only cannot be copied."""
        return type(self), tuple(dict(part) if isinstance(part, Mapping) else part for part in self)


class Steps(NamedTuple):
    """What is published of t steps, each (t, ...); see `Output`."""

    wrench: FloatArray
    position: FloatArray | None = None
    velocity: FloatArray | None = None
    effort: FloatArray | None = None
    tanks: TankState | None = None

    def output(self, i: int) -> Output:
        """Return what one of the steps did, as far as it is published."""
        position, velocity, effort = (
            None if field is None else field[i]
            for field in (self.position, self.velocity, self.effort)
        )
        tanks = None if self.tanks is None else TankState(*(part[i] for part in self.tanks))
        return Output(
            self.wrench[i], _NONE, _NONE, position, velocity, effort, tanks=tanks
        )


class Family(Protocol):
    """Actuators of one kind: configuration in, wrench out.

    A family is built from its validated `Params`, and from a ``batch``, the leading shape of its
    state, () for one robot. It reads no clock: ``dt`` and ``tick`` are arguments, and what it does
    depends on nothing else.
    """

    Params: ClassVar[type]
    """The frozen configuration dataclass."""
    facts: ClassVar[FamilyFacts]
    """What the rest of the package must know beside its step."""

    @property
    def command_names(self) -> Sequence[str]:
        """What can be commanded, in column order."""

    @property
    def command_fields(self) -> Sequence[str]:
        """The JointState field of each name: 'position', 'velocity' or 'effort'."""

    @property
    def state_names(self) -> Sequence[str]:
        """Columns of the state in `Output`."""

    @property
    def safe_command(self) -> FloatArray:
        """Value applied to each name whose command is stale, (m,)."""

    @property
    def nan_is_safe(self) -> Sequence[bool]:
        """Whether NaN in a name's own field requests its safe command; else it is refused."""

    @property
    def uses_body(self) -> bool:
        """Whether `step` depends on the body's motion, so that a host must supply it."""

    @property
    def actuator_names(self) -> Sequence[str]:
        """The n actuators that make forces."""

    @property
    def actuator_frames(self) -> Sequence[str]:
        """The link that each actuator acts on."""

    @property
    def tank_names(self) -> Sequence[str]:
        """The m tanks, () for families without."""

    def __init__(self, params: Any) -> None: ...

    def check_command(self, command: Command) -> None:
        """Raise `CommandError` for values that this family refuses beyond NaN and infinity."""

    def step(self, command: Command, body: BodyState, dt: float, tick: int) -> Output:
        """Advance by ``dt`` [s]; ``tick`` numbers the step and keys the noise.

        What is returned is not changed by a later step. `Model` and the nodes refuse a number in a
        field that a name does not take; here it is ignored.
        """

    def reset(self) -> None:
        """Restore the state at construction."""

    def rest(self) -> None:
        """Stop what moves, as a long time without command does; propellant stays as it is."""

    def link_wrenches(self, output: Output) -> FloatArray:
        """Return the wrench of each actuator in the axes of and about its link, (..., n, 6).

        ``output`` is that of the last step.
        """


@runtime_checkable
class Blockwise(Protocol):
    """A family that makes many steps faster than one by one, and checks many commands, (t, m)."""

    def steps(self, commands: Command, body: BodyState, dt: float) -> Steps | None:
        """Advance by a step of ``dt`` [s] for each row of the commands, (t, m).

        Return None, and do nothing, where only single steps give the same to the last bit.
        """


def run_steps(family: Family, commands: Command, body: BodyState, dt: float, tick: int) -> Steps:
    """Advance a family by a step for each row of commands, (t, m), of which ``tick`` is the first.

    Which fields a family has in its `Output` must be the same in each step; see `Family.step`.
    """
    if isinstance(family, Blockwise):
        steps = family.steps(commands, body, dt)
        if steps is not None:
            return steps
    given = {
        field: values for field in FIELDS if (values := getattr(commands, field)) is not None
    }
    count = len(next(iter(given.values())))
    outputs = [
        family.step(
            Command(**{field: values[i] for field, values in given.items()}), body, dt, tick + i
        )
        for i in range(count)
    ]
    tanks = None if outputs[0].tanks is None else TankState(
        *(np.array(parts) for parts in zip(*(output.tanks for output in outputs), strict=True))
    )
    states = {field: _stacked(outputs, field) for field in FIELDS}
    return Steps(np.array([output.wrench for output in outputs]), **states, tanks=tanks)


def _stacked(outputs: list[Output], field: str) -> FloatArray | None:
    if getattr(outputs[0], field) is None:
        return None
    return np.array([getattr(output, field) for output in outputs])


@runtime_checkable
class Retunable(Protocol):
    """A family some of whose parameters are live: they may change while it runs."""

    def retune(self, params: Any) -> None:
        """Take the live values of a configuration; from now on `Family.reset` keeps them."""


@runtime_checkable
class StepLimited(Protocol):
    """A family that refuses steps that are too long."""

    def check_step(self, dt: float) -> None:
        """Raise what `Family.step` raises for the length of a step [s], and change nothing."""


@runtime_checkable
class Degradable(Protocol):
    """A family whose actuators can give less than their commands reckon with."""

    @property
    def degraded(self) -> BoolArray:
        """Which actuators do so now, (..., n)."""


@runtime_checkable
class Powered(Protocol):
    """A family whose actuators may draw from batteries."""

    @property
    def battery_names(self) -> Sequence[str]:
        """The m batteries, () where there are none."""

    @property
    def battery_capacity(self) -> FloatArray:
        """Charge of each when full [A h], (m,)."""


def battery_names(family: Family) -> Sequence[str]:
    """Return the batteries of a family, () where it has none."""
    return family.battery_names if isinstance(family, Powered) else ()


@runtime_checkable
class Weakening(Protocol):
    """A family of which it is known how much less than their commands reckon with they give."""

    @property
    def effectiveness(self) -> FloatArray:
        """Thrust of each actuator over the one that its command is for, (n,); healthy ones 1."""


def effectiveness_of(family: Family) -> FloatArray:
    """Return the effectiveness of the actuators of a family, (n,); 1 where it is not known."""
    if isinstance(family, Weakening):
        return family.effectiveness
    return np.ones(len(family.actuator_names))


@runtime_checkable
class AboutCom(Protocol):
    """A family whose wrenches are about the vehicle's centre of mass."""

    def set_com(self, com: FloatArray) -> None:
        """Take the centre of mass [m], (3,), in base_link; `Family.reset` forgets it."""


@runtime_checkable
class Allocatable(Family, Protocol):
    """A family that can make any thrusts within limits.

    Its actuators are commanded by their own names and in one field; what else it has names for is
    not allocated, and reckoned with at rest.
    """

    @property
    def allocation_matrix(self) -> FloatArray:
        """Wrench about the origin of base_link per thrust, (6, n)."""

    @property
    def thrust_limits(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest steady thrust of each actuator [N], (n,) each."""

    def command_for(self, thrust: FloatArray) -> FloatArray:
        """Return the commands that settle at thrusts [N], (..., n), at rest in the fluid."""


@runtime_checkable
class Idling(Protocol):
    """An allocatable family whose actuators cannot make the smallest thrusts above 0."""

    @property
    def least_thrust(self) -> FloatArray:
        """Thrust of each actuator below which there is only 0 [N], (n,); 0 for no such gap."""


def is_allocatable(family: type[Family]) -> bool:
    """Whether what a class makes is `Allocatable`: no other family has commands for thrusts."""
    return hasattr(family, 'command_for')


class Estimated(Protocol):
    """What is applied."""

    @property
    def wrench(self) -> FloatArray:
        """Force [N] and torque [N m] about the point that torques are about, (..., 6)."""

    @property
    def thrust(self) -> FloatArray:
        """Thrust of each actuator [N], (..., n)."""


@runtime_checkable
class Estimator(Family, Protocol):
    """A family without state that estimates what n actuators, fed by m drives, apply by command.

    Its commands are an angle of each actuator (position), then a speed of each drive (velocity).
    """

    @property
    def to_origin(self) -> FloatArray:
        """Moves a wrench about the point that torques are about to base_link's origin, (6, 6)."""

    @property
    def knows_errors(self) -> bool:
        """Whether there is a covariance."""

    def retune(self, params: Any) -> None:
        """Take the live values of a configuration."""

    def set_com(self, com: FloatArray) -> None:
        """Take the centre of mass [m], (3,), in base_link, that torques are about."""

    def set_measured_speed(self, speed: FloatArray | None) -> None:
        """Take measured speeds of the drives [rad/s], (m,); None or NaN where unknown."""

    def commanded(self, command: Command) -> tuple[FloatArray, FloatArray]:
        """Return angles [rad], (..., n), and speeds [rad/s], (..., m), of a command."""

    def estimate(self, angle: FloatArray, speed: FloatArray) -> Estimated:
        """Return what angles and speeds apply."""

    def covariance(self, angle: FloatArray, speed: FloatArray) -> FloatArray:
        """Return the covariance of the wrench of `estimate`, (..., 6, 6)."""
