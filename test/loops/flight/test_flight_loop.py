# SPDX-License-Identifier: Apache-2.0
"""The flight computer in a host without ROS: samples and requests in, what it publishes out."""
import itertools
import json
import math
import re
import subprocess
import sys

import numpy as np
import pytest
from flight_computer import (
    APOGEE,
    MAIN,
    MS,
    TOP,
    Computer,
    altitude,
    interrupted,
    launched,
    odometry,
    request,
    xyz,
)

from fake_host import message
from propulsion_ros.flight.phases.phases import COMMANDS, Phase
from propulsion_ros.loops.flight.record_file import read_state
from propulsion_ros.models.common.atmosphere import temperature_and_pressure
from propulsion_ros.settings.errors import ConfigError


@pytest.mark.parametrize('source', ['pressure', 'odometry'])
def test_whole_flight(source):
    computer = launched(MAIN + 2.0, source=source)
    assert computer.values('~/phase') == ['preflight', 'launch', 'flight', 'recovery']
    assert computer.values('~/beacon') == [False, False, False, True]
    ((vertex_ns, (_, _, top)),) = computer.host.of('~/apogee')
    assert vertex_ns * 1e-9 == pytest.approx(APOGEE, abs=0.3)
    assert top == pytest.approx(TOP, abs=3.0)
    (drogue, drogue_time), (main, main_time) = computer.fired
    assert (drogue, main) == ('drogue parachute', 'main parachute')
    assert APOGEE < drogue_time < APOGEE + 0.6
    assert main_time == pytest.approx(MAIN, abs=0.3)
    on = computer.on('drogue')
    assert on[0] == pytest.approx(drogue_time, abs=1e-9)
    assert on[-1] <= drogue_time + 1.0
    assert np.all(np.diff(on) < 0.1 + 1e-9), 'republished at 10 Hz'
    assert computer.flags['apogee_source'] == 'detected'
    assert len(computer.values('~/fit')) > 500
    assert not computer.host.counts


def test_the_same_samples_give_the_same_outputs():
    computer = Computer(source='pressure').fly(MAIN + 2.0)
    again = launched(11.0, source='pressure')
    again.feed(11.0, MAIN + 2.0)
    assert repr(again.host.published) == repr(computer.host.published)


def test_nothing_fires_before_launch_is_requested():
    computer = Computer()
    computer.feed(0.0, MAIN + 2.0)
    assert not computer.fired
    assert not computer.on('drogue')
    assert computer.values('~/phase') == ['preflight']


# Requests.


def test_there_is_a_service_for_each_request():
    computer = Computer()
    assert [r.topic for r in computer.loop.requests] == [f'~/{name}' for name in COMMANDS]
    assert {r.kind for r in computer.loop.requests} == {'std_srvs/srv/Trigger'}


def test_refused_request_has_a_reason_and_is_not_published():
    computer = Computer()
    success, text = computer.call('launch')
    assert not success
    assert text == "'launch' is refused: no recent sample gives an altitude"
    assert computer.warnings == [text]
    assert computer.host.counts['refused'] == 1
    assert not computer.values('~/requests')
    computer.host.deactivate()
    assert computer.call('launch') == (False, "'launch' is refused: not active")


@pytest.mark.parametrize(('ms', 'is_replay'), [
    pytest.param(1100, False, id='after the sample of its stamp'),
    pytest.param(1110, False, id='between two samples'),
    pytest.param(0, True, id='without a stamp at once, in a replay'),
])
def test_stamped_request_takes_effect_by_its_stamp(ms, is_replay):
    computer = Computer(replay=is_replay)
    for t in range(1000, 1101, 20):
        computer.host.deliver('~/odometry', odometry(t * MS, 0.0))
    computer.host.deliver('~/request', request(ms * MS, 'launch'))
    assert computer.flags['phase'] == ('preflight' if ms else 'launch')
    computer.host.deliver('~/odometry', odometry(1120 * MS, 0.0))
    ((stamp_ns, (status,)),) = computer.host.of('~/requests')
    assert (stamp_ns, status.name) == (1100 * MS, 'launch')
    assert computer.flags['phase'] == 'launch'


def test_unknown_and_refused_messages_are_complained_of():
    computer = Computer()
    computer.host.deliver('~/request', request(0, 'lunch'))
    computer.host.deliver('~/request', request(0, 'launch'))
    computer.feed(0.0, 1.0)
    computer.host.deliver('~/request', request(10**18, 'launch'))
    unknown, refused, far = computer.warnings
    assert "unknown request 'lunch'; known: set_home" in unknown
    assert 'it has no stamp' in refused
    assert far.startswith("request 'launch' is refused: stamped 999999999.020 s ahead of this")


def test_home_is_where_the_vehicle_stands():
    computer = Computer()
    computer.host.deliver('~/odometry', odometry(0, 300.0, east=500.0))
    computer.host.deliver('~/odometry', odometry(20 * MS, 300.0, east=500.0))
    assert 'home' in computer.flags['not_ready']
    computer.command('set_home')
    computer.host.deliver('~/odometry', odometry(40 * MS, 300.0, east=500.0))
    assert 'home' not in computer.flags['not_ready']


# Silence, and the clocks.


def test_silence_lets_timed_events_go_on():
    computer = launched(9.0, **{'flight.max_ascent_time': 10.0, 'flight.min_ascent_time': 1.0})
    assert computer.flags['phase'] == 'flight'
    computer.wait(0.4)
    assert not computer.host.counts['silence']
    computer.wait(8.0)
    assert computer.host.counts['silence'] > 70
    assert computer.flags['apogee_source'] == 'timer'
    ((_, time),) = computer.fired
    ascent = time - float(computer.flags['liftoff'])
    assert 10.0 <= ascent < 10.0 + 0.5, 'the time limit, and how long it must last'
    assert len(computer.on('drogue')) > 5


def test_in_simulation_time_is_that_of_the_samples():
    computer = Computer(is_simulated=True, on_time_clock='auto')
    assert computer.loop.timers == ()
    computer.feed(0.0, 1.0)
    stamps = [stamp_ns for stamp_ns, _ in computer.host.of('~/deployers')]
    assert stamps == list(range(0, 1_000_000_000, 100 * MS))


def test_on_a_robot_pyros_end_on_the_steady_clock_though_no_sample_comes():
    computer = Computer(on_time_clock='steady', silence_timeout=0.0)
    computer.feed(0.0, 1.0)
    computer.command('launch', 'liftoff_override', 'apogee_override')
    begun = computer.host.now
    computer.feed(1.0, 1.02, motion=lambda t: 1000.0)
    computer.wait(3.0)
    on = np.array(computer.on('drogue')) - begun * 1e-9
    assert 0.0 <= on[0] < 0.05
    assert 0.85 < on[-1] - on[0] <= 1.0
    _, last = computer.host.of('~/deployers')[-1]
    assert not np.any(last.effort)


def test_stop_turns_everything_off():
    computer = Computer()
    computer.feed(0.0, 1.0)
    computer.command('launch', 'liftoff_override', 'apogee_override')
    computer.feed(1.0, 1.04)
    assert computer.on('drogue')
    computer.host.deactivate()
    _, last = computer.host.of('~/deployers')[-1]
    assert not np.any(last.effort)


def test_second_start_begins_anew():
    computer = Computer()
    computer.feed(0.0, 1.0)
    computer.command('launch')
    computer.host.deactivate()
    computer.host.run(computer.loop)
    assert computer.values('~/phase') == ['preflight', 'launch', 'preflight']
    assert not computer.call('launch')[0], 'no sample yet'


# The record.


def wait_for(path, is_it):
    """Return when the record is on the disk; its writer is a thread."""
    for _ in range(2000):
        record = read_state(path)
        if record is not None and is_it(record):
            return
        subprocess.run([sys.executable, '-c', ''], check=True)
    raise AssertionError('no such record')


@pytest.mark.parametrize(('at', 'phase'), [
    pytest.param(6.0, Phase.FLIGHT, id='boost'),
    pytest.param(11.0, Phase.FLIGHT, id='coast'),
    pytest.param(APOGEE + 3.0, Phase.RECOVERY, id='descent'),
])
def test_restart_with_a_record_fires_each_event_once(tmp_path, at, phase):
    path = tmp_path / 'flight.json'
    first = interrupted(path, at)
    wait_for(path, lambda record: record.snapshot.phase is phase and not record.pulses)
    second = Computer(state_file=str(path))
    assert second.warnings == [f'a flight was recorded in {phase.value}, waiting for samples']
    second.feed(at + 1.0, MAIN + 2.0)
    names = [name for name, _ in first.fired + second.fired]
    assert names == ['drogue parachute', 'main parachute']
    assert second.fired[-1][1] == pytest.approx(MAIN, abs=0.3)
    assert second.warnings[-1].startswith(f'resumed in {phase.value}')


def test_apogee_after_a_restart_has_its_altitude(tmp_path):
    path = tmp_path / 'flight.json'
    interrupted(path, APOGEE + 3.0)
    second = Computer(state_file=str(path))
    second.feed(APOGEE + 4.0, APOGEE + 7.0)
    ((vertex_ns, (_, _, top)),) = second.host.of('~/apogee')
    assert vertex_ns * 1e-9 == pytest.approx(APOGEE, abs=0.3)
    assert top == pytest.approx(TOP, abs=3.0)


@pytest.mark.parametrize(('spoil', 'settings', 'reason'), [
    pytest.param(lambda text: text[:100], {}, 'is not JSON', id='cut off'),
    pytest.param(lambda text: json.dumps({'a': 1}), {}, 'unknown key', id='of another program'),
    pytest.param(str, {'config_file': ''}, ': is of another configuration; ignored',
                 id='of another configuration'),
])
def test_record_that_cannot_be_used_is_reported_and_ignored(tmp_path, spoil, settings, reason):
    path = tmp_path / 'flight.json'
    interrupted(path, 8.0)
    wait_for(path, lambda record: record.snapshot.phase is Phase.FLIGHT)
    path.write_text(spoil(path.read_text()))
    second = Computer(state_file=str(path), **settings)
    (line,) = second.warnings
    assert reason in line
    assert line.endswith('; ignored')
    second.feed(9.0, 10.0)
    assert second.flags['phase'] == 'preflight'


def test_record_of_an_earlier_simulation_is_dropped_by_the_first_sample(tmp_path):
    path = tmp_path / 'flight.json'
    Computer(is_simulated=True, state_file=str(path)).fly(8.0)
    second = Computer(is_simulated=True, state_file=str(path))
    second.feed(0.0, 0.04)
    waiting, dropped = second.warnings
    assert waiting.startswith('a flight was recorded in flight')
    assert re.search(r'in flight, is not resumed: it is \d\.\d s later than now', dropped)
    assert second.flags['phase'] == 'preflight'


# Inputs beside the samples.


@pytest.mark.parametrize('numbers', [list, np.array])
def test_circuits_are_known_by_their_stamp(numbers):
    computer = Computer(required_checks=('circuits',))
    computer.host.deliver('~/continuity', message(
        900 * MS, name=['drogue', 'main'], position=numbers([1.0, 0.0])
    ))
    computer.feed(1.0, 1.1, motion=lambda t: 0.0)
    assert computer.call('launch') == (False, "'launch' is refused: open circuit of main")
    for names, positions, line in (
        (['mane'], [1.0], "unknown name 'mane', known: drogue, main"),
        (['main'], [0.5], 'expected 0 or 1, got 0.5'), (['main'], [], '1 names, 0 positions'),
    ):
        computer.host.deliver('~/continuity', message(0, name=names, position=numbers(positions)))
        assert line in computer.warnings[-1]


@pytest.mark.parametrize(('stamp', 'names', 'positions', 'reason'), [
    pytest.param(1.1, ['drogue', 'main'], [], 'continuity: 2 names, 0 positions', id='no position'),
    pytest.param(1.1, ['mane'], [1.0], "continuity: unknown name 'mane'", id='other name'),
    pytest.param(1.1, ['main'], [0.5], 'continuity: main: expected 0 or 1', id='other position'),
    pytest.param(2**31, ['main'], [1.0], 'continuity is not of the time', id='no stamp'),
    pytest.param(300.0, ['main'], [1.0], 'continuity is not of the time', id='other time'),
])
def test_circuits_that_are_measured_and_unknown_refuse_the_launch(stamp, names, positions, reason):
    computer = Computer(required_checks=('circuits',))
    computer.feed(1.0, 1.1, motion=lambda t: 0.0)
    computer.host.deliver('~/continuity', message(
        round(stamp * 1e9), name=names, position=positions
    ))
    success, text = computer.call('launch')
    assert not success
    assert text.startswith(f"'launch' is refused: {reason}")
    computer.host.deliver('~/continuity', message(1200 * MS, name=['main'], position=[1.0]))
    assert computer.call('launch')[0]


@pytest.mark.parametrize('source', ['pressure', 'sensors'])
@pytest.mark.parametrize(('pascal', 'is_refused'), [
    pytest.param(99_177.0, False, id='of a pad'), pytest.param(991.77, True, id='in hPa'),
])
def test_launch_needs_a_pressure_of_a_pad(source, pascal, is_refused):
    computer = Computer(source, required_checks=('pressure',))
    for k in range(100):
        stamp_ns = 10**9 + k * 10 * MS
        computer.host.deliver('~/pressure', message(
            stamp_ns, fluid_pressure=pascal + 1e-3 * (k % 3), variance=0.0
        ))
        # The inertial sensor is faster.
        for at_ns in (stamp_ns, stamp_ns + 5 * MS) if source == 'sensors' else ():
            computer.host.deliver('~/imu', message(
                at_ns, angular_velocity=xyz(x=1e-4 * (k % 2)), linear_acceleration=xyz(z=9.80665)
            ))
    success, text = computer.call('launch')
    assert success is not is_refused, text
    assert ('in hPa? times 100' in text) is is_refused


@pytest.mark.parametrize('value', [1.7e308, math.inf, math.nan])
def test_odometry_of_no_world_is_unknown_and_ends_nothing(value):
    computer = Computer()
    for k in range(20):
        computer.host.deliver('~/odometry', odometry(k * 20 * MS, value, value, value))
    assert 'altitude_unknown' in computer.flags['flags']
    assert 'odometry without velocity' in computer.warnings[0]


def test_stamp_that_is_no_time_is_refused():
    computer = Computer()
    computer.host.deliver('~/odometry', odometry(2**31 * 10**9, 0.0))
    assert computer.warnings == [
        'odometry refused: stamp 2147483648.000 s is beyond 2140000000 s'
    ]


# Raw sensors.


def test_estimates_are_published_and_flown():
    computer = Computer(source='sensors')
    assert [port.topic for port in computer.loop.ports[2:]] == [
        '~/imu', '~/pressure', '~/magnetic_field', '~/fix',
    ]
    _, pressure = temperature_and_pressure(0.0)
    for k in range(200):
        stamp_ns = 10**9 + k * 10 * MS
        computer.host.deliver('~/pressure', message(
            stamp_ns, fluid_pressure=float(pressure) + (k % 3), variance=0.0
        ))
        computer.host.deliver('~/imu', message(
            stamp_ns, angular_velocity=xyz(x=1e-4 * (k % 2)), linear_acceleration=xyz(z=9.80665)
        ))
    rows = computer.values('~/odometry')
    assert len(rows) > 190
    assert rows[-1].child_frame == 'base_link'
    assert rows[-1].position[2] == pytest.approx(0.0, abs=1.0)
    assert (rows[-1].pose_covariance.shape, rows[-1].twist_covariance.shape) == ((36,), (36,))
    component, *_, values = list(computer.loop.health())[-1]
    assert (component, values['mode']) == ('estimator', computer.flags['estimator'])


def test_before_the_first_sample_the_health_has_where_it_should_come_from():
    for source, topics in (
        ('odometry', '~/odometry'), ('pressure', '~/pressure'), ('sensors', '~/imu, ~/pressure'),
    ):
        computer = Computer(source=source)
        computer.host.absence = lambda ports, what: (
            'ok', f'no {what} yet: {", ".join(port.topic for port in ports)}'
        )
        component, _, text, _ = next(iter(computer.loop.health()))
        assert (component, text) == ('altitude', f'no sample yet: {topics}')


# What it is made of.


@pytest.mark.parametrize(('settings', 'text'), [
    pytest.param({'config_file': '/nowhere/x.jsonc'}, '/nowhere/x.jsonc', id='no file'),
    pytest.param({'flight.nose': [0.0] * 3}, 'expected a direction, got 0', id='nose'),
    pytest.param({'source': 'sensors', 'estimator.method': 'external'},
                 "'estimator.method': external makes no estimate", id='no estimate'),
    pytest.param({'source': 'sensors', 'estimator.method': 'legacy', 'state_file': 'record'},
                 'the legacy estimator cannot be resumed after a restart', id='legacy'),
])
def test_configuration_that_cannot_be_used_is_refused(settings, text):
    with pytest.raises(ConfigError, match=re.escape(text)):
        Computer(**settings)


@pytest.mark.parametrize(('variable', 'stops'), [
    pytest.param({'flightVar': 'Tilt', 'threshold': 1.5}, True, id='certain'),
    pytest.param({'flightVar': 'Position', 'component': 2, 'threshold': 450}, False, id='doubtful'),
])
def test_charge_that_can_never_fire_stops_the_start_where_that_is_certain(
    tmp_path, variable, stops
):
    path = tmp_path / 'flight.jsonc'
    path.write_text(json.dumps({'Events': [{
        'id': 0, 'action': {'type': 'deployment', 'id': 0, 'param': 1000},
        'condition': {'operator': 'MORETHAN', **variable},
    }]}))
    settings = {'config_file': str(path), 'source': 'pressure'}
    if stops:
        with pytest.raises(ConfigError, match='can never fire: tilt is unknown'):
            Computer(**settings)
        Computer(**settings, replay=True)
    else:
        assert any('fires only below the pad' in text for text in Computer(**settings).warnings)


@pytest.mark.parametrize('sees', [
    pytest.param(lambda t: t % 1.0 < 0.05, id='1 Hz'),
    pytest.param(lambda t: t < 17.0 or t % 0.8 < 0.2, id='silent 0.6 s of each 0.8 s'),
])
def test_slow_or_interrupted_barometer_fires_the_main_parachute(sees):
    computer = Computer(source='pressure', **{'flight.max_ascent_time': 25.0})
    start_ns = computer.host.now
    for k in range(600):
        computer.wait(0.05)
        if sees(k * 0.05):
            _, pressure = temperature_and_pressure(120.0 + altitude(k * 0.05))
            computer.host.deliver('~/pressure', message(
                computer.host.now, fluid_pressure=float(pressure)
            ))
        if k == 50:
            computer.command('launch')
    (_, _), (name, time) = computer.fired
    assert name == 'main parachute'
    assert time - start_ns * 1e-9 == pytest.approx(MAIN, abs=3.0)


def test_topics_are_declared_once():
    for source in ('odometry', 'pressure', 'sensors'):
        loop = Computer(source=source).loop
        for table in (loop.ports, loop.outlets, loop.requests):
            topics = [row.topic for row in table]
            assert len(set(topics)) == len(topics)


@pytest.mark.parametrize('reliable', [False, True])
def test_reliable_inputs_lose_nothing(reliable):
    loop = Computer(source='pressure', reliable_inputs=reliable).loop
    ends = {end.topic: end for end in itertools.chain(loop.ports, loop.outlets)}
    assert {topic for topic, end in ends.items() if end.lossless} == ({
        '~/continuity', '~/pressure', '~/phase', '~/subphase', '~/tune',
        '~/beacon', '~/flags', '~/apogee', '~/predicted_apogee', '~/fit',
    } if reliable else set())


def test_it_runs_where_ros_is_not_installed():
    code = (
        'import sys\n'
        'for name in ("rclpy", "sensor_msgs", "builtin_interfaces"): sys.modules[name] = None\n'
        'import propulsion_ros.loops.flight.flight_loop\n'
    )
    subprocess.run([sys.executable, '-c', code], check=True)
