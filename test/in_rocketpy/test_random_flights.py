# SPDX-License-Identifier: Apache-2.0
"""Random flights of RocketPy by triggers, and what their sensors measured replayed by a command."""
from __future__ import annotations

import numpy as np
import pytest
from rocketpy_fakes import replayed, with_settings
from rocketpy_flights import equipped_flight

from propulsion_ros.rocketpy import FlightComputer, write_bag

FLIGHTS, EACH = 200, 5
CLIMB, LATE, MAIN = 5.0, 2.0, 450.0
"""Upward speed of a premature drogue [m/s], delay of a late one [s], height of the main [m]."""
pytestmark = [
    pytest.mark.part('flights'), pytest.mark.slow, pytest.mark.usefixtures('rocketpy'),
]


def equipment(seed, computer):
    """Return what adds sensors of drawn rates and errors, and the computer's parachutes."""
    def equip(rng, rocket):
        from rocketpy import Barometer, GnssReceiver, Gyroscope

        from propulsion_ros.rocketpy import SpecificForce

        radius = rocket.radius
        at = 18.0 * radius
        rocket.add_sensor(Barometer(
            float(rng.choice([10.0, 20.0, 25.0])), seed=seed,
            noise_density=float(rng.uniform(0.0, 1.0)), resolution=float(rng.choice([0.0, 1.0])),
            constant_bias=float(rng.normal(0.0, 100.0)),
        ), at)
        if seed % 2:
            rate = float(rng.choice([25.0, 40.0]))
            rocket.add_sensor(SpecificForce(
                rate, seed=seed, noise_density=0.01, constant_bias=float(rng.normal(0.0, 0.1)),
                consider_gravity=bool(rng.integers(2)), measurement_range=16 * 9.81,
            ), at)
            rocket.add_sensor(Gyroscope(
                rate, seed=seed, noise_density=0.001, constant_bias=float(rng.normal(0.0, 0.01)),
            ), at)
        if seed % 4 == 3:
            rocket.add_sensor(GnssReceiver(
                2.0, seed=seed, position_accuracy=2.5, altitude_accuracy=5.0
            ), at)
        speeds = {'drogue': rng.uniform(25.0, 38.0), 'main': rng.uniform(12.0, 20.0)}
        for name, speed in speeds.items():
            rocket.add_parachute(
                name, cd_s=rocket.mass * 9.8 / (0.6 * float(speed) ** 2),
                trigger=computer.trigger(name), sampling_rate=float(rng.choice([5.0, 20.0, 50.0])),
                lag=float(rng.uniform(0.0, 2.0)),
            )
    return equip


def fly(seed, folder):
    """Return computer and flight of a seed, and its parameter file."""
    config = with_settings(folder / f'{seed}.yaml', **{
        'altitude_source': 'sensors' if seed % 2 else 'pressure', 'flight.max_ascent_time': 90.0,
        'estimation.rate': 20.0,
    })
    computer = FlightComputer(config)
    flight = equipped_flight(seed, equipment(seed, computer))
    computer.finish()
    return computer, flight, config


def faults_of(computer, flight):
    """Yield what is wrong with the deployments of a flight."""
    fired = {}
    for each in computer.deployed:
        fired[each.name] = each.time
    drogue, main = (fired.get(name, np.nan) for name in ('drogue', 'main'))
    level = flight.env.elevation
    if not drogue < flight.apogee_time + LATE:
        yield f'drogue missed or late: {drogue} s, apogee {flight.apogee_time:.2f} s'
    elif flight.vz(drogue) > CLIMB:
        yield f'drogue premature: it climbs at {flight.vz(drogue):.1f} m/s'
    height = flight.z(main) - level if main == main else np.nan
    # The air of the day makes pressure altitudes some percent too small or too large.
    if not height < 1.15 * MAIN or not main >= drogue:
        yield f'main missed or too high: {height:.0f} m'
    # One call of a trigger later at most.
    parachutes = {each.name: time for time, each in flight.parachute_events}
    for name, time in fired.items():
        if not 0.0 <= parachutes.get(name, np.inf) - time <= 0.5:
            yield f'{name} fired at {time:.2f} s, its parachute at {parachutes.get(name)} s'


@pytest.mark.parametrize('first', range(0, FLIGHTS, EACH))
def test_triggers_fire_as_a_replay_does(tmp_path, first):
    wrong = {}
    for seed in range(first, first + EACH):
        computer, flight, config = fly(seed, tmp_path)
        bag = tmp_path / f'bag{seed}'
        write_bag(bag, computer)
        found = [
            (time - computer.begin_ns, stamp - computer.begin_ns, name)
            for time, stamp, name in replayed(config, bag, tmp_path / f'out{seed}')
        ]
        expected = [
            (round(each.time * 1e9), round(each.stamp * 1e9), each.name)
            for each in computer.events
        ]
        problems = [*faults_of(computer, flight)]
        if found != expected:
            problems.append(f'by triggers {expected}, by replay {found}')
        if problems:
            wrong[seed] = problems
    assert not wrong
