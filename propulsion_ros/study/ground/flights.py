# SPDX-License-Identifier: Apache-2.0
"""Flights that must not be lost, as scenes: what a belief about rest could take for one."""
from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from propulsion_ros.study.draws import LOG, Rng
from propulsion_ros.study.ground.motion import Flight, Motion, Rocket, carried, fly, rest
from propulsion_ros.study.ground.sensors import ODOMETRY, PRESSURE
from propulsion_ros.study.ground.situations import (
    PAD,
    SMALL,
    Drawn,
    Scene,
    Situation,
    flown,
    rocket_of,
    situation,
)


def _rocket(rng: Rng, drawn: Drawn) -> Scene:
    return flown(fly(rocket_of(drawn), rng))


def _second_stage(rng: Rng, drawn: Drawn) -> Scene:
    begin = drawn['burn'] + drawn['coast']
    burns = ((0.0, drawn['burn'], drawn['push']), (begin, begin + 1.5, 0.7 * drawn['push']))
    return flown(fly(rocket_of(drawn, burns=burns), rng))


def _high(rng: Rng, drawn: Drawn, **changes: object) -> Scene:
    """Return a flight to 600 m or more, whose main has its own height to wait for."""
    return flown(fly(rocket_of(drawn, main_height=-math.inf, **changes), rng))


def _under_drogue(rng: Rng, drawn: Drawn) -> Scene:
    """Return a flight whose faults begin under the drogue, well above the height of the main."""
    scene = _high(rng, drawn)
    return replace(scene, begin=scene.apogee + 3.0, end=scene.apogee + 6.0)


def _before_apogee(rng: Rng, drawn: Drawn) -> Scene:
    """Return a flight whose faults begin two seconds before its apogee."""
    scene = _high(rng, drawn)
    return replace(scene, begin=scene.apogee - 2.0, end=scene.apogee - 1.9)


def _ballistic(rng: Rng, drawn: Drawn) -> Scene:
    """Return a fall without any parachute, whose faults begin in the coast."""
    scene = _high(rng, {**drawn, 'drag': 6e-4}, drogue=math.inf)
    burnt = PAD + drawn['burn']
    return replace(scene, begin=0.5 * (burnt + scene.apogee), end=scene.apogee + 2.0)


def _spins(rng: Rng, drawn: Drawn) -> Scene:
    return flown(fly(rocket_of(drawn, spin=drawn['spin'], offset=drawn['offset']), rng))


def _glides(rng: Rng, drawn: Drawn) -> Scene:
    return flown(fly(rocket_of(drawn, glides=True), rng))


def _hopper(rng: Rng, drawn: Drawn) -> Scene:
    """Return a climb on an engine, a hover at 1 g, and the fall after the engine ends."""
    speed, ramp = drawn['speed'], drawn['speed'] / 6.0
    climb = max(drawn['top'] / speed - ramp, 0.5)
    up = carried(
        [(ramp, speed), (climb, speed), (ramp, 0.0), (drawn['hover'], 0.0)], is_aloft=True
    )
    fall = fly(Rocket((), 6e-4, lean=0.0, drogue=2.0, drogue_speed=10.0), rng,
               height=float(up.height[-1]))
    return _then_falls(up, fall, up.end, ((PAD - 0.3, 'ignition'),))


def _balloon(rng: Rng, drawn: Drawn) -> Scene:
    """Return a climb under a balloon that bursts, and a fall of which nothing was announced."""
    ride = drawn['top'] / drawn['speed']
    up = carried([(3.0, drawn['speed']), (ride, drawn['speed'])])
    sway = np.outer(np.sin(math.tau * 0.2 * up.time), [0.5, 0.3, 0.0])
    fall = fly(Rocket((), 2e-3, lean=0.0, drogue=8.0, drogue_speed=10.0), rng,
               height=float(up.height[-1]), speed=drawn['speed'])
    scene = _then_falls(up.with_force(sway), fall, ride)
    # After 50 m of fall it is one.
    return replace(scene, due=scene.apogee + 4.0)


def _dropped(rng: Rng, drawn: Drawn) -> Scene:
    """Return what a drone carries up and drops."""
    return _balloon(rng, {**drawn, 'speed': min(drawn['speed'], 6.0), 'top': 0.5 * drawn['top']})


def _then_falls(
    up: Motion, fall: Flight, ascent: float, requests: tuple[tuple[float, str], ...] = ()
) -> Scene:
    level = float(up.height[-1])
    motion = rest(PAD).then(up)
    apogee = motion.end + fall.apogee
    falls = replace(fall.motion, height=fall.motion.height - level)
    motion = motion.then(falls)
    touchdown = motion.end
    return Scene(
        motion.then(rest(15.0)), PAD, apogee, round(1.2 * ascent + 10.0), requests, apogee,
        touchdown,
    )


_LARGE = {
    **SMALL, 'push': (90.0, 150.0), 'burn': (1.5, 3.0), 'drag': (1e-4, 4e-4, LOG),
    'drogue_speed': (15.0, 28.0),
}
FLIGHTS: Mapping[str, Situation] = {
    'flight': situation(_rocket, **SMALL),
    'high flight': situation(_high, **_LARGE),
    'two stages': situation(_second_stage, coast=(1.0, 4.0), **SMALL),
    'under a drogue': situation(_under_drogue, **_LARGE),
    'before the apogee': situation(_before_apogee, **_LARGE),
    'ballistic': situation(_ballistic, **_LARGE),
    # Fins that are set at an angle, and a sensor as near to the axis as a board can be.
    'spin': situation(_spins, spin=(1.0, 5.0), offset=(0.0, 0.02), **SMALL),
    'glide': situation(_glides, **SMALL),
    'hopper': situation(_hopper, speed=(12.0, 30.0), top=(120.0, 300.0), hover=(1.0, 15.0)),
    'balloon': situation(
        _balloon, speed=(3.0, 7.0), top=(300.0, 900.0), beyond=(PRESSURE, ODOMETRY)
    ),
    'dropped': situation(
        _dropped, speed=(3.0, 6.0), top=(300.0, 900.0), beyond=(PRESSURE, ODOMETRY)
    ),
}
"""Situations in which the charges must fire."""
