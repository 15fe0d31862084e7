# SPDX-License-Identifier: Apache-2.0
"""Calisto, the rocket of RocketPy's documentation, with a barometer and two parachutes."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import rocketpy
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
    SITE,
)

from propulsion_ros.rocketpy import FlightComputer

HERE = Path(__file__).resolve().parent


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
