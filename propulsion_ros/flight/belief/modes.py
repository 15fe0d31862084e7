# SPDX-License-Identifier: Apache-2.0
"""Modes of motion with their parameters, and how often they switch."""
from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY

FREE = 1e9  # time constant of a quantity that does not return to a mean [s]


class Mode(IntEnum):
    """What the vehicle is doing."""

    REST = 0
    CARRIED = 1
    PUSHED = 2
    COAST = 3
    PARACHUTE = 4


SUPPORTED = (Mode.REST, Mode.CARRIED)
"""Modes in which something holds the vehicle: ground, hands, a lift, a crane."""


class Motion(NamedTuple):
    """Vertical motion in a mode: speed and acceleration are Ornstein-Uhlenbeck processes.

    Attributes
    ----------
    speed, speed_spread, speed_time : float
        Mean and standard deviation [m/s], time constant [s].
    acceleration, acceleration_spread, acceleration_time : float
        The same of the acceleration net of gravity [m/s^2], [s].
    widest : float
        Distance from its mean up to which any speed is plausible [m/s].
    entry_speed : float
        Standard deviation of the speed where the mode begins [m/s]; 0 if the speed goes on.
    entry_jump : float
        Standard deviation of the jump there of a speed that goes on [m/s].
    entry_acceleration, entry_spread : float
        Mean and standard deviation of the acceleration where the mode begins [m/s^2].
    """

    speed: float
    speed_spread: float
    speed_time: float
    acceleration: float
    acceleration_spread: float
    acceleration_time: float
    widest: float
    entry_speed: float
    entry_jump: float
    entry_acceleration: float
    entry_spread: float


MOTIONS: Mapping[Mode, Motion] = {
    # Hands and wind shake a vehicle on the ground.
    Mode.REST: Motion(0.0, 0.5, 1.0, 0.0, 1.5, 0.5, 3.0, 0.5, 0.0, 0.0, 2.0),
    # Carried by hand, in a lift, or by a helicopter.
    Mode.CARRIED: Motion(0.0, 12.0, 20.0, 0.0, 1.5, 0.5, 16.0, 0.0, 2.0, 0.0, 2.0),
    # Motors of 0.5 to 15 g; `Belief` adds the variation of the thrust.
    Mode.PUSHED: Motion(0.0, 0.0, FREE, 60.0, 1.0, FREE, FREE, 0.0, 0.0, 60.0, 60.0),
    # Gravity, and the drag that `Belief` adds.
    Mode.COAST: Motion(
        0.0, 0.0, FREE, -STANDARD_GRAVITY, 2.0, 0.5, FREE, 0.0, 0.0, -STANDARD_GRAVITY, 2.0,
    ),
    # It opens with a jerk, then descends as steadily as a carried vehicle: only the speed and
    # the beginning differ.
    Mode.PARACHUTE: Motion(-20.0, 20.0, 125.0, 0.0, 1.5, 0.5, 18.5, 0.0, 10.0, 0.0, 4.0),
}

MEAN_TIMES: Mapping[tuple[Mode, Mode], float] = {
    (Mode.REST, Mode.PUSHED): 300.0, (Mode.REST, Mode.COAST): 3600.0,
    (Mode.REST, Mode.CARRIED): 300.0, (Mode.CARRIED, Mode.REST): 30.0,
    (Mode.CARRIED, Mode.PUSHED): 1000.0, (Mode.CARRIED, Mode.COAST): 300.0,
    (Mode.PUSHED, Mode.COAST): 2.0, (Mode.PUSHED, Mode.PARACHUTE): 1000.0,
    (Mode.COAST, Mode.PUSHED): 60.0, (Mode.COAST, Mode.PARACHUTE): 20.0,
    (Mode.PARACHUTE, Mode.COAST): 100.0,
    (Mode.PUSHED, Mode.REST): 30.0, (Mode.COAST, Mode.REST): 30.0,
    (Mode.PARACHUTE, Mode.REST): 30.0,
}
"""Mean time until one mode follows another [s]. Only a push or a drop leads into the air, and only
a vehicle at rest is picked up."""
