# SPDX-License-Identifier: Apache-2.0
"""Situations of a vehicle that is armed: on the ground, carried, after a landing, and in flight."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY as G
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.study.draws import LOG, Range, Rng
from propulsion_ros.study.ground.motion import (
    STEP,
    Flight,
    Motion,
    Rocket,
    carried,
    fly,
    gusts,
    rattle,
    rest,
)
from propulsion_ros.study.ground.sensors import ODOMETRY, PRESSURE

Drawn = Mapping[str, Any]
PAD = 8.0
"""Duration of the rest before anything happens, in which the vehicle is armed [s]."""
LAUNCH = 6.0
"""Time at which the launch is requested [s]."""


@dataclass(frozen=True)
class Scene:
    """True motion of a case, with requests and the times that count.

    Attributes
    ----------
    begin, end : float
        Span in which faults begin and the computer restarts [s].
    timer : float
        ``flight.max_ascent_time`` as a team would set it [s].
    requests : tuple of (float, str)
        Time [s] and service of each request besides the launch.
    apogee, touchdown : float
        Times of a flight [s], NaN without one.
    due : float
        Latest time at which the drogue has a reason to fire [s]; NaN for the apogee.
    last_launch : float
        Time until which a refused launch is requested again [s].
    """

    motion: Motion
    begin: float
    end: float
    timer: float = 20.0
    requests: tuple[tuple[float, str], ...] = ()
    apogee: float = math.nan
    touchdown: float = math.nan
    due: float = math.nan

    @property
    def last_launch(self) -> float:  # noqa: D102
        return PAD - 1.0 if math.isfinite(self.apogee) else self.begin + 20.0

    def with_port(self, error: FloatArray) -> Scene:
        """Return the scene with a further error of the ports, (n,) [m]."""
        return replace(self, motion=replace(self.motion, port=self.motion.port + error))

    def with_force(self, force: FloatArray) -> Scene:
        """Return the scene with a further specific force once it is armed, (n, 3) [m/s^2]."""
        armed = self.motion.time[:, None] >= PAD
        return replace(self, motion=self.motion.with_force(np.where(armed, force, 0.0)))


@dataclass(frozen=True)
class Situation:
    """One kind of situation.

    Attributes
    ----------
    make : callable
        ``make(rng, drawn)`` returns a scene.
    beyond : tuple of str
        Sources that cannot show by themselves whether it is a flight.
    faults : tuple of str
        Faults that all of its sources have at once.
    pins : mapping
        Fixed values in place of drawn ones, of sensors and of these faults.
    """

    make: Callable[[Rng, Drawn], Scene]
    vary: Mapping[str, Range]
    beyond: tuple[str, ...]
    faults: tuple[str, ...]
    pins: Drawn


def _ground(motion: Motion) -> Scene:
    whole = rest(PAD).then(motion)
    return Scene(whole, LAUNCH + 1.0, whole.end - 1.0)


def _still(rng: Rng, drawn: Drawn) -> Scene:
    return _ground(rest(drawn['length'], drawn.get('tilt', 0.0)))


def _wind(rng: Rng, drawn: Drawn) -> Scene:
    scene = _still(rng, {**drawn, 'tilt': 0.05})
    time = scene.motion.time
    error = gusts(rng, time, drawn['wind'], drawn['intensity'], drawn['cp'])
    return scene.with_port(error).with_force(rattle(rng, time, drawn['rattle'], 0.3))


def _wind_of(rng: Rng, drawn: Drawn) -> Scene:
    """Return wind of a given rms on the ports, with a rail that rattles."""
    scene = _wind(rng, {**drawn, 'wind': 12.0, 'intensity': 0.25, 'cp': 1.0})
    error = scene.motion.port * (drawn['rms'] / scene.motion.port.std())
    return replace(scene, motion=replace(scene.motion, port=error))


def _heating(rng: Rng, drawn: Drawn) -> Scene:
    """Return a box in the sun, where offsets of barometer and accelerometer grow slowly."""
    scene = _still(rng, drawn)
    grown = 1.0 - np.exp(-np.maximum(scene.motion.time - PAD, 0.0) / drawn['constant'])
    force = np.outer(grown * drawn['force'], [0.3, 0.3, 0.9])
    return scene.with_port(drawn['error'] * grown).with_force(force)


def _weather(rng: Rng, drawn: Drawn) -> Scene:
    """Return a steady change of the pressure, and a front that passes within minutes."""
    scene = _still(rng, drawn)
    time, metres = scene.motion.time, 8.3
    middle = rng.uniform(PAD, scene.motion.end)
    front = np.tanh((time - middle) / drawn['front_time'])
    error = metres * (drawn['tendency'] / 3600.0 * time + 0.5 * drawn['front'] * front)
    return scene.with_port(error - error[0])


def _trip(rng: Rng, drawn: Drawn, size: float) -> Scene:
    """Return a trip up and down on which the vehicle shakes, and is turned over slowly."""
    pieces, left = list[tuple[float, float]](), float(drawn['length'])
    while left > 0.0:
        speed = rng.uniform(-drawn['speed'], drawn['speed'])
        ramp, hold = rng.uniform(1.0, 6.0), rng.uniform(2.0, 40.0)
        pieces += [(ramp, speed), (hold, speed)]
        left -= ramp + hold
    pieces += [(3.0, 0.0), (10.0, 0.0)]
    length = sum(piece for piece, _ in pieces)
    turns = np.sort(rng.uniform(0.0, length, 4))
    tilts = [(0.0, 0.0), *zip(turns.tolist(), rng.uniform(-1.6, 1.6, 4).tolist(), strict=True)]
    motion = carried(pieces, tilts)
    return _ground(motion.with_force(rattle(rng, motion.time, size)))


def _by_hand(rng: Rng, drawn: Drawn) -> Scene:
    scene = _trip(rng, drawn, 0.5)
    time = scene.motion.time
    # Footsteps, about 1.8 a second.
    wave = np.maximum(np.sin(math.tau * rng.uniform(1.5, 2.2) * time), -0.6)
    return scene.with_force(np.outer(drawn['step'] * wave, [0.2, 0.3, 1.0]))


def _car(rng: Rng, drawn: Drawn) -> Scene:
    scene = _trip(rng, drawn, 1.0)
    # Windows and ventilation: the pressure in a car follows its speed.
    time = scene.motion.time
    cabin = gusts(rng, time, 8.0, 0.3, drawn['cp'])
    return scene.with_port(np.where(time < PAD, 0.0, cabin))


def _lift(rng: Rng, drawn: Drawn) -> Scene:
    """Return rides up and down, with an acceleration at both ends."""
    speed, ramp = drawn['speed'], abs(drawn['speed']) / drawn['acceleration']
    ride = max(drawn['rise'] / abs(speed) - ramp, 0.1)
    pieces = [(5.0, 0.0)]
    for sign in (1.0, -1.0) * int(drawn['rides']):
        pieces += [(ramp, sign * speed), (ride, sign * speed), (ramp, 0.0), (15.0, 0.0)]
    return _ground(carried(pieces))


def _drone(rng: Rng, drawn: Drawn) -> Scene:
    """Return a ride under a drone up and down, which shakes and swings."""
    scene = _lift(rng, {**drawn, 'rides': 1, 'acceleration': 2.0})
    time = scene.motion.time
    swing = np.outer(np.sin(math.tau * 0.4 * time), [1.0, 0.7, 0.0])
    return scene.with_force(rattle(rng, time, 2.0) + swing)


def _ship(rng: Rng, drawn: Drawn) -> Scene:
    """Return heave and roll on a deck in a swell."""
    time = np.arange(0.0, drawn['length'], 0.5)
    heave = drawn['heave'] * math.tau / drawn['period'] * np.cos(math.tau * time / drawn['period'])
    pieces = [(0.5, float(speed)) for speed in heave]
    tilts = [(float(t), 0.2 * math.sin(math.tau * t / drawn['period'])) for t in time]
    return _ground(carried(pieces, tilts))


def _bumps(rng: Rng, drawn: Drawn) -> Scene:
    """Return blows of some g in any direction, after each of which it stands again."""
    scene = _still(rng, drawn)
    force = np.zeros_like(scene.motion.force)
    for _ in range(int(drawn['count'])):
        at = scene.motion.at(rng.uniform(PAD, scene.end))
        rows = max(round(drawn['blow'] * 100.0), 1)
        way = rng.normal(size=3)
        force[at:at + rows] += drawn['size'] * way / np.linalg.norm(way)
        # The vehicle is stopped again after each push.
        force[at + rows:at + 3 * rows] -= 0.5 * drawn['size'] * way / np.linalg.norm(way)
    return scene.with_force(force)


def _topples(rng: Rng, drawn: Drawn) -> Scene:
    """Return a rocket that falls over within a second or two, and lies."""
    pieces = [(1.0, 0.0), (drawn['fall'], -drawn['height'] / drawn['fall']), (0.05, 0.0)]
    end = 1.0 + drawn['fall']
    motion = carried([*pieces, (60.0, 0.0)], [(0.0, 0.0), (1.0, 0.05), (end, 1.57)])
    hit = np.zeros_like(motion.force)
    at = motion.at(end)
    hit[at:at + 3] = [drawn['blow'] * G, 0.0, 0.0]
    return _ground(motion.with_force(hit))


def _shaken(rng: Rng, drawn: Drawn) -> Scene:
    scene = _still(rng, drawn)
    return scene.with_force(rattle(rng, scene.motion.time, drawn['rattle'], drawn['share']))


def _swung(rng: Rng, drawn: Drawn) -> Scene:
    """Return a test of stability, in which the rocket is swung in a circle on a rope."""
    scene = _ground(rest(drawn['turning'] + 30.0))
    motion = scene.motion
    time = motion.time
    share = np.clip(0.5 * np.minimum(time - PAD, PAD + drawn['turning'] - time), 0.0, 1.0)
    rate = math.tau * drawn['turns'] * share
    angle, zero = np.cumsum(rate) * STEP, np.zeros_like(rate)
    lean = drawn['lean'] * share
    # In a tilted circle the direction of the weight turns in body axes.
    lateral, rise = G * np.sin(lean), drawn['rope'] * np.sin(lean)
    return replace(scene, motion=replace(
        motion, height=rise * np.sin(angle), speed=rise * rate * np.cos(angle),
        force=np.stack([
            rate**2 * drawn['rope'] + lateral * np.sin(angle), lateral * np.cos(angle),
            G * np.cos(lean),
        ], axis=1),
        rate=np.stack([zero, zero, rate], axis=1),
    ))


def _kicked(rng: Rng, drawn: Drawn) -> Scene:
    """Return an accelerometer with a large reading for a while, beside a constant barometer."""
    scene = _ground(rest(60.0))
    force = np.zeros_like(scene.motion.force)
    at = scene.motion.at(PAD + rng.uniform(1.0, 4.0))
    force[at:at + round(drawn['blow'] * 100.0), 2] = drawn['size'] * G
    return scene.with_force(force)


def _syringe(rng: Rng, drawn: Drawn) -> Scene:
    """Return a test with a syringe on the ports: pulled, held, and released."""
    scene = _ground(rest(90.0))
    ends = PAD + 2.0 + np.cumsum([0.0, drawn['pull'], drawn['hold'], drawn['push']])
    return scene.with_port(
        np.interp(scene.motion.time, ends, [0.0, drawn['size'], drawn['size'], 0.0])
    )


def _raised(rng: Rng, drawn: Drawn) -> Scene:
    """Return a ride up for a minute, as with an aircraft or a helicopter, and no ride down."""
    speed = drawn['speed']
    pieces = [(3.0, 0.0), (speed / 2.0, speed), (drawn['ride'], speed), (speed / 2.0, 0.0)]
    return _ground(carried([*pieces, (40.0, 0.0)]))


# After a flight.

SMALL: Mapping[str, Any] = {
    'push': (30.0, 120.0), 'burn': (0.8, 3.0), 'drag': (1e-4, 8e-4, LOG), 'lean': (0.0, 0.12),
    'wind': (-6.0, 6.0), 'drogue_speed': (12.0, 28.0), 'main_height': (100.0, 300.0),
    'main_speed': (4.0, 8.0), 'delay': (0.2, 1.0),
}
"""Ranges of a rocket of a student team."""


def rocket_of(drawn: Drawn, **changes: Any) -> Rocket:
    """Return the rocket of drawn numbers."""
    return replace(Rocket(
        ((0.0, drawn['burn'], drawn['push']),), drawn['drag'], drawn['lean'], drawn['wind'],
        drawn['delay'], drawn['drogue_speed'], drawn['main_height'], drawn['main_speed'],
    ), **changes)


def flown(flight: Flight, after: Motion | None = None) -> Scene:
    """Return the scene of a flight from the pad: rest, ignition, flight, rest.

    Its timer is set as a team would: the time to apogee of a simulation, and some seconds.
    """
    motion = rest(PAD).then(flight.motion)
    begin, touchdown = PAD + 0.01, motion.end
    motion = motion.then(rest(15.0) if after is None else after)
    apogee = begin + flight.apogee
    return Scene(
        motion, begin, apogee + 0.5 * (touchdown - apogee), round(1.2 * flight.apogee + 3.0),
        ((PAD - 0.3, 'ignition'),), apogee, touchdown,
    )


def _landed(flight: Flight, after: Motion) -> Scene:
    """Return the scene of a flight whose faults and restarts come after it."""
    scene = flown(flight, after)
    return replace(scene, begin=scene.touchdown + 1.0, end=scene.motion.end - 1.0)


def _low(rng: Rng, drawn: Drawn) -> Scene:
    """Return a flight to a given height and a rest, perhaps with a request to make it safe."""
    burn = 0.6
    speed = math.sqrt((0.5 * burn * G) ** 2 + 2.0 * G * drawn['top']) - 0.5 * burn * G
    rocket = Rocket(
        ((0.0, burn, speed / burn + G),), 1e-5, lean=0.0, drogue=drawn['delay'], drogue_speed=8.0
    )
    scene = flown(fly(rocket, rng), rest(80.0, 1.4))
    if drawn['request']:
        at = scene.touchdown + 20.0
        again = tuple((at + wait, drawn['request']) for wait in (0.0, 2.0))
        scene = replace(scene, requests=scene.requests + again)
    return replace(scene, timer=drawn['timer'] + scene.touchdown - PAD)


def _hill(rng: Rng, drawn: Drawn) -> Scene:
    """Return a landing on a hill above the height of the main, and a way home downhill."""
    speed = -drawn['speed']
    way = (drawn['above'] + 20.0) / drawn['speed']
    after = rest(drawn['rest'], 1.4).then(
        carried([(3.0, speed), (way, speed), (2.0, 0.0), (20.0, 0.0)], [(0.0, 1.4)])
    )
    return _landed(fly(Rocket(
        ((0.0, drawn['burn'], drawn['push']),), 1e-4, drogue=drawn['delay'], main_height=-math.inf,
        ground=450.0 + drawn['above'],
    ), rng), after)


def _tree(rng: Rng, drawn: Drawn) -> Scene:
    """Return a rocket that hangs in a tree, swings, and falls out of it."""
    fall = math.sqrt(2.0 * drawn['tree'] / G)
    hangs = carried([(drawn['rest'], 0.0)], [(0.0, 0.3), (drawn['rest'], 0.1)])
    drop = carried([(fall, -G * fall), (0.05, 0.0), (40.0, 0.0)], [(0.0, 0.1), (fall, 1.5)])
    return _landed(fly(rocket_of(drawn, ground=drawn['tree']), rng), hangs.then(drop))


def _home(rng: Rng, drawn: Drawn) -> Scene:
    trip = _by_hand if drawn['speed'] < 2.0 else _car
    ride = trip(rng, {**drawn, 'cp': 0.3, 'step': 2.0}).motion
    return _landed(fly(rocket_of(drawn), rng), ride)


def _rest_after(rng: Rng, drawn: Drawn) -> Scene:
    return _landed(fly(rocket_of(drawn), rng), rest(120.0, 1.4))


def situation(
    make: Callable[[Rng, Drawn], Scene],
    *,
    beyond: tuple[str, ...] = (),
    faults: tuple[str, ...] = (),
    pins: Drawn | None = None,
    **vary: Range,
) -> Situation:
    """Return a situation with the ranges of its drawn numbers."""
    return Situation(make, vary, beyond, faults, pins or {})


_TILT = (0.0, 0.3)
_LENGTH = [300.0]  # of situations without an end of their own; a study pins it [s]
GROUND: Mapping[str, Situation] = {
    'rest': situation(_still, length=_LENGTH, tilt=_TILT),
    'rest without noise': situation(_still, length=_LENGTH, tilt=_TILT, pins={
        'baro_noise': 0.0, 'imu_noise': 0.0, 'gyro_noise': 0.0,
    }),
    # A barometer and its filter settle for seconds after the start.
    'start-up': situation(_still, length=_LENGTH, tilt=_TILT, faults=('settling',)),
    # Gusts of 15 to 35 % are those near the ground; ports may face any direction.
    'wind': situation(
        _wind, length=_LENGTH, wind=(4.0, 14.0), intensity=(0.15, 0.35), cp=(-1.2, 1.0),
        rattle=(0.1, 3.0, LOG),
    ),
    'wind of an rms': situation(_wind_of, length=[600.0], rms=(3.0, 6.0), rattle=(1.0, 4.0, LOG)),
    # BMP388: 0.75 Pa/K; ICM-20948: 0.8 mg/K; a box in the sun warms by 10 to 40 K.
    'heating': situation(
        _heating, length=_LENGTH, error=(-25.0, 25.0), force=(-0.4, 0.4),
        constant=(30.0, 900.0, LOG),
    ),
    # 1 to 3 hPa/h is a storm; a squall line brings 2 to 5 hPa within minutes.
    'weather': situation(
        _weather, length=_LENGTH, tendency=(-10.0, 10.0), front=(-4.0, 4.0),
        front_time=(30.0, 300.0),
    ),
    'by hand': situation(_by_hand, length=_LENGTH, speed=(0.3, 1.2), step=(0.5, 4.0)),
    'car': situation(_car, length=_LENGTH, speed=(1.0, 5.0), cp=(-0.6, 0.6)),
    # Lifts have 1 to 4 m/s in houses and 10 m/s in towers, with 0.8 to 1.5 m/s^2.
    'lift': situation(
        _lift, speed=(1.0, 4.0), acceleration=(0.8, 1.5), rise=(10.0, 150.0), rides=[1, 2]
    ),
    'lift of a tower': situation(
        _lift, speed=(5.0, 10.0), acceleration=(0.8, 1.2), rise=(100.0, 400.0), rides=[1],
        beyond=(PRESSURE,),
    ),
    'drone': situation(_drone, speed=(1.0, 8.0), rise=(20.0, 120.0)),
    'ship': situation(_ship, length=_LENGTH, heave=(0.5, 4.0), period=(5.0, 14.0)),
    'knocks': situation(
        _bumps, length=[60.0], size=(20.0, 300.0, LOG), blow=(0.01, 0.08, LOG), count=[1, 3, 10]
    ),
    'swung': situation(
        _swung, turns=(0.7, 2.0), turning=(8.0, 30.0), rope=(0.8, 1.8), lean=(0.1, 0.8)
    ),
    'kick': situation(_kicked, size=(4.0, 16.0), blow=(0.05, 0.6)),
    'tip-over': situation(_topples, fall=(0.6, 2.0), height=(0.3, 3.0), blow=(1.0, 16.0)),
    'shaking': situation(_shaken, length=_LENGTH, rattle=(1.0, 30.0, LOG), share=(0.05, 1.0)),
    'syringe': situation(
        _syringe, size=(10.0, 300.0), pull=(0.2, 20.0, LOG), hold=(0.0, 20.0),
        push=(0.2, 20.0, LOG), beyond=(PRESSURE, ODOMETRY),
    ),
    'raised': situation(_raised, speed=(8.0, 15.0), ride=(20.0, 60.0), beyond=(PRESSURE,)),
    'low flight': situation(
        _low, top=(60.0, 150.0), delay=(0.3, 1.5), timer=(5.0, 60.0),
        request=['', 'abort', 'reset'],
    ),
    'landed': situation(_rest_after, **SMALL),
    'sensors die after the landing': situation(
        _rest_after, faults=('silent',), pins={'silent.length': math.inf}, **SMALL
    ),
    'sensors repeat after the landing': situation(
        _rest_after, faults=('stuck',), pins={'stuck.length': math.inf}, **SMALL
    ),
    'hill': situation(
        _hill, push=(90.0, 150.0), burn=(1.5, 3.0), above=(30.0, 150.0), speed=(0.8, 4.0),
        rest=(10.0, 120.0), delay=(0.2, 1.0),
    ),
    'tree': situation(_tree, tree=(3.0, 20.0), rest=(10.0, 200.0), **SMALL),
    'carried home': situation(_home, length=_LENGTH, speed=(0.5, 4.0), **SMALL),
}
"""Situations in which nothing may fire, from their begin or from the landing on."""


def _rocket(rng: Rng, drawn: Drawn) -> Scene:
    return flown(fly(rocket_of(drawn), rng))


def _second_stage(rng: Rng, drawn: Drawn) -> Scene:
    begin = drawn['burn'] + drawn['coast']
    burns = ((0.0, drawn['burn'], drawn['push']), (begin, begin + 1.5, 0.7 * drawn['push']))
    return flown(fly(rocket_of(drawn, burns=burns), rng))


def _high(rng: Rng, drawn: Drawn, **changes: object) -> Scene:
    """Return a flight to 600 m or more, so that the main fires at its own height."""
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
    return flown(fly(rocket_of(drawn, glide=drawn['sink']), rng))


def _hopper(rng: Rng, drawn: Drawn) -> Scene:
    """Return a climb on an engine, a hover at 1 g, and the fall after the engine ends."""
    speed, ramp = drawn['speed'], drawn['speed'] / 6.0
    climb = max(drawn['top'] / speed - ramp, 0.5)
    up = carried(
        [(ramp, speed), (climb, speed), (ramp, 0.0), (drawn['hover'], 0.0)], is_aloft=True
    )
    fall = fly(Rocket((), 6e-4, lean=0.0, drogue=8.0, drogue_speed=10.0), rng,
               height=float(up.height[-1]))
    return _then_falls(up, fall, up.end, ((PAD - 0.3, 'ignition'),))


def _balloon(rng: Rng, drawn: Drawn) -> Scene:
    """Return a climb under a balloon that bursts, and a fall after no ignition."""
    ride = drawn['top'] / drawn['speed']
    up = carried([(3.0, drawn['speed']), (ride, drawn['speed'])])
    sway = np.outer(np.sin(math.tau * 0.2 * up.time), [0.5, 0.3, 0.0])
    fall = fly(Rocket((), 2e-3, lean=0.0, drogue=8.0, drogue_speed=10.0), rng,
               height=float(up.height[-1]), speed=drawn['speed'])
    return _then_falls(up.with_force(sway), fall, ride)


def _dropped(rng: Rng, drawn: Drawn) -> Scene:
    """Return a vehicle that a drone carries up and drops."""
    return _balloon(rng, {**drawn, 'speed': min(drawn['speed'], 6.0), 'top': 0.5 * drawn['top']})


def _armed_aloft(rng: Rng, drawn: Drawn) -> Scene:
    """Return a drop of a vehicle that was armed where a drone held it, and was lowered since."""
    speed, lowered = drawn['speed'], drawn['lowered']
    ways = [(drawn['hang'], 0.0), (2.0, -speed), (lowered / speed, -speed), (2.0, 0.0), (5.0, 0.0)]
    hangs = carried(ways)
    sway = np.outer(np.sin(math.tau * 0.3 * hangs.time), [0.5, 0.3, 0.0])
    rocket = Rocket((), 6e-4, lean=0.0, drogue=4.0, drogue_speed=drawn['drogue_speed'])
    return _then_falls(hangs.with_force(sway), fly(rocket, rng, height=drawn['drop']), 5.0)


def _from_below(rng: Rng, drawn: Drawn) -> Scene:
    """Return a flight from far below where the vehicle was armed, as at the foot of a hill."""
    way = drawn['below'] / drawn['speed']
    down = carried([(3.0, -drawn['speed']), (way, -drawn['speed']), (3.0, 0.0), (20.0, 0.0)])
    ridden, scene = rest(PAD).then(down), flown(fly(rocket_of(drawn), rng))
    later = ridden.end + STEP
    return replace(
        scene, motion=ridden.then(scene.motion), begin=scene.begin + later, end=scene.end + later,
        requests=tuple((at + later, name) for at, name in scene.requests),
        apogee=scene.apogee + later, touchdown=scene.touchdown + later,
    )


def _then_falls(
    up: Motion, fall: Flight, ascent: float, requests: tuple[tuple[float, str], ...] = ()
) -> Scene:
    motion = rest(PAD).then(up)
    apogee = motion.end + fall.apogee
    falls = replace(fall.motion, height=fall.motion.height - fall.motion.height[0])
    motion = motion.then(falls)
    touchdown = motion.end
    # A vehicle that may have been held counts as in flight once it has fallen by 50 m.
    return Scene(
        motion.then(rest(15.0)), PAD, apogee, round(1.2 * ascent + 10.0), requests, apogee,
        touchdown, due=apogee + 4.0,
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
    # Canted fins, and a sensor as near to the axis as a board can be.
    'spin': situation(_spins, spin=(1.0, 5.0), offset=(0.0, 0.02), **SMALL),
    'glide': situation(_glides, sink=(1.5, 5.0), **SMALL),
    'hopper': situation(_hopper, speed=(12.0, 30.0), top=(120.0, 300.0), hover=(1.0, 15.0)),
    'balloon': situation(
        _balloon, speed=(3.0, 7.0), top=(300.0, 900.0), beyond=(PRESSURE, ODOMETRY)
    ),
    'dropped': situation(
        _dropped, speed=(3.0, 6.0), top=(300.0, 900.0), beyond=(PRESSURE, ODOMETRY)
    ),
    'armed aloft': situation(
        _armed_aloft, hang=(5.0, 30.0), lowered=(0.0, 150.0), speed=(2.0, 4.0),
        drop=(250.0, 600.0), drogue_speed=(14.0, 25.0),
    ),
    # Low enough for the main to be due with the drogue, whichever level its height counts from.
    'from below': situation(_from_below, below=(50.0, 250.0), speed=(1.0, 4.0), **{
        **SMALL, 'push': (30.0, 60.0), 'burn': (0.8, 1.5),
    }),
}
"""Situations in which the charges must fire."""
