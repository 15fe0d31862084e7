# SPDX-License-Identifier: Apache-2.0
"""A simulated body for any robot: its rate and topics, and the inputs its actuators wait for."""
from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from propulsion_ros.graph.family_params import allocator_named, group_of, is_allocator
from propulsion_ros.graph.node_config import build_family, taken_from_group
from propulsion_ros.loops.actuator_loop import CLOCK, COMMAND, CURRENT, ODOMETRY, LoopParams
from propulsion_ros.loops.estimate_loop import DEMAND
from propulsion_ros.loops.vehicle_params import VehicleParams
from propulsion_ros.models.body.rigid_body import BodyParams
from propulsion_ros.models.common.facts import STEPS
from propulsion_ros.models.common.family import WRENCH_NAMES
from propulsion_ros.models.registry import REGISTRY
from propulsion_ros.settings.errors import ConfigError, SourceError, naming
from propulsion_ros.settings.flat import build, parameters_of, refuse_unknown, suggestion
from propulsion_ros.settings.yaml_file import ParameterFile
from propulsion_ros.timing.stepping import divides
from propulsion_ros.urdf.reader import ActuatorSpec


@dataclass(frozen=True)
class NodeSpec:
    """One node to start."""

    executable: str
    """Name of the executable."""
    name: str
    """Name of the node."""
    parameters: dict[str, Any]
    """Parameters that connect it to others, beside the settings of a user's file."""
    remappings: dict[str, str] = field(default_factory=dict)
    """Topic names, from and to, relative to the namespace."""
    respawn_delay: float | None = None
    """Time after a crash until it is restarted [s]; None for never, as an actuator's tank would be
    full again."""
    defaults: dict[str, Any] = field(default_factory=dict)
    """Parameters that any file may replace, such as the events of a vehicle."""
    group: tuple[str, str] = ('', '')
    """Name and family of the group whose configuration it has too; '' for none."""

    def settled(self, files: Iterable[str | Path], namespace: str = '') -> NodeSpec:
        """Return the node with defaults as parameters, except those that files give it.

        It gets the parameters that files give its group too.
        """
        if not (self.defaults or self.group[0]):
            return self
        file, space = ParameterFile(*files), namespace or '/'
        given = file.of(self.name, space)
        values = {key: value for key, value in self.defaults.items() if key not in given}
        if self.group[0]:
            values |= taken_from_group(file, self.name, *self.group, space)
        parameters = {**values, **self.parameters}
        return replace(self, parameters=parameters, defaults={}, group=('', ''))


BODY = 'vehicle'
"""Name of the node of a simulated body."""
_COMMANDS = ('command', 'wrench_command')
_START_TIMEOUT = 600.0
"""Timeout of a body for its controller, which a user starts [s]."""
_MAX_LAG = 0.1
"""Stamp time for which actuators wait for silent odometry or current [s]."""


@dataclass(frozen=True)
class Simulation:
    """Settings of a simulated body."""

    wait_for: tuple[str, ...] = ()
    """Topics of a controller: each step waits for a command with the step's stamp."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the body, which win over those of files."""
    params_files: tuple[str | Path, ...] = ()
    """Parameter files of all nodes; later ones win."""
    namespace: str = ''
    """Namespace of all nodes."""
    in_gazebo: bool = False
    """Whether Gazebo simulates the body, at steps of its own."""

    @functools.cached_property
    def _file(self) -> ParameterFile:
        return ParameterFile(*self.params_files)

    def of(self, node: str) -> dict[str, Any]:
        """Return the parameters that the files give a node."""
        return self._file.of(node, self.namespace or '/')

    def names(self, node: str) -> bool:
        """Return whether a file has a section for a node."""
        return self._file.names(node, self.namespace or '/')

    @property
    def has_current(self) -> bool:
        """Whether the fluid moves, by files and command line."""
        given = {**self.of(BODY), **self.settings}
        return bool(build(BodyParams, given, 'body.').current.any())


def with_current(nodes: Iterable[NodeSpec]) -> list[NodeSpec]:
    """Return the nodes, with actuators in the current of a simulated body."""
    return [
        replace(spec, remappings={**spec.remappings, '~/current': f'{BODY}/current'})
        if spec.executable == 'actuator_node' else spec
        for spec in nodes
    ]


def simulated(
    nodes: Sequence[NodeSpec],
    blocks: Sequence[ActuatorSpec],
    description: str,
    simulation: Simulation,
    deployer_topic: str = '',
    read: Sequence[str] = (),
) -> list[NodeSpec]:
    """Return the nodes of a robot in lockstep with a simulated body, and the body last.

    Raises `ConfigError` if rates do not divide, or no actuator waits for a topic.

    Parameters
    ----------
    deployer_topic : str
        Topic of the flight computer that frees the parachutes; '' for that of files, if any.
    read : sequence of str
        Topics of the body that the flight computer reads: the first step waits for it.
    """
    groups = [_group(block, simulation) for block in blocks if _steps(block)]
    pushing = [group for group in groups if REGISTRY[group.block.family].facts.pushes]
    if not pushing:
        raise ConfigError('simulate', 'no group of actuators pushes the body')
    rate = _rate(pushing, simulation)
    awaited = _awaited(blocks, simulation.wait_for, {
        group.block.name for group in groups if group.takes_wrench
    })
    _check_allocators(simulation.wait_for, {spec.name for spec in nodes})
    has_current = simulation.has_current
    own = {group.block.name: _inputs(group, awaited, has_current) for group in groups}
    for block in blocks:
        if not _steps(block) and block.name in awaited:
            # The estimate of a step is compared with the demand of the same step.
            own[block.name] = {'wait_for': [COMMAND, DEMAND]}
    for group in pushing if not simulation.in_gazebo else ():
        own[group.block.name].update(_pace(group, rate))
    joined = [
        replace(spec, parameters={**spec.parameters, **own.get(spec.name, {})})
        for spec in (with_current(nodes) if has_current else nodes)
    ]
    pushers = [group.block for group in pushing]
    flow = [ODOMETRY] if any(group.uses_body for group in groups) else []
    read = [*dict.fromkeys([CLOCK, *read, *flow])]
    return [*joined, _body(description, pushers, rate, simulation, deployer_topic, read)]


@dataclass(frozen=True)
class _Group:
    """A group of actuators that steps."""

    block: ActuatorSpec
    given: Mapping[str, Any]
    """Parameters that files give its node."""
    timing: LoopParams
    uses_body: bool
    """Whether its forces depend on the motion of the body."""
    takes_wrench: bool
    """Whether it is commanded by a wrench, without an allocator."""

    @property
    def publish_rate(self) -> float:
        """Rate at which it publishes [Hz]."""
        return self.timing.publish_rate or self.timing.update_rate


def _steps(block: ActuatorSpec) -> bool:
    return REGISTRY[block.family].facts.loop == STEPS


def _group(block: ActuatorSpec, simulation: Simulation) -> _Group:
    """Return a group, built as by its node, or raise `ConfigError`."""
    given = simulation.of(block.name)
    with naming(block.name):
        family, timing = build_family(block.family, given, block)
    takes_wrench = family.command_names == WRENCH_NAMES
    return _Group(block, given, timing, bool(family.uses_body), takes_wrench)


def _body(
    description: str,
    pushing: Sequence[ActuatorSpec],
    rate: float,
    simulation: Simulation,
    deployer_topic: str,
    read: Sequence[str],
) -> NodeSpec:
    given = simulation.of(BODY)
    own = {
        'update_rate': rate,
        'wait_for_subscribers': read,
        **({'start_timeout': _START_TIMEOUT} if simulation.wait_for else {}),
    }
    parameters = {
        **{key: value for key, value in own.items() if key not in given},
        **simulation.settings,
        'robot_description': description,
        'base_link': pushing[0].base_link,
        'wrench_topics': [f'{block.name}/wrench' for block in pushing],
        'tank_topics': tank_topics(pushing),
        'state_topics': [f'{block.name}/state' for block in pushing],
        'deployer_topic': deployer_topic or given.get('deployer_topic', ''),
        'wait_for_publishers': [topic.strip('/') for topic in simulation.wait_for],
    }
    _check_body({**given, **parameters})
    return NodeSpec('vehicle_node', BODY, parameters)


def _check_body(given: Mapping[str, Any]) -> None:
    """Raise `ConfigError`, before anything runs, if the body would refuse its parameters."""
    try:
        refuse_unknown_of_body(given)
        # The topic of the deployers comes from the launch file, so any name will do.
        build(VehicleParams, {**given, 'deployer_topic': BODY})
    except ConfigError as error:
        raise SourceError(BODY, str(error)) from error


def awaitable_topics(
    blocks: Sequence[ActuatorSpec], simulation: Simulation, nodes: Sequence[NodeSpec]
) -> list[str]:
    """Return the topics of a controller's commands to a robot for which steps can wait."""
    families = [block.family for block in blocks]
    computed = {
        topic for spec in nodes if spec.executable == 'flight_state_node'
        for topic in spec.remappings.values()
    }
    own = [
        f'{block.name}/{_COMMANDS[_group(block, simulation).takes_wrench]}' for block in blocks
        if _steps(block) and REGISTRY[block.family].facts.commanded_by not in families
    ]
    allocators = [spec.name for spec in nodes if spec.executable == 'allocator_node']
    return [
        *(topic for topic in own if topic not in computed),
        *(f'{name}/wrench_command' for name in allocators),
    ]


def refuse_unknown_of_body(given: Mapping[str, Any]) -> None:
    """Raise `ConfigError` for a parameter that the node of a body does not have."""
    known = (parameter.key for parameter in parameters_of(VehicleParams))
    refuse_unknown(given, [*known, 'autostart'])


def tank_topics(blocks: Sequence[ActuatorSpec]) -> list[str]:
    """Return the topics of the tanks of some plugin blocks."""
    return [
        f'{block.name}/tanks/{tank}' for block in blocks
        for tank in block.values.get('tanks.names', ())
    ]


def battery_topics(blocks: Sequence[ActuatorSpec]) -> list[str]:
    """Return the topics of the batteries of some plugin blocks."""
    named = {block.name: block.values.get('batteries.names', ()) for block in blocks}
    return [
        f'{group}/battery_state' + f'/{name}' * (len(names) > 1)
        for group, names in named.items() for name in names
    ]


# Rates.


def _rate(pushing: Sequence[_Group], simulation: Simulation) -> float:
    """Return the rate of the body's steps [Hz]: as given, else that of its slowest group."""
    given = {**simulation.of(BODY), **simulation.settings}
    if 'update_rate' in given:
        return float(given['update_rate'])
    return min(group.publish_rate for group in pushing)


def _pace(group: _Group, rate: float) -> dict[str, Any]:
    """Return the parameters with which a group publishes once for each step of the body.

    Raises `ConfigError` with both rates if it cannot.
    """
    own = group.publish_rate
    if abs(own / rate - 1.0) < 1e-9:
        return {}
    if not group.timing.publish_rate and divides(group.timing.update_rate, rate):
        return {'publish_rate': rate}
    raise ConfigError(
        'update_rate', f'{group.block.name!r} publishes at {own:g} Hz where the body steps at '
        f'{rate:g} Hz: give both the same'
    )


# Inputs that a step of a group waits for.


def _awaited(
    blocks: Sequence[ActuatorSpec], topics: Sequence[str], by_wrench: Collection[str]
) -> set[str]:
    """Return the groups whose steps wait for these topics, and those that they command."""
    families = {block.name: block.family for block in blocks}
    awaited = {_commanded(topic, families, by_wrench) for topic in topics}
    commanders = {families[name] for name in awaited}
    return awaited | {
        name for name, family in families.items()
        if REGISTRY[family].facts.commanded_by in commanders
    }


def _check_allocators(topics: Sequence[str], nodes: Collection[str]) -> None:
    """Refuse a topic of an allocator that is not started."""
    for topic in topics:
        node = topic.strip('/').rpartition('/')[0]
        if node not in nodes:
            raise ConfigError(
                'wait_for', f'{topic!r} is of an allocator that is not started; add --allocate '
                f'{group_of(node)}, to a launch file allocate:={group_of(node)}'
            )


def _commanded(topic: str, groups: Collection[str], by_wrench: Collection[str]) -> str:
    """Return the group that a topic commands, by its node or by its allocator."""
    own = {name: f'{name}/{_COMMANDS[name in by_wrench]}' for name in groups}
    allocated = {
        name: f'{allocator_named(name)}/wrench_command' for name in groups if name not in by_wrench
    }
    node, _, last = topic.strip('/').rpartition('/')
    group = group_of(node) if is_allocator(node) and node not in groups else node
    if topic.strip('/') in (own.get(group), allocated.get(group)):
        return group
    if group in own and last in _COMMANDS:
        also = f'; for a wrench wait for {allocated[group]}' if group in allocated else ''
        raise ConfigError('wait_for', f'{topic!r} is no command: {group} takes {own[group]}{also}')
    known = [*own.values(), *allocated.values()]
    near = suggestion(topic, known)
    remapped = '' if near or not known else (
        f'; a controller whose topic it is takes --ros-args -r {topic}:={known[0]}'
    )
    raise ConfigError(
        'wait_for', f'{topic!r} commands no group of actuators{near}; '
        f'known: {", ".join(known)}{remapped}'
    )


def _inputs(group: _Group, awaited: Collection[str], has_current: bool) -> dict[str, Any]:
    """Return the parameters with which a group steps on inputs of the step's own stamp."""
    flow = [ODOMETRY, *([CURRENT] if has_current else [])] if group.uses_body else []
    if group.block.name in awaited:
        return {'step_on': 'stamp', 'wait_for': [COMMAND, *flow], 'max_lag': 0.0}
    if not flow:
        return {}
    own = {'wait_for': [CLOCK, *flow], 'max_lag': _MAX_LAG, 'reliable_inputs': True}
    return {key: value for key, value in own.items() if key not in group.given}
