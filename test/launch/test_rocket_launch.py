"""The rocket's launch file, started by launch itself."""
from __future__ import annotations

import pytest

launch_pytest = pytest.importorskip('launch_pytest', reason='launch_pytest is not installed')
pytest.importorskip('launch_ros', reason='launch_ros is not installed')

from geometry_msgs.msg import WrenchStamped  # noqa: E402
from launch import LaunchDescription  # noqa: E402
from launch.actions import IncludeLaunchDescription  # noqa: E402
from launch.launch_description_sources import PythonLaunchDescriptionSource  # noqa: E402
from launch_pytest.actions import ReadyToTest  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from propulsion_ros.share import share_directory  # noqa: E402

LAUNCH_FILE = str(share_directory() / 'launch' / 'rocket.launch.py')
NODES = ('boosters', 'flight_state', 'vehicle')


def include(**arguments):
    """Return the launch file as an action."""
    return IncludeLaunchDescription(
        PythonLaunchDescriptionSource(LAUNCH_FILE), launch_arguments=arguments.items()
    )


@launch_pytest.fixture
def rocket():
    """Launch one rocket."""
    return LaunchDescription([include(), ReadyToTest()])


@launch_pytest.fixture
def manual_rocket():
    """Launch one that waits to be configured, in a namespace."""
    return LaunchDescription([include(namespace='two', autostart='false'), ReadyToTest()])


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


@pytest.mark.launch(fixture=manual_rocket)
def test_namespace_and_autostart(graph):
    for name in NODES:
        assert graph.state_of(f'two/{name}') == 'unconfigured', name
