# SPDX-License-Identifier: Apache-2.0
"""Every launch file, started by launch itself: each vehicle moves when it is commanded."""
import pytest

launch_pytest = pytest.importorskip('launch_pytest', reason='launch_pytest is not installed')
pytest.importorskip('launch_ros', reason='launch_ros is not installed')

from geometry_msgs.msg import WrenchStamped  # noqa: E402
from launch import LaunchDescription  # noqa: E402
from launch.actions import IncludeLaunchDescription  # noqa: E402
from launch.launch_description_sources import PythonLaunchDescriptionSource  # noqa: E402
from launch_pytest.actions import ReadyToTest  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402
from visualization_msgs.msg import MarkerArray  # noqa: E402

from policy_form import LAUNCH, read_policy, seen  # noqa: E402
from propulsion_ros.graph.share import share_directory  # noqa: E402
from propulsion_ros.messages import qos  # noqa: E402

SHARE = share_directory()
ROTORS = ['front_left', 'front_right', 'rear_left', 'rear_right']


def include(name, **arguments):
    """Return a launch file as an action."""
    source = PythonLaunchDescriptionSource(str(SHARE / 'launch' / f'{name}.launch.py'))
    return IncludeLaunchDescription(source, launch_arguments=arguments.items())


def launched(name, *actions):
    """Return a fixture of this name that launches some actions."""
    def description():
        return LaunchDescription([*actions, ReadyToTest()])
    description.__name__ = name
    return launch_pytest.fixture(description)


def demand(frame='base_link', **force):
    """Return a demanded force, to take effect on arrival."""
    message = WrenchStamped()
    message.header.frame_id = frame
    for axis, value in force.items():
        setattr(message.wrench.force, axis, value)
    return message


def climb(graph, prefix=''):
    """Command the rotors of a quadrotor until it climbs."""
    heights = graph.listen(Odometry, f'{prefix}vehicle/odometry', qos.STATE)
    command = graph.talk(JointState, f'{prefix}rotors/command', qos.COMMAND)

    def higher():
        command.publish(JointState(name=ROTORS, effort=[4.5] * 4))
        return heights and heights[-1].pose.pose.position.z > 0.5
    graph.until(higher, 'the quadrotor to climb')


def swim(graph, prefix=''):
    """Demand a force of an underwater vehicle until it moves."""
    motion = graph.listen(Odometry, f'{prefix}vehicle/odometry', qos.STATE)
    command = graph.talk(WrenchStamped, f'{prefix}thrusters_allocator/wrench_command', qos.COMMAND)

    def faster():
        command.publish(demand(x=20.0))
        return motion and motion[-1].twist.twist.linear.x > 0.3
    graph.until(faster, 'the vehicle to move')


rocket = launched('rocket', include('rocket'))
rov = launched('rov', include('rov'))
freeflyer = launched('freeflyer', include('freeflyer'))
cubesat = launched('cubesat', include('cubesat'))
composed = launched('composed', include('rov', composed='true'))
manual = launched('manual', include('rocket', namespace='two', autostart='false'))
both = launched(
    'both',
    include('quadrotor', namespace='a', clock_topic='/a/clock'),
    include('rov', namespace='b', clock_topic='/b/clock'),
)
drawn_composed = launched('drawn_composed', include('rov', visualize='true', composed='true'))
any_robot = launched('any_robot', include(
    'bringup', model=str(SHARE / 'urdf' / 'quadrotor.urdf.xacro'), allocate='rotors',
))
any_body = launched('any_body', include(
    'bringup', model=str(SHARE / 'urdf' / 'quadrotor.urdf.xacro'), simulate='true',
))


@pytest.mark.launch(fixture=any_body)
def test_any_robot_has_a_body_that_climbs(graph):
    climb(graph)


@pytest.mark.launch(fixture=rocket)
def test_rocket_is_lit_by_a_command(graph):
    wrenches = graph.listen(WrenchStamped, 'boosters/wrench')
    graph.heard('boosters/wrench', 60)
    assert graph.call(Trigger, 'flight_state/launch').success
    command = graph.talk(JointState, 'boosters/command')

    def pushed():
        command.publish(JointState(name=['booster_1', 'booster_2'], effort=[1300.0, 1300.0]))
        return wrenches[-1].wrench.force.z > 2000.0

    graph.until(pushed, 'thrust')


@pytest.mark.launch(fixture=composed)
def test_rov_swims_as_one_process(graph):
    swim(graph)


@pytest.mark.launch(fixture=drawn_composed)
def test_vehicle_is_drawn_in_one_process(graph):
    pictures = graph.listen(MarkerArray, 'visualizer/markers', qos.PICTURE)
    graph.until(
        lambda: pictures
        and {marker.ns for marker in pictures[-1].markers} == {'thrusters', 'fins', 'status'},
        'a picture of thrusters, fins and status',
    )


@pytest.mark.launch(fixture=freeflyer)
def test_freeflyer_is_pushed_and_its_estimate_says_so(graph):
    true = graph.listen(WrenchStamped, 'propulsion_modules/wrench', qos.STATE)
    estimates = graph.listen(WrenchStamped, 'inverse_fam/wrench', qos.STATE)
    command = graph.talk(WrenchStamped, 'fam/wrench_command', qos.COMMAND)

    def pushed():
        command.publish(demand('body', x=0.2))
        return true and true[-1].wrench.force.x > 0.15

    def estimated():
        pushed()
        return estimates and estimates[-1].wrench.force.x == pytest.approx(0.2, abs=5e-3)
    # The impellers take a while to their speed.
    graph.until(pushed, 'the modules to push')
    # What was said of the time before may come yet.
    graph.until(estimated, 'the estimate of it')


@pytest.mark.launch(fixture=cubesat)
def test_cubesat_is_turned_by_its_allocator(graph):
    wrenches = graph.listen(WrenchStamped, 'jets/wrench', qos.STATE)
    command = graph.talk(WrenchStamped, 'jets_allocator/wrench_command', qos.COMMAND)
    message = demand()
    message.wrench.torque.z = 0.02

    def turned():
        command.publish(message)
        return wrenches and wrenches[-1].wrench.torque.z == pytest.approx(0.0113, rel=1e-6)
    graph.until(turned, 'the jets to push')


@pytest.mark.launch(fixture=both)
def test_two_vehicles_in_two_namespaces_at_once(graph):
    climb(graph, 'a/')
    swim(graph, 'b/')


@pytest.mark.launch(fixture=manual)
def test_namespace_and_autostart(graph):
    for name in ('boosters', 'fins', 'flight_state', 'vehicle'):
        assert graph.state_of(f'two/{name}') == 'unconfigured', name


@pytest.mark.launch(fixture=any_robot)
def test_any_robot_is_brought_up_with_its_allocator(graph):
    wrenches = graph.listen(WrenchStamped, 'rotors/wrench', qos.STATE)
    command = graph.talk(WrenchStamped, 'rotors_allocator/wrench_command', qos.COMMAND)

    def pushed():
        command.publish(demand(z=12.0))
        return wrenches and wrenches[-1].wrench.force.z == pytest.approx(12.0, abs=1e-3)
    graph.until(pushed, 'the demanded wrench')


def as_named(profile, name):
    """Return what a profile allows a node with a name, but for what need not be."""
    own = [
        {topic.replace(LAUNCH, name) for topic in topics}
        for topics in (profile.publishes, profile.subscribes, profile.replies, profile.requests)
    ]
    # tf2_msgs may be absent, and only nodes in C++ subscribe to parameter events.
    return own[0] - {'/tf'}, own[1] - {'/parameter_events'}, *own[2:]


@pytest.mark.launch(fixture=rov)
def test_launched_vehicle_keeps_to_its_policy(graph):
    _, profiles = read_policy((SHARE / 'policies' / 'rov.policy.xml').read_text(encoding='utf-8'))
    for profile in profiles:
        # It need not be installed.
        if profile.name == 'robot_state_publisher':
            continue
        graph.until(lambda p=profile: seen(graph.probe, p), profile.name)
        name = seen(graph.probe, profile).name
        graph.becomes(
            lambda p=profile, name=name: as_named(seen(graph.probe, p), name),
            as_named(profile, name),
        )
