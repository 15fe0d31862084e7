# SPDX-License-Identifier: Apache-2.0
"""The force allocation against what Astrobee's own code computed, and against its equations."""
import dataclasses
from pathlib import Path

import numpy as np
import pytest
import yaml
from golden import vectors_of
from hypothesis import given
from hypothesis import strategies as st

from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.fam import constants as astrobee
from propulsion_ros.models.fam.curve import flow_area
from propulsion_ros.models.fam.fam import Fam, FamParams
from propulsion_ros.models.fam.inverse_fam import InverseFam
from propulsion_ros.models.fam.params import NozzlesParams
from propulsion_ros.models.fam.propulsion_module import PropulsionModules
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import build, parameters_of

ROOT = Path(__file__).parents[3]
RECORDED = vectors_of('fam_forward')
MODES = ('off', 'quiet', 'nominal', 'precision')
STILL = BodyState()
CURVES = ('table', 'polynomial')


def commanded(wrench) -> Command:
    return Command(effort=np.asarray(wrench, dtype=float))


def sent(fam: Fam, wrench):
    return fam.step(commanded(wrench), STILL, 0.016, 0)


@pytest.fixture(scope='module')
def replayed():
    """Allocate every recorded command with the settings of the original."""
    fam, found = Fam(FamParams()), []
    rows = zip(*(RECORDED[key] for key in ('speed_gain_cmd', 'com', 'force', 'torque')),
               strict=True)
    for speed, com, force, torque in rows:
        fam.retune(FamParams(flight_mode=MODES[speed]))
        fam.set_com(np.array(com))
        found.append(fam.allocate(np.array([*force, *torque])))
    return found


def test_recorded_commands_are_all_there(replayed):
    assert len(replayed) == 869
    assert np.bincount(RECORDED['speed_gain_cmd']).min() > 200


def test_recorded_bytes_are_equal_in_every_case(replayed):
    np.testing.assert_array_equal(
        [each.servo_count for each in replayed], RECORDED['nozzle_position_byte']
    )
    np.testing.assert_array_equal(
        [each.motor_count for each in replayed], RECORDED['motor_speed_cmd']
    )


def test_recorded_thrusts_and_pressures(replayed):
    thrust = np.array([each.thrust for each in replayed])
    np.testing.assert_allclose(thrust, RECORDED['thrust'], rtol=0.0, atol=2e-6)
    pressure = np.array([each.pressure for each in replayed])
    np.testing.assert_allclose(pressure, RECORDED['delta_p'], rtol=2e-5, atol=0.0)


# The equations ---------------------------------------------------------------------------------


def test_polynomial_pressure_is_where_impeller_and_openings_agree():
    params = FamParams(curve='polynomial')
    asked = Fam(params).allocate(np.array([0.05, 0.03, -0.04, 0.001, 0.002, -0.003]))
    load = (asked.thrust / params.nozzles.discharge_coefficient).reshape(2, 6).sum(axis=1)
    speed = astrobee.IMPELLER_SPEEDS[1]
    scale = params.air_density * astrobee.IMPELLER_DIAMETER ** 2 * speed ** 2
    for p in range(2):
        # The flow that the polynomial needs for this pressure must leave through the openings.
        roots = np.roots([*astrobee.PRESSURE_POLYNOMIAL[:-1],
                          astrobee.PRESSURE_POLYNOMIAL[-1] - asked.pressure[p] / scale])
        flow = roots[(abs(roots.imag) < 1e-9) & (roots.real > 0.2) & (roots.real < 0.334)].real
        leaves = astrobee.ZERO_THRUST_AREAS[p] + 0.5 * load[p] / asked.pressure[p]
        assert np.abs(flow_area(flow) - leaves).min() < 1e-14


# Saturation, modes, hard cases -----------------------------------------------------------------


@pytest.mark.parametrize('curve', CURVES)
def test_overload_is_where_the_plenum_has_no_more_thrust(curve):
    fam = Fam(FamParams(curve=curve))
    force = np.zeros((2000, 6))
    force[:, 0] = np.linspace(0.0, 0.8, 2000)
    asked = fam.allocate(force)
    load = asked.thrust / FamParams().nozzles.discharge_coefficient
    # 0.30206 N per plenum is the largest of the original's table, at the nominal speed.
    largest = {'table': (0.30206, 0.30206), 'polynomial': (0.302075, 0.313411)}[curve]
    for p in range(2):
        total = load[:, 6 * p:6 * p + 6].sum(axis=1)
        overloaded = fam.is_overloaded(asked)[:, p]
        assert total[~overloaded].max() < largest[p] + 1e-5
        assert total[overloaded].min() > largest[p] - 1e-5
        np.testing.assert_array_equal(overloaded, np.arange(2000) >= np.argmax(overloaded))


@pytest.mark.parametrize(('closes', 'count'), [(False, 254), (True, 0)])
@pytest.mark.parametrize('curve', CURVES)
def test_mode_off(curve, closes, count):
    fam = Fam(FamParams(close_when_off=closes, curve=curve))
    fam.retune(FamParams(flight_mode='off'))
    fam.reset()
    output = sent(fam, [0.1, 0, 0, 0, 0, 0])
    assert set(fam.allocate(np.ones(6)).servo_count) == {count}
    np.testing.assert_array_equal(output.velocity[12:], 0.0)
    np.testing.assert_array_equal(output.wrench, 0.0)
    assert not output.flags['overloaded'].any()


@given(
    effort=st.lists(
        st.floats(allow_infinity=False), min_size=6, max_size=6
    ).map(np.array),
    curve=st.sampled_from(CURVES),
    mode=st.sampled_from(MODES),
)
def test_no_finite_or_missing_command_makes_nan(effort, curve, mode):
    output = sent(Fam(FamParams(curve=curve, flight_mode=mode)), effort)
    angle, speed = output.position[:12], output.velocity[12:]
    assert np.isfinite(output.wrench).all()
    assert ((angle >= astrobee.MIN_ANGLE) & (angle <= astrobee.MAX_ANGLE)).all()
    assert np.isfinite(speed).all()


def test_quantised_state_means_counts():
    output = sent(Fam(FamParams()), [0.1, 0.02, 0, 0, 0.002, 0])
    count = (output.position[:12] - astrobee.MIN_ANGLE) / (
        (astrobee.MAX_ANGLE - astrobee.MIN_ANGLE) / 255
    )
    np.testing.assert_allclose(count, np.round(count), atol=1e-10)
    np.testing.assert_allclose(output.velocity[12:], 207 / 0.792095, rtol=1e-15)
    exact = sent(Fam(FamParams(quantise=False)), [0.1, 0.02, 0, 0, 0.002, 0])
    np.testing.assert_allclose(exact.velocity[12:], astrobee.IMPELLER_SPEEDS[1], rtol=1e-15)
    np.testing.assert_allclose(exact.wrench, [0.1, 0.02, 0, 0, 0.002, 0], rtol=0, atol=5e-5)


# Configuration ---------------------------------------------------------------------------------


def astrobee_nozzles(**changed) -> NozzlesParams:
    return dataclasses.replace(NozzlesParams(), **changed)


@pytest.mark.parametrize(('make', 'message'), [
    pytest.param(
        lambda: FamParams(nozzles=astrobee_nozzles(
            position=[*astrobee.NOZZLE_POSITIONS[:-1], 0.0]
        )), None, id='moved along its axis',
    ),
    pytest.param(
        lambda: FamParams(nozzles=astrobee_nozzles(
            position=[*astrobee.NOZZLE_POSITIONS[:-2], 0.0, astrobee.NOZZLE_POSITIONS[-1]]
        )), 'equal thrusts of nozzle_5, nozzle_6, nozzle_11, nozzle_12 along one line do not',
        id='unbalanced',
    ),
    pytest.param(
        lambda: FamParams(nozzles=NozzlesParams(
            names=['a', 'b'], impeller='impeller_1', width=0.1, discharge_coefficient=0.9,
            position=[0.0] * 6, axis=[1.0, 0, 0, -1.0, 0, 0],
        )), 'the nozzles reach 1 of the 6 parts of a wrench', id='rank',
    ),
    pytest.param(
        lambda: NozzlesParams(axis=[0.0] * 36), 'expected a direction', id='no direction'
    ),
])
def test_refused(make, message):
    if message is None:
        make()
        return
    with pytest.raises(ConfigError, match=message):
        make()


def test_two_lines_of_different_length_share_one_table():
    # Sixteen nozzles: four more along x, so that lines hold 8, 4 and 4.
    shape = NozzlesParams()
    extra = [0, 1, 6, 7]
    params = FamParams(nozzles=NozzlesParams(
        names=[*shape.names, *'abcd'], impeller=[*shape.impeller, *np.take(shape.impeller, extra)],
        width=[*shape.width, *shape.width[extra]],
        discharge_coefficient=[*shape.discharge_coefficient, *shape.discharge_coefficient[extra]],
        position=np.concatenate([shape.position, shape.position[extra]]),
        axis=np.concatenate([shape.axis, shape.axis[extra]]),
    ))
    wrench = np.array([0.1, -0.05, 0.02, 0.003, 0.001, -0.002])
    thrust = Fam(params).allocate(wrench).thrust
    assert (thrust >= 0.0).all()
    np.testing.assert_allclose(params.allocation_matrix @ thrust, wrench, rtol=0, atol=1e-15)


FLAPS = Command(position=[0.9] * 12 + [np.nan] * 2, velocity=[np.nan] * 12 + [200.0] * 2)


@pytest.mark.parametrize(('node', 'family', 'command'), [
    pytest.param('fam', Fam, commanded(np.full(6, 0.01)), id='fam'),
    pytest.param('inverse_fam', InverseFam, FLAPS, id='inverse_fam'),
    pytest.param('propulsion_modules', PropulsionModules, FLAPS, id='propulsion_modules'),
])
def test_shipped_configuration_is_the_default(node, family, command):
    shipped = yaml.safe_load((ROOT / 'config/fam.yaml').read_text())[f'/**/{node}']
    shipped = shipped['ros__parameters']
    known = {parameter.key for parameter in parameters_of(family.Params)}
    assert set(shipped) - known <= {'update_rate', 'command_timeout'}
    own, default = (
        family(params).step(command, STILL, 1.0, 0).wrench
        for params in (build(family.Params, shipped), family.Params())
    )
    np.testing.assert_allclose(own, default, rtol=0.0, atol=1e-8)
