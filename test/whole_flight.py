# SPDX-License-Identifier: Apache-2.0
"""The flight of one rocket by RocketPy, and by the boosters and the body of this package.

``PYTHONPATH=$PWD python test/whole_flight.py docs/whole_flight.png`` draws it; RocketPy must be
installed. The rocket is Calisto of RocketPy's first simulation (Projeto Jupiter, MIT): masses,
moments, grains and its drag in 13 points; the points of its motor, Cesaroni's M1670, are those that
the maker published. The rail is vertical, there is no wind, and nothing is deployed.
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

CURVE = [
    (0.0, 0.0), (0.055, 100.0), (0.092, 1500.0), (0.1, 2000.0), (0.15, 2200.0), (0.2, 1800.0),
    (0.5, 1950.0), (1.0, 2034.0), (1.5, 2000.0), (2.0, 1900.0), (2.5, 1760.0), (2.9, 1700.0),
    (3.0, 1650.0), (3.3, 530.0), (3.4, 350.0), (3.9, 0.0),
]
DRAG = [
    (0.04, 0.411), (0.21, 0.387), (0.37, 0.380), (0.54, 0.383), (0.7, 0.406), (0.8, 0.401),
    (0.91, 0.460), (0.92, 0.469), (1.05, 0.728), (1.42, 0.620), (1.59, 0.578), (1.79, 0.541),
    (2.0, 0.512),
]
RADIUS, MASS, INERTIA = 0.0635, 14.426, (6.321, 6.321, 0.034)
DRY_MOTOR, DRY_MOTOR_INERTIA = 1.815, (0.125, 0.125, 0.002)
NOZZLE, NOZZLE_AT, GRAINS_AT, DRY_MOTOR_AT = 0.033, -1.255, 0.397, 0.317
"""Radius of the nozzle, its place in the rocket, and places from it on."""
RAIL, SITE, AMBIENT = 5.2, 1400.0, 101_325.0
GRAINS = (5, 1815.0, 0.033, 0.015, 0.12, 0.005)
"""How many, density, outer and inner radius, length, and distance."""


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
    from rocketpy import Environment, Flight, Rocket

    # RocketPy lays a spline through few points; through many it is the same as lines.
    mach = np.linspace(0.0, DRAG[-1][0], 401)
    drag = np.stack((mach, np.interp(mach, *np.array(DRAG).T)), axis=-1).tolist()
    rocket = Rocket(
        radius=RADIUS, mass=MASS, inertia=INERTIA, power_off_drag=drag, power_on_drag=drag,
        center_of_mass_without_motor=0.0, coordinate_system_orientation='tail_to_nose',
    )
    rocket.add_motor(_rocketpy_motor(ambient), position=NOZZLE_AT)
    rocket.add_nose(length=0.55829, kind='von karman', position=1.278)
    rocket.add_trapezoidal_fins(
        n=4, root_chord=0.12, tip_chord=0.06, span=0.11, position=-1.04956, cant_angle=0.5,
    )
    rocket.add_tail(top_radius=RADIUS, bottom_radius=0.0435, length=0.06, position=-1.194656)
    site = Environment(latitude=32.990254, longitude=-106.974998, elevation=SITE)
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
        rocket=rocket, environment=site, rail_length=RAIL, inclination=inclination, heading=0.0,
        max_time_step=0.05, rtol=1e-8, terminate_on_apogee=True,
    )


def _rocketpy_motor(ambient: float | None) -> Any:
    from rocketpy import SolidMotor

    count, rho, outer, inner, length, gap = GRAINS
    return SolidMotor(
        thrust_source=CURVE, burn_time=CURVE[-1][0], dry_mass=DRY_MOTOR,
        dry_inertia=DRY_MOTOR_INERTIA, nozzle_radius=NOZZLE, grain_number=count, grain_density=rho,
        grain_outer_radius=outer, grain_initial_inner_radius=inner, grain_initial_height=length,
        grain_separation=gap, nozzle_position=0.0, grains_center_of_mass_position=GRAINS_AT,
        throat_radius=0.011, center_of_dry_mass_position=DRY_MOTOR_AT, reference_pressure=ambient,
        coordinate_system_orientation='nozzle_to_combustion_chamber',
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
