# SPDX-License-Identifier: Apache-2.0
"""A vehicle whose motion is known, with sensors that may die, and a flight computer on board."""
from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from parts import amount
from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.flight.detectors import make_detector
from propulsion_ros.flight.events.conditions import MoreThan
from propulsion_ros.flight.events.controllers import PidSpec
from propulsion_ros.flight.events.events import Action, EventSpec
from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.flight.flight_state import FlightState
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.flight.pyros.actuators import Actuators
from propulsion_ros.flight.pyros.deployers import DeployerSpec
from propulsion_ros.flight.pyros.engines import EngineSpec, IgniterSpec

NAN = math.nan
G = 9.80665
S = 1_000_000_000
RATE = amount('rest', 25, 50)
"""Of the samples of each sensor [Hz]."""
ALTITUDE, VELOCITY, ACCELERATION = range(3)
DEPLOYERS = (
    DeployerSpec(0, 'drogue', 'local_pyro', channel=0),
    DeployerSpec(1, 'main', 'local_pyro', channel=1),
)
APOGEE = MoreThan('TimeSinceApogee', 0, 0.0)
DROGUE = EventSpec(
    0, 'drogue', APOGEE, (Action('deployment', 0, 1000.0),), phases=('flight', 'recovery')
)
MAIN = EventSpec(
    1, 'main', MoreThan('TimeSinceApogee', 0, 2000.0), (Action('deployment', 1, 1000.0),),
    phases=('flight', 'recovery'),
)
ENGINE = EngineSpec(
    0, 'engine', IgniterSpec(S // 2, channel=2), booster='booster',
    thrust=1000.0,
)


def wiggle(i: int) -> float:
    """Return noise of the last digit: which a live sensor has and a stuck one has not."""
    return 1e-3 * (-1) ** i


@dataclass
class Motion:
    """A boost, a coast and a fall up to some speed, in closed form; t is since ignition [s]."""

    push: float = 30.0
    burn: float = 3.0
    descent: float = 15.0

    @property
    def apogee(self) -> float:
        """Time of apogee [s]."""
        return self.burn + self.push * self.burn / G

    @property
    def top(self) -> float:
        """Altitude of apogee [m]."""
        return self.push * self.burn * self.apogee / 2.0

    @property
    def landing(self) -> float:
        """Time of landing [s]."""
        fall = self.descent / G
        return self.apogee + fall + (self.top - 0.5 * G * fall * fall) / self.descent

    def __call__(self, t: float) -> tuple[float, float, float]:
        """Return altitude, velocity and acceleration."""
        if t < 0.0 or t >= self.landing:
            return 0.0, 0.0, 0.0
        if t < self.burn:
            return 0.5 * self.push * t * t, self.push * t, self.push
        speed = self.push * self.burn
        if t < self.apogee:
            s = t - self.burn
            return 0.5 * speed * self.burn + speed * s - 0.5 * G * s * s, speed - G * s, -G
        s = t - self.apogee
        fall = min(s, self.descent / G)
        height = self.top - 0.5 * G * fall * fall - self.descent * (s - fall)
        return height, -G * fall, -G if fall == s else 0.0


def at_rest(t: float) -> tuple[float, float, float]:
    """Return the motion of a vehicle on its pad."""
    return 0.0, 0.0, 0.0


Values = tuple[float, float, float]

_ARMED: list[tuple[tuple[type, dict[str, Any]], Vehicle]] = []
"""Armed vehicles, each with its kind and what it began with."""


@dataclass
class Vehicle:
    """A flight computer that is fed a motion, and the outputs that it moves.

    Attributes
    ----------
    sensors : sequence of int
        Which of altitude, velocity and acceleration are measured at all.
    dead : dict
        Sensor to its value from a time on: (time [s], NaN for silent, else stuck at it).
    """

    events: Sequence[EventSpec] = (DROGUE, MAIN)
    sensors: Sequence[int] = (ALTITUDE, VELOCITY, ACCELERATION)
    params: dict[str, float] = field(default_factory=dict)
    keeps_flight: bool = True
    required: Sequence[str] = ()
    engines: Sequence[EngineSpec] = (ENGINE,)
    semantics: str = 'safe'
    deployers: Sequence[DeployerSpec] = DEPLOYERS
    controllers: Sequence[PidSpec] = ()
    may_settle: bool = True
    method: str = 'robust'
    rate: int = RATE
    detector: Any = None

    def __post_init__(self) -> None:
        self.state = FlightState(
            FlightParams(**self.params),
            self.detector or make_detector(ApogeeParams(method=self.method)),
            self.events, self.deployers, self.controllers, semantics=self.semantics,
            required=self.required, keeps_flight=self.keeps_flight, may_settle=self.may_settle,
        )
        self.actuators = Actuators(self.deployers, self.engines)
        self.dead: dict[int, tuple[float, float]] = {}
        self.offset, self.t = 100.0, -10.0
        self.fired: list[tuple[str, float]] = []
        self.phases: list[str] = []
        self.notices: list[str] = []
        self.circuits: tuple[tuple[int, bool], ...] = ()
        self.report = None

    def stamp(self, t: float) -> int:
        """Return the stamp of a time [s]."""
        return round((t + self.offset) * S)

    def measured(self, i: int, t: float, values: Values) -> Values:
        """Return what the sensors give of a motion."""
        seen = [value + wiggle(i) if k in self.sensors else NAN for k, value in enumerate(values)]
        for k, (since, value) in self.dead.items():
            if t >= since:
                seen[k] = value
        return seen[0], seen[1], seen[2]

    def fly(self, stop: float, at: Callable[[float], Values], **options: float) -> Vehicle:
        """Feed samples up to a time [s]; options go with `FlightState.update`."""
        while self.t < stop - 1e-9:
            i = round(self.t * self.rate)
            self.take(Sample(
                self.stamp(self.t), *self.measured(i, self.t, at(self.t)), circuits=self.circuits
            ), **options)
            self.t = (i + 1) / self.rate
        return self

    def take(self, sample: Sample, **options: float) -> None:
        """Take a sample and carry out what follows from it."""
        self.report = report = self.state.update(sample, **options)
        self._follow()
        self.phases += [change.target.value for change in report.phase_changes]
        self.fired += [(event.name, sample.stamp_ns / S - self.offset) for event in report.events]
        if report.notice:
            self.notices.append(report.notice)
        for event in report.events:
            for action in event.actions:
                self.actuators.act(action, sample.stamp_ns)

    def command(self, name: str, **options: float) -> str:
        """Give a command after the last sample, and return why it is refused."""
        reason = self.state.command(name, self.stamp(self.t - 1.0 / self.rate), **options)
        self._follow()
        return reason

    def _follow(self) -> None:
        self.actuators.enter(
            self.state.phase, self.stamp(self.t), arms_deployers=self.state.arms_deployers
        )

    def arm(self) -> Vehicle:
        """Rest on the pad until a second before ignition, armed for the last second but one.

        Of vehicles that are equal until then the first one rests, and the others copy it: half of
        the time of the tests of flights went by on the pad.
        """
        if self.report is not None:
            return self._rest()
        begun = {**vars(self), 'state': repr(self.state.snapshot()), 'actuators': None}
        key = type(self), copy.deepcopy(begun)
        armed = next((each for equal, each in _ARMED if equal == key), None)
        if armed is None:
            armed = copy.deepcopy(self._rest())
            _ARMED.append((key, armed))
        vars(self).update(copy.deepcopy(vars(armed)))
        return self

    def _rest(self) -> Vehicle:
        self.fly(-3.0, at_rest)
        assert self.command('launch') == ''
        return self.fly(-1.0, at_rest)

    def override_liftoff(self) -> None:
        """Request it twice, as it must be."""
        assert 'request it again' in self.command('liftoff_override')
        assert self.command('liftoff_override', is_second=True) == ''

    @property
    def names(self) -> list[str]:
        """Names of the events that fired."""
        return [name for name, _ in self.fired]

    @property
    def thrust(self) -> float:
        """What the booster is commanded to [N]."""
        return sum(self.actuators.engines.thrusts().values())
