# SPDX-License-Identifier: Apache-2.0
"""A vehicle of the package with Gazebo as its body: the model, and the nodes beside it."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from propulsion_ros.graph.share import share_directory
from propulsion_ros.graph.wiring import Graph, gazebo_graph
from propulsion_ros.gz.bridge import GZ, Release
from propulsion_ros.gz.model import GazeboRobot, gazebo_robot


@dataclass(frozen=True)
class GazeboVehicle:
    """What is started for a vehicle in Gazebo."""

    model: str
    """File of its description."""
    params_files: tuple[str | Path, ...]
    """Settings of all its nodes, the later ones win."""
    robot: GazeboRobot
    """What Gazebo and its bridge get."""
    graph: Graph
    """The nodes of this package that run beside Gazebo."""


def gazebo_vehicle(
    vehicle: str,
    route: str,
    model: str = '',
    params_files: Sequence[str | Path] = (),
    namespace: str = '',
    release: Release = GZ,
    drawn_with: Sequence[str | Path] | None = None,
) -> GazeboVehicle:
    """Return what is started for a vehicle in Gazebo.

    Parameters
    ----------
    vehicle : str
        One of `propulsion_ros.graph.vehicles.VEHICLES`.
    route : str
        One of `propulsion_ros.gz.model.ROUTES`.
    model : str
        Another description of it than the one of the package.
    params_files : sequence of str or Path
        Settings that win over the vehicle's own.
    namespace : str
        Of all nodes.
    release : Release
        Of Gazebo.
    drawn_with : sequence of str or Path, optional
        As in `propulsion_ros.graph.wiring.vehicle_graph`.

    Raises
    ------
    ConfigError
        Where something is wrong, or the vehicle cannot take the route.
    """
    share = share_directory()
    path = model or str(share / 'urdf' / f'{vehicle}.urdf.xacro')
    files = (share / 'config' / f'{vehicle}.yaml', *params_files)
    robot = gazebo_robot(path, route, files, namespace, release)
    graph = gazebo_graph(vehicle, route == 'system', model, drawn_with)
    return GazeboVehicle(path, files, robot, graph)
