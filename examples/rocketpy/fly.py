# SPDX-License-Identifier: Apache-2.0
"""Fly Calisto with the flight computer; write what it got, and the flight as a log."""
from __future__ import annotations

import rocketpy
from calisto import calisto, computer, equip, site
from calisto_data import RAIL

from propulsion_ros.rocketpy import write_bag, write_logs

flown = computer()
rocket = calisto()
equip(rocket, flown, seed=1)
flight = rocketpy.Flight(
    rocket=rocket, environment=site((4.0, 0.0)), rail_length=RAIL, inclination=85.0, heading=0.0
)
flown.finish()
print(f'apogee at {flight.apogee_time:.2f} s, {flight.apogee - flight.env.elevation:.0f} m')
for event in flown.events:
    height = flight.z(event.time) - flight.env.elevation
    print(f'{event.name} at {event.time:.2f} s, {height:.0f} m')
write_bag('calisto', flown, flight)
write_logs('.', {'calisto': flight})
