# SPDX-License-Identifier: Apache-2.0
"""One bench run of each family: what is commanded, and what is fitted."""
from __future__ import annotations

import numpy as np
from identify_truth import Bench, steps

_TWO = {'names': ['a', 'b'], 'position': [0.1, 0, 0, -0.1, 0, 0]}


def _speeds(rng, time, count):
    both = steps(150.0, 500.0, 0.5)(rng, time, count)
    return both * np.sign(np.sin(time * 0.9 + rng.uniform(0.0, 6.0)))[:, None]


def _flow(rng, time):
    flow = np.zeros((len(time), 6))
    flow[:, 0] = 2.0 + 0.5 * np.sin(time * rng.uniform(0.3, 0.8))
    flow[:, 2] = 0.2 * np.sin(time * rng.uniform(0.8, 1.5))
    return flow


def _wrench_commands(rng, time, count):
    return steps(-1.0, 1.0, 0.8)(rng, time, count) * np.repeat([0.3, 0.02], 3)


def _module_commands(rng, time, count):
    angles = steps(0.3, 1.3, 0.5)(rng, time, 12)
    speeds = steps(180.0, 290.0, 2.0)(rng, time, 2)
    return np.concatenate((angles, speeds), axis=1)[:, :count]


BENCHES = {
    'rotors': Bench(
        'rotors', {
            **_TWO, 'max_thrust': 0.4, 'motor_constant': 2.4e-8, 'command_interface': 'throttle',
            'esc_gives': 'speed', 'esc_curve': '0 2270', 'axis': [0, 0, 1, 0, 0, 1],
            'moment_constant': 0.006,
        }, lambda rng: {
            'time_constant_up': rng.uniform(0.02, 0.1),
            'time_constant_down': rng.uniform(0.02, 0.15),
            'thrust_curve': (
                f'{rng.uniform(0.005, 0.02)} {rng.uniform(0, 1e-5)} {rng.uniform(1.5e-8, 3e-8)}'
            ),
        }, ['time_constant_up', 'time_constant_down', 'thrust_curve'], steps(0.2, 0.9, 0.4),
        0.02, 0.02,
    ),
    'thrusters': Bench(
        'thrusters', {
            **_TWO, 'dynamics': 'first_order', 'conversion': 'dead_zone', 'axis': [1, 0, 0] * 2,
            'delta_left': -3000.0, 'delta_right': 3000.0,
        }, lambda rng: {
            'time_constant': rng.uniform(0.05, 0.4),
            'rotor_constant_left': rng.uniform(1e-4, 4e-4),
            'rotor_constant_right': rng.uniform(1e-4, 4e-4),
        }, ['time_constant', 'rotor_constant_left', 'rotor_constant_right'], _speeds, 0.02, 0.01,
    ),
    'boosters': Bench(
        'boosters', {
            'names': ['engine'], 'max_thrust': 900.0, 'min_thrust': 50.0, 'reignitable': True,
            'command_interface': 'throttle', 'max_fuel_rate': 0.1,
        }, lambda rng: {
            'time_constant': rng.uniform(0.03, 0.3),
            'esc_curve': f'{rng.uniform(60, 100)} {rng.uniform(200, 400)} {rng.uniform(100, 300)}',
        }, ['time_constant', 'esc_curve'], steps(0.1, 1.0, 0.6), 0.01, 0.01,
    ),
    'jets': Bench(
        'jets', {**_TWO, 'axis': [0, 0, 1] * 2, 'modulation': 'on_off', 'on_level': 0.5,
                 'off_level': 0.4}, lambda rng: {
            'max_thrust': rng.uniform(0.5, 3.0), 'open_delay': rng.uniform(0.015, 0.05),
            'close_delay': rng.uniform(0.015, 0.05),
        }, ['max_thrust', 'open_delay', 'close_delay'],
        lambda rng, time, count: 5.0 * (steps(-1.0, 1.0, 0.3)(rng, time, count) > 0.0),
        0.03, 0.02, dt=0.004, is_slow=True,
    ),
    'fins': Bench(
        'fins', {
            'names': ['fin'], 'quadratic.fin': ['fin'], 'dynamics': 'first_order',
        }, lambda rng: {
            'time_constant': rng.uniform(0.05, 0.3), 'quadratic.lift_constant': rng.uniform(2, 8),
            'quadratic.drag_constant': rng.uniform(1, 4),
        }, ['time_constant', 'quadratic.lift_constant', 'quadratic.drag_constant'],
        steps(-0.4, 0.4, 0.6), 0.02, 0.01, flow=_flow, is_slow=True,
    ),
    # The wrench of these nozzles is the one that was commanded; what they do for it is not.
    'fam': Bench(
        'fam', {'quantise': False}, lambda rng: {'thrust_scale': rng.uniform(0.7, 1.3)},
        ['thrust_scale'], _wrench_commands, 0.02, 0.01, dt=0.016, off=1.1,
        states=[f'nozzle_{i}.position' for i in range(1, 5)],
    ),
    'propulsion_modules': Bench(
        'propulsion_modules', {}, lambda rng: {'thrust_scale': rng.uniform(0.7, 1.3)},
        ['thrust_scale'], _module_commands, 0.02, 0.01, dt=0.016, is_slow=True,
    ),
}
