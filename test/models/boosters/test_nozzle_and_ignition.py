# SPDX-License-Identifier: Apache-2.0
"""Thrust over pressure, ignition delay, misalignment, specific impulse and grains of boosters."""
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from propulsion_ros.models.boosters.boosters import Boosters, BoostersParams
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY, temperature_and_pressure
from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.supply.tanks import Tanks, TanksParams

STILL, ON = BodyState(), Command(effort=[1e9])
# A motor of RocketPy 1.11: five grains, thrust (0, 0), (0.05, 1500), ... (3.9, 0).
CURVE = '0 0 0.05 1500 0.3 2000 2.5 1600 3.6 400 3.9 0'
PROPELLANT, IMPULSE = 2.955911961392022, 5595.0
GRAINS = {
    'grain_outer_radius': 0.033, 'grain_inner_radius': 0.015, 'grain_length': 0.12,
    'grain_count': 5, 'grain_separation': 0.005,
}
# Time, propellant mass, its moments across and along, thrust, and what 50 kPa add, from RocketPy.
ROCKETPY = [
    (0.45, 2.5475513179925784, 0.0832983545078754, 0.0017825066940879671, 1972.7272727272727),
    (0.9, 2.08831730467683, 0.06811898039506996, 0.0015732061246069436, 1890.909090909091),
    (1.35, 1.6484627996241177, 0.05366439192147841, 0.0013362913608748104, 1809.090909090909),
    (1.8, 1.2281329936772183, 0.03991484850985595, 0.0010698130039653892, 1727.2727272727273),
    (2.25, 0.8272602766394381, 0.02684940744103681, 0.00077315250415092, 1645.4545454545455),
    (2.7, 0.45532318198293487, 0.0147613835115825, 0.00045528125185602094, 1381.8181818181822),
    (3.15, 0.18592280729016045, 0.006023333156038508, 0.0001953334011740058, 890.9090909090911),
    (3.6, 0.03169879110526027, 0.0010265598264439972, 3.431119128357123e-05, 400.0),
]
ROCKETPY_ADDED = 175.5928025676453


def booster(**values):
    return Boosters(BoostersParams(**{
        'names': ['a'], 'max_thrust': 1000.0, 'max_fuel_rate': 0.5, **values,
    }))


def solid(**values):
    return booster(
        max_thrust=2000.0, thrust_curve=CURVE, max_fuel_rate=2000.0 * PROPELLANT / IMPULSE,
        tank='grains', tanks=TanksParams(names=['grains'], capacity=PROPELLANT, **GRAINS), **values,
    )


def test_a_motor_burns_as_rocketpy_has_it():
    model, dt = solid(), 1e-3
    rows = {round(row[0] / dt): row for row in ROCKETPY}
    for tick in range(1, 3601):
        output = model.step(ON, STILL, dt, tick)
        if tick in rows:
            _, mass, across, along, thrust = rows[tick]
            moments = np.diag(output.tanks.inertia[0])
            # To a thousandth of what there was at the start.
            assert output.tanks.mass[0] == pytest.approx(mass, abs=1e-3 * PROPELLANT)
            np.testing.assert_allclose(moments, [across, across, along], rtol=0, atol=9.7e-5)
            assert moments[2] == pytest.approx(along, abs=2e-6)
            assert output.applied[0] == pytest.approx(thrust, abs=2.0)


@pytest.mark.parametrize('height', [0.0, 5579.326, 30e3])
def test_thrust_rises_as_the_pressure_falls(height):
    area = np.pi * 0.033**2
    model = booster(exit_area=area, site_altitude=100.0)
    assert model.uses_body
    output = model.step(ON, BodyState(height=np.array(height - 100.0)), 0.01, 0)
    pressure = temperature_and_pressure(height)[1]
    added = (101_325.0 - pressure) * area
    assert output.applied[0] == pytest.approx(1000.0 + added, rel=3e-8)
    if height == 5579.326:
        # There are 50 kPa; RocketPy's own atmosphere is this one.
        assert added == pytest.approx(ROCKETPY_ADDED, rel=1e-4)
    assert model.step(Command(effort=[0.0]), BodyState(height=np.array(height)), 0.01, 1) \
        .applied[0] == 0.0


def test_without_a_height_the_thrust_is_that_at_the_reference():
    assert booster(exit_area=0.01).step(ON, STILL, 0.01, 0).applied[0] == 1000.0


@pytest.mark.parametrize('dt', [0.01, 0.3, 0.07])
def test_a_delayed_ignition_shifts_the_impulse(dt):
    """Also where it ends within a step, for a booster that follows at once and for a solid one."""
    for model, wanted in (
        (booster(ignition_delay=0.25), 1000.0 * (6.0 * 0.7 - 0.25)),
        (solid(ignition_delay=0.25), IMPULSE),
    ):
        given = [model.step(ON, STILL, dt, i).applied[0] * dt for i in range(round(4.2 / dt))]
        assert sum(given[: int(0.25 / dt)]) == pytest.approx(0.0, abs=1e-9)
        assert sum(given) == pytest.approx(wanted, rel=1e-9)


def test_a_solid_motor_burns_once_its_igniter_was_on_and_another_waits_anew():
    once = Command(effort=[1.0])
    off = Command(effort=[0.0])
    motor, engine = solid(ignition_delay=0.1), booster(ignition_delay=0.1)
    for model in (motor, engine):
        model.step(once, STILL, 0.05, 0)
    assert motor.step(off, STILL, 0.2, 1).applied[0] > 0.0
    assert engine.step(off, STILL, 0.2, 1).applied[0] == 0.0
    assert engine.step(once, STILL, 0.1, 2).applied[0] == 0.0
    assert engine.step(once, STILL, 0.1, 3).applied[0] > 0.0


def test_a_reset_waits_anew():
    model = booster(ignition_delay=0.1)
    for _ in range(2):
        assert model.step(ON, STILL, 0.1, 0).applied[0] == 0.0
        assert model.step(ON, STILL, 0.1, 1).applied[0] == 1000.0
        model.reset()
    model.rest()
    assert model.step(ON, STILL, 0.1, 0).applied[0] == 0.0
    model.reset(state={'throttle': [0.5], 'ignition': [1.0]})
    assert model.step(ON, STILL, 0.1, 0).applied[0] == 1000.0


def test_a_misaligned_thrust_is_turned_in_its_link():
    turn, rotation = np.array([0.01, -0.02, 0.005]), Rotation.random(random_state=3)
    axis, place = rotation.as_matrix()[:, 2], np.array([0.1, 0.2, -1.0])
    model = booster(
        axis=axis, rotation=rotation.as_matrix(), position=place, misalignment=turn,
    )
    aimed = (rotation * Rotation.from_rotvec(turn)).apply([0.0, 0.0, 1.0])
    output = model.step(ON, STILL, 0.01, 0)
    np.testing.assert_allclose(
        output.wrench, 1000.0 * np.r_[aimed, np.cross(place, aimed)], rtol=1e-12
    )
    link = model.link_wrenches(output)[0, :3]
    np.testing.assert_allclose(link, 1000.0 * rotation.inv().apply(aimed), rtol=1e-9)
    # An allocator cannot know it.
    np.testing.assert_allclose(model.allocation_matrix[:3, 0], axis)


def test_a_specific_impulse_gives_the_fuel_rate():
    params = BoostersParams(names=['a', 'b'], max_thrust=1000.0, specific_impulse=[250.0, 0.0],
                            max_fuel_rate=[-1.0, 0.3])
    np.testing.assert_allclose(params.max_fuel_rate, [1000.0 / (250.0 * STANDARD_GRAVITY), 0.3])
    again = BoostersParams(**vars(params))
    np.testing.assert_array_equal(again.max_fuel_rate, params.max_fuel_rate)


def test_grains_lie_along_z_of_their_link_and_other_tanks_stay_as_they_are():
    turn = Rotation.from_euler('y', 0.5).as_matrix()
    tanks = Tanks(TanksParams(
        names=['g', 'liquid'], capacity=[1.0, 2.0], grain_outer_radius=[0.05, 0.0],
        grain_inner_radius=0.02, grain_length=0.1, inertia=[0, 0, 0, 1.0, 2.0, 3.0],
        rotation=[turn, np.eye(3)],
    ))
    state = tanks.state()
    bore = 0.05**2 + 0.02**2
    across, along = bore / 4.0 + 0.01 / 12.0, bore / 2.0
    own = np.diag([across, across, along])
    np.testing.assert_allclose(state.inertia[0], turn @ own @ turn.T, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(state.inertia[1], np.diag([1.0, 2.0, 3.0]))
