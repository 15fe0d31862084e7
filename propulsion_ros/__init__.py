# SPDX-License-Identifier: Apache-2.0
"""Actuator physics and flight logic for robots that push against something."""
from __future__ import annotations

# Of its name type checkers know what it means, and no import is needed.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from propulsion_ros.models.body.vehicles import Vehicles
    from propulsion_ros.models.common.family import Family

__all__ = ['__version__', 'load', 'load_vehicles']

__version__ = '0.1.0'


def load(
    robot: str | Path, parameters: str | Path | None = None, batch: tuple[int, ...] = ()
) -> Mapping[str, Family]:
    """Return the models of a robot's actuators by the names of their groups.

    Parameters
    ----------
    robot : str or Path
        URDF or xacro with plugin blocks.
    parameters : str or Path, optional
        Parameter file, whose values win over those of the blocks.
    batch : tuple of int
        Leading batch shape of the models' state, such as (64,) for 64 robots.

    Raises
    ------
    ConfigError
        Naming the file, what was expected and what came.
    """
    # Imported late: a program that uses one module needs none of the readers.
    from propulsion_ros.graph.load import models_of

    return models_of(robot, parameters, batch)


def load_vehicles(
    robot: str | Path, parameters: str | Path | None = None, count: int = 1
) -> Vehicles:
    """Return vehicles with their bodies and actuators, which one call advances all at once.

    Parameters
    ----------
    robot : str or Path
        URDF or xacro with plugin blocks, and with the mass of the body.
    parameters : str or Path, optional
        Parameter file; ``body.*`` of its node ``vehicle`` are fluid, gravity and start.
    count : int
        How many.

    Raises
    ------
    ConfigError
        Naming the file, what was expected and what came.
    """
    from propulsion_ros.graph.load import vehicles_of

    return vehicles_of(robot, parameters, count)
