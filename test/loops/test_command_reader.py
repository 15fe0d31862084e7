# SPDX-License-Identifier: Apache-2.0
import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from propulsion_ros.loops.command_reader import CommandReader
from propulsion_ros.models.boosters.boosters import Boosters, BoostersParams
from propulsion_ros.models.boosters.params import GimbalsParams
from propulsion_ros.models.rotors.params import RotorsParams
from propulsion_ros.models.rotors.rotors import Rotors
from propulsion_ros.settings.errors import CommandError
from refusals import refusal

NAN, INF = math.nan, math.inf


def named(name=(), position=(), velocity=(), effort=()):
    return SimpleNamespace(name=name, position=position, velocity=velocity, effort=effort)


def make_reader():
    """Two boosters, the first one gimballed about x and y."""
    return CommandReader(Boosters(BoostersParams(
        names=['a', 'b'], max_thrust=1000.0, max_fuel_rate=1.0,
        gimbals=GimbalsParams(booster=['a'], joints=['x', 'y']),
    )))


@pytest.fixture(scope='module')
def reader():
    return make_reader()


def test_a_position_that_is_a_throttle_is_called_so():
    reader = CommandReader(Rotors(RotorsParams(
        names=['a'], max_thrust=[8.0], motor_constant=[1e-5], command_interface='throttle',
    )))
    with pytest.raises(CommandError, match=r'a: takes position \(throttle 0 to 1\), got effort 5'):
        reader.read(named(['a'], effort=[5.0]))


@pytest.mark.parametrize(('message', 'columns', 'values'), [
    pytest.param({'name': ['b', 'a'], 'effort': [2.0, 1.0]}, [1, 0], [2, 1], id='any order'),
    pytest.param({'name': ['y'], 'position': [0.1]}, [3], [0.1], id='a subset'),
    pytest.param(
        {'name': ['a', 'x'], 'effort': [5.0, NAN], 'position': [NAN, 0.2]}, [0, 2], [5, 0.2],
        id='mixed fields',
    ),
    pytest.param(
        {'name': ['a', 'b', 'x', 'y'], 'effort': [1.0, 2.0, NAN, NAN],
         'position': [NAN, NAN, 0.1, 0.2]}, [0, 1, 2, 3], [1, 2, 0.1, 0.2], id='all, in order',
    ),
    pytest.param({'name': ['a'], 'effort': [NAN]}, [0], [0], id='NaN shuts a booster down'),
    pytest.param(
        {'name': ['a'], 'effort': [1.0], 'velocity': [NAN]}, [0], [1], id='NaN is not meant'
    ),
])
def test_good_commands(reader, message, columns, values):
    update = reader.read(named(**message))
    np.testing.assert_array_equal(update.columns, columns)
    np.testing.assert_array_equal(update.values, values)


@pytest.mark.parametrize(('message', 'text'), [
    pytest.param(
        {'name': ['a'], 'effort': [1.0, 2.0]},
        'effort: expected 1 values, one per name, got 2', id='too long',
    ),
    pytest.param(
        {'name': ['a'], 'effort': [1.0], 'velocity': [-INF]}, 'a: velocity is infinite',
        id='infinite where it is not meant',
    ),
    pytest.param({'name': ['x', 'a'], 'position': [0.1], 'effort': [NAN, NAN, 1.0]},
                 'position: expected 2 values, one per name, got 1', id='one value moved over'),
    pytest.param({'name': ['x', 'a'], 'position': [0.1, -INF], 'effort': [NAN, 1.0]},
                 'a: position is infinite', id='infinite beside what is meant'),
])
def test_refused_commands(reader, message, text):
    assert refusal(reader.read, named(**message)) == text


TAKEN = {'a': 'effort', 'b': 'effort', 'x': 'position', 'y': 'position'}


@st.composite
def nearly_right(draw):
    """Return a good command of some names, or one that differs in one field from a good one."""
    names = draw(st.permutations(list(TAKEN)))[:draw(st.integers(1, 4))]
    fields = {
        field: [draw(st.sampled_from([0.1, 2.0])) if TAKEN[name] == field else NAN
                for name in names]
        for field in {TAKEN[name] for name in names}
    }
    values = st.sampled_from([NAN, INF, -1.0, 0.1])
    field = draw(st.sampled_from([None, 'position', 'velocity', 'effort']))
    if field:
        fields[field] = draw(st.lists(values, max_size=4))
    return named(names, **fields)


@settings(deadline=None)
@given(nearly_right())
def test_usual_way_says_what_the_thorough_one_does(message):
    thorough = make_reader()
    thorough._read_usual = lambda *_: None
    said = []
    for reader in (make_reader(), thorough):
        try:
            update = reader.read(message)
            said.append((update.columns.tolist(), update.values.tolist()))
        except CommandError as error:
            said.append(str(error))
    assert said[0] == said[1]


@pytest.mark.parametrize(('data', 'text'), [
    pytest.param([1.0], 'data: expected 4 values (a, b, x, y), got 1', id='short'),
    pytest.param([1.0, 2.0, 0.1, INF], 'y is infinite', id='infinite'),
    pytest.param([1.0, 2.0, NAN, 0.0], 'x: position is NaN', id='NaN of a gimbal'),
    pytest.param([-1.0, 2.0, 0.0, 0.0], 'negative', id='what the family refuses'),
])
def test_refused_arrays(reader, data, text):
    assert text in refusal(reader.read_array, data)
