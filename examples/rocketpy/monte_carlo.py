# SPDX-License-Identifier: Apache-2.0
"""A Monte Carlo of RocketPy whose parachutes are those of the flight computer."""
from __future__ import annotations

import sys

from calisto import calisto, computer, equip, motor, site
from calisto_data import NOZZLE_AT, RAIL
from rocketpy import Flight, MonteCarlo
from rocketpy.stochastic import (
    StochasticEnvironment,
    StochasticFlight,
    StochasticNoseCone,
    StochasticRocket,
    StochasticSolidMotor,
    StochasticTail,
    StochasticTrapezoidalFins,
)

_ADD = {
    'NoseCone': ('add_nose', StochasticNoseCone), 'Tail': ('add_tail', StochasticTail),
    'TrapezoidalFins': ('add_trapezoidal_fins', StochasticTrapezoidalFins),
}


class Equipped(StochasticRocket):
    """Has sensors and a flight computer of its own in each case; RocketPy leaves sensors out."""

    def create_object(self):
        """Return the rocket of a case."""
        rocket = super().create_object()
        equip(rocket, computer())
        return rocket


def delay(flight: Flight) -> float:
    """Return how long after the apogee the first parachute was let out [s]."""
    return flight.parachute_events[0][0] - flight.apogee_time


def monte_carlo(filename: str) -> MonteCarlo:
    """Return what flies Calisto with masses, thrusts, winds and rails that vary."""
    place, given, engine = site(), calisto(), motor()
    rocket = Equipped(given, mass=0.3, power_off_drag_factor=(1.0, 0.05))
    rocket.add_motor(
        StochasticSolidMotor(engine, total_impulse=100.0), position=(NOZZLE_AT, 0.001)
    )
    for surface, position in given.aerodynamic_surfaces:
        add, kind = _ADD[type(surface).__name__]
        getattr(rocket, add)(kind(surface), position=(position.z, 0.001))
    flight = Flight(
        rocket=given, environment=place, rail_length=RAIL, inclination=85.0, heading=0.0,
        terminate_on_apogee=True,
    )
    flight.terminate_on_apogee = False
    return MonteCarlo(
        filename, environment=StochasticEnvironment(place, wind_velocity_x_factor=(1.0, 0.3)),
        rocket=rocket, flight=StochasticFlight(flight, inclination=1.0, heading=30.0),
        export_list=['apogee_time', 'apogee', 't_final', 'impact_velocity'],
        data_collector={'delay': delay},
    )


if __name__ == '__main__':
    dispersion = monte_carlo('calisto_dispersion')
    dispersion.simulate(
        number_of_simulations=int(sys.argv[1]), append=False, parallel=True, n_workers=2
    )
    delays = dispersion.results['delay']
    print(f'{len(delays)} flights: drogue {min(delays):.2f} to {max(delays):.2f} s after apogee')
