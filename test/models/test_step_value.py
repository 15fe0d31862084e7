# SPDX-License-Identifier: Apache-2.0
"""What a step applies is its mean: the impulse does not depend on the step."""
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad, trapezoid

from propulsion_ros.models.boosters.boosters import Boosters, BoostersParams
from propulsion_ros.models.boosters.params import GimbalsParams
from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.common.lag import Lag, ramp_moments
from propulsion_ros.models.fins.fins import Fins, FinsParams
from propulsion_ros.models.fins.lift_drag import QuadraticParams
from propulsion_ros.models.rotors.rotors import Rotors, RotorsParams
from propulsion_ros.models.supply.tanks import TanksParams
from propulsion_ros.models.thrusters.thrusters import Thrusters, ThrustersParams

STILL = BodyState()
ROTOR = {
    'names': ['a', 'b'], 'max_thrust': [10.0, 7.0], 'motor_constant': 1.5e-5,
    'time_constant_up': [0.06, 0.03], 'time_constant_down': [0.02, 0.09],
}
LAGGED = {'names': ['a'], 'dynamics': 'first_order', 'time_constant': 0.1}
CURVES = [
    pytest.param({'rotor_constant': 0.002}, id='basic'),
    pytest.param({
        'conversion': 'dead_zone', 'rotor_constant_left': 0.01, 'rotor_constant_right': 0.02,
        'delta_left': -900.0, 'delta_right': 400.0,
    }, id='dead zone'),
    pytest.param({
        'conversion': 'linear_interp', 'input_values': '-120 -60 -8 8 70 150',
        'output_values': '-31 -9 0 0 14 52',
    }, id='table'),
    pytest.param({
        'conversion': 'propeller', 'thrust_coefficient': 0.004422, 'propeller_diameter': 0.2,
        'advance_coefficient': -0.004,
    }, id='propeller'),
]
ratios = st.one_of(st.floats(0.0, 1e-3), st.floats(0.0, 50.0), st.just(np.inf))


def impulse(model, commands, steps, duration, body=STILL):
    """Return the integral of the wrench over commands that last ``duration`` each, (6,)."""
    total, dt = np.zeros(6), duration / steps
    for command in commands:
        for tick in range(steps):
            total += dt * model.step(command, body, dt, tick).wrench
    return total


def efforts(*rows):
    return [Command(effort=np.array(row)) for row in rows]


def velocities(*values):
    return [Command(velocity=np.array([value])) for value in values]


def assert_same_impulse(make, commands, duration, body=STILL):
    whole = impulse(make(), commands, 1, duration, body)
    for steps in (2, 7, 100):
        np.testing.assert_allclose(
            impulse(make(), commands, steps, duration, body), whole, rtol=1e-9,
            atol=1e-9 * np.abs(whole).max(),
        )


@given(ratio=ratios)
def test_moments_are_those_of_the_integral(ratio):
    first, second = ramp_moments(np.array([ratio]))
    for got, power in ((first[0], 1), (second[0], 2)):
        if ratio == 0.0:
            expected = 0.0
        elif np.isinf(ratio):
            expected = 1.0
        else:
            expected = quad(
                lambda x, p=power: (-np.expm1(-x * ratio)) ** p, 0.0, 1.0, limit=200,
                points=[min(1.0, 5.0 / ratio)],
            )[0]
        assert got == pytest.approx(expected, rel=1e-9, abs=1e-300)


@given(
    start=st.floats(-5, 5), goal=st.floats(-5, 5), tau=st.sampled_from([0.0, 1e-9, 0.1, 3.0, 1e9]),
    rate=st.sampled_from([0.0, 0.5, 20.0]), dt=st.floats(1e-6, 2.0),
)
def test_lag_mean_is_that_of_many_small_steps(start, goal, tau, rate, dt):
    y, u = np.array([start]), np.array([goal])
    lag = Lag(np.array([tau]), np.array([rate]), step_value='mean')
    end, mean = lag.advance(y, u, dt)
    assert end == Lag(np.array([tau]), np.array([rate])).step(y, u, dt)
    assert min(start, goal) - 1e-9 <= mean[0] <= max(start, goal) + 1e-9
    total, parts = 0.0, 16
    for _ in range(parts):
        y, part = lag.advance(y, u, dt / parts)
        total += part[0] / parts
    assert mean[0] == pytest.approx(total, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize('lag_on', ['rotor_speed', 'thrust'])
@pytest.mark.parametrize('limits', [
    {}, {'max_rotor_acceleration': 3000.0}, {'max_thrust_rate': 50.0},
    {'max_rotor_acceleration': 3000.0, 'max_thrust_rate': 30.0},
    {'max_rotor_acceleration': 11000.0, 'max_thrust_rate': 60.0},
])
def test_impulse_of_rotors(limits, lag_on):
    def make():
        return Rotors(RotorsParams(**ROTOR, **limits, lag_on=lag_on))

    assert_same_impulse(make, efforts([8.0, 6.0], [0.0, 7.0], [3.0, 0.0]), 0.25)


@pytest.mark.parametrize('curve', CURVES)
def test_impulse_of_thrusters_with_a_lag(curve):
    body = BodyState(velocity=np.array([1.0, 0.0, 0.0]))

    def make():
        return Thrusters(ThrustersParams(**LAGGED, **curve, propeller_efficiency=0.9))

    assert_same_impulse(make, velocities(90.0, -100.0, 0.0, 160.0), 0.23, body)


def test_impulse_of_thrusters_is_that_of_quadrature():
    model = Thrusters(ThrustersParams(**LAGGED, rotor_constant=0.002))
    model.rotor_speed = np.array([-50.0])
    output = model.step(velocities(90.0)[0], STILL, 0.2, 0)
    speed = [90.0 - 140.0 * np.exp(-t / 0.1) for t in np.linspace(0.0, 0.2, 200001)]
    thrust = 0.002 * np.abs(speed) * speed
    assert output.effort[0] == pytest.approx(trapezoid(thrust, dx=1e-6) / 0.2, rel=1e-8)
    assert output.velocity[0] == pytest.approx(speed[-1])


@pytest.mark.parametrize('dynamics', [
    {'dynamics': 'yoerger', 'alpha': 0.024, 'beta': 22.0},
    {'dynamics': 'bessa', 'rotor_inertia': 0.1, 'linear_damping': 0.05, 'quadratic_damping': 0.01,
     'torque_constant': 0.3, 'winding_resistance': 0.6},
])
def test_impulse_against_drag_converges_at_order_8(dynamics):
    def total(steps):
        model = Thrusters(ThrustersParams(names=['a'], **dynamics, rotor_constant=0.002))
        return impulse(model, velocities(6.0), steps, 1.0)[0]

    exact = total(400)
    errors = [abs(total(steps) / exact - 1.0) for steps in (1, 4, 8)]
    assert errors[0] < 1e-2
    assert errors[2] < errors[1] / 2**5


def test_impulse_of_boosters_is_burnt_published_and_applied():
    def make():
        return Boosters(BoostersParams(
            names=['a', 'b'], max_thrust=[100.0, 80.0], min_thrust=20.0, max_fuel_rate=[0.5, 0.4],
            time_constant=[0.08, 0.3], tank=['t', 't'],
            tanks=TanksParams(names=['t'], capacity=100.0),
        ))

    commands = efforts([100.0, 30.0], [0.0, 80.0], [50.0, 0.0])
    assert_same_impulse(make, commands, 0.2)
    model = make()
    before = model.propellant[0]
    output = model.step(commands[0], STILL, 0.05, 0)
    np.testing.assert_array_equal(output.effort[:2], output.applied)
    assert output.wrench[2] == pytest.approx(output.applied.sum(), rel=1e-14)
    burnt = 0.05 * float(output.applied @ [0.5 / 100.0, 0.4 / 80.0])
    assert before - model.propellant[0] == pytest.approx(burnt, rel=1e-9)
    # The throttle is shown as of the stamp, the thrust as of the step.
    assert model.throttle[0] * 100.0 > output.applied[0]


def gimballed():
    return Boosters(BoostersParams(
        names=['a'], max_thrust=100.0, max_fuel_rate=0.0,
        gimbals=GimbalsParams(booster=['a'], time_constant=0.1, range=0.5),
    ))


def fin(**dynamics):
    return lambda: Fins(FinsParams(
        names=['a'], **dynamics,
        quadratic=QuadraticParams(fin=['a'], lift_constant=19.0, drag_constant=10.0),
    ))


TILTED = Command(effort=np.array([100.0, np.nan, np.nan]), position=np.array([np.nan, 0.4, -0.3]))
TURNED = Command(position=np.array([0.4]))


@pytest.mark.parametrize(('make', 'command'), [
    pytest.param(gimballed, TILTED, id='gimbals'),
    pytest.param(fin(time_constant=0.1), TURNED, id='fin'),
    pytest.param(fin(time_constant=0.1, rate_limit=3.0), TURNED, id='fin of limited rate'),
    pytest.param(fin(
        dynamics='bessa', rotor_inertia=0.1, linear_damping=0.5, quadratic_damping=0.1,
        torque_constant=0.3, winding_resistance=0.6,
    ), TURNED, id='fin with drag'),
])
def test_impulse_of_what_turns_converges_at_order_2(make, command):
    def error(steps):
        body = BodyState(velocity=np.array([3.0, 0.0, 0.5]))
        return impulse(make(), [command], steps, 0.3, body)

    exact = error(2000)
    errors = [np.abs(error(steps) - exact).max() for steps in (8, 16, 32)]
    assert np.all(np.log2(np.array(errors[:-1]) / errors[1:]) > 1.7)
