# SPDX-License-Identifier: Apache-2.0
"""A model takes plain numbers, counts its ticks, and refuses in one line what it cannot use."""
import copy
import re

import actuators
import numpy as np
import pytest

import propulsion_ros
from propulsion_ros.models import (
    Allocation,
    BatteryState,
    BodyState,
    Boosters,
    BoostersParams,
    Command,
    MassProperties,
    Model,
    Output,
    Rotors,
    TankState,
)
from propulsion_ros.models.boosters.params import GimbalsParams
from propulsion_ros.settings.errors import CommandError, ConfigError

NAN = float('nan')
OTHER = BoostersParams(names=['a'], max_thrust=1.0, max_fuel_rate=0.1)


class Labelled:
    """A row as pandas has it: it iterates over values and is indexed by labels."""

    def __init__(self, row):
        self.row, self.keys = row, row.keys

    def __getitem__(self, label):
        return self.row[label]

    def __array__(self, dtype=None, copy=None):
        return np.array([*self.row.values()], dtype)


class Elsewhere:
    """A tensor on a graphics card."""

    def __array__(self, dtype=None, copy=None):
        raise TypeError('cannot convert')


def rotors(batch=()):
    return Model(actuators.rotors(batch), batch, 'rotors')


def boosters():
    return Model(Boosters(BoostersParams(
        names=['a'], max_thrust=100.0, max_fuel_rate=0.5, noise_ratio=0.1,
        gimbals=GimbalsParams(booster=['a'], time_constant=0.1),
    )))


@pytest.mark.parametrize('kind', [
    Allocation, BatteryState, BodyState, Command, MassProperties, Output, TankState,
])
def test_help_has_each_field(kind):
    """It prints no text that stands below a field."""
    for name in kind.__annotations__:
        row = rf'\n    (\w+, )*{name}(, \w+)* : .*\n {{8}}'
        assert f'``{name}``' in kind.__doc__ or re.search(row, kind.__doc__), name


@pytest.mark.parametrize(('given', 'effort'), [
    pytest.param([3.0, 5.0], [3.0, 5.0], id='a list'),
    pytest.param((3, 5), [3.0, 5.0], id='a tuple of whole numbers'),
    pytest.param(np.array([3.0, 5.0], np.float32), [3.0, 5.0], id='an array'),
    pytest.param({'b': 5.0}, [NAN, 5.0], id='by name'),
    pytest.param(Labelled({'b': 5.0, 'a': 3.0}), [3.0, 5.0], id='a row with labels'),
    pytest.param(Labelled({0: 3.0, 1: 5.0}), [3.0, 5.0], id='a row with numbers'),
    pytest.param(np.ma.array([3, 5], mask=[True, False]), [NAN, 5.0], id='masked'),
    pytest.param(Command(effort=np.ma.array([3.0, 5.0], mask=[True, False])), [NAN, 5.0],
                 id='a masked command'),
    pytest.param(Command(effort=[3.0, 5.0]), [3.0, 5.0], id='a command'),
    pytest.param(None, [NAN, NAN], id='none'),
])
def test_plain_numbers_are_a_command(given, effort):
    plain, family = rotors(), actuators.rotors()
    for tick in range(3):
        output = plain.step(given, dt=0.01)
        expected = family.step(Command(effort=effort), BodyState(), 0.01, tick)
        np.testing.assert_array_equal(output.wrench, expected.wrench)


def test_each_number_goes_into_the_field_of_its_name():
    plain, family = boosters(), boosters().family
    for tick in range(3):
        output = plain.step([50.0, 0.05, -0.02], dt=0.01)
        expected = family.step(
            Command([NAN, 0.05, -0.02], effort=[50.0, NAN, NAN]), BodyState(), 0.01, tick
        )
        np.testing.assert_array_equal(output.wrench, expected.wrench)


def test_ticks_are_counted_and_may_be_given():
    counted, given = boosters(), boosters()
    first = [counted.step([50.0, 0.0, 0.0], dt=0.01).wrench for _ in range(3)]
    assert counted.tick == 3
    same = [given.step(Command(effort=[50.0, NAN, NAN]), BodyState(), 0.01, i).wrench
            for i in range(3)]
    np.testing.assert_array_equal(first, same)
    # The noise differs from tick to tick, so this would show.
    assert len({wrench[2] for wrench in first}) == 3
    counted.reset()
    np.testing.assert_array_equal(counted.step([50.0, 0.0, 0.0], dt=0.01).wrench, first[0])


def test_a_body_moves():
    fins = Model(actuators.fins())
    assert not np.any(fins.step([0.1] * 3, dt=0.01).wrench)
    assert np.any(fins.step([0.1] * 3, BodyState(velocity=[3.0, 0.0, 0.0]), dt=0.01).wrench)


def test_a_model_has_what_its_family_has():
    model = rotors()
    assert list(model.command_names) == ['a', 'b']
    assert copy.deepcopy(model).thrust_limits[1].tolist() == [10.0, 10.0]
    assert {'step', 'thrust_limits'} <= set(dir(model))
    with pytest.raises(AttributeError, match='no_such'):
        _ = model.no_such


@pytest.mark.parametrize('make', actuators.GIVEN, ids=lambda make: make.__name__)
def test_what_is_handed_out_is_read_only(make):
    """It was the memory of the model."""
    model = Model(make((2,)))
    for _ in range(2):
        found = {name: values for name in dir(model) if name[0] != '_'
                 and isinstance(values := getattr(model, name), np.ndarray)}
        assert 'safe_command' in found
        assert [name for name, values in found.items() if values.flags.writeable] == []
        model.step(dt=0.01)


def test_a_state_is_read_by_the_name_that_sets_it():
    for make, state in ((actuators.boosters, {'fuel_ratio': 0.5, 'gimbal_angle': [0.01, -0.02]}),
                        (actuators.jets, {'fuel_ratio': 0.25})):
        model = Model(make((3,)))
        model.reset([1], state)
        for name, values in state.items():
            np.testing.assert_allclose(getattr(model, name)[1, 0], values)
            assert np.all(getattr(model, name)[0, 0] != values)


def test_what_is_set_is_refused():
    """It did nothing."""
    model, drones = rotors(), propulsion_ros.load_vehicles('quadrotor', count=2)
    for owner, name in (
        *((model, name) for name in ('rotor_speed', 'efficiency', 'allocation_matrix', 'tick')),
        *((drones, name) for name in ('gravity', 'count', 'groups')),
    ):
        with pytest.raises(AttributeError, match=f'{name} cannot be set'):
            setattr(owner, name, 5)


@pytest.mark.parametrize(('make', 'text'), [
    (lambda: Rotors({'names': ['a']}), "'params': expected RotorsParams, got dict"),
    (lambda: Rotors(OTHER), "'params': expected RotorsParams, got BoostersParams"),
    (lambda: Rotors(batch=(3,), params=OTHER), "'params': expected RotorsParams, got"),
    (lambda: actuators.rotors(3), r"'batch': expected how many robots, \(64,\) or .*, got 3$"),
    (lambda: actuators.fins((10**6, 11)), "'batch': expected at most 10000000 robots"),
    (lambda: Model(actuators.rotors(), (3,)), r"'batch': Rotors is made for \(\), got \(3,\)"),
    (lambda: Model(actuators.fins((3,)), 3), r"'batch': Fins is made for \(3,\), got 3"),
])
def test_what_makes_no_family_is_one_line(make, text):
    with pytest.raises(ConfigError, match=text) as caught:
        make()
    assert '\n' not in str(caught.value)


def test_a_family_of_others_may_take_more_and_keep_a_parameter():
    class Weak(Rotors):
        def __init__(self, params, share):
            super().__init__(params)
            self.max_thrust = share * params.max_thrust

    made = Weak(actuators.rotors().params, 0.5)
    np.testing.assert_array_equal(made.max_thrust, 0.5 * made.params.max_thrust)


def test_a_model_has_the_batch_of_its_family():
    model = Model(Model(actuators.rotors((2,))))
    assert model.step([[1.0, 2.0], [3.0, 4.0]], dt=0.01).wrench.shape == (2, 6)


def test_parameters_in_place_of_a_family_are_named():
    with pytest.raises(TypeError, match='a family made of its parameters, got BoostersParams'):
        Model(OTHER)


@pytest.mark.parametrize(('batch', 'words', 'settings', 'text'), [
    pytest.param((), [[1.0]], {}, r'rotors: expected 2 numbers \(a, b\), got 1', id='length'),
    pytest.param((), [1.0], {}, r'rotors: expected 2 numbers \(a, b\), got shape \(\)',
                 id='a number'),
    pytest.param((), [Command(effort=[1.0] * 3)], {}, r'expected 2 numbers \(a, b\), got 3',
                 id='a command'),
    pytest.param((64,), [np.ones((32, 2))], {},
                 r'expected 2 numbers \(a, b\) or shape \(64, 2\), got shape \(32, 2\)',
                 id='batch'),
    pytest.param((), [np.ones((64, 2))], {}, r'got shape \(64, 2\)', id='no batch'),
    pytest.param((64,), [{'a': [1.0, 2.0]}], {},
                 r'rotors: a: expected shape \(\) or shape \(64,\), got shape \(2,\)',
                 id='batch by name'),
    pytest.param((), ['ab'], {}, r"rotors: expected numbers, .* got str 'ab'", id='a text'),
    pytest.param((), [['a', 'b']], {}, r'rotors: expected numbers, .* got list', id='texts'),
    pytest.param((), [[[1.0], [1.0, 2.0]]], {}, 'rotors: expected numbers', id='ragged'),
    pytest.param((), [Elsewhere()], {}, 'rotors: expected numbers', id='on a graphics card'),
    pytest.param((9,), [np.ones((9, 2), bool)], {}, r'got an array of bool, shape \(9, 2\)$',
                 id='many truths'),
    pytest.param((), [Labelled({'b': 1.0, 'c': 1.0})], {}, "rotors: unknown 'c'", id='a label'),
    pytest.param((), [{'c': 1.0}], {}, "rotors: unknown 'c'; known: a, b", id='a name'),
    pytest.param((), [[1.0, 2.0]], {'dt': None}, 'dt: expected the seconds of a step, .* None',
                 id='no dt'),
    pytest.param((), [[1.0, 2.0]], {'dt': -0.1}, 'dt: expected .* got -0.1', id='dt'),
    pytest.param((), [[1.0, 2.0], 0.01], {}, 'body: expected a BodyState, got float; a step is dt',
                 id='dt by place'),
    pytest.param((), [None, BodyState(velocity=[1.0, 2.0])], {},
                 r'body: velocity: expected shape \(3,\), got shape \(2,\)', id='body'),
    pytest.param((), [None, BodyState(height=np.ones(2))], {},
                 r'body: height: expected shape \(\), got shape \(2,\)', id='height'),
    *(pytest.param((2,), [None, BodyState(**body)], {}, text, id=f'{body}') for body, text in (
        ({'velocity': [NAN, 0.0, 0.0]}, 'velocity: expected finite numbers, got'),
        ({'velocity': np.ma.array([1.0, 0.0, 0.0], mask=[1, 0, 0])}, 'velocity: expected finite'),
        ({'height': np.inf}, 'height: expected finite numbers, got'),
        ({'up': [0.0, 0.0, 5.0]}, 'up: expected unit vectors, got'),
        ({'up': [0.0, 0.0, 0.0]}, 'up: expected unit vectors, got'),
        ({'up': [[0.0, 0.0, 1.0], [0.0, 0.1, 1.0]]}, 'up: expected unit vectors, got'),
    )),
    *(pytest.param((), [[1.0, 2.0]], {'dt': dt}, 'dt: expected the seconds', id=f'dt {dt!r}')
      for dt in ('0.01', True, np.True_)),
    *(pytest.param((), [[1.0, 2.0]], {'tick': tick}, 'tick: expected a whole', id=f'tick {tick!r}')
      for tick in (-1, 1.5, True, '1', np.array([1]))),
])
def test_what_cannot_be_used_is_one_line(batch, words, settings, text):
    model = rotors(batch)
    with pytest.raises(CommandError, match=text) as caught:
        model.step(*words, **{'dt': 0.01, **settings})
    assert '\n' not in str(caught.value)
    # Nothing was advanced.
    assert model.tick == 0


@pytest.mark.parametrize('make', [
    lambda: Command(effort=['4', True, None, 4]), lambda: Command(effort=[None, 4.0]),
    lambda: Command(effort=[True, False]), lambda: BodyState(velocity=['0', '0', '1']),
    lambda: BodyState(velocity=[None, 0.0, 0.0]), lambda: BodyState(velocity=np.ones(3, bool)),
    lambda: Command(effort=['a']), lambda: Command([1.0], [[1.0], [1.0, 2.0]]),
    lambda: BodyState(velocity='fast'), lambda: BodyState(velocity=np.array([['a'] * 3] * 9)),
])
def test_fields_are_numbers(make):
    with pytest.raises(CommandError, match=r'(effort|velocity): expected numbers, got') as caught:
        make()
    assert '\n' not in str(caught.value)


def test_fields_are_of_one_type():
    velocity = BodyState(velocity=np.array([3, 0, 1], np.longdouble))
    fins = Model(actuators.fins())
    assert np.any(fins.step([0.1] * 3, velocity, dt=0.01).wrench)
