# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re

import numpy as np
import pytest

import propulsion_ros
from mistakes import TEXTS
from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.settings.errors import ConfigError


@pytest.fixture
def robot(tmp_path):
    path = tmp_path / 'robot.urdf'
    path.write_text(TEXTS['robot'])
    return path


def test_models_by_their_blocks(robot):
    models = propulsion_ros.load(robot)
    assert list(models) == ['rotors']
    output = models['rotors'].step(Command(effort=[5.0]), BodyState(), 0.01, 0)
    np.testing.assert_allclose(output.wrench, [0.0, 0.0, 5.0, 0.0, -1.0, 0.0], atol=1e-12)


def test_parameters_win(robot, tmp_path):
    (tmp_path / 'robot.yaml').write_text('rotors:\n  ros__parameters: {max_thrust: [3.0]}\n')
    models = propulsion_ros.load(robot, tmp_path / 'robot.yaml')
    assert models['rotors'].thrust_limits[1].tolist() == [3.0]


@pytest.mark.parametrize(('old', 'new', 'problem'), [
    ('<max_thrust>9', '<max_thrust>-9', r':19: gazebo/.*/max_thrust: -9 is below 0 N'),
    ('propulsion_ros', 'other', ': has no plugin block of actuators'),
])
def test_errors_name_the_file(robot, old, new, problem):
    robot.write_text(TEXTS['robot'].replace(old, new))
    with pytest.raises(ConfigError, match=f'{re.escape(str(robot))}{problem}'):
        propulsion_ros.load(str(robot))
