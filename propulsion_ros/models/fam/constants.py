# SPDX-License-Identifier: Apache-2.0
"""Constants of Astrobee's propulsion modules.

Numbers as published in NASA's Astrobee flight software (gnc/pmc/src/shared.cc, fam.cc, pmc_sim.cc
and the scripts of its Matlab model). Body axes: x forward, y starboard, z down.
"""
from __future__ import annotations

import numpy as np

INCH = 0.0254

NOZZLE_NAMES = tuple(f'nozzle_{i}' for i in range(1, 13))
"""1..6 on the starboard module, 7..12 on the port module, in the order of the hardware."""

IMPELLER_NAMES = ('impeller_1', 'impeller_2')

NOZZLE_IMPELLERS = ('impeller_1',) * 6 + ('impeller_2',) * 6

_NOZZLES = (
    # Position [in], direction of the outflow, width [in], discharge coefficient.
    ((6.00, 4.01, -1.56), (1, 0, 0), 5.0, 0.914971062),
    ((-6.00, 4.01, 1.56), (-1, 0, 0), 5.0, 0.755778254),
    ((2.83, 6.00, 2.83), (0, 1, 0), 2.8, 0.940762925),
    ((-2.83, 6.00, -2.83), (0, 1, 0), 2.8, 0.792109779),
    ((-2.66, 4.01, 6.00), (0, 0, 1), 2.8, 0.924018810),
    ((2.66, 4.01, -6.00), (0, 0, -1), 2.8, 0.930319765),
    ((-6.00, -4.01, -1.56), (-1, 0, 0), 5.0, 0.947114008),
    ((6.00, -4.01, 1.56), (1, 0, 0), 5.0, 0.764468916),
    ((-2.83, -6.00, 2.83), (0, -1, 0), 2.8, 1.000000000),
    ((2.83, -6.00, -2.83), (0, -1, 0), 2.8, 0.904809430),
    ((2.66, -4.01, 6.00), (0, 0, 1), 2.8, 0.936555627),
    ((-2.66, -4.01, -6.00), (0, 0, -1), 2.8, 0.893794766),
)
NOZZLE_POSITIONS = tuple(INCH * x for position, _, _, _ in _NOZZLES for x in position)
"""Place of each nozzle in base_link [m], row by row."""

NOZZLE_AXES = tuple(-float(x) for _, outflow, _, _ in _NOZZLES for x in outflow)
"""Direction of each thrust, against the outflow, row by row."""

NOZZLE_WIDTHS = tuple(INCH * width for _, _, width, _ in _NOZZLES)
"""Width of the opening of each nozzle [m]."""

DISCHARGE_COEFFICIENTS = tuple(coefficient for _, _, _, coefficient in _NOZZLES)

IMPELLER_AXES = (0.0, 1.0, 0.0, 0.0, -1.0, 0.0)
"""Direction of each impeller's angular velocity, row by row."""

ZERO_THRUST_AREAS = (0.0044667, 0.0042273)
"""Leakage of each plenum [m^2]."""

INTAKE_HEIGHT = 0.5154 * INCH
"""H, half the height of a nozzle's intake [m]."""

FLAP_LENGTH = 0.5353 * INCH
"""L, length of a flap [m]; at the angle a it leaves the gap H - L cos(a)."""

MIN_ANGLE = float(np.deg2rad(15.68))
"""Flap angle of a closed nozzle [rad]."""

MAX_ANGLE = float(np.deg2rad(79.91))
"""Flap angle of an open nozzle [rad], a theoretical value."""

COUNTS = 255
"""Servo command of the largest angle; 0 commands the smallest."""

LARGEST_COUNT = 254
"""What the original sends at the open stop: single precision gives 254.999985, then truncates."""

COUNTS_PER_SPEED = 0.792095
"""Impeller command per speed [s/rad]."""

MEASURED_SPEED_PER_COUNT = 1.34587
"""Speed per count of the hardware's telemetry [rad/s], unlike that of its command."""

MAX_SPEED = COUNTS * MEASURED_SPEED_PER_COUNT
"""Speed of an impeller at the largest command, as measured [rad/s]."""

RPM = 2.0 * np.pi / 60.0
FLIGHT_MODES = {'off': 0, 'quiet': 1, 'nominal': 2, 'difficult': 3, 'precision': 3}
"""Flight modes and the speed they choose."""

IMPELLER_SPEEDS = (2000.0 * RPM, 2500.0 * RPM, 2800.0 * RPM)
"""Speeds 1 to 3 [rad/s]."""

IMPELLER_DIAMETER = 5.5 * INCH
IMPELLER_HEIGHT = 1.6742 * INCH
"""Height of the impeller's trailing edge [m]."""

AIR_DENSITY = 1.2
"""[kg/m^3]; of the thrust table too, although the model's script has 1.225."""

PRESSURE_POLYNOMIAL = (58.72, -45.013, 11.782, -2.1758, 0.1278, 0.0825)
"""Pressure coefficient over the flow coefficient, highest power first."""

FLOW_STEP = 0.001
"""Spacing of the tables in the flow coefficient."""

MAX_FLOW = 0.33319
"""Largest flow coefficient of the measurement behind the polynomial."""

CONTROL_PERIOD = 1.0 / 62.5
"""Period of the allocation and of the module's own control [s]."""

BATTERY_VOLTAGE = 14.0
IMPELLER_INERTIA = 1e-3
"""Moment of inertia of an impeller about its axis [kg m^2]."""

MAX_IMPELLER_ACCELERATION = 200.0 * RPM
"""Ramp of the speed that the impeller's control follows [rad/s^2]."""

IMPELLER_GAINS = (0.2, 0.1, 0.05)
"""Proportional, integral and derivative gain of the impeller's control, from rad/s to V."""

IMPELLER_MAX_VOLTAGE = 16.6
IMPELLER_SPEED_CONSTANT = 374.0 * RPM
"""No-load speed per voltage [rad/(s V)]."""

IMPELLER_RESISTANCE = 1.2
"""Resistance of the winding of an impeller's motor [ohm]."""

IMPELLER_TORQUE_CONSTANT = 0.0255
"""Torque over current of an impeller's motor [N m/A]."""

IMPELLER_FRICTION = 0.144 * IMPELLER_TORQUE_CONSTANT / (4380.0 * RPM)
"""Friction torque over the speed of an impeller [N m s]."""

SERVO_GAINS = (5.0, 1.5, 0.8)
"""Proportional, integral and derivative gain of the servos' control, from rad to V."""

SERVO_MAX_VOLTAGE = 6.0
SERVO_TORQUE_CONSTANT = 0.2893 * 0.01 / 1.5
"""Torque over current [N m/A] and back voltage over speed [V s] of a servo's motor."""

SERVO_RESISTANCE = 6.0 / 1.5
"""Resistance of the winding of a servo's motor [ohm]."""

SERVO_FRICTION = 3e-7
"""Friction torque over the speed of a servo's motor [N m s]."""

SERVO_INERTIA = 2.5e-8
"""Moment of inertia of motor and gearbox, at the motor [kg m^2]."""

SERVO_GEAR_RATIO = 0.01
"""Servo angle over motor angle."""

NOZZLE_GEAR_RATIO = 0.5
"""Servo angle over flap angle."""

BACKLASH = float(np.deg2rad(1.0))
"""Free travel at the motor [rad]."""
