# SPDX-License-Identifier: Apache-2.0
"""Checks before a launch: what each finds, and what it leaves alone."""
import pytest

from propulsion_ros.flight.apogee.detector import ApogeeDetector, ApogeeParams
from propulsion_ros.flight.belief.departure import Departure
from propulsion_ros.flight.events.conditions import MoreThan
from propulsion_ros.flight.events.events import Action, EventSpec
from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.flight.flight_state import FlightState
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.flight.phases.phases import Phase
from propulsion_ros.flight.pyros.deployers import DeployerSpec
from propulsion_ros.flight.readiness import CHECKS, Readiness

APOGEE = MoreThan('TimeSinceApogee', 0, 0.0)
DROGUE = EventSpec(0, 'drogue', APOGEE, (Action('deployment', 0, 1000.0),))
CAMERA = EventSpec(0, 'camera', APOGEE, (Action('command', 1, 1.0),))
WATCH = EventSpec(0, 'low', APOGEE)
PYROS = (
    DeployerSpec(0, 'drogue', 'local_pyro', channel=2),
    DeployerSpec(1, 'spare', 'local_pyro', channel=3),
)
TIMED = FlightParams(max_ascent_time=60.0)
S = 1_000_000_000
NO_TIMER = (
    'no backup timer: set flight.max_ascent_time [s] to the time to apogee in a simulation of the '
    'flight and a few seconds more, such as flight.max_ascent_time: 25.0'
)


def on_pad(stamp_ns=0, altitude=0.3, **known):
    return Sample(stamp_ns, altitude, **known)


@pytest.mark.parametrize(('params', 'events', 'sample', 'found'), [
    pytest.param(TIMED, (DROGUE,), on_pad(), {}, id='nothing'),
    pytest.param(TIMED, (CAMERA,), on_pad(), {}, id='a command to another computer'),
    pytest.param(TIMED, (), on_pad(), {'config': 'no event does anything'}, id='no events'),
    pytest.param(TIMED, (WATCH,), on_pad(), {'config': 'no event does anything'},
                 id='no event with an action'),
    pytest.param(TIMED, (DROGUE,), on_pad(altitude=90.4), {'home': '90 m above home'}, id='above'),
    pytest.param(TIMED, (DROGUE,), on_pad(altitude=-21.0), {'home': '21 m below home'}, id='below'),
    pytest.param(TIMED, (DROGUE,), on_pad(horizontal_position=(300.0, -400.0)),
                 {'home': '500 m aside from home'}, id='aside'),
    pytest.param(TIMED, (DROGUE,), on_pad(altitude=40.0, horizontal_position=(0.0, 30.0)),
                 {'home': '40 m above home and 30 m aside from home'}, id='above and aside'),
    pytest.param(FlightParams(max_ascent_time=60.0, home_tolerance=100.0), (DROGUE,),
                 on_pad(altitude=90.0), {}, id='within the tolerance'),
    pytest.param(TIMED, (DROGUE,), on_pad(faults=('imu_stale', 'pressure_range')),
                 {'estimator': 'estimator: imu_stale pressure_range'}, id='estimator'),
    pytest.param(TIMED, (DROGUE,), on_pad(circuits=((2, False), (3, True))),
                 {'circuits': 'open circuit of drogue'}, id='open circuit'),
    pytest.param(TIMED, (DROGUE,), on_pad(circuits=((2, True), (3, False))), {},
                 id='open circuit of a pyro that nothing fires'),
    pytest.param(TIMED, (DROGUE,), on_pad(pressure=95_000.0), {}, id='pressure of a pad'),
    pytest.param(TIMED, (DROGUE,), on_pad(pressure=991.77), {
        'pressure': 'pressure of 991.77 Pa, expected 30,000 to 110,000 Pa; in hPa? times 100',
    }, id='pressure in hPa'),
    pytest.param(TIMED, (DROGUE,), on_pad(pressure=99.177), {
        'pressure': 'pressure of 99.177 Pa, expected 30,000 to 110,000 Pa; in kPa? times 1000',
    }, id='pressure in kPa'),
    pytest.param(TIMED, (DROGUE,), on_pad(pressure=991_770.0), {
        'pressure': 'pressure of 991770 Pa, expected 30,000 to 110,000 Pa',
    }, id='pressure in no unit'),
    pytest.param(FlightParams(), (DROGUE,), on_pad(),
                 {'backup_timer': NO_TIMER}, id='no timer'),
])
def test_checks(params, events, sample, found):
    assert Readiness(params, events, PYROS).objections(sample, is_frozen=False) == found


def test_what_is_found_comes_in_the_order_of_the_checks():
    sample = on_pad(
        altitude=50.0, faults=('imu_stale',), circuits=((2, False),), pressure=991.77
    )
    found = Readiness(FlightParams(), (DROGUE,), PYROS).objections(
        sample, Departure(0, 'fall'), is_frozen=True
    )
    assert found['motion'] == 'the vehicle flies, by its fall'
    # What the host finds is added by the flight loop.
    by_host = ('config', 'record', 'receivers', 'clocks', 'publishers')
    assert list(found) == [name for name in CHECKS if name not in by_host]


def make(required, *samples):
    state = FlightState(
        FlightParams(), ApogeeDetector(ApogeeParams()), (DROGUE,), PYROS, required=required
    )
    for sample in samples:
        state.update(sample)
    return state


@pytest.mark.parametrize(('required', 'reason'), [
    pytest.param((), '', id='none is required'),
    pytest.param(('estimator',), '', id='the required one finds nothing'),
    pytest.param(('home',), "'launch' is refused: 90 m above home", id='one'),
    pytest.param(('backup_timer', 'home'), f"'launch' is refused: 90 m above home; {NO_TIMER}",
                 id='two'),
])
def test_required_checks_refuse_the_launch(required, reason):
    state = make(required, on_pad(S, 90.0))
    assert state.command('launch', S) == reason
    assert state.phase is (Phase.PREFLIGHT if reason else Phase.LAUNCH)


def test_what_is_found_is_gone_once_it_is_mended():
    state = make(('home',), on_pad(S, 90.0))
    assert state.command('launch', S) != ''
    state.update(on_pad(S + S // 50))
    assert state.command('launch', S + S // 50) == ''


def test_the_bench_overrules_the_checks():
    state = make(tuple(CHECKS), on_pad(S, 90.0))
    assert state.command('debug', S) == ''
    assert set(state.objections) == {'home', 'backup_timer'}
    assert state.command('launch', S) == ''


@pytest.mark.parametrize(('step', 'found'), [
    pytest.param(0.0, ['frozen'], id='stuck'), pytest.param(1e-3, [], id='alive'),
])
def test_feed_that_repeats_itself_is_said(step, found):
    samples = [on_pad(S + i * S // 50, 0.3 + step * (i % 2)) for i in range(50)]
    state = make((), *samples)
    assert [name for name in state.objections if name != 'backup_timer'] == found


def test_nothing_speaks_against_a_launch_after_it():
    state = make((), on_pad(S, 90.0))
    assert state.command('launch', S) == ''
    assert state.objections == {}
