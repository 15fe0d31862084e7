# SPDX-License-Identifier: Apache-2.0
"""The environments for learning keep to gymnasium's rules, and can be flown."""
from __future__ import annotations

import sys
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

gymnasium = pytest.importorskip(
    'gymnasium', reason='gymnasium is not installed: pip install gymnasium'
)
FOLDER = Path(__file__).parents[2] / 'examples' / 'learning'
VEHICLES = ('quadrotor', 'hopper')


@pytest.fixture(scope='module')
def learning():
    sys.path.insert(0, str(FOLDER))
    try:
        yield import_module('envs'), import_module('fly')
    finally:
        sys.path.remove(str(FOLDER))
        for name in ('envs', 'fly'):
            sys.modules.pop(name, None)


@pytest.mark.parametrize('vehicle', VEHICLES)
def test_single_environment_passes_the_check_of_gymnasium(learning, vehicle):
    from gymnasium.utils.env_checker import check_env

    envs, _ = learning
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        # It has no bounds that a policy could be scaled by, and no picture.
        warnings.filterwarnings('ignore', message='.*observation space (minimum|maximum).*')
        warnings.filterwarnings('ignore', message='.*not within the observation space.*inf.*')
        warnings.filterwarnings('ignore', message='.*spec.*')
        check_env(envs.Single(vehicle), skip_render_check=True)


@pytest.mark.parametrize('vehicle', VEHICLES)
def test_vector_environment_keeps_to_its_spaces_and_to_its_seed(learning, vehicle):
    envs, _ = learning
    runs = []
    for _ in range(2):
        env = envs.ENVS[vehicle](5)
        assert isinstance(env, gymnasium.vector.VectorEnv)
        assert env.metadata['autoreset_mode'] is gymnasium.vector.AutoresetMode.NEXT_STEP
        env.action_space.seed(3)
        observation, _ = env.reset(seed=7)
        seen = [observation]
        for _ in range(60):
            observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
            assert observation in env.observation_space
            assert reward.shape == terminated.shape == truncated.shape == (5,)
            assert terminated.dtype == truncated.dtype == bool
            seen.append(observation)
        runs.append(np.array(seen))
    np.testing.assert_array_equal(*runs)
    other, _ = envs.ENVS[vehicle](5).reset(seed=8)
    assert np.abs(other - runs[0][0]).max() > 0.01


def test_robots_that_are_drawn_follow_the_seed(learning, tmp_path):
    envs, _ = learning
    path = tmp_path / 'rand.yaml'
    path.write_text(
        '/**/rotors: {ros__parameters: {time_constant_up_range: [0.03, 0.06], seed: 0}}'
    )

    class Drawn(envs.QuadrotorHover):
        parameters = path

    env, drawn = Drawn(3), []
    for seed in (1, 2, 1, None):
        env.reset(seed=seed)
        drawn.append(env.vehicles.groups['rotors'].constants['time_constant_up'].copy())
    np.testing.assert_array_equal(drawn[0], drawn[2])
    assert not np.any(drawn[0] == drawn[1])
    assert not np.any(drawn[2] == drawn[3])


def test_a_single_environment_takes_a_list(learning):
    envs, _ = learning
    env = envs.Single('quadrotor')
    env.reset(seed=0)
    assert env.step([0.0] * 4)[0].shape == (18,)


def test_ended_environment_begins_anew_in_the_next_step_and_no_other(learning):
    envs, _ = learning
    env = envs.QuadrotorHover(3)
    env.reset(seed=1)
    # The second one falls at once, the others hover.
    actions = np.full((3, 4), -0.006)
    actions[1] = -1.0
    for _ in range(200):
        observation, _, terminated, truncated, _ = env.step(actions)
        if terminated.any():
            break
    assert terminated.tolist() == [False, True, False]
    assert not truncated.any()
    assert np.linalg.norm(observation[1, :3]) > 2.5
    before = env.steps.copy()
    observation, reward, terminated, _, _ = env.step(actions)
    assert np.linalg.norm(observation[1, :3]) < 1.8
    assert reward[1] == 0.0
    assert not terminated.any()
    assert env.steps.tolist() == [before[0] + 1, 0, before[2] + 1]


def test_a_task_of_ones_own_needs_a_robot_and_no_more(learning, monkeypatch, tmp_path):
    envs, _ = learning
    (tmp_path / 'robot.urdf').write_bytes((FOLDER.with_name('hopper') / 'hopper.urdf').read_bytes())
    monkeypatch.chdir(tmp_path)

    class Fall(envs.VehicleEnv):
        robot, actions, longest = 'robot.urdf', 1, 3

        def begin(self, indices):
            self.vehicles.reset(indices, {'position': [0.0, 0.0, 0.1]})

        def commands(self, actions):
            return {}

        def judge(self, touched):
            return np.ones(self.num_envs), self.vehicles.bodies.on_ground, {}

    env = Fall(2)
    observation, _ = env.reset(seed=0)
    assert observation[:, 2] == pytest.approx(0.1)
    told = [env.step(np.zeros((2, 1))) for _ in range(9)]
    # Three steps, one to begin anew, and so on.
    assert [each[1].tolist()[0] for each in told] == [1.0, 1.0, 1.0, 0.0] * 2 + [1.0]
    assert told[3][0][:, 2] == pytest.approx(0.1)
    single = envs.Single(Fall)
    assert single.reset(seed=0)[0][2] == pytest.approx(0.1)


@pytest.mark.parametrize(('vehicle', 'steps'), [('quadrotor', 500), ('hopper', 400)])
def test_pd_policy_flies_them_and_chance_does_not(learning, vehicle, steps):
    _, fly = learning
    told = fly.fly(vehicle, 'pd', 6, steps)
    assert told['episodes'] >= 6
    assert told['successes'] == told['episodes']
    assert not fly.fly(vehicle, 'random', 6, 150)['successes']


def test_mistakes_of_an_own_task_are_one_line(learning):
    envs, _ = learning

    class Hover(envs.QuadrotorHover):
        pass

    env = Hover(3)
    with pytest.raises(gymnasium.error.ResetNeeded, match='Hover: reset it before a step'):
        env.step(np.zeros((3, 4)))
    env.reset(seed=1)
    for shape in ((3, 3), (4,), (3, 1)):
        line = r'Hover.step: expected actions of shape \(3, 4\), got'
        with pytest.raises(ValueError, match=line):
            env.step(np.zeros(shape))
    with pytest.raises(ValueError, match=r'Hover.step: expected finite actions, got'):
        env.step(np.full((3, 4), np.nan))
    Hover.judge = lambda self, touched: (np.zeros((3, 1)), np.zeros(3, bool), {})
    with pytest.raises(ValueError, match=r'Hover.judge: .* of shape \(3,\), got \(3, 1\)'):
        env.step(np.zeros((3, 4)))
    Hover.observations = 17
    with pytest.raises(ValueError, match=r'Hover.observations: expected 18, .* observe, got 17'):
        Hover(3).reset(seed=1)
