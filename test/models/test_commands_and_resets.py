# SPDX-License-Identifier: Apache-2.0
"""What every family does: lists, wrong fields, batches, no time, resets of some and to a state."""
import copy
import pickle

import numpy as np
import pytest
from actuators import (
    GIVEN,
    NAN,
    OPEN,
    boosters,
    command,
    fins,
    jets,
    powered_rotors,
    propulsion_modules,
    rotors,
    thrusters,
)

from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.common.model import Model
from propulsion_ros.models.common.start import Restartable
from propulsion_ros.models.fam.fam import Fam
from propulsion_ros.models.fam.inverse_fam import InverseFam
from propulsion_ros.models.registry import FAMILIES
from propulsion_ros.models.rotors.rotors import Rotors, RotorsParams
from propulsion_ros.settings.errors import CommandError, ConfigError

FLOW = BodyState(velocity=[3.0, 0.0, 0.1])
DT = 1.0 / 62.5
EACH = pytest.mark.parametrize('make', GIVEN, ids=lambda make: make.__name__)
FIELDS = ('wrench', 'position', 'velocity', 'effort', 'applied', 'thrusts', 'forces')


def arrays_of(output):
    """Return the arrays of an output by name."""
    found = {name: getattr(output, name, None) for name in FIELDS}
    return {name: values for name, values in found.items() if values is not None and values.ndim}


@EACH
def test_lists_are_commands(make):
    by_list, by_array = make(), make()
    for tick in range(5):
        one = by_list.step(Command(**GIVEN[make]), FLOW, 0.05, tick)
        body = BodyState(velocity=np.array([3.0, 0.0, 0.1]))
        other = by_array.step(command(make), body, 0.05, tick)
        np.testing.assert_array_equal(one.wrench, other.wrench)
    assert np.any(one.wrench)


@pytest.mark.parametrize(('make', 'wrong', 'text'), [
    (boosters, {'velocity': [1.0, NAN, NAN, NAN]}, 'a: expected effort, got velocity 1'),
    # Of a column in a field that others take.
    (boosters, {'effort': [9.0, 9.0, 0.05, NAN]}, 'gimbal_1: expected position, got effort 0.05'),
    (boosters, {'position': [NAN, 0.5, 0.0, 0.0]}, 'b: expected effort, got position 0.5'),
    (rotors, {'velocity': [500.0, 0.0]}, 'a: expected effort, got velocity 500'),
    (thrusters, {'effort': [5.0, 5.0]}, 'expected velocity, got effort 5'),
    (fins, {'effort': [0.1] * 3}, 'expected position, got effort 0.1'),
    (jets, {'position': [0.5, 0.5]}, 'expected effort, got position 0.5'),
    (propulsion_modules, {'effort': [1.0] * 14}, 'expected position, got effort 1'),
])
def test_a_command_in_the_wrong_field_is_refused(make, wrong, text):
    model = Model(make())
    with pytest.raises(CommandError, match=text):
        model.step(Command(**wrong), FLOW, 0.05)
    blank = {field: np.full(len(values), np.nan) for field, values in wrong.items()}
    model.step(Command(**{**blank, **GIVEN[make]}), FLOW, 0.05)


def test_every_family_is_in_the_table():
    own = {make.__name__ for make in GIVEN}
    assert own == {*FAMILIES, 'powered_rotors'} - {'fam', 'inverse_fam'}


def test_fam_and_its_inverse_refuse_too():
    with pytest.raises(CommandError, match='expected effort, got position 1'):
        Model(Fam(Fam.Params())).step(Command(position=[1.0] * 6), dt=0.01)
    with pytest.raises(CommandError, match='got effort 1'):
        Model(InverseFam(InverseFam.Params())).step(Command(effort=[1.0] * 14), dt=0.01)


def assert_same(one, other, rows):
    others = arrays_of(other)
    for name, values in arrays_of(one).items():
        at = rows if len(values) == 4 else ...
        np.testing.assert_array_equal(values[at], others[name][at], name)


@pytest.mark.parametrize('rows', [[1], [0, 2], slice(1, 3)])
@EACH
def test_a_reset_of_some_environments_leaves_the_others(make, rows):
    others = np.ones(4, bool)
    others[rows] = False
    model, whole, fresh = make((4,)), make((4,)), make((4,))
    for tick in range(6):
        last = model.step(command(make), FLOW, DT, tick)
        whole.step(command(make), FLOW, DT, tick)
    kept = last.wrench.copy()
    model.reset(rows)
    np.testing.assert_array_equal(last.wrench, kept)
    for tick in range(6, 12):
        output = model.step(command(make), FLOW, DT, tick)
        assert_same(output, whole.step(command(make), FLOW, DT, tick), others)
        assert_same(output, fresh.step(command(make), FLOW, DT, tick - 6), ~others)


@EACH
def test_a_batch_is_each_of_its_rows_alone(make):
    shares = np.array([1.0, 0.7, 0.2, 0.0])
    batch, rows = make((4,)), [make() for _ in shares]
    for tick in range(8):
        together = batch.step(command(make, shares[:, None]), FLOW, DT, tick)
        for i, (share, row) in enumerate(zip(shares, rows, strict=True)):
            alone = row.step(command(make, share), FLOW, DT, tick)
            for name, values in arrays_of(alone).items():
                several = np.broadcast_to(getattr(together, name), (4, *values.shape))
                np.testing.assert_allclose(several[i], values, rtol=1e-11, atol=1e-14)


# The others share a battery, a tank or a plenum.
@pytest.mark.parametrize('make', [boosters, rotors, thrusters, fins])
def test_what_one_is_commanded_moves_no_other(make):
    one, other = make(), make()
    last = {field: [v[0], 0.0 * v[1], *v[2:]] for field, v in GIVEN[make].items()}
    for tick in range(8):
        same = one.step(command(make), FLOW, DT, tick)
        changed = other.step(Command(**last), FLOW, DT, tick)
        for name, values in arrays_of(same).items():
            if name != 'wrench':
                np.testing.assert_array_equal(values[0], getattr(changed, name)[0])
    assert np.any(same.wrench != changed.wrench)


@EACH
def test_no_time_changes_nothing_and_what_was_given_out_stays(make):
    model, straight = make((2,)), make((2,))
    for tick in range(4):
        output = model.step(command(make), FLOW, DT, tick)
        straight.step(command(make), FLOW, DT, tick)
    kept = {name: values.copy() for name, values in arrays_of(output).items()}
    model.step(command(make, 0.5), FLOW, 0.0, 4)
    after = model.step(command(make), FLOW, DT, 4)
    np.testing.assert_array_equal(after.wrench, straight.step(command(make), FLOW, DT, 4).wrench)
    model.reset([0])
    model.reset()
    for name, values in arrays_of(output).items():
        np.testing.assert_array_equal(values, kept[name])


@EACH
def test_a_program_can_write_to_no_output_and_still_to_its_own_arrays(make):
    given, flow = command(make), np.array([3.0, 0.0, 0.1])
    model, twin = Model(make()), make()
    for tick in range(4):
        output = model.step(given, BodyState(velocity=flow), DT)
        for name, values in arrays_of(output).items():
            if name != 'forces':
                with pytest.raises(ValueError, match='read-only'):
                    values[...] = 7.0
        np.testing.assert_array_equal(output.wrench, twin.step(given, FLOW, DT, tick).wrench)
    assert flow.flags.writeable
    assert all(values is None or values.flags.writeable for values in vars(given).values())


@EACH
def test_model_and_output_are_copied_and_stored(make):
    model = Model(make((2,)))
    output = model.step(command(make), FLOW, DT)
    for stored in (copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))):  # noqa: S301
        other, again = stored(output), stored(model)
        assert_same(other, output, ...)
        assert other.flags.keys() == output.flags.keys()
        assert_same(again.step(command(make), FLOW, DT), model.step(command(make), FLOW, DT), ...)
        model = stored(again)


def state_of(model):
    """Return the state of a model by the names that a reset knows."""
    values = {
        'burn_time': lambda: np.stack((np.zeros(4), model._curves.elapsed[..., 0]), axis=-1),
        'charge': lambda: model._batteries.state().charge,
    }
    return {
        name: values[name]() if name in values else getattr(model, name)
        for name in model.start_states
    }


STATES = {
    boosters: {
        'ignition': [[1, 0], [0, 1]], 'throttle': [[0.7, 0.0], [0.0, 0.0]],
        'burn_time': [[0.0, 0.0], [0.0, 0.2]], 'gimbal_angle': [[[0.01, 0.0]], [[0.0, -0.05]]],
        'fuel_ratio': [[0.5], [0.25]],
    },
    rotors: {'rotor_speed': [[300.0, 0.0], [100.0, 500.0]]},
    powered_rotors: {'rotor_speed': [[300.0, 0.0], [100.0, 500.0]], 'charge': [[0.5], [0.25]]},
    thrusters: {'rotor_speed': [[30.0, -2.0], [0.0, 9.0]]},
    fins: {'deflection': [[0.1, 0.2, 0.0], [-0.3, 0.0, 0.1]]},
    jets: {'fuel_ratio': [[0.5], [0.25]]},
    propulsion_modules: {
        'angle': np.linspace(0.3, 0.9, 24).reshape(2, 12),
        'impeller_speed': [[200.0, 100.0], [0.0, 290.0]],
    },
}
"""States of two environments."""


@EACH
def test_each_environment_begins_with_its_own_state(make):
    model, state = make((4,)), STATES[make]
    assert isinstance(model, Restartable)
    assert set(state) == set(model.start_states)
    for tick in range(6):
        model.step(command(make), FLOW, DT, tick)
    before = {name: values.copy() for name, values in state_of(model).items()}
    model.reset([3, 1], state)
    after = state_of(model)
    for name, values in state.items():
        np.testing.assert_allclose(after[name][[3, 1]], values, rtol=1e-12)
        np.testing.assert_array_equal(after[name][[0, 2]], before[name][[0, 2]])
    model.step(command(make), FLOW, DT, 6)
    model.reset([3, 1])
    usual = state_of(make((4,)))
    for name, values in state_of(model).items():
        np.testing.assert_array_equal(values[[3, 1]], usual[name][[3, 1]])


@EACH
def test_one_state_serves_all_environments(make):
    one = {name: np.asarray(values)[0] for name, values in STATES[make].items()}
    model, single = make((4,)), make()
    model.reset(state=one)
    single.reset(state=one)
    for tick in range(5):
        output = model.step(command(make), FLOW, DT, tick)
        alone = single.step(command(make), FLOW, DT, tick)
        for row in output.wrench:
            np.testing.assert_allclose(row, alone.wrench, rtol=1e-12, atol=1e-15)


@EACH
def test_a_state_that_cannot_be_is_refused_and_nothing_is_reset(make):
    model, state = make((4,)), STATES[make]
    for tick in range(6):
        model.step(command(make), FLOW, DT, tick)
    before = {name: values.copy() for name, values in state_of(model).items()}
    last = list(state)[-1]
    for wrong, text in (
        (np.nan, f'state.{last}.*expected .* to .*, got nan'),
        (1e300, f'state.{last}.*got 1e\\+300'),
        (np.zeros((7, 3)), f'state.{last}.*expected a shape that fits .*7, 3'),
        (['1', '2'], f'state.{last}.*expected numbers'), (None, f'state.{last}.*expected numbers'),
        ('much', f'state.{last}.*expected numbers'),
    ):
        with pytest.raises(ConfigError, match=text):
            model.reset([1], {**{name: np.asarray(v)[0] for name, v in state.items()}, last: wrong})
    with pytest.raises(ConfigError, match=f"unknown '{last}s', did you mean '{last}'"):
        model.reset([1], {f'{last}s': 0.0})
    with pytest.raises(IndexError, match='expected no indices'):
        make().reset([1], state)
    for name, values in state_of(model).items():
        np.testing.assert_array_equal(values, before[name])


@pytest.mark.parametrize('family', [Fam, InverseFam])
def test_a_family_without_a_state_takes_indices_too(family):
    model = family(family.Params(), (3,))
    model.reset([0, 2])
    assert isinstance(model, Restartable)
    assert not model.start_states
    with pytest.raises(ConfigError, match="unknown 'speed'; known: none"):
        model.reset(state={'speed': 1.0})
    with pytest.raises(IndexError):
        family(family.Params()).reset([0])


def test_measured_speeds_are_forgotten_in_the_environments_that_are_reset():
    model = InverseFam(InverseFam.Params(speed_source='measured'), (3,))
    model.set_measured_speed([100.0, 150.0])
    model.reset([1])
    thrust = model.step(Command(**OPEN), BodyState(), DT, 0).thrusts
    np.testing.assert_array_equal(thrust[0], thrust[2])
    assert np.any(thrust[0] != thrust[1])


def test_a_rotor_begins_no_faster_than_its_largest_thrust_allows():
    rotor = Rotors(RotorsParams(names=['a'], max_thrust=[9.0], motor_constant=[1e-4]), (2,))
    rotor.reset([0], {'rotor_speed': 300.0})
    with pytest.raises(ConfigError, match='expected 0 to 300, got 301'):
        rotor.reset([0], {'rotor_speed': 301.0})


def test_an_impeller_that_turns_at_its_command_goes_on_so():
    model = propulsion_modules((2,))
    model.reset([1], {'impeller_speed': 200.0, 'angle': 0.9})
    thrust = model.thrust[1].copy()
    assert np.all(thrust > 0.0)
    for tick in range(20):
        output = model.step(Command(**OPEN), FLOW, DT, tick)
    np.testing.assert_allclose(output.thrusts[1], thrust, rtol=1e-9)
    assert np.all(output.thrusts[0] < 0.9 * thrust)


def test_a_solid_motor_burns_what_its_time_leaves():
    model = boosters((2,))
    model.reset([1], {'burn_time': [0.0, 1.0]})
    impulse = np.zeros(2)
    for tick in range(400):
        output = model.step(Command(effort=[0.0, 1.0, NAN, NAN]), BodyState(), 0.01, tick)
        impulse += 0.01 * output.thrusts[:, 1]
    # The curve falls from 100 N at 0.3 s to 0 at 2 s.
    np.testing.assert_allclose(impulse, [100.0, 0.5 * 1.0 * 100.0 / 1.7], rtol=1e-9)
