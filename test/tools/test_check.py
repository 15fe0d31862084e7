# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from pathlib import Path

import pytest

from mistakes import TEXTS
from propulsion_ros.graph.share import read_description, share_directory
from propulsion_ros.graph.simulation import NodeSpec
from propulsion_ros.graph.wiring import robot_graph
from propulsion_ros.nodes.stack import make_node
from propulsion_ros.tools import check as check_module
from propulsion_ros.tools import cli
from propulsion_ros.tools.check import check_file

SHARE = share_directory()
# Vehicles and their settings are checked with the rules of sense.
SHIPPED = [
    *sorted((SHARE / 'config').glob('*.jsonc')),
    *(SHARE / 'config' / f'{name}.yaml' for name in ('rotors', 'thrusters', 'fins', 'fam')),
]
ROTORS = 'rotors:\n  ros__parameters:\n    names: [a]\n    max_thrust: [5]\n'


def check(*arguments):
    return cli.main(['check', *map(str, arguments)])


@pytest.mark.parametrize('path', SHIPPED, ids=lambda path: path.name)
def test_shipped_files_have_no_faults(path, capsys):
    assert check(path) == 0, capsys.readouterr().out


def test_vehicles_are_known_by_name(capsys):
    assert check('quadrotor', '--show') == 0
    assert 'thrust to weight' in capsys.readouterr().out
    assert check(SHARE / 'config' / 'rov.yaml', '--model', 'rov') == 0
    assert check('quadrotr') == 1
    assert "did you mean 'quadrotor'?" in capsys.readouterr().err


def test_a_vehicle_is_judged_with_its_own_settings(tmp_path, capsys):
    """As `fly` flies it: config/rocket.yaml has 0.3 of the propellant, config/rov.yaml the sea."""
    assert check('rocket', '--show') == 0
    assert '41.6 kg, 3.6 kg of it propellant' in capsys.readouterr().out
    settings = tmp_path / 'robot.yaml'
    settings.write_text('/**/vehicle:\n  ros__parameters: {body.current: [9.0, 0.0, 0.0]}\n')
    assert check(settings, '--model', 'rov') == 0
    (line, _) = capsys.readouterr().err.splitlines()
    assert line.startswith(f'{settings}:2: warning: vehicle: ')
    assert 'the fluid carries it away at 9 m/s' in line
    settings.write_text('/**/boosters:\n  ros__parameters: {tanks.starting_fuel_ratio: [1.0]}\n')
    assert check(settings, '--model', 'rocket', '--show') == 0
    assert '50 kg, 12 kg of it propellant' in capsys.readouterr().out


def test_a_description_is_judged_beside_its_settings(tmp_path, capsys):
    model, settings = tmp_path / 'robot.urdf', tmp_path / 'robot.yaml'
    text = TEXTS['quadrotor']
    model.write_text(text.replace('<time_constant_up>0.05', '<time_constant_up>50'))
    settings.write_text('vehicle:\n  ros__parameters:\n    body.drag_area: 0.1\n')
    assert check(settings, '--model', model) == 0
    line = 'robot.urdf:26: warning: gazebo/plugin[name=rotors]/rotor[name=front]/time_constant_up'
    printed = capsys.readouterr().err
    assert printed.count(line) == 1
    settings.write_text('rotors:\n  ros__parameters:\n    time_constant_up: [0.05]\n')
    assert check(settings, '--model', model) == 0
    assert 'warning' not in capsys.readouterr().err
    model.write_text(text.replace('<max_thrust>8', '<max_thrust>-8', 1))
    assert check(settings, '--model', model) == 1
    line = f'{model}:24: gazebo/plugin[name=rotors]/rotor[name=front]/max_thrust: -8 is below 0 N'
    assert capsys.readouterr().out.startswith(line)


NEVER = (
    '{"Events": [{"id": 0, "action": {"type": "deployment", "id": 0, "param": 1000}, "condition": '
    '{"operator": "LESSTHAN", "flightVar": "TimeSinceApogee", "threshold": 0}}]}'
)


def test_a_choice_of_the_description_counts_for_what_was_fitted(tmp_path, capsys):
    """A fit of a thruster was taken for numbers that serve no row."""
    fitted = tmp_path / 'fitted.yaml'
    fitted.write_text(
        '/**/thrusters:\n  ros__parameters:\n    time_constant: [0.1]\n'
        '    rotor_constant_left: [0.00031]\n'
    )
    model = Path(__file__).parents[2] / 'examples' / 'thruster_scale' / 'thruster.urdf'
    assert check(fitted, '--model', model) == 0
    assert 'unread' not in ''.join(capsys.readouterr())


@pytest.mark.parametrize('words', [
    ['fitted.yaml', '--model', 'lifter.urdf'], ['lifter.urdf', '--params-file', 'fitted.yaml'],
    ['lifter.urdf', 'fitted.yaml'],
])
def test_section_of_a_block_that_the_robot_has_not_is_named(tmp_path, capsys, monkeypatch, words):
    """It was a robot without the names of its rotors."""
    monkeypatch.chdir(tmp_path)
    text = TEXTS['quadrotor'].replace('name="rotors">', 'name="lift"><family>rotors</family>')
    Path('lifter.urdf').write_text(text)
    section = '/**/{}:\n  ros__parameters:\n    time_constant_up: [0.08]\n'
    Path('fitted.yaml').write_text(section.format('lift'))
    assert check(*words, '--show') == 0
    assert ' 0.08/' in capsys.readouterr().out
    Path('fitted.yaml').write_text(section.format('rotors'))
    assert check(*words) == 1
    line = "fitted.yaml:1: rotors: not a node that this knows, did you mean 'lift'?;"
    assert capsys.readouterr().out.startswith(line)


def test_parameter_files_of_one_robot_are_judged_together(tmp_path, capsys, monkeypatch):
    """Each was judged alone: the first with what the second takes back, and the robot twice."""
    read = []
    monkeypatch.setattr(check_module, 'read_description', lambda path: (
        read.append(path) or read_description(path)))
    monkeypatch.chdir(tmp_path)
    Path('robot.urdf').write_text(TEXTS['quadrotor'])
    section = 'rotors:\n  ros__parameters:\n    {}\n'
    Path('a.yaml').write_text(section.format('time_constant_up: [50.0]'))
    Path('b.yaml').write_text(section.format('time_constant_up: [0.05]'))
    words = ['robot.urdf', '--params-file', 'a.yaml', '--params-file']
    assert check('--strict', *words, 'b.yaml') == 0
    assert capsys.readouterr().err == 'no faults in 3 files\n'
    assert read == [Path('robot.urdf')]
    Path('b.yaml').write_text(section.format('max_thrust: [7.9]'))
    assert check(*words, 'b.yaml') == 0
    assert capsys.readouterr().err.startswith('a.yaml:3: warning: rotors: ')
    assert check('--strict', *words, 'b.yaml') == 1
    Path('a.yaml').write_text(section.format('max_trust: [8.0]'))
    Path('b.jsonc').write_text('{"Events": []}')
    for other, line in (('b.yaml', "a.yaml:3: rotors: parameter 'max_trust': unknown"),
                        ('b.jsonc', 'b.jsonc:1: /Events: expected node names, got []')):
        assert check(*words, other) == 1
        assert line in capsys.readouterr().out


@pytest.mark.parametrize(('name', 'text', 'lines'), [
    pytest.param('a.yaml', ROTORS + '    motor_constant: [1e-5]\n', [], id='right'),
    pytest.param('a.yaml', ROTORS + '    motor_constant: [1e-5]\n'
                 '    start_type_description_service: false\n    use_sim_time: true\n'
                 '    qos_overrides: {/rotors/command: {subscription: {depth: 5}}}\n', [],
                 id="rclpy's own"),
    pytest.param('a.yaml', 'vehicle:\n  ros__parameters: {update_rat: 1.0, real_time_factor: -1}\n',
                 ["'update_rat': unknown, did you mean 'update_rate'?",
                  "'real_time_factor': -1 is below 0"], id='vehicle, two faults'),
    *(pytest.param('a.yaml', f'flight_state:\n  ros__parameters: {{{key}: [1.0]}}\n',
                   [f"'{key}': unknown: the simulated body has it, so give it to the node 'vehicle'"
                    ], id=f'{key} of another node') for key in ('body.drag', 'parachutes.names')),
    pytest.param('a.yaml', 'flight_state:\n  ros__parameters: {config_file: absent/x.jsonc}\n',
                 ['flight_state: absent/x.jsonc: cannot be read: No such file or directory; '
                  f'looked for from where the command was started, {Path.cwd()}: write a path '
                  'from there, or a whole one'], id='relative to what'),
    pytest.param('a.yaml', 'flight_state:\n  ros__parameters: {config_file: ~no_one/x.jsonc}\n',
                 ['flight_state: ~no_one/x.jsonc: cannot be read'], id='config of nobody'),
    pytest.param('a.yaml', 'flight_state:\n  ros__parameters: {state_file: ~no_one/x}\n',
                 ["'state_file': ~no_one/x lies in no folder"], id='record of nobody'),
    pytest.param('a.jsonc', NEVER, ["Events[0].condition: 'event 0' can never fire: never time "
                 'since apogee < 0 s'], id='a charge that never fires'),
])
def test_each_fault_is_one_line(tmp_path, capsys, name, text, lines):
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    assert check(path) == (1 if lines else 0)
    out = capsys.readouterr().out.splitlines()
    assert len(out) == len(lines)
    for line, expected in zip(out, lines, strict=True):
        assert expected in line
        assert str(path) in line


def test_what_one_line_of_a_macro_makes_is_one_fault(tmp_path, capsys):
    path = tmp_path / 'robot.urdf.xacro'
    names = ('a', 'b', 'c')
    path.write_text('\n'.join([
        '<robot name="r" xmlns:xacro="http://wiki.ros.org/xacro"><link name="base_link"/>',
        '<xacro:macro name="rotor" params="name"><rotor name="${name}"><link>${name}</link>',
        '<max_thrus>9</max_thrus>', '<motor_constant>1e-5</motor_constant></rotor></xacro:macro>',
        *(f'<link name="{name}"/><joint name="{name}_joint" type="fixed">'
          f'<parent link="base_link"/><child link="{name}"/></joint>' for name in names),
        '<gazebo><plugin filename="propulsion_ros" name="rotors">',
        *(f'<xacro:rotor name="{name}"/>' for name in names), '</plugin></gazebo></robot>',
    ]))
    assert check(path) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert f'{path}:3: called at {path}:9: ' in line
    assert line.endswith("rotor[name=a]/max_thrus: unknown tag, did you mean 'max_thrust'?; 2 "
                         'more like it')


ALONE = 'family: rotors, names: [a, b], max_thrust: [5.0], motor_constant: [1e-5]'


@pytest.mark.parametrize(('name', 'settings', 'said'), [
    pytest.param('rotors_allocator', 'method: scaled, weights: [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]', '',
                 id='right'),
    pytest.param('rotors_allocator', 'update_rate: 100.0, qos_overrides: {/x: {depth: 5}}', '',
                 id='as its group, and as every node'),
    pytest.param('rotors_allocator', 'method: best',
                 "parameter 'method': expected one of bounded, scaled, clipped, vectored, got "
                 "'best'",
                 id='value of its own'),
    pytest.param('rotors_allocator', 'weights: [1.0, 1.0]', "parameter 'weights': expected",
                 id='shape'),
    pytest.param('rotors_allocator', 'wieghts: [1.0]',
                 "parameter 'wieghts': unknown, did you mean 'weights'?",
                 id='misspelt'),
    pytest.param('rotors_allocator', 'max_thrust: [-1.0]', "parameter 'max_thrust[0]': -1",
                 id='value of the group'),
    pytest.param('rotors_allocator', 'position: [0.0, 0.0, 0.0]',
                 "parameter 'position': comes from the robot description", id='geometry'),
    pytest.param('rotors_allocator', 'family: fins',
                 "parameter 'family': 'fins', but the robot description has 'rotors'",
                 id='another family'),
    pytest.param('rotors_allocator', 'plugin: rotor',
                 "parameter 'plugin': no plugin block 'rotor', did you mean 'rotors'?; found",
                 id='another group'),
    pytest.param('rotors', 'publish_each: 3', "parameter 'publish_each': expected true or false",
                 id='actuators, value of the node'),
    pytest.param('rotors', 'method: scaled', "parameter 'method': unknown",
                 id='actuators do not allocate'),
])
def test_nodes_of_a_robot_say_the_same_when_they_start(
    graph, tmp_path, capfd, name, settings, said
):
    model = SHARE / 'urdf' / 'quadrotor.urdf.xacro'
    specs = {spec.name: spec for spec in robot_graph(model=model, allocated=['rotors']).nodes}
    require_the_same(graph, tmp_path, capfd, specs[name], settings, said, model)


@pytest.mark.parametrize(('name', 'settings', 'said'), [
    pytest.param('allocator', ALONE, '', id='right'),
    pytest.param('lift_allocator', ALONE + ', method: clipped', '', id='any name'),
    pytest.param('allocator', ALONE.replace('[5.0]', '[5.0, 5.0, 5.0]'),
                 "parameter 'max_thrust': expected", id='shape'),
    pytest.param('allocator', 'method: clipped',
                 "parameter 'family': is required, the node's name 'allocator' is none",
                 id='no family'),
    pytest.param('allocator', 'family: rotor',
                 "parameter 'family': unknown family 'rotor', did you mean 'rotors'?",
                 id='no such family'),
    pytest.param('allocator',
                 'family: fins, names: [a], quadratic.fin: [a], quadratic.lift_constant: [1.0], '
                 'quadratic.drag_constant: [1.0]',
                 "parameter 'family': expected boosters or rotors or thrusters or jets, got 'fins'",
                 id='not to be allocated'),
])
def test_allocator_without_a_robot_says_the_same_when_it_starts(
    graph, tmp_path, capfd, name, settings, said
):
    spec = NodeSpec('allocator_node', name, {})
    require_the_same(graph, tmp_path, capfd, spec, settings, said)


def require_the_same(graph, folder, capfd, spec, settings, said, model=None):
    """Compare what `check` finds with what the node itself says."""
    path = folder / 'a.yaml'
    path.write_text(f'{spec.name}:\n  ros__parameters: {{{settings}}}\n')
    faults = check_file(path, model).faults
    # As one starts it by hand: launch files would win over the file.
    given = {key: value for key, value in spec.parameters.items() if f'{key}:' not in settings}
    node = graph.add(
        lambda *args, **kwargs: make_node(
            NodeSpec(spec.executable, spec.name, given), params_files=[path], context=graph.context
        ), spec.name,
    )
    assert node.has_failed == bool(said)
    assert len(faults) == bool(said)
    for fault in faults:
        # The node knows the parameter, not the line that gives it.
        problem = re.sub(rf'{re.escape(str(path))}(:\d+)?: ({spec.name}: )?', '', fault)
        assert said in problem
        assert problem in capfd.readouterr().err


@pytest.mark.parametrize(('semantics', 'faults'), [
    pytest.param('safe', 0, id='right'),
    pytest.param('legacy', 1, id='what legacy does not know'),
])
def test_flight_configuration_is_read_as_its_node_reads_it(tmp_path, semantics, faults):
    path = tmp_path / 'a.yaml'
    path.write_text(
        'flight_state:\n  ros__parameters:\n'
        f'    config_file: {SHARE / "config" / "thanos_flight.jsonc"}\n'
        f'    semantics: {semantics}\n'
    )
    assert check(path) == faults


@pytest.mark.parametrize(('source', 'variable', 'is_fault', 'warns'), [
    pytest.param('pressure', '"Tilt", "threshold": 1.5', True, False, id='never by a barometer'),
    pytest.param('odometry', '"Tilt", "threshold": 1.5', False, False, id='by an odometry'),
    pytest.param('pressure', '"Position", "component": 2, "threshold": 450', False, True,
                 id='below the pad'),
])
def test_a_charge_that_never_fires_is_a_fault(tmp_path, capsys, source, variable, is_fault, warns):
    flight, path = tmp_path / 'flight.jsonc', tmp_path / 'a.yaml'
    comparison = f'"MORETHAN", "flightVar": {variable}'
    flight.write_text(NEVER.replace(
        '"LESSTHAN", "flightVar": "TimeSinceApogee", "threshold": 0', comparison
    ))
    path.write_text(
        f'flight_state:\n  ros__parameters: {{config_file: {flight}, altitude_source: {source}}}\n'
    )
    assert check(path) == int(is_fault)
    out, err = capsys.readouterr()
    assert ("'event 0' can never fire: tilt is unknown" in out) is is_fault
    assert ("'event 0' fires only below the pad" in err) is warns


APOGEE = '{"operator": "MORETHAN", "flightVar": "TimeSinceApogee", "threshold": 0}'
APOGEE_IS = f'"condition": {APOGEE}'
TWO_STAGE = Path(__file__).parents[2] / 'examples' / 'two_stage'


@pytest.mark.parametrize(('file', 'before', 'after', 'said'), [
    pytest.param('two_stage.yaml', '', '', '', id='right'),
    pytest.param('two_stage.yaml', 'names: [drogue, main]', 'names: [drogue, mian]', (
        "two_stage.yaml:9: warning: vehicle: parachutes.names: 'mian' never opens: flight.jsonc "
        "has drogue, main, did you mean 'main'?"
    ), id='parachute'),
    pytest.param('flight.jsonc', '"name": "main", "type"', '"name": "main_2", "type"', (
        "'main' never opens: flight.jsonc has drogue, main_2, did you mean 'main_2'?"
    ), id='deployer'),
    pytest.param('flight.jsonc', '"booster": "upper"', '"booster": "uper"', (
        "two_stage.yaml:15: warning: flight.jsonc: Engines: no booster 'uper' to light: boosters "
        "has lower, upper, did you mean 'upper'?"
    ), id='booster'),
    pytest.param('flight.jsonc', '"booster": "upper", "thrust": 700,', '', (
        "Engines: 'upper' has no booster, and lights none of lower, upper"
    ), id='no booster'),
    pytest.param('flight.jsonc', '"threshold": 4500', '"threshold": 4.5', (
        "event 'upper ignition' waits for 'time since liftoff >= 0.0045 s', times are in ms: write "
        '4500 for 4.5 s'
    ), id='time in s'),
    pytest.param('two_stage.yaml', 'flight.max_ascent_time: 35.0', 'pad_reference: zero', (
        'two_stage.yaml:13: warning: flight_state: ~/launch is refused, where no other file '
        'changes that: no backup timer: set flight.max_ascent_time'
    ), id='no backup timer'),
    pytest.param('two_stage.yaml', 'flight.max_ascent_time: 35.0',
                 'required_checks: [altitude, circuits]', '', id='timer not required'),
    pytest.param('two_stage.yaml', 'max_ascent_time: 35.0', 'max_ascent_time: 35000', (
        "two_stage.yaml:18: warning: flight_state: parameter 'flight.max_ascent_time': "
        'max_ascent_time of 35000 s, expected at most 1000 s; if that is in ms, write 35 (time)'
    ), id='timer in ms'),
    pytest.param('two_stage.yaml', 'flight.min_ascent_time: 9.0', (
        'flight.min_ascent_time: 9.0\n    flight.stand_down_time: 5000'
    ), 'expected at most 2500 s; if that is in ms, write 5 (time)', id='time in ms'),
    # No second request came within 0.1 s, and the clock of a flight with a step of 1 ms stood.
    *(pytest.param('two_stage.yaml', 'flight.min_ascent_time: 9.0', (
        f'flight.min_ascent_time: 9.0\n    flight.{key}: {low}'
    ), f'{key} of {low} s, expected {least} to ', id=key) for key, low, least in (
        ('ask_again_time', 0.4, 1), ('sample_timeout', 0.001, 0.1), ('longest_step', 0.001, 0.1),
    )),
    pytest.param('two_stage.yaml', (
        '9.0               # behind the burn of the upper stage\n    flight.max_ascent_time: 35.0'
    ), '1.0\n    flight.max_ascent_time: 2.0', (
        "two_stage.yaml:18: warning: flight_state: flight.max_ascent_time is 2 s, and 'lower' "
        'burns until 2.8 s after liftoff: it opens parachutes in the climb'
    ), id='timer within the burn'),
    pytest.param('two_stage.yaml', (
        '9.0               # behind the burn of the upper stage\n    flight.max_ascent_time: 35.0'
    ), '1.0\n    flight.max_ascent_time: 7.0', (
        "two_stage.yaml:18: warning: flight_state: flight.max_ascent_time is 7 s, and 'upper' "
        'burns until 7.86 s after liftoff: it opens parachutes in the climb'
    ), id='timer before the upper stage'),
    pytest.param('two_stage.yaml', 'flight.min_ascent_time: 9.0', 'flight.home_tolerance: 5.0', (
        "two_stage.yaml:13: warning: flight_state: flight.min_ascent_time is 0 s, and 'upper' "
        'burns until 7.86 s after liftoff: an apogee before that may be believed'
    ), id='stage without a lockout'),
    *(pytest.param('two_stage.yaml', '35.0 ', f'{timer} ', line, id=f'timer of {timer} s')
      for timer, line in ((15.0, (
          'two_stage.yaml:18: warning: flight_state: flight.max_ascent_time is 15 s, and straight '
          'up it climbs for 23.5 s, to 2243 m: it opens parachutes in the climb'
      )), (22.0, ''))),
    pytest.param('two_stage.yaml', 'min_ascent_time: 9.0', 'min_ascent_time: 30.0', (
        'is 30 s, and straight up it climbs for 23.5 s, to 2243 m: its apogee is not believed'
    ), id='lockout behind the apogee'),
    *(pytest.param('flight.jsonc', '"threshold": -300}', f'"threshold": {limit}}}', line,
                   id=f'main below {limit} m') for limit, line in (
        (-3000, "event 'main parachute' has the limit 'altitude <= 3000 m', and straight up it cl"),
        (-2000, ''),
        (-20, 'two_stage.yaml:9: warning: vehicle: it comes down at 23 m/s, and would at 6.96 m/s'),
        (-0.3, "'main' stays packed: event 'main parachute' waits for '(altitude <="),
    )),
    pytest.param('two_stage.yaml', 'parachutes.attachment', (
        'parachutes.deployment_delay: [0.5, 9.9]\n    parachutes.inflation_time: [0.5, 9.9]\n'
        '    parachutes.attachment'
    ), 'and would at 6.96 m/s by all its canopies; see heights of', id='main opens slowly'),
    pytest.param('two_stage.yaml', 'parachutes.attachment', (
        'parachutes.canopy: [main, main]\n    parachutes.attachment'
    ), 'and would at 6.96 m/s by all its canopies; see heights of', id='one canopy of two'),
    *(pytest.param('flight.jsonc', f'"condition": {APOGEE}', f'"phases": ["{phase}"], {APOGEE_IS}',
                   line, id=f'drogue in {phase}') for phase, line in (
        ('landed', "'drogue' stays packed: event 'drogue parachute' waits for 'time"),
        ('descent', ''),
    )),
    *(pytest.param('flight.jsonc', old, new, (
        "two_stage.yaml:15: warning: flight_state: no event lights 'upper' in its flight, and "
        'straight up it climbs for'
    ), id=name) for name, old, new in (
        ('stage lit too high', '"min_height": 100', '"min_height": 2200'),
        ('stage lit on the pad', '"name": "upper ignition",',
         '"name": "upper ignition", "phases": ["launch"],'),
    )),
    # What falls has its nose down, and -g upwards.
    *(pytest.param('flight.jsonc', old, f'"flightVar": {new}', '', id=new) for old, new in (
        ('"flightVar": "TimeSinceLiftoff", "threshold": 4500',
         '"Acceleration", "component": 2, "threshold": 5'),
        ('"flightVar": "TimeSinceLiftoff", "threshold": 4500',
         '"RocketOrientation", "component": 1, "threshold": 1.3'),
    )),
    pytest.param('flight.jsonc', f'"condition": {APOGEE}', '"phases": ["recovery"], "condition": '
                 + APOGEE.replace('"TimeSinceApogee", "threshold": 0', '"Tilt", "threshold": 1.6'),
                 '', id='drogue by its tilt'),
    pytest.param('flight.jsonc', '"flightVar": "Position", "component": 2, "threshold": -300', (
        '"flightVar": "TimeSinceLiftoff", "threshold": 90'
    ), "event 'main parachute' waits for 'time since liftoff >= 0.09 s', times are in ms: write 9",
        id='main after s'),
    pytest.param('two_stage.urdf', '</robot>', """
  <link name="gas"/> <joint name="gas_joint" type="fixed">
    <parent link="base_link"/> <child link="gas"/> <origin xyz="0 0 2"/> </joint>
  <gazebo> <plugin filename="propulsion_ros" name="jets"> <update_rate>100</update_rate>
    <tank name="gas"> <link>gas</link> <capacity>5</capacity> </tank>
    <jet name="left"> <link>gas</link> <tank>gas</tank> <axis>0 1 0</axis>
      <max_thrust>20</max_thrust> <specific_impulse>60</specific_impulse> </jet>
    <jet name="right"> <link>gas</link> <tank>gas</tank> <axis>0 -1 0</axis>
      <max_thrust>20</max_thrust> <specific_impulse>60</specific_impulse> </jet>
  </plugin> </gazebo> </robot>""", '', id='jets that steer'),
    pytest.param('two_stage.urdf', '<update_rate>100<', (
        '<site_altitude>1200</site_altitude> <update_rate>100<'
    ), '', id='pad of no nozzle'),
    pytest.param('two_stage.urdf', '<max_thrust>700<', (
        '<exit_area>0.01</exit_area> <max_thrust>700<'
    ), '', id='nozzle at the pad of the body'),
    pytest.param('flight.jsonc', '"thrust": 1400', '"thrust": 1.4', (
        "Engines: 'lower' has a thrust of 1.4 N, and its booster 1400 N"
    ), id='thrust in kN'),
    pytest.param('flight.jsonc', 'TimeSinceIgnition', 'TimeSinceLaunch', (
        'Events: none of TimeSinceIgnition lights an engine on the pad, so ~/ignition lights none'
    ), id='ignition after liftoff'),
    pytest.param('flight.jsonc', '"booster": "lower",', '"booster": "lower", "min_height": 100,', (
        'on the pad, so ~/ignition lights none: never altitude > 100 m'
    ), id='first engine lit high up'),
    pytest.param('flight.jsonc', '"booster": "lower",', '"booster": "lower", "earliest": 500,', (
        'so ~/ignition lights none: time since liftoff is unknown on the pad'
    ), id='first engine lit after liftoff'),
    pytest.param('flight.jsonc', '"booster": "lower",', '"booster": "lower", "max_height": 100,',
                 '', id='first engine lit low'),
    *(pytest.param('flight.jsonc', f'"condition": {APOGEE}', (
        f'"condition": {APOGEE}'.replace('Apogee', 'Liftoff').replace(' 0}', f' {wait}}}')
    ), line, id=f'drogue {wait} ms after liftoff') for wait, line in (
        (2000, (
            "two_stage.yaml:15: warning: flight_state: event 'drogue parachute' opens 'drogue' in "
            "the climb, at 100 m/s: 'time since liftoff >= 2 s'"
        )), (20000, ''),
    )),
    # The event that opens it is named, not a later one.
    pytest.param('flight.jsonc', (
        f'"action": {{"type": "deployment", "id": 0, "param": 1000}},\n      "condition": {APOGEE}'
    ), (
        '"action": [{"type": "deployment", "id": 1, "param": 1000}, {"type": "deployment", "id": 0,'
        f' "param": 1000}}], "condition": {APOGEE}'.replace('Apogee', 'Liftoff').replace(
            ' 0}', ' 2000}')
    ), "event 'drogue parachute' opens 'main' in the climb, at 100 m", id='both by a timer'),
    pytest.param('two_stage.yaml', 'body.drag_area: [0.2, 0.2, 0.008]', '', (
        "two_stage.yaml:2: warning: vehicle: parameter 'body.drag_area': along its rail it has onl"
    ), id='no drag'),
    pytest.param('two_stage.yaml', 'pressure_noise: 3.0', 'pressure_noise: 300000.0', (
        'pressure_noise of 300000 Pa, expected at most 1000 Pa'
    ), id='pressure_noise'),
    *(pytest.param('two_stage.yaml', old, f'{old}\n    {key}: {value}', (
        f'{key.rpartition(".")[2]} of {line}'
    ), id=key) for old, key, value, line in (
        ('min_ascent_time: 9.0', 'apogee.minimum_height', '1.3e+4', '13000 m, expected at most 3'),
        ('rail_length: 5.0', 'body.fluid_density', '0.001225', (
            '0.001225 kg/m^3, expected 0.005 to 0.99 or 1.035 to 1.7 or 400 to 2000 kg/m^3; if '
            'that is in g/cm^3, write 1.225 (density)'
        )),
    )),
    pytest.param('flight.jsonc', '"threshold": -300}', '"threshold": -300000}', (
        "has the limit 'altitude <= 300000 m', which always holds; positions are in m, and "
    ), id='main in mm'),
    pytest.param('flight.jsonc', f'"condition": {APOGEE}', (
        f'"condition": {APOGEE.replace(" 0}", " -1000}")}'
    ), (
        "'time since apogee >= -1 s', which always holds; positions are in m, and times begin at 0"
    ), id='time before apogee'),
    pytest.param('two_stage.yaml', 'parachutes.drag_area: [0.6, 6.0]', '', (
        "'parachutes.drag_area[0]': by drogue it comes down at inf m/s, expected 1.5 to 60 m/s; "
        'give the drag area of drogue; 1 more like it (descent)'
    ), id='parachutes without areas'),
    *(pytest.param('two_stage.yaml', '[0.2, 0.2, 0.008]', areas, (
        f"'body.drag_area[2]': along z, its length, it has {line}; are axes swapped, or is "
    ) * bool(line), id=name) for areas, line, name in (
        ('[0.008, 0.2, 0.2]', '0.2 m^2, expected at most 0.008 m^2', 'axes swapped'),
        ('0.008', '', 'drag of all axes'),
    )),
    pytest.param('two_stage.yaml', '[0.2, 0.2, 0.008]', '[0.0, 0.0, 0.008]', (
        "'body.drag_area': without body.drag_area across its way it has no known restoring moment; "
    ), id='drag along alone'),
    pytest.param('two_stage.yaml', '[0.0, 0.0, 1.2]', '[0.0, 0.0, 0.0]', (
        'without body.centre_of_pressure it has no known restoring moment; across, give the '
    ), id='no centre of pressure'),
    pytest.param('two_stage.yaml', '[0.0, 0.0, 1.2]', '[0.0, 0.0, 2.2]', (
        "'body.centre_of_pressure[2]': the centre of pressure is 0.6724 m ahead of the centre of "
        'mass, expected at most 0 m; it turns round; '
    ), id='pressure ahead of the mass'),
    *(pytest.param('two_stage.yaml', '[0.0, 0.0, 1.2]', place, line, id=name)
      for name, place, line in (
        ('pressure a little ahead', '[0.0, 0.0, 1.54]', 'is 0.01241 m ahead of the centre of mass'),
        ('pressure a little behind', '[0.0, 0.0, 1.52]', ''),
        ('pressure aside', '[0.5, 0.0, 1.2]', (
            "'body.centre_of_pressure': the drag would push 0.5 m beside the centre of mass, "
        )),
    )),
    *(pytest.param('two_stage.urdf', '<child link="lower_link"/>', (
        f'<child link="lower_link"/> <origin xyz="{x} 0 0"/>'
    ), line, id=f'thrust {x} m aside') for x, line in (
        (0.1, 'push 0.05805 m beside the centre of mass, expected at most 0.03061 m; '),
        (0.01, ''),
    )),
    *(pytest.param('two_stage.urdf', '<capacity>2<', (
        f'<grain_outer_radius>{outer}</grain_outer_radius> <grain_length>0.5</grain_length> '
        '<grain_inner_radius>0.01</grain_inner_radius> <capacity>2<'
    ), line, id=f'grains of {outer} m') for outer, line in (
        (0.064, (
            "tank[name=lower_grain]/grain_length: tank 'lower_grain' holds 318.6 kg/m^3 in its "
            'grains, expected 800 to 3000 kg/m^3; '
        )), (0.032, ''),
    )),
    pytest.param('two_stage.urdf', '<capacity>2<', '<com_empty>0 0 9</com_empty> <capacity>2<', (
        "com_empty: tank 'lower_grain' as it runs dry is 5.7"
    ), id='tank that empties far away'),
    pytest.param('two_stage.yaml', 'rail_length: 5.0', 'rail_length: 500.0', (
        'rail_length of 500 m, expected 0.5 to 200 m; if that is in mm, write 0.5, or if that is '
        'in cm, write 5 (length)'
    ), id='rail in cm'),
    *(pytest.param('two_stage.yaml', 'rail_length: 5.0', (
        f'rail_length: 5.0\n    body.{lines}'
    ), line, id=name) for name, lines, line in (
        ('rail high up', 'start_position: [0.0, 0.0, 1400.0]', (
            'its rail begins 1400 m above the ground, expected at most 2.271 m; the pad is at 0; '
        )),
        ('rail on a tower', 'start_position: [0.0, 0.0, 1.5]', ''),
        ('gravity of the moon', 'gravity: 1.62', 'is 1.62 m/s^2, expected 9.7 to 9.9 m/s^2'),
        ('air in degrees Fahrenheit', 'temperature_offset: 68.0', 'expected at most 65 K'),
        ('hot air', 'temperature_offset: 30.0', ''),
        ('rail that lies', 'rail_axis: [1.0, 0.0, 0.2]', (
            "'body.start_rpy[0]': start_rpy of 0 rad leans its rail by 78.69 deg, expected at most "
            '30 deg; see body.start_rpy, which stands it up, and body.rail_axis, along its nose'
        )),
        ('engines across the rail', (
            'rail_axis: [1.0, 0.0, 0.0]\n    body.start_rpy: [0.0, -1.5, 0.0]'
        ), (
            'along its rail its engines push by 0 N, expected 227.5 to'
        )),
    )),
    pytest.param('two_stage.yaml', 'flight.min_ascent_time: 9.0', (
        'flight.min_ascent_time: 9.0\n    flight.nose: [2.0, 0.0, 0.0]'
    ), (
        'two_stage.yaml:18: warning: flight_state: flight.nose is along 1 0 0, where its engines '
        'push along 0 0 1'
    ), id='nose along x'),
    pytest.param('flight.jsonc', '"MORETHAN", "flightVar": "Position"', (
        '"LESSTHAN", "flightVar": "Position"'
    ), 'and never below; are MORETHAN and LESSTHAN swapped?', id='main above'),
])
def test_what_only_the_flight_showed_of_its_files(
    tmp_path, monkeypatch, capsys, file, before, after, said
):
    """The parachute fell, the stage stayed dark, and the launch was refused without a word."""
    for path in TWO_STAGE.iterdir():
        if path.suffix in ('.jsonc', '.yaml', '.urdf'):
            text = path.read_text(encoding='utf-8')
            assert path.name != file or before in text
            changed = text.replace(before, after) if path.name == file else text
            (tmp_path / path.name).write_text(changed, encoding='utf-8')
    monkeypatch.chdir(tmp_path)
    assert check('two_stage.yaml', '--model', 'two_stage.urdf') == 0
    # An engine that another time lights has no limits of a stage either.
    lines = [line for line in capsys.readouterr().err.splitlines()
             if 'warning:' in line and 'engine however' not in line]
    assert len(lines) == bool(said)
    assert said in ''.join(lines)


@pytest.mark.parametrize(('names', 'areas', 'swapped'), [
    ('[streamer, large]', '[0.6, 6.0]', ''), ('[large, streamer]', '[6.0, 0.6]', ''),
    ('[streamer, large]', '[6.0, 0.6]', "'streamer' opens first, with 6 m^2, and 'large' after it"),
    ('[large, streamer]', '[0.6, 6.0]', "'streamer' opens first, with 6 m^2, and 'large' after it"),
])
def test_areas_are_in_the_order_in_which_parachutes_open(
    tmp_path, monkeypatch, capsys, names, areas, swapped
):
    """Only a drogue and a main were known, by their names."""
    for name in ('flight.jsonc', 'two_stage.yaml', 'two_stage.urdf'):
        text = (TWO_STAGE / name).read_text(encoding='utf-8').replace('[drogue, main]', names)
        text = text.replace('[0.6, 6.0]', areas).replace('drogue', 'streamer')
        (tmp_path / name).write_text(re.sub(r'\bmain\b', 'large', text), encoding='utf-8')
    monkeypatch.chdir(tmp_path)
    assert check('two_stage.yaml', '--model', 'two_stage.urdf') == 0
    err = capsys.readouterr().err
    assert swapped in err
    assert ('two_stage.yaml:10: warning: vehicle: parachutes.drag_area: by' in err) == bool(swapped)


@pytest.mark.parametrize(('given', 'model', 'said'), [
    ('{}', 'two_stage.urdf', 'robot.yaml:1: warning: flight_state: no config_file: nothing will '),
    (f"{{config_file: '{TWO_STAGE / 'flight.jsonc'}'}}", 'two_stage.urdf', 'no backup timer'),
    ('{altitude_source: pressure}', 'rocket', ''),
])
def test_flight_computer_without_events_is_named(tmp_path, monkeypatch, capsys, given, model, said):
    monkeypatch.chdir(tmp_path)
    Path('robot.yaml').write_text(f'flight_state:\n  ros__parameters: {given}\n')
    model = str(TWO_STAGE / model) if '.' in model else model
    assert check('robot.yaml', '--model', model) == 0
    printed = capsys.readouterr().err
    assert said in printed
    assert ('config_file' in printed) == ('config_file' in said)


def test_nozzle_at_another_height_than_the_body_gets_a_warning(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(TWO_STAGE)
    text = (TWO_STAGE / 'two_stage.urdf').read_text(encoding='utf-8')
    text = text.replace('<update_rate>', '<site_altitude>1200</site_altitude> <update_rate>')
    robot = tmp_path / 'robot.urdf'
    robot.write_text(text.replace('<max_thrust>', '<exit_area>0.001</exit_area> <max_thrust>'))
    assert check('two_stage.yaml', '--model', robot) == 0
    (line,) = [line for line in capsys.readouterr().err.splitlines() if 'warning:' in line]
    assert line.endswith('boosters: site_altitude is 1200 m, where body.site_altitude is 0 m')


def test_a_flight_configuration_is_compared_with_the_boosters_of_a_model(tmp_path, capsys):
    flight, text = tmp_path / 'flight.jsonc', (TWO_STAGE / 'flight.jsonc').read_text('utf-8')
    flight.write_text(text.replace('"booster": "lower"', '"booster": "first"'), encoding='utf-8')
    assert check(flight) == check(flight, '--model', TWO_STAGE / 'two_stage.urdf') == 0
    (line,) = [line for line in capsys.readouterr().err.splitlines() if 'warning:' in line]
    assert "no booster 'first' to light: boosters has lower, upper" in line


def test_a_file_that_places_its_own_actuators_is_of_no_robot_beside_it(tmp_path, capsys):
    model, own = tmp_path / 'robot.urdf', tmp_path / 'own.yaml'
    model.write_text(TEXTS['quadrotor'])
    own.write_text(f'{ROTORS}    motor_constant: [1.0e-5]\n    position: [0.0, 0.0, 0.0]\n')
    assert check(own, model) == 0
    assert check(own, '--model', model) == 1
    assert "'names': comes from the robot description" in capsys.readouterr().out
