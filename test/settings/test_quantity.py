# SPDX-License-Identifier: Apache-2.0
from dataclasses import dataclass

import numpy as np
import pytest

from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import group, names, quantity, spec_of, validate, value_faults
from refusals import refusal


@dataclass(frozen=True)
class Part:
    size: object = quantity(1.0, 'm', doc='size')


@dataclass(frozen=True, kw_only=True, eq=False)
class Params:
    names: tuple = names('rows')
    gain: object = quantity(2.0, 'N', doc='gain', lo=0.0, hi=10.0, shape=('n',))
    size: object = quantity(1.0, 'm', doc='size', above=0.0)
    axis: object = quantity((0, 0, 1), doc='axis', shape=('n', 3), geometry='direction')
    moments: object = quantity(0.0, 'kg m^2', doc='moments', shape=('n', 3))
    count: object = quantity(1, doc='count', kind=int, lo=0)
    lit: object = quantity(True, doc='lit', kind=bool, shape=('n',))
    mode: object = quantity('a', doc='mode', kind=str, choices=('a', 'b'))
    tags: object = quantity((), doc='any number', kind=str, shape=('*',))
    part: Part = group(Part, element='part')

    def __post_init__(self):
        validate(self)


@pytest.mark.parametrize(('given', 'expected'), [
    pytest.param({'gain': 3}, [3.0, 3.0], id='integer for all rows'),
    pytest.param({'gain': [1, 2.5]}, [1.0, 2.5], id='mixed list'),
    pytest.param({'gain': np.array([1, 2])}, [1.0, 2.0], id='array'),
    pytest.param({}, [2.0, 2.0], id='default'),
])
def test_numbers_become_one_float_per_row(given, expected):
    params = Params(names=['x', 'y'], **given)
    assert params.gain.dtype == float
    np.testing.assert_array_equal(params.gain, expected)


@pytest.mark.parametrize('make', [np.array, list])
def test_rows_that_are_columns_are_refused(make):
    axis = [[0, 1], [0, 0], [1, 0]]
    with pytest.raises(ConfigError, match="'axis': expected rows of 3 values, got one of 2"):
        Params(names=['x', 'y'], axis=make(axis))
    for right, rows in ((np.transpose(axis), [[0, 0, 1], [1, 0, 0]]), ([0, 1, 0], [[0, 1, 0]] * 2)):
        params = Params(names=['x', 'y'], axis=make(right))
        np.testing.assert_array_equal(params.axis, rows)


@pytest.mark.parametrize(('value', 'lo', 'is_refused'), [
    (0.5, -np.inf, True), (0.5, -1.0, True), (0.5, 0.0, False), (0.0, -np.inf, False),
    ([0.5], -np.inf, True), ([0.1, 0.2, 0.3], -np.inf, False),
])
def test_one_number_is_no_place_where_each_has_a_sign(value, lo, is_refused):
    place = quantity(0.0, 'm', doc='place', shape=(3,), lo=lo)
    spec = spec_of(place)
    found = [str(error) for error in value_faults('place', spec, value)]
    assert found == ["parameter 'place': expected 3 values, got 1; write x, y and z, also those "
                     'that are 0'] * is_refused


def test_arrays_cannot_be_changed_and_the_caller_keeps_its_own():
    mine = np.array([1.0, 2.0])
    params = Params(names=['x', 'y'], gain=mine)
    with pytest.raises(ValueError, match='read-only'):
        params.gain[0] = 5.0
    mine[0] = 9.0
    assert params.gain[0] == 1.0


@pytest.mark.parametrize(('given', 'message'), [
    pytest.param({'size': 0}, "parameter 'size': 0 must be above 0 m", id='exclusive'),
    pytest.param({'size': 0.0}, "parameter 'size': 0 must be above 0 m", id='exclusive as a float'),
    pytest.param({'size': float('inf')}, "parameter 'size': inf is not finite", id='infinity'),
    pytest.param({'gain': True}, "parameter 'gain': expected a number, got True", id='bool'),
    pytest.param(
        {'axis': [1, 2]}, "parameter 'axis': expected 6 values (3 for each of 2 names), got 2; "
        'write x, y and z, also those that are 0',
        id='count of rows',
    ),
    pytest.param(
        {'axis': 1}, "parameter 'axis': expected 6 values (3 for each of 2 names), got 1; "
        'write x, y and z, also those that are 0',
        id='one number is no direction',
    ),
    pytest.param({'count': 1.5}, "parameter 'count': expected an integer, got 1.5", id='integer'),
    pytest.param({'size': [1.0]}, "parameter 'size': expected a number, got [1.0]; write it "
                 'without brackets', id='no list'),
    pytest.param({'names': ['x', '']}, "parameter 'names[1]': a name is empty", id='empty name'),
    pytest.param({'names': [3]}, "parameter 'names[0]': expected a string, got 3", id='no name'),
    pytest.param({'lit': {}}, "parameter 'lit': expected true or false, got {}", id='no truth'),
    pytest.param({'lit': 1}, "parameter 'lit': expected true or false, got 1; write true", id='1'),
    pytest.param({'part': 3}, "parameter 'part': expected Part, got 3", id='no group'),
])
def test_errors_name_the_element(given, message):
    assert refusal(Params, **{'names': ['x', 'y'], **given}) == message
