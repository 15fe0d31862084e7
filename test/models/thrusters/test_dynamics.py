# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from golden import vectors_of
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from propulsion_ros.models.thrusters.dynamics import DynamicsParams, RotorDynamics
from propulsion_ros.settings.errors import ConfigError

RECORDED = vectors_of('uuv_dynamics')
ORIGINAL = {s['name']: s for s in RECORDED['scenarios']}
STONEFISH = RECORDED['stonefish_reference']['scenarios']
FIXED = vectors_of('uuv_fixed')['dynamics']
GAZEBO_FILTER = vectors_of('gz_sim')['first_order_filter']
OUR_NAME = {
    'timeConstant': 'time_constant', 'Jmsp': 'rotor_inertia', 'Kv1': 'linear_damping',
    'Kv2': 'quadratic_damping', 'Kt': 'torque_constant', 'Rm': 'winding_resistance',
}
YOERGER = {'dynamics': 'yoerger', 'alpha': 0.5, 'beta': 0.8}
BESSA = {
    'dynamics': 'bessa', 'rotor_inertia': 0.1, 'linear_damping': 0.05, 'quadratic_damping': 0.01,
    'torque_constant': 0.3, 'winding_resistance': 0.6,
}
FIRST = {'dynamics': 'first_order', 'time_constant': 0.2}
ZERO = {'dynamics': 'zero_order'}
MODELS = [
    pytest.param(model, id=model['dynamics']) for model in (ZERO, FIRST, YOERGER, BESSA)
]


def dynamics(limit: float | None = None, **kwargs) -> RotorDynamics:
    params = DynamicsParams(**{'names': ['a'], **kwargs})
    return RotorDynamics(params, None if limit is None else np.array([limit]))


def ours(name: str, params: dict[str, float]) -> dict[str, object]:
    kinds = ('zero_order', 'first_order', 'yoerger', 'bessa')
    kind = next(kind for kind in kinds if name.startswith(kind))
    return {'dynamics': kind, **{OUR_NAME.get(key, key): params[key] for key in params}}


def run(model: RotorDynamics, dts, commands) -> np.ndarray:
    speed, states = np.zeros(1), []
    for dt, command in zip(dts, commands, strict=True):
        speed = model.step(speed, np.array([command]), dt)
        states.append(speed[0])
    return np.array(states)


def one_step(model: RotorDynamics, speed: float, demand: float, dt: float) -> float:
    return float(model.step(np.array([speed]), np.array([demand]), dt)[0])


# The originals.


@pytest.mark.parametrize('scenario', [*FIXED, *STONEFISH], ids=lambda s: s['name'])
def test_euler_is_that_of_stonefish_and_of_the_original_with_the_elapsed_time_right(scenario):
    inputs = scenario['inputs']
    dts = np.diff(inputs['t'], prepend=inputs['t'][0]) if 't' in inputs else inputs['dt']
    model = dynamics(
        **ours(scenario['name'], scenario['params']), integrator='euler',
        limit=max(map(abs, inputs['cmd'])),
    )
    states = run(model, dts, inputs['cmd'])
    np.testing.assert_allclose(states, scenario['outputs']['state'], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize('scenario', GAZEBO_FILTER, ids=lambda s: f'{s["name"]} {s["dt"]}')
def test_each_step_of_the_filter_of_gazebo_is_a_lag(scenario):
    up, down = (
        dynamics(dynamics='first_order', time_constant=scenario[f'timeConstant{way}'])
        for way in ('Up', 'Down')
    )
    state, found = scenario['initial'], []
    for command in scenario['inputs']:
        state = one_step(up if command > state else down, state, command, scenario['dt'])
        found.append(state)
    np.testing.assert_allclose(found, scenario['outputs'], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    'name', ['first_order_time_jump_back', 'first_order_time_jump_back_far']
)
def test_time_that_goes_back_is_refused(name):
    scenario = ORIGINAL[name]
    t, commands = scenario['inputs']['t'], scenario['inputs']['cmd']
    dts = np.diff(t, prepend=t[0])
    jump = int(np.argmax(dts < 0.0))
    model = dynamics(**ours(name, scenario['params']))
    states = run(model, dts[:jump], commands[:jump])
    np.testing.assert_allclose(
        states, scenario['outputs']['state'][:jump], rtol=1e-12, atol=1e-12
    )
    with pytest.raises(ValueError, match=r'expected a step of at least 0 s, got -'):
        one_step(model, states[-1], commands[jump], dts[jump])


def test_no_time_constant_follows_and_a_repeated_stamp_holds():
    scenario = ORIGINAL['first_order_tau_zero']
    t, commands = scenario['inputs']['t'], scenario['inputs']['cmd']
    model = dynamics(dynamics='first_order', time_constant=0.0)
    states = run(model, np.diff(t, prepend=t[0]), commands)
    np.testing.assert_array_equal(states[:3], scenario['outputs']['state'][:3])
    assert np.isnan(scenario['outputs']['state'][3:]).all()
    np.testing.assert_array_equal(states[3:], [7.0, 8.0])


# Closed forms that the step does not use, and an integrator.


@pytest.mark.parametrize(
    ('model', 'speed', 'command', 't'),
    [
        pytest.param(YOERGER, -8.0, 3.0, 0.5, id='yoerger slows'),
        pytest.param(YOERGER, -8.0, 3.0, 4.0, id='yoerger turns round'),
        pytest.param(YOERGER, 40.0, 3.0, 0.3, id='yoerger from above'),
        pytest.param(BESSA, -30.0, 12.0, 0.1, id='bessa slows'),
        pytest.param(BESSA, -30.0, 12.0, 2.0, id='bessa turns round'),
        pytest.param(BESSA, 30.0, -0.01, 1.0, id='bessa slows by linear drag'),
        pytest.param(BESSA, 30.0, -0.01, 40.0, id='bessa turns round by linear drag'),
        pytest.param(BESSA, 30.0, 0.0, 3.0, id='bessa coasts'),
    ],
)
def test_step_agrees_with_an_integrator(model, speed, command, t):
    def rate(_, w):
        if model is YOERGER:
            return 0.8 * command - 0.5 * w * abs(w)
        return (0.5 * command - 0.05 * w - 0.01 * w * abs(w)) / 0.1

    oracle = solve_ivp(rate, (0.0, t), [speed], method='DOP853', rtol=1e-12, atol=1e-13)
    assert one_step(dynamics(**model), speed, command, t) == pytest.approx(
        oracle.y[0, -1], rel=1e-8, abs=1e-9
    )


# Properties.


@pytest.mark.parametrize('model', MODELS)
@given(command=st.floats(1e-3, 300.0) | st.floats(-300.0, -1e-3))
def test_steady_speed_and_steady_input_are_inverses(model, command):
    rotor = dynamics(**model)
    speed = rotor.steady_speed(np.array([command]))
    assert rotor.steady_input(speed)[0] == pytest.approx(command, rel=1e-9)
    assert one_step(rotor, speed[0], command, 0.7) == pytest.approx(speed[0], rel=1e-12)


def test_euler_refuses_a_step_that_could_overshoot():
    model = dynamics(**YOERGER, integrator='euler', limit=3.0)
    one_step(model, 0.0, 3.0, 0.45)
    with pytest.raises(ConfigError, match=r"'integrator': euler may overshoot .* 0\.5 s .* at most"
                                          r' 0\.456'):
        one_step(model, 0.0, 3.0, 0.5)
    with pytest.raises(ConfigError, match="'integrator'"):
        one_step(dynamics(**YOERGER, integrator='euler'), 0.0, 3.0, 1e-6)
