# SPDX-License-Identifier: Apache-2.0
"""What a log of PX4 cannot know: which actuators its motors are, and on which topics."""
from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from propulsion_ros.loops.command_hold import FIELDS
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.names import is_name

TOPICS = ('imu', 'odometry', 'pressure', 'battery')
"""What a log has beside motors and servos."""
_ACTUATOR = re.compile(r'(motor|servo)_[1-9]\d?')
_OPTION = '--map'


class Target(NamedTuple):
    """An actuator of a robot, and its command at the ends of what PX4 sends."""

    group: str
    name: str
    field: str = 'position'
    low: float = 0.0
    high: float = 1.0


class UlogMap(NamedTuple):
    """Targets of motors and servos, topics of the rest, by their names in a log."""

    actuators: dict[str, Target]
    topics: dict[str, str]

    def target(self, name: str) -> Target:
        """Return the actuator of a motor or servo, by default one of its own name."""
        kind = name.partition('_')[0]
        return self.actuators.get(name) or Target(f'{kind}s', name, *_ends('position', kind))

    def topic(self, name: str) -> str:
        """Return a topic."""
        return self.topics.get(name, f'/px4/{"battery_state" if name == "battery" else name}')


UNMAPPED = UlogMap({}, {})


def read_map(texts: Iterable[str]) -> UlogMap:
    """Return what options state; raise `SourceError` for what is none.

    Each is ``NAME=TARGET``, or several apart by commas: ``motor_1=rotors/front_left``,
    ``servo_2=fins/rudder:-0.4:0.4``, ``motor_1=pods/bow.velocity:0:300``,
    ``pressure=/flight_state/pressure``.
    """
    found = UlogMap({}, {})
    for text in (part.strip() for given in texts for part in given.split(',')):
        name, _, target = text.partition('=')
        if name in found.actuators or name in found.topics:
            raise SourceError(_OPTION, f'{name} is mapped twice')
        if name in TOPICS:
            if not is_name(target, before='/'):
                raise SourceError(_OPTION, f'{name}: expected a topic, got {target!r}')
            found.topics[name] = f'/{target.removeprefix("/")}'
        elif _ACTUATOR.fullmatch(name):
            found.actuators[name] = _target(name, target)
        else:
            raise SourceError(
                _OPTION, f'expected motor_<n>, servo_<n>, {", ".join(TOPICS)} = TARGET, got '
                f'{text!r}'
            )
    return found


def _target(name: str, text: str) -> Target:
    place, *ends = text.split(':')
    group, _, actuator = place.rpartition('/')
    field = 'position'
    for each in FIELDS:
        if actuator.endswith(f'.{each}'):
            actuator, field = actuator.removesuffix(f'.{each}'), each
    if not (is_name(group, before='/') and actuator):
        raise SourceError(_OPTION, f'{name}: expected GROUP/ACTUATOR, got {text!r}')
    try:
        low, high = map(float, ends) if ends else _ends(field, name.partition('_')[0])[1:]
    except ValueError:
        raise SourceError(
            _OPTION, f'{name}: expected GROUP/ACTUATOR:LOW:HIGH, got {text!r}'
        ) from None
    return Target(group.removeprefix('/'), actuator, field, low, high)


def _ends(field: str, kind: str) -> tuple[str, float, float]:
    return field, -1.0 if kind == 'servo' else 0.0, 1.0
