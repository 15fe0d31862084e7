# SPDX-License-Identifier: Apache-2.0
"""What checks the pages notices what is wrong with one, and names the line."""
from __future__ import annotations

import pytest

from markdown_pages import Page
from page_blocks import check_block
from page_commands import Commands
from page_graphs import PageError, Robot, Robots
from page_shell import commands_of
from propulsion_ros.graph.wiring import robot_graph

WRENCH = 'geometry_msgs/msg/WrenchStamped'
POINT = 'ros2 topic pub /thrusters/command sensor_msgs/msg/JointState'
WRONG = [
    ('propulsion_ros soar', 'propulsion_ros has no command soar'),
    ('propulsion_ros check FILE --modle x', 'unrecognized arguments: --modle'),
    ('DISTRO=dashing make test', 'DISTRO is one of '),
    ('make demo VEHICLE=submarine', 'VEHICLE is one of rocket, quadrotor, rov, freeflyer, cubesat'),
    ('rviz2 -d $(ros2 pkg prefix --share propulsion_ros)/rviz/absent.rviz', 'there is no '),
    ('ros2 run propulsion_ros thruster_node', 'no executable thruster_node'),
    ('ros2 run propulsion_ros stack --model absent.urdf', 'absent.urdf: cannot be read'),
    ('ros2 launch propulsion_ros submarine.launch.py', 'no launch file submarine'),
    ('ros2 launch propulsion_ros rov.launch.py composed:=yes', 'composed is one of true, false'),
    ('ros2 topic echo /thrusters/wrenches', 'no topic /thrusters/wrenches'),
    ('ros2 topic pub /thrusters/command std_msgs/msg/Bool', 'is sensor_msgs/msg/JointState, not'),
    (f'ros2 topic pub /thrusters_allocator/residual {WRENCH}', 'nobody reads'),
    (f'{POINT} "{{name: [front_left], velocity: [fast]}}"', 'velocity: '),
    (f'{POINT} "{{name: [front_left], effort: [1.0]}}"', 'thrusters refuses'),
    ('ros2 service call /thrusters/reset std_srvs/srv/SetBool', 'is std_srvs/srv/Trigger, not'),
    ('ros2 param set /thrusters rotor_constant "[1.0]"', 'thrusters refuses rotor_constant'),
    ('ros2 param get /thrusters speed', '/thrusters has no parameter speed'),
    ('ros2 lifecycle set /thrusters start', 'a node has no transition start'),
    ('ros2 topic pub', 'is not complete'),
]
BLOCKS = [
    ('sh no-test', '', 'a fence may be one of'),
    ('xml', '<robot name="r">', 'is not XML'),
    ('xml', '<robot name="r"><link name="a"/></robot>', 'no plugin block'),
    ('xml', '<rotor name="a"><link>l</link><max_thrst>1</max_thrst></rotor>', "'max_thrust'?"),
    ('xml', '<rotor name="a"><link>l</link></rotor>', 'is required'),
    ('yaml', '/**/rotors:\n  ros__parameters:\n    max_thrst: [1.0]\n', "'max_thrust'?"),
    ('yaml', '/**/thrusters:\n  ros__parameters:\n    gain: [fast]\n', 'expected a number'),
    ('json', '{"Events": [{"id": 0}]}', 'Events[0]'),
    ('python', 'from propulsion_ros.models.registry import Rocket', 'ImportError'),
]


@pytest.fixture(scope='module')
def robots():
    """Return the running graph of one vehicle."""
    robot = Robot(robot_graph('rov'))
    yield Robots([robot])
    robot.close()


@pytest.mark.parametrize(('command', 'fault'), WRONG, ids=[command for command, _ in WRONG])
def test_wrong_command(tmp_path, robots, command, fault):
    ((_, words),) = commands_of(command)
    with pytest.raises(PageError) as error:
        Commands(tmp_path, robots).check(words)
    assert fault in str(error.value)


@pytest.mark.parametrize(('language', 'text', 'fault'), BLOCKS)
def test_wrong_block(tmp_path, language, text, fault):
    (tmp_path / 'page.md').write_text(f'```{language}\n{text}\n```\n', encoding='utf-8')
    (block,) = Page(tmp_path / 'page.md', 'page.md').blocks
    with pytest.raises(PageError) as error:
        check_block(block, {})
    assert fault in str(error.value)


def test_a_page_is_taken_apart_with_its_lines(tmp_path):
    (tmp_path / 'page.md').write_text(
        '# A `b` c!\n\nSave it as `x.csv`:\n\n```csv\nstamp\n```\n\n'
        '```sh\ncat x.csv   # a comment\nmake \\\n  test && X=1 make demo | cat > y\n```\n'
        '```text\nstamp\n```\n[one](a.md#b) and `[no](link)` and\n`two\nlines`.\n\n# A b c\n',
        encoding='utf-8',
    )
    page = Page(tmp_path / 'page.md', 'page.md')
    assert page.files == {'x.csv': 'stamp\n'}
    assert [(b.line, b.language, b.shows) for b in page.blocks] == [
        (5, 'csv', None), (9, 'sh', 'stamp\n'), (14, 'text', None),
    ]
    assert list(commands_of(page.blocks[1].text)) == [
        (0, ['cat', 'x.csv']), (1, ['make', 'test']), (1, ['make', 'demo', 'X=1']),
        (1, ['cat']),
    ]
    assert [(link.line, link.text) for link in page.links] == [(17, 'a.md#b')]
    assert [(s.line, s.text) for s in page.spans][-1] == (18, 'two lines')
    assert page.anchors == {'a-b-c', 'a-b-c-1'}
