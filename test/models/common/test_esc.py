# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from propulsion_ros.models.boosters.boosters import Boosters, BoostersParams
from propulsion_ros.models.boosters.params import GimbalsParams
from propulsion_ros.models.common.allocation import Allocator
from propulsion_ros.models.common.esc import Esc, EscParams
from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.rotors.rotors import Rotors, RotorsParams
from propulsion_ros.models.thrusters.thrusters import Thrusters, ThrustersParams
from propulsion_ros.settings.errors import CommandError

STILL = BodyState()
K = 1.5e-5
ROTORS = {'names': ['a', 'b'], 'max_thrust': 10.0, 'motor_constant': K}
THRUSTERS = {'names': ['a', 'b'], 'rotor_constant': 0.002}
T200 = '0 -40 0.25 -15 0.5 0 0.75 20 1 50'
throttles = st.floats(0.0, 1.0)


def esc(curve, kind='polynomial'):
    return Esc(EscParams(esc_curve=(curve,), esc_kind=kind), np.array([10.0]))


def throttle(*values):
    return Command(position=np.array(values))


@given(t=throttles, a=st.floats(0, 5), b=st.floats(0, 5), c=st.floats(0, 5))
def test_polynomial_and_its_inverse(t, a, b, c):
    curve = esc(f'{a!r} {b!r} {c!r}')
    value = curve.demand(np.array([t]))
    assert value[0] == pytest.approx(a + b * t + c * t * t, rel=1e-14)
    back = curve.throttle(value)
    assert back[0] <= t + 1e-12
    assert curve.demand(back)[0] == pytest.approx(value[0], rel=1e-12, abs=1e-12)


@given(t=throttles)
def test_table_is_linear_between_its_points(t):
    curve = esc(T200, 'table')
    expected = np.interp(t, [0, 0.25, 0.5, 0.75, 1], [-40, -15, 0, 20, 50])
    assert curve.demand(np.array([t]))[0] == expected
    assert curve.throttle(np.array([expected]))[0] == pytest.approx(t, abs=1e-14)


def test_a_flat_part_is_left_at_its_least_throttle():
    curve = esc('0 0 0.1 0 0.6 5 0.8 5 1 9', 'table')
    np.testing.assert_allclose(curve.throttle(np.array([0.0])), 0.0)
    np.testing.assert_allclose(curve.throttle(np.array([5.0])), 0.6, rtol=1e-14)


@pytest.mark.parametrize('noise', [0.0, 1e-5, -1e-5])
def test_a_reversible_one_rests_in_the_middle_of_its_dead_zone(noise):
    curve = esc('0 -40 0.45 0 0.55 0 1 50', 'table')
    assert curve.throttle(np.array([noise]))[0] == pytest.approx(0.5, abs=1e-7)
    np.testing.assert_allclose(curve.throttle(np.array([1e-3])), 0.55, atol=1e-4)


def test_throttles_beyond_the_range_are_clamped_and_nan_is_none():
    for curve in (esc('0 10'), esc('0 0 1 10', 'table')):
        got = curve.demand(np.array([[-1.0], [2.0], [np.nan]]))
        np.testing.assert_array_equal(got, [[0.0], [10.0], [np.nan]])


# Families.


def test_rotors_by_throttle_to_thrust_in_proportion():
    model = Rotors(RotorsParams(**ROTORS, command_interface='throttle'))
    assert model.command_fields == ('position', 'position')
    output = model.step(throttle(0.5, 1.0), STILL, 0.01, 0)
    np.testing.assert_allclose(output.applied, [5.0, 10.0], rtol=1e-14)
    assert not output.flags['saturated'].any()
    output = model.step(throttle(1.2, np.nan), STILL, 0.01, 0)
    np.testing.assert_allclose(output.applied, [10.0, 0.0], atol=1e-15)
    np.testing.assert_array_equal(output.flags['saturated'], [True, False])


def test_rotors_by_throttle_to_speed():
    model = Rotors(RotorsParams(
        **ROTORS, min_thrust=0.6, command_interface='throttle', esc_gives='speed',
        esc_curve=['100 700', '0 900 -100'],
    ))
    output = model.step(throttle(0.5, 0.5), STILL, 0.01, 0)
    np.testing.assert_allclose(output.velocity, [450.0, 425.0], rtol=1e-12)
    np.testing.assert_allclose(
        model.step(Command(position=model.safe_command), STILL, 0.01, 0).applied, 0.6, rtol=1e-9
    )


def test_thrusters_by_throttle_to_thrust_and_to_speed():
    model = Thrusters(ThrustersParams(
        **THRUSTERS, command_interface='throttle', esc_kind='table', esc_curve=T200,
    ))
    np.testing.assert_allclose(
        model.step(throttle(0.25, 0.8), STILL, 0.01, 0).applied, [-15.0, 26.0], rtol=1e-12
    )
    output = model.step(Command(position=model.safe_command), STILL, 0.01, 0)
    np.testing.assert_allclose(output.applied, 0.0, atol=1e-12)
    model = Thrusters(ThrustersParams(
        **THRUSTERS, command_interface='throttle', esc_gives='speed', esc_curve='-200 400',
    ))
    output = model.step(throttle(0.75, 0.5), STILL, 0.01, 0)
    np.testing.assert_allclose(output.velocity, [100.0, 0.0], atol=1e-12)


def test_boosters_by_throttle_light_and_shut_down():
    model = Boosters(BoostersParams(
        names=['a'], max_thrust=100.0, min_thrust=30.0, max_fuel_rate=0.5,
        command_interface='throttle', gimbals=GimbalsParams(booster=['a']),
    ))
    assert model.command_fields == ('position',) * 3
    for value, thrust, saturated in ((0.5, 50.0, False), (0.1, 30.0, True), (1.5, 100.0, True),
                                     (0.0, 0.0, False), (np.nan, 0.0, False)):
        output = model.step(throttle(value, 0.05, 0.0), STILL, 0.01, 0)
        assert output.applied[0] == pytest.approx(thrust)
        assert output.flags['saturated'][0] == saturated
        assert output.position[1] == pytest.approx(0.05)
    with pytest.raises(CommandError, match=r'^a: position -0.1 is negative, a booster only push'):
        model.check_command(throttle(-0.1, 0.0, 0.0))


@pytest.mark.parametrize(('curve', 'more', 'limits'), [
    pytest.param('0 -40 0.5 0 1 50', {}, (-40.0, 50.0), id='both ways'),
    pytest.param('0 -40 0.5 0 1 50', {'max_thrust': 30.0}, (-40.0, 30.0), id='limited'),
    pytest.param('0 0 1 50', {}, (0.0, 50.0), id='ahead'),
    pytest.param('0 -300 0.5 0 1 200', {'esc_gives': 'speed'}, (-90.0, 40.0), id='speed'),
    pytest.param('0 -300 0.5 0 1 200', {'esc_gives': 'speed', 'max_command': 100.0},
                 (-90.0, 10.0), id='limited speed'),
])
def test_a_thruster_pushes_no_more_than_its_curve_asks_for(curve, more, limits):
    """Limits were none, so that `check` had no thrust and an allocator no limits."""
    model = Thrusters(ThrustersParams(
        names=['a', 'b'], rotor_constant=1e-3, command_interface='throttle', esc_kind='table',
        esc_curve=curve, **more,
    ))
    for end, limit in zip(model.thrust_limits, limits, strict=True):
        assert end == pytest.approx([limit] * 2)
        output = model.step(Command(position=model.command_for(end)), STILL, 0.01, 0)
        assert output.applied == pytest.approx(end)


@pytest.mark.parametrize('model', [
    Rotors(RotorsParams(**ROTORS, command_interface='throttle', esc_curve='0 4 6')),
    Rotors(RotorsParams(
        **ROTORS, command_interface='throttle', esc_gives='speed', esc_curve='0 900',
    )),
    Thrusters(ThrustersParams(
        **THRUSTERS, command_interface='throttle', esc_kind='table', esc_curve=T200,
        max_thrust=40.0,
    )),
])
def test_allocation_commands_throttles_that_settle_at_the_thrusts(model):
    assert Allocator(model.allocation_matrix, *model.thrust_limits)
    wanted = np.array([4.0, 7.5])
    output = model.step(Command(position=model.command_for(wanted)), STILL, 0.01, 0)
    np.testing.assert_allclose(output.applied, wanted, rtol=1e-9)
