# SPDX-License-Identifier: Apache-2.0
"""Calisto, the rocket of RocketPy's documentation (Projeto Jupiter, MIT), with two parachutes.

Masses, moments and grains are theirs, the drag is theirs in 13 points; the points of the motor,
Cesaroni's M1670, are those that the maker published.
"""
from __future__ import annotations

from pathlib import Path

import numpy as np
import rocketpy

from propulsion_ros.rocketpy import FlightComputer

HERE = Path(__file__).resolve().parent
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
GRAINS = (5, 1815.0, 0.033, 0.015, 0.12, 0.005)
"""How many, density, outer and inner radius, length, and distance."""
RAIL, SITE, PLACE = 5.2, 1400.0, (32.990254, -106.974998)


def motor(ambient: float | None = None) -> rocketpy.SolidMotor:
    """Return the motor; with an ambient pressure [Pa] its thrust rises as that of the air falls."""
    count, rho, outer, inner, length, gap = GRAINS
    return rocketpy.SolidMotor(
        thrust_source=CURVE, burn_time=CURVE[-1][0], dry_mass=DRY_MOTOR,
        dry_inertia=DRY_MOTOR_INERTIA, nozzle_radius=NOZZLE, grain_number=count, grain_density=rho,
        grain_outer_radius=outer, grain_initial_inner_radius=inner, grain_initial_height=length,
        grain_separation=gap, nozzle_position=0.0, grains_center_of_mass_position=GRAINS_AT,
        throat_radius=0.011, center_of_dry_mass_position=DRY_MOTOR_AT, reference_pressure=ambient,
        coordinate_system_orientation='nozzle_to_combustion_chamber',
    )


def calisto(ambient: float | None = None) -> rocketpy.Rocket:
    """Return the rocket without sensors and parachutes."""
    # RocketPy lays a spline through few points; through many it is the same as lines.
    mach = np.linspace(0.0, DRAG[-1][0], 401)
    drag = np.stack((mach, np.interp(mach, *np.array(DRAG).T)), axis=-1).tolist()
    rocket = rocketpy.Rocket(
        radius=RADIUS, mass=MASS, inertia=INERTIA, power_off_drag=drag, power_on_drag=drag,
        center_of_mass_without_motor=0.0, coordinate_system_orientation='tail_to_nose',
    )
    rocket.add_motor(motor(ambient), position=NOZZLE_AT)
    rocket.add_nose(length=0.55829, kind='von karman', position=1.278)
    rocket.add_trapezoidal_fins(
        n=4, root_chord=0.12, tip_chord=0.06, span=0.11, position=-1.04956, cant_angle=0.5,
    )
    rocket.add_tail(top_radius=RADIUS, bottom_radius=0.0435, length=0.06, position=-1.194656)
    return rocket


def computer(**options: object) -> FlightComputer:
    """Return the flight computer of this folder's files; see `FlightComputer` for the options."""
    given = {'config_file': str(HERE / 'flight.jsonc')}
    return FlightComputer(HERE / 'flight_state.yaml', given, **options)


def equip(rocket: rocketpy.Rocket, flown: FlightComputer, seed: int | None = None) -> None:
    """Add a barometer as a BMP388 is, and the two parachutes that the computer lets out."""
    rocket.add_sensor(
        rocketpy.Barometer(sampling_rate=10, noise_density=0.5, resolution=0.5, seed=seed), 0.6
    )
    for name, area in (('drogue', 1.0), ('main', 10.0)):
        rocket.add_parachute(
            name, cd_s=area, trigger=flown.trigger(name), sampling_rate=10, lag=1.5
        )


def site(wind: tuple[float, float] = (0.0, 0.0)) -> rocketpy.Environment:
    """Return Spaceport America in a wind toward east and north [m/s]."""
    place = rocketpy.Environment(latitude=PLACE[0], longitude=PLACE[1], elevation=SITE)
    place.set_atmospheric_model(
        type='custom_atmosphere', pressure=None, temperature=None, wind_u=wind[0], wind_v=wind[1]
    )
    return place
