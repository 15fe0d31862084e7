# SPDX-License-Identifier: Apache-2.0
"""The simulated modules against what Astrobee's own simulator did."""
import numpy as np
import pytest
from golden import vectors_of
from hypothesis import given, settings
from hypothesis import strategies as st

from parts import amount
from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.fam import constants as astrobee
from propulsion_ros.models.fam.inverse_fam import InverseFam
from propulsion_ros.models.fam.params import angle_from_count
from propulsion_ros.models.fam.propulsion_module import PropulsionModules, PropulsionModulesParams
from propulsion_ros.settings.errors import CommandError

RECORDED = vectors_of('pmc_sim')
HISTORIES = [pytest.param(each, id=each['name']) for each in RECORDED['histories']]
STILL = BodyState()
DT = 0.016
ORIGINAL = {'curve': 'table', 'thrust_scale': 1.25, 'gyroscopic_torque': 'original'}
PLAIN = PropulsionModulesParams()


def command(counts, motors, params=PLAIN) -> Command:
    """Return a command of servo counts (..., 12) and motor counts (..., 2)."""
    counts, motors = np.asarray(counts, dtype=float), np.asarray(motors, dtype=float)
    return Command(
        position=np.concatenate((angle_from_count(counts, params), motors * np.nan), axis=-1),
        velocity=np.concatenate((counts * np.nan, motors / astrobee.COUNTS_PER_SPEED), axis=-1),
    )


@pytest.mark.parametrize('recorded', HISTORIES)
def test_recorded_history(recorded):
    params = PropulsionModulesParams(**ORIGINAL)
    modules = PropulsionModules(params)
    body = BodyState(angular_velocity=np.array(recorded['omega']))
    changes = {row[0]: row[1:] for row in recorded['command_changes']}
    places = {k: i for i, k in enumerate(recorded['k'])}
    seen = 0
    for k in range(recorded['n_steps']):
        if k in changes:
            asked = command(changes[k][2:], changes[k][:2], params)
        output = modules.step(asked, body, DT, k)
        if k not in places:
            continue
        seen += 1
        state = {key: recorded[key][places[k]] for key in (
            'thrust', 'force', 'torque', 'theta', 'impeller_speed'
        )}

        def same(ours, key, tolerance, state=state, k=k):
            np.testing.assert_allclose(ours, state[key], 0.0, tolerance, err_msg=f'{key} at {k}')

        same(output.effort[:12], 'thrust', 2e-6)
        same(output.wrench[:3], 'force', 2e-6)
        same(output.wrench[3:], 'torque', 3e-6)
        same(output.position[:12] - params.min_angle, 'theta', 1e-6)
        # The original's ramp rounds the same way at each step: 1.4e-3 in all. The same equations
        # in single precision meet the record to 5e-7.
        same(output.velocity[12:], 'impeller_speed', 2e-3)
    assert seen > 140


@pytest.mark.parametrize(('curve', 'tolerance'), [
    pytest.param('table', 1e-6, id='table'),
    # The rest is the table's interpolation.
    pytest.param('polynomial', 4e-5, id='polynomial'),
])
def test_recorded_steady_states(curve, tolerance):
    recorded = RECORDED['steady']
    params = PropulsionModulesParams(curve=curve, thrust_scale=1.25)
    modules = PropulsionModules(params, (len(recorded['thrust']),))
    asked = command(recorded['nozzle_position_byte'], recorded['motor_speed_cmd'], params)
    modules.step(asked, STILL, 60.0, 0)
    np.testing.assert_allclose(modules.thrust, recorded['thrust'], rtol=0.0, atol=tolerance)
    np.testing.assert_allclose(
        modules.impeller_speed, recorded['impeller_speed'], rtol=1e-6
    )


@given(parts=st.lists(st.floats(1e-4, 0.1), min_size=1, max_size=12))
@settings(max_examples=amount('rest', 10, 100), deadline=None)
def test_splitting_a_step_changes_nothing(parts):
    asked, total = command(np.arange(12) * 20, [207, 166]), sum(parts)
    whole, split = PropulsionModules(PLAIN), PropulsionModules(PLAIN)
    for modules in (whole, split):
        modules.step(asked, STILL, 2.0, 0)
    impulse = whole.step(asked, STILL, total, 1).wrench * total
    pieces = sum(split.step(asked, STILL, part, 1).wrench * part for part in parts)
    np.testing.assert_allclose(pieces, impulse, rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(split.impeller_speed, whole.impeller_speed, rtol=0.0, atol=1e-4)


def test_angular_momentum_is_conserved():
    # With shut nozzles all that acts on the body is what the impellers take.
    modules = PropulsionModules(PLAIN)
    impulse = np.zeros(3)
    for k in range(500):
        output = modules.step(command(np.zeros(12), [207, 0]), STILL, DT, k)
        nozzles = PLAIN.allocation_matrix @ output.thrusts
        impulse += (output.wrench - nozzles)[3:] * DT
    momentum = astrobee.IMPELLER_INERTIA * modules.impeller_speed @ [[0, 1, 0], [0, -1, 0]]
    np.testing.assert_allclose(impulse, -momentum, rtol=0.0, atol=1e-12)
    assert momentum[1] > 0.1


@pytest.mark.parametrize(('sense', 'sign'), [('newton', -1.0), ('original', 1.0), ('none', 0.0)])
def test_gyroscopic_torque(sense, sign):
    params = PropulsionModulesParams(gyroscopic_torque=sense)
    body = BodyState(angular_velocity=np.array([0.0, 0.0, 0.5]))
    found = []
    for motion in (body, STILL):
        modules = PropulsionModules(params)
        modules.step(command(np.zeros(12), [207, 0]), motion, 20.0, 0)
        found.append(modules.step(command(np.zeros(12), [207, 0]), motion, DT, 1).wrench)
    momentum = np.array([0.0, astrobee.IMPELLER_INERTIA * modules.impeller_speed[0], 0.0])
    expected = sign * np.cross([0.0, 0.0, 0.5], momentum)
    np.testing.assert_allclose((found[0] - found[1])[3:], expected, rtol=0.0, atol=1e-14)
    assert PropulsionModules(params).uses_body == (sign != 0.0)


@given(
    position=st.lists(st.floats(allow_infinity=False), min_size=14, max_size=14).map(np.array),
    velocity=st.lists(st.floats(allow_infinity=False), min_size=14, max_size=14).map(np.array),
    dt=st.floats(1e-6, 2.0),
)
@settings(max_examples=amount('rest', 15, 100), deadline=None)
def test_no_finite_command_leaves_the_stops(position, velocity, dt):
    modules = PropulsionModules(PLAIN)
    asked = Command(position=position, velocity=velocity)
    for k in range(3):
        output = modules.step(asked, STILL, dt, k)
    assert np.isfinite(output.wrench).all()
    angle = output.position[:12]
    assert (angle >= astrobee.MIN_ANGLE).all()
    assert (angle <= astrobee.MAX_ANGLE + 1e-12).all()
    assert (modules.impeller_speed >= 0.0).all()


@pytest.mark.parametrize('family', [PropulsionModules, InverseFam])
def test_a_negative_speed_is_refused_by_name(family):
    velocity = np.r_[np.full(12, np.nan), -3.0, 1.0]
    with pytest.raises(CommandError, match='impeller_1: velocity -3 rad/s is negative'):
        family(family.Params()).check_command(Command(velocity=velocity))
    family(family.Params()).check_command(Command())


def test_a_step_of_too_many_periods_of_the_control_is_refused():
    modules = PropulsionModules(PropulsionModulesParams())
    with pytest.raises(CommandError, match='dt: expected at most 60 s, got 1e'):
        modules.step(Command(), BodyState(), 1e300, 0)
