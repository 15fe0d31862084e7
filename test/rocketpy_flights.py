# SPDX-License-Identifier: Apache-2.0
"""Random flights by RocketPy, six degrees of freedom, as an imperfect altimeter sees them."""
from __future__ import annotations

import math

import numpy as np

from propulsion_ros.study.apogee_flights import Truth, measure

PREMATURE_SPEED = 5.0
"""True upward speed above which a detection is premature [m/s]; a coast has it 0.5 s before its
apogee. No time can tell: a stage that is lit near an apogee leads to another one later."""
_STEP = 0.01
_PAD = 3.0
_AFTER = 8.0
_LEAST = 130.0
"""Rise below which a flight is drawn anew [m]."""


def rocketpy_flight(seed):
    """Return the flight of a seed; its apogee lies at least 130 m above the pad."""
    rng = np.random.default_rng((seed, 2020))
    truth = None
    while truth is None or truth.altitude[truth.apogee] < _LEAST:
        truth = _truth(_fly(rng))
    return measure(rng, truth)


def equipped_flight(seed, equip):
    """Return the flight of a seed to its end, of a rocket that ``equip(rng, rocket)`` completes.

    It adds sensors and parachutes; the flight is drawn anew until its apogee is high enough.
    """
    rng = np.random.default_rng((seed, 2026))
    while True:
        flight = _fly(rng, equip, 600.0)
        if flight.apogee - flight.env.elevation > _LEAST:
            return flight


def _fly(rng, equip=None, longest=120.0):
    from rocketpy import Environment, Flight, Rocket

    wind = rng.normal(0.0, 4.0, (2, 2))
    site = Environment(
        latitude=float(rng.uniform(-60.0, 60.0)), longitude=0.0,
        elevation=float(rng.uniform(0.0, 1500.0)),
    )
    site.set_atmospheric_model(
        type='custom_atmosphere', pressure=None,
        temperature=[(0.0, float(rng.uniform(270.0, 305.0))), (20e3, 217.0)],
        wind_u=[(0.0, wind[0, 0]), (20e3, 4.0 * wind[0, 1])],
        wind_v=[(0.0, wind[1, 0]), (20e3, 4.0 * wind[1, 1])],
    )
    mass = float(10.0 ** rng.uniform(0.3, 1.5))
    radius = 0.033 * mass**0.28
    length = radius * float(rng.uniform(22.0, 34.0))
    rocket = Rocket(
        radius=radius, mass=mass,
        inertia=(mass * length**2 / 12.0, mass * length**2 / 12.0, 0.5 * mass * radius**2),
        power_off_drag=_drag(rng), power_on_drag=_drag(rng),
        center_of_mass_without_motor=0.52 * length,
        coordinate_system_orientation='tail_to_nose',
    )
    rocket.add_motor(_motor(rng, mass, radius, length), position=0.0)
    rocket.add_nose(length=5.0 * radius, kind='von karman', position=length)
    rocket.add_trapezoidal_fins(
        n=4, root_chord=4.0 * radius, tip_chord=2.0 * radius, span=2.6 * radius,
        position=4.2 * radius,
    )
    if equip is not None:
        equip(rng, rocket)
    elif rng.random() < 0.8:
        rocket.add_parachute(
            'drogue', cd_s=mass * 9.8 / (0.6 * float(rng.uniform(12.0, 40.0)) ** 2),
            trigger='apogee', lag=float(rng.uniform(0.0, 2.0)),
        )
    return Flight(
        rocket=rocket, environment=site, rail_length=5.0,
        inclination=float(rng.uniform(80.0, 90.0)), heading=float(rng.uniform(0.0, 360.0)),
        max_time=longest, max_time_step=0.5, rtol=1e-5,
    )


def _drag(rng):
    """Return a drag coefficient that rises near Mach 1."""
    base, rise = rng.uniform(0.35, 0.7), rng.uniform(0.3, 0.8)
    mach = np.linspace(0.0, 4.0, 41)
    value = base * (1.0 + rise * np.exp(-(((mach - 1.1) / 0.3) ** 2)))
    return np.stack([mach, value], axis=1).tolist()


def _motor(rng, mass, radius, length):
    from rocketpy import GenericMotor

    burn = float(rng.uniform(0.8, 5.0))
    thrust = mass * 9.8 * float(rng.uniform(5.0, 13.0))
    shape = rng.uniform(0.7, 1.3, 4) * [1.2, 1.1, 0.9, 0.7]
    curve = [(0.0, 0.3 * thrust)] + [
        (burn * x, float(thrust * y))
        for x, y in zip((0.04, 0.35, 0.7, 0.95), shape, strict=True)
    ] + [(burn, 0.0)]
    propellant = thrust * burn / (9.8 * 200.0)
    return GenericMotor(
        thrust_source=curve, burn_time=burn, chamber_radius=0.6 * radius,
        chamber_height=0.3 * length, chamber_position=0.16 * length,
        propellant_initial_mass=propellant, nozzle_radius=0.4 * radius,
        dry_mass=0.3 * propellant, center_of_dry_mass_position=0.16 * length,
        dry_inertia=(0.01 * mass * radius, 0.01 * mass * radius, 0.001 * mass * radius),
        nozzle_position=0.0,
    )


def _truth(flight):
    """Return a flight in even steps, with the time on the pad before it; None if it has no top."""
    apogee = float(flight.apogee_time)
    if not math.isfinite(apogee) or apogee <= 1.0:
        return None
    end = min(apogee + _AFTER, float(flight.t_final) - _STEP)
    time = np.arange(-_PAD, end, _STEP)
    flown = np.maximum(time, 0.0)
    level = flight.env.elevation
    height, climb, pull, mach = (
        np.array(source.get_value(flown.tolist()), dtype=float)
        for source in (flight.z, flight.vz, flight.az, flight.mach_number)
    )
    still = time < 0.0
    for row in (climb, pull, mach):
        row[still] = 0.0
    height = np.where(still, 0.0, height - level)
    top = int(np.searchsorted(time, apogee))
    return Truth(min(top, len(time) - 1), time, height, climb, pull, mach)
