# SPDX-License-Identifier: Apache-2.0
"""Pressure, temperature and thrust of tanks against closed forms and a numerical solution."""
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from propulsion_ros.models.jets.supply import Supply, SupplyParams
from propulsion_ros.settings.errors import ConfigError


def supply(**given):
    return Supply(SupplyParams(**{'names': ['t'], 'capacity': 2.0, **given}))


def drain(tank, wanted, count):
    """Return the impulse [kg at the reference] of several equal draws."""
    step = np.array([wanted / count])
    return sum(tank.draw(step) * step for _ in range(count))


def test_ideal_gas_by_hand():
    """0.2 kg of nitrogen in 2 l at 293.15 K have 8.70 MPa; half of it, without heat, less."""
    full = 0.2 * 296.8 * 293.15 / 0.002
    assert full == pytest.approx(8.70e6, rel=1e-3)
    tank = supply(propellant='gas', capacity=0.2, pressure=full, polytropic_exponent=1.4)
    while tank.fuel_ratio[0] > 0.5:
        tank.draw(np.array([1e-5]))
    ratio = tank.fuel_ratio
    np.testing.assert_allclose(tank.temperature, 293.15 * ratio**0.4, rtol=1e-12)
    np.testing.assert_allclose(
        tank.pressure, tank.propellant * 296.8 * tank.temperature / 0.002, rtol=1e-12
    )
    assert 221.0 < tank.temperature[0] < 223.0


def test_a_regulator_holds_the_thrust_until_the_tank_is_below_it():
    tank = supply(propellant='gas', pressure=6e6, regulated_pressure=2e6)
    assert tank.draw(np.array([1.3])).tolist() == [1.0]
    np.testing.assert_allclose(tank.pressure, 6e6 * 0.35, rtol=1e-12)
    share = tank.draw(np.array([0.5]))
    assert share[0] < 1.0
    assert tank.draw(np.array([0.0]))[0] < share[0]


def test_a_constant_tank_gives_all_it_has():
    tank = supply()
    assert tank.draw(np.array([1.5])).tolist() == [1.0]
    np.testing.assert_allclose(tank.draw(np.array([2.0])), 0.25, rtol=1e-12)
    assert tank.is_dry.all()
    assert tank.draw(np.array([1.0])).tolist() == [0.0]
    assert tank.pressure.tolist() == [0.0]


@pytest.mark.parametrize('kind', ['gas', 'liquid'])
def test_a_tank_below_its_least_pressure_is_dry(kind):
    params = {'propellant': kind, 'pressure': 3e6, 'min_pressure': 1e6, 'ullage': 0.2}
    assert supply(**params, starting_fuel_ratio=0.05).is_dry.all()
    tank = supply(**params)
    given = drain(tank, 100.0, 3)
    assert tank.is_dry.all()
    np.testing.assert_allclose(tank.pressure, 1e6, rtol=1e-9)
    np.testing.assert_allclose(given, 2.0 - tank.propellant, rtol=1e-12)
    left = tank.propellant.copy()
    assert tank.draw(np.array([1.0])).tolist() == [0.0]
    np.testing.assert_array_equal(tank.propellant, left)


CASES = [
    {'propellant': 'gas', 'polytropic_exponent': 1.0},
    {'propellant': 'gas', 'polytropic_exponent': 1.4},
    {'propellant': 'gas', 'polytropic_exponent': 1.4, 'regulated_pressure': 2e6},
    {'propellant': 'gas', 'polytropic_exponent': 1.2, 'starting_fuel_ratio': 0.6},
    {'propellant': 'liquid', 'polytropic_exponent': 1.0},
    {'propellant': 'liquid', 'polytropic_exponent': 1.3, 'regulated_pressure': 1.5e6},
]


@pytest.mark.parametrize('given', CASES)
def test_steps_of_any_size_solve_the_differential_equation(given):
    """Check x' = -p / sqrt(h) with p and h as functions of x alone, solved by scipy."""
    one = supply(pressure=3e6, **given)
    start = float(one.fuel_ratio[0])
    cooling = given['polytropic_exponent'] - 1.0 if given['propellant'] == 'gas' else 0.0
    reference = given.get('regulated_pressure', 3e6)

    def slope(_, state):
        x = state[0]
        heat = (x / start) ** cooling
        pressure = 3e6 * x * heat
        if given['propellant'] == 'liquid':
            pressure = 3e6 * (0.3 / (1.0 - 0.7 * x)) ** given['polytropic_exponent']
        pressure /= reference
        if 'regulated_pressure' in given:
            pressure = min(pressure, 1.0)
        return [-pressure / np.sqrt(heat), pressure]

    solved = solve_ivp(slope, (0.0, 0.9), [start, 0.0], rtol=1e-10, atol=1e-12, max_step=1e-3).y
    many = supply(pressure=3e6, **given)
    totals = [drain(one, 1.8, 1), drain(many, 1.8, 321)]
    for tank, total in zip((one, many), totals, strict=True):
        np.testing.assert_allclose(tank.fuel_ratio, solved[0, -1], rtol=1e-7)
        np.testing.assert_allclose(total / 2.0, solved[1, -1], rtol=1e-7)
    np.testing.assert_allclose(one.propellant, many.propellant, rtol=1e-11)
    np.testing.assert_allclose(*totals, rtol=1e-9)


def test_pressures_above_the_full_tank_are_refused():
    with pytest.raises(ConfigError, match='2e\\+06 is above the pressure of the full tank, 1e'):
        supply(regulated_pressure=2e6)
