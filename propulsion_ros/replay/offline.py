"""Nodes without ROS: the same loops, fed from a file, and what they say as rows of a table."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from propulsion_ros.loops.actuator_loop import (
    CLOCK,
    COM,
    COMMAND,
    ODOMETRY,
    ActuatorLoop,
    LoopParams,
    Motion,
    Report,
)
from propulsion_ros.loops.command_hold import FIELDS, CommandUpdate
from propulsion_ros.loops.command_reader import CommandReader
from propulsion_ros.loops.estimate_loop import DEMAND, Applied, EstimateLoop, EstimateParams
from propulsion_ros.models.common.estimator import Estimator
from propulsion_ros.models.common.family import WRENCH_NAMES, BodyState, Command, Family, Output
from propulsion_ros.settings.errors import CommandError
from propulsion_ros.settings.quantity import FloatArray

Values = dict[str, float]
Sink = Callable[[int, Values], None]

_CLOCK_STEP_NS = 1_000_000_000


@dataclass
class NamedValues:
    """Some names with a value each, as a JointState has them.

    Attributes
    ----------
    name : list of str
        Each name once.
    position, velocity, effort : list of float
        NaN where a name has another field; [] where all do.
    """

    name: list[str] = field(default_factory=list)
    position: Sequence[float] = ()
    velocity: Sequence[float] = ()
    effort: Sequence[float] = ()

    @classmethod
    def of(cls, values: Mapping[tuple[str, str], float]) -> NamedValues:
        """Return values by name and field as a command."""
        names = list(dict.fromkeys(name for name, _ in values))
        columns = {
            kind: [values.get((name, kind), np.nan) for name in names]
            for kind in {kind for _, kind in values}
        }
        return cls(names, **columns)


@dataclass
class Inputs:
    """What one row of a file gives a stage.

    Attributes
    ----------
    commands : dict
        Values by name and field.
    wrench : dict
        Parts of a demanded wrench by their names.
    com, velocity, angular_velocity : FloatArray or None
        Centre of mass [m] and motion of base_link through the fluid in its axes.
    """

    commands: dict[tuple[str, str], float] = field(default_factory=dict)
    wrench: dict[tuple[str, str], float] = field(default_factory=dict)
    com: FloatArray | None = None
    velocity: FloatArray | None = None
    angular_velocity: FloatArray | None = None


class Stage(Protocol):
    """One node of an offline run.

    Attributes
    ----------
    names : sequence of str
        What can be commanded.
    columns : list of str
        What it says in each row.
    counts : collections.Counter
        Rows by what became of them.
    """

    @property
    def names(self) -> Sequence[str]: ...  # noqa: D102

    @property
    def columns(self) -> Sequence[str]: ...  # noqa: D102

    @property
    def counts(self) -> Counter[str]: ...  # noqa: D102

    def hear(self, stamp_ns: int, inputs: Inputs) -> None:
        """Take what a row says; raise `CommandError` where that is refused."""
        ...

    def command(self, stamp_ns: int, values: NamedValues) -> None:
        """Take a command; raise `CommandError` where it is refused."""
        ...

    def pass_time(self, stamp_ns: int) -> None:
        """Run what is due up to a stamp."""
        ...

    @property
    def reached_ns(self) -> int | None:
        """Stamp up to which everything is said, None before the first."""
        ...


class ActuatorStage:
    """An actuator node.

    Parameters
    ----------
    family : Family
        The actuators.
    params : LoopParams
        Their timing.
    sink : callable
        ``sink(stamp_ns, values)`` gets a row for each report.
    passes_on : callable
        ``passes_on(stamp_ns, state)`` gets the state too, for nodes that are commanded by it.
    """

    def __init__(
        self,
        family: Family,
        params: LoopParams,
        sink: Sink,
        passes_on: Callable[[int, NamedValues], None] = lambda stamp_ns, state: None,
    ) -> None:
        self._family, self._sink, self._passes_on = family, sink, passes_on
        self._reader = CommandReader(family)
        self._velocity = self._angular_velocity = np.zeros(3)
        # A node that steps on stamps hears no clock either.
        self._has_clock = params.step_on == 'clock'
        self.names = family.command_names
        self._loop = ActuatorLoop(family, params, self._say)
        self._places = self._find_places(params)
        self.columns = [
            *(f'{family.state_names[i]}.{kind}' for kind, i in self._places),
            *(f'wrench.{part}' for part in WRENCH_NAMES),
            *(f'{tank}.{part}' for tank in family.tank_names
              for part in ('mass', 'ixx', 'iyy', 'izz')),
        ]

    def _find_places(self, params: LoopParams) -> list[tuple[str, int]]:
        """Return the field and column of every number of the state, name by name."""
        output = self._family.step(Command(), BodyState(), 1.0 / params.update_rate, 0)
        self._family.reset()
        states = {kind: getattr(output, kind) for kind in FIELDS}
        return [
            (kind, i) for i in range(len(self._family.state_names)) for kind in FIELDS
            if states[kind] is not None and not np.isnan(states[kind][i])
        ]

    @property
    def counts(self) -> Counter[str]:
        """Rows by what became of them."""
        return self._loop.inputs.counts

    def hear(self, stamp_ns: int, inputs: Inputs) -> None:
        """Take what a row says; see `Stage.hear`."""
        if inputs.com is not None:
            self._loop.push(COM, stamp_ns, inputs.com)
        if inputs.velocity is not None or inputs.angular_velocity is not None:
            self._loop.push(ODOMETRY, stamp_ns, self._motion(inputs))
        values = inputs.wrench if self.names == WRENCH_NAMES else inputs.commands
        own = {key: value for key, value in values.items() if key[0] in self.names}
        if own:
            self.command(stamp_ns, NamedValues.of(own))

    def command(self, stamp_ns: int, values: NamedValues) -> None:
        """Take a command; raise `CommandError` where it is refused."""
        self._loop.push(COMMAND, stamp_ns, self._reader.read(values))

    def pass_time(self, stamp_ns: int) -> None:
        """Run what is due up to a stamp, where there is a clock to tell."""
        if self._has_clock:
            self._loop.push(CLOCK, stamp_ns)

    @property
    def reached_ns(self) -> int | None:
        """Stamp of the last tick."""
        return self._loop.inputs.last_stamp_ns

    def _motion(self, inputs: Inputs) -> Motion:
        if inputs.velocity is not None:
            self._velocity = inputs.velocity
        if inputs.angular_velocity is not None:
            self._angular_velocity = inputs.angular_velocity
        return Motion(self._velocity, self._angular_velocity, np.eye(3))

    def _say(self, report: Report) -> None:
        output = report.output
        values = [getattr(output, kind)[i] for kind, i in self._places]
        values += report.wrench.tolist()
        values += _tank_values(output)
        self._sink(report.stamp_ns, dict(zip(self.columns, values, strict=True)))
        self._passes_on(report.stamp_ns, NamedValues(
            list(self._family.state_names),
            *(() if (state := getattr(output, kind)) is None else state for kind in FIELDS),
        ))


class EstimateStage:
    """The inverse of the force allocation.

    Parameters
    ----------
    inverse : Estimator
        The estimator.
    params : EstimateParams
        When a module is silent.
    sink : callable
        ``sink(stamp_ns, values)`` gets a row for each estimate.
    """

    def __init__(self, inverse: Estimator, params: EstimateParams, sink: Sink) -> None:
        self._sink = sink
        self._reader = CommandReader(inverse)
        self._loop = EstimateLoop(inverse, params, self._say)
        self.names = inverse.command_names
        nozzles = inverse.actuator_names
        impellers = inverse.command_names[len(nozzles):]
        self.columns = [
            *(f'{name}.position' for name in nozzles),
            *(f'{name}.effort' for name in nozzles),
            *(f'{name}.velocity' for name in impellers),
            *(f'{kind}.{part}' for kind in ('wrench', 'residual', 'wrench_std')
              for part in WRENCH_NAMES),
        ]

    @property
    def counts(self) -> Counter[str]:
        """Rows by what became of them."""
        return self._loop.inputs.counts

    def hear(self, stamp_ns: int, inputs: Inputs) -> None:
        """Take what a row says; see `Stage.hear`."""
        if inputs.com is not None:
            self._loop.push(COM, stamp_ns, inputs.com)
        if inputs.wrench:
            self._loop.push(DEMAND, stamp_ns, _demand(inputs.wrench))
        own = {key: value for key, value in inputs.commands.items() if key[0] in self.names}
        if own:
            self.command(stamp_ns, NamedValues.of(own))

    def command(self, stamp_ns: int, values: NamedValues) -> None:
        """Take a command to the modules; raise `CommandError` where it is refused."""
        self._loop.push(COMMAND, stamp_ns, self._reader.read(values))

    def pass_time(self, stamp_ns: int) -> None:
        """Say what fell silent up to a stamp."""
        self._loop.push(CLOCK, stamp_ns)

    @property
    def reached_ns(self) -> int | None:
        """Stamp that time has passed."""
        return self._loop.inputs.last_stamp_ns

    def _say(self, applied: Applied) -> None:
        residual = np.full(6, np.nan) if applied.residual is None else applied.residual
        values = np.concatenate((
            applied.angle, applied.thrust, applied.speed, applied.wrench, residual,
            np.sqrt(np.diagonal(applied.covariance)),
        ))
        self._sink(applied.stamp_ns, dict(zip(self.columns, values.tolist(), strict=True)))


class OfflineRun:
    """Gives rows to stages in the order in which they command each other.

    Parameters
    ----------
    stages : sequence of Stage
        Those that command others first.
    complete : callable
        ``complete(stamp_ns)`` when no stage will say anything of an earlier stamp any more.
    """

    def __init__(
        self,
        stages: Sequence[Stage],
        complete: Callable[[int], None] = lambda stamp_ns: None,
    ) -> None:
        self._stages = tuple(stages)
        self._complete = complete
        self._time_ns: int | None = None

    def row(self, stamp_ns: int, inputs: Inputs) -> Iterator[CommandError]:
        """Run everything up to a stamp.

        Yields
        ------
        CommandError
            For each stage that refused what it was told.
        """
        # First everything of earlier times, so that no stage knows more than it did then.
        if self._time_ns is not None:
            self._pass_time(self._time_ns, stamp_ns - 1)
        # Who is commanded by another hears the row first: that one's command may follow at once.
        for stage in reversed(self._stages):
            try:
                stage.hear(stamp_ns, inputs)
            except CommandError as error:
                yield error
        self._pass_time(stamp_ns, stamp_ns)
        self._time_ns = stamp_ns

    def _pass_time(self, from_ns: int, to_ns: int) -> None:
        # A clock that ticks on through a silence makes no jump of it.
        for stamp_ns in (*range(from_ns + _CLOCK_STEP_NS, to_ns, _CLOCK_STEP_NS), to_ns):
            for stage in self._stages:
                stage.pass_time(stamp_ns)
            reached = [stage.reached_ns for stage in self._stages]
            known = [stamp for stamp in reached if stamp is not None]
            if len(known) == len(reached):
                self._complete(min(known))


def _demand(wrench: Mapping[tuple[str, str], float]) -> CommandUpdate:
    values = np.array(list(wrench.values()))
    if not np.isfinite(values).all():
        raise CommandError(f'wrench {values.tolist()} is not finite')
    return CommandUpdate(np.array([WRENCH_NAMES.index(name) for name, _ in wrench]), values)


def _tank_values(output: Output) -> list[float]:
    tanks = output.tanks
    if tanks is None:
        return []
    rows = np.column_stack((tanks.mass, np.diagonal(tanks.inertia, axis1=-2, axis2=-1)))
    return [float(value) for value in rows.ravel()]
