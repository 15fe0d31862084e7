# SPDX-License-Identifier: Apache-2.0
"""What is plotted of a bag: by the names and types of its topics, at the stamps of its messages."""
from __future__ import annotations

import math

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import InertiaStamped, PointStamped, WrenchStamped
from nav_msgs.msg import Odometry
from plot_pages import decided, found, panels, parabolas, points, predicted
from sensor_msgs.msg import BatteryState, JointState
from std_msgs.msg import String

from benchmarks.wire import Wire
from propulsion_ros.demos.demo import FlightLog
from propulsion_ros.drawing.figure import COMMAND, DECIDING, Mark, Span
from propulsion_ros.loops.decoders import vector
from propulsion_ros.loops.payloads import Kind
from propulsion_ros.models.common.motion import Motion
from propulsion_ros.pictures.bag import signals_of_bag
from propulsion_ros.pictures.panels import page_of
from propulsion_ros.pictures.signals import Channel
from propulsion_ros.replay.bags import BagWriter, Recorded
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.names import type_name

pytest.importorskip('rosbags')

NAN = math.nan
FORCE, TORQUE = ['x', 'y', 'z'], ['x', 'y', 'z']
MOTION = {
    'position [m]': ['x', 'y', 'z'], 'velocity in the world [m/s]': ['x', 'y', 'z'],
    'attitude [deg]': ['roll', 'pitch', 'yaw'], 'rate of turn [deg/s]': ['x', 'y', 'z'],
}
TOLD = ['x command', 'y command', 'z command']
LEFT = ['x residual', 'y residual', 'z residual']


def stamped(message, seconds):
    message.header.stamp.sec = int(seconds)
    message.header.stamp.nanosec = round(seconds % 1.0 * 1e9)
    return message


def joints(seconds, names, **fields):
    return stamped(JointState(name=names, **fields), seconds)


def wrench(seconds, force=0.0):
    message = WrenchStamped()
    message.wrench.force.x = force
    return stamped(message, seconds)


def tank(seconds, mass):
    message = InertiaStamped()
    message.inertia.m = mass
    return stamped(message, seconds)


def battery(seconds, name):
    return stamped(BatteryState(location=name, voltage=12.5, current=-3.0, percentage=0.5), seconds)


def odometry(seconds, height):
    message = Odometry()
    message.pose.pose.position.z = height
    return stamped(message, seconds)


def vertex(seconds, height):
    message = PointStamped()
    message.point.z = height
    return stamped(message, seconds)


def fit(seconds, height, speed, acceleration, vertex_time=NAN, vertex_height=NAN):
    names = [
        'altitude', 'velocity', 'acceleration', 'apogee_time', 'apogee_altitude', 'apogee_sigma'
    ]
    values = [height, speed, acceleration, vertex_time, vertex_height, 0.1]
    return joints(seconds, names, position=values)


def status(seconds, name, **values):
    pairs = [KeyValue(key=key, value=value) for key, value in values.items()]
    return stamped(
        DiagnosticArray(status=[DiagnosticStatus(name=name, values=pairs)]), seconds
    )


def flags(seconds, **values):
    return status(seconds, 'flight', **values)


@pytest.fixture
def bag(tmp_path):
    """Write a bag of topics and messages, recorded one second after the other."""
    def write(*messages):
        path, wire = tmp_path / 'bag', Wire()
        with BagWriter(path) as writer:
            for i, (topic, message) in enumerate(messages):
                kind = type_name(type(message))
                data = wire.write(message, kind)
                writer.write(Recorded(topic, kind, 10**18 + i * 10**9, data))
        return path
    return write


BOOSTER_STATE = joints(
    1.0,
    ['booster', 'gimbal_x', 'booster/ignition', 'booster/throttle', 'main/fuel_ratio'],
    position=[NAN, 0.1, 1.0, 0.5, 0.9], effort=[900.0, NAN, NAN, NAN, NAN],
)


@pytest.mark.parametrize(('messages', 'expected'), [
    pytest.param(
        [('/boosters/state', BOOSTER_STATE)],
        {'boosters: thrust [N]': ['booster'], 'boosters: angle [rad]': ['gimbal_x'],
         'propellant, of capacity': ['main']},
        id='boosters',
    ),
    pytest.param(
        [('/boosters/state', BOOSTER_STATE), ('/boosters/tanks/main', tank(1.0, 4.0))],
        {'boosters: thrust [N]': ['booster'], 'boosters: angle [rad]': ['gimbal_x'],
         'propellant [kg]': ['main']},
        id='mass rather than ratio',
    ),
    pytest.param(
        [('/boosters/command', joints(1.0, ['booster'], effort=[900.0])),
         ('/boosters/state', joints(1.0, ['booster', 'other'], effort=[0.0, 1.0]))],
        {'boosters: thrust [N]': ['booster', 'other', 'booster command']},
        id='command after what is done',
    ),
    pytest.param(
        [('/thrusters/state', joints(1.0, ['bow'], velocity=[100.0], effort=[5.0]))],
        {'thrusters: thrust [N]': ['bow'], 'thrusters: speed [rad/s]': ['bow']},
        id='speed',
    ),
    pytest.param(
        [('/fins/state', joints(1.0, ['fin'], position=[0.1], effort=[5.0]))],
        {'fins: effort [N]': ['fin'], 'fins: angle [rad]': ['fin']},
        id='lift of a fin is no thrust',
    ),
    pytest.param(
        [('/rotors/command', joints(1.0, ['a'], position=[5.2])),
         ('/rotors/state', joints(1.0, ['a'], effort=[5.0]))],
        {'rotors: thrust [N]': ['a'], 'rotors: throttle': ['a command']},
        id='a throttle above 1 is no angle',
    ),
    pytest.param(
        [('/fam/wrench', wrench(1.0)), ('/fam/wrench_command', wrench(1.0))],
        {'fam: applied force [N]': FORCE + TOLD, 'fam: applied torque [N m]': TORQUE + TOLD},
        id='wrench and demand',
    ),
    pytest.param(
        [('/inverse_fam/residual', wrench(1.0))],
        {'inverse_fam: force [N]': LEFT, 'inverse_fam: torque [N m]': LEFT},
        id='residual alone is not applied',
    ),
    pytest.param(
        [('/rotors_allocator/wrench_command', wrench(1.0)), ('/rotors/wrench', wrench(1.0))],
        {'rotors: applied force [N]': FORCE + TOLD, 'rotors: applied torque [N m]': TORQUE + TOLD},
        id='demand to an allocator beside its group',
    ),
    pytest.param(
        [('/jets/state', joints(t, ['a'], effort=[0.02 * t], position=[t])) for t in (0.0, 1.0)],
        {'jets: thrust [N]': ['a'], 'jets: valve open': ['a']},
        id='valves',
    ),
    pytest.param(
        [('/front/tanks/main', tank(1.0, 1.0)), ('/rear/tanks/main', tank(1.0, 1.0))],
        {'propellant [kg]': ['front main', 'rear main']},
        id='tanks of two groups',
    ),
    pytest.param(
        [('/rotors/battery_state', battery(1.0, 'main')),
         ('/thrusters/battery_state/left', battery(1.0, 'left')),
         ('/thrusters/battery_state/right', battery(1.0, 'right'))],
        {label: ['rotors main', 'thrusters left', 'thrusters right'] for label in (
            'battery voltage [V]', 'battery current [A]', 'battery charge, of capacity')},
        id='batteries',
    ),
    pytest.param(
        [('/vehicle/odometry', odometry(1.0, 5.0))],
        MOTION, id='motion without a flight',
    ),
    pytest.param(
        [('/thrusters/wrench', wrench(1.0)), ('/fins/wrench', wrench(1.0))],
        dict.fromkeys(
            ('fins: applied force [N]', 'fins: applied torque [N m]',
             'thrusters: applied force [N]', 'thrusters: applied torque [N m]'), FORCE),
        id='groups by name, in whatever order they were recorded',
    ),
    pytest.param(
        [('/a/wrench', wrench(1.0)), ('/b/state', joints(1.0, ['x', 'y'], effort=[1.0])),
         ('/c/state', String(data='no joints')), ('/d/image', wrench(1.0))],
        {'a: applied force [N]': FORCE, 'a: applied torque [N m]': TORQUE},
        id='what is of wrong size, type or name is left out',
    ),
])
def test_panels_follow_the_topics(bag, messages, expected):
    page = page_of(signals_of_bag(bag(*messages)))
    assert panels(page) == expected
    assert list(panels(page)) == list(expected)
    assert page.above == ()


def test_lines_have_the_stamps_and_values_of_their_messages(bag):
    state, command = ['a', 'b'], '/boosters/command'
    page = page_of(signals_of_bag(bag(
        (command, joints(0.0, ['a'], effort=[50.0])),
        ('/boosters/state', joints(0.5, state, effort=[1.0, 2.0])),
        (command, joints(0.0, ['a'], effort=[60.0])),
        (command, joints(0.75, ['b'], effort=[70.0])),
        ('/boosters/state', joints(1.5, state, effort=[3.0, NAN])),
    )))
    thrust = 'boosters: thrust [N]'
    assert points(page, thrust, 'a') == [(0.5, 1.0), (1.5, 3.0)]
    assert points(page, thrust, 'b') == [(0.5, 2.0)]
    # A stamp of 0 means on arrival: then it was as late as what was stamped last.
    assert points(page, thrust, 'a', 'command') == [(0.5, 50.0), (0.5, 60.0), (1.5, 60.0)]
    assert points(page, thrust, 'b', 'command') == [(0.75, 70.0), (1.5, 70.0)]
    assert (page.begin, page.end, page.time_label) == (0.5, 1.5, 'time [s]')


def moved(seconds, turned=(0.0, 0.0, 0.5**0.5, 0.5**0.5)):
    """Return the odometry of a body that flies ahead, and rolls, at a yaw of 90 degrees."""
    message = odometry(seconds, 5.0)
    orientation, twist = message.pose.pose.orientation, message.twist.twist
    orientation.x, orientation.y, orientation.z, orientation.w = turned
    twist.linear.x, twist.angular.x = 3.0, math.pi
    return message


def test_motion_is_that_in_the_world_with_angles_in_degrees(bag):
    page = page_of(signals_of_bag(bag(('/vehicle/odometry', moved(1.0)))))
    parts = {heading: [points(page, heading, name)[0][1] for name in names]
             for heading, names in panels(page).items()}
    assert list(parts) == list(MOTION)
    assert list(parts.values()) == [
        pytest.approx(values, abs=1e-12)
        for values in ([0, 0, 5], [0, 3, 0], [0, 0, 90], [180, 0, 0])
    ]


@pytest.mark.parametrize('turned', [(0.0,) * 4, (NAN,) * 4, (1e200,) * 4], ids=str)
def test_motion_without_an_attitude_has_place_and_rates(bag, turned):
    page = page_of(signals_of_bag(bag(('/vehicle/odometry', moved(1.0, turned)))))
    assert list(panels(page)) == ['position [m]', 'rate of turn [deg/s]']


def test_an_estimate_has_the_colours_of_the_motion(bag):
    """Six names had six colours for three curves."""
    page = page_of(signals_of_bag(bag(*(
        (f'/{node}/odometry', odometry(1.0, 5.0))
        for node in ('flight_state', 'vehicle', 'other/vehicle')
    ))))
    assert panels(page)['velocity in the world [m/s]'] == [
        'vehicle x', 'vehicle y', 'vehicle z', 'other/vehicle x', 'other/vehicle y',
        'other/vehicle z', 'vehicle x estimated', 'vehicle y estimated', 'vehicle z estimated',
    ]


def test_flight_is_kept_as_a_bag_of_it_has_it(bag):
    """It was drawn in another way, without the commands of speeds or of many actuators."""
    messages = [
        ('rotors/command', joints(0.0, ['a'], velocity=[50.0])),
        ('rotors/state', joints(1.0, ['a', 'main/pressure'], effort=[2.0, NAN],
                                velocity=[40.0, NAN], position=[NAN, 1e5])),
        ('rotors/command', joints(1.5, ['a'], velocity=[60.0])),
        ('flight_state/flags', flags(1.5, phase='flight', liftoff='0.5')),
        ('flight_state/fit', fit(1.6, 5.0, 3.0, -9.0)),
        ('flight_state/apogee', vertex(1.9, 5.5)),
        ('flight_state/events', status(1.9, 'drogue')),
    ]
    log = FlightLog('robot', ['rotors/state'], has_computer=True)
    for topic, message in messages:
        log.take(topic, message)
    placed, twist = moved(2.0).pose.pose, moved(2.0).twist.twist
    assert log.steer(2.0, Motion(
        vector(placed.position), np.array([0.0, 0.0, placed.orientation.z, placed.orientation.w]),
        vector(twist.linear), vector(twist.angular),
    )) == {}
    kept = signals_of_bag(bag(
        *((f'/{topic}', message) for topic, message in messages), ('/vehicle/odometry', moved(2.0)),
    ))
    rows, expected = ({key: [*each] for key, each in made.rows.items()}
                      for made in (log.signals, kept))
    assert (rows, log.signals.places) == (expected, kept.places)
    assert [mark.name for mark in log.signals.flight.marks] == ['liftoff', 'drogue']
    assert repr(log.signals.flight) == repr(kept.flight)
    moving = {name: names for name, names in MOTION.items() if name != 'position [m]'}
    assert panels(page_of(log.signals)) == {
        **moving, 'rotors: thrust [N]': ['a'], 'rotors: speed [rad/s]': ['a', 'a command'],
        'tank pressure [Pa]': ['main'], 'vertical speed [m/s]': ['fit'],
        'vertical acceleration [m/s²]': ['fit'],
    }


def test_rate_of_an_angle_is_not_drawn_beside_the_speed_of_a_propeller():
    """It was a line at 0, as a propeller turns a hundred times faster."""
    log = FlightLog('robot', ['thrusters/state'], battery_topics=['thrusters/battery_state'])
    log.take('thrusters/state', joints(
        1.0, ['bow', 'azimuth'], velocity=[90.0, 0.5], position=[NAN, 1.0]
    ))
    assert log.topics['thrusters/battery_state'].kind == Kind.BATTERY
    assert panels(page_of(log.signals)) == {
        'thrusters: speed [rad/s]': ['bow'], 'thrusters: angle [rad]': ['azimuth'],
        'thrusters: rate of the angle [rad/s]': ['azimuth'],
    }


@pytest.mark.parametrize('latched', [
    pytest.param(('/flight_state/flags', status(0.0, 'flight', phase='preflight')), id='flags'),
    pytest.param(('/flight_state/events', status(0.0, 'drogue')), id='events'),
    pytest.param(('/flight_state/apogee', vertex(0.0, 5.0)), id='apogee'),
    pytest.param(('/rotors/tanks/main', tank(0.0, 1.0)), id='tank'),
])
def test_latched_messages_do_not_tell_the_time(bag, latched):
    command = ('/rotors/command', joints(0.0, ['a'], effort=[5.0]))
    page = page_of(signals_of_bag(bag(
        latched, command,
        ('/rotors/state', joints(50.0, ['a'], effort=[1.0])), latched, command,
        ('/rotors/state', joints(60.0, ['a'], effort=[2.0])),
    )))
    assert points(page, 'rotors: thrust [N]', 'a', 'command') == [
        (50.0, 5.0), (50.0, 5.0), (60.0, 5.0)
    ]


def test_stamps_of_a_wall_clock_count_from_the_first_second(bag):
    page = page_of(signals_of_bag(bag(
        ('/rotors/state', joints(1763726886.5, ['a'], effort=[1.0])),
        ('/rotors/state', joints(1763726887.25, ['a'], effort=[2.0])),
    )))
    assert points(page, 'rotors: thrust [N]', 'a') == [(0.5, 1.0), (1.25, 2.0)]
    assert page.time_label == 'time after 1763726886 s [s]'


def test_a_line_is_broken_where_time_goes_back(bag):
    page = page_of(signals_of_bag(bag(*(
        ('/rotors/state', joints(time, ['a'], effort=[time])) for time in (1.0, 2.0, 1.0, 2.0)
    ))))
    drawn = points(page, 'rotors: thrust [N]', 'a')
    assert drawn[:2] + drawn[3:] == [(1.0, 1.0), (2.0, 2.0)] * 2
    assert math.isnan(drawn[2][0])


def flight():
    """Return the topics of a throw of 10 m/s at 2 s, whose apogee is decided at 3.25 s."""
    yield '/flight_state/flags', flags(0.0, phase='preflight', health='')
    yield '/flight_state/flags', flags(1.0, phase='launch', health='', liftoff='')
    yield '/flight_state/fit', fit(1.5, 0.0, 0.0, 0.0)
    said = {'phase': 'flight', 'liftoff': '2.000000000'}
    yield '/flight_state/flags', flags(2.0, health='lockout', **said)
    for time in (2.0, 2.5, 3.0, 3.25):
        t = time - 2.0
        yield '/vehicle/odometry', odometry(time, 10.0 * t - 5.0 * t**2)
        yield '/flight_state/fit', fit(
            time, 10.0 * t - 5.0 * t**2, 10.0 - 10.0 * t, -10.0, 3.0, 5.0
        )
        if time == 2.5:
            yield '/flight_state/flags', flags(time, health='ok', **said)
    yield '/flight_state/apogee', vertex(3.0, 5.0)
    yield '/flight_state/flags', flags(
        3.25, health='ok', **{**said, 'phase': 'recovery', 'apogee': '3.250000000'}
    )
    yield '/flight_state/events', status(3.5, 'drogue')
    yield '/vehicle/odometry', odometry(4.0, 0.0)
    # After the decision nobody asks.
    yield '/flight_state/fit', fit(3.75, 2.0, -7.0, -10.0)


def test_flight_is_drawn_as_it_was_said(bag):
    page = page_of(signals_of_bag(bag(*flight())))
    shown, apogee = page.above
    # Latched flags of before the recording do not make the page longer.
    assert (page.begin, page.end) == (1.5, 4.0)
    assert page.title == 'bag: apogee 5.0 m at 3.00 s, detected at 3.25 s'
    assert page.phases == (
        Span(1.5, 2.0, 'launch'), Span(2.0, 3.25, 'flight'), Span(3.25, 4.0, 'recovery'),
    )
    assert page.marks == (Mark(2.0, 'liftoff'), Mark(3.5, 'drogue'))
    (trace,) = shown.series
    assert trace.label == 'vehicle'
    assert trace.y.tolist() == [0.0, 3.75, 5.0, 4.6875, 0.0]
    fits = np.array([
        (2.0, 0.0, 10.0, -10.0), (2.5, 3.75, 5.0, -10.0), (3.0, 5.0, 0.0, -10.0),
        (3.25, 4.6875, -2.5, -10.0),
    ])
    assert parabolas(shown) == pytest.approx(fits, abs=1e-9)
    assert parabolas(apogee, DECIDING) == pytest.approx(fits[-1:], abs=1e-9)
    assert shown.bands == (Span(2.0, 2.5, 'lockout'),)
    assert (decided(shown), found(shown)) == ([3.25], [(3.0, 5.0)])
    # Without what was predicted at 2 s, in the lockout.
    assert predicted(shown) == [(3.0, 5.0)]
    # The position is among the altitudes.
    assert {'position [m]': [*'xyz'], **panels(page)} == MOTION | {
        'vertical speed [m/s]': ['fit'], 'vertical acceleration [m/s²]': ['fit'],
    }
    assert points(page, 'vertical speed [m/s]', 'fit') == [
        (2.0, 10.0), (2.5, 5.0), (3.0, 0.0), (3.25, -2.5)
    ]


def without(topic):
    return [message for message in flight() if message[0] != topic]


def test_without_odometry_the_fit_tells_the_altitude(bag):
    page = page_of(signals_of_bag(bag(*without('/vehicle/odometry'))))
    assert [(trace.label, trace.y.tolist()) for trace in page.above[0].series] == [
        ('fit', [0.0, 3.75, 5.0, 4.6875])
    ]


def test_without_altitude_and_fit_there_are_phases_alone(bag):
    page = page_of(signals_of_bag(bag(
        ('/flight_state/flags', flags(1.0, phase='launch')),
        ('/rotors/state', joints(1.0, ['a'], effort=[1.0])),
        ('/rotors/state', joints(2.0, ['a'], effort=[1.0])),
    )))
    assert page.above == ()
    assert page.phases == (Span(1.0, 2.0, 'launch'),)


@pytest.mark.parametrize(('messages', 'message'), [
    pytest.param([('/flight_state/flags', flags(1.0, phase='launch'))],
                 'expected values to plot, got none', id='phases alone'),
    pytest.param([('/rotors/state', joints(1.0, ['a'], effort=[NAN]))],
                 'expected values to plot, got none', id='NaN alone'),
    pytest.param([('/flight_state/fit', fit(1.0, NAN, NAN, NAN)),
                  ('/flight_state/flags', flags(1.5, phase='launch')),
                  ('/flight_state/fit', fit(2.0, NAN, NAN, NAN))],
                 'expected values between 1 and 2 s, got none', id='fits outside of a flight'),
])
def test_what_has_no_values_is_refused(bag, messages, message):
    with pytest.raises(SourceError, match=message):
        page_of(signals_of_bag(bag(*messages)))


def test_without_flags_phases_are_as_late_as_what_was_stamped_last(bag):
    page = page_of(signals_of_bag(bag(
        ('/flight_state/phase', String(data='launch')),
        ('/flight_state/fit', fit(1.0, 0.0, 1.0, 0.0)),
        ('/flight_state/fit', fit(2.0, 0.0, 1.0, 0.0)),
        ('/flight_state/phase', String(data='flight')),
        ('/flight_state/fit', fit(3.0, 0.0, 1.0, 0.0)),
    )))
    assert page.phases == (Span(1.0, 2.0, 'launch'), Span(2.0, 3.0, 'flight'))
    assert [time for time, *_ in parabolas(page.above[0])] == [2.0, 3.0]
    assert page.title == 'bag'


def test_many_fits_are_thinned(bag):
    messages = [('/flight_state/fit', fit(0.01 * i, 0.0, 1.0, -9.8)) for i in range(1, 401)]
    chosen = parabolas(page_of(signals_of_bag(bag(*messages))).above[0])
    assert len(chosen) == pytest.approx(30, abs=1)
    assert (chosen[0][0], chosen[-1][0]) == pytest.approx((0.01, 3.9), abs=0.14)


def test_a_namespace_chooses_one_vehicle(bag):
    path = bag(
        ('/a/flight_state/fit', fit(1.0, 1.0, 0.0, 0.0)), ('/a/fins/wrench', wrench(1.0)),
        ('/b/flight_state/fit', fit(1.0, 2.0, 0.0, 0.0)), ('/ab/fins/wrench', wrench(1.0)),
    )
    with pytest.raises(SourceError, match='expected one flight_state, got /a/flight_state, /b/f'):
        signals_of_bag(path)
    page = page_of(signals_of_bag(path, namespace='a'))
    assert page.above[0].series[0].y.tolist() == [1.0]
    assert [heading for heading in panels(page) if 'force' in heading] == [
        'fins: applied force [N]'
    ]


@pytest.mark.parametrize('namespace', ['', '/nobody/'])
def test_a_bag_without_our_topics_says_what_it_has(bag, namespace):
    path = bag(('/chatter', String(data='hello')))
    with pytest.raises(SourceError, match=r'expected a topic such as .*fit, got /chatter'):
        signals_of_bag(path, namespace)


def test_a_servo_fires_where_it_is_turned_first(bag):
    names = ['drogue', 'main']
    fired = signals_of_bag(bag(
        ('/flight_state/deployers', joints(1.0, names, position=[NAN, NAN], effort=[1.0, NAN])),
        ('/flight_state/deployers', joints(2.0, names, position=[NAN, 1.5], effort=[0.0, NAN])),
    )).flight.fired
    assert fired == {'drogue': 1.0, 'main': 2.0}


def test_a_servo_without_efforts_fires_and_a_value_without_a_name_does_not(bag):
    message = joints(1.0, ['main'], position=[1.5, 0.2])
    assert signals_of_bag(bag(('/flight_state/deployers', message))).flight.fired == {'main': 1.0}


@pytest.mark.parametrize(('taker', 'expected'), [('fam', -2.0), ('fam_allocator', 0.0)])
def test_torques_of_a_command_are_about_the_point_of_what_is_applied(bag, taker, expected):
    """A force along x, 2 m below the origin, turns by -2 N m about y."""
    body = tank(0.5, 1.0)
    body.inertia.com.z = -2.0
    path = bag(
        ('/vehicle/inertia', body), (f'/{taker}/wrench_command', wrench(1.0, 1.0)),
        ('/fam/wrench', wrench(1.0, 1.0)),
    )
    rows = signals_of_bag(path).rows
    ((_, torque),) = rows[Channel(taker, 'torque', 'y', COMMAND)]
    assert torque == expected


def test_each_robot_has_its_own_centre_of_mass(bag):
    low, high = tank(0.5, 1.0), tank(0.6, 1.0)
    low.inertia.com.z, high.inertia.com.z = -2.0, 3.0
    path = bag(
        ('/a/vehicle/inertia', low), ('/b/vehicle/inertia', high),
        *((f'/{name}/fam/{leaf}', wrench(1.0, 1.0))
          for name in 'ab' for leaf in ('wrench_command', 'wrench')),
    )
    found = {
        channel.source: value for channel, ((_, value), *_) in signals_of_bag(path).rows.items()
        if (channel.quantity, channel.name, channel.role) == ('torque', 'y', COMMAND)
    }
    assert sorted(found.values()) == [-2.0, 3.0]
