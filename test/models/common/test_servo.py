# SPDX-License-Identifier: Apache-2.0
"""Servos of second order, their limits and play, against closed forms and a fine integration."""
import numpy as np
import pytest

from propulsion_ros.models.boosters.boosters import Boosters, BoostersParams
from propulsion_ros.models.boosters.params import GimbalsParams, gimbals_of
from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.settings.errors import ConfigError

DT, W = 0.01, 50.0
SERVO = {'natural_frequency': W, 'damping_ratio': 0.7}
LIMITS = {**SERVO, 'rate_limit': 1.5, 'acceleration_limit': 60.0}


def gimbal(**values):
    params = GimbalsParams(**{'booster': ['a'], 'range': 1.0, **values})
    return gimbals_of(params, step_value='mean')


def followed(demand, dt=DT, model=None, **values):
    """Return the angles at the end of steps, and those that stand for them."""
    model = gimbal(**values) if model is None else model
    ends, means = [], []
    for tick, angle in enumerate(demand):
        model.step(np.array([[angle, -angle]]), dt)
        np.testing.assert_array_equal(model.angles[0, 1], -model.angles[0, 0], str(tick))
        ends.append(model.angles[0, 0])
        means.append(model.applied[0, 0])
    return np.array(ends), np.array(means)


def response(time, damping):
    """Return the step response of a second order, and its integral."""
    root = np.emath.sqrt(damping**2 - 1.0)
    fast, slow = W * (-damping - root), W * (-damping + root)
    unit = (slow * np.exp(fast * time) - fast * np.exp(slow * time)) / (fast - slow)
    area = (slow / fast * np.expm1(fast * time) - fast / slow * np.expm1(slow * time))
    return (1.0 + unit).real, (time + area / (fast - slow)).real


@pytest.mark.parametrize('damping', [0.05, 0.7, 0.999, 1.3, 6.0])
@pytest.mark.parametrize('dt', [0.002, 0.02, 0.5])
def test_a_step_is_followed_as_the_closed_form_at_any_dt(damping, dt):
    times = dt * np.arange(1, 30)
    ends, means = followed(
        np.full(29, 0.4), dt, natural_frequency=W, damping_ratio=damping
    )
    exact, area = response(times, damping)
    np.testing.assert_allclose(ends, 0.4 * exact, atol=1e-11)
    np.testing.assert_allclose(np.cumsum(means) * dt, 0.4 * area, atol=1e-9)


def integrated(demand, dt, rate, acceleration):
    """Return angles of the limited equation by small steps."""
    parts = 1000
    h, angle, speed, ends = dt / parts, 0.0, 0.0, []
    for goal in demand:
        for _ in range(parts):
            wanted = W * W * (goal - angle) - 2.0 * 0.7 * W * speed
            before = speed
            speed += h * min(max(wanted, -acceleration), acceleration)
            speed = min(max(speed, -rate), rate)
            angle += 0.5 * h * (before + speed)
        ends.append(angle)
    return np.array(ends)


@pytest.mark.parametrize(('limits', 'error'), [
    ({'rate_limit': 1.5}, 0.002), ({'acceleration_limit': 60.0}, 0.006),
    ({'rate_limit': 1.5, 'acceleration_limit': 60.0}, 0.001),
])
@pytest.mark.parametrize('dt', [0.01, 0.04])
def test_limits_are_those_of_the_equation(limits, error, dt):
    demand = np.where(np.arange(round(0.6 / dt)) * dt < 0.32, 0.3, -0.2)
    ends, means = followed(demand, dt, **SERVO, **limits)
    exact = integrated(
        demand, dt, limits.get('rate_limit', 1e9), limits.get('acceleration_limit', 1e9)
    )
    np.testing.assert_allclose(ends, exact, atol=error * 0.5)
    between = 0.5 * (np.append(0.0, ends[:-1]) + ends)
    np.testing.assert_allclose(means, between, atol=0.02 if dt > DT else 0.002)


# Range and play.


@pytest.mark.parametrize('dt', [1e-3, 0.1, 3.0])
def test_no_step_is_faster_than_the_limits(dt):
    demand = np.random.default_rng(4).uniform(-1.0, 1.0, 50)
    ends, means = followed(demand, dt, **LIMITS)
    moves = np.diff(np.append(0.0, ends))
    assert np.all(np.abs(moves) <= 1.5 * dt * (1.0 + 1e-9))
    if dt < 0.01:
        assert np.abs(np.diff(moves)).max() <= 60.0 * dt * dt * 1.01
    assert np.all(np.abs(means) <= 1.0)


def test_a_range_may_be_wider_to_one_side():
    model = gimbal(range=[[0.3, 0.2]], negative_range=[[0.1, -1.0]])
    for command, angles in ((1.0, [0.3, 0.2]), (-1.0, [-0.1, -0.2])):
        limit = model.step(np.full((1, 2), command), DT)
        assert limit.all()
        np.testing.assert_array_equal(model.angles[0], angles)
    with pytest.raises(ConfigError, match=r'or -1 for that of range, got -0\.5'):
        GimbalsParams(booster=['a'], negative_range=-0.5)


def test_a_stop_takes_the_rate():
    model = gimbal(natural_frequency=W, damping_ratio=0.1, range=0.3)
    ends, means = followed(np.full(60, 0.3), model=model)
    assert ends.max() == 0.3
    assert means.max() <= 0.3
    # It leaves the stop from rest.
    model = gimbal(natural_frequency=W, damping_ratio=0.1, range=0.3)
    reached = int(np.argmax(ends == 0.3)) + 1
    back, _ = followed(np.where(np.arange(reached + 9) < reached, 0.3, 0.0), model=model)
    exact = 0.3 * (1.0 - response(DT * np.arange(1, 10), 0.1)[0])
    np.testing.assert_allclose(back[reached:], np.maximum(exact, -0.3), atol=1e-9)


def test_play_is_a_loop_as_wide_as_it():
    demand = 0.2 * np.sin(np.linspace(0.0, 4.0 * np.pi, 400))
    ends, _ = followed(demand, backlash=0.06)
    later = slice(200, None)
    exact = demand.copy()
    for k in range(1, 400):
        exact[k] = np.clip(exact[k - 1], demand[k] - 0.03, demand[k] + 0.03)
    np.testing.assert_allclose(ends[later], exact[later], atol=1e-12)
    assert ends.max() == pytest.approx(0.17, abs=1e-4)


# In their families.


def test_a_gimbal_without_a_command_stops():
    model = Boosters(BoostersParams(
        names='b', max_thrust=10.0, max_fuel_rate=1.0, gimbals=GimbalsParams(
            booster='b', range=1.0, **SERVO
        )
    ))
    tilted = Command(effort=[10.0, np.nan, np.nan], position=[np.nan, 0.4, 0.2])
    moving = model.step(tilted, BodyState(), 0.02, 0)
    held = model.step(Command(effort=[10.0, np.nan, np.nan]), BodyState(), 0.02, 1)
    np.testing.assert_array_equal(held.position[1:3], moving.position[1:3])
    again = model.step(tilted, BodyState(), 0.02, 2).position[1:3]
    # From rest.
    np.testing.assert_allclose(again, moving.position[1:3] + (
        [0.4, 0.2] - moving.position[1:3]
    ) * response(0.02, 0.7)[0], atol=1e-12)
