#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fly many vehicles by a policy, and print how it went."""
import argparse
import time

import numpy as np
from envs import ENVS


def hover(env, observation):
    """Return actions that hold a quadrotor at its goal: PD of position, then of attitude."""
    error, velocity = observation[:, :3], observation[:, 3:6]
    rotation, rate = observation[:, 6:15].reshape(-1, 3, 3), observation[:, 15:18]
    force = 1.5 * (np.clip(-4.0 * error, -4.0, 4.0) - 3.0 * velocity + [0.0, 0.0, 9.81])
    # The turn from the axis of the rotors to the wanted force, in the axes of the body.
    nose = np.einsum('nij,ni->nj', rotation, force)
    nose /= np.linalg.norm(nose, axis=-1, keepdims=True)
    torque = np.stack((
        -1.6 * nose[:, 1] - 0.25 * rate[:, 0], 1.6 * nose[:, 0] - 0.25 * rate[:, 1],
        -0.05 * rate[:, 2],
    ), axis=-1)
    upward = np.maximum(np.einsum('ni,ni->n', force, rotation[:, :, 2]), 0.0)
    rotors = env.rotors
    wanted = np.concatenate((upward[:, None], torque), axis=-1)
    thrust = wanted @ np.linalg.pinv(rotors.allocation_matrix[2:]).T
    return 2.0 * thrust / env.largest - 1.0


def land(env, observation):
    """Return actions that land a hopper by a burn that begins as late as it can."""
    gravity, braking, lever, inertia = 9.81, 6.0, 1.0, 22.0
    position, velocity = observation[:, :3], observation[:, 3:6]
    nose, rate = observation[:, 6:15].reshape(-1, 3, 3)[:, :2, 2], observation[:, 15:18]
    mass = 75.0 * observation[:, 19]
    height, climb = position[:, 2], velocity[:, 2]
    is_lit = (observation[:, 18] > 0.0) | (height < climb**2 / (2.0 * braking) + 2.0)
    slows = height > 0.5
    room = np.maximum(height - 0.5, 0.0)
    wanted = -np.sqrt(2.0 * braking * room) - 0.5
    thrust = mass * (gravity + braking * slows + 4.0 * (wanted - climb))
    low, high = env.thrusts
    thrust = np.where(is_lit, np.clip(thrust, low, high), 0.0)
    lean = np.clip(-0.06 * velocity[:, :2], -0.1, 0.1) - nose
    torque = inertia * np.stack((
        -4.0 * lean[:, 1] - 3.0 * rate[:, 0], 4.0 * lean[:, 0] - 3.0 * rate[:, 1],
    ), axis=-1)
    angle = -torque / (lever * np.maximum(thrust, low)[:, None])
    part = np.where(is_lit, 1.5 * (thrust - low) / (high - low) - 0.5, -1.0)
    return np.column_stack((part, angle / env.angle))


PILOTS = {'quadrotor': hover, 'hopper': land}


def fly(vehicle, policy, count, steps, seed=0):
    """Return what became of the vehicles, by name."""
    env = ENVS[vehicle](count)
    env.action_space.seed(seed)
    observation, _ = env.reset(seed=seed)
    ended, good, score, began = 0, 0, 0.0, time.perf_counter()
    for _ in range(steps):
        if policy == 'random':
            actions = env.action_space.sample()
        else:
            actions = PILOTS[vehicle](env, observation)
        observation, reward, terminated, truncated, info = env.step(actions)
        ended += int(np.count_nonzero(terminated | truncated))
        good += int(np.count_nonzero(
            info['landed'] & terminated if 'landed' in info
            else truncated & (info['distance'] < 0.2)
        ))
        score += float(reward.mean())
    seconds = time.perf_counter() - began
    return {
        'episodes': ended, 'successes': good, 'reward of a step': score / steps,
        'steps per second': count * steps / seconds,
    }


def main():
    """Run the script."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('vehicle', choices=ENVS)
    parser.add_argument('--policy', choices=('random', 'pd'), default='pd')
    parser.add_argument('--envs', type=int, default=64, help='how many at once')
    parser.add_argument('--steps', type=int, default=1000, help='of each of them')
    parser.add_argument('--seed', type=int, default=0)
    options = parser.parse_args()
    told = fly(options.vehicle, options.policy, options.envs, options.steps, options.seed)
    print('\n'.join(f'{key}: {value:.4g}' for key, value in told.items()))


if __name__ == '__main__':
    main()
