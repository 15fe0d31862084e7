# SPDX-License-Identifier: Apache-2.0
"""Steps one actuator group, from stamped commands to reports, without ROS.

The node and the offline tools both run this, so that their results are the same to the byte.
"""
from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from propulsion_ros.loops.command_hold import CommandHold, CommandUpdate
from propulsion_ros.loops.measured import CentreOfMass, JointAngles
from propulsion_ros.models.common.family import (
    AboutCom,
    BodyState,
    Family,
    Output,
    Retunable,
    Steps,
    run_steps,
)
from propulsion_ros.models.common.motion import MatrixMotion, Motion
from propulsion_ros.models.steering.steered import SteeredFamily
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import BoolArray, FloatArray, IntArray, quantity, validate
from propulsion_ros.timing.stepping import (
    NEVER,
    Agenda,
    FixedStepRunner,
    Grid,
    Place,
    Ticks,
    ticks_per,
)

_SHORTEST = 3  # fewest commands of a run
_LONGEST = 1e6  # longest time span of a setting [s]

COMMAND, ODOMETRY, CURRENT, CLOCK = 'command', 'odometry', 'current', 'clock'
COM, JOINTS = 'com', 'joint_states'
_SOURCES = (COM, ODOMETRY, CURRENT, JOINTS, COMMAND, CLOCK)


@dataclass(frozen=True, kw_only=True, eq=False)
class LoopParams:
    """When an actuator group steps and publishes."""

    update_rate: float = quantity(
        100.0, 'Hz', doc='steps per second', lo=1e-3, hi=1e4, usual=(1.0, 1e4)
    )
    publish_rate: float = quantity(
        0.0, 'Hz', lo=0.0, hi=1e4,
        doc='wrenches per second; divides update_rate; 0 means each step',
    )
    command_timeout: float = quantity(
        0.5, 's', doc='stamp time after which the safe command replaces a silent one; 0 never',
        lo=0.0, hi=_LONGEST, usual=(0.0, 10.0),
    )
    step_on: str = quantity(
        'clock', kind=str, choices=('clock', 'stamp'),
        doc='clock: step with the ROS clock; stamp: step with the stamps of the inputs',
    )
    hold_back: float = quantity(
        0.0, 's', doc='how far to step behind the clock, to let late commands arrive', lo=0.0,
        hi=_LONGEST,
    )
    wait_for: tuple[str, ...] = quantity(
        (), kind=str, shape=('*',), choices=(COMMAND, ODOMETRY, CURRENT, JOINTS, CLOCK),
        doc='inputs that must have passed a step before it runs; empty: any one',
    )
    max_lag: float = quantity(
        0.0, 's', doc='stamp time after which a silent input is not waited for; 0 for ever',
        lo=0.0, hi=_LONGEST,
    )
    switched_off: tuple[str, ...] = quantity(
        (), kind=str, shape=('*',), live=True,
        doc='names whose commands are not followed, as if their actuator had failed',
    )

    def __post_init__(self) -> None:
        validate(self)
        if self.publish_rate:
            self.publish_every  # noqa: B018  it raises where the rates do not divide

    @property
    def publish_every(self) -> int:
        """Steps for each publication."""
        if not self.publish_rate:
            return 1
        return ticks_per('publish_rate', self.update_rate, self.publish_rate)

    @property
    def grid(self) -> Grid:
        """The same settings in nanoseconds."""
        if self.step_on == 'clock':
            wait_for = self.wait_for or (CLOCK,)
        else:
            # A group that steps on stamps gets no time of a clock.
            wait_for = tuple(source for source in self.wait_for if source != CLOCK)
        return Grid(
            Ticks.of_rate(self.update_rate),
            wait_for=wait_for,
            max_lag_ns=round(self.max_lag * 1e9) if self.max_lag else None,
        )


def names_off(params: LoopParams, names: Sequence[str]) -> BoolArray:
    """Return which names are switched off, (m,); raise `ConfigError` for one that is unknown."""
    for i, name in enumerate(params.switched_off):
        if name not in names:
            raise ConfigError(
                'switched_off', f'unknown name {name!r}, known: {", ".join(names)}', i
            )
    return np.array([name in params.switched_off for name in names], bool)


def actuators_off(params: LoopParams, family: Family) -> BoolArray:
    """Return which actuators are switched off, (n,); raise `ConfigError` for an unknown name."""
    off = dict(zip(
        family.command_names, names_off(params, family.command_names).tolist(), strict=True
    ))
    return np.array([off.get(name, False) for name in family.actuator_names], bool)


# A NamedTuple, since one is made in each step, and a dataclass takes several times as long.
class Report(NamedTuple):
    """Results of a group at one stamp, to be published."""

    stamp_ns: int
    """Stamp of the tick."""
    wrench: FloatArray
    """Mean over the ticks since the last report, (6,), so that impulse is conserved."""
    output: Output
    """Output of the last tick."""
    links: FloatArray | None = None
    """The same mean of each actuator in its link, (n, 6), with ``with_links``."""


@dataclass(frozen=True)
class Run:
    """Ticks that a run of commands made due, and their outputs."""

    count: int
    """Number of commands that were taken."""
    stamps: IntArray
    """Stamps of the ticks [ns], (t,)."""
    steps: Steps
    """Outputs of the ticks."""


class ActuatorLoop:
    """A family on a time grid, with its commands and their watchdog.

    Parameters
    ----------
    params : LoopParams
        When ticks run and reports are due: at multiples of ``publish_every`` ticks.
    emit : callable
        Receives each `Report`.
    on_jump : callable
        ``on_jump(from_ns, to_ns)`` when time has jumped, after commands were forgotten.
    with_links : bool
        Whether reports have the wrench of each actuator too.
    on_begin : callable
        ``on_begin(stamp_ns)`` before the first tick after a start or a reset.

    Attributes
    ----------
    inputs : FixedStepRunner
        Takes each input. Its payload is a `CommandUpdate`, a `Motion`, a `JointUpdate`, the
        velocity of the fluid in the world [m/s], the centre of mass [m], or None for a clock.
    agenda : Agenda
        Recorded requests, each of which acts between inputs and ticks.
    output : Output or None
        Output of the last tick, None before the first.
    example : Output
        Output of a first tick, which shows the fields that there are.
    joints : JointAngles or None
        Measured angles of joints that turn the actuators.
    placed : callable or None
        Returns the output of a tick with the wrench at the present place of links that move.
    """

    def __init__(
        self,
        family: Family,
        params: LoopParams,
        emit: Callable[[Report], None],
        on_jump: Callable[[int, int], None] = lambda from_ns, to_ns: None,
        with_links: bool = False,
        on_begin: Callable[[int], None] = lambda stamp_ns: None,
    ) -> None:
        self.family = family
        self.placed: Callable[[Output], Output] | None = None
        timeout_ns = round(params.command_timeout * 1e9)
        self.hold = CommandHold(family.command_fields, family.safe_command, timeout_ns)
        self.agenda = Agenda(_SOURCES)
        self._regrid(params)
        self._with_links = with_links
        self._ticks = 0
        self._wrench_sum: FloatArray = np.zeros(6)
        self._links_sum: FloatArray = np.zeros(6)
        self._emit = emit
        self._on_jump, self._on_begin = on_jump, on_begin
        self._is_first, self._begun_ns = True, NEVER
        self._first: Mapping[str, int] = {}
        self._enabled = True
        self.output: Output | None = None
        self.com = CentreOfMass(family.set_com if isinstance(family, AboutCom) else None)
        self._motion_ns = self._current_ns = NEVER
        self.hold.off = names_off(params, family.command_names)
        self._motion: Motion | MatrixMotion | None = None
        self._current: FloatArray | None = None
        self.joints = JointAngles(family) if (
            isinstance(family, SteeredFamily) and family.is_measured.any()
        ) else None
        self._clear()
        # Some settings are wrong only for some lengths of a step, as a first tick shows.
        self.example = family.step(self.hold.at(0), self._body, self._dt, 0)
        self.reset_family()

    def _regrid(self, params: LoopParams) -> None:
        grid = params.grid
        self.inputs = FixedStepRunner(
            grid, _SOURCES, self._apply, self._step, self._jumped, trusted=(CLOCK,), lasting=COM,
        )
        self._dt = grid.ticks.dt
        self._every = params.publish_every

    def regrid(self, params: LoopParams, is_jump: bool) -> None:
        """Continue with the steps and reports of other settings; actuators keep their state.

        After a jump of time commands are forgotten.
        """
        self._regrid(params)
        (self._clear if is_jump else self._clear_sums)()

    @property
    def enabled(self) -> bool:
        """Whether commands are followed; if not, the safe command applies."""
        return self._enabled

    @enabled.setter
    def enabled(self, value: bool) -> None:
        self.enable(value)
        self.inputs.drop(COMMAND)

    def enable(self, value: bool) -> None:
        """Follow commands or not, and forget those that are held, but not those in the queue."""
        self._enabled = value
        if not value:
            self.family.rest()
        self.hold.clear()

    def reset(self) -> None:
        """Return the actuators, their commands and the grid to the start."""
        self.reset_family()
        self.forget()

    def reset_family(self) -> None:
        """Return the actuators to the start; the centre of mass that was received stays."""
        self.family.reset()
        self.com.use_again()

    def rest(self) -> None:
        """Stop all motion, forget commands and the next tick; propellant stays."""
        self.family.rest()
        self.forget()

    def retune(
        self, changed: Collection[str], params: LoopParams, family_params: Any
    ) -> None:
        """Take the live values of checked configurations, from the next tick on.

        The newest centre of mass counts, received or set; ``changed`` has the keys that were set.
        """
        family = self.family
        self.hold.off = names_off(params, family.command_names)
        self.com.retune(changed, lambda: (
            family.retune(family_params) if isinstance(family, Retunable) else None
        ), self.place)

    def forget(self) -> None:
        """Forget commands and the next tick, but keep the actuators' state."""
        self.inputs.restart()
        self._clear()
        self._is_first = True

    @property
    def place(self) -> Place | None:
        """Place at which a change made now acts: after the last tick; None before the first."""
        last_ns = self.inputs.last_stamp_ns
        return None if last_ns is None else Place(last_ns)

    def begin(self, stamp_ns: int, first: Mapping[str, int], is_new: bool) -> None:
        """Begin as a recorded node did in the middle of these inputs.

        Parameters
        ----------
        stamp_ns : int
            Stamp of its first tick; `FOREVER` if it has ended.
        first : mapping of str
            Stamp of the first input of a source that counts. Other sources keep their earlier
            stamp or, without one, count after the first tick.
        is_new : bool
            Whether it was a new node, with full tanks.
        """
        if is_new:
            self.reset_family()
        else:
            self.family.rest()
        self._clear()
        self._begun_ns, self._first = stamp_ns, {} if is_new else self._first
        self.ignore(first)

    def ignore(self, first: Mapping[str, int]) -> None:
        """Ignore inputs of some sources that are older than these stamps."""
        self._first = {**self._first, **first}

    def run(self, stamps: IntArray, values: FloatArray, clock: str = '') -> Run | None:
        """Take a run of commands for all names, and run their ticks at once.

        The last tick is left to the next command that is pushed, which brings `output` up to date.
        Nothing is emitted. Return None, with nothing done, if the commands must be pushed one by
        one.

        Parameters
        ----------
        stamps, values : ndarray
            Stamps (k,) and values (k, m) of the newest command that was pushed, and those after it.
        clock : str
            Clock that passes each of these stamps, '' for none.
        """
        inputs = self.inputs
        is_plain = self._enabled and self._every == 1 and not (
            self._with_links or self.agenda or self.joints
        )
        if len(stamps) < _SHORTEST or not is_plain or not inputs.takes_run(COMMAND, stamps, clock):
            return None
        stamps = self.hold.until_stale(stamps)
        due = inputs.stamps_of(inputs.due_until(int(stamps[-1])))
        if not len(due):
            return None
        stamps = stamps[:np.searchsorted(stamps, due[-1])]
        ticks = inputs.due_until(int(stamps[-1]))
        if len(stamps) < _SHORTEST or not ticks:
            return None
        due = due[:len(ticks)]
        commands = self.hold.over(stamps, values, due)
        steps = run_steps(self.family, commands, self._body, self._dt, ticks.start)
        waiting = {
            int(stamps[i]): CommandUpdate(np.arange(len(values[i])), values[i])
            for i in range(int(np.searchsorted(stamps, due[-1], side='right')), len(stamps))
        }
        inputs.pass_run(COMMAND, stamps, clock, ticks, waiting)
        return Run(len(stamps) - 1, due, steps)

    def move(self, stamp_ns: int, motion: MatrixMotion) -> None:
        """Take the motion at the next tick, from a host that knows it without a message."""
        self._motion_ns, self._motion = stamp_ns, motion
        self._body = self._through_fluid()

    def _jumped(self, from_ns: int, to_ns: int) -> None:
        self._clear()
        self._on_jump(from_ns, to_ns)

    def _apply(self, source: str, stamp_ns: int, payload: Any) -> None:
        if self.agenda:
            self.agenda.pass_to(stamp_ns, source)
        if source != COM and stamp_ns < self._first.get(source, self._begun_ns + 1):
            return
        if source == COMMAND:
            if self._enabled:
                update: CommandUpdate = payload
                self.hold.apply(stamp_ns, update)
            return
        if source == COM:
            self.com.receive(stamp_ns, payload)
            return
        if source == JOINTS:
            if self.joints:
                self.joints.receive(stamp_ns, payload)
            return
        # A value that is older than the known one is ignored.
        if source == ODOMETRY and stamp_ns >= self._motion_ns:
            self._motion_ns, self._motion = stamp_ns, payload
        elif source == CURRENT and stamp_ns >= self._current_ns:
            self._current_ns, self._current = stamp_ns, payload
        self._body = self._through_fluid()

    def _through_fluid(self) -> BodyState:
        """Return the motion relative to a fluid that drifts with the current."""
        motion = self._motion
        if motion is None:
            return BodyState()
        velocity, rotation = motion.velocity, motion.rotation
        if self._current is not None:
            velocity = velocity - rotation.T @ self._current
        return BodyState(
            velocity=velocity, angular_velocity=motion.angular_velocity,
            height=motion.position[2:3].reshape(()), up=rotation[2],
        )

    def _step(self, tick: int, stamp_ns: int) -> None:
        if self.agenda:
            self.agenda.pass_to(stamp_ns)
        if stamp_ns < self._begun_ns:
            return
        if self._is_first:
            self._is_first = False
            self._on_begin(stamp_ns)
        output = self.family.step(self.hold.at(stamp_ns), self._body, self._dt, tick)
        self.output = output = self.placed(output) if self.placed else output
        links = self.family.link_wrenches(output) if self._with_links else None
        if self._every == 1:
            self._emit(Report(stamp_ns, output.wrench, output, links))
            return
        self._wrench_sum += output.wrench
        self._ticks += 1
        if links is not None:
            self._links_sum = self._links_sum + links
        if tick % self._every:
            return
        wrench = self._wrench_sum / self._ticks
        means = None if links is None else self._links_sum / self._ticks
        self._clear_sums()
        self._emit(Report(stamp_ns, wrench, output, means))

    def _clear(self) -> None:
        """Forget commands, motion and wrenches that were not yet reported."""
        self.hold.clear()
        self._motion = self._current = None
        self._motion_ns = self._current_ns = NEVER
        self.com.forget_time()
        if self.joints:
            self.joints.forget()
        self._body = BodyState()
        self._clear_sums()

    @property
    def lacks_motion(self) -> bool:
        """Whether the family needs the motion of the body and has not received it."""
        return self.family.uses_body and self._motion is None

    def _clear_sums(self) -> None:
        self._wrench_sum = np.zeros(6)
        self._links_sum = np.zeros(6)
        self._ticks = 0
