# SPDX-License-Identifier: Apache-2.0
"""Any family on links that joints turn: its forces, and what it meets, where the links are now.

A family knows its actuators with all joints at position 0. What a joint turns meets the motion of
the body in its turned axes, the rate of the joint with it, and its wrench is turned back.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from propulsion_ros.models.common.facts import LIFT
from propulsion_ros.models.common.family import (
    BodyState,
    Command,
    Family,
    MotionOfEach,
    Output,
    StepLimited,
    restart,
)
from propulsion_ros.models.common.layout import ThrustLayout
from propulsion_ros.models.common.start import Restartable, Start, State
from propulsion_ros.models.common.wrench import cross, unit_rows
from propulsion_ros.models.steering.steering import (
    JOINT_STATES,
    Steering,
    SteeringParams,
    turned_layout,
)
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import build
from propulsion_ros.settings.quantity import BoolArray, FloatArray, IntArray

STEERING = 'steering.'
"""Begin of the flat keys of `SteeringParams`."""
LIMIT = 'steering_limit'
"""Flag of the joints whose command is beyond their range."""
ANGLE = 'steering_angle'
"""State that a reset may begin with."""


def steered(
    family: Family, params: Any, steering: SteeringParams, batch: tuple[int, ...] = ()
) -> Family:
    """Return a family on links that joints turn, or itself where none does.

    Commands and states of joints come behind its own. ``params`` is its configuration and
    ``batch`` the shape that it was made with. Raises `ConfigError` where joints cannot turn it.
    """
    if not steering.joints or not (moving := steering.moving).joints:
        return family
    made: Family = _class_of(family)(family, params, moving, batch)
    return made


def made_family(
    family_type: Any, params: Any, values: Mapping[str, Any], batch: tuple[int, ...] = ()
) -> Family:
    """Return a family of a class with its configuration, on the joints that flat values have.

    Raises `ConfigError` naming the flat key of what is wrong.
    """
    # A family of another package need not have a batch.
    family: Family = family_type(params, *([batch] if batch else []))
    return steered(family, params, steering_of(values), batch)


def steering_of(values: Mapping[str, Any]) -> SteeringParams:
    """Return the joints that flat values have; raise `ConfigError` naming what is wrong."""
    has_any = bool(len(values.get(f'{STEERING}joints') or ()))
    return build(SteeringParams, values, STEERING) if has_any else SteeringParams()


def _class_of(family: Family) -> Any:
    """Return a class that has what a family has beside what all have, so that it is known for it.

    A protocol that is checked while running looks for attributes of the class.
    """
    def passed(name: str) -> property:
        def read(this: SteeredFamily) -> Any:
            return getattr(this.inner, name)
        return property(read)

    base = _Allocated if hasattr(family, 'allocation_matrix') else SteeredFamily
    # Many steps at once know no joints.
    known = {*dir(base), *SteeredFamily.__annotations__, 'steps'}
    return type(type(family).__name__, (base,), {
        name: passed(name) for name in dir(family) if name[0] != '_' and name not in known
    })


class SteeredFamily:
    """A family with joints that turn its links; see `steered`.

    Attributes
    ----------
    inner : Family
        The actuators.
    steering : Steering
        The joints.
    joints : SteeringParams
        Their configuration.
    joint_names : tuple of str
        Their names, k of them, in the order of their angles.
    angles : FloatArray
        After the last step [rad], (..., k).
    is_measured : BoolArray
        Which of them are measured; servos move the others.
    """

    command_names: tuple[str, ...]
    command_fields: tuple[str, ...]
    nan_is_safe: tuple[bool, ...]
    safe_command: FloatArray
    state_names: tuple[str, ...]
    start_states: tuple[str, ...]
    _goal: FloatArray
    _given_rates: FloatArray

    def __init__(
        self, family: Family, params: Any, steering: SteeringParams, batch: tuple[int, ...]
    ) -> None:
        n = len(family.actuator_names)
        _check(family, params, steering, n)
        self.inner, self._batch = family, batch
        self.joints = steering
        self.joint_names = steering.joints
        self.is_measured: BoolArray = np.array(steering.mode) == JOINT_STATES
        self._servos = np.flatnonzero(~self.is_measured)
        servos = tuple(steering.joints[i] for i in self._servos)
        self._m, self._k = len(family.command_names), len(steering.joints)

        # Chains that several actuators hang on are turned once.
        columns, self._chain_of = np.unique(steering.chains(), axis=0, return_inverse=True)
        self._chain_of = self._chain_of.reshape(-1)
        self._is_one = len(columns) == 1
        if family.uses_body and not (self._is_one or family.facts.meets_each):
            raise ConfigError(
                'steering.actuators', 'expected that one joint turns all actuators of the group, '
                'as this family meets one flow; give those of another joint a block of their own'
            )
        self._turned = np.flatnonzero((columns[self._chain_of] >= 0).any(axis=-1))
        self.steering = Steering(
            steering, unit_rows('steering.axis', steering.axis)[columns], steering.pivot[columns],
            (np.where(self.is_measured, -np.inf, steering.lower),
             np.where(self.is_measured, np.inf, steering.upper)),
            batch, getattr(params, 'step_value', 'mean'), columns,
        )
        self._places, self._rotations = params.position, params.rotation
        self._crosses = family.facts.force == LIFT

        self.command_names = (*family.command_names, *servos)
        self.command_fields = (*family.command_fields, *('position',) * len(servos))
        self.nan_is_safe = (*family.nan_is_safe, *(True,) * len(servos))
        # A servo without a command stays where it was sent.
        self.safe_command = np.concatenate((family.safe_command, np.full(len(servos), np.nan)))
        self.state_names = (*family.state_names, *steering.joints)
        self.start_states = (*getattr(family, 'start_states', ()), ANGLE)
        self._own_output = Output(np.zeros(6), np.zeros(n), np.zeros((n, 3)))
        self._real: tuple[FloatArray, FloatArray] | None = None
        self._begin()

    def _begin(self, indices: Any = None) -> None:
        angles = self.steering.angles
        restart(self, indices, self._batch, _goal=angles, _given_rates=np.zeros_like(angles))
        self.angles = angles

    # What all families have.

    def check_command(self, command: Command) -> None:
        """Raise `CommandError` for values that the family refuses; see `Family.check_command`."""
        self.inner.check_command(self._inner_command(command))

    def check_step(self, dt: float) -> None:
        """Raise what the family that is turned does; see `StepLimited.check_step`."""
        if isinstance(self.inner, StepLimited):
            self.inner.check_step(dt)

    def reset(self, indices: Any = None, state: State | None = None) -> None:
        """Restore the start; see `Restartable.reset`, with `ANGLE` of each joint [rad]."""
        start = Start(indices, self._batch, state, self.start_states)
        angles = start.of(ANGLE, *self.steering.range)
        rest = {key: given for key, given in (state or {}).items() if key != ANGLE}
        if isinstance(self.inner, Restartable):
            self.inner.reset(indices, rest)
        else:
            self.inner.reset()
        self.steering.reset(indices, angles)
        self._begin(indices)

    def rest(self) -> None:
        """Stop what moves; joints stay where they are."""
        self.inner.rest()
        self.steering.hold()
        self._begin()

    def step(self, command: Command, body: BodyState, dt: float, tick: int) -> Output:
        """Advance by ``dt`` [s]; see `Family.step`."""
        steering, real = self.steering, self._real
        if real is not None:
            steering.place(real[0].copy())
        beyond = self._steer(command, dt)
        applied, angles = steering.applied, steering.angles
        rates = np.where(self.is_measured, self._given_rates, steering.rates)
        if real is not None:
            angles, rates = real
            applied = angles
        matrices = steering.displacements(applied)
        if self.inner.uses_body:
            body = self._seen(body, matrices, steering.twists(applied, rates))
        output = self.inner.step(self._inner_command(command), body, dt, tick)
        self._own_output, self.angles = output, angles
        return self._placed(output, matrices, rates, beyond)

    def link_wrenches(self, output: Output) -> FloatArray:
        """Return the wrench of each actuator in its link; see `Family.link_wrenches`."""
        # A link that turns keeps what acts in its axes.
        return self.inner.link_wrenches(self._own_output)

    # What joints add.

    @property
    def at_rest(self) -> tuple[Family, Output]:
        """The family with all joints at position 0, and what it did in the last step there."""
        return self.inner, self._own_output

    def follow(self, angles: FloatArray, rates: FloatArray) -> None:
        """Take where a simulator has the joints in the next step, whatever their mode is.

        Angles are in [rad], their rates in [rad/s], (k,).
        """
        self._real = angles, rates

    def drives(self) -> FloatArray:
        """Return the rates by which servos would bring the joints along [rad/s], (k,).

        They are those from where a simulator had the joints; NaN for what is no servo's.
        """
        most = self.joint_rates
        rates = np.clip(self.steering.rates, -most, most)
        return np.where(self.is_measured, np.nan, rates)

    def carried(self, matrix: FloatArray, angles: FloatArray) -> FloatArray:
        """Return wrenches per thrust at position 0, (6, n), as angles move them, (..., 6, n)."""
        moves = self.steering.displacements(angles)[..., self._chain_of, :, :]
        return np.swapaxes(_moved(matrix.T, moves), -1, -2)

    def allocation_at(self, angles: FloatArray) -> FloatArray:
        """Return the allocation matrix of what is allocated at angles of the joints [rad]."""
        inner: Any = self.inner
        return self.carried(inner.allocation_matrix, angles)

    def layout_of(self, layout: ThrustLayout) -> ThrustLayout:
        """Return how the actuators are drawn, by how they are with all joints at position 0."""
        return turned_layout(
            layout, self.joint_names, self.steering, self._turned, self._chain_of[self._turned]
        )

    @property
    def joint_limits(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest angle of each joint [rad], (k,)."""
        return self.joints.lower, self.joints.upper

    @property
    def joint_rates(self) -> FloatArray:
        """Largest rate of each joint [rad/s], (k,); infinite for one without a limit."""
        limits = self.joints.rate_limit
        return np.where(limits > 0.0, limits, np.inf)

    def measure(self, columns: IntArray, angles: FloatArray, rates: FloatArray) -> None:
        """Take measured angles [rad] and rates [rad/s] of some joints; they last.

        Those of servos are not taken.
        """
        goal, given = self._goal.copy(), self._given_rates.copy()
        taken = self.is_measured[columns]
        goal[..., columns[taken]] = angles[taken]
        given[..., columns[taken]] = rates[taken]
        self._goal, self._given_rates = goal, given

    def _inner_command(self, command: Command) -> Command:
        return Command(*(
            None if values is None else values[..., :self._m]
            for values in (command.position, command.velocity, command.effort)
        ))

    def _steer(self, command: Command, dt: float) -> BoolArray:
        """Move the joints; return which commands of servos are beyond their range."""
        if command.position is not None and len(self._servos):
            wanted = command.position[..., self._m:]
            goal = np.broadcast_to(self._goal, self.steering.angles.shape).copy()
            goal[..., self._servos] = np.where(np.isnan(wanted), goal[..., self._servos], wanted)
            self._goal = goal
        return self.steering.step(self._goal, dt)[..., self._servos]

    def _seen(self, body: BodyState, matrices: FloatArray, motion: FloatArray) -> BodyState:
        """Return the motion of the axes of base_link as joints have turned them.

        ``matrices`` and ``motion`` are those of each chain, see `Steering`.
        """
        pick: Any = 0 if self._is_one else self._chain_of
        matrices, motion = matrices[..., pick, :, :], motion[..., pick, :]
        turn, shift = matrices[..., :3, :3], matrices[..., :3, 3]

        def spread(value: FloatArray | None) -> FloatArray | None:
            return value if value is None or self._is_one else value[..., None, :]

        def turned(value: FloatArray | None) -> FloatArray | None:
            return None if value is None else (value[..., None, :] @ turn)[..., 0, :]

        velocity, rate, up = map(spread, (body.velocity, body.angular_velocity, body.up))
        spin = motion[..., 3:] if rate is None else rate + motion[..., 3:]
        if velocity is not None:
            velocity = velocity + motion[..., :3] + cross(spin, shift)
        height = body.height
        if height is not None:
            height = height if self._is_one else height[..., None]
            height = height + (0.0 if up is None else (up * shift).sum(axis=-1))
        return (BodyState if self._is_one else MotionOfEach)(
            turned(velocity), turned(spin), turned(spread(body.gravity)), height, turned(up)
        )

    def _placed(
        self, output: Output, matrices: FloatArray, rates: FloatArray, beyond: BoolArray
    ) -> Output:
        """Return what the actuators did with wrench and axes as their links are now."""
        matrices = matrices[..., self._chain_of, :, :]
        own = self.inner.link_wrenches(output)
        pair = own.reshape(*own.shape[:-1], 2, 3) @ np.swapaxes(self._rotations, -1, -2)
        if self._crosses:
            # A link that a fin turns is not where the rotation has it, but its force is known.
            pair[..., 0, :] = output.forces
        pair[..., 1, :] += cross(self._places, pair[..., 0, :])
        wrenches = pair.reshape(own.shape)
        # What else there is of the group's wrench stays at base_link.
        wrench = output.wrench + (_moved(wrenches, matrices) - wrenches).sum(axis=-2)
        shape = output.thrusts.shape[:-1]
        effort = output.effort
        if effort is not None:
            effort = self._behind(effort, np.full(self._k, np.nan), shape)
        # A plain one, whatever the family has made.
        return Output(*output)._replace(
            wrench=wrench, axes=(matrices[..., :3, :3] @ output.axes[..., None])[..., 0],
            position=self._behind(output.position, self.angles, shape),
            velocity=self._behind(output.velocity, rates, shape), effort=effort,
            flags={**output.flags, LIMIT: beyond},
        )

    def _behind(
        self, own: FloatArray | None, joints: FloatArray, shape: tuple[int, ...]
    ) -> FloatArray:
        """Return a field of the state, with the joints behind the family's own names."""
        names = len(self.inner.state_names)
        row = np.full((*shape, names + self._k), np.nan)
        if own is not None:
            row[..., :names] = own
        row[..., names:] = joints
        return row


class _Allocated(SteeredFamily):
    """With actuators that are allocated."""

    @property
    def allocation_matrix(self) -> FloatArray:
        """Wrench about the origin of base_link per thrust at the present angles, (..., 6, n)."""
        return self.allocation_at(self.angles)


def _moved(wrenches: FloatArray, matrices: FloatArray) -> FloatArray:
    """Return wrenches about the origin, (..., n, 6), as displacements (..., n, 4, 4) move them."""
    turn = np.swapaxes(matrices[..., :3, :3], -1, -2)
    pair: FloatArray = wrenches.reshape(*wrenches.shape[:-1], 2, 3) @ turn
    pair[..., 1, :] += cross(matrices[..., :3, 3], pair[..., 0, :])
    return pair.reshape(*pair.shape[:-2], 6)


def without_joints(family: Family) -> Family:
    """Return a family as it is without the joints that turn it."""
    return family.inner if isinstance(family, SteeredFamily) else family


def measured_joints(family: Family) -> frozenset[str]:
    """Return the joints that turn the actuators of a family and are measured."""
    if not isinstance(family, SteeredFamily):
        return frozenset()
    return frozenset(
        joint for joint, is_measured in zip(family.joint_names, family.is_measured, strict=True)
        if is_measured
    )


def _check(family: Family, params: Any, steering: SteeringParams, n: int) -> None:
    """Raise `ConfigError` where joints cannot turn these actuators."""
    for key in ('position', 'rotation'):
        if np.shape(getattr(params, key, ()))[:1] != (n,):
            raise ConfigError(
                'steering.joints', 'expected none, as the actuators of this family have no place '
                f'each, got {", ".join(steering.joints)}'
            )
    if len(steering.actuators) != n:
        raise ConfigError(
            'steering.actuators', f"expected a joint or '' for each of {n} actuators, got "
            f'{len(steering.actuators)}'
        )
    for i, joint in enumerate(steering.joints):
        if joint in (*family.command_names, *family.state_names):
            raise ConfigError(
                'steering.joints', f'{joint!r} is a name of the group itself, rename one', i
            )
