# SPDX-License-Identifier: Apache-2.0
"""What autopilots send, as commands of actuators: values, stamps, and what is refused."""
from types import SimpleNamespace as Plain

import numpy as np
import pytest
from actuators import fin, pods

from fake_host import MS, FakeHost, joints, message
from propulsion_ros.graph.executables import make_actuators
from propulsion_ros.loops.actuator_loop import LoopParams
from propulsion_ros.loops.actuator_ports import ActuatorPorts
from propulsion_ros.loops.autopilot import Autopilot, AutopilotParams, signal_of_thrust
from propulsion_ros.loops.payloads import Kind
from propulsion_ros.loops.ports import GivenParameters
from propulsion_ros.models.rotors.params import RotorsParams
from propulsion_ros.models.rotors.rotors import Rotors
from propulsion_ros.settings.errors import CommandError, ConfigError

NAN = float('nan')
NAMES = ('a', 'b', 'c')
ROTORS = {
    'names': list(NAMES), 'command_interface': 'throttle', 'max_thrust': [10.0],
    'motor_constant': [1e-5], 'moment_constant': [0.01], 'time_constant_up': [0.0],
    'time_constant_down': [0.0],
}
REAL = {
    Kind.PX4_MOTORS: 'RIHS01_78573ab1d26b08f3f494a16476cc896af5f8dceb64f6f723b4a2533ff2fbd321',
    Kind.PX4_SERVOS: 'RIHS01_cdc6b628a688d3de85daa4a5a6f4b5d17264a076e477dc5968f65b8279972985',
    Kind.RC_OUT: 'RIHS01_76cdc9c90c9d848319fc532c31e272a72dbf7b7c8737a83ee237c38d85037e22',
}
"""Hashes of the definitions in px4_msgs (motors 1.14 to 1.18, servos to 1.17) and mavros_msgs."""


def rotors():
    return Rotors(RotorsParams(**ROTORS))


def motors(*control, flags=0, timestamp=1):
    return Plain(
        timestamp=timestamp, timestamp_sample=timestamp, reversible_flags=flags,
        control=np.array([*control, *[NAN] * (12 - len(control))], np.float32),
    )


def commanded(named):
    """Return the value that each name has in its field."""
    fields = [field for field in ('position', 'velocity', 'effort') if len(getattr(named, field))]
    return [float(np.nansum([getattr(named, f)[i] for f in fields]))
            for i in range(len(named.name))]


@pytest.mark.parametrize(('params', 'sent', 'expected'), [
    pytest.param({}, motors(0.0, 0.5, 1.0), [0.0, 0.5, 1.0], id='in order'),
    pytest.param({'channels': [3, 1, 2]}, motors(0.1, 0.2, 0.3), [0.3, 0.1, 0.2], id='channels'),
    pytest.param({'names': ['c', 'a']}, motors(0.1, 0.2), [0.1, 0.2], id='some'),
    pytest.param({}, motors(NAN, 0.5, NAN), [0.0, 0.5, 0.0], id='stopped'),
    pytest.param({}, motors(-0.5, 0.5, 0.25), [0.0, 0.5, 0.25], id='back, not reversible'),
    pytest.param({}, motors(-0.5, 0.5, -0.25, flags=0b101), [-0.5, 0.5, -0.25], id='reversible'),
    pytest.param({'low': [0.1], 'high': [0.9]}, motors(0.0, 0.5, 1.0), [0.1, 0.5, 0.9],
                 id='limits'),
    pytest.param({'thrust_factor': 0.3}, motors(0.3 * 0.25 + 0.7 * 0.5, 0.0, 1.0),
                 [0.5, 0.0, 1.0], id='curve'),
])
def test_motors(params, sent, expected):
    autopilot = Autopilot(AutopilotParams(**{'names': NAMES, **params}), rotors())
    named = autopilot.motors(sent)
    assert list(named.name) == list(params.get('names', NAMES))
    assert commanded(named) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize('factor', [0.0, 1e-9, 0.1, 0.5, 1.0])
def test_the_curve_is_undone_on_both_sides(factor):
    signal = np.linspace(-1.0, 1.0, 41)
    thrust = np.sign(signal) * (factor * signal**2 + (1.0 - factor) * np.abs(signal))
    np.testing.assert_allclose(signal_of_thrust(thrust, factor), signal, atol=2e-7)
    assert np.isnan(signal_of_thrust(np.array([NAN]), factor)).all()


def test_speeds_need_their_value_at_full_signal():
    with pytest.raises(ConfigError, match=r"'autopilot.high\[0\]': a takes velocity: expected"):
        Autopilot(AutopilotParams(names=('a', 'b')), pods())
    autopilot = Autopilot(AutopilotParams(names=('a', 'b'), high=[300.0]), pods())
    named = autopilot.motors(motors(0.5, -0.5, flags=2))
    assert (named.position, named.effort) == ((), ())
    np.testing.assert_allclose(named.velocity, [150.0, -150.0])


@pytest.mark.parametrize('count', [8, 15])
def test_servos(count):
    params = AutopilotParams(names=('f',), low=[-0.4], high=[0.2], channels=[2])
    autopilot = Autopilot(params, fin())
    for value, angle in ((-1.0, -0.4), (0.0, -0.1), (1.0, 0.2), (NAN, 0.0)):
        control = np.full(count, 0.7)
        control[1] = value
        named = autopilot.servos(Plain(timestamp=1, control=control))
        assert commanded(named) == pytest.approx([angle])


LIMITS = {'names': ('b', 'a'), 'channels': [4, 2], 'pulse_low': [1100, 2000],
          'pulse_high': [1900, 1000]}


@pytest.mark.parametrize(('params', 'sent', 'expected'), [
    pytest.param({}, [1000, 1500, 2000], [0.0, 0.5, 1.0], id='range'),
    pytest.param({}, [900, 2100, 1250], [0.0, 1.0, 0.25], id='beyond'),
    pytest.param({}, [0, 65535, 1500], [0.0, 0.0, 0.5], id='not used'),
    pytest.param(LIMITS, [0, 1250, 0, 1300], [0.25, 0.75], id='limits of each'),
])
def test_pulses(params, sent, expected):
    autopilot = Autopilot(AutopilotParams(**{'names': NAMES, **params}), rotors())
    assert commanded(autopilot.pulses(Plain(channels=sent))) == pytest.approx(expected)


@pytest.mark.parametrize(('offset', 'timestamp', 'expected'), [
    pytest.param(0.0, 1_500_000, (1, 500_000_000), id='as it is'),
    pytest.param(100.25, 1_500_001, (101, 750_001_000), id='since the boot'),
    pytest.param(-2.0, 1_500_000, (-1, 500_000_000), id='before'),
])
def test_stamps_of_px4_are_microseconds(offset, timestamp, expected):
    autopilot = Autopilot(AutopilotParams(names=NAMES, clock_offset=offset), rotors())
    stamp = autopilot.stamp(motors(timestamp=timestamp))
    assert (stamp.sec, stamp.nanosec) == expected
    assert autopilot.stamp(motors(timestamp=0)) is None


@pytest.mark.parametrize(('params', 'text'), [
    pytest.param({}, "'autopilot.names': is required: .* some of a, b, c", id='none'),
    pytest.param({'names': ['a', 'front']}, r"'autopilot.names\[1\]': 'front' is no actuator",
                 id='unknown'),
    pytest.param({'names': ['a', 'a']}, 'named twice', id='twice'),
    pytest.param({'names': ['a'], 'channels': [-1]}, '-1 is below 0', id='channel'),
    pytest.param({'names': ['a'], 'pulse_low': [1500.0], 'pulse_high': [1500.0]},
                 'expected another one than pulse_low', id='no width'),
    pytest.param({'names': ['a'], 'thrust_factor': 1.5}, '1.5 is above 1', id='factor'),
])
def test_wrong_settings_stop_the_start(params, text):
    with pytest.raises(ConfigError, match=text):
        Autopilot(AutopilotParams(**params), rotors())


# In a group.


class Robot:
    """Rotors by throttle with adapters."""

    def __init__(self, *adapters, **autopilot):
        self.host = FakeHost()
        self.loop = ActuatorPorts(
            rotors(), LoopParams(step_on='stamp'), 'base_link', self.host, adapters=adapters,
            autopilot=AutopilotParams(**{'names': NAMES, **autopilot}),
        )
        self.host.run(self.loop)

    def thrusts(self):
        return [round(float(wrench[2]), 6) for _, wrench in self.host.of('~/wrench')]


def test_ports_are_of_best_effort_and_further_commands():
    robot = Robot('px4_motors')
    ports = {port.topic: port for port in robot.loop.ports}
    assert list(ports)[:2] == ['~/command', '~/command_px4_motors']
    assert (ports['~/command'].qos, ports['~/command_px4_motors'].qos) == ('command', 'sensor')
    assert ports['~/command_px4_motors'].kind == 'px4_msgs/msg/ActuatorMotors'


def test_two_forms_of_an_autopilot_are_refused():
    """A servo at its centre was half of the throttle of a motor that was disarmed."""
    with pytest.raises(ConfigError, match='expected one form of an autopilot'):
        Robot('px4_motors', 'px4_servos')


@pytest.mark.parametrize('pulse', [0, 900, 1000, 65535])
def test_less_than_the_lowest_pulse_is_off(pulse):
    robot = Robot('mavros_rc_out', low=[0.2] * 3, pulse_low=[1100.0] * 3)
    robot.host.deliver('~/command_mavros_rc_out', message(10 * MS, channels=[pulse] * 3))
    robot.host.deliver('~/command_mavros_rc_out', message(60 * MS, channels=[pulse] * 3))
    assert robot.thrusts()
    assert not any(robot.thrusts())


def test_an_observer_computes_what_the_autopilot_makes_its_motors_do():
    robot, other = Robot('px4_motors', clock_offset=0.02), Robot()
    for ms, row in ((10, (0.1, 0.5, 0.9)), (20, (0.1, NAN, 0.2)), (40, (0.3, 0.3, 0.3))):
        robot.host.deliver('~/command_px4_motors', motors(*row, timestamp=ms * 1000))
        shares = np.nan_to_num(row).tolist()
        other.host.deliver('~/command', joints((ms + 20) * MS, NAMES, position=shares))
    assert len(robot.thrusts()) > 1
    assert robot.thrusts() == pytest.approx(other.thrusts(), rel=1e-6)


@pytest.mark.parametrize(('adapter', 'sent', 'text'), [
    pytest.param('px4_motors', motors(float('inf'), 0.0, 0.0), 'is infinite', id='infinite'),
    pytest.param('px4_motors', Plain(timestamp=1, reversible_flags=0, control=[0.1]),
                 'expected channel 3, got 1 channels', id='short'),
    pytest.param('px4_motors', motors(0.1, 0.1, 0.1, timestamp=2**64 - 1), 'is beyond', id='stamp'),
    pytest.param('mavros_rc_out', message(10 * MS, channels=[1500]),
                 'expected channel 3, got 1 channels', id='outputs'),
])
def test_bad_messages_are_dropped_and_counted(adapter, sent, text):
    robot = Robot(adapter)
    for _ in range(3):
        robot.host.deliver(f'~/command_{adapter}', sent)
    assert robot.thrusts() == []
    assert robot.host.counts['refused'] == 3
    assert text in robot.host.said('warn')[0]


@pytest.mark.parametrize(('adapter', 'text'), [
    ('px4_motors', 'px4_msgs is not installed; build the branch of github.com/PX4/px4_msgs'),
    ('px4_servos', 'px4_msgs is not installed'),
    ('mavros_rc_out', r'mavros_msgs is not installed; pip install ros-mavros-msgs, or apt install '
                      r'ros-\$ROS_DISTRO-mavros-msgs'),
])
def test_a_missing_package_is_refused_with_its_name(adapter, text):
    class Without(GivenParameters):
        def has_type(self, kind):
            return False

    given = {'family': 'rotors', **ROTORS, 'adapters': [adapter], 'autopilot.names': ['a']}
    with pytest.raises(ConfigError, match=f"'adapters': {adapter}: {text}"):
        make_actuators(Without('group', given), FakeHost())
    loop = make_actuators(GivenParameters('group', given), FakeHost())
    assert loop.ports[1].topic == f'~/command_{adapter}'


# Definitions.


@pytest.mark.parametrize('kind', REAL)
def test_definitions_are_those_of_the_real_packages(kind):
    pytest.importorskip('rosbags')
    from propulsion_ros.replay.plain import Wire

    assert Wire().types.hash_rihs01(kind) == REAL[kind]


def test_bags_with_them_are_read(tmp_path):
    pytest.importorskip('rosbags')
    from propulsion_ros.replay.plain import Wire

    wire = Wire()
    sent = motors(0.25, 0.5, flags=3, timestamp=2**40)
    data = wire.serialise(sent, Kind.PX4_MOTORS)
    assert len(data) == 4 + 8 + 8 + 4 + 12 * 4
    found = wire.read(data, Kind.PX4_MOTORS)
    assert (found.timestamp, found.reversible_flags) == (2**40, 3)
    assert found.control[:2].tolist() == [0.25, 0.5]
    for count, kind in ((8, Kind.PX4_SERVOS), (15, f'{Kind.PX4_SERVOS}V1')):
        row = np.linspace(-1.0, 1.0, count, dtype=np.float32)
        data = wire.serialise(Plain(timestamp=1, timestamp_sample=1, control=row), kind)
        np.testing.assert_array_equal(wire.read(data, Kind.PX4_SERVOS).control, row)
    with pytest.raises(ConfigError, match='not such a message'):
        wire.read(data[:20], Kind.PX4_MOTORS)
    with pytest.raises(CommandError):
        Autopilot(AutopilotParams(names=NAMES), rotors()).motors(Plain(
            timestamp=1, reversible_flags=0, control=[]
        ))
