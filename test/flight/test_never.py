# SPDX-License-Identifier: Apache-2.0
"""Random walks: what a flight computer never does, and what it always does.

A walk is a vehicle with random sensors, of which some die, lie or jump in time, commands at random,
restarts at random, and perhaps a flight. It is followed sample by sample, and after each sample and
each command every invariant is checked. `WALKS` of the environment says how many there are.
"""
import math
import os
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
import pytest

from flown_vehicle import ENGINE, Motion
from parts import amount
from propulsion_ros.flight.apogee.detector import ApogeeDetector, ApogeeParams
from propulsion_ros.flight.events.conditions import All, Any, MoreThan
from propulsion_ros.flight.events.events import Action, EventSpec
from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.flight.flight_state import FlightState
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.flight.phases.phases import COMMANDS, Phase
from propulsion_ros.flight.pyros.actuators import Actuators
from propulsion_ros.flight.pyros.deployers import DeployerSpec
from propulsion_ros.settings.errors import CommandError
from propulsion_ros.timing.flight_clock import Stamp

WALKS = int(os.environ.get('WALKS', amount('walks', 20, 5000)))
SAVED, AT_REST = max(WALKS // 4, 8), max(WALKS // 10, 4)
CHUNK = 50
pytestmark = pytest.mark.part('walks')

NAN = math.nan
S = 1_000_000_000
APOGEE = MoreThan('TimeSinceApogee', 0, 0.0)
LOW = MoreThan('Position', 2, -60.0)
IN_THE_AIR, ON_THE_WAY_UP = ('flight', 'recovery'), ('launch', 'flight')
DEPLOYERS = (
    DeployerSpec(0, 'drogue', 'local_pyro', channel=0),
    DeployerSpec(1, 'main', 'local_pyro', channel=1),
    DeployerSpec(2, 'door', 'local_servo', channel=0, actuator='servo'),
)
EVENTS = (
    EventSpec(0, 'drogue', APOGEE, (Action('deployment', 0, 1000.0),), phases=IN_THE_AIR,
              max_climb=30.0),
    EventSpec(1, 'main', All((APOGEE, LOW)), (
        Action('deployment', 1, 1000.0), Action('deployment', 2, 90.0),
    ), phases=IN_THE_AIR),
    EventSpec(2, 'ignition', MoreThan('TimeSinceIgnition', 0, 500.0), (Action('engine', 0, 1.0),),
              phases=ON_THE_WAY_UP),
    # Badly configured on purpose: they would light and fire anywhere.
    EventSpec(3, 'sustainer', Any((MoreThan('TimeSinceLiftoff', 0, 2e3), LOW)),
              (Action('engine', 1, 1.0),)),
    EventSpec(4, 'low', LOW, (Action('deployment', 1, 500.0),)),
    EventSpec(5, 'again', MoreThan('Velocity', 2, 5.0), (Action('deployment', 0, 200.0),),
              single_fire=False, cooldown_ns=S),
)
SECOND = replace(ENGINE, id=1, name='second', booster='second')
ALL_COMMANDS = tuple(COMMANDS)


@dataclass
class Walk:
    """A flight computer through restarts, and what it did in each flight.

    The rules are checked from outside: by what was fed, commanded and put out.
    """

    rng: np.random.Generator
    params: dict[str, float] = field(default_factory=lambda: {'max_ascent_time': 25.0})
    events: tuple[EventSpec, ...] = EVENTS
    keeps_flight: bool = True

    def __post_init__(self) -> None:
        self.steady_ns = 5 * S
        self.fired: list[str] = []
        self.last_clock: int | None = None
        self.report = None
        self.log: list[str] = []
        self.flights = 0
        self._start()

    def _start(self) -> None:
        self.state = FlightState(
            FlightParams(**self.params), ApogeeDetector(ApogeeParams()), self.events, DEPLOYERS,
            keeps_flight=self.keeps_flight,
        )
        self.actuators = Actuators(DEPLOYERS, (ENGINE, SECOND))
        self.last_clock = None
        self._follow()

    def restart(self, heartbeat: float) -> None:
        """Lose power and start again with the record of what was."""
        snapshot = self.state.snapshot()
        self._start()
        has_booted = heartbeat == math.inf and self.flights % 2
        self.state.offer(snapshot, heartbeat, 1.0 if has_booted else NAN)
        self.log.append(f'restart in {snapshot.phase.value}')
        self.check()

    def command(self, name: str, stamp_ns: int, *, is_second: bool = False) -> str:
        """Give a command; a refusal must change nothing."""
        before, outputs = self._observed(), self._outputs()
        reason = self.state.command(
            name, stamp_ns, steady_ns=self.steady_ns, is_second=is_second
        )
        if reason:
            assert self._observed() == before, f'{name} refused, and yet something changed'
        else:
            self.log.append(name)
            if name in ('launch', 'debug'):
                self._new_flight()
        self._follow()
        if reason:
            assert self._outputs() == outputs
        self.check()
        return reason

    def _new_flight(self) -> None:
        self.flights += 1
        self.fired = []

    def sample(self, sample: Sample, step: float = 0.02) -> None:
        """Take a sample, carry out what follows, and check."""
        self.steady_ns += round(step * S)
        self.report = report = self.state.update(sample, self.steady_ns)
        if report.stamp is Stamp.RESTARTED:
            self.last_clock = None
            self._new_flight()
        self._follow()
        single = {event.name for event in self.events if event.single_fire}
        for event in report.events:
            assert event.name not in self.fired or event.name not in single, 'fired twice'
            self.fired.append(event.name)
            for action in event.actions:
                if action.kind == 'deployment':
                    assert self.state.phase in (Phase.FLIGHT, Phase.RECOVERY)
                    assert self.state.liftoff is not None
                self._act(action)
        clock = self.state.snapshot().clock_ns
        resumed = any(change.trigger.startswith('resumed') for change in report.phase_changes)
        if self.last_clock is not None and not resumed:
            assert clock >= self.last_clock, 'time runs backward'
        self.last_clock = clock
        self.check()

    def _act(self, action: Action) -> None:
        try:
            self.actuators.act(action, self.steady_ns)
        except CommandError:
            # Only an engine that an event would light on the way down is ever refused.
            assert action.ignites
            assert self.state.phase is Phase.RECOVERY

    def _follow(self) -> None:
        self.actuators.enter(
            self.state.phase, self.steady_ns, arms_deployers=self.state.arms_deployers
        )

    def check(self) -> None:
        """Check what must hold at any moment."""
        phase, liftoff = self.state.phase, self.state.liftoff
        efforts = self.actuators.deployers.efforts(self.steady_ns)
        thrust = sum(self.actuators.engines.thrusts().values())
        if any(effort > 0.0 for effort in efforts):
            assert phase in (Phase.FLIGHT, Phase.RECOVERY), 'a charge outside flight and recovery'
            assert liftoff is not None, 'a charge without a seen or overridden liftoff'
        if phase is Phase.RECOVERY or not phase.is_armed:
            assert thrust == 0.0, f'thrust in {phase.value}'
        if phase is Phase.LAUNCH and thrust:
            assert self.state.ignition is not None, 'thrust before ignition'
        if liftoff is not None and liftoff.source == 'override':
            assert self.log.count('liftoff_override') or 'restart' in ' '.join(self.log)

    def _observed(self) -> str:
        return repr((self.state.snapshot(), self.state.phase, self.state.is_resuming))

    def _outputs(self) -> str:
        return repr((
            self.actuators.engines.rows(self.steady_ns),
            self.actuators.deployers.efforts(self.steady_ns).tolist(),
        ))


def wild(rng: np.random.Generator, i: int) -> tuple[float, float, float]:
    """Return readings of sensors that may say anything."""
    kind = rng.integers(6)
    if kind == 0:
        return NAN, NAN, NAN
    if kind == 1:
        return tuple(rng.choice([math.inf, -math.inf, NAN, 1e300, 0.0], 3))
    scale = 10.0 ** rng.integers(-2, 4, 3)
    return tuple(rng.normal(0.0, 1.0, 3) * scale)


def measured(
    rng: np.random.Generator, motion, t: float, noise: float, dead: dict[int, tuple[float, float]]
) -> list[float]:
    values = [value + noise * rng.normal() for value in motion(t)]
    for k, (since, value) in dead.items():
        if t >= since:
            values[k] = value
    return values


@lru_cache(maxsize=60)
def random_walk(seed: int, steps: int = 300) -> Walk:
    """Walk at random: anything may be fed and commanded at any time."""
    rng = np.random.default_rng(seed)
    walk = Walk(rng, keeps_flight=bool(rng.integers(2)))
    motion = Motion(rng.uniform(3.0, 60.0), rng.uniform(0.3, 3.0), rng.uniform(5.0, 30.0))
    ignition = rng.uniform(0.5, 6.0) if rng.random() < 0.7 else math.inf
    dead = {
        int(k): (rng.uniform(-2.0, 8.0), rng.choice([NAN, 0.0, 20.0]))
        for k in rng.choice(3, rng.integers(3), replace=False)
    }
    wildness = rng.choice([0.0, 0.02, 0.3])
    eagerness = rng.choice([0.02, 0.1, 0.5])
    step = rng.choice([0.02, 0.05, 0.1])
    clock, t = 100.0, 0.0
    for i in range(steps):
        t += step
        if rng.random() < 0.005:
            clock += rng.choice([-100.0, -5.0, 0.3, 50.0, 1e6])
        values = measured(rng, motion, t - ignition, 1e-3, dead)
        if rng.random() < wildness:
            values = wild(rng, i)
        stamp = clock + t + (rng.normal() * 50.0 if rng.random() < 0.01 else 0.0)
        walk.sample(Sample(
            max(round(stamp * S), 0), *values,
            circuits=tuple((k, bool(rng.integers(2))) for k in range(rng.integers(3))),
        ), step)
        if i == 2:
            walk.command('launch', round(stamp * S))
        while rng.random() < eagerness:
            walk.command(
                str(rng.choice(ALL_COMMANDS)), max(round(stamp * S), 0),
                is_second=bool(rng.integers(2)),
            )
        if rng.random() < 0.01:
            walk.restart(rng.choice([0.5, 30.0, math.inf]))
            clock += rng.choice([0.0, 0.0, -100.0, -1e4])
    return walk


@pytest.mark.parametrize('first', range(0, WALKS, CHUNK))
def test_whatever_is_fed_and_commanded_no_rule_is_broken(first):
    for seed in range(first, min(first + CHUNK, WALKS)):
        try:
            random_walk(seed)
        except AssertionError as error:
            raise AssertionError(f'walk {seed}: {error}') from error


@pytest.mark.slow
def test_walks_go_everywhere():
    """Walks that never fly would prove nothing."""
    walks = [random_walk(seed) for seed in range(60)]
    fired = {name for walk in walks for name in walk.fired}
    assert fired >= {'drogue', 'main', 'ignition', 'sustainer', 'low', 'again'}
    logs = ' '.join(word for walk in walks for word in walk.log)
    for word in ('liftoff_override', 'abort', 'apogee_override', 'debug', 'reset',
                 'restart in flight', 'restart in recovery', 'restart in launch'):
        assert word in logs, word


def ground_walk(seed: int) -> Walk:
    """Walk with a vehicle that stays on the ground, handled and with sensors that fail."""
    rng = np.random.default_rng(10**6 + seed)
    walk = Walk(rng)
    dead = {
        int(k): (rng.uniform(0.0, 20.0), rng.choice([NAN, 0.0, 40.0]))
        for k in rng.choice(3, rng.integers(2), replace=False)
    }
    knocks = rng.uniform(0.0, 30.0, rng.integers(4))
    lifts = rng.uniform(0.0, 30.0, rng.integers(4))
    noise = rng.choice([1e-3, 0.05, 0.3])
    # Starts of the barometer, which settles by some height with a time constant.
    starts = [
        (begin, float(rng.choice([-500.0, -60.0, 60.0, 500.0])), rng.uniform(0.1, 1.0))
        for begin in rng.uniform(0.0, 30.0, rng.integers(2))
    ]

    def at(t):
        height = velocity = acceleration = 0.0
        for begin, offset, tau in starts:
            if t >= begin:
                height += offset * math.exp(-(t - begin) / tau)
                velocity -= offset * math.exp(-(t - begin) / tau) / tau
        for begin in lifts:
            # Lifted by a metre in half a second, and put down again.
            if begin <= t < begin + 1.0:
                s = t - begin
                height += 0.5 - 0.5 * math.cos(2.0 * math.pi * s)
                velocity += math.pi * math.sin(2.0 * math.pi * s)
                acceleration += 2.0 * math.pi**2 * math.cos(2.0 * math.pi * s)
        for begin in knocks:
            if begin <= t < begin + 0.06:
                acceleration += 60.0
        return height, velocity, acceleration

    for i in range(1500):
        t = 0.02 * i
        stamp = round((100.0 + t) * S)
        walk.sample(Sample(stamp, *measured(rng, at, t, noise, dead)))
        if i % 100 == 10:
            walk.command('launch', stamp)
        if rng.random() < 0.003:
            walk.command(str(rng.choice(['ignition', 'abort', 'apogee_override'])), stamp)
        if rng.random() < 0.001:
            walk.restart(rng.choice([1.0, math.inf]))
            if rng.random() < 0.5:
                starts.append((t, float(rng.choice([-500.0, 60.0, 500.0])), rng.uniform(0.1, 1.0)))
    return walk


@pytest.mark.parametrize('first', range(0, AT_REST, 10))
def test_vehicle_that_stays_on_the_ground_deploys_nothing(first):
    for seed in range(first, min(first + 10, AT_REST)):
        walk = ground_walk(seed)
        assert walk.state.liftoff is None, f'walk {seed}'
        assert not {'drogue', 'main', 'low', 'again', 'sustainer'} & set(walk.fired), f'walk {seed}'


@pytest.mark.parametrize('seed', [75, 77, 98, 259])
def test_an_estimate_that_settles_beside_a_dead_accelerometer_is_no_liftoff(seed):
    """Its speed settles with its height, and a coast seemed to end at the pad."""
    assert ground_walk(seed).state.liftoff is None


def flown(seed: int) -> tuple[Walk, Motion]:
    """Fly a vehicle above 100 m, with one sensor dead from a random moment on, or a restart."""
    rng = np.random.default_rng(2 * 10**6 + seed)
    push = rng.uniform(6.0, 120.0)
    top = 10.0 ** rng.uniform(math.log10(120.0), 3.3)
    # top = push burn^2 (1 + push / g) / 2
    # Without its drogue it falls fast.
    motion = Motion(push, math.sqrt(2.0 * top / (push * (1.0 + push / 9.80665))), 60.0)
    walk = Walk(rng, {'max_ascent_time': motion.apogee + 3.0}, EVENTS[:1])
    sensor = int(rng.integers(3))
    died = rng.uniform(-2.0, motion.apogee + 3.0)
    value = NAN if rng.integers(2) else None
    noise = rng.choice([1e-3, 0.05, 0.3])
    has_velocity = bool(rng.integers(2))
    restarts = rng.uniform(1.5, motion.apogee, rng.integers(2)) if rng.random() < 0.5 else []
    jump = rng.choice([0.0, 0.0, -100.0, -1e9])
    if len(restarts) and jump:
        # How long the computer was off is unknown then: one fault at a time.
        died = math.inf
    clock, i, down, step = 2e9, -250, 0, rng.choice([0.01, 0.02, 0.05])
    stop = motion.landing if motion.landing < motion.apogee + 12.0 else motion.apogee + 12.0
    while i * step < stop:
        t = i * step
        i += 1
        if len(restarts) and t >= restarts[0]:
            restarts = restarts[1:]
            walk.restart(math.inf)
            walk.steady_ns += 2 * S
            i += round(1.0 / step)
            clock += jump
            continue
        values = measured(rng, motion, t, noise, {})
        if not has_velocity:
            values[1] = NAN
        if t >= died:
            value = values[sensor] if value is None else value
            values[sensor] = value
        walk.sample(Sample(round((clock + t) * S), *values), step)
        down += 1
        if down == 100:
            assert walk.command('launch', round((clock + t) * S)) == ''
    return walk, motion


def test_restart_between_liftoff_and_a_certain_ascent_loses_no_drogue():
    """Its altitude is stuck and it has no velocity: only its accelerometer shows the ascent."""
    walk, _ = flown(52557)
    assert walk.fired == ['drogue']


def test_lift_by_hand_and_knocks_beside_a_barometer_that_settles_are_no_ascent():
    walk = ground_walk(519)
    assert walk.state.liftoff is None


@pytest.mark.parametrize('first', range(0, SAVED, 20))
def test_vehicle_that_rose_100_m_gets_its_drogue_with_any_one_sensor_dead(first):
    for seed in range(first, min(first + 20, SAVED)):
        walk, motion = flown(seed)
        assert walk.fired == ['drogue'], f'walk {seed}: {motion} {walk.log} {walk.state.phase}'
