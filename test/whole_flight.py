# SPDX-License-Identifier: Apache-2.0
"""The flight of one rocket by RocketPy, and by the boosters and the body of this package.

``PYTHONPATH=$PWD python test/whole_flight.py docs/whole_flight.png`` draws it; RocketPy must be
installed. The rocket is Calisto of examples/rocketpy. The rail is vertical, there is no wind, and
nothing is deployed.
"""
from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.body.rigid_body import BodyParams, RigidBody
from propulsion_ros.models.boosters.boosters import Boosters, BoostersParams
from propulsion_ros.models.common.atmosphere import temperature_and_pressure
from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.supply.tanks import TanksParams

sys.path.append(str(Path(__file__).parents[1] / 'examples' / 'rocketpy'))
from calisto_data import (
    CURVE,
    DRAG,
    DRY_MOTOR,
    DRY_MOTOR_AT,
    DRY_MOTOR_INERTIA,
    GRAINS,
    GRAINS_AT,
    INERTIA,
    MASS,
    NOZZLE,
    NOZZLE_AT,
    PLACE,
    RADIUS,
    RAIL,
    SITE,
)

AMBIENT = 101_325.0


def by_rocketpy(ambient: float | None = None, warmer: float = 0.0) -> np.ndarray:
    """Return time, height over the site and speed at each step, (k, 3).

    With a pressure for which the curve of the motor holds, thrust rises as that of the air falls.
    """
    flight = rocketpy_flight(ambient, warmer)
    time = np.arange(0.0, float(flight.apogee_time), 0.01)
    height, speed = (
        np.array(source.get_value(time.tolist()), dtype=float) for source in (flight.z, flight.vz)
    )
    return np.stack((time, height - SITE, speed), axis=-1)


def rocketpy_flight(
    ambient: float | None = None, warmer: float = 0.0, inclination: float = 90.0
) -> Any:
    """Return RocketPy's flight from a rail at an inclination [degrees]."""
    from calisto import calisto
    from rocketpy import Environment, Flight

    site = Environment(latitude=PLACE[0], longitude=PLACE[1], elevation=SITE)
    site.set_atmospheric_model(type='standard_atmosphere')
    if warmer:
        heights = np.arange(0.0, 8e3, 50.0)
        temperature, pressure = temperature_and_pressure(heights, warmer)
        site.set_atmospheric_model(
            type='custom_atmosphere', wind_u=0.0, wind_v=0.0,
            temperature=np.stack((heights, temperature), axis=-1).tolist(),
            pressure=np.stack((heights, pressure), axis=-1).tolist(),
        )
    return Flight(
        rocket=calisto(ambient), environment=site, rail_length=RAIL, inclination=inclination,
        heading=0.0,
        max_time_step=0.05, rtol=1e-8, terminate_on_apogee=True,
    )


def by_body(
    dt: float = 0.01, ambient: float | None = None, warmer: float = 0.0, start_rpy: Any = 0.0
) -> np.ndarray:
    """Return the same from this package, and the way from the start; (k, 4)."""
    booster, dry = _booster(ambient), _dry()
    body = RigidBody(BodyParams(
        site_altitude=SITE, drag_area=[0.0, 0.0, np.pi * RADIUS**2], rail_length=RAIL,
        drag_over_mach=_text(DRAG), start_rpy=start_rpy, temperature_offset=warmer,
    ))
    rows, before = [], None
    for tick in range(6000):
        motion = body.motion
        way = float(np.linalg.norm(motion.position))
        rows.append((tick * dt, motion.position[2], body.velocity[2], way))
        if tick * dt > 1.0 and body.velocity[2] <= 0.0:
            break
        seen = BodyState(height=motion.position[2], up=motion.rotation[2])
        output = booster.step(Command(effort=[1.0]), seen, dt, tick)
        tank = output.tanks
        grains = MassProperties(float(tank.mass[0]), tank.com[0], tank.inertia[0])
        after = MassProperties.total([dry, grains])
        body.step(output.wrench, before or after, after, dt)
        before = after
    return np.array(rows)


def _booster(ambient: float | None) -> Any:
    count, rho, outer, inner, length, gap = GRAINS
    propellant = count * rho * np.pi * (outer**2 - inner**2) * length
    times, thrusts = np.array(CURVE).T
    impulse = float(np.sum(0.5 * (thrusts[1:] + thrusts[:-1]) * np.diff(times)))
    most = float(thrusts.max())
    return Boosters(BoostersParams(
        names=['motor'], max_thrust=most, max_fuel_rate=most * propellant / impulse,
        position=[0.0, 0.0, NOZZLE_AT], thrust_curve=_text(CURVE), site_altitude=SITE,
        exit_area=np.pi * NOZZLE**2 if ambient else 0.0, reference_pressure=ambient or AMBIENT,
        tank='grains', tanks=TanksParams(
            names=['grains'], capacity=propellant, com=[0.0, 0.0, NOZZLE_AT + GRAINS_AT],
            grain_outer_radius=outer, grain_inner_radius=inner, grain_length=length,
            grain_count=count, grain_separation=gap,
        ),
    ))


def _dry() -> MassProperties:
    motor = np.array([0.0, 0.0, NOZZLE_AT + DRY_MOTOR_AT])
    return MassProperties.total([
        MassProperties(MASS, np.zeros(3), np.diag(INERTIA)),
        MassProperties(DRY_MOTOR, motor, np.diag(DRY_MOTOR_INERTIA)),
    ])


def _text(points: list[tuple[float, float]]) -> str:
    return ' '.join(f'{x!r} {y!r}' for x, y in points)


def at_burnout(rows: np.ndarray) -> float:
    """Return the speed when the motor has burnt out [m/s]."""
    return float(np.interp(CURVE[-1][0], rows[:, 0], rows[:, 2]))


def draw(path: Path) -> None:
    """Draw both flights, and write apogee and speed at burnout into the legends."""
    import matplotlib as mpl

    mpl.use('Agg')
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.2), layout='constrained')
    for name, rows, style in (
        ('RocketPy', by_rocketpy(), {'lw': 4.0, 'color': '0.7'}), ('here', by_body(), {'lw': 1.0}),
    ):
        axes[0].plot(rows[:, 0], rows[:, 1], label=f'{name}: {rows[:, 1].max():.0f} m', **style)
        axes[1].plot(rows[:, 0], rows[:, 2], label=f'{name}: {at_burnout(rows):.1f} m/s', **style)
    axes[1].axvline(CURVE[-1][0], color='k', ls=':', lw=0.8)
    labels = ('height over the site [m]', 'apogee'), ('speed [m/s]', 'at burnout')
    for axis, (label, title) in zip(axes, labels, strict=True):
        axis.set_xlabel('time [s]')
        axis.set_ylabel(label)
        axis.grid(alpha=0.3)
        axis.legend(title=title)
    figure.savefig(path, dpi=80, metadata={'Software': None})
    plt.close(figure)


if __name__ == '__main__':
    draw(Path(sys.argv[1]))
