# SPDX-License-Identifier: Apache-2.0
"""Reads plugins of gz-sim as groups of actuators.

A description written for gz-sim's Thruster or MulticopterMotorModel needs no change: each of its
plugins is one actuator, and those of a kind are one group. Tags and their defaults are those of the
originals; a note reports tags that have no effect here.
"""
from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from xml.etree.ElementTree import Element

from propulsion_ros.models.registry import REGISTRY
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.urdf.xml import Tag, digits, numbers, path_step, quoted, read_tag

_FILENAME = re.compile(r'(?:lib)?(?:gz-sim\d*|ignition-gazebo\d*)-([a-z-]+)-system(?:\.so)?')
_DIRECTIONS = {'ccw': '1', 'cw': '-1'}
_TOPICS = 'topics are named after the node'
SPEED_OF_THRUST = 'maxRotVelocity'
"""Tag whose square times motor_constant is max_thrust."""


@dataclass(frozen=True)
class _System:
    """One kind of plugin."""

    family: str
    joint: str
    """Tag of the joint."""
    numbers: tuple[str, ...]
    """Tags with the place of an actuator in the group, any of them; () for the written order."""
    renamed: Mapping[str, str]
    """Parameter for each tag."""
    defaults: Mapping[str, str]
    """Default of the original if a tag is absent, by parameter."""
    ignored: Mapping[str, str]
    """Tags without effect, with the reason."""
    block: Callable[[Sequence[Tag]], list[Tag]]
    """Returns the tags of the group from those of its plugins."""
    finish: Callable[[Tag, dict[str, Tag]], None]
    """Corrects the tags of one actuator, by parameter."""


def _thruster_block(plugins: Sequence[Tag]) -> list[Tag]:
    """Return the tag for the command interface of thrusters, which must be the same for all."""
    tags = [plugin.one('use_angvel_cmd') for plugin in plugins]
    by_speed = [tag is not None and tag.text.lower() in ('true', '1') for tag in tags]
    if any(by_speed) != all(by_speed):
        raise SourceError(
            f'{plugins[0].path}/use_angvel_cmd', 'expected the same in all thrusters of a robot'
        )
    interface = 'velocity' if all(by_speed) else 'effort'
    return [Tag('command_interface', interface, plugins[0].path)]


def _finish_thruster(plugin: Tag, given: dict[str, Tag]) -> None:
    """Use the coefficient at rest if it depends on the stream; drop swapped limits."""
    if plugin.one('thrust_coefficient'):
        given.pop('advance_coefficient', None)
    elif plugin.one('alpha_1'):
        given['thrust_coefficient'] = replace(given['alpha_1'], key='thrust_coefficient')
    given.pop('alpha_1', None)
    ends = [numbers(given[key].text, given[key].path, 1)[0] for key in ('min_thrust', 'max_thrust')]
    if ends[0] > ends[1]:
        for key in ('min_thrust', 'max_thrust'):
            given[key] = replace(given[key], text=_THRUSTER.defaults[key])


def _rotor_block(plugins: Sequence[Tag]) -> list[Tag]:
    path = plugins[0].path
    # As in the original, the thrust of a step is that at its end.
    return [Tag('command_interface', 'velocity', path), Tag('step_value', 'end', path)]


def _finish_rotor(plugin: Tag, given: dict[str, Tag]) -> None:
    """Convert words and speeds to the numbers that parameters have here."""
    kind = plugin.one('motorType')
    if kind and kind.text != 'velocity':
        raise SourceError(kind.path, f'expected velocity, gz-sim has no other, got {kind.text!r}')
    turn = given['direction']
    if turn.text not in (*_DIRECTIONS, *_DIRECTIONS.values()):
        raise SourceError(turn.path, f'expected cw or ccw, got {quoted(turn.text)}')
    given['direction'] = replace(turn, text=_DIRECTIONS.get(turn.text, turn.text))
    speed, constant = (given[key] for key in ('max_thrust', 'motor_constant'))
    fastest, factor = (numbers(tag.text, tag.path, 1)[0] for tag in (speed, constant))
    given['max_thrust'] = replace(speed, text=repr(factor * fastest * abs(fastest)))


_THRUSTER = _System(
    'thrusters', 'joint_name', (),
    {
        'joint_name': 'joint', 'thrust_coefficient': 'thrust_coefficient',
        'propeller_diameter': 'propeller_diameter', 'fluid_density': 'fluid_density',
        'max_thrust_cmd': 'max_thrust', 'min_thrust_cmd': 'min_thrust',
        'wake_fraction': 'wake_fraction', 'alpha_1': 'alpha_1', 'alpha_2': 'advance_coefficient',
        'deadband': 'thrust_deadband',
    },
    {
        'dynamics': 'zero_order', 'conversion': 'propeller', 'thrust_coefficient': '1',
        'propeller_diameter': '0.02', 'fluid_density': '1000', 'max_thrust': '1000',
        'min_thrust': '-1000',
    },
    {
        'namespace': _TOPICS, 'topic': _TOPICS,
        **dict.fromkeys(
            ('velocity_control', 'p_gain', 'i_gain', 'd_gain'), 'no joint is turned here'
        ),
    },
    _thruster_block, _finish_thruster,
)
_ROTOR = _System(
    'rotors', 'jointName', ('motorNumber', 'actuator_number'),
    {
        'jointName': 'joint', 'linkName': 'link', 'turningDirection': 'direction',
        'timeConstantUp': 'time_constant_up', 'timeConstantDown': 'time_constant_down',
        SPEED_OF_THRUST: 'max_thrust', 'motorConstant': 'motor_constant',
        'momentConstant': 'moment_constant',
    },
    {
        'direction': '-1', 'time_constant_up': '0.0125', 'time_constant_down': '0.025',
        'max_thrust': '838', 'motor_constant': '8.54858e-06', 'moment_constant': '0.016',
    },
    {
        'rotorDragCoefficient': 'it would need odometry; give rotor_drag_coefficient to have it',
        'rollingMomentCoefficient':
            'it would need odometry; give rolling_moment_coefficient to have it',
        'rotorVelocitySlowdownSim': 'no joint is turned here',
        **dict.fromkeys(('robotNamespace', 'commandSubTopic', 'motorSpeedPubTopic'), _TOPICS),
    },
    _rotor_block, _finish_rotor,
)
_SYSTEMS = {'thruster': _THRUSTER, 'multicopter-motor-model': _ROTOR}


def family_of(filename: str) -> str:
    """Return the family that a plugin of gz-sim belongs to, '' for any other plugin."""
    found = _FILENAME.fullmatch(filename)
    system = _SYSTEMS.get(found[1]) if found else None
    return system.family if system else ''


def gathered(family: str, plugins: Sequence[Element]) -> Tag:
    """Return one plugin block of this package for gz-sim's plugins of one family.

    Raises `SourceError` with the XML path of a missing or wrong tag.
    """
    system = next(each for each in _SYSTEMS.values() if each.family == family)
    tags = [read_tag(plugin, path) for plugin, path in zip(plugins, _paths(plugins), strict=True)]
    numbered = [(_place(tag, system, i), tag) for i, tag in enumerate(tags)]
    numbered.sort(key=lambda pair: pair[0])
    rows = [_row(tag, system, place) for place, tag in numbered]
    path = f'gazebo/plugin[filename={plugins[0].get("filename")}]'
    return Tag('plugin', '', path, family, (*system.block(tags), *rows))


def _paths(plugins: Sequence[Element]) -> list[str]:
    """Return the XML path of each plugin, with a number, as those of gz-sim often share a name."""
    steps = [path_step('plugin', plugin.get('name')) for plugin in plugins]
    return [
        f'gazebo/{step}[{steps[:i + 1].count(step)}]' if steps.count(step) > 1
        else f'gazebo/{step}' for i, step in enumerate(steps)
    ]


def _place(tag: Tag, system: _System, order: int) -> int:
    """Return the place of an actuator in its group."""
    if not system.numbers:
        return order
    given = next((found for key in system.numbers if (found := tag.one(key))), None)
    return digits(given, f'{tag.path}/{system.numbers[0]}', 'a number')


def _row(plugin: Tag, system: _System, place: int) -> Tag:
    """Return one actuator."""
    joint = plugin.one(system.joint)
    if joint is None:
        raise SourceError(f'{plugin.path}/{system.joint}', 'is missing: each plugin needs it')
    element = REGISTRY[system.family].facts.tag
    name = f'{element}_{place}' if system.numbers else joint.text.rpartition('/')[2]
    given = {key: Tag(key, text, plugin.path) for key, text in system.defaults.items()}
    notes, ignored = list[str](), dict[str, list[str]]()
    for tag in plugin.children:
        if tag.key in system.renamed:
            key = system.renamed[tag.key]
            given[key] = replace(tag, key=key)
        elif tag.key in system.ignored:
            ignored.setdefault(system.ignored[tag.key], []).append(tag.key)
        elif tag.key not in (*system.numbers, 'use_angvel_cmd', 'motorType'):
            notes.append(f'{tag.path} has no effect: it is not known here')
    if ignored:
        notes.append(f'{plugin.path}: without effect: ' + ', '.join(
            f'{" and ".join(tags)} ({why})' for why, tags in ignored.items()
        ))
    system.finish(plugin, given)
    return Tag(element, '', plugin.path, name, tuple(given.values()), notes=tuple(notes))
