# SPDX-License-Identifier: Apache-2.0
"""Motors and servos in a log of PX4: what each got, and which actuator of a robot it is."""
from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from propulsion_ros.loops.autopilot import signal_of_thrust
from propulsion_ros.replay.ulog import Dataset, Log
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.names import is_name
from propulsion_ros.settings.quantity import FloatArray

TOPICS = ('imu', 'odometry', 'pressure', 'battery_state')
"""What a log has beside motors and servos."""
_NAME = re.compile(r'(motor|servo)_[1-9]\d?')
_TARGET = re.compile(
    r'/?(?P<group>[A-Za-z_]\w*(/[A-Za-z_]\w*)*)/(?P<name>\w+)(\.(?P<field>velocity|effort))?'
    r'(:(?P<low>-?\d{1,9}(\.\d*)?):(?P<high>-?\d{1,9}(\.\d*)?))?', re.ASCII
)
_FUNCTION = re.compile(r'(\w+)_FUNC(\d+)')
_FIRST, _MOST = {'motor': 101, 'servo': 201}, 16
"""PX4's functions of outputs."""
_NEAR = 0.02
"""How far from what was wanted an output is at most, in the median."""


class Target(NamedTuple):
    """An actuator of a robot, and its command where PX4 sends the least and the most."""

    group: str
    name: str
    field: str
    low: float
    high: float


class UlogMap(NamedTuple):
    """What a log cannot know: its actuators and topics, by their names in it."""

    actuators: Mapping[str, Target] = {}
    topics: Mapping[str, str] = {}

    def target(self, name: str) -> Target:
        """Return the actuator of a motor or servo, by default one of its own name."""
        kind = name.partition('_')[0]
        own = Target(f'{kind}s', name, 'position', -1.0 if kind == 'servo' else 0.0, 1.0)
        return self.actuators.get(name, own)


UNMAPPED = UlogMap()


def read_map(texts: Iterable[str]) -> UlogMap:
    """Return what options state; raise `SourceError` for what is none.

    Each is ``NAME=TARGET``, or several apart by commas: ``motor_1=rotors/front_left``,
    ``servo_2=fins/rudder:-0.4:0.4``, ``motor_1=pods/bow.velocity:0:300``,
    ``pressure=/flight_state/pressure``.
    """
    actuators, topics = dict[str, Target](), dict[str, str]()
    for text in (part.strip() for given in texts for part in given.split(',')):
        name, _, target = text.partition('=')
        if name in TOPICS and is_name(target, before='/'):
            topics[name] = f'/{target.removeprefix("/")}'
        elif _NAME.fullmatch(name) and (match := _TARGET.fullmatch(target)):
            own = UNMAPPED.target(name)
            actuators[name] = Target(
                match['group'], match['name'], match['field'] or 'position',
                float(match['low'] or own.low), float(match['high'] or own.high),
            )
        else:
            raise SourceError('--map', (
                'expected motor_<n>=GROUP/ACTUATOR, servo_<n>=GROUP/ACTUATOR:LOW:HIGH, or one of '
                f'{", ".join(TOPICS)}=TOPIC, got {text!r}'
            ))
    return UlogMap(actuators, topics)


class Channel(NamedTuple):
    """What one motor or servo got."""

    name: str
    """Such as motor_1 or servo_1."""
    dataset: Dataset
    part: FloatArray
    """-1 to 1, (t,): below 0 servos, and motors that turn both ways."""
    source: str
    """Where it is from, for people."""


def channels_of(log: Log) -> Iterator[Channel]:
    """Yield the motors and servos of a log.

    PX4 wants thrusts of motors, of which the curve THR_MDL_FAC makes signals, and places of servos.
    Where an output follows, scaled by the limits of its parameters, that is the signal: also where
    it was stopped, or tested. Outputs of DShot have other limits.
    """
    factor = log.parameters.get('THR_MDL_FAC', 0.0)
    for data in log.of('actuator_motors', 'actuator_servos'):
        kind = data.name[9:14]
        for i in range(_MOST):
            part = data.column(f'control[{i}]')
            if np.isnan(part).all():
                continue
            part = signal_of_thrust(part, factor) if kind == 'motor' else part
            source = data.name + f', THR_MDL_FAC {factor:g}' * (kind == 'motor')
            wanted = Channel(f'{kind}_{i + 1}', data, np.nan_to_num(part), source)
            yield next(_outputs(log, wanted, _FIRST[kind] + i), wanted)


def _outputs(log: Log, wanted: Channel, function: int) -> Iterator[Channel]:
    """Yield the outputs of a function that follow what was wanted, as often."""
    least = -1.0 if wanted.name.startswith('servo') else 0.0
    for match in filter(None, map(_FUNCTION.fullmatch, log.parameters)):
        driver, number, place = match[1], match[2], f'output[{int(match[2]) - 1}]'
        low, high = (
            log.parameters.get(f'{driver}_{end}{number}', 0.0) for end in ('MIN', 'MAX')
        )
        for data in log.of('actuator_outputs') if low < high else ():
            if log.parameters[match[0]] == function and len(data.stamps) >= len(wanted.part):
                part = np.clip((data.column(place) - low) / (high - low), 0.0, 1.0)
                part = least + (1.0 - least) * part
                there = np.interp(data.stamps, wanted.dataset.stamps, wanted.part)
                # On the ground all of them agree.
                far = np.abs(part - there)[there != 0.0]
                if len(far) and float(np.median(far)) < _NEAR:
                    source = f'actuator_outputs.{place}, {driver} {low:g} to {high:g}'
                    yield Channel(wanted.name, data, part, source)
