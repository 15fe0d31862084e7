# SPDX-License-Identifier: Apache-2.0
"""Actuator physics and flight logic for robots that push against something."""
from __future__ import annotations

from propulsion_ros.settings.imports import late

# Of its name type checkers know what it means, and no import is needed.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from propulsion_ros import flight as flight
    from propulsion_ros import models as models
    from propulsion_ros.loops.flight.flight_loop import FlightLoop
    from propulsion_ros.models.body.vehicles import Vehicles
    from propulsion_ros.models.common.family import BodyState, Command, Output
    from propulsion_ros.models.common.model import Model
    from propulsion_ros.settings.errors import CommandError, ConfigError

__all__ = [
    'BodyState', 'Command', 'CommandError', 'ConfigError', 'FlightLoop', 'Model', 'Output',
    'Vehicles', '__version__', 'load', 'load_vehicles',
]

__version__ = '0.2.0'

# A program that uses one module needs none of the others.
__getattr__, __dir__ = late(__name__, {
    'loops.flight.flight_loop': 'FlightLoop',
    'models.body.vehicles': 'Vehicles',
    'models.common.family': 'BodyState Command Output',
    'models.common.model': 'Model',
    'settings.errors': 'CommandError ConfigError',
}, ('flight', 'models'))


def load(
    robot: str | Path, parameters: str | Path | Sequence[str | Path] | None = None,
    batch: int | tuple[int, ...] = (),
) -> Mapping[str, Model]:
    """Return the models of a robot's actuators by the names of their groups.

    Parameters
    ----------
    robot : str or Path
        A vehicle of the package, such as ``'quadrotor'``, or URDF or xacro with plugin blocks.
    parameters : str or Path, or a sequence, optional
        Parameter files, whose values win over those of the blocks, the later ones over others.
    batch : int or tuple of int
        Leading batch shape of the models' state, such as 64 for as many robots.

    Raises
    ------
    ConfigError
        Naming the file, what was expected and what came.
    """
    from propulsion_ros.graph.load import models_of
    from propulsion_ros.settings.errors import ConfigError

    try:
        return models_of(robot, parameters, batch)
    except ConfigError as error:
        # Of how it was found nothing helps; the line has file and key.
        raise error.with_traceback(None) from None


def load_vehicles(
    robot: str | Path, parameters: str | Path | Sequence[str | Path] | None = None,
    count: int = 1,
) -> Vehicles:
    """Return vehicles with their bodies and actuators, which one call advances all at once.

    Parameters
    ----------
    robot : str or Path
        A vehicle of the package, or URDF or xacro with plugin blocks and the mass of the body.
    parameters : str or Path, or a sequence, optional
        Parameter files, of which the later ones win; ``body.*`` of their node ``vehicle`` are
        fluid, gravity and start.
    count : int
        How many.

    Raises
    ------
    ConfigError
        Naming the file, what was expected and what came.
    """
    from propulsion_ros.graph.load import vehicles_of
    from propulsion_ros.settings.errors import ConfigError

    try:
        return vehicles_of(robot, parameters, count)
    except ConfigError as error:
        raise error.with_traceback(None) from None
