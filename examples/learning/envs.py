# SPDX-License-Identifier: Apache-2.0
"""Vector environments of gymnasium: a quadrotor that hovers and a hopper that lands.

A task of one's own is a `VehicleEnv` with a robot, ``begin``, ``commands`` and ``judge``.
"""
from pathlib import Path
from typing import ClassVar

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

import propulsion_ros

HOPPER = Path(__file__).resolve().parents[1] / 'hopper'


class VehicleEnv(VectorEnv):
    """Many vehicles of one robot, each in an environment of its own.

    An environment that has ended begins anew in the next step, whose action it ignores.

    Parameters
    ----------
    num_envs : int
        How many.
    """

    metadata: ClassVar = {'autoreset_mode': AutoresetMode.NEXT_STEP, 'render_modes': []}
    robot, parameters = '', None
    """As `propulsion_ros.load_vehicles` takes them."""
    goal = np.zeros(3)
    """Where observations have their origin, in the world [m]."""
    actions, observations = 0, 18
    dt, substeps, longest = 0.01, 2, 500
    """Step of the physics [s], how many of them make a step here, and steps of an episode."""

    def __init__(self, num_envs=1):
        self.num_envs = num_envs
        self.vehicles = propulsion_ros.load_vehicles(self.robot, self.parameters, num_envs)
        self.single_action_space = Box(-1.0, 1.0, (self.actions,), np.float32)
        self.single_observation_space = Box(-np.inf, np.inf, (self.observations,), np.float32)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)

    def reset(self, *, seed=None, options=None):
        """Begin an episode in every environment."""
        super().reset(seed=seed)
        self.steps = np.zeros(self.num_envs, int)
        self.ended = np.zeros(self.num_envs, bool)
        # What is drawn from ranges follows the seed too.
        self.vehicles.reset(seed=int(self.np_random.integers(2**31)))
        self.begin(np.arange(self.num_envs))
        observation = self.observe()
        columns = observation.shape[-1]
        self._require('observations', f'{columns}, the columns of observe',
                      self.observations, self.observations == columns)
        return observation, {}

    def step(self, actions):
        """Advance every environment by one action."""
        if not hasattr(self, 'steps'):
            raise gymnasium.error.ResetNeeded(f'{type(self).__name__}: reset it before a step')
        given = np.asarray(actions, float)
        shape = self.action_space.shape
        self._require('step', f'actions of shape {shape}', given.shape, given.shape == shape)
        self._require('step', 'finite actions', given, np.isfinite(given).all())
        commands = self.commands(np.clip(given, -1.0, 1.0))
        touched = np.full((self.num_envs, 3), np.nan)
        for _ in range(self.substeps):
            self.vehicles.step(commands, self.dt)
            touchdown = self.vehicles.bodies.touchdown
            touched = np.where(np.isnan(touched), touchdown, touched)
        self.steps += 1
        reward, terminated, info = self.judge(touched)
        for each in (reward, terminated):
            self._require('judge', f'rewards and ends of shape ({self.num_envs},)',
                          np.shape(each), np.shape(each) == (self.num_envs,))
        if self.ended.any():
            self.steps[self.ended] = 0
            self.begin(np.flatnonzero(self.ended))
            reward, terminated = np.where(self.ended, 0.0, reward), terminated & ~self.ended
        truncated = (self.steps >= self.longest) & ~terminated
        self.ended = terminated | truncated
        return self.observe(), reward, terminated, truncated, info

    def _require(self, what, expected, got, is_right):
        if not is_right:
            raise ValueError(f'{type(self).__name__}.{what}: expected {expected}, got {got}')

    def observe(self):
        """Return what a policy sees: position, velocity, attitude, rates, and more."""
        bodies = self.vehicles.bodies
        return np.concatenate((
            bodies.position - self.goal, bodies.velocity, bodies.rotation.reshape(-1, 9),
            bodies.angular_velocity, *self.further(),
        ), axis=-1, dtype=np.float32, casting='same_kind')

    def further(self):
        """Return what else a policy sees."""
        return ()

    @property
    def lean(self):
        """Angle of each vehicle from upright [rad]."""
        return np.arccos(np.clip(self.vehicles.bodies.rotation[:, 2, 2], -1.0, 1.0))


class QuadrotorHover(VehicleEnv):
    """The quadrotor of the package flies to a point and stays there.

    Actions are the thrusts of the rotors, from 0 at -1 to the largest at 1.
    """

    robot = 'quadrotor'
    actions = 4
    goal = np.array([0.0, 0.0, 3.0])

    def __init__(self, num_envs=1):
        super().__init__(num_envs)
        self.rotors = self.vehicles.groups['rotors']
        _, self.largest = self.rotors.thrust_limits

    def begin(self, indices):
        """Let some vehicles begin near the goal, leaning, at hover."""
        n, rng = len(indices), self.np_random
        turning = np.sqrt(1.5 * 9.81 / 4.0 / self.rotors.constants['motor_constant'])
        self.vehicles.reset(indices, {
            'position': self.goal + rng.uniform(-1.0, 1.0, (n, 3)),
            'rpy': rng.uniform(-0.4, 0.4, (n, 3)),
            'velocity': rng.uniform(-0.5, 0.5, (n, 3)),
        }, {'rotors': {'rotor_speed': np.broadcast_to(turning, (self.num_envs, 4))[indices]}})

    def commands(self, actions):
        """Return the commands of the rotors."""
        return {'rotors': 0.5 * (actions + 1.0) * self.largest}

    def judge(self, touched):
        """Return rewards, which episodes have ended, and information."""
        bodies = self.vehicles.bodies
        distance = np.linalg.norm(bodies.position - self.goal, axis=-1)
        spin = np.linalg.norm(bodies.angular_velocity, axis=-1)
        crashed = bodies.lost | bodies.on_ground | (distance > 4.0)
        reward = np.exp(-distance) - 0.01 * np.minimum(spin, 10.0) - 10.0 * crashed
        return reward, crashed, {'distance': distance}


class HopperLanding(VehicleEnv):
    """The hopper falls from some 50 m and lands by a burn of its gimballed engine.

    Actions are the thrust, without below -0.5 and the largest at 1, and both gimbal angles.
    """

    robot, parameters = HOPPER / 'hopper.urdf', HOPPER / 'hopper.yaml'
    actions, observations, longest = 3, 20, 1000
    thrusts, angle = (350.0, 1600.0), 0.12

    def begin(self, indices):
        """Let some vehicles fall, leaning, with part of their propellant."""
        n, rng = len(indices), self.np_random
        self.vehicles.reset(indices, {
            'position': rng.uniform([-3.0, -3.0, 40.0], [3.0, 3.0, 60.0], (n, 3)),
            'rpy': rng.uniform(-0.05, 0.05, (n, 3)),
            'velocity': rng.uniform([-1.0, -1.0, -10.0], [1.0, 1.0, 0.0], (n, 3)),
        }, {'boosters': {'fuel_ratio': rng.uniform(0.6, 1.0, (n, 1))}})

    def commands(self, actions):
        """Return the command of engine and gimbals."""
        low, high = self.thrusts
        part = (actions[:, 0] + 0.5) / 1.5
        effort, position = np.full((2, self.num_envs, 3), np.nan)
        effort[:, 0] = np.where(part < 0.0, 0.0, low + part * (high - low))
        position[:, 1:] = self.angle * actions[:, 1:]
        return {'boosters': propulsion_ros.Command(effort=effort, position=position)}

    def further(self):
        """Return thrust over weight, and the mass over that with a full tank."""
        mass = np.broadcast_to(self.vehicles.mass.mass, self.num_envs)[:, None]
        output = self.vehicles.outputs.get('boosters')
        thrust = np.zeros_like(mass) if output is None else output.applied
        return thrust / (9.81 * mass), mass / 75.0

    def judge(self, touched):
        """Return rewards, which episodes have ended, and information."""
        bodies = self.vehicles.bodies
        speed = np.linalg.norm(touched, axis=-1)
        has_touched = ~np.isnan(speed)
        aside = np.linalg.norm(bodies.position[:, :2], axis=-1)
        landed = has_touched & (speed < 2.0) & (self.lean < 0.2)
        failed = bodies.lost | (self.lean > 1.0) | (aside > 50.0) | (bodies.position[:, 2] > 80.0)
        reward = -0.01 * (1.0 + self.lean + 0.05 * aside) + 10.0 * landed - 10.0 * (
            failed | (has_touched & ~landed)
        )
        return reward, has_touched | failed, {'landed': landed, 'speed': np.nan_to_num(speed)}


ENVS = {'quadrotor': QuadrotorHover, 'hopper': HopperLanding}


class Single(gymnasium.Env):
    """One environment of a vector environment, for what takes no more.

    Parameters
    ----------
    vehicle : str or type
        A key of `ENVS`, or a `VehicleEnv`.
    """

    metadata: ClassVar = {'render_modes': []}

    def __init__(self, vehicle='quadrotor'):
        self.many = ENVS.get(vehicle, vehicle)(1)
        self.action_space = self.many.single_action_space
        self.observation_space = self.many.single_observation_space

    def reset(self, *, seed=None, options=None):
        """Begin an episode."""
        super().reset(seed=seed)
        observation, info = self.many.reset(seed=seed, options=options)
        return observation[0], info

    def step(self, action):
        """Advance by one action; after its end an episode does not begin by itself."""
        observation, reward, terminated, truncated, info = self.many.step(np.asarray(action)[None])
        return (
            observation[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]),
            {key: values[0] for key, values in info.items()},
        )
