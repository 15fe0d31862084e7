# SPDX-License-Identifier: Apache-2.0
"""Rules of sense: each is met by a mistake, can be silenced, and leaves right robots alone."""
import re
from pathlib import Path

import pytest
from layouts import layout_of
from plausible_robots import KINDS as DRAWN
from plausible_robots import drawn

from mistakes import DOUBTED, KINDS, TEXTS
from parts import amount, few_of
from propulsion_ros.graph.doubts import NAMES, OF_UNIT, RULES, merged, robot_doubts
from propulsion_ros.graph.share import robot_files, share_directory
from propulsion_ros.tools import check, cli
from propulsion_ros.tools.check import check_file

SHARE = share_directory()
HERE = Path(__file__).parents[1]
VEHICLES = sorted((SHARE / 'urdf').glob('*.urdf.xacro'))
OTHERS = [
    *sorted((HERE.parent / 'examples').glob('*/*.urdf*')),
    *sorted((HERE / 'data' / 'public').glob('*.urdf')),
]
# Tested by files of other kinds than those of the table.
ELSEWHERE = {
    'backwards', 'body', 'buoyancy', 'capsizes', 'centre', 'descent', 'drag', 'dry', 'gravity',
    'gyration', 'lean', 'odd_arm', 'pressure_centre', 'sinks', 'speed', 'spread', 'start', 'turned',
    'upside_down',
}


def warnings_of(path, *silenced):
    """Return what rules of sense say of a file that has no faults."""
    report = check_file(path, None, silenced)
    assert report.faults == []
    return [line for line in report.warnings if line.endswith(')')]


def rule_of(mistake):
    return mistake.remedy.strip('()')


# Of each rule the first mistake that meets it.
MEETS = {rule_of(mistake): mistake.files['robot.urdf'] for mistake in reversed(DOUBTED)}


@pytest.mark.parametrize(('rule', 'text'), few_of(
    [pytest.param(*each, id=each[0]) for each in MEETS.items()], 6
))
def test_each_rule_can_be_silenced_by_the_command_and_in_the_block(rule, text, tmp_path):
    """That it is met without this is what the table of mistakes says."""
    path = tmp_path / 'robot.urdf'
    for silenced, quiet in (([rule], ''), ([], f'<silenced>{rule}</silenced> ')):
        path.write_text(text.replace('<update_rate>', f'{quiet}<update_rate>'))
        assert not any(line.endswith(f'({rule})') for line in warnings_of(path, *silenced))


@pytest.mark.parametrize(('in_n', 'expected'), [
    (True, []), (False, ['; if that is in gf, as esc_curve is, write 8.00223 (airborne)']),
])
def test_thrusts_and_their_curves_in_another_unit_are_one_line(in_n, expected, tmp_path):
    most, curve = ('8', '0 0 0.5 2.8 1 8') if in_n else ('816', '0 0 0.5 286 1 816')
    path = tmp_path / 'robot.urdf'
    path.write_text(TEXTS['quadrotor'].replace('<update_rate>', (
        '<command_interface>throttle</command_interface> <esc_kind>table</esc_kind> <update_rate>'
    )).replace('<max_thrust>8<', f'<esc_curve>{curve}</esc_curve> <max_thrust>{most}<'))
    assert [line[line.rindex('; if'):] for line in warnings_of(path)] == expected


def test_a_curve_alone_in_another_unit_is_one_line_about_it(tmp_path):
    path = tmp_path / 'robot.urdf'
    path.write_text(TEXTS['boat'].replace('<conversion>propeller</conversion>', (
        '<esc_curve>0 -4000 0.5 0 1 4590</esc_curve> <rotor_constant>0.0072</rotor_constant>'
    )).replace('<thrust_coefficient>0.0045', '<thrust_coefficient>0').replace(
        '<plugin filename="propulsion_ros" name="thrusters">', (
            '<plugin filename="propulsion_ros" name="thrusters"> <esc_kind>table</esc_kind> '
            '<command_interface>throttle</command_interface>'
        )).replace('<min_command>-100</min_command> <max_command>100</max_command>', ''))
    (line,) = warnings_of(path, 'unread')
    assert '/esc_curve: ' in line
    assert '; if that is in gf, its end, write 45.0125' in line


STERN = [((-0.8, y, z), '0 0 0') for y, z in ((0.0, 0.15), (0.0, -0.15), (0.15, 0.0), (-0.15, 0.0))]
JET = [((-0.8, 0.0, 0.0), rpy) for rpy in ('0 0 0', '0 0 1.570796', '0 -1.570796 0')]
BOW = [((0.6, 0.0, 0.0), '0 0 1.570796'), ((0.5, 0.0, 0.0), '0 -1.570796 0')]
CURVE, TURNED = '0 -40 0.5 0 1 50', '0 -50 0.5 0 1 40'
TORPEDO = {
    'fluid_density': 1025.0, 'displaced_volume': 0.0787, 'ground': False,
    'drag_area': [0.015, 0.45, 0.45], 'angular_drag': [0.0006, 0.4, 0.4],
    'start_position': [0.0, 0.0, -5.0],
}


def torpedo(thrusters, constant, curves):
    """Return a description of 80 kg with thrusters along the x of their links."""
    curves = [curves] * len(thrusters) if isinstance(curves, str) else curves
    places = ''.join(
        f'<link name="l{i}"/> <joint name="j{i}" type="fixed"> <parent link="base_link"/> '
        f'<child link="l{i}"/> <origin xyz="{" ".join(map(str, xyz))}" rpy="{rpy}"/> </joint>'
        for i, (xyz, rpy) in enumerate(thrusters)
    )
    rows = ''.join(
        f'<thruster name="t{i}"> <link>l{i}</link> <axis>1 0 0</axis> {tags} '
        f'<rotor_constant>{constant}</rotor_constant> </thruster>'
        for i, tags in enumerate(
            f'<esc_curve>{curve}</esc_curve>' if curve else '<min_command>-370</min_command> '
            '<max_command>370</max_command>' for curve in curves
        )
    )
    throttle = '<command_interface>throttle</command_interface> <esc_kind>table</esc_kind>'
    return (
        '<robot name="torpedo"> <link name="base_link"> <inertial> <origin xyz="0 0 -0.02"/> '
        '<mass value="80"/> <inertia ixx="1" iyy="18" izz="18" ixy="0" ixz="0" iyz="0"/> '
        '</inertial> <visual> <geometry> <box size="2 0.3 0.3"/> </geometry> </visual> </link> '
        f'{places} <gazebo> <plugin filename="propulsion_ros" name="thrusters"> '
        f'{throttle * bool(curves[0])} {rows} </plugin> </gazebo> </robot>'
    )


@pytest.mark.parametrize(('thrusters', 'constant', 'curves', 'body', 'rules'), [
    pytest.param(STERN, 4e-4, '', {}, [], id='right'),
    pytest.param(JET + BOW, 4e-4, '', {}, [], id='three at right angles in one place'),
    pytest.param(JET[:2] + BOW, 4e-4, '', {}, ['same_place'], id='two in one place'),
    pytest.param(STERN, 1e-5, '', {}, [], id='0.8 % of buoyancy and little thrust'),
    pytest.param(STERN, 1e-5, '', {'fluid_density': 1050.0}, ['buoyancy'], id='3.3 %'),
    pytest.param(STERN, 4e-4, '', {'start_velocity': [8.0, 0.0, 0.0]}, [], id='a launch'),
    pytest.param(STERN, 4e-4, '', {'start_velocity': [40.0, 0.0, 0.0]}, ['speed'], id='in km/h'),
    pytest.param(STERN, 4e-4, '', {'angular_drag': [0.0, 0.4, 0.4]}, [], id='of revolution'),
    pytest.param(STERN, 4e-4, '', {'angular_drag': [6e-4, 0.0, 0.4]}, ['drag'], id='no drag'),
    pytest.param(STERN, 4e-4, '', {'displaced_volume': 0.0, 'gravity': 0.0}, [], id='planar'),
    pytest.param(STERN, 4e-4, '', {'displaced_volume': 0.0}, ['buoyancy'], id='no volume'),
    pytest.param(STERN, 4e-4, CURVE, {}, [], id='curves'),
    pytest.param(STERN, 4e-4, [TURNED, *[CURVE] * 3], {}, ['odd_one'], id='one turned round'),
])
def test_what_is_rare_is_told_from_what_is_wrong(thrusters, constant, curves, body, rules):
    robot = layout_of(torpedo(thrusters, constant, curves), vehicle={
        f'body.{key}': value for key, value in {**TORPEDO, **body}.items()
    })
    assert [each.rule.name for each in merged(robot_doubts(robot))] == rules


def test_a_speed_in_turns_per_second_is_offered_beside_its_constant(tmp_path):
    path = tmp_path / 'robot.urdf'
    path.write_text(torpedo(STERN, 4e-4, '').replace('370', '59'))
    (line,) = warnings_of(path)
    assert 'or if max_command is in rev/s, write 370.708 (tip_speed)' in line


def test_every_rule_is_met():
    assert {*MEETS} | ELSEWHERE == set(NAMES)


@pytest.mark.slow
def test_every_row_makes_the_line_of_a_mistake(tmp_path, monkeypatch):
    """Several rows have one name; without a row nothing makes its line."""
    found, rows = [], set()
    monkeypatch.setattr(check, 'merged', lambda doubts: (
        found.append(each) or each for each in merged(doubts)
    ))
    monkeypatch.chdir(tmp_path)
    for mistake in (each for kind in ('robot', 'parameters', 'sense') for each in KINDS[kind]):
        if mistake.code or not mistake.command.startswith('check'):
            continue
        for name, text in mistake.files.items():
            (tmp_path / name).write_text(text)
        found.clear()
        cli.main(mistake.command.split())
        rows |= {
            (each.rule.name, each.rule.what, each.rule.unit) for each in found
            if mistake.reason in each.text and mistake.remedy in each.text
        }
    assert {(each.name, each.what, each.unit) for each in (*RULES, *OF_UNIT.values())} == rows


@pytest.mark.parametrize('path', [*VEHICLES, *OTHERS], ids=lambda path: path.name)
def test_right_robots_are_left_alone(path):
    assert warnings_of(path) == []


@pytest.mark.parametrize('vehicle', [path.name.partition('.')[0] for path in VEHICLES])
def test_vehicles_with_their_settings_are_left_alone(vehicle):
    settings, model = SHARE / 'config' / f'{vehicle}.yaml', SHARE / 'urdf' / f'{vehicle}.urdf.xacro'
    if settings.exists():
        report = check_file(settings, model, shipped=[settings])
        assert (report.faults, report.warnings) == ([], [])


@pytest.mark.parametrize('kind', DRAWN)
def test_drawn_robots_are_left_alone(kind, tmp_path):
    description, settings = tmp_path / 'robot.urdf', tmp_path / 'robot.yaml'
    for seed in range(amount('rest', 5, 100)):
        robot = drawn(kind, seed)
        description.write_text(robot.urdf)
        settings.write_text(robot.yaml)
        report = check_file(settings, description)
        assert (report.faults, report.warnings) == ([], []), f'seed {seed}'


def test_unknown_rule_is_refused(capsys):
    with pytest.raises(SystemExit):
        cli.main(['check', 'robot.urdf', '--silence', 'levers'])
    assert "invalid choice: 'levers'" in capsys.readouterr().err


def test_a_table_without_limits_of_its_command_is_right(tmp_path):
    path = tmp_path / 'robot.urdf'
    path.write_text(TEXTS['boat'].replace('<conversion>propeller', (
        '<input_values>-90 0 90</input_values> <output_values>-72 0 72</output_values> '
        '<conversion>linear_interp'
    )).replace('<min_command>-100</min_command> <max_command>100</max_command>', ''))
    # Constants of the propeller are left.
    assert warnings_of(path, 'unread') == []


@pytest.mark.parametrize('tag', [True, False], ids=['tag', 'parameter'])
def test_loss_at_the_surface_reads_the_diameter(tag, tmp_path):
    """By that alone it is known how deep a propeller with another curve is."""
    path, settings = tmp_path / 'boat.urdf', tmp_path / 'boat.yaml'
    path.write_text(TEXTS['boat'].replace(
        '<conversion>propeller</conversion>',
        '<rotor_constant>0.0072</rotor_constant>' + '<surface_loss>true</surface_loss>' * tag,
    ).replace('<thrust_coefficient>0.0045</thrust_coefficient>', '').replace(
        '<fluid_density>1000</fluid_density>', ''))
    settings.write_text('thrusters:\n  ros__parameters:\n    surface_loss: [true]\n')
    report = check_file(*([path] if tag else [settings, path]))
    assert (report.faults, report.warnings) == ([], [])


FLOAT = '<visual> <origin xyz="0 0 {z}"/> <geometry> <box size="{size}"/> </geometry> </visual>'


@pytest.mark.parametrize(('z', 'size', 'rules'), [
    (0.1, '0.4 0.4 0.1', set()), (0.0, '0.2 0.2 0.01', set()), (2.0, '0.4 0.4 0.1', {'extent)'}),
], ids=['float above the mass', 'sheet', 'far away'])
def test_shapes_may_be_sheets_and_a_part(z, size, rules, tmp_path):
    path = tmp_path / 'robot.urdf'
    path.write_text(TEXTS['quadrotor'].replace(
        '<link name="base_link">', f'<link name="base_link"> {FLOAT.format(z=z, size=size)}'
    ).replace('izz="0.03"', 'izz="0.039"'))
    assert {line.rpartition('(')[2] for line in warnings_of(path)} == rules


def test_what_is_meant_where_nothing_is_given_is_usual(tmp_path):
    """A joint without end beside one with ends has the default of both."""
    boat = (HERE.parent / 'examples' / 'azimuth_boat' / 'azimuth_boat.urdf').read_text()
    limited = boat.replace('"bow_azimuth" type="continuous"', '"bow_azimuth" type="revolute"')
    assert limited != boat
    path = tmp_path / 'boat.urdf'
    path.write_text(limited.replace('<limit effort', '<limit lower="-2" upper="2" effort', 1))
    assert warnings_of(path) == []


@pytest.mark.parametrize('changes', [
    {'<link>left</link>': '<link>front</link>'},
    dict.fromkeys(['"0.2 0 0"', '"0 0.2 0"', '"-0.2 0 0"', '"0 -0.2 0"'], '"0 0 0"'),
], ids=['two', 'all'])
def test_what_follows_from_two_at_one_place_is_not_said(changes, tmp_path):
    path, text = tmp_path / 'robot.urdf', TEXTS['quadrotor']
    for old, new in changes.items():
        text = text.replace(old, new)
    path.write_text(text)
    assert [line.rpartition('(')[2] for line in warnings_of(path)] == ['same_place)']


MOTOR = """<plugin filename="gz-sim-multicopter-motor-model-system" name="motor{i}">
<jointName>{name}_joint</jointName> <linkName>{name}</linkName>
<turningDirection>{way}</turningDirection> <maxRotVelocity>10500</maxRotVelocity>
<motorConstant>8.5e-6</motorConstant> <momentConstant>0.016</momentConstant>
<timeConstantUp>0.02</timeConstantUp> <timeConstantDown>0.02</timeConstantDown>
<motorNumber>{i}</motorNumber> </plugin>"""


def test_speed_in_rpm_of_another_simulator_is_one_line(tmp_path):
    """The thrust that it makes is in no other unit."""
    path, text = tmp_path / 'robot.urdf', TEXTS['quadrotor'].replace(
        'type="fixed">', 'type="continuous"> <axis xyz="0 0 1"/>')
    head, _, tail = text.partition('<plugin')
    motors = ''.join(MOTOR.format(i=i, name=name, way='cw' if i % 2 else 'ccw')
                     for i, name in enumerate(('front', 'left', 'rear', 'right')))
    path.write_text(head + motors + tail.partition('</plugin>')[2])
    lines = warnings_of(path)
    assert len(lines) == 1
    assert 'maxRotVelocity: ' in lines[0]
    assert 'if that is in rpm, write 1099.56' in lines[0]


def test_rotors_of_what_floats_are_in_air(tmp_path):
    (tmp_path / 'robot.urdf').write_text(TEXTS['quadrotor'])
    path = tmp_path / 'robot.yaml'
    path.write_text('vehicle:\n  ros__parameters:\n    body.fluid_density: 1000.0\n'
                    '    body.hulls.names: [hull]\n    body.hulls.size: [0.6, 0.3, 0.1]\n'
                    '    body.ground: false\n')
    report = check_file(path, tmp_path / 'robot.urdf')
    assert (report.faults, report.warnings) == ([], [])


def test_air_in_another_unit_is_one_line_at_its_density(tmp_path):
    (tmp_path / 'robot.urdf').write_text(TEXTS['quadrotor'])
    path = tmp_path / 'robot.yaml'
    path.write_text('vehicle:\n  ros__parameters:\n    body.fluid_density: 1225.0\n')
    (line,) = check_file(path, tmp_path / 'robot.urdf').warnings
    assert f"{path}:3: warning: vehicle: parameter 'body.fluid_density': " in line
    assert 'if that is in g/m^3, write 1.225' in line


@pytest.mark.parametrize('text', [TEXTS[name] for name in ('quadrotor', 'rocket', 'boat')])
def test_robots_of_the_mistakes_are_right_without_them(text, tmp_path):
    path = tmp_path / 'robot.urdf'
    path.write_text(text)
    report = check_file(path)
    assert (report.faults, report.warnings) == ([], [])


CUBE = 'ixx="0.16667" iyy="0.16667" izz="0.16667"'


@pytest.mark.parametrize(('name', 'old', 'new', 'lines'), [
    pytest.param('hopper', 'ixx="22" ixy="0" ixz="0" iyy="22" iyz="0" izz="2.5"', CUBE,
                 [' (extent)'], id='inertia of a cube of one metre'),
    pytest.param('hexacopter', 'ixx="5e-5" ixy="0" ixz="0" iyy="5e-5" iyz="0" izz="1e-4"', CUBE,
                 ['; 5 more like it (extent)'], id='of parts'),
    pytest.param('hopper', '<max_fuel_rate>0.7<', '<max_fuel_rate>233<',
                 ['engine burns 233 kg/s'], id='fuel rate'),
    pytest.param('cubesat', '<max_thrust>0.02<', '<max_thrust>20<',
                 ['if that is in mN, write 0.02'], id='thrust'),
    pytest.param('auv', '<min_command>-350</min_command> <max_command>350<',
                 '<min_command>-3300</min_command> <max_command>3300<',
                 ['is in rpm, write 345.575'], id='speed'),
    # In mm one of them would be beside the other.
    pytest.param('auv', 'xyz="0 -0.25 0"', 'xyz="0 0.25 0"',
                 ['or a sign wrong? (same_place)', 'wrong? (side)'], id='two at one place'),
])
def test_what_makes_it_unusual_is_named_once(name, old, new, lines, tmp_path):
    path = tmp_path / 'robot.urdf'
    text = (HERE.parent / 'examples' / name / f'{name}.urdf').read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    found = warnings_of(path)
    assert len(found) == len(lines)
    assert all(words in line for words, line in zip(lines, found, strict=True)), found


@pytest.mark.parametrize(('old', 'new', 'words'), [
    ('<min_command>-350<', '<min_command>-35<', 'is -35, where others have -350: 0.1 times that'),
    ('<max_command>350<', '<max_command>3500<', 'is 3500, where others have 350: 10 times that'),
], ids=['below 0', 'above 0'])
def test_what_differs_keeps_its_sign(old, new, words, tmp_path):
    path = tmp_path / 'auv.urdf'
    path.write_text((HERE.parent / 'examples/auv/auv.urdf').read_text().replace(old, new, 1))
    assert any(words in line for line in warnings_of(path))


@pytest.mark.parametrize(('pattern', 'new', 'words'), [
    ('"0.35 0.2 0" rpy', '"0.35 -0.2 0" rpy', 'front_port is 0 m away'),
    ('rpy="0 0 0.785398"', 'rpy="0.785398 0 0"', 'is turned by 45 deg'),
    ('rpy="0 0 .?0.785398"', 'rpy="0 {turn} 0"', 'is -1, where others have 1: -1 times that'),
], ids=['place', 'order of angles', 'round'])
def test_one_thruster_of_several_that_is_wrong(pattern, new, words, tmp_path):
    turns = iter((3.141593, 0, 0, 0))
    path, text = tmp_path / 'auv.urdf', (HERE.parent / 'examples/auv/auv.urdf').read_text()
    path.write_text(re.sub(pattern, lambda _: new.format(turn=next(turns)), text))
    assert any(words in line for line in warnings_of(path))


def test_area_of_parachutes_in_another_unit_is_one_line(tmp_path):
    settings = (SHARE / 'config' / 'rocket.yaml').read_text()
    path = tmp_path / 'rocket.yaml'
    path.write_text(settings.replace('[0.9, 9.0]', '[9000.0, 90000.0]'))
    model, shipped = robot_files('rocket')
    (line,) = check_file(path, model, shipped=shipped).warnings
    assert 'if that is in cm^2, write 0.9' in line


def test_places_in_cm_are_met_with_what_to_write(tmp_path):
    path = tmp_path / 'robot.urdf'
    text = (HERE.parent / 'examples' / 'hexacopter' / 'hexacopter.urdf').read_text()
    path.write_text(re.sub(r'xyz="(-?0\.\d{4}) (-?0\.\d{4}) 0\.05"', lambda found: (
        f'xyz="{100 * float(found[1]):g} {100 * float(found[2]):g} 5"'
    ), text))
    (line,) = warnings_of(path)
    assert 'position: rotor_1' in line
    assert 'if that is in cm, write 0.2598' in line


def test_a_pusher_and_a_robot_without_weight_are_right(tmp_path):
    """Four rotors that lift and an equal one across, where nothing weighs."""
    path, settings = tmp_path / 'robot.urdf', tmp_path / 'robot.yaml'
    path.write_text(TEXTS['quadrotor'].replace('</plugin>', (
        '<rotor name="push"> <link>base_link</link> <axis>1 0 0</axis> <max_thrust>8</max_thrust> '
        '<motor_constant>1e-5</motor_constant> <moment_constant>0.016</moment_constant> '
        '<time_constant_up>0.05</time_constant_up> <battery>pack</battery> </rotor> </plugin>'
    )))
    settings.write_text('vehicle:\n  ros__parameters:\n    body.gravity: 0.0\n')
    assert check_file(settings, path).warnings == []
