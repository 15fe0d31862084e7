# SPDX-License-Identifier: Apache-2.0
"""Solid motors: RASP files, and what one that a parameter names gives."""
import re
from pathlib import Path

import numpy as np
import pytest

from propulsion_ros.graph.load import read_motor
from propulsion_ros.models.boosters.boosters import Boosters, BoostersParams
from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.supply.motors import motor_named, parse_rasp
from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.settings.flat import all_faults, build, parameters_of
from propulsion_ros.urdf.reader import actuators_from_urdf

FILE = str(Path(__file__).resolve().parents[2] / 'data' / 'motors.eng')
T11 = read_motor(FILE, 'T11')
ONE = {'names': ['a'], 'motor_file': FILE, 'motor': 'T11'}
TANK = {'tank': 'grain', 'tanks.names': ['grain']}


def test_a_file_gives_curve_thrust_flow_and_propellant():
    params = build(BoostersParams, {**ONE, **TANK})
    assert params.thrust_curve == (T11.text,)
    assert params.max_thrust == T11.max_thrust
    assert params.max_fuel_rate == T11.max_fuel_rate
    assert params.tanks.capacity == T11.propellant_mass
    model, impulse = Boosters(params), 0.0
    for i in range(2000):
        output = model.step(Command(effort=[1.0]), BodyState(), 0.01, i)
        impulse += output.applied[0] * 0.01
    assert impulse == pytest.approx(T11.total_impulse, rel=1e-9)
    assert model.propellant[0] == pytest.approx(0.0, abs=1e-12)


def test_others_of_the_group_keep_their_own():
    params = build(BoostersParams, {
        'names': ['a', 'b'], 'motor_file': ['', FILE], 'motor': ['', 'T11'],
        'max_thrust': [500.0, 0.0], 'max_fuel_rate': [0.2, 0.0], **TANK, 'tank': ['', 'grain'],
        'tanks.capacity': 0.04,
    })
    np.testing.assert_array_equal(params.max_thrust, [500.0, T11.max_thrust])
    np.testing.assert_array_equal(params.max_fuel_rate, [0.2, T11.max_fuel_rate])
    assert params.thrust_curve == ('', T11.text)
    assert params.tanks.capacity == 0.04


BLOCK = """<robot name="r"><link name="l"/><gazebo><plugin name="b" filename="propulsion_ros">
<family>boosters</family>
<booster name="x"><link>l</link><motor_file>{}</motor_file><motor>T11</motor></booster>
<booster name="y"><link>l</link><max_thrust>30</max_thrust>{}</booster>
</plugin></gazebo></robot>"""


@pytest.mark.parametrize('flow', [
    '<specific_impulse>150</specific_impulse>', '<max_fuel_rate>0.02</max_fuel_rate>',
])
def test_tags_of_others_are_none_of_a_booster_with_a_file(flow):
    """Each of two messages asked for what the other one refused."""
    (spec,) = actuators_from_urdf(BLOCK.format(FILE, flow))
    params = build(BoostersParams, spec.values)
    np.testing.assert_array_equal(params.max_thrust, [T11.max_thrust, 30.0])
    assert params.max_fuel_rate[0] == T11.max_fuel_rate
    assert params.max_fuel_rate[1] == pytest.approx(0.02, rel=0.02)


def test_the_same_value_beside_the_file_is_no_fault():
    once = {**ONE, 'max_thrust': T11.max_thrust, 'thrust_curve': T11.text}
    assert not list(all_faults(BoostersParams, once))


def test_the_defaults_of_a_node_are_no_values_beside_the_file():
    """No node with a motor_file started, though check had no fault."""
    defaults = {
        each.key: each.default for each in parameters_of(BoostersParams) if not each.required
    }
    assert build(BoostersParams, {**defaults, **ONE}).max_fuel_rate == T11.max_fuel_rate


@pytest.mark.parametrize(('values', 'problem'), [
    ({'motor': 'T12'}, "0 motors named 'T12'"), ({'motor': ''}, 'no name was given'),
    ({'motor_file': 'absent.eng'}, 'absent.eng'), ({'motor_file': [3]}, 'expected a string'),
    ({'max_thrust': 7.0}, r'max_thrust\[0\]\': 7.0, but the motor_file has 20.0; remove one of '
     'them, and to vary it give other motor_files'),
    ({'thrust_curve': '0 1 2 0'}, 'thrust_curve'), ({'motor': ['T11', 'T11']}, 'expected 1'),
    ({'names': ['a', 'b'], 'motor_file': [FILE, '']}, r'max_thrust\[1\].*is required, or'),
    ({'names': ['a', 'b'], 'motor_file': [FILE, ''], 'max_thrust': [0.0, 9.0]},
     r'max_fuel_rate\[1\].*is required, or'),
])
def test_what_does_not_fit_is_one_error(values, problem):
    given = {**ONE, **values}
    with pytest.raises(ConfigError, match=problem):
        build(BoostersParams, given)
    assert any(
        re.search(problem, str(error)) for error in all_faults(BoostersParams, given)
    )


def test_python_is_pointed_to_the_reader():
    with pytest.raises(ConfigError, match='read_motor'):
        BoostersParams(names=['a'], max_thrust=1.0, max_fuel_rate=0.1, motor_file=FILE)


MOTORS = parse_rasp(Path(FILE).read_text(encoding='utf-8'))
HEADER = 'M1 18 70 0 0.02 0.05 Nobody\n'


def test_a_file_of_two_motors():
    first, second = MOTORS
    assert (first.name, first.maker, first.delays) == ('T11', 'Nobody', '3-5-7')
    assert (second.name, second.maker, second.delays) == ('P90', 'Nobody of Nowhere', 'P')
    np.testing.assert_array_equal(first.times, [0.1, 1.1])
    np.testing.assert_array_equal(second.thrusts, [40.0, 40.0, 0.0])
    assert (first.diameter, first.length) == (0.018, 0.07)
    assert (second.propellant_mass, second.total_mass) == (0.18, 0.31)


@pytest.mark.parametrize(('text', 'problem'), [
    pytest.param('', 'm.eng: expected a motor, found none', id='empty'),
    pytest.param('; nothing\n', 'm.eng: expected a motor, found none', id='only comments'),
    pytest.param('M1 18 70\n', 'm.eng:1: expected a header of name', id='short header'),
    pytest.param(HEADER + '0.1 a\n', "m.eng:2: thrust: expected a number, got 'a'", id='text'),
    pytest.param(HEADER + '0.1\n', "m.eng:2: expected a time and a thrust, got '0.1'", id='one'),
    pytest.param(HEADER + '0.1 5\n0.1 0\n', 'm.eng:3: time 0.1 s does not come after 0.1 s',
                 id='repeated time'),
    pytest.param(HEADER + '0.1 -5\n', 'm.eng:2: thrust: expected at least 0, got -5',
                 id='negative'),
    pytest.param(HEADER + '0.1 nan\n', 'm.eng:2: thrust: expected at least 0, got nan', id='nan'),
    pytest.param('\n' + HEADER + '0.1 5\n', 'm.eng:2: the curve of M1 does not end with thrust 0',
                 id='no end'),
    pytest.param(HEADER + '2 0\n1 5\n0 0\n', (
        'm.eng:1: M1 has no thrust until its first row of 0 at 2 s; times rise'
    ), id='no thrust'),
    pytest.param(HEADER + '1 1e308\n1e5 0\n',
                 'm.eng:1: M1: its impulse or its fuel rate is not finite', id='huge impulse'),
    pytest.param(HEADER + '0 5\n1e-310 0\n',
                 'm.eng:1: M1: its impulse or its fuel rate is not finite', id='short burn'),
    pytest.param(HEADER.replace('0.02', '0.2') + '0.1 5\n1 0\n',
                 'm.eng:1: propellant mass 0.2 kg is above the total mass, 0.05 kg', id='mass'),
    pytest.param(HEADER.replace('0.02 0.05', '20 50') + '0.1 5\n1 0\n',
                 'm.eng:1: propellant 20 in its header is in kg', id='mass in g'),
    pytest.param('\n'.join(('M1 75 600 P 2.54 4.6 Us', '0.1 1.7', '3.4 0.8', '3.8 0')),
                 'm.eng:1: M1 gives 4.37 N s with 2.54 kg; thrusts are in N: if in kN, times 1000',
                 id='thrusts in kN'),
    pytest.param(HEADER + '100 5\n1000 5\n1500 0\n',
                 'm.eng:1: M1 burns for 1500 s with 6000 N s of 0.02 kg; thrusts are in N, times '
                 'in s: if in ms, divide by 1000', id='times in ms'),
    pytest.param(HEADER.replace('0.02', 'x') + '0.1 5\n1 0\n',
                 "m.eng:1: propellant mass: expected a number, got 'x'", id='mass text'),
])
def test_errors_name_file_and_line(text, problem):
    with pytest.raises(SourceError) as caught:
        parse_rasp(text, 'm.eng')
    assert str(caught.value).startswith(problem)


@pytest.mark.parametrize(('name', 'problem'), [
    pytest.param('', 'expected one motor, no name was given; the file has T11, P90', id='two'),
    pytest.param('X1', "expected one motor, 0 motors named 'X1'; the file has T11, P90",
                 id='other'),
])
def test_which_motor_must_be_clear(name, problem):
    with pytest.raises(SourceError, match=f'^m.eng: {problem}'):
        motor_named(MOTORS, name, 'm.eng')
