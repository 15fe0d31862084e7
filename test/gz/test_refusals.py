# SPDX-License-Identifier: Apache-2.0
"""What Gazebo's reader refuses is refused before, with a place and a remedy; nothing else is."""
from __future__ import annotations

import pytest
from defusedxml import ElementTree
from gazebo_tool import as_sdf, needs_sdformat, sdf

from propulsion_ros.gz.model import gazebo_robot, refusals
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.tools import cli

MASS = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="{}" {}/></inertial>'
ZEROS = 'ixy="0" ixz="0" iyz="0"'
GOOD = MASS.format(1, ZEROS)
HEAVY = MASS.format(9, ZEROS).replace('"1" iyy="1"', '"9" iyy="9"')


def link(name, inside=GOOD):
    return f'<link name="{name}">{inside}</link>'


def joint(name, kind, child='b', inside=''):
    return (f'<joint name="{name}" type="{kind}"><parent link="base"/><child link="{child}"/>'
            f'<axis xyz="1 0 0"/>{inside}</joint>')


LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
REFUSED = [
    pytest.param(link('base', ''), 'robot/link[name=base]: neither it nor a link that is fixed to '
                 'it has a mass, and Gazebo refuses such a robot; write <inertial>', id='no mass'),
    pytest.param(link('base', '') + link('b') + joint('j', 'continuous'),
                 'robot/link[name=base]: neither it', id='mass behind a hinge'),
    pytest.param(link('base', GOOD.replace('mass value="1"', 'mass value="0"')),
                 'robot/link[name=base]: neither it', id='mass of 0'),
    pytest.param(link('base', MASS.format(9, ZEROS)), 'robot/link[name=base]/inertial: its '
                 'principal moments, with all that is fixed to it, are 1, 1, 9 kg m^2',
                 id='moments of no body'),
    pytest.param(link('base') + link('b') + joint('b', 'continuous'),
                 'robot/joint[name=b]: Gazebo refuses a joint that has the name of a link',
                 id='joint named as a link'),
    pytest.param(link('__base__'), "robot/link[name=__base__]: Gazebo keeps the name '__base__'",
                 id='reserved link'),
    pytest.param(link('base') + link('b') + joint('__j__', 'continuous'),
                 "robot/joint[name=__j__]: Gazebo keeps the name '__j__'", id='reserved joint'),
    pytest.param(link('base') + link('b') + joint('j', 'planar'),
                 'robot/joint[name=j]/@type: Gazebo has no planar joints', id='planar joint'),
    pytest.param(link('base') + link('b') + joint('j', 'revolute'),
                 'robot/joint[name=j]/limit: Gazebo refuses a revolute joint without effort and '
                 'velocity in its <limit>', id='no limit'),
    pytest.param(link('base') + link('b') + joint(
        'j', 'prismatic', inside='<limit lower="0" upper="1" effort="1"/>'
    ), 'robot/joint[name=j]/limit: Gazebo refuses a prismatic joint without velocity',
        id='half a limit'),
]
MERGED = pytest.param(link('base') + link('b') + joint('b', 'fixed'),
                      'robot/joint[name=b]: Gazebo refuses a joint that has the name of a link',
                      id='fixed joint named as a link')
TAKEN = [
    pytest.param(link('base', '') + link('b') + joint('j', 'fixed'), id='mass on a fixed joint'),
    pytest.param(link('base') + link('b') + joint('j', 'revolute', inside=LIMIT), id='limit'),
    pytest.param(link('base', HEAVY) + link('b', MASS.format(9, ZEROS)) + joint('j', 'fixed'),
                 id='moments of no body but together'),
    pytest.param(
        link('world', '') + link('b') + joint('j', 'fixed').replace('base', 'world'), id='world'
    ),
]


def robot(inside):
    return f'<robot name="r">{inside}</robot>'


@pytest.mark.parametrize(('inside', 'message'), [*REFUSED, MERGED])
def test_refusal_has_place_and_remedy(inside, message):
    (error,) = refusals(ElementTree.fromstring(robot(inside)))
    assert message in str(error)


@pytest.mark.parametrize('inside', TAKEN)
def test_what_gazebo_takes_is_taken(inside):
    assert not list(refusals(ElementTree.fromstring(robot(inside))))


@needs_sdformat
@pytest.mark.parametrize(('inside', 'is_valid'), [
    *(pytest.param(each.values[0], False, id=each.id) for each in REFUSED),
    *(pytest.param(each.values[0], True, id=each.id) for each in TAKEN),
])
def test_gazebo_says_the_same(tmp_path, inside, is_valid):
    path = tmp_path / 'robot.urdf'
    path.write_text(robot(inside))
    done = sdf('-k', path, check=False)
    assert ('Valid' in done.stdout and not done.returncode) == is_valid


@needs_sdformat
def test_merged_joint_leaves_a_frame_of_its_name(tmp_path):
    """From libsdformat 12.7 on, so that it must not have the name of the link."""
    inside = MERGED.values[0]
    renamed = as_sdf(robot(inside.replace('joint name="b"', 'joint name="j"')), tmp_path)
    path = tmp_path / 'robot.urdf'
    path.write_text(robot(inside))
    assert ('Valid' in sdf('-k', path, check=False).stdout) == (renamed.find('frame') is None)


@pytest.fixture
def massless(tmp_path):
    """Return the file of a robot with a rotor and no mass."""
    path = tmp_path / 'robot.urdf'
    path.write_text(robot(
        '\n<link name="base"/>\n<gazebo><plugin filename="propulsion_ros" name="rotors">'
        '<rotor name="a"><link>base</link><max_thrust>9</max_thrust><motor_constant>1e-5'
        '</motor_constant></rotor></plugin></gazebo>'
    ))
    return path


def test_model_for_gazebo_is_refused(massless):
    with pytest.raises(ConfigError, match=r'robot/link\[name=base\]: neither it'):
        gazebo_robot(massless)


def test_check_reports_it_where_it_is_asked_for(massless, capsys):
    assert cli.main(['check', str(massless)]) == 0
    capsys.readouterr()
    assert cli.main(['check', '--gazebo', str(massless)]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f'{massless}:2: robot/link[name=base]: neither it')
