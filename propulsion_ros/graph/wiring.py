# SPDX-License-Identifier: Apache-2.0
"""Nodes that a robot needs, connections between them, and options that select them."""
from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from propulsion_ros.graph.family_params import allocator_named, loop_params_of, node_kind_of
from propulsion_ros.graph.node_config import refuse_unknown_node
from propulsion_ros.graph.share import read_description, robot_files, share_directory
from propulsion_ros.graph.simulation import (
    BODY,
    NodeSpec,
    Simulation,
    simulated,
    tank_topics,
    with_current,
)
from propulsion_ros.graph.vehicles import ENGINE_TAG, VEHICLES, VehicleKit
from propulsion_ros.models.registry import REGISTRY
from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.settings.flat import known_hint
from propulsion_ros.settings.names import check_namespace
from propulsion_ros.settings.yaml_file import ParameterFile
from propulsion_ros.urdf.reader import FILENAME, ActuatorSpec, actuators_from_urdf

REPLAYED: dict[str, dict[str, Any]] = {
    'actuator_node': {'step_on': 'stamp', 'reliable_inputs': True, 'replay': True},
    'inverse_fam_node': {'reliable_inputs': True, 'replay': True},
    'flight_state_node': {
        'reliable_inputs': True, 'silence_timeout': 0.0, 'on_time_clock': 'stamps',
        'replay': True,
    },
}
"""Parameters by executable with which a replay gives the same bytes at any rate."""

FLIGHT = 'flight_state'
"""Name of the node of a flight computer."""
WITHOUT_FLIGHT = f'; no {FLIGHT} runs, which a section {FLIGHT} of {{}} starts'
"""Why no node lights an engine, or replies; the braces are for the file that needs a section."""
_SENSORS = {
    'odometry': ('odometry',), 'pressure': ('pressure', 'sensors'), 'imu': ('sensors',),
}
"""Topics of a simulated body, with each ``altitude_source`` by which a flight computer reads it."""
_ENGINES = '~/booster_command'
_BODY_JOINTS = f'{BODY}/joint_states'
SETTINGS = ('duration', 'real_time_factor', 'start_timeout')
"""Parameters of a simulated body that are options."""


@dataclass(frozen=True)
class Graph:
    """The nodes of one robot, and the file with their settings."""

    robot_description: str
    """URDF."""
    params_file: Path | None
    """Parameter file that comes with the package."""
    nodes: tuple[NodeSpec, ...]
    """Nodes to start."""
    in_lockstep: bool = False
    """Whether the nodes wait for each other, so that the end of one ends all."""
    joint_states: str = 'joint_states'
    """Topic with the positions of the joints."""


def robot_graph(
    vehicle: str = '',
    model: str | Path = '',
    *,
    use_sim_time: bool | None = None,
    allocated: Sequence[str] = (),
    replay: bool = False,
    drawn_with: Sequence[str | Path] | None = None,
    simulation: Simulation | None = None,
) -> Graph:
    """Return the nodes of a robot: actuators, allocators, flight computer, visualizer and body.

    A vehicle of the package has a flight computer and a simulated body of its own; other robots
    have a body if it is given, and a flight computer if its parameter files have a section for one.
    Raises `ConfigError` if the description is wrong or has no plugin block.

    Parameters
    ----------
    vehicle : str
        Vehicle of the package; '' for any other robot.
    model : str or Path
        Description of the robot; of a vehicle, another one than that of the package.
    use_sim_time : bool, optional
        False leaves the body of a vehicle out, for one that has a real body. By default True with a
        simulated body.
    allocated : sequence of str
        Plugin blocks that get an allocator, to be commanded by a wrench, beside those of a vehicle.
    replay : bool
        Whether the inputs come from a recording, with the state of the body; there is no simulated
        one then.
    drawn_with : sequence of str or Path, optional
        Adds a visualizer, which also reads limits from these parameter files of the actuators; they
        win over those of a vehicle.
    simulation : Simulation, optional
        How the body is simulated, which publishes /clock; its parameter files win over those of a
        vehicle.
    """
    kit, settings = VehicleKit(), None
    if vehicle:
        kit = VEHICLES[vehicle]
        path, (settings,) = robot_files(vehicle)
        model = model or path
        simulation = None if use_sim_time is False else simulation or Simulation()
        if simulation:
            simulation = replace(simulation, params_files=(settings, *simulation.params_files))
    use_sim_time = bool(use_sim_time or simulation)
    description, blocks = _read(model)
    nodes = [
        *actuator_nodes(description, blocks, use_sim_time, simulation is not None),
        *_allocators(description, blocks, [*dict.fromkeys((*kit.allocated, *allocated))],
                     use_sim_time),
    ]
    given = simulation.of(FLIGHT) if simulation else {}
    config = given.get('config_file', kit.flight_config)
    has_flight_state = bool(config or (simulation and simulation.names(FLIGHT)))
    read: list[str] = []
    if has_flight_state:
        source = given.get('altitude_source', 'odometry') if simulation else ''
        nodes.append(_flight_state(kit, blocks, use_sim_time, source))
        read = [topic for topic, sources in _SENSORS.items() if source in sources]
    if drawn_with is not None:
        files = [*filter(None, [settings]), *drawn_with]
        nodes.append(_visualizer(description, blocks, files, use_sim_time, has_flight_state))
    if replay:
        # If the fluid moved, the recording has the current of the simulated body.
        nodes = with_current(nodes) if simulation else nodes
        return Graph(description, settings, replayed(nodes))
    if simulation is None:
        return Graph(description, settings, tuple(nodes))
    deployers = f'{FLIGHT}/deployers' if config else ''
    nodes = simulated(nodes, blocks, description, simulation, deployers, read)
    return Graph(description, settings, tuple(nodes), True, _BODY_JOINTS)


def gazebo_graph(
    vehicle: str,
    inside: bool,
    model: str | Path = '',
    drawn_with: Sequence[str | Path] | None = None,
) -> Graph:
    """Return the nodes of a vehicle whose body Gazebo simulates.

    Raises `ConfigError` if the description or the name is wrong.

    Parameters
    ----------
    inside : bool
        Whether the actuators that push run inside gz-sim; else they are nodes that publish plain
        numbers for the bridge.
    """
    graph = robot_graph(
        vehicle, model, drawn_with=drawn_with, simulation=Simulation(in_gazebo=True)
    )
    blocks = actuators_from_urdf(graph.robot_description, loop_params_of)
    pushing = {block.name for block in pushing_blocks(blocks)}
    nodes = tuple(
        replace(spec, parameters={**spec.parameters, 'publish_numbers': True})
        if spec.name in pushing else spec
        for spec in graph.nodes
        if spec.executable != 'vehicle_node' and not (inside and spec.name in pushing)
    )
    return replace(graph, nodes=nodes, in_lockstep=False)


def check_settings(graph: Graph, paths: Iterable[str | Path], namespace: str = '') -> None:
    """Refuse parameter files for other nodes; see `ParameterFile.check_names`.

    A section with the name of a family is for another node if the groups of that family have other
    names, unless the file has a section for one of these too: it may be for several robots.
    """
    blocks = actuators_from_urdf(graph.robot_description, loop_params_of)
    for file in map(ParameterFile, paths):
        file.check_names([spec.name for spec in graph.nodes], namespace)
        for family in (node for node in file.nodes if file.names(node, namespace)):
            groups = [block.name for block in blocks if block.family == family]
            if groups and not any(file.names(group, namespace) for group in groups):
                try:
                    refuse_unknown_node(family, file.of(family, namespace), blocks)
                except ConfigError as error:
                    raise file.placed(family, error) from error


def replayed(nodes: Iterable[NodeSpec]) -> tuple[NodeSpec, ...]:
    """Return the nodes for a replay, without allocators: the recording has their commands."""
    return tuple(_replayed(spec) for spec in nodes if spec.executable != 'allocator_node')


def _replayed(spec: NodeSpec) -> NodeSpec:
    remappings = {key: topic for key, topic in spec.remappings.items() if key != _ENGINES}
    if spec.executable == 'flight_state_node':
        # The node reads the recorded requests, and publishes its own ones on another topic.
        remappings['~/request'] = f'{spec.name}/requests'
        remappings['~/requests'] = f'{spec.name}/new_requests'
    parameters = {**spec.parameters, **REPLAYED.get(spec.executable, {})}
    delay = None if spec.executable == 'flight_state_node' else spec.respawn_delay
    return replace(spec, parameters=parameters, remappings=remappings, respawn_delay=delay)


def _read(model: str | Path) -> tuple[str, list[ActuatorSpec]]:
    description = read_description(model)
    with description.located():
        blocks = actuators_from_urdf(description.text, loop_params_of)
    if not blocks:
        raise SourceError(
            str(model), f'no <plugin filename="{FILENAME}">, nor one of UUV\'s, in any <gazebo>'
        )
    return description.text, blocks


def actuator_nodes(
    description: str, blocks: list[ActuatorSpec], use_sim_time: bool, in_simulation: bool = False
) -> list[NodeSpec]:
    """Return one node for each plugin block of a robot description."""
    parameters = {'robot_description': description, 'use_sim_time': use_sim_time}
    families = {block.name: block.family for block in blocks}
    return [
        NodeSpec(
            node_kind_of(block.family).executable, block.name, parameters,
            inputs_of(block.family, families, in_simulation),
        )
        for block in blocks
    ]


def pushing_blocks(blocks: Iterable[ActuatorSpec]) -> list[ActuatorSpec]:
    """Return the plugin blocks whose wrench acts on the robot."""
    return [block for block in blocks if REGISTRY[block.family].facts.pushes]


def inputs_of(
    family: str, families: Mapping[str, str], in_simulation: bool = False
) -> dict[str, str]:
    """Return the remappings of a family's inputs that other nodes of the robot publish."""
    remappings, facts = {}, REGISTRY[family].facts
    commanders = [
        node for node, name in families.items() if facts.commanded_by and name == facts.commanded_by
    ]
    if len(commanders) == 1:
        (commander,) = commanders
        remappings['~/command'] = f'{commander}/state'
        remappings.update((f'~/{topic}', f'{commander}/{topic}') for topic in facts.shared_inputs)
    if in_simulation:
        remappings['~/odometry'] = f'{BODY}/odometry'
        remappings['~/inertia'] = f'{BODY}/inertia'
    return remappings


def _allocators(
    description: str, blocks: list[ActuatorSpec], allocated: Sequence[str], use_sim_time: bool
) -> list[NodeSpec]:
    """Return one allocator for each group that is commanded by a wrench."""
    families = {block.name: block.family for block in blocks}
    for name in allocated:
        if name not in families:
            hint = known_hint(name, families, 'found')
            raise ConfigError('allocate', f'no plugin block {name!r}{hint}')
    return [
        NodeSpec(
            'allocator_node', allocator_named(name),
            {'robot_description': description, 'plugin': name, 'use_sim_time': use_sim_time},
            {
                '~/command': f'{name}/command', '~/effectiveness': f'{name}/effectiveness',
                '~/state': f'{name}/state',
            },
            group=(name, families[name]),
        )
        for name in allocated
    ]


def _visualizer(
    description: str,
    blocks: list[ActuatorSpec],
    params_files: Sequence[str | Path],
    use_sim_time: bool,
    has_flight_state: bool = False,
) -> NodeSpec:
    parameters = {
        'robot_description': description,
        'use_sim_time': use_sim_time,
        'params_files': [str(path) for path in params_files],
        'state_topics': [f'{block.name}/state' for block in blocks],
        'tank_topics': tank_topics(blocks),
        'phase_topic': f'{FLIGHT}/phase' if has_flight_state else '',
    }
    return NodeSpec('visualizer_node', 'visualizer', parameters, respawn_delay=2.0)


def _flight_state(
    kit: VehicleKit, blocks: Sequence[ActuatorSpec], use_sim_time: bool, source: str
) -> NodeSpec:
    lit = [block.name for block in blocks if REGISTRY[block.family].facts.tag == ENGINE_TAG]
    config = share_directory() / 'config' / kit.flight_config
    return NodeSpec(
        'flight_state_node',
        FLIGHT,
        {'use_sim_time': use_sim_time},
        {
            '~/pressure': f'{BODY}/pressure', '~/imu': f'{BODY}/imu',
            # With raw sensors the node publishes its own estimate there.
            **({'~/odometry': f'{BODY}/odometry'} if source == 'odometry' else {}),
            **({_ENGINES: f'{lit[0]}/command'} if lit else {}),
        },
        # It is restarted, as no other node deploys the parachutes; its record keeps the flight.
        respawn_delay=0.3,
        defaults={'config_file': str(config)} if kit.flight_config else {},
    )


def add_graph_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that `checked_graph` reads."""
    parser.add_argument(
        '--vehicle', choices=VEHICLES, help='vehicle of the package, with its simulated body'
    )
    parser.add_argument(
        '--model',
        help="URDF or xacro of a robot; with --vehicle in place of the vehicle's own",
    )
    parser.add_argument(
        '--allocate', nargs='+', default=[], metavar='BLOCK',
        help='plugin blocks of the model that also get an allocator, to be commanded by a wrench',
    )
    parser.add_argument(
        '--use-sim-time', choices=('true', 'false'),
        help='whether time comes from /clock (default: true with --vehicle, else false)',
    )
    add_simulation_options(parser)
    parser.add_argument(
        '--simulate', action='store_true',
        help='add a simulated body of the model, which its links and plugin blocks describe',
    )
    parser.add_argument(
        '--replay', action='store_true',
        help='for playing a recording: step on stamps, lose no input, run no simulated body',
    )
    parser.add_argument(
        '--visualize', action='store_true', help='publish the thrusts as markers for RViz'
    )
    parser.add_argument('--namespace', default='', help='namespace of all nodes')


def add_simulation_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a simulated body, which `simulation_of` reads."""
    parser.add_argument(
        '--wait-for', action='append', default=[], metavar='TOPIC',
        help='command of a controller, such as <group>/command, that each step waits for: in '
        'lockstep, with the stamp of the odometry; may be repeated',
    )
    parser.add_argument(
        '--duration', type=float, metavar='SECONDS',
        help='simulated time after which everything ends',
    )
    parser.add_argument(
        '--real-time-factor', type=float, metavar='FACTOR',
        help='simulated over wall time; 0: as fast as the nodes reply',
    )
    parser.add_argument(
        '--start-timeout', type=float, metavar='SECONDS',
        help='wall time to wait for all that the first step needs, a controller too; of fly 60 '
        'with --controller and 180 with --record, where the parameter file has no start_timeout',
    )


def simulation_of(
    options: argparse.Namespace, params_files: Sequence[str | Path], namespace: str = ''
) -> Simulation:
    """Return the settings of a simulated body, from `add_simulation_options` and files."""
    chosen = {key: getattr(options, key) for key in SETTINGS}
    settings = {key: value for key, value in chosen.items() if value is not None}
    return Simulation(tuple(options.wait_for), settings, tuple(params_files), namespace)


def checked_graph(words: Sequence[str], params_files: Sequence[str | Path]) -> Graph:
    """Return the graph of a command line; its other words are ignored.

    Raises `ConfigError` if an option or the namespace is wrong, or a parameter file is for other
    nodes.
    """
    parser = argparse.ArgumentParser(add_help=False)
    add_graph_options(parser)
    options, _ = parser.parse_known_args(words)
    check_namespace(options.namespace)
    graph = _graph_of(options, params_files)
    check_settings(graph, params_files, options.namespace)
    files = [*filter(None, [graph.params_file]), *params_files]
    nodes = tuple(spec.settled(files, options.namespace) for spec in graph.nodes)
    return replace(graph, nodes=nodes)


def _graph_of(options: argparse.Namespace, params_files: Sequence[str | Path]) -> Graph:
    is_vehicle = bool(options.vehicle) or options.model is None
    unread = [] if options.simulate or is_vehicle else [
        key for key in ('wait_for', *SETTINGS) if getattr(options, key) not in (None, [])]
    if unread:
        raise ConfigError(unread[0], (
            'is of the simulated body: add --simulate, to a launch file simulate:=true'
        ))
    simulation = simulation_of(options, params_files, options.namespace)
    return robot_graph(
        (options.vehicle or next(iter(VEHICLES))) if is_vehicle else '', options.model or '',
        use_sim_time={'true': True, 'false': False}.get(options.use_sim_time),
        allocated=options.allocate, replay=options.replay,
        drawn_with=params_files if options.visualize else None,
        simulation=simulation if options.simulate or is_vehicle else None,
    )
