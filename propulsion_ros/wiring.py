"""Which nodes a robot needs and how they are joined: launch files and `stack` both ask here."""
from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from propulsion_ros.actuator_loop import LoopParams
from propulsion_ros.description import FILENAME, ActuatorSpec, actuators_from_urdf
from propulsion_ros.errors import SourceError
from propulsion_ros.share import load_robot_description, share_directory

VEHICLES = ('rocket',)
"""Vehicles that come with the package: urdf/<name>.urdf.xacro and config/<name>.yaml."""


@dataclass(frozen=True)
class NodeSpec:
    """One node to start.

    Attributes
    ----------
    executable : str
        Name of the executable.
    name : str
        Name of the node.
    parameters : dict
        What joins it to the others; settings of a user's file go beside them.
    remappings : dict
        Topic names, from and to, relative to the namespace.
    """

    executable: str
    name: str
    parameters: dict[str, Any]
    remappings: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Graph:
    """The nodes of one robot, and the file with their settings.

    Attributes
    ----------
    robot_description : str
        URDF.
    params_file : Path or None
        Settings that come with the package.
    nodes : tuple of NodeSpec
        What to start.
    in_lockstep : bool
        Whether the nodes wait for each other, so that none is of use alone.
    """

    robot_description: str
    params_file: Path | None
    nodes: tuple[NodeSpec, ...]
    in_lockstep: bool = False


def _actuators(
    description: str, blocks: list[ActuatorSpec], use_sim_time: bool
) -> list[NodeSpec]:
    """Return one actuator node for each plugin block of a robot description."""
    parameters = {'robot_description': description, 'use_sim_time': use_sim_time}
    return [NodeSpec('actuator_node', block.name, parameters) for block in blocks]


def robot_graph(model: str | Path, use_sim_time: bool = False) -> Graph:
    """Return the actuator nodes of any robot.

    Parameters
    ----------
    model : str or Path
        Its .urdf or .xacro file.
    use_sim_time : bool
        Whether a simulation keeps the time.

    Raises
    ------
    ConfigError
        Where the description is wrong or has no plugin block.
    """
    description = load_robot_description(model)
    blocks = actuators_from_urdf(description, LoopParams)
    if not blocks:
        raise SourceError(str(model), f'no <plugin filename="{FILENAME}"> in any <gazebo>')
    return Graph(description, None, tuple(_actuators(description, blocks, use_sim_time)))


def vehicle_graph(vehicle: str, use_sim_time: bool = True) -> Graph:
    """Return the graph of a vehicle that comes with the package, with its simulated body.

    Parameters
    ----------
    vehicle : str
        One of `VEHICLES`.
    use_sim_time : bool
        False leaves the simulated body out, for a robot that has a real one.

    Raises
    ------
    ConfigError
        Where the description or the name is wrong.
    """
    share = share_directory()
    description = load_robot_description(share / 'urdf' / f'{vehicle}.urdf.xacro')
    blocks = actuators_from_urdf(description, LoopParams)
    nodes = _actuators(description, blocks, use_sim_time)
    nodes.append(_flight_state(share, use_sim_time))
    if use_sim_time:
        nodes.append(_vehicle(description, blocks))
    settings = share / 'config' / f'{vehicle}.yaml'
    return Graph(description, settings, tuple(nodes), in_lockstep=use_sim_time)


def _vehicle(description: str, blocks: list[ActuatorSpec]) -> NodeSpec:
    tanks = [
        f'{spec.name}/tanks/{tank}' for spec in blocks for tank in spec.values['tanks.names']
    ]
    parameters = {
        'robot_description': description,
        'base_link': blocks[0].base_link,
        'wrench_topics': [f'{spec.name}/wrench' for spec in blocks],
        'tank_topics': tanks,
        'state_topics': [f'{spec.name}/state' for spec in blocks],
        'deployer_topic': 'flight_state/deployers',
    }
    return NodeSpec('vehicle_node', 'vehicle', parameters)


def _flight_state(share: Path, use_sim_time: bool) -> NodeSpec:
    return NodeSpec(
        'flight_state_node',
        'flight_state',
        {
            'config_file': str(share / 'config' / 'rocket_flight.jsonc'),
            'use_sim_time': use_sim_time,
        },
        {'~/pressure': 'vehicle/pressure', '~/odometry': 'vehicle/odometry'},
    )
