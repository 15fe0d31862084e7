# SPDX-License-Identifier: Apache-2.0
"""Rotors with a measured thrust over rotor speed in place of motor_constant w^2."""
import numpy as np
import pytest

from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.rotors.rotors import Rotors, RotorsParams

STILL = BodyState()
BASE = {
    'names': ['a', 'b'], 'max_thrust': 0.14, 'motor_constant': 2.5e-8, 'position': [0.0, 0.0, 0.0],
    'axis': [0.0, 0.0, 1.0],
}
CURVE = '0.02 -4e-6 2.4e-8'


def of_speed(w):
    return 0.02 - 4e-6 * w + 2.4e-8 * w**2


@pytest.mark.parametrize(('command', 'esc'), [
    ({'velocity': [1000.0, 2000.0]}, {'command_interface': 'velocity'}),
    ({'position': [0.4, 0.8]},
     {'command_interface': 'throttle', 'esc_gives': 'speed', 'esc_curve': '0 2500'}),
])
def test_a_speed_gives_the_thrust_of_the_curve(command, esc):
    rotors = Rotors(RotorsParams(**BASE, thrust_curve=CURVE, **esc))
    output = rotors.step(Command(**command), STILL, 0.01, 0)
    speeds = np.array([1000.0, 2000.0])
    np.testing.assert_allclose(output.velocity, speeds)
    np.testing.assert_allclose(output.effort, of_speed(speeds))
    np.testing.assert_allclose(output.wrench[2], of_speed(speeds).sum())


def test_a_thrust_is_reached_and_its_command_is_found():
    wanted = np.array([0.05, 0.1])
    rotors = Rotors(RotorsParams(**BASE, thrust_curve=CURVE))
    output = rotors.step(Command(effort=wanted), STILL, 0.01, 0)
    np.testing.assert_allclose(output.effort, wanted, atol=2e-6)
    by_speed = Rotors(RotorsParams(**BASE, thrust_curve=CURVE, command_interface='velocity'))
    np.testing.assert_allclose(of_speed(by_speed.command_for(wanted)), wanted, atol=2e-6)


def test_a_table_is_linear_between_its_points():
    rotors = Rotors(RotorsParams(
        **BASE, thrust_curve=['0 0 1000 0.05 2000 0.15', '0 0.01 2000 0.2'],
        thrust_curve_kind='table', command_interface='velocity',
    ))
    output = rotors.step(Command(velocity=[1500.0, 1000.0]), STILL, 0.01, 0)
    np.testing.assert_allclose(output.effort, [0.1, 0.105])


def test_the_mean_of_a_step_is_near_that_of_many():
    """The curve is taken at the root mean square of the speed."""
    esc = {'command_interface': 'velocity', 'time_constant_up': 0.07, 'time_constant_down': 0.07}
    long, short = (Rotors(RotorsParams(**BASE, thrust_curve=CURVE, **esc)) for _ in range(2))
    command = Command(velocity=[2000.0, 500.0])
    whole = long.step(command, STILL, 0.01, 0).effort
    parts = np.mean([short.step(command, STILL, 0.001, i).effort for i in range(10)], axis=0)
    np.testing.assert_allclose(whole, parts, atol=1e-4)
