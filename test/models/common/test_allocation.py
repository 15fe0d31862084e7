# SPDX-License-Identifier: Apache-2.0
import itertools

import numpy as np
import pytest
from golden import vectors_of
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from propulsion_ros.models.common.allocation import Allocator, allocation_matrix, cost_doubt
from propulsion_ros.settings.errors import CommandError, ConfigError

GOLDEN = vectors_of('uuv_thruster_manager')
seeds = st.integers(0, 10**6)


def vehicle(seed, n):
    """Return a matrix of n thrusters at random places."""
    rng = np.random.default_rng(seed)
    axes = rng.normal(size=(n, 3))
    return allocation_matrix(
        rng.uniform(-1, 1, (n, 3)), axes / np.linalg.norm(axes, axis=1, keepdims=True)
    ), rng


# ---- the original


@pytest.mark.parametrize('thruster', GOLDEN['tam_columns'], ids=lambda t: f'{t["pos"][0]:.3f}')
def test_golden_columns(thruster):
    axis = Rotation.from_quat(thruster['quat_xyzw']).apply(thruster['axis'][:3])
    column = allocation_matrix([thruster['pos']], [axis])[:, 0]
    np.testing.assert_allclose(column, thruster['tam_column'], rtol=1e-12)


@pytest.mark.parametrize('method', ['clipped', 'bounded'])
def test_golden_allocation(method):
    golden = GOLDEN['allocation']
    allocator = Allocator(golden['TAM'], -golden['max_thrust'], golden['max_thrust'], method)
    cases = golden['cases']
    answer = allocator.allocate([case['wrench'] for case in cases])
    unbounded = Allocator(golden['TAM'], -np.inf, np.inf).allocate(
        [case['wrench'] for case in cases]
    )
    for i, case in enumerate(cases):
        np.testing.assert_allclose(unbounded.effort[i], case['unclipped'], rtol=1e-11)
        if method == 'clipped':
            np.testing.assert_allclose(answer.effort[i], case['thrust'], rtol=1e-11)
        else:
            original = np.array(golden['TAM']) @ case['thrust'] - case['wrench']
            assert np.linalg.norm(answer.residual[i]) <= np.linalg.norm(original) + 1e-9


# ---- the matrix


@pytest.mark.parametrize(
    ('force', 'position', 'torque'),
    [
        pytest.param([0, 0, 10], [2, 0, 0], [0, -20, 0], id='up at the nose pitches it up'),
        pytest.param([0, 0, 10], [0, 3, 0], [30, 0, 0], id='up on the left rolls it right'),
        pytest.param([10, 0, 0], [0, 3, 0], [0, 0, -30], id='ahead on the left turns right'),
        pytest.param([0, 0, 10], [0, 0, 5], [0, 0, 0], id='along the line through the origin'),
        pytest.param([1, 2, 3], [4, 5, 6], [3, -6, 3], id='oblique'),
    ],
)
def test_lever_arms_by_hand(force, position, torque):
    np.testing.assert_array_equal(
        allocation_matrix([position], [force])[:, 0], [*force, *torque]
    )


def test_matrix_by_hand():
    matrix = allocation_matrix([[1, 0, 0], [0, 2, 0]], [[0, 0, 1], [1, 0, 0]], [0.5, -0.1])
    np.testing.assert_array_equal(
        matrix.T, [[0, 0, 1, 0, -1, 0.5], [1, 0, 0, -0.1, 0, -2]]
    )


# ---- bounded allocation


@pytest.mark.parametrize(('seed', 'size'), [
    pytest.param(1, 1.0, id='attainable'), pytest.param(2, 1.3, id='near'),
    pytest.param(3, 4.0, id='far'),
])
def test_bounded_is_the_best_of_all_active_sets(seed, size):
    n = 7
    matrix, rng = vehicle(seed, n)
    demand = matrix @ rng.choice([-1.0, 1.0, 0.5], n) * size
    answer = Allocator(matrix, -1.0, 1.0).allocate(demand)
    assert np.any(answer.saturated)
    best = (np.inf, np.inf)
    for signs in itertools.product((-1.0, 0.0, 1.0), repeat=n):
        effort = np.array(signs)
        free = effort == 0.0
        effort[free] = np.linalg.lstsq(matrix[:, free], demand - matrix @ effort, rcond=None)[0]
        if np.all(np.abs(effort) <= 1.0 + 1e-12):
            cost = round(float(np.linalg.norm(matrix @ effort - demand)), 9)
            best = min(best, (cost, float(np.linalg.norm(effort))))
    assert np.linalg.norm(answer.residual) == pytest.approx(best[0], abs=2e-9)
    assert np.linalg.norm(answer.effort) == pytest.approx(best[1], rel=1e-6)


def test_others_make_up_for_a_saturated_actuator():
    matrix = allocation_matrix([[0, 1, 0], [0, -1, 0], [0, 0.5, 0], [0, -0.5, 0]], [[1, 0, 0]] * 4)
    high = np.array([0.5, 9.0, 9.0, 9.0])
    demand = np.array([10.0, 0, 0, 0, 0, 0])
    answer = Allocator(matrix, -high, high).allocate(demand)
    np.testing.assert_allclose(answer.residual, 0.0, atol=1e-9)
    assert answer.effort[0] == 0.5
    np.testing.assert_array_equal(answer.saturated, [True, False, False, False])
    clipped = Allocator(matrix, -high, high, 'clipped').allocate(demand)
    assert np.linalg.norm(clipped.residual) > 1.0


def test_a_fixed_actuator_is_made_up_for():
    matrix = allocation_matrix([[0, 1, 0], [0, -1, 0]], [[1, 0, 0]] * 2)
    answer = Allocator(matrix, [1.0, -5.0], [1.0, 5.0]).allocate([2.0, 0, 0, 0, 0, 0])
    np.testing.assert_allclose(answer.effort, [1.0, 1.0], rtol=1e-12)
    np.testing.assert_array_equal(answer.saturated, False)
    frozen = Allocator(matrix, 1.0, 1.0).allocate([9.0, 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(frozen.effort, 1.0)


# ---- scaling


@given(seed=seeds, n=st.integers(6, 12), size=st.sampled_from([0.0, 1e-200, 0.01, 0.3, 1.0, 50.0]))
def test_scaled_keeps_the_direction(seed, n, size):
    matrix, rng = vehicle(seed, n)
    demand = matrix @ rng.normal(size=n) * size
    allocator = Allocator(matrix, -rng.uniform(0.1, 1, n), rng.uniform(0.1, 1, n), 'scaled')
    answer = allocator.allocate(demand)
    assert np.all((answer.effort >= allocator.lower) & (answer.effort <= allocator.upper))
    ideal = np.linalg.pinv(matrix) @ demand
    fits = np.all((ideal >= allocator.lower) & (ideal <= allocator.upper))
    factor = 1.0 if fits else answer.effort @ ideal / (ideal @ ideal)
    assert 0.0 <= factor <= 1.0
    np.testing.assert_allclose(answer.effort, factor * ideal, rtol=1e-8, atol=1e-9)
    assert np.any(answer.saturated) != fits


@pytest.mark.parametrize('method', ['bounded', 'scaled', 'clipped'])
def test_a_batch_is_its_members(method):
    matrix, rng = vehicle(5, 8)
    allocator = Allocator(matrix, -1.0, 2.0, method)
    demands = rng.normal(size=(3, 7, 6)) * 3
    answer = allocator.allocate(demands)
    assert answer.effort.shape == (3, 7, 8)
    for at in np.ndindex(3, 7):
        single = allocator.allocate(demands[at])
        np.testing.assert_allclose(answer.effort[at], single.effort, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(answer.saturated[at], single.saturated)


# ---- axes that do not count


def canted(cant):
    """Return the matrix of two rotors above each other on each of four arms, which lean inward."""
    ways = np.array([[np.cos(turn), np.sin(turn), 0.0] for turn in np.pi / 4 * np.arange(1, 9, 2)])
    axes = np.repeat(np.cos(cant) * np.eye(3)[2] - np.sin(cant) * ways, 2, axis=0)
    places = np.repeat(0.3 * ways, 2, axis=0) + np.outer([0.06, -0.06] * 4, np.eye(3)[2])
    return allocation_matrix(places, axes, 0.016 * np.array([-1.0, 1.0, 1.0, -1.0] * 2))


@pytest.mark.parametrize('method', ['bounded', 'scaled', 'clipped'])
def test_an_axis_without_weight_is_left_to_itself(method):
    demand = np.array([0.0, 0.0, 68.0, 0.0, 1.9, 0.0])
    exact = Allocator(canted(0.1), 0.0, 19.0, method).allocate(demand)
    assert np.ptp(exact.effort) in (0.0, pytest.approx(19.0, abs=1.0))
    allocator = Allocator(canted(0.1), 0.0, 19.0, method, [0.0, 0.0, 1.0, 1.0, 1.0, 1.0])
    found = allocator.allocate(demand)
    np.testing.assert_allclose(found.wrench[2:], demand[2:], atol=1e-9)
    assert np.ptp(found.effort) < 3.0
    # The residual has what it is then; that is no miss, and hides none.
    assert found.residual[0] < -0.5
    assert not allocator.out_of_reach(demand, found).any()
    demand[[0, 2]] = 1e4, 200.0
    assert allocator.out_of_reach(demand, allocator.allocate(demand)).tolist()[:3] == [0, 0, 1]


def test_axes_that_are_costly_beside_another_are_named():
    doubt = cost_doubt(canted(0.1))
    assert doubt.startswith('an exact force.x takes ')
    assert doubt.endswith('give the allocator weights: [0.0, 0.0, 1.0, 1.0, 1.0, 1.0]')
    matrix, pitch = canted(0.1), np.eye(6)[4]
    effort = np.linalg.pinv(matrix) @ pitch
    least = np.linalg.pinv(np.delete(matrix, 0, axis=0)) @ np.delete(pitch, 0)
    times = np.linalg.norm(effort) / np.linalg.norm(least)
    assert f'{times:.2g} times the thrust for torque.y' in doubt
    # A boat needs the force; where both are needed, there is nothing to do.
    assert 'asks for torque.y or torque.x, give the allocator weights: [1.0, 1.0, 1.0, 0' in doubt
    assert 'torque.y, ' not in cost_doubt(canted(0.1), [3, 4]).partition(';')[2]
    assert 'for force' not in cost_doubt(canted(0.1), [0, 1]).partition(';')[2]
    assert not cost_doubt(canted(0.1), [0, 1, 3, 4])
    assert not cost_doubt(canted(0.1) * np.array([[0], [0], [1], [1], [1], [1]]))
    # Upright arms make no side force, and thrusters all round each part alone.
    assert not cost_doubt(canted(0.0))
    assert not cost_doubt(np.array(GOLDEN['allocation']['TAM']))


# ---- refusals


@pytest.mark.parametrize(
    ('change', 'text'),
    [
        pytest.param({'matrix': np.ones((3, 2))}, "'matrix': expected shape (6, n), got (3, 2)",
                     id='shape'),
        pytest.param({'matrix': np.full((6, 2), np.nan)}, "'matrix': expected finite numbers",
                     id='nan'),
        pytest.param({'lower': [0.0, 2.0]}, "'lower[1]': 2 must not be above upper 1", id='order'),
        pytest.param({'lower': np.nan}, "'lower[0]': nan must not be above upper 1", id='no_limit'),
        pytest.param({'upper': [1.0] * 3}, "'upper': expected a number or 2 values, got shape (3,)",
                     id='count'),
        pytest.param({'weights': [1.0, -1.0, 1.0, 1.0, 1.0, 1.0]},
                     "'weights[1]': -1 must be finite and at least 0", id='weights'),
        pytest.param({'weights': 0.0}, "'weights': expected one above 0", id='no_weight'),
        pytest.param({'method': 'pinv'}, "'method': expected one of bounded, scaled, clipped, "
                     "got 'pinv'", id='method'),
        pytest.param({'method': 'scaled', 'lower': 0.5},
                     "'method[0]': scaled needs 0 inside the limits, got [0.5, 1]", id='scaled'),
        pytest.param({'matrix': 'x'}, "'matrix': expected numbers, got str 'x'", id='text'),
        pytest.param({'lower': ['x']}, "'lower': expected numbers, got list ['x']", id='row'),
        pytest.param({'weights': 1j}, "'weights': expected numbers, got complex 1j", id='complex'),
    ],
)
def test_refuses_configuration(change, text):
    values = {'matrix': np.ones((6, 2)), 'lower': -1.0, 'upper': 1.0, **change}
    with pytest.raises(ConfigError) as error:
        Allocator(**values)
    assert str(error.value) == f'parameter {text}'


@pytest.mark.parametrize(('wrench', 'text'), [
    pytest.param([1.0] * 5, 'wrench: expected shape (..., 6), got (5,)', id='shape'),
    pytest.param([1.0] * 5 + [np.inf],
                 'wrench: expected finite numbers, got [1.0, 1.0, 1.0, 1.0, 1.0, inf]', id='inf'),
    pytest.param('x', "wrench: expected numbers, got str 'x'", id='text'),
])
def test_refuses_demand(wrench, text):
    with pytest.raises(CommandError) as error:
        Allocator(np.ones((6, 2)), -1.0, 1.0).allocate(wrench)
    assert str(error.value) == text


@pytest.mark.parametrize(('change', 'text'), [
    ({'axes': 3.0}, "'axes': expected shape (n, 3), got ()"),
    ({'axes': np.ones((2, 4))}, "'axes': expected shape (n, 3), got (2, 4)"),
    ({'axes': [[1.0], [2.0, 3.0]]}, "'axes': expected numbers, got list [[1.0], [2.0, 3.0]]"),
    ({'positions': np.ones((2, 4))}, "'positions': expected shape (2, 3), got (2, 4)"),
    ({'positions': [1.0] * 4}, "'positions': expected shape (2, 3), got (4,)"),
    ({'moment_constants': [1.0] * 3}, "'moment_constants': expected shape (2,), got (3,)"),
    ({'moment_constants': 'x'}, "'moment_constants': expected numbers, got str 'x'"),
])
def test_refuses_what_makes_no_matrix(change, text):
    values = {'positions': np.zeros((2, 3)), 'axes': np.ones((2, 3)), **change}
    with pytest.raises(ConfigError) as error:
        allocation_matrix(**values)
    assert str(error.value) == f'parameter {text}'


LIFTS = allocation_matrix([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]], [[0.0, 0.0, 1.0]] * 2)


def test_weakened_actuators_get_more_and_failed_ones_nothing():
    allocator = Allocator(LIFTS, 0.0, 10.0).weakened(np.array([0.5, 1.0]))
    result = allocator.allocate([0.0, 0.0, 8.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(result.effort, [8.0, 4.0])
    np.testing.assert_allclose(result.wrench, [0.0, 0.0, 8.0, 0.0, 0.0, 0.0], atol=1e-12)
    failed = Allocator(LIFTS, 2.0, 10.0).weakened(np.array([0.0, 1.0]))
    assert failed.allocate([0.0, 0.0, 8.0, 0.0, 0.0, 0.0]).effort[0] == 0.0


def test_no_effort_lies_between_0_and_the_least():
    allocator = Allocator(LIFTS, 0.0, 10.0, least=[4.0, 0.0])
    rng = np.random.default_rng(3)
    demand = np.zeros((50, 6))
    demand[:, 2], demand[:, 4] = rng.uniform(0.0, 12.0, 50), rng.uniform(-4.0, 4.0, 50)
    result = allocator.allocate(demand)
    effort = result.effort[:, 0]
    assert np.all((effort == 0.0) | (effort >= 4.0))
    assert np.any(effort == 0.0)
    np.testing.assert_allclose(result.wrench + result.residual, demand, atol=1e-12)
    for one, row in zip(demand, result.effort, strict=True):
        np.testing.assert_allclose(allocator.allocate(one).effort, row, rtol=1e-12)


@pytest.mark.parametrize(('given', 'text'), [
    ({'lower': -1.0, 'least': 1.0}, 'limits that begin at 0, got 1 in'),
    ({'lower': 0.0, 'least': 11.0}, 'limits that begin at 0, got 11 in'),
    ({'lower': 0.0, 'least': 1.0, 'method': 'scaled'}, 'scaled needs efforts down to 0'),
])
def test_a_least_effort_that_cannot_be_is_refused(given, text):
    with pytest.raises(ConfigError, match=text):
        Allocator(LIFTS, upper=10.0, **given)


def test_rounding_of_couples_is_no_miss():
    """A pure torque has no force, so that any was called out of reach."""
    arms = np.array([[0.0, 0.05, 0.0], [0.0, -0.05, 0.0], [0.05, 0.0, 0.0], [-0.05, 0.0, 0.0],
                     [0.0, 0.0, 0.15], [0.0, 0.0, -0.15]])
    ways = np.array([[0.0, 0.0, 1.0]] * 2 + [[0.0, 1.0, 0.0]] * 2 + [[1.0, 0.0, 0.0]] * 2)
    axes, places = np.concatenate((ways, -ways)), np.concatenate((arms, arms))
    matrix = np.concatenate((axes, np.cross(places, axes)), axis=1).T
    allocator = Allocator(matrix, np.zeros(12), np.full(12, 0.02))
    rng = np.random.default_rng(0)
    for _ in range(300):
        torque = rng.uniform(-1.0, 1.0, 3) * [0.002, 0.006, 0.002] * rng.choice([0.0, 1.0], 3)
        demand = np.concatenate((np.zeros(3), torque))
        assert not allocator.out_of_reach(demand, allocator.allocate(demand)).any()


def test_what_is_out_of_reach_is_marked_by_component():
    allocator = Allocator(LIFTS, -10.0, 10.0)
    demand = np.array([[0.0, 3.0, 5.0, 0.0, 1.0, 0.0], [0.0, 0.0, 25.0, 0.0, 0.0, 0.0],
                       [0.0, 1e-3, 5.0, 0.0, 1.0, 0.0], [0.0] * 6])
    missed = allocator.out_of_reach(demand, allocator.allocate(demand))
    assert [np.flatnonzero(row).tolist() for row in missed] == [[1], [2], [], []]


def test_a_miss_far_below_what_the_actuators_can_make_is_none():
    """A calm hover with one motor off warned of 2e-5 N m about z, of 1 N m that they can make."""
    allocator = Allocator(LIFTS, 0.0, 10.0)
    for torque, is_missed in ((2e-5, False), (0.5, True)):
        demand = np.array([0.0, 0.0, 0.0, 0.0, torque, 0.0])
        found = allocator.allocate(demand)
        assert abs(found.residual[4]) > 0.3 * torque
        assert allocator.out_of_reach(demand, found)[4] == is_missed
