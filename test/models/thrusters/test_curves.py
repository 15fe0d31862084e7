# SPDX-License-Identifier: Apache-2.0
from itertools import pairwise

import numpy as np
import pytest
from golden import vectors_of
from hypothesis import given
from hypothesis import strategies as st

from propulsion_ros.models.thrusters.curves import CurvesParams, ThrustCurves
from propulsion_ros.settings.errors import ConfigError

ORIGINAL = {s['name']: s for s in vectors_of('uuv_conversions')['scenarios']}
GAZEBO = {s['name']: s for s in vectors_of('gz_sim')['thruster']}
AT_REST = 'interp_unsorted', 'interp_single'
"""Tables that push at rest, which no thruster may; those of the others are read in urdf/."""

BASIC = {'conversion': 'basic', 'rotor_constant': 0.00031}
DEAD = {
    'conversion': 'dead_zone', 'rotor_constant_left': 0.001, 'rotor_constant_right': 0.002,
    'delta_left': -50.0, 'delta_right': 80.0,
}
TABLE = {
    'conversion': 'linear_interp', 'input_values': '-120 -60 -8 8 70 150',
    'output_values': '-31 -9 0 0 14 52',
}
PROPELLER = {
    'conversion': 'propeller', 'thrust_coefficient': 0.004422, 'propeller_diameter': 0.2,
    'advance_coefficient': -0.004,
}
LEFT_HANDED = {**PROPELLER, 'thrust_coefficient': -0.004422}
CURVES = [
    pytest.param(BASIC, id='basic'), pytest.param(DEAD, id='dead_zone'),
    pytest.param(TABLE, id='linear_interp'), pytest.param(PROPELLER, id='propeller'),
    pytest.param(LEFT_HANDED, id='left-handed propeller'),
]
thrusts = st.floats(-30.0, 50.0)


def curves(**kwargs) -> ThrustCurves:
    return ThrustCurves(CurvesParams(**{'names': ['a'], **kwargs}))


def from_gazebo(params: dict) -> dict:
    return {
        'conversion': 'propeller',
        'thrust_coefficient': params.get('thrust_coefficient', params['alpha_1']),
        **{key: params[key] for key in ('fluid_density', 'propeller_diameter', 'wake_fraction')},
        'advance_coefficient': params['alpha_2'],
    }


def thrust(model: ThrustCurves, speed: float, advance: float | None = None) -> float:
    given_advance = None if advance is None else np.array([advance])
    return float(model.thrust(np.array([speed]), given_advance)[0])


def speed_for(model: ThrustCurves, wanted: float, advance: float | None = None) -> float:
    given_advance = None if advance is None else np.array([advance])
    return float(model.speed(np.array([wanted]), given_advance)[0])


# The originals.


@pytest.mark.parametrize('name', AT_REST)
def test_the_original_is_reproduced(name):
    scenario = ORIGINAL[name]
    model = curves(conversion='linear_interp', **{
        f'{side}_values': ' '.join(map(repr, scenario['params'][f'{side}Values']))
        for side in ('input', 'output')
    })
    found = [thrust(model, speed) for speed in scenario['inputs']]
    np.testing.assert_allclose(found, scenario['outputs'], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize('name', [name for name in GAZEBO if name != 'alpha_update'])
def test_gazebo_is_reproduced_both_ways(name):
    scenario = GAZEBO[name]
    model = curves(**from_gazebo(scenario['params']))
    found = [thrust(model, speed) for speed in scenario['w_in']]
    np.testing.assert_allclose(found, scenario['thrust_out'], rtol=1e-12)
    found = [speed_for(model, wanted) for wanted in scenario['thrust']]
    np.testing.assert_allclose(found, scenario['ang_vel'], rtol=1e-12)


def test_gazebo_takes_the_coefficient_of_the_step_before():
    """Its coefficient at the last speed is ours there; its next speed is that coefficient's."""
    scenario = GAZEBO['alpha_update']
    rows = scenario['rows']
    model = curves(**from_gazebo(scenario['params']))
    density, diameter = (scenario['params'][key] for key in ('fluid_density', 'propeller_diameter'))
    for (_, _, before, _), (stream, wanted, speed, coefficient) in pairwise(rows):
        ours = thrust(model, before, stream) / (density * diameter**4 * before**2)
        assert ours == pytest.approx(coefficient, rel=1e-12)
        frozen = curves(**{
            **from_gazebo(scenario['params']), 'thrust_coefficient': ours,
            'advance_coefficient': 0.0,
        })
        assert speed_for(frozen, wanted) == pytest.approx(speed, rel=1e-12)
    # The first step of the original knows no speed yet and takes 1.
    first = curves(**{
        **from_gazebo(scenario['params']), 'thrust_coefficient': 1.0, 'advance_coefficient': 0.0,
    })
    assert speed_for(first, rows[0][1]) == pytest.approx(rows[0][2], rel=1e-12)


# Inverses.


@pytest.mark.parametrize('curve', CURVES)
@given(wanted=thrusts, advance=st.none() | st.floats(-3.0, 3.0))
def test_inverse_makes_the_thrust(curve, wanted, advance):
    model = curves(**curve)
    assert thrust(model, speed_for(model, wanted, advance), advance) == pytest.approx(
        wanted, rel=1e-9, abs=1e-12
    )


@pytest.mark.parametrize(
    ('wanted', 'speed'),
    [
        pytest.param(-31.0, -120.0, id='low end'),
        pytest.param(-99.0, -120.0, id='below the table'),
        pytest.param(52.0, 150.0, id='high end'),
        pytest.param(99.0, 150.0, id='above the table'),
        pytest.param(0.0, 0.0, id='rest'),
        pytest.param(1e-9, 8.0, id='edge of the dead zone'),
        pytest.param(14.0, 70.0, id='knot'),
        pytest.param(33.0, 110.0, id='between knots'),
    ],
)
def test_inverse_table_by_hand(wanted, speed):
    assert speed_for(curves(**TABLE), wanted) == pytest.approx(speed, rel=1e-9)


def test_flat_parts_give_their_end_nearest_to_rest():
    model = curves(
        conversion='linear_interp', input_values='-20 -10 0 10 20 30 40',
        output_values='-5 -5 0 5 5 9 9',
    )
    assert [speed_for(model, wanted) for wanted in (-5.0, -9.0, 5.0, 9.0, 99.0)] == [
        -10.0, -10.0, 10.0, 30.0, 30.0
    ]
    assert speed_for(model, 7.0) == 25.0


def test_one_way_dead_zone_never_pulls():
    model = curves(**{**DEAD, 'rotor_constant_left': 0.0})
    assert speed_for(model, -5.0) == 0.0
    assert thrust(model, -500.0) == 0.0
    assert (model.min_thrust[0], model.max_thrust[0]) == (0.0, np.inf)


def test_falling_table_has_no_inverse():
    model = curves(conversion='linear_interp', input_values='0 1 2', output_values='0 4 3')
    assert thrust(model, 1.5) == 3.5
    with pytest.raises(ConfigError, match=r"'output_values\[0\]': falls as input_values rise"):
        speed_for(model, 1.0)


# Properties and hard cases.


def test_close_knots_do_not_overflow():
    model = curves(
        conversion='linear_interp', input_values='-1 0 5e-324 1', output_values='-1e12 0 1e12 1e12'
    )
    assert [thrust(model, speed) for speed in (0.0, 5e-324, 0.5)] == [0.0, 1e12, 1e12]
    assert np.isfinite(speed_for(model, 1e11))
