# SPDX-License-Identifier: Apache-2.0
"""Commands of autopilots over gz-transport: an array for a group, a number for an actuator."""
from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element

from sensor_msgs.msg import JointState

from propulsion_ros.models.common.family import Family
from propulsion_ros.settings.errors import CommandError, SourceError
from propulsion_ros.settings.flat import suggestion

TAG = 'command_topic'
_ARRAY, _NUMBER = 'Actuators', 'Double'
_FIELDS = ('velocity', 'position')
"""Fields of gz.msgs.Actuators that are fields of a JointState too."""


@dataclass(frozen=True)
class CommandTopic:
    """One topic of gz-transport with commands."""

    name: str
    """Name of the topic."""
    node: str
    """Name of the group's node."""
    kind: str
    """Name of the message without its package."""
    actuators: tuple[str, ...]
    """Names that are commanded, in the order of the array."""
    field: str
    """Field of a JointState for the numbers."""

    def read(self, message: Any) -> JointState:
        """Return the command of a message, without a stamp; raise `CommandError` for too few."""
        values = list(getattr(message, self.field)) if self.kind == _ARRAY else [message.data]
        count = len(self.actuators)
        if len(values) < count:
            raise CommandError(
                f'{self.name} refused: expected {count} of {self.field}, got {len(values)}'
            )
        # An autopilot may have more outputs than there are actuators.
        return JointState(name=list(self.actuators), **{self.field: values[:count]})


def command_topics(
    plugin: Element, model: str, families: Mapping[str, Family]
) -> Iterator[CommandTopic]:
    """Yield the topics in the tags <command_topic of="..."> of a plugin.

    ``families`` has each group by the name of its node; ``model`` is the name in the default topic
    of a group.

    Raises
    ------
    SourceError
        For a name that is no group and no actuator, one that is given twice, and for a field that
        such messages do not have.
    """
    fields = {
        name: (node, name, field) for node, family in families.items()
        for name, field in zip(family.command_names, family.command_fields, strict=True)
    }
    seen: set[str] = set()
    for tag in plugin.findall(TAG):
        of, topic = tag.get('of', ''), (tag.text or '').strip()
        path = f'plugin/{TAG}[of={of}]'
        if of in seen or (topic and topic in seen):
            raise SourceError(path, 'this name or this topic is given twice, remove one')
        seen.update((of, topic))
        if of in families:
            family = families[of]
            own = set(family.command_fields)
            if len(own) > 1 or not own <= set(_FIELDS):
                raise SourceError(path, (
                    f'gz.msgs.{_ARRAY} has velocity or position, and {of!r} takes '
                    f'{" and ".join(sorted(own))}; set <command_interface>velocity'
                    '</command_interface>'
                ))
            yield CommandTopic(
                topic or f'/{model}/command/motor_speed', of, _ARRAY,
                tuple(family.command_names), own.pop(),
            )
        elif of in fields and topic:
            node, name, field = fields[of]
            yield CommandTopic(topic, node, _NUMBER, (name,), field)
        elif of in fields:
            raise SourceError(path, (
                'expected a topic, such as the cmd_thrust or servo topic of the autopilot'
            ))
        else:
            known = [*families, *fields]
            raise SourceError(path, (
                f'expected of="..." with a group or an actuator, got {of!r}'
                f'{suggestion(of, known)}, known: {", ".join(known)}'
            ))


class Listener:
    """Keeps the last message of each topic until it is taken.

    Raises `SourceError` if the Python of gz-transport is missing, or refuses a topic.
    """

    def __init__(self, topics: Sequence[CommandTopic]) -> None:
        self._topics = {topic.name: topic for topic in topics}
        self._last: dict[str, bytes] = {}
        if not topics:
            return
        transport = _imported('transport')
        self._node = transport.Node()
        self._types = {
            kind: getattr(_imported('msgs', f'.{kind.lower()}_pb2'), kind)
            for kind in {topic.kind for topic in topics}
        }
        for topic in topics:
            taken = self._node.subscribe_raw(
                topic.name, self._keeping(topic.name), f'gz.msgs.{topic.kind}',
                transport.SubscribeOptions(),
            )
            if not taken:
                raise SourceError(f'topic {topic.name!r}', 'gz-transport refuses this name')

    def _keeping(self, name: str) -> Callable[[bytes, Any], None]:
        def keep(data: bytes, info: Any) -> None:
            # Called in a thread of gz-transport.
            self._last[name] = data
        return keep

    def taken(self) -> Iterator[tuple[CommandTopic, Any]]:
        """Yield the messages since the last call, with their topics."""
        while self._last:
            name, data = self._last.popitem()
            topic = self._topics[name]
            yield topic, self._types[topic.kind].FromString(data)

    def publishers_of(self, node: str) -> int:
        """Return the largest number of publishers of any topic of a group."""
        names = [name for name, topic in self._topics.items() if topic.node == node]
        return max((len(self._node.topic_info(name)[0]) for name in names), default=0)


def _imported(part: str, below: str = '') -> Any:
    """Return gz.transport or gz.msgs, whose names have a major version, or a module in it."""
    reason = 'PYTHONPATH has none'
    try:
        folders = importlib.import_module('gz').__path__
        names = [each.name for each in pkgutil.iter_modules(folders)]
        found = [name for name in names if re.fullmatch(rf'{part}\d*', name)]
        if found:
            newest = max(found, key=lambda name: int(name.removeprefix(part) or 0))
            return importlib.import_module(f'gz.{newest}{below}')
    except ImportError as error:
        reason = str(error)
    raise SourceError(f'plugin/{TAG}', (
        f'needs gz.{part}, the Python of gz-{part}: {reason}; docs/gazebo.md names the path'
    ))
