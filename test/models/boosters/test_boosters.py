# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from propulsion_ros.models.boosters.boosters import Boosters, BoostersParams
from propulsion_ros.models.common.family import BodyState, Command, Output
from propulsion_ros.models.supply.tanks import TanksParams
from propulsion_ros.settings.errors import CommandError

STILL = BodyState()


def boosters(**kwargs) -> Boosters:
    return Boosters(BoostersParams(**{
        'names': ['a'], 'max_thrust': 100.0, 'max_fuel_rate': 0.5, **kwargs,
    }))


def fuelled(capacity, **kwargs) -> Boosters:
    """Return boosters on tanks 't0', 't1', ... of given capacities; each on its own by default."""
    names = [f't{i}' for i in range(len(capacity))]
    tanks = TanksParams(names=names, capacity=capacity, inertia=[1.0, 2.0, 3.0])
    return boosters(tanks=tanks, **{
        'names': [f'b{i}' for i in range(len(names))], 'tank': names, **kwargs,
    })


def push(model: Boosters, *effort: float, dt: float = 0.1, tick: int = 0) -> Output:
    return model.step(Command(effort=np.array(effort)), STILL, dt, tick)


def shown(model: Boosters, output: Output, name: str) -> float:
    """Return the position or effort published under a name."""
    i = list(model.state_names).index(name)
    position = output.position[..., i]
    return np.where(np.isnan(position), output.effort[..., i], position)


# What a command means.


@pytest.mark.parametrize(
    ('effort', 'lit', 'thrust', 'saturated'),
    [
        pytest.param(0.0, False, 0.0, False, id='zero shuts down'),
        pytest.param(-0.0, False, 0.0, False, id='minus zero shuts down'),
        pytest.param(np.nan, False, 0.0, False, id='nan shuts down'),
        pytest.param(1e-9, True, 20.0, True, id='a little is the least that burns'),
        pytest.param(20.0, True, 20.0, False, id='least'),
        pytest.param(50.0, True, 50.0, False, id='between'),
        pytest.param(100.0, True, 100.0, False, id='most'),
        pytest.param(1e300, True, 100.0, True, id='more'),
    ],
)
def test_effort_is_thrust(effort, lit, thrust, saturated):
    model = boosters(min_thrust=20.0)
    push(model, 50.0)
    output = push(model, effort)
    assert output.applied == pytest.approx([thrust], rel=1e-15)
    np.testing.assert_allclose(output.wrench, [0, 0, thrust, 0, 0, 0], rtol=1e-15)
    assert output.flags['saturated'] == [saturated]
    assert model.ignition == [lit]
    assert shown(model, output, 'a') == output.applied
    assert shown(model, output, 'a/ignition') == lit
    assert shown(model, output, 'a/throttle') == pytest.approx(thrust / 100.0, rel=1e-15)


@pytest.mark.parametrize(
    'effort', [np.array([1.0, -3.0]), np.array([[1.0, 2.0], [5.0, -3.0]])], ids=['one', 'batch']
)
def test_negative_effort_is_refused(effort):
    model = boosters(names=['a', 'b'])
    with pytest.raises(CommandError) as error:
        model.check_command(Command(effort=effort))
    assert str(error.value) == 'b: effort -3 N is negative, a booster only pushes'


def test_a_booster_that_cannot_be_cut_burns_until_its_tank_is_empty():
    model = fuelled([0.2], min_thrust=20.0, reignitable=False)
    efforts = (0.0, np.nan, 60.0, 0.0, np.nan, 80.0)
    thrusts = [push(model, effort).applied[0] for effort in efforts]
    assert thrusts == pytest.approx([0.0, 0.0, 60.0, 20.0, 20.0, 80.0], rel=1e-15)
    for _ in range(40):
        output = push(model, 0.0)
    assert output.applied == [0.0]
    assert output.flags['dry'] == [True]
    assert shown(model, output, 't0/fuel_ratio') == 0.0


@given(st.lists(st.floats(0.0, 0.3), min_size=1, max_size=8))
def test_step_response_is_the_closed_form_whatever_the_steps(steps):
    model = boosters(time_constant=0.1, step_value='end')
    for dt in steps:
        output = push(model, 80.0, dt=dt)
    assert output.applied[0] == pytest.approx(-80.0 * np.expm1(-sum(steps) / 0.1), abs=1e-11)


# Propellant and impulse.


def test_boosters_that_empty_a_tank_share_what_is_left_by_hand():
    # They want 0.5 * 2 + 1.5 * 2 = 4 kg and find 1 kg; the third has its own.
    model = fuelled(
        [1.0, 9.0], names=['a', 'b', 'c'], tank=['t0', 't0', 't1'],
        max_thrust=[100.0, 300.0, 50.0], max_fuel_rate=[0.5, 1.5, 0.25],
    )
    output = push(model, 100.0, 300.0, 50.0, dt=2.0)
    np.testing.assert_allclose(output.applied, [25.0, 75.0, 50.0], rtol=1e-15)
    np.testing.assert_allclose(output.computed, [100.0, 300.0, 50.0], rtol=1e-15)
    np.testing.assert_array_equal(output.tanks.mass, [0.0, 8.5])
    np.testing.assert_array_equal(output.flags['dry'], [True, False])
    np.testing.assert_allclose(push(model, 100.0, 300.0, 50.0).applied, [0.0, 0.0, 50.0])


def test_a_booster_without_a_tank_never_runs_dry():
    model = fuelled([0.01], names=['a', 'b'], tank=['t0', ''])
    push(model, 100.0, 100.0, dt=100.0)
    np.testing.assert_array_equal(push(model, 100.0, 100.0, dt=100.0).applied, [0.0, 100.0])


# Noise.


def test_noise_depends_on_seed_and_tick_alone_and_never_pulls():
    model = boosters(names=['a', 'b', 'c'], noise_ratio=1.0, noise_seed=[1, 2, 1])
    drawn = np.stack([push(model, 100.0, 100.0, 100.0, tick=k).applied for k in range(500)])
    np.testing.assert_array_equal(drawn[:, 0], drawn[:, 2])
    assert abs(np.corrcoef(drawn[:, :2].T)[0, 1]) < 0.2
    assert drawn.min() == 0.0
    np.testing.assert_array_equal(push(model, 100.0, 100.0, 100.0, tick=123).applied, drawn[123])
    np.testing.assert_array_equal(model.throttle, [1.0, 1.0, 1.0])
