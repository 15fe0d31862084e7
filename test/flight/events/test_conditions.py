# SPDX-License-Identifier: Apache-2.0
import itertools
import math

import pytest

from propulsion_ros.flight.events.conditions import (
    All,
    Any,
    Between,
    Continuity,
    LessThan,
    MoreThan,
    Not,
    NoValue,
)
from propulsion_ros.flight.events.variables import VARIABLES, Sample, Variables, ned

MS = 1_000_000


class Fixed:
    """A condition with a given value."""

    def __init__(self, value):
        self.value = value

    def __call__(self, variables):
        return self.value


@pytest.mark.parametrize(
    ('down', 'at_least', 'below'),
    [
        pytest.param(-500.1, False, True, id='above 500 m'),
        pytest.param(-500.0, True, False, id='exactly: MORETHAN includes, LESSTHAN does not'),
        pytest.param(-499.9, True, False, id='below 500 m'),
        pytest.param(math.nan, None, None, id='NaN is unknown both ways'),
        pytest.param(math.inf, None, None, id='infinity is unknown both ways'),
    ],
)
def test_comparison_with_a_threshold(down, at_least, below):
    variables = Variables(0, position=(0.0, 0.0, down))
    assert MoreThan('Position', 2, -500.0)(variables) is at_least
    assert LessThan('Position', 2, -500.0)(variables) is below


@pytest.mark.parametrize(('left', 'right'), itertools.product([True, False, None], repeat=2))
def test_and_or_follow_kleene(left, right):
    order = {False: 0, None: 1, True: 2}
    values = sorted((left, right), key=order.__getitem__)
    operands = (Fixed(left), Fixed(right))
    assert All(operands)(Variables(0)) is values[0]
    assert Any(operands)(Variables(0)) is values[1]


@pytest.mark.parametrize(
    ('name', 'component', 'value'),
    [
        pytest.param('TimeSinceIgnition', 0, 900.0, id='ignition'),
        pytest.param('TimeSinceLiftoff', 0, 800.0, id='liftoff'),
        pytest.param('TimeSinceApogee', 0, 0.5, id='apogee'),
        pytest.param('TimeSinceEvent', 3, 7.0, id='event'),
        pytest.param('Position', 0, 3.0, id='north'),
        pytest.param('Position', 1, 4.0, id='east'),
        pytest.param('Position', 2, -12.0, id='down'),
        pytest.param('Position', -1, 13.0, id='norm'),
        pytest.param('Velocity', 2, -2.0, id='velocity down'),
        pytest.param('Velocity', -1, 3.0, id='speed'),
        pytest.param('Acceleration', 2, 9.0, id='acceleration down'),
    ],
)
def test_every_variable_reads_its_value_in_the_units_of_the_configuration(name, component, value):
    variables = Variables(
        1000 * MS,
        position=ned((4.0, 3.0), 12.0),
        velocity=ned((2.0, 1.0), 2.0),
        acceleration=ned((0.0, 0.0), -9.0),
        ignition_ns=100 * MS,
        liftoff_ns=200 * MS,
        apogee_ns=1000 * MS - MS // 2,
        time_since_event={3: 7 * MS}.get,
    )
    assert VARIABLES[name].read(variables, component) == value


@pytest.mark.parametrize('name', ['TimeSinceIgnition', 'TimeSinceLiftoff', 'TimeSinceApogee'])
@pytest.mark.parametrize('then_ns', [None, 2 * MS], ids=['not yet', 'in the future'])
def test_what_has_not_happened_satisfies_no_comparison(name, then_ns):
    field = {'TimeSinceIgnition': 'ignition_ns', 'TimeSinceLiftoff': 'liftoff_ns'}.get(
        name, 'apogee_ns'
    )
    variables = Variables(MS, **{field: then_ns})
    assert MoreThan(name, 0, -1e9)(variables) is None
    assert LessThan(name, 0, 1e9)(variables) is None


def test_a_vector_with_an_unknown_part_has_no_norm_but_keeps_its_height():
    variables = Variables(0, position=ned((math.nan, math.nan), 100.0))
    assert MoreThan('Position', -1, 0.0)(variables) is None
    assert MoreThan('Position', 2, -100.0)(variables) is True


@pytest.mark.parametrize(
    ('condition', 'sentence'),
    [
        pytest.param(MoreThan('Position', 2, -450.0), 'altitude <= 450 m', id='down turns up'),
        pytest.param(LessThan('Velocity', 2, 0.0), 'upward velocity > 0 m/s', id='no minus zero'),
        pytest.param(
            MoreThan('TimeSinceApogee', 0, 2500.0), 'time since apogee >= 2.5 s', id='seconds'
        ),
        pytest.param(
            LessThan('TimeSinceEvent', 3, 1000.0), 'time since event 3 < 1 s', id='event id'
        ),
        pytest.param(
            All((LessThan('Position', 2, -450.0), MoreThan('TimeSinceApogee', 0, 0.0))),
            'altitude > 450 m and time since apogee >= 0 s',
            id='and',
        ),
        pytest.param(
            All(
                (
                    MoreThan('Velocity', -1, 3.0),
                    Any((MoreThan('Position', 0, 1.0), MoreThan('Position', 1, 1.0))),
                )
            ),
            'speed >= 3 m/s and (distance north >= 1 m or distance east >= 1 m)',
            id='parentheses',
        ),
    ],
)
def test_a_condition_says_itself(condition, sentence):
    assert str(condition) == sentence


def test_a_sample_knows_nothing_but_its_altitude_unless_told():
    sample = Sample(0, 1.0)
    assert math.isnan(sample.velocity)
    assert math.isnan(sample.acceleration)
    assert all(math.isnan(value) for value in sample.horizontal_velocity)


@pytest.mark.parametrize('value', [True, False, None])
def test_not_turns_what_is_known(value):
    assert Not(Fixed(value))(Variables(0)) is {True: False, False: True, None: None}[value]


@pytest.mark.parametrize(
    ('down', 'holds'),
    [(-501.0, False), (-500.0, True), (-450.0, True), (-400.0, True), (-399.0, False),
     (math.nan, None)],
)
def test_between_includes_its_bounds(down, holds):
    variables = Variables(0, position=(0.0, 0.0, down))
    assert Between('Position', 2, -500.0, -400.0)(variables) is holds


@pytest.mark.parametrize('is_closed', [True, False])
@pytest.mark.parametrize('measured', [True, False, None])
def test_continuity_of_a_pyro(is_closed, measured):
    variables = Variables(0, continuity={2: measured}.get)
    expected = None if measured is None else measured is is_closed
    assert Continuity(2, is_closed)(variables) is expected
    assert Continuity(3, is_closed)(variables) is None


@pytest.mark.parametrize(
    ('condition', 'sentence', 'measured'),
    [
        pytest.param(
            Between('Position', 2, -500.0, -400.0), 'altitude from 400 to 500 m',
            [('altitude', '450 m')], id='between',
        ),
        pytest.param(
            Not(Any((Continuity(0), Continuity(1, False)))),
            'not (circuit of pyro 0 is closed or circuit of pyro 1 is open)',
            [('circuit of pyro 0', 'unknown'), ('circuit of pyro 1', 'open')], id='not',
        ),
        pytest.param(
            All((MoreThan('Tilt', 0, math.radians(30.0)), MoreThan('Velocity', -1, 1.0))),
            'tilt >= 30 deg and speed >= 1 m/s', [('tilt', '45 deg'), ('speed', 'unknown')],
            id='degrees',
        ),
        pytest.param(
            LessThan('RocketOrientation', 1, 1.0), 'pitch of the rocket < 57.29577951 deg',
            [('pitch of the rocket', '90 deg')], id='orientation',
        ),
        pytest.param(
            NoValue('Velocity 3'), 'Velocity 3', [('Velocity 3', 'unknown')], id='no such value',
        ),
    ],
)
def test_a_condition_says_what_it_is_and_what_was_measured(condition, sentence, measured):
    variables = Variables(
        0, position=(0.0, 0.0, -450.0), tilt=math.radians(45.0),
        rocket_orientation=(0.0, math.pi / 2, 0.0), continuity={1: False}.get,
    )
    assert str(condition) == sentence
    assert list(condition.measured(variables)) == measured


def test_what_has_no_value_is_never_met():
    assert NoValue('x')(Variables(0)) is None
