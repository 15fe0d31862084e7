# SPDX-License-Identifier: Apache-2.0
"""Fly the simulated quadrotor by Betaflight: hover, and a step of roll.

``python fly.py .../obj/betaflight_4.6.0_SITL flight.png``
"""
from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from firmware import ORDER, Firmware, FirmwareError

import propulsion_ros
from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.body.rigid_body import BodyParams, RigidBody
from propulsion_ros.models.common.atmosphere import temperature_and_pressure

DT, PERIOD = 0.002, 0.02
"""A step of the simulation, which the firmware learns of, and time between two sticks [s]."""
TAKE_OFF, HOVER, STEP, BACK, END = 1.0, 4.0, 34.0, 36.0, 38.0
"""After it is armed: when it takes off, hovers, rolls by a step, comes back, and the end [s]."""
GRACE, SWITCH, PATIENCE = 6.0, 3.0, 60.0
"""It cannot be armed just after its start; then the switch goes on and off until it is [s]."""
HEIGHT, ROLL, LIMIT = 2.0, np.radians(20.0), np.radians(40.0)
"""Height [m]; the step, and the angle at full stick: angle_limit in `firmware.SETTINGS` [rad]."""
GYRO, FORCE = 0.02, 0.3
"""Noise of the inertial sensor, as of one on a frame that shakes [rad/s], [m/s^2]."""
WEIGHT, MOST = 1.5 * 9.80665, 4.0 * 7.4
"""Of the quadrotor, and the thrust of its rotors together [N]."""


class HeightLoop:
    """Throttle that holds a height: proportional, damped, with an integral for what is unknown."""

    def __init__(self) -> None:
        self._sum = 0.0

    def throttle(self, error: float, climb: float, up: float) -> float:
        """Return the throttle, 0 to 1, for an error [m], a climb [m/s] and the cosine of tilt."""
        if abs(error) < 0.3:
            self._sum = float(np.clip(self._sum + 2.0 * error * PERIOD, -2.0, 2.0))
        lift = WEIGHT * (1.0 + (4.0 * error - 3.5 * climb + self._sum) / 9.80665)
        return float(np.clip(lift / (MOST * max(up, 0.5)), 0.0, 0.9))


def fly(program: Path, folder: Path, rate: float = 1.0) -> np.ndarray:
    """Fly, and return time, height, roll, pitch, heading, demanded roll and throttles (n, 10).

    Angles are in degrees. The time of the simulation is the real one, times the rate: below 1 for
    a machine that has other work.
    """
    rotors = propulsion_ros.load(
        'quadrotor', Path(__file__).with_name('quadrotor.yaml')
    )['rotors']
    # A batch of one is slower than a single body, and real time does not wait.
    mass = propulsion_ros.load_vehicles('quadrotor').mass
    dry = MassProperties(float(mass.mass), np.array(mass.com), np.diag(mass.inertia[:3]))
    body = RigidBody(BodyParams(drag_area=[0.012, 0.012, 0.02], angular_drag=4e-4))
    columns = [ORDER.index(name) for name in rotors.command_names]
    height, rng, rows = HeightLoop(), np.random.default_rng(0), []
    throttles, now, sticks_at, armed = np.zeros(len(ORDER)), 0.0, 0.0, np.inf
    with Firmware(program, folder, rate) as firmware:
        begin = time.monotonic()
        while now < armed + END:
            # As many steps as the clock has made: neither waits for the other.
            while now + DT <= rate * (time.monotonic() - begin):
                body.step(rotors.step(throttles[columns], dt=DT).wrench, dry, dry, DT)
                now += DT
            motion = body.motion
            position, rotation = motion.position, motion.rotation
            firmware.send_state(
                motion.angular_velocity + rng.normal(0.0, GYRO, 3),
                body.specific_force + rng.normal(0.0, FORCE, 3), motion.quaternion,
                float(temperature_and_pressure(position[2])[1]),
            )
            flown = now - armed
            demand = ROLL if STEP <= flown < BACK else 0.0
            if now >= sticks_at:
                sticks_at = now + PERIOD
                lift = height.throttle(
                    HEIGHT - position[2], body.velocity[2], rotation[2, 2]
                ) if flown >= TAKE_OFF else 0.0
                is_on = flown >= 0.0 or (now > GRACE and now % SWITCH > 0.5 * SWITCH)
                firmware.send_sticks(roll=demand / LIMIT, throttle=lift, is_armed=is_on)
            roll = np.arctan2(rotation[2, 1], rotation[2, 2])
            pitch = -np.arcsin(np.clip(rotation[2, 0], -1.0, 1.0))
            heading = np.arctan2(rotation[1, 0], rotation[0, 0])
            if flown >= 0.0:
                angles = np.degrees((roll, pitch, heading, demand))
                rows.append((flown, position[2], *angles, *throttles))
            time.sleep(max(begin + (now + DT) / rate - time.monotonic(), 0.0))
            given = firmware.motors()
            throttles = throttles if given is None else np.clip(given, 0.0, 1.0)
            if throttles.any():
                armed = min(armed, now)
            elif now > PATIENCE:
                raise FirmwareError('it cannot be armed; its CLI says why: status')
    return np.array(rows)


def summary(rows: np.ndarray) -> dict[str, float]:
    """Return how well it hovered, and how it followed the step."""
    now, high, roll, pitch = rows[:, :4].T
    hover = (now >= HOVER) & (now < STEP)
    tilt = np.degrees(np.arccos(np.cos(np.radians(roll)) * np.cos(np.radians(pitch))))
    held = (now >= STEP + 1.0) & (now < BACK)
    after = now[(now >= STEP) & (roll >= 0.9 * np.degrees(ROLL))]
    return {
        'tilt of 95 % of the hover [deg]': float(np.percentile(tilt[hover], 95)),
        'largest tilt of the hover [deg]': float(tilt[hover].max()),
        'height of the hover [m]': float(high[hover].mean()),
        'error of height [m]': float(np.abs(high[hover] - HEIGHT).max()),
        'drift of the heading [deg]': float(np.ptp(rows[hover, 4])),
        'roll after a second of the step [deg]': float(roll[held].mean()),
        'largest roll [deg]': float(roll[now >= STEP].max()),
        'time to 90 % of it [s]': float(after[0] - STEP) if len(after) else float('nan'),
    }


def draw(rows: np.ndarray, path: Path) -> None:
    """Draw attitude, height and throttles."""
    import matplotlib as mpl

    mpl.use('Agg')
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(10.0, 5.4), layout='constrained')
    step = (rows[:, 0] > STEP - 0.5) & (rows[:, 0] < BACK + 1.5)
    for axis, part in ((axes[0, 0], rows[::10]), (axes[0, 1], rows[step])):
        for column, name in ((2, 'roll'), (3, 'pitch'), (4, 'heading')):
            axis.plot(part[:, 0], part[:, column], lw=1.0, label=name)
        axis.plot(part[:, 0], part[:, 5], 'k:', lw=1.0, label='roll demanded')
        axis.set_ylabel('angle [deg]')
    axes[0, 0].legend(loc='upper left')
    axes[1, 0].plot(rows[::10, 0], rows[::10, 1], lw=1.0)
    axes[1, 0].set_ylabel('height [m]')
    for column, name in enumerate(ORDER):
        axes[1, 1].plot(rows[step, 0], rows[step, 6 + column], lw=0.8, label=name)
    axes[1, 1].set_ylabel('throttle of a motor')
    axes[1, 1].legend(ncols=2)
    for axis in axes.ravel():
        axis.set_xlabel('time [s]')
        axis.grid(alpha=0.3)
    figure.savefig(path, dpi=80, metadata={'Software': None})
    plt.close(figure)


def main() -> None:
    """Fly, print and draw."""
    parser = argparse.ArgumentParser()
    parser.add_argument('program', type=Path)
    parser.add_argument('picture', type=Path)
    parser.add_argument('--rate', type=float, default=1.0, help='of time (default: real time)')
    args = parser.parse_args()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix='betaflight_') as folder:
        rows = fly(args.program, Path(folder), args.rate)
    for name, value in summary(rows).items():
        print(f'{name}: {value:.2f}')
    print(f'real time [s] with its start: {time.monotonic() - begin:.1f}')
    draw(rows, args.picture)


if __name__ == '__main__':
    main()
