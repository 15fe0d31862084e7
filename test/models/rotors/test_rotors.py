# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from golden import vectors_of
from scipy.integrate import solve_ivp

from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.rotors.rotors import Rotors, RotorsParams
from propulsion_ros.settings.errors import CommandError, ConfigError

ISAAC, REFERENCE, FORCE_MODE = (
    vectors_of(name)['scenarios'] for name in (
        'isaac_thruster', 'recommended_thruster_reference', 'aerial_gym_force_mode',
    )
)
REFUSED = {
    'negative_range', 'reversible_range', 'zero_thrust_const', 'tau_zero_continuous',
    'big_dt_euler_continuous', 'big_dt_rk4_continuous',
}

STILL = BodyState()
K = 1.5e-5
# The laws here are of the thrust at the end of a step; test_step_value.py has that of its mean.
QUAD = {
    'step_value': 'end',
    'names': ['front_left', 'front_right', 'rear_left', 'rear_right'],
    'min_thrust': 0.1, 'max_thrust': 10.0, 'motor_constant': K, 'moment_constant': 0.016,
    'direction': [-1, 1, 1, -1], 'time_constant_up': 0.06, 'time_constant_down': 0.02,
    'position': [0.2, 0.1, 0.0, 0.2, -0.1, 0.0, -0.2, 0.1, 0.0, -0.2, -0.1, 0.0],
}
ONE = {
    'step_value': 'end', 'names': ['rotor'], 'max_thrust': 10.0, 'motor_constant': K,
    'time_constant_up': 0.06, 'time_constant_down': 0.02,
}
LIMITS = [
    pytest.param({}, id='free'),
    pytest.param({'max_rotor_acceleration': 3000.0}, id='acceleration'),
    pytest.param({'max_thrust_rate': 50.0}, id='thrust rate'),
    # Rising: limited in acceleration, in thrust rate, then free; or free in between as well.
    pytest.param({'max_rotor_acceleration': 3000.0, 'max_thrust_rate': 30.0}, id='both'),
    pytest.param({'max_rotor_acceleration': 11000.0, 'max_thrust_rate': 60.0}, id='in turns'),
]
LAGS = pytest.mark.parametrize('lag_on', ['rotor_speed', 'thrust'])


def build(config=QUAD, batch=(), **changes):
    return Rotors(RotorsParams(**{**config, **changes}), batch)


def push(rotors, effort, dt=0.01):
    return rotors.step(Command(effort=np.asarray(effort, float)), STILL, dt, 0)


# Originals


def isaac_segments(scenario):
    """Return (first step, constants) of each stretch between resets, for each environment."""
    for env in range(scenario['num_envs']):
        stretches = [(0, scenario['params'])] + [
            (reset['before_step'], reset['params_after']) for reset in scenario['resets']
            if reset['env_ids'] is None or env in reset['env_ids']
        ]
        ends = [start for start, _ in stretches[1:]] + [len(scenario['inputs']['thrust_cmd'])]
        for (start, constants), end in zip(stretches, ends, strict=True):
            yield env, start, end, {name: value[env] for name, value in constants.items()}


def isaac_rotors(scenario, env, constants):
    cfg = scenario['cfg']
    return Rotors(RotorsParams(
        names=[f'rotor_{i}' for i in range(scenario['num_thrusters'])],
        min_thrust=cfg['thrust_range'][0], max_thrust=cfg['thrust_range'][1],
        motor_constant=constants['thrust_const'],
        time_constant_up=constants['tau_inc'], time_constant_down=constants['tau_dec'],
        max_rotor_acceleration=cfg['max_thrust_rate'],
        initial_rotor_speed=scenario['init_rps'][env],
        integrator=f'isaaclab_{cfg["integration_scheme"]}',
        mixing='discrete' if cfg['use_discrete_approximation'] else 'continuous',
    ))


def isaac_run(scenario):
    command = np.array(scenario['inputs']['thrust_cmd'])
    computed, applied = np.empty_like(command), np.empty_like(command)
    for env, start, end, constants in isaac_segments(scenario):
        rotors = isaac_rotors(scenario, env, constants)
        for i in range(start, end):
            output = push(rotors, command[i, env], scenario['dt'])
            computed[i, env], applied[i, env] = output.computed, output.applied
    return computed, applied


def plain(scenario):
    return scenario['name'].rsplit('_', 1)[0]


def test_refused_scenarios_are_recorded_ones():
    assert set(REFUSED) <= {plain(scenario) for scenario in ISAAC}


@pytest.mark.parametrize(
    'scenario', [s for s in ISAAC if plain(s) not in REFUSED], ids=lambda s: s['name']
)
def test_isaaclab_schemes_reproduce_isaac_lab(scenario):
    single = scenario['dtype'] == 'float32'
    tolerance = {'rtol': 1e-5, 'atol': 1e-6} if single else {'rtol': 1e-12, 'atol': 1e-15}
    computed, applied = isaac_run(scenario)
    np.testing.assert_allclose(computed, scenario['outputs']['computed_thrust'], **tolerance)
    np.testing.assert_allclose(applied, scenario['outputs']['applied_thrust'], **tolerance)


@pytest.mark.parametrize('scenario', REFERENCE, ids=lambda s: s['name'])
def test_default_and_rk4_match_the_closed_forms(scenario):
    rotors = build(
        ONE, max_thrust=scenario['thrust_range'][1], motor_constant=scenario['thrust_const'],
        time_constant_up=scenario['tau_inc'], time_constant_down=scenario['tau_dec'],
        max_rotor_acceleration=scenario['max_rps_rate'],
        integrator='rk4' if scenario['name'].startswith('rk4') else 'exact',
    )
    thrust = [push(rotors, [u], scenario['dt']).computed[0] for u in scenario['inputs']]
    np.testing.assert_allclose(thrust, scenario['outputs'], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize('scenario', FORCE_MODE, ids=lambda s: s['name'])
def test_lag_on_thrust_reproduces_aerial_gym(scenario):
    _, scheme, mixing, _ = scenario['name'].split('_')
    rotors = build(
        ONE, min_thrust=scenario['thrust_range'][0], max_thrust=scenario['thrust_range'][1],
        time_constant_up=scenario['tau_inc'], time_constant_down=scenario['tau_dec'],
        max_thrust_rate=scenario['max_thrust_rate'], lag_on='thrust',
        initial_rotor_speed=np.sqrt(scenario['initial_thrust'] / K),
        integrator=f'isaaclab_{scheme}', mixing=mixing,
    )
    thrust = [push(rotors, [u], scenario['dt']).computed[0] for u in scenario['inputs']]
    np.testing.assert_allclose(thrust, scenario['outputs'], rtol=1e-12, atol=1e-15)


# Closed forms


def by_ode(start, goal, dt, lag_on, max_rotor_acceleration=np.inf, max_thrust_rate=np.inf):
    """Integrate the limited lag of the rotor speed numerically; no closed form is used."""
    tau = ONE['time_constant_up' if goal > start else 'time_constant_down']
    top, w_goal = np.sqrt(start / K), np.sqrt(goal / K)

    def rate(_, w):
        free = (w_goal - w) / tau
        if lag_on == 'thrust':
            free = (w_goal**2 - w**2) / (2.0 * w * tau)
        limit = np.minimum(max_rotor_acceleration, max_thrust_rate / (2.0 * K * w))
        return np.clip(free, -limit, limit)

    end = solve_ivp(rate, (0.0, dt), [top], rtol=1e-9, atol=1e-9, max_step=dt / 40).y[0, -1]
    return K * end**2


@pytest.mark.parametrize('limits', LIMITS)
@pytest.mark.parametrize(('start', 'goal'), [(0.05, 9.5), (0.3, 2.0), (9.5, 0.3), (4.0, 3.5)])
@LAGS
def test_limited_motion_matches_numerical_integration(limits, start, goal, lag_on):
    for dt in (0.01, 0.05, 0.2):
        rotors = build(ONE, lag_on=lag_on, initial_rotor_speed=np.sqrt(start / K), **limits)
        thrust = push(rotors, [goal], dt).computed[0]
        assert thrust == pytest.approx(by_ode(start, goal, dt, lag_on, **limits), rel=1e-6)


@pytest.mark.parametrize('integrator', ['euler', 'rk4'])
@LAGS
def test_explicit_schemes_approach_the_exact_one_at_their_order(integrator, lag_on):
    own = 'max_thrust_rate' if lag_on == 'thrust' else 'max_rotor_acceleration'

    def error(steps, scheme):
        rotors = build(ONE, lag_on=lag_on, integrator=scheme, **{own: 1e6})
        for _ in range(steps):
            output = push(rotors, [8.0], 0.06 / steps)
        return output.computed[0]

    exact = error(1, 'exact')
    gain = abs(error(8, integrator) - exact) / abs(error(16, integrator) - exact)
    assert gain == pytest.approx({'euler': 2.0, 'rk4': 16.0}[integrator], rel=0.15)


def test_newest_isaac_lab_is_right_signed_rk4_with_discrete_mixing():
    rotors = build(ONE, integrator='rk4', mixing='discrete', max_rotor_acceleration=4000.0)
    speed, goal = 0.0, np.sqrt(8.0 / K)
    factor, dt = 1.0 / (0.01 + 0.06), 0.01

    def rate(error):
        return np.clip(factor * error, -4000.0, 4000.0)

    for _ in range(30):
        error = goal - speed
        first = rate(error)
        second = rate(error - 0.5 * dt * first)
        third = rate(error - 0.5 * dt * second)
        fourth = rate(error - dt * third)
        speed += dt / 6.0 * (first + 2.0 * second + 2.0 * third + fourth)
        assert push(rotors, [8.0], dt).velocity[0] == pytest.approx(speed, rel=1e-12)


# Wrench


def test_counterclockwise_rotor_pushes_the_body_clockwise():
    rotors = build(ONE, direction=1, moment_constant=0.02, time_constant_up=0.0)
    # Seen from above a clockwise torque is negative about z, which points up.
    np.testing.assert_allclose(push(rotors, [5.0]).wrench, [0, 0, 5, 0, 0, -0.1], atol=1e-15)


def test_wrench_is_the_sum_of_forces_moments_and_reactions():
    axes = [0.0, 0.1, 1.0, 0.1, 0.0, 1.0, 0.0, -0.1, 1.0, -0.1, 0.0, 1.0]
    rotors = build(axis=axes)
    output = push(rotors, [1.0, 4.0, 7.0, 9.0], 0.1)
    unit = np.reshape(axes, (4, 3)) / np.sqrt(1.01)
    np.testing.assert_allclose(output.forces, output.applied[:, None] * unit, rtol=1e-15)
    turns = np.cross(np.reshape(QUAD['position'], (4, 3)), output.forces)
    expected = np.concatenate((output.forces.sum(axis=0), turns.sum(axis=0)))
    expected[3:] += -0.016 * (output.applied * QUAD['direction']) @ unit
    np.testing.assert_allclose(output.wrench, expected, rtol=1e-13, atol=1e-15)


# Commands


@pytest.mark.parametrize('command', [Command(), Command(effort=np.full(4, np.nan))])
def test_never_commanded_rotor_gives_its_smallest_thrust(command):
    output = build(time_constant_up=0.0).step(command, STILL, 0.01, 0)
    np.testing.assert_allclose(output.applied, [0.1] * 4, rtol=1e-14)
    assert not output.flags['saturated'].any()


def test_negative_speed_is_refused_and_negative_thrust_clamped():
    rotors = build(command_interface='velocity')
    with pytest.raises(CommandError, match='rear_left: velocity -5 rad/s is negative'):
        rotors.check_command(Command(velocity=np.array([1.0, np.nan, -5.0, 2.0])))
    with pytest.raises(CommandError, match='rear_left: velocity -5 rad/s is negative'):
        rotors.check_command(Command(velocity=np.array([[1.0] * 4, [1.0, np.nan, -5.0, 2.0]])))
    rotors.check_command(Command(velocity=np.array([1.0, np.nan, 0.0, 2.0])))
    build().check_command(Command(effort=np.full(4, -1.0)))


# Ranges and resets

RANGES = {
    'motor_constant_range': [9e-6, 1.8e-5], 'time_constant_up_range': [0.05, 0.08],
    'time_constant_down_range': [0.0, 0.0, 0.01, 0.03, 0.0, 0.0, 0.01, 0.03], 'seed': 7,
}


def test_ranges_are_drawn_per_rotor_and_environment():
    constants = build(batch=(500,), **RANGES).constants
    k, up, down = (
        constants[name] for name in ('motor_constant', 'time_constant_up', 'time_constant_down')
    )
    assert k.shape == up.shape == down.shape == (500, 4)
    for values, low, high in ((k, 9e-6, 1.8e-5), (up, 0.05, 0.08), (down[:, 1::2], 0.01, 0.03)):
        assert values.min() >= low
        assert values.max() <= high
        assert values.mean() == pytest.approx(0.5 * (low + high), rel=0.05)
        assert len(np.unique(values)) == values.size
    np.testing.assert_array_equal(down[:, ::2], 0.02)


@pytest.mark.parametrize(('key', 'constant'), [
    ('motor_constant', 'motor_constant, 1e-05'), ('time_constant_up', 'time_constant_up, 0.04'),
])
def test_a_range_that_was_meant_as_a_factor_is_refused(key, constant):
    own = {'motor_constant': 1e-5, 'time_constant_up': 0.04}
    for given in ([0.9, 1.1], [0.0, 0.0, 0.9, 1.1, 0.0, 0.0, 0.0, 0.0]):
        with pytest.raises(ConfigError, match=f'0.9 to 1.1 is far from {constant}: .* absolute'):
            build(**own, **{f'{key}_range': given}, seed=1)
    build(time_constant_up=0.5, time_constant_up_range=[0.9, 1.1], seed=1)


def test_equal_seeds_draw_equal_constants():
    one, same, other = (build(batch=(3,), **{**RANGES, 'seed': s}) for s in (7, 7, 8))
    np.testing.assert_array_equal(one.constants['motor_constant'], same.constants['motor_constant'])
    assert np.all(one.constants['motor_constant'] != other.constants['motor_constant'])


@pytest.mark.parametrize('limits', LIMITS)
@pytest.mark.parametrize('indices', [[1], slice(1, 2), np.array([False, True, False])], ids=str)
def test_reset_of_some_draws_anew_and_leaves_the_others_alone(indices, limits):
    rotors = build(batch=(3,), initial_rotor_speed=400.0, **RANGES, **limits)
    drawn = 'motor_constant', 'time_constant_up'
    before = {name: rotors.constants[name].copy() for name in drawn}
    output = push(rotors, np.full((3, 4), 8.0))
    kept = output.computed.copy()
    rotors.reset(indices)
    np.testing.assert_array_equal(output.computed, kept)
    np.testing.assert_array_equal(rotors.thrust[[0, 2]], kept[[0, 2]])
    np.testing.assert_allclose(rotors.rotor_speed[1], 400.0, rtol=1e-14)
    for name, values in before.items():
        np.testing.assert_array_equal(rotors.constants[name][[0, 2]], values[[0, 2]])
        assert np.all(rotors.constants[name][1] != values[1])
    # What was reset goes on as rotors that were built with the constants just drawn.
    fresh = build(
        initial_rotor_speed=400.0, **limits,
        **{name: rotors.constants[name][1] for name in (*before, 'time_constant_down')},
    )
    after = push(rotors, np.full((3, 4), 8.0))
    np.testing.assert_allclose(
        after.computed[1], push(fresh, [8.0] * 4).computed, rtol=1e-13
    )


# Hard cases


def test_negative_step_is_refused():
    with pytest.raises(ValueError, match=r'dt: expected at least 0 s, got -0\.01'):
        push(build(), [1.0] * 4, -0.01)


# Configuration


@pytest.mark.parametrize(('integrator', 'ratio'), [
    ('euler', 2.0), ('rk4', 2.785293563405282), ('isaaclab_euler', 2.0),
    ('isaaclab_rk4', 1.1036),
])
def test_explicit_schemes_refuse_steps_that_diverge(integrator, ratio):
    settings = {'integrator': integrator, 'mixing': 'continuous', 'time_constant_down': 0.06}
    push(build(**settings), [5.0] * 4, 0.06 * (ratio - 1e-3))
    with pytest.raises(ConfigError, match=f'{integrator} diverges for a step of'):
        push(build(**settings), [5.0] * 4, 0.06 * (ratio + 1e-3))
