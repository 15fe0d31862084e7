# SPDX-License-Identifier: Apache-2.0
"""Jets by hand: pulses, delays, propellant, faults; and the cases of gz-sim's spacecraft."""
import numpy as np
import pytest

from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.common.model import Model
from propulsion_ros.models.jets.jets import Jets, JetsParams
from propulsion_ros.models.jets.supply import SupplyParams
from propulsion_ros.settings.errors import CommandError, ConfigError

STILL = BodyState()


def jets(**given):
    return Jets(JetsParams(**{'names': ['a', 'b'], 'max_thrust': 2.0, **given}))


def run(model, effort, seconds, dt, **field):
    """Return the outputs of some time under a constant command."""
    command = Command(**(field or {'effort': np.asarray(effort, float)}))
    return [model.step(command, STILL, dt, tick) for tick in range(round(seconds / dt))]


def impulse(outputs, dt):
    """Return the impulse of each jet [N s]."""
    return sum(output.applied for output in outputs) * dt


def test_a_pulse_has_its_edges_inside_a_step():
    """Power from 0 to 30 ms; open from 4 to 36 ms: 4 ms are of the first step, then 6 of 10."""
    model = jets(open_delay=0.004, close_delay=0.006)
    thrusts = [output.applied[0] for output in run(model, [0.6, 0.0], 0.05, 0.01)]
    np.testing.assert_allclose(thrusts, [1.2, 2.0, 2.0, 1.2, 0.0], rtol=1e-12)


def test_the_wrench_is_that_of_the_mean_thrusts():
    model = jets(position=[[0.0, 0.1, 0.0], [0.0, -0.1, 0.0]], axis=[[1.0, 0, 0], [0, 0, -1.0]])
    wrench = run(model, [1.0, 0.5], 0.1, 0.1)[0].wrench
    np.testing.assert_allclose(wrench, [1.0, 0.0, -0.5, 0.05, 0.0, -0.1], atol=1e-15)


def test_a_step_may_have_several_pulses():
    model = jets(pulse_period=0.02)
    one = run(model, [0.5, 2.0], 0.1, 0.1)
    np.testing.assert_allclose(impulse(one, 0.1), [0.05, 0.2], rtol=1e-12)


def test_a_demand_of_nearly_all_has_no_pauses():
    """An allocator gives 8e-8 less at a limit; a slow valve made 5 ms of each such pause."""
    model = jets(open_delay=0.008, close_delay=0.003)
    outputs = run(model, [2.0 * (1.0 - 8e-8), 1.9], 0.5, 0.01)
    assert all(output.position[0] == 1.0 for output in outputs[1:])
    np.testing.assert_allclose(impulse(outputs, 0.01)[0], 2.0 * (0.5 - 0.008), rtol=1e-12)
    assert any(output.position[1] == 0.0 for output in outputs[1:])


def test_a_step_of_too_many_pulses_is_refused():
    with pytest.raises(ConfigError, match='a step of 3 s has more than 200 pulses; expected at'):
        run(jets(pulse_period=0.01), [1.0, 1.0], 3.0, 3.0)


def test_jets_share_a_tank_until_it_is_dry():
    """4 N for 0.01 kg of 50 s: 4.903 N s in 1.226 s."""
    model = jets(specific_impulse=50.0, tank='t', tanks=SupplyParams(names=['t'], capacity=0.01))
    outputs = run(model, [2.0, 2.0], 2.0, 0.01)
    total = impulse(outputs, 0.01)
    np.testing.assert_allclose(total, 0.5 * 0.01 * 50.0 * STANDARD_GRAVITY, rtol=1e-9)
    dry = [bool(output.flags['dry'][0]) for output in outputs]
    assert dry == [tick >= 122 for tick in range(200)]
    assert outputs[-1].tanks.mass[0] == 0.0
    assert not outputs[-1].applied.any()


@pytest.mark.parametrize(('keeps', 'expected'), [(True, 0.1), (False, 0.0)])
def test_demands_below_the_impulse_bit(keeps, expected):
    """0.05 of 2 N for a second; a bit is 30 ms, and each period has 5 ms."""
    model = jets(min_on_time=0.03, keep_remainder=keeps)
    given = impulse(run(model, [0.1, 0.0], 1.2, 0.01), 0.01)
    np.testing.assert_allclose(given, [1.2 * expected, 0.0], rtol=1e-9)


def test_pauses_below_the_shortest_one_are_left_out():
    model = jets(min_off_time=0.02, keep_remainder=False)
    outputs = run(model, [1.7, 1.5], 0.4, 0.01)
    np.testing.assert_allclose(impulse(outputs, 0.01), [0.8, 0.6], rtol=1e-9)


def test_a_pulse_shorter_than_the_delay_opens_no_valve():
    model = jets(open_delay=0.02, close_delay=0.02)
    np.testing.assert_allclose(
        impulse(run(model, [0.38, 0.42], 1.0, 0.01), 0.01), [0.0, 10 * 2.0 * 0.021], atol=1e-12
    )


def test_no_demand_ends_a_pulse_after_the_shortest_one():
    model = jets(min_on_time=0.03)
    first = impulse(run(model, [2.0, 1.0], 0.01, 0.01), 0.01)
    rest = impulse(run(model, [0.0, 0.0], 0.5, 0.01), 0.01)
    np.testing.assert_allclose(first + rest, 2.0 * 0.03, rtol=1e-12)


def test_on_off_opens_and_closes_at_its_levels():
    model = jets(modulation='on_off', on_level=0.5, off_level=0.2)
    for effort, expected in ((0.9, 0.0), (1.0, 2.0), (0.5, 2.0), (0.4, 0.0), (0.9, 0.0)):
        assert run(model, [effort, 0.0], 0.01, 0.01)[0].applied.tolist() == [expected, 0.0]


def test_a_pulse_frequency_modulator_has_the_cycle_of_the_textbook():
    """Sidi, section 9.4: on and off times of the limit cycle under a constant demand."""
    gain, tau, on, off, demand = 4.5, 0.15, 0.45, 0.15, 0.5
    model = jets(modulation='pulse_frequency', names=['a'], max_thrust=1.0)
    open_for = -tau * np.log(1.0 - (on - off) / (on - gain * (demand - 1.0)))
    shut_for = -tau * np.log(1.0 - (on - off) / (gain * demand - off))
    first = -tau * np.log(1.0 - on / (gain * demand))
    dt = 1e-4
    is_open = np.array([output.position[0] for output in run(model, [demand], 0.5, dt)])
    edges = dt * (np.flatnonzero(np.diff(is_open)) + 1)
    expected = first + np.cumsum([0.0, *(open_for, shut_for) * 15])[: len(edges)]
    np.testing.assert_allclose(edges, expected, atol=1.1 * dt)
    assert len(edges) > 15


def test_a_throttle_is_the_duty_cycle():
    one, other = jets(), jets(command_interface='throttle')
    efforts = impulse(run(one, [0.5, 3.0], 0.4, 0.01), 0.01)
    given = run(other, None, 0.4, 0.01, position=[0.25, 1.5])
    np.testing.assert_allclose(impulse(given, 0.01), efforts, rtol=1e-12)
    assert given[0].flags['saturated'].tolist() == [False, True]
    assert other.command_for(np.array([0.5, 2.0])).tolist() == [0.25, 1.0]
    with pytest.raises(CommandError, match='a: expected position, got effort 1'):
        Model(other).step(Command(effort=[1.0, 1.0]), dt=0.01)


def test_a_negative_thrust_is_none_and_is_counted():
    output = run(jets(), [-1.0, 1.0], 0.01, 0.01)[0]
    assert output.applied.tolist() == [0.0, 2.0]
    assert output.flags['saturated'].tolist() == [True, False]


def test_stuck_valves_and_weak_jets():
    tanks = SupplyParams(names=['t'], capacity=1.0)
    given = {'names': ['a', 'b', 'c'], 'tank': 't', 'tanks': tanks, 'max_thrust': 2.0}
    params = JetsParams(
        **given, valve=['stuck_open', 'stuck_closed', 'works'], efficiency=[1.0, 1.0, 0.5]
    )
    model = Jets(JetsParams(**given))
    assert not model.degraded.any()
    model.retune(params)
    assert model.degraded.all()
    assert model.effectiveness.tolist() == [0.0, 0.0, 0.5]
    output = model.step(Command(effort=[0.0, 2.0, 2.0]), STILL, 0.01, 0)
    assert output.applied.tolist() == [2.0, 0.0, 1.0]
    assert output.position[:3].tolist() == [1.0, 0.0, 1.0]
    # The weak one burns as much as the one that is stuck open.
    burnt = 0.04 / (70.0 * STANDARD_GRAVITY)
    np.testing.assert_allclose(1.0 - model.propellant, burnt, rtol=1e-9)


def test_the_state_has_valves_thrusts_and_tanks():
    model = jets(tank='t', tanks=SupplyParams(
        names=['t'], capacity=0.5, propellant='gas', pressure=2e6, temperature=300.0,
        starting_fuel_ratio=0.5,
    ))
    assert model.state_names == ('a', 'b', 't/pressure', 't/temperature', 't/fuel_ratio')
    output = model.step(Command(effort=[1.0, 0.0]), STILL, 1e-9, 0)
    np.testing.assert_allclose(output.position, [1.0, 0.0, 1e6, 300.0, 0.5], rtol=1e-6)
    np.testing.assert_allclose(output.effort, [1.0, 0.0, *[np.nan] * 3], rtol=1e-6)


# gz-sim, test/integration/spacecraft.cc with examples/worlds/spacecraft.sdf, and the numbers of
# tutorials/spacecraft_thrusters.md: 1.4 N, 10 Hz, steps of 1 ms, a command at step 100 of 600.
GZ = {'names': [f'thruster_{i}' for i in range(12)], 'command_interface': 'throttle',
      'max_thrust': 1.4, 'pulse_period': 0.1, 'keep_remainder': False}


def gz_force(duty, start, seconds, dt=0.001):
    """Return the force in each step as SpacecraftThrusterModel::UpdateForcesAndMoments has it."""
    forces, cycle_start, sampling = [], 0.0, 0.01
    for k in range(round(seconds / dt)):
        now = start + k * dt
        if sampling >= 0.1:
            cycle_start = now
        sampling = now - cycle_start
        forces.append(1.4 if sampling <= duty * 0.1 and duty >= 1e-9 else 0.0)
    return np.array(forces)


def test_gz_spacecraft_input():
    """Only thruster_0 pushes, for all of the 500 steps; the model moves its way."""
    model = Jets(JetsParams(**GZ, position=[-0.12, 0.12, 0.2], axis=[0.0, 1.0, 0.0]))
    rest = run(model, None, 0.1, 0.001, position=np.zeros(12))
    moved = run(model, None, 0.5, 0.001, position=np.eye(12)[0])
    assert not impulse(rest, 0.001).any()
    np.testing.assert_allclose(impulse(moved, 0.001), 0.7 * np.eye(12)[0], rtol=1e-12)
    assert moved[-1].wrench[1] > 0.0
    # gz-sim loses a step where the rounding of its time makes a cycle longer than its period.
    assert np.count_nonzero(gz_force(1.0, 0.1, 0.5) == moved[-1].applied[0]) >= 495
