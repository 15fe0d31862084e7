# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from propulsion_ros.models.common.lag import Lag, lag_gain
from propulsion_ros.models.thrusters.dynamics import DynamicsParams, RotorDynamics
from propulsion_ros.settings.errors import ConfigError

values = st.floats(-100.0, 100.0)


def one(time_constant: float, rate_limit: float = 0.0, integrator: str = 'exact') -> Lag:
    return Lag(np.array([time_constant]), np.array([rate_limit]), integrator)


def step(lag: Lag, y: float, u: float, dt: float) -> float:
    return float(lag.step(np.array([y]), np.array([u]), dt)[0])


@pytest.mark.parametrize('dt', [1e-9, 1e-3, 0.2, 5.0, 1e6])
def test_step_response_is_the_closed_form(dt):
    assert step(one(0.2), 1.0, 4.0, dt) == pytest.approx(4.0 - 3.0 * np.exp(-dt / 0.2), rel=1e-15)


@pytest.mark.parametrize('dynamics', ['lag', 'thruster'])
@given(values, values)
def test_what_follows_at_once_is_there_to_the_last_bit(dynamics, y, u):
    tau = np.array([0.0, 0.2])
    y, u = np.array([y, y]), np.array([u, u])
    moved = (Lag(tau) if dynamics == 'lag' else RotorDynamics(DynamicsParams(
        names=['a', 'b'], dynamics='first_order', time_constant=tau,
    ))).step(y, u, 0.01)
    assert moved[0] == u[0]
    assert moved[1] == y[1] + lag_gain(tau, 0.01)[1] * (u[1] - y[1])


def test_a_gain_far_below_the_rounding_of_one_keeps_its_digits():
    assert lag_gain(np.array([1e9]), 1e-9)[0] == pytest.approx(1e-18, rel=1e-15)


@pytest.mark.parametrize(
    ('integrator', 'gain'), [('exact', [1 - np.exp(-0.5), 1.0]), ('euler', [0.5, 0.25])]
)
def test_gain_by_integrator(integrator, gain):
    time_constant = np.array([0.02, 0.0 if integrator == 'exact' else 0.04])
    np.testing.assert_allclose(lag_gain(time_constant, 0.01, integrator), gain, rtol=1e-15)


@pytest.mark.parametrize(
    ('time_constant', 'text'),
    [
        pytest.param(0.01, 'a step of 0.0201 s with a time constant of 0.01 s; expected at least '
                     '0.01005 s, or the exact integrator', id='beyond stability'),
        pytest.param(0.0, 'a step of 0.0201 s with a time constant of 0 s; expected at least '
                     '0.01005 s, or the exact integrator', id='immediate'),
    ],
)
def test_the_explicit_step_refuses_to_diverge(time_constant, text):
    with pytest.raises(ConfigError) as error:
        step(one(time_constant, integrator='euler'), 0.0, 1.0, 0.0201)
    assert str(error.value) == f"parameter 'integrator': euler diverges for {text}"


def test_the_explicit_step_is_limited_in_rate():
    lag = one(0.1, 2.0, 'euler')
    assert step(lag, 0.0, 1.0, 0.01) == pytest.approx(0.02, rel=1e-15)
    assert step(lag, 0.0, -1.0, 0.01) == pytest.approx(-0.02, rel=1e-15)
    assert step(lag, 0.0, 0.1, 0.01) == pytest.approx(0.01, rel=1e-15)


@pytest.mark.parametrize(
    ('time_constant', 'rate_limit', 'y', 'u'),
    [(0.3, 1.5, -2.0, 5.0), (0.05, 40.0, 3.0, -3.0), (2.0, 0.7, 0.0, 1.0)],
)
def test_rate_limited_lag_against_an_integrator_of_its_equation(time_constant, rate_limit, y, u):
    solution = solve_ivp(
        lambda _, x: np.clip((u - x) / time_constant, -rate_limit, rate_limit),
        (0.0, 6.0), [y], rtol=1e-10, atol=1e-12, max_step=0.01, dense_output=True,
    )
    lag = one(time_constant, rate_limit)
    for t in np.linspace(0.1, 6.0, 25):
        assert step(lag, y, u, t) == pytest.approx(solution.sol(t)[0], abs=1e-8)
