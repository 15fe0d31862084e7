# SPDX-License-Identifier: Apache-2.0
"""From parameters and configuration to the flight logic, alike for node, replay and commands."""
from __future__ import annotations

import numpy as np

from propulsion_ros.flight.detectors import make_detector
from propulsion_ros.flight.estimation.estimator import Estimator
from propulsion_ros.flight.estimation.mounting import Mounting, MountingParams
from propulsion_ros.flight.estimation.params import EstimatorParams
from propulsion_ros.flight.flight_state import FlightState
from propulsion_ros.flight.legacy.estimator import LegacyFeed
from propulsion_ros.flight.readiness import required_checks
from propulsion_ros.loops.flight.params import FlightLoopParams
from propulsion_ros.rml.config import FlightConfig, load_flight_config
from propulsion_ros.settings.errors import ConfigError


def read_config(params: FlightLoopParams) -> FlightConfig:
    """Return the configuration that parameters name, one without events where they name none.

    Raises
    ------
    ConfigError
        For everything that is wrong.
    """
    if not params.config_file:
        return FlightConfig((), ())
    # What was flown is replayed as it was.
    source = '' if params.replay else params.altitude_source
    return load_flight_config(params.config_file, params.semantics, source)


def make_flight_state(
    params: FlightLoopParams, config: FlightConfig, *, in_simulation: bool
) -> FlightState:
    """Return the flight logic; in a simulation a flight ends where time starts again.

    Raises
    ------
    ConfigError
        Where the configuration names what is not there.
    """
    return FlightState(
        params.flight, make_detector(params.apogee), config.events, config.deployers,
        config.controllers, config.semantics,
        required_checks(params.required_checks, config.semantics, is_live=not params.replay),
        keeps_flight=not in_simulation,
        may_settle=not (in_simulation or params.replay),
    )


def make_flight_estimator(
    params: FlightLoopParams, config: FlightConfig
) -> Estimator | LegacyFeed | None:
    """Return what makes estimates of raw sensors, None where the altitude comes otherwise.

    Raises
    ------
    ConfigError
        Where the parameters name an estimator that makes none.
    """
    if params.altitude_source != 'sensors':
        return None
    sensors = config.sensors
    board = MountingParams(axes=np.array(sensors.axes), flips=np.array(sensors.flips))
    mounting = Mounting(board, rotation=config.orientation.rotation)
    estimator = make_estimator(params.estimator, mounting)
    if estimator is None:
        raise ConfigError('estimator.method', 'expected one that makes an estimate')
    return estimator


def make_estimator(
    params: EstimatorParams,
    mounting: Mounting,
    magnetometer_mounting: Mounting | None = None,
) -> Estimator | LegacyFeed | None:
    """Return the estimator that ``params.method`` names, None where it comes from outside."""
    if params.method == 'external':
        return None
    kind = LegacyFeed if params.method == 'legacy' else Estimator
    return kind(params, mounting, magnetometer_mounting)
