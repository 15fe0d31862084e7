# SPDX-License-Identifier: Apache-2.0
"""The inverse against the allocation, the simulated plant, and its own derivatives."""
import dataclasses

import numpy as np
import pytest
from golden import vectors_of
from hypothesis import given
from hypothesis import strategies as st

from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.common.wrench import move_wrench
from propulsion_ros.models.fam import constants as astrobee
from propulsion_ros.models.fam.fam import Fam, FamParams
from propulsion_ros.models.fam.inverse_fam import InverseFam, InverseFamParams
from propulsion_ros.models.fam.params import NozzlesParams, angle_from_count, speed_from_count

PLANT = vectors_of('pmc_sim')['steady']
PROTOTYPE = vectors_of('fam_inverse_proto')
STILL = BodyState()
COM = (0.003713818, -0.000326347, -0.002532192)
METHODS = ('closed_form', 'polynomial', 'paper')
PAIRS = (('table', 'closed_form'), ('polynomial', 'polynomial'))
MODES = ('quiet', 'nominal', 'precision')
NOMINAL = np.full(2, astrobee.IMPELLER_SPEEDS[1])


def random_wrenches(n: int, scale: float) -> np.ndarray:
    """Return wrenches of all directions; scale 1 is what the nominal mode can just do."""
    spread = scale * np.array([0.1, 0.08, 0.1, 0.008, 0.005, 0.008])
    return np.random.default_rng(0).normal(size=(n, 6)) * spread


def command_of(output) -> Command:
    return Command(position=output.position, velocity=output.velocity)


# Against what was recorded ---------------------------------------------------------------------


def estimate_counts(inverse, count, motor_count):
    """Return what servo counts (..., n) and motor counts (..., m), 0 to 255, apply."""
    angle = angle_from_count(count, inverse.params)
    return inverse.estimate(angle, inverse.speed(speed_from_count(motor_count)))


def test_steady_plant_is_the_polynomial_at_the_speed_of_the_count():
    inverse = InverseFam(InverseFamParams(
        method='polynomial', thrust_scale=1.25, torque_about='origin'
    ))
    counts, motors = (np.array(PLANT[key]) for key in ('nozzle_position_byte', 'motor_speed_cmd'))
    assert len(counts) == 237
    found, thrust = estimate_counts(inverse, counts, motors), np.array(PLANT['thrust'])
    error = np.abs(found.thrust - thrust)
    assert ((error < 1e-3 * thrust) | (error < 5e-5)).all()
    # Without the states that go beyond the table, what is left is its interpolation.
    np.testing.assert_allclose(found.wrench[:, :3], PLANT['force'], rtol=0.0, atol=5e-5)
    np.testing.assert_allclose(found.wrench[:, 3:], PLANT['torque'], rtol=0.0, atol=5e-6)


@pytest.mark.parametrize(('key', 'params', 'tolerance'), [
    # It has the table as printed, to seven digits.
    pytest.param('fam_exact', {'speed_source': 'preset'}, 5e-7, id='closed_form'),
    pytest.param(
        'doc_interp_positive_rows', {'method': 'paper', 'speed_source': 'preset'}, 5e-7, id='paper'
    ),
    pytest.param('poly_pm_leakage_countspeed', {'method': 'polynomial'}, 1e-14, id='polynomial'),
    pytest.param(
        # Linear between the rows of the plant's table.
        'area_table_pm_leakage_countspeed_x1p25', {'method': 'polynomial', 'thrust_scale': 1.25},
        5e-5, id='plant',
    ),
])
def test_prototype_agrees(key, params, tolerance):
    inverse = InverseFam(InverseFamParams(**params))
    columns = ('com', 'nozzle_position_byte', 'motor_speed_cmd', key)
    for com, count, motor, wrench in zip(*(PROTOTYPE[c] for c in columns), strict=True):
        inverse.set_com(np.array(com))
        found = estimate_counts(inverse, np.array(count), np.array(motor)).wrench
        np.testing.assert_allclose(found, wrench, rtol=0.0, atol=tolerance)


# Against the allocation ------------------------------------------------------------------------


@pytest.mark.parametrize('mode', MODES)
@pytest.mark.parametrize(('curve', 'method'), PAIRS)
def test_round_trip_before_stops_and_bytes(curve, method, mode):
    fam = Fam(FamParams(curve=curve, flight_mode=mode, com=COM))
    inverse = InverseFam(InverseFamParams(method=method, com=COM))
    wrench = random_wrenches(20_000, 0.5)
    asked = fam.allocate(wrench)
    free = ~fam.is_saturated(asked).any(axis=1)
    if curve == 'polynomial':
        # Beyond its largest load a plenum gives less; the table's inverse knows what was guessed.
        free &= ~fam.is_overloaded(asked).any(axis=1)
    assert free.sum() > 15_000
    found = inverse.estimate(np.arccos(asked.cosine[free]), asked.speed)
    np.testing.assert_allclose(found.wrench, wrench[free], rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(found.thrust, asked.thrust[free], rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(found.pressure, asked.pressure[free], rtol=1e-10)


SATURATED = [
    # Command, and what of it an allocation and a plant with its own leakages really give.
    pytest.param([0.6, 0, 0, 0, 0, 0], 0, 0.3565, 0.3655, id='Fx 0.6'),
    pytest.param([1.2, 0, 0, 0, 0, 0], 0, 0.331, 0.340, id='Fx 1.2 gives less'),
    pytest.param([0, 0.3, 0, 0, 0, 0], 1, 0.232, 0.242, id='Fy 0.3'),
    pytest.param([0, 0, 0.3, 0, 0, 0], 2, 0.287, 0.293, id='Fz 0.3'),
    pytest.param([0, 0, 0, 0, 0, 0.1], 5, 0.0462, 0.0471, id='Tz 0.1'),
    pytest.param([0, 0, 0, 0, 0, 0.1], 1, 0.017, 0.021, id='Tz 0.1, parasitic Fy'),
    pytest.param([0.5, 0.5, 0.5, 0, 0, 0], 0, 0.218, 0.218, id='all three, x'),
    pytest.param([0.5, 0.5, 0.5, 0, 0, 0], 1, 0.121, 0.121, id='all three, y'),
    pytest.param([0.5, 0.5, 0.5, 0, 0, 0], 2, 0.128, 0.128, id='all three, z'),
]


@pytest.mark.parametrize(('wrench', 'part', 'believed', 'plant'), SATURATED)
def test_saturated_commands_give_what_is_applied(wrench, part, believed, plant):
    fam = Fam(FamParams(com=COM))
    sent = fam.step(Command(effort=np.array(wrench, dtype=float)), STILL, 0.016, 0)
    assert sent.flags['saturated'].any()
    for method, source, expected in (
        ('closed_form', 'preset', believed), ('polynomial', 'command', plant)
    ):
        inverse = InverseFam(InverseFamParams(method=method, speed_source=source, com=COM))
        found = inverse.step(command_of(sent), STILL, 0.016, 0)
        angle, speed = sent.position[:12], inverse.speed(sent.velocity[12:])
        about_com = inverse.estimate(angle, speed).wrench
        assert about_com[part] == pytest.approx(expected, abs=6e-4)
        assert (found.effort[:12] >= 0.0).all()
        np.testing.assert_allclose(move_wrench(found.wrench, -np.array(COM)), about_com,
                                   rtol=0.0, atol=1e-15)


# Uncertainty -----------------------------------------------------------------------------------


@pytest.mark.parametrize('method', METHODS)
def test_jacobians_are_the_difference_quotients(method):
    params = InverseFamParams(method=method, com=COM)
    fam = Fam(FamParams())
    angle = fam.allocate(np.array([0.08, -0.03, 0.05, 0.003, -0.001, 0.002])).angle + 0.01
    speed = np.array([240.0, 265.0])
    by = InverseFam(params).jacobians(angle, speed)
    steps = 1e-6

    def quotient(change):
        high, low = (change(sign * steps) for sign in (1.0, -1.0))
        return (high.wrench - low.wrench) / (2.0 * steps)

    for j in range(12):
        unit = np.eye(12)[j]
        np.testing.assert_allclose(by.angle[:, j], quotient(
            lambda h, unit=unit: InverseFam(params).estimate(angle + h * unit, speed)
        ), rtol=0.0, atol=2e-8)

        def with_coefficient(h, unit=unit):
            coefficient = params.nozzles.discharge_coefficient + h * unit
            nozzles = NozzlesParams(discharge_coefficient=coefficient)
            return InverseFam(dataclasses.replace(params, nozzles=nozzles)).estimate(angle, speed)

        np.testing.assert_allclose(
            by.discharge_coefficient[:, j], quotient(with_coefficient), rtol=0.0, atol=2e-8
        )
    for j in range(2):
        np.testing.assert_allclose(by.speed[:, j], quotient(
            lambda h, j=j: InverseFam(params).estimate(angle, speed + h * np.eye(2)[j])
        ), rtol=0.0, atol=2e-8)
    np.testing.assert_allclose(by.thrust_scale[:, 0], quotient(
        lambda h: InverseFam(dataclasses.replace(params, thrust_scale=1.0 + h)).estimate(
            angle, speed
        )
    ), rtol=0.0, atol=2e-8)


@pytest.mark.parametrize('method', [
    'closed_form', pytest.param('polynomial', marks=pytest.mark.slow), 'paper',
])
def test_covariance_is_that_of_a_sample(method):
    rng = np.random.default_rng(5)
    params = InverseFamParams(
        method=method, angle_std=0.002, speed_std=0.5, discharge_coefficient_std=0.002,
        thrust_scale_std=0.004,
    )
    angle = Fam(FamParams()).allocate(np.array([0.08, -0.03, 0.05, 0.003, -0.001, 0.002])).angle
    angle = angle + 0.02
    expected = InverseFam(params).covariance(angle, NOMINAL)
    sample = []
    for _ in range(200):
        coefficient = params.nozzles.discharge_coefficient + 0.002 * rng.normal(size=12)
        drawn = dataclasses.replace(
            params, thrust_scale=1.0 + 0.004 * rng.normal(),
            nozzles=NozzlesParams(discharge_coefficient=coefficient),
        )
        # Several samples of the state for each of the constants, which are dearer.
        angles = angle + 0.002 * rng.normal(size=(20, 12))
        speeds = NOMINAL + 0.5 * rng.normal(size=(20, 2))
        sample.append(InverseFam(drawn).estimate(angles, speeds).wrench)
    wrenches, std = np.concatenate(sample), np.sqrt(np.diag(expected))
    np.testing.assert_allclose(wrenches.std(axis=0) / std, 1.0, atol=0.15)
    np.testing.assert_allclose(
        np.corrcoef(wrenches.T), expected / np.outer(std, std), rtol=0.0, atol=0.15
    )


def test_covariance_without_deviations_is_0_and_without_speed_finite():
    inverse = InverseFam(InverseFamParams())
    angle = np.full(12, 0.8)
    np.testing.assert_array_equal(inverse.covariance(angle, NOMINAL), np.zeros((6, 6)))
    uncertain = InverseFam(InverseFamParams(angle_std=0.01, speed_std=1.0, thrust_scale_std=0.1))
    np.testing.assert_array_equal(uncertain.covariance(angle, np.zeros(2)), np.zeros((6, 6)))


# Parameters and inputs -------------------------------------------------------------------------


@pytest.mark.parametrize(('source', 'measured', 'expected'), [
    pytest.param('command', [200.0, 201.0], [209.57, 261.3], id='command'),
    pytest.param('preset', None, astrobee.IMPELLER_SPEEDS[:2], id='preset'),
    pytest.param('measured', [200.0, 201.0], [200.0, 201.0], id='measured'),
    pytest.param('measured', None, [209.57, 261.3], id='measured, none heard'),
])
def test_speed_source(source, measured, expected):
    inverse = InverseFam(InverseFamParams(speed_source=source))
    inverse.set_measured_speed(measured)
    np.testing.assert_array_equal(inverse.speed(np.array([209.57, 261.3])), expected)
    inverse.reset()
    if source == 'measured':
        np.testing.assert_array_equal(inverse.speed(NOMINAL), NOMINAL)


def test_a_silent_module_has_no_thrust():
    inverse = InverseFam(InverseFamParams())
    position = np.full(14, 0.8)
    velocity = np.full(14, np.nan)
    velocity[12:] = NOMINAL
    both = inverse.step(Command(position=position, velocity=velocity), STILL, 0.016, 0)
    assert (both.thrusts > 0.01).all()
    velocity[13] = inverse.safe_command[13]
    one = inverse.step(Command(position=position, velocity=velocity), STILL, 0.016, 1)
    np.testing.assert_array_equal(one.thrusts[6:], 0.0)
    np.testing.assert_array_equal(one.thrusts[:6], both.thrusts[:6])
    nothing = inverse.step(Command(), STILL, 0.016, 2)
    np.testing.assert_array_equal(nothing.wrench, np.zeros(6))


@given(
    position=st.lists(st.floats(allow_infinity=False), min_size=14, max_size=14).map(np.array),
    velocity=st.lists(
        st.floats(min_value=0.0, allow_infinity=False), min_size=14, max_size=14
    ).map(np.array),
    method=st.sampled_from(METHODS),
)
def test_no_finite_command_makes_nan_or_pulls(position, velocity, method):
    inverse = InverseFam(InverseFamParams(method=method))
    output = inverse.step(Command(position=position, velocity=velocity), STILL, 0.016, 0)
    assert np.isfinite(output.wrench).all()
    assert (output.thrusts >= 0.0).all()
    assert output.thrusts.max() < 0.5
