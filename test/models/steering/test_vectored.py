# SPDX-License-Identifier: Apache-2.0
"""Efforts and angles together, against scipy's solvers from many starts and closed forms."""
import math

import numpy as np
import pytest
from scipy.optimize import minimize

from parts import amount
from propulsion_ros.models.common.allocation import Allocator
from propulsion_ros.models.steering.vectored import VectoredAllocator
from propulsion_ros.settings.errors import CommandError, ConfigError

BOAT = np.array([[2.0, 0.8, -0.2], [2.0, -0.8, -0.2], [-2.0, 0.0, -0.2]])
MOST, RATE = np.array([100.0, 100.0, 80.0]), np.array([1.5, 1.5, 2.0])
TICKS = (0.02, 0.1, 0.5, 2.5)


def azimuths(places) -> np.ndarray:
    """Return the columns of pushes in the plane z = 0 of each place, along x at angle 0."""
    columns = np.zeros((len(places), 3, 6))
    for i, place in enumerate(places):
        for k, way in ((1, [1.0, 0.0, 0.0]), (2, [0.0, 1.0, 0.0])):
            columns[i, k] = [*way, *np.cross(place, way)]
    return columns


def wrench_of(columns, effort, angle) -> np.ndarray:
    parts = np.stack((np.ones(len(angle)), np.cos(angle), np.sin(angle)), axis=-1)
    return np.einsum('i,ik,ikj->j', effort, parts, columns)


def best_of(columns, wrench, ends, starts, rng) -> float:
    """Return the smallest residual that scipy finds from many starts within ends, (2 n, 2)."""
    low, span = ends[:, 0], ends[:, 1] - ends[:, 0]

    def cost(share):
        effort, angle = (low + span * share).reshape(2, -1)
        cos, sin = np.cos(angle), np.sin(angle)
        left = wrench_of(columns, effort, angle) - wrench
        pulls = columns @ left
        by_effort = pulls[:, 0] + cos * pulls[:, 1] + sin * pulls[:, 2]
        by_angle = effort * (cos * pulls[:, 2] - sin * pulls[:, 1])
        return 5e-5 * left @ left, 1e-4 * np.concatenate((by_effort, by_angle)) * span

    found = (minimize(
        cost, rng.uniform(0.0, 1.0, len(ends)), jac=True, bounds=[(0.0, 1.0)] * len(ends),
        method='L-BFGS-B', options={'ftol': 1e-16, 'gtol': 1e-12, 'maxiter': 3000},
    ).fun for _ in range(starts))
    return math.sqrt(2e4 * min(found))


def test_what_can_be_reached_within_range_and_rate_is_reached():
    """Demands that some efforts and angles within the tick make, from any present ones."""
    rng, columns = np.random.default_rng(1), azimuths(BOAT)
    allocator = VectoredAllocator(columns, 0.0, MOST, angle_rate=RATE)
    for k in range(600):
        dt, angle = TICKS[k % 4], rng.uniform(-9.0, 9.0, 3)
        effort = rng.uniform(0.0, 1.0, 3) * MOST * rng.integers(0, 2, 3)
        turned = angle + rng.uniform(-1.0, 1.0, 3) * np.minimum(RATE * dt, np.pi)
        demand = wrench_of(columns, rng.uniform(0.0, 1.0, 3) * MOST, turned)
        found = allocator.allocate(demand, effort, angle, dt)
        assert np.linalg.norm(found.residual) < 1e-9
        assert np.all(np.abs(found.angle - angle) <= RATE * dt + 1e-12)
        assert np.all((found.effort >= 0.0) & (found.effort <= MOST))
        np.testing.assert_allclose(
            wrench_of(columns, found.effort, found.angle), demand, atol=1e-9
        )
        assert not allocator.out_of_reach(demand, found).any()


@pytest.mark.parametrize('lowest', [0.0, -0.6], ids=['one way', 'reversible'])
def test_nearest_wrench_is_that_of_many_starts(lowest):
    rng, worse = np.random.default_rng(3), 0
    for k in range(amount('rest', 12, 24)):
        n = 2 + k % 3
        columns = azimuths(np.column_stack((rng.uniform(-2.0, 2.0, (n, 2)), np.full(n, -0.2))))
        most, rate = rng.uniform(50.0, 120.0, n), rng.choice([0.5, 2.0], n)
        half, middle = rng.choice([0.4, 1.0, 2.2, 50.0], n), rng.uniform(-3.0, 3.0, n)
        ranges = np.stack((middle - half, middle + half), axis=-1)
        angle = rng.uniform(*np.clip(ranges, -9.0, 9.0).T)
        effort, dt = rng.uniform(0.0, 1.0, n) * most * rng.integers(0, 2, n), TICKS[k % 4]
        demand = rng.normal(0.0, 60.0, 2 * n) @ columns[:, 1:].reshape(-1, 6)
        found = VectoredAllocator(columns, lowest * most, most, ranges, rate).allocate(
            demand, effort, angle, dt
        )
        window = np.clip(angle[:, None] + rate[:, None] * dt * [-1.0, 1.0], *ranges.T[..., None])
        assert np.all((found.angle >= window[:, 0] - 1e-12) & (found.angle <= window[:, 1] + 1e-12))
        assert np.all((found.effort >= lowest * most) & (found.effort <= most))
        ends = np.vstack((np.stack((lowest * most, most), axis=-1), window))
        best = best_of(columns, demand, ends, 4, rng)
        worse += np.linalg.norm(found.residual) > best + 1e-6 * np.linalg.norm(demand)
    assert worse <= (0 if lowest == 0.0 else 1)


def test_the_least_change_is_taken_of_all_that_make_the_wrench():
    rng, columns = np.random.default_rng(4), azimuths(BOAT)
    allocator = VectoredAllocator(columns, 0.0, MOST)
    for _ in range(30):
        angle, effort = rng.uniform(-3.0, 3.0, 3), rng.uniform(30.0, 60.0, 3)
        demand = wrench_of(columns, effort, angle) + wrench_of(
            columns, rng.uniform(0.0, 20.0, 3), rng.uniform(-3.0, 3.0, 3)
        )
        found = allocator.allocate(demand, effort, angle)

        def plane(effort, angle):
            return (effort * [np.cos(angle), np.sin(angle)]).T.ravel()

        matrix = columns[:, 1:].reshape(-1, 6).T
        present = 0.99 * plane(effort, angle)
        # Nothing limits here.
        nearest = present + np.linalg.pinv(matrix) @ (demand - matrix @ present)
        np.testing.assert_allclose(plane(found.effort, found.angle), nearest, atol=1e-8)


def test_efforts_that_cancel_fade_away():
    columns = azimuths(np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    allocator = VectoredAllocator(columns, 0.0, 50.0, angle_rate=1.0)
    effort, angle = np.array([40.0, 30.0]), np.array([0.0, np.pi])
    for _ in range(600):
        found = allocator.allocate([10.0, 0, 0, 0, 0, 0], effort, angle, 0.02)
        assert np.linalg.norm(found.residual) < 1e-9
        effort, angle = found.effort, found.angle
    assert effort.sum() == pytest.approx(10.0, abs=0.5)


def test_pods_that_push_the_wrong_way_turn_round_and_get_there():
    columns = azimuths(BOAT)
    allocator = VectoredAllocator(columns, 0.0, MOST, angle_rate=1.0)
    demand = columns[:, 1].sum(axis=0) * -45.0
    effort, angle, ticks = np.zeros(3), np.zeros(3), 0
    while True:
        found = allocator.allocate(demand, effort, angle, 0.05)
        assert np.all(np.abs(found.angle - angle) <= 0.05 + 1e-12)
        effort, angle, ticks = found.effort, found.angle, ticks + 1
        if np.linalg.norm(found.residual) < 1e-9 or ticks > 100:
            break
        assert allocator.out_of_reach(demand, found).any()
    # Half a turn at 1 rad/s takes 63 ticks.
    assert ticks <= 64


@pytest.mark.parametrize(('present', 'expected'), [(0.0, 0.5), (-0.5, 0.5), (3.0, 1.2)])
def test_an_angle_outside_its_range_turns_back_at_its_rate(present, expected):
    allocator = VectoredAllocator(
        azimuths([[0.0, 0.0, 0.0]]), 0.0, 10.0, [-0.2, 0.7], 2.0
    )
    demand = [10.0 * math.cos(0.5), 10.0 * math.sin(0.5), 0, 0, 0, 0]
    found = allocator.allocate(demand, np.zeros(1), np.array([present]), 0.9)
    assert found.angle[0] == pytest.approx(expected)


def test_without_joints_it_is_the_bounded_allocator():
    rng = np.random.default_rng(5)
    for _ in range(40):
        matrix, upper = rng.normal(0.0, 1.0, (6, 4)), rng.uniform(1.0, 5.0, 4)
        columns = np.zeros((4, 3, 6))
        columns[:, 0] = matrix.T
        demand = 6.0 * rng.normal(0.0, 1.0, 6)
        bounded = Allocator(matrix, -1.0, upper).allocate(demand)
        found = VectoredAllocator(columns, -1.0, upper).allocate(demand, np.zeros(4), np.zeros(4))
        np.testing.assert_allclose(found.effort, bounded.effort, atol=1e-6)
        np.testing.assert_array_equal(found.saturated, bounded.saturated)


def test_thrust_that_passes_its_axis_is_reckoned_with():
    """Of a joint along z a thrust 0.3 m beside it makes a torque along z at any angle."""
    columns = azimuths(BOAT)
    columns[:, 0, 5] = [0.3, -0.2, 0.25]
    allocator, rng = VectoredAllocator(columns, 0.0, MOST), np.random.default_rng(6)
    for _ in range(50):
        demand = wrench_of(columns, rng.uniform(5.0, 70.0, 3), rng.uniform(-0.5, 0.5, 3))
        found = allocator.allocate(demand, np.full(3, 30.0), np.zeros(3))
        assert np.linalg.norm(found.residual) < 1e-8


@pytest.mark.parametrize('wanted', [3.0, 12.0, 40.0])
def test_no_effort_is_between_0_and_the_least(wanted):
    allocator = VectoredAllocator(azimuths(BOAT[2:]), 0.0, 50.0, least=20.0)
    found = allocator.allocate([wanted, 0, 0, 0, 0, 0], np.zeros(1), np.zeros(1))
    # The torque of the arm weighs on a single one.
    free = wanted / (1.0 + 0.2**2)
    assert found.effort[0] == pytest.approx(0.0 if free < 10.0 else max(free, 20.0))


def test_faults_leave_the_rest_to_the_others():
    columns = azimuths(BOAT)
    allocator = VectoredAllocator(columns, 0.0, MOST).weakened(np.array([0.5, 0.0, 1.0]))
    demand = wrench_of(columns, np.array([20.0, 0.0, 30.0]), np.array([0.3, 0.0, -1.0]))
    found = allocator.allocate(demand, np.zeros(3), np.zeros(3))
    assert found.effort[1] == 0.0
    np.testing.assert_allclose(
        wrench_of(columns, found.effort * [0.5, 0.0, 1.0], found.angle), demand, atol=1e-9
    )


def test_an_axis_without_weight_is_left_to_itself():
    # One azimuth alone pushes ahead and turns.
    allocator = VectoredAllocator(
        azimuths(BOAT[2:]), 0.0, 80.0, weights=[1.0, 0.0, 1.0, 1.0, 1.0, 1.0]
    )
    demand = np.array([30.0, 0.0, 0.0, -4.0, -6.0, 40.0])
    found = allocator.allocate(demand, np.zeros(1), np.zeros(1))
    np.testing.assert_allclose(found.residual, [0.0, 20.0, 0.0, 0.0, 0.0, 0.0], atol=1e-6)
    assert not allocator.out_of_reach(demand, found).any()


@pytest.mark.parametrize(('values', 'message'), [
    ({'columns': np.zeros((2, 6))}, r"'columns': expected shape \(n, 3, 6\), got \(2, 6\)"),
    ({'columns': np.full((1, 3, 6), np.nan)}, "'columns': expected finite numbers"),
    ({'angle_range': [1.0, -1.0]}, r"'angle_range\[0\]': 1 must not be above -1 rad"),
    ({'angle_range': [np.nan, 1.0]}, r"'angle_range\[0\]': nan must not"),
    ({'angle_rate': -1.0}, r"'angle_rate\[0\]': -1 is below 0 rad/s"),
    ({'angle_rate': [1.0, 2.0]}, "'angle_rate': expected a number or 1 values"),
    ({'lower': 2.0, 'upper': 1.0}, r"'lower\[0\]': 2 must not be above upper 1"),
    ({'weights': -1.0}, r"'weights\[0\]': -1 must be finite and at least 0"),
])
def test_what_cannot_be_used_is_refused(values, message):
    with pytest.raises(ConfigError, match=message):
        VectoredAllocator(**{
            'columns': azimuths(BOAT[:1]), 'lower': 0.0, 'upper': 10.0, **values
        })


@pytest.mark.parametrize('wrench', [[1.0, 2.0], [np.nan] * 6, [np.inf, 0, 0, 0, 0, 0]])
def test_what_is_no_wrench_is_refused(wrench):
    allocator = VectoredAllocator(azimuths(BOAT[:1]), 0.0, 10.0)
    with pytest.raises(CommandError, match='wrench: expected'):
        allocator.allocate(wrench, np.zeros(1), np.zeros(1))
