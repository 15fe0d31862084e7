# SPDX-License-Identifier: Apache-2.0
"""A flight computer whose sensor comes late, falls silent, or has its clock set."""
import itertools
import math
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from flight_computer import APOGEE, CONFIG, LIFTOFF, MAIN, Computer, Disk, altitude

from fake_host import FakeHost, message
from parts import amount, few_of
from propulsion_ros.flight.phases.phases import Phase
from propulsion_ros.loops.flight.flight_loop import make_flight_loop
from propulsion_ros.loops.flight.params import FlightLoopParams
from propulsion_ros.loops.flight.recorder import Boot
from propulsion_ros.loops.flight.sensor_clocks import ClockOffsets, StuckTwin
from propulsion_ros.models.common.atmosphere import temperature_and_pressure
from propulsion_ros.settings.flat import build

EPOCH = 1_700_000_000
PERIOD = amount('rest', 0.04, 0.02)
"""Of the samples [s]."""
CHARGES = ['drogue parachute', 'main parachute']


class Robot(Computer):
    """A computer on a robot, whose clock and boot clock go on with the flight."""

    def __init__(self, path, at=0.0, boot='A', ahead=0.0, timer=25.0):
        self.host, self.source = FakeHost(), 'pressure'
        # Another boot has just come.
        self._boot_ns = round((100 + at) * 1e9) if boot == 'A' else 300_000_000
        self.host.now, self.host.steady = round((EPOCH + at + ahead) * 1e9), 5 * 10**9
        params = build(FlightLoopParams, {
            'config_file': CONFIG, 'altitude_source': 'pressure', 'on_time_clock': 'steady',
            'required_checks': ('altitude',), 'flight.max_ascent_time': timer,
            'state_file': str(path),
        })
        begun_ns = self.host.steady
        clock = Boot(boot, lambda: self._boot_ns + self.host.steady - begun_ns)
        self.loop = self.host.run(make_flight_loop(params, self.host, clock, self._open))

    def _open(self, path):
        self.disk = Disk(path)
        return self.disk

    def feed(self, begin, end, motion=altitude, shift=lambda t: 0.0):
        for k in range(round(begin / PERIOD), round(end / PERIOD)):
            t = k * PERIOD
            self.wait(PERIOD)
            _, pressure = temperature_and_pressure(120.0 + motion(t))
            stamp_ns = EPOCH * 10**9 + round((t + shift(t)) * 1e9)
            self.host.deliver('~/pressure', message(stamp_ns, fluid_pressure=float(pressure)))

    @property
    def charges(self):
        return [name for name, _ in self.fired]

    @property
    def counts(self):
        return {stamp.value: n for stamp, n in self.loop._state.stamp_counts.items() if n}


def flown(path, at=10.0, lag=0.0, **settings):
    """Return a computer that has flown up to a time."""
    robot = Robot(path, **settings)
    robot.feed(0.0, 2.0, shift=lambda t: -lag)
    robot.command('launch')
    robot.feed(2.0, at, shift=lambda t: -lag)
    return robot


@cache
def _record(at, **settings):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, 'r.json')
        flown(path, at, **settings)
        return path.read_bytes()


def recorded(path, at=10.0, **settings):
    """Write the record of one that has flown up to a time and was killed."""
    path.write_bytes(_record(at, **settings))


@pytest.mark.parametrize(('boot', 'lag', 'first', 'back'), [
    *few_of(itertools.product('AB', [1.0, 0.0, 0.2], [0.3, 0.8, 1.8], [0.0]), 9),
    pytest.param('A', 0.0, 0.1, 5.0, id='its clock is set back while the flight waits'),
])
def test_sensor_that_comes_late_after_a_restart_in_the_air(tmp_path, boot, lag, first, back):
    recorded(tmp_path / 'r.json', lag=lag)
    robot = Robot(tmp_path / 'r.json', 11.0, boot)
    robot.wait(first)
    robot.feed(11.0 + first, MAIN + 3.0, shift=lambda t: -lag - (back if t >= 11.4 else 0.0))
    assert robot.charges == CHARGES
    assert robot.flags['apogee_source'] == 'detected'


@pytest.mark.parametrize('shift', few_of([-0.3, -0.05, 0.3], 2))
def test_sensor_that_was_silent_and_comes_back_with_another_time(tmp_path, shift):
    robot = flown(tmp_path / 'r.json')
    robot.wait(1.0)
    robot.feed(11.0, MAIN + 3.0, shift=lambda t: shift)
    assert robot.charges == CHARGES
    assert robot.counts.get('late', 0) == 0


@pytest.mark.parametrize('every', few_of([2, 3, 5], 2))
def test_second_sensor_of_a_topic_that_is_stuck_at_the_pad_is_left_out(tmp_path, every):
    """Every second one is of the other sensor, or one of several."""
    robot = Robot(tmp_path / 'r.json')
    both = lambda t: 0.0 if round(t / PERIOD) % every == 0 else altitude(t)  # noqa: E731
    robot.feed(0.0, 2.0, both)
    robot.command('launch')
    robot.feed(2.0, MAIN + 3.0, both)
    assert robot.charges == CHARGES
    assert robot.flags['apogee_source'] == 'detected'


@pytest.mark.parametrize(('values', 'taken'), [
    pytest.param([(0.0, 10.0 * k)[k % 2] for k in range(40)], 27, id='one moves'),
    pytest.param([(0.0, 100.0)[k % 2] for k in range(40)], 40, id='both stay'),
    pytest.param([(1e3 * (k % 7 == 0)) for k in range(40)], 40, id='coarse, with spikes'),
    pytest.param([10.0 * k * (-1) ** k for k in range(40)], 40, id='oscillates'),
    pytest.param([10.0 * k for k in range(40)], 40, id='moves'),
    pytest.param([(0.0, 10.0 * k)[k % 2 and k < 20] for k in range(40)], 36, id='silent later'),
])
def test_stuck_twin(values, taken):
    twin = StuckTwin(3.0)
    assert sum(not twin.shows(value) for value in values) == taken


@pytest.mark.parametrize('step', [0.0, 0.85])
@pytest.mark.parametrize('sigma', [1.0, 3.0, 10.0])
def test_noise_is_no_twin(sigma, step):
    twin, values = StuckTwin(3.0), sigma * np.random.default_rng(7).standard_normal(5000)
    values = np.round(values / step) * step if step else values
    assert not any(twin.shows(value) for value in values.tolist())


def stuck(seconds):
    """Return the shift of a clock that stands still from a time on."""
    return lambda t: min(seconds - t, 0.0)


def noisy(t):
    """Return the altitude as a sensor measures it that is alive."""
    return altitude(t) + 0.1 * (round(t / PERIOD) % 2)


@pytest.mark.parametrize('since', few_of(
    [1.0, 3.9, 8.0, APOGEE - 0.3, APOGEE + 0.3, MAIN - 1.0], 3,
))
def test_sensor_whose_stamps_stand_still_is_taken_as_of_its_arrival(tmp_path, since):
    """The drogue fired by the timer, and the main never did: its altitude was never taken."""
    robot = Robot(tmp_path / 'r.json')
    robot.feed(0.0, 2.0, noisy, stuck(since))
    robot.command('launch')
    begun = robot.host.now / 1e9
    robot.feed(2.0, MAIN + 3.0, noisy, stuck(since))
    assert robot.charges == CHARGES
    assert robot.flags['apogee_source'] == 'detected'
    assert robot.counts.get('jumped', 0) == 0
    assert robot.host.counts['stuck_stamps'] == 1
    assert any('pressure stand still at' in line for line in robot.warnings)
    drogue, main = (t - EPOCH for _, t in robot.fired)
    assert drogue == pytest.approx(APOGEE, abs=1.0)
    assert main == pytest.approx(MAIN, abs=1.0)
    pulses = [t - begun + 2.0 for t in robot.on('main')]
    assert pulses[0] == pytest.approx(MAIN, abs=1.0), 'by the clock of the computer'


def test_stamps_that_go_on_again_are_those_of_the_sensor(tmp_path):
    robot = flown(tmp_path / 'r.json', 8.0)
    robot.feed(8.0, 11.0, shift=stuck(8.0))
    robot.feed(11.0, MAIN + 3.0)
    assert robot.charges == CHARGES
    assert robot.loop.stamp_ns * 1e-9 - EPOCH == pytest.approx(MAIN + 3.0, abs=PERIOD + 0.02)


def test_stamps_and_values_that_stand_still_are_a_silent_sensor(tmp_path):
    robot = flown(tmp_path / 'r.json', 8.0)
    begun = robot.host.now
    robot.feed(8.02, 40.0, motion=lambda t: altitude(8.0), shift=stuck(8.0))
    assert robot.counts.get('jumped', 0) == 0
    assert robot.host.counts['stuck_stamps'] == 1
    assert robot.flags['apogee_source'] == 'timer'
    drogue_ns = next(stamp_ns for stamp_ns, rows in robot.host.of('~/events') if rows)
    assert begun < drogue_ns <= begun + 23 * 10**9


def test_stamps_that_stand_still_before_the_launch_are_named(tmp_path):
    robot = Robot(tmp_path / 'r.json')
    robot.feed(0.0, 3.0, noisy, stuck(0.0))
    robot.wait(0.2)
    assert 'clocks' in robot.flags['not_ready'].split()
    found = next(row[2] for row in robot.loop.health() if row[0] == 'readiness')
    assert 'the stamps of pressure stand still' in found


@pytest.mark.parametrize('ahead', few_of([0.0, 20.0, 60.0, 599.0, 3600.0, 1e7], 3))
@pytest.mark.parametrize('at', few_of([10.0, 8.0], 2))
def test_clock_that_is_ahead_after_a_boot_fires_nothing_early(tmp_path, at, ahead):
    recorded(tmp_path / 'r.json', at)
    robot = Robot(tmp_path / 'r.json', at + 1.0, 'B', ahead)
    robot.wait(0.1)
    robot.feed(at + 1.1, MAIN + 3.0, shift=lambda t: ahead)
    assert robot.charges == CHARGES
    drogue = robot.fired[0][1] - EPOCH - ahead
    # Resumed 4 s after the boot, when it is just over.
    assert APOGEE - 1.5 < drogue < APOGEE + 1.0


@pytest.mark.parametrize('killed', [(), (2.0,)], ids=['once', 'again while it waited'])
def test_ascent_that_passed_in_restarts_is_known_where_the_vehicle_is_high(tmp_path, killed):
    """It was killed before liftoff was certain, and its topics were connected at the apogee.

    A barometer that runs in along a line looks the same, for at most 10 s.
    """
    recorded(tmp_path / 'r.json', LIFTOFF + 0.2)
    begun, top = LIFTOFF + 1.0, 700.0
    for waits in killed:
        Robot(tmp_path / 'r.json', begun).wait(waits)
        # The last heartbeat is 8 s ago then, so that nothing fired.
        begun, top = LIFTOFF + 8.0, 500.0
    robot = Robot(tmp_path / 'r.json', begun)
    robot.feed(begun, LIFTOFF + 16.0, motion=lambda t: top - 20.0 * (t - LIFTOFF))
    assert robot.loop._state.phase is Phase.RECOVERY
    assert robot.charges[:1] == CHARGES[:1]


SOON = 12.0
"""A backup timer that a test need not wait for long [s]."""


@pytest.mark.parametrize('boot', ['A', 'B'], ids=['same boot', 'another boot'])
@pytest.mark.parametrize('seconds', few_of([3.0, 0.2, 1.0], 3))
@pytest.mark.parametrize('offset', [-300.0, 60.0, 500.0])
def test_readings_that_settle_after_a_restart_on_the_pad_are_no_flight(
    tmp_path, offset, seconds, boot
):
    """Over 2 s and more they fired both charges, and from below the pad the timer fired them."""
    recorded(tmp_path / 'r.json', LIFTOFF - 0.5, timer=SOON)
    robot = Robot(tmp_path / 'r.json', LIFTOFF, boot, timer=SOON)
    robot.feed(LIFTOFF, LIFTOFF + SOON + 5.0,
               motion=lambda t: offset * math.exp(-(t - LIFTOFF) / seconds))
    assert robot.charges == []


def test_readings_that_settle_twice_while_a_record_waits_are_no_flight(tmp_path):
    """From below, and 4 s later from above: the line over 6 s rose, and both charges fired."""
    recorded(tmp_path / 'r.json', LIFTOFF - 0.5, timer=SOON)
    robot = Robot(tmp_path / 'r.json', LIFTOFF, timer=SOON)
    robot.feed(LIFTOFF, LIFTOFF + SOON + 5.0, motion=lambda t: (
        -500.0 * math.exp(-(t - LIFTOFF) / 0.4)
        + (500.0 * math.exp(-(t - LIFTOFF - 4.4) / 0.7) if t > LIFTOFF + 4.4 else 0.0)
    ))
    assert robot.charges == []


# Clocks are judged by the fastest of the latest messages.


S = 1_000_000_000


def noted(*offsets, every=0.1):
    """Return clocks after messages at a steady rate, each with an offset [s] of its stamp."""
    clocks = ClockOffsets()
    for i, offset in enumerate(offsets):
        now_ns = round(i * every * S)
        clocks.note('imu', 50 * S + now_ns + round(offset * S), 50 * S + now_ns, 5 * S + now_ns)
    return clocks


@pytest.mark.parametrize(('offsets', 'off'), [
    pytest.param((-0.9, -0.01, -0.9), '', id='the fastest counts'),
    pytest.param((-0.3, -0.3), '0.300 s behind', id='behind'),
    pytest.param((0.2, 0.2), '0.200 s ahead of', id='ahead'),
    pytest.param((-0.01, *[-0.5] * 9), '', id='one was fast'),
    pytest.param((-0.01, *[-0.5] * 15), '0.500 s behind', id='longer than a second ago'),
])
def test_clock_that_is_off_is_named(offsets, off):
    assert noted(*offsets).problem == (f"the clock of imu is {off} this computer's" if off else '')
