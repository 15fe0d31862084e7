# SPDX-License-Identifier: Apache-2.0
"""The attitude, and values that stand in for so long."""
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from propulsion_ros.flight.events.conditions import All, MoreThan
from propulsion_ros.flight.events.event_inputs import AttitudeReader, HeldValues
from propulsion_ros.flight.events.events import EventEngine, EventSpec
from propulsion_ros.flight.events.variables import Variables

IDENTITY = (0.0, 0.0, 0.0, 1.0)
HALF = math.pi / 2
NAN = math.nan
MS = 1_000_000


def turned(axis, angle):
    return tuple(Rotation.from_rotvec(np.asarray(axis, float) * angle).as_quat())


@pytest.mark.parametrize(
    ('rotation', 'board'),
    [
        pytest.param(IDENTITY, (0.0, 0.0, HALF), id='x east is heading east'),
        pytest.param(turned([0, 0, 1], HALF), (0.0, 0.0, 0.0), id='x north'),
        pytest.param(turned([0, 0, 1], HALF - 0.3), (0.0, 0.0, 0.3), id='right of north'),
    ],
)
def test_board_angles_against_north_east_down(rotation, board):
    assert AttitudeReader([0, 0, 1]).read(rotation).board == pytest.approx(board, abs=1e-12)


@pytest.mark.parametrize(('angle', 'pitch'), [(0.0, 0.0), (-0.2, 0.2), (0.4, -0.4)])
def test_pitch_is_positive_nose_up(angle, pitch):
    # Heading north, turned about the axis that points right (east).
    heading = Rotation.from_rotvec([0.0, 0.0, HALF])
    rotation = Rotation.from_rotvec([-angle, 0.0, 0.0]) * heading
    # A positive turn about east raises a nose that points north.
    attitude = AttitudeReader([1, 0, 0]).read(tuple(rotation.as_quat()))
    assert attitude.board[1] == pytest.approx(pitch, abs=1e-12)
    assert attitude.rocket == pytest.approx(attitude.board, abs=1e-12)


@pytest.mark.parametrize('nose', [(0, 0, 1), (1, 0, 0), (0, -1, 0), (-1, 0, 0), (1, 2, 3)])
@given(st.floats(-math.pi, math.pi), st.floats(-math.pi, math.pi), st.floats(-1.5, 1.5))
def test_tilt_is_the_angle_of_the_nose_from_up(nose, yaw, roll, pitch):
    rotation = Rotation.from_euler('ZYX', [yaw, pitch, roll])
    up = rotation.apply(np.asarray(nose, float) / np.linalg.norm(nose))[2]
    attitude = AttitudeReader(nose).read(tuple(rotation.as_quat()))
    assert math.cos(attitude.tilt) == pytest.approx(up, abs=1e-9)
    # The pitch of the rocket is its nose's elevation.
    assert math.sin(attitude.rocket[1]) == pytest.approx(up, abs=1e-9)


@pytest.mark.parametrize(
    'rotation', [(math.nan,) * 4, (0.0,) * 4, (math.inf, 0.0, 0.0, 1.0)], ids=repr
)
def test_what_is_no_rotation_is_unknown(rotation):
    attitude = AttitudeReader([0, 0, 1]).read(rotation)
    assert all(math.isnan(v) for v in (*attitude.rocket, *attitude.board, attitude.tilt))


def test_a_value_stands_in_for_so_long_and_no_longer():
    held = HeldValues()
    held.update(Variables(0, position=(1.0, 2.0, 3.0), tilt=0.5))
    held.update(Variables(100 * MS, position=(NAN, 4.0, NAN)))
    aged = held.aged(100 * MS)
    assert (aged.position, aged.tilt, aged.clock_ns) == ((1.0, 4.0, 3.0), 0.5, 100 * MS)
    held.update(Variables(101 * MS, position=(NAN, NAN, NAN)))
    north, east, down = held.aged(100 * MS).position
    assert (math.isnan(north), east, math.isnan(down)) == (True, 4.0, True)


@pytest.mark.parametrize(('max_age_ms', 'fires'), [(0, False), (20, True), (10, False)])
def test_event_over_values_that_come_in_turns(max_age_ms, fires):
    both = All((MoreThan('Position', 2, -100.0), MoreThan('Velocity', 2, 1.0)))
    engine = EventEngine([EventSpec(0, 'low and falling', both, max_age_ns=max_age_ms * MS)])
    held = HeldValues()
    fired = []
    for i in range(5):
        variables = Variables(
            20 * i * MS,
            position=(0.0, 0.0, -50.0 if i % 2 == 0 else NAN),
            velocity=(0.0, 0.0, 5.0 if i % 2 == 1 else NAN),
        )
        held.update(variables)
        fired += engine.update(variables, 0, held.aged)
    assert bool(fired) == fires
