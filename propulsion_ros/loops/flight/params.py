# SPDX-License-Identifier: Apache-2.0
"""Parameters of the flight computer, and the flight logic made from them and its configuration."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.flight.detectors import make_detector
from propulsion_ros.flight.estimation.estimator import Estimator
from propulsion_ros.flight.estimation.mounting import Mounting
from propulsion_ros.flight.estimation.params import EstimatorParams
from propulsion_ros.flight.events.events import SEMANTICS
from propulsion_ros.flight.flight_state import FlightState
from propulsion_ros.flight.legacy.estimator import LegacyFeed
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.flight.readiness import CHECKS, REQUIRED, Readiness, required_checks
from propulsion_ros.loops.flight.estimation import EstimationParams
from propulsion_ros.loops.ports import Parameters
from propulsion_ros.rml.config import FlightConfig, load_flight_config
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.files import ABSENT, FILE, UNKNOWN, kind_of
from propulsion_ros.settings.flat import build, parameters_of
from propulsion_ros.settings.names import is_name
from propulsion_ros.settings.quantity import group, quantity, validate


def read_config(params: FlightLoopParams) -> FlightConfig:
    """Return the configuration that parameters name, one without events where they name none.

    Raises `ConfigError` for everything that is wrong.
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

    Raises `ConfigError` where the configuration names what is not there.
    """
    return FlightState(
        params.flight, make_detector(params.apogee), config.events, config.deployers,
        config.controllers, config.semantics,
        required_checks(params.required_checks, config.semantics, is_live=not params.replay),
        keeps_flight=not in_simulation,
        may_settle=not (in_simulation or params.replay),
    )


def never_launches(params: FlightLoopParams, config: FlightConfig) -> Iterator[tuple[str, str]]:
    """Yield what refuses every ``~/launch``, with the parameter that would change that."""
    required = required_checks(params.required_checks, config.semantics, is_live=not params.replay)
    always = Readiness(params.flight, config.events, config.deployers).always
    for name, why in always.items():
        if why and name in required:
            key = {'backup_timer': 'flight.max_ascent_time'}.get(name, 'config_file')
            yield key, f'~/launch is refused, where no other file changes that: {why}'


def make_flight_estimator(
    params: FlightLoopParams, config: FlightConfig
) -> Estimator | LegacyFeed | None:
    """Return what makes estimates of raw sensors, None where the altitude comes otherwise."""
    if params.altitude_source != 'sensors':
        return None
    mounting = Mounting(config.sensors, rotation=config.orientation)
    kind = LegacyFeed if params.estimator.method == 'legacy' else Estimator
    return kind(params.estimator, mounting)


@dataclass(frozen=True, kw_only=True, eq=False)
class FlightLoopParams:
    """What a flight computer is made from."""

    config_file: str = quantity(
        '', doc='flight configuration (RML, .jsonc) with events, deployers and engines', kind=str
    )
    semantics: str = quantity(
        'safe', doc='how the configuration is read and its events evaluated: safe, or as flown',
        kind=str, choices=SEMANTICS,
    )
    altitude_source: str = quantity(
        'odometry', kind=str, choices=('odometry', 'pressure', 'sensors'),
        doc='which input gives the altitude; sensors: an estimate from all raw sensors',
    )
    pad_reference: str = quantity(
        'measured', doc='altitude of the pad: the mean before launch, or 0 as in a flight log',
        kind=str, choices=('measured', 'zero'),
    )
    reliable_inputs: bool = quantity(
        False, doc='lose no message, in or out: for simulation in lockstep, and replay', kind=bool
    )
    silence_timeout: float = quantity(
        0.5, 's', lo=0.0,
        doc='silence after which time goes on without samples, off in simulation; 0 never',
    )
    on_time_clock: str = quantity(
        'auto', doc='what on-times are counted on: the steady clock, or stamps; auto takes stamps '
        'in simulation', kind=str, choices=('auto', 'steady', 'stamps'),
    )
    state_file: str = quantity(
        '', doc='small file from which a flight is resumed after a restart; none by default',
        kind=str,
    )
    required_checks: tuple[str, ...] = quantity(
        REQUIRED, kind=str, shape=('*',),
        choices=('altitude', *CHECKS),
        doc='what must be in order for ~/launch, altitude always; what others find is a warning',
    )
    receivers: tuple[str, ...] = quantity(
        (), kind=str, shape=('*',),
        doc='nodes that must subscribe to ~/deployers and ~/engines, by full name or in any '
        'namespace; by default any that is no recorder',
    )
    replay: bool = quantity(
        False, doc='replay a recording: its requests take effect at their stamps whenever they '
        'come, time is that of the stamps alone, and no record is kept', kind=bool,
    )
    world_frame: str = quantity('map', doc='frame of the apogee', kind=str)
    flight: FlightParams = group(FlightParams, element='flight')
    apogee: ApogeeParams = group(ApogeeParams, element='apogee')
    estimator: EstimatorParams = group(EstimatorParams, element='estimator')
    estimation: EstimationParams = group(EstimationParams, element='estimation')

    def __post_init__(self) -> None:
        validate(self)
        for name in self.receivers:
            # Full, or of no namespace.
            if not is_name(name, '/') or (name[0] != '/' and '/' in name):
                raise ConfigError('receivers', f'expected names of nodes, got {name!r}')
        if self.state_file and not _has_folder(self.state_file):
            raise ConfigError('state_file', f'{self.state_file} lies in no folder')
        if self.state_file:
            kind = kind_of(Path(self.state_file).expanduser())
            if kind not in (FILE, ABSENT, UNKNOWN):
                raise ConfigError('state_file', f'{self.state_file} is {kind}, expected a file')
        is_legacy = self.altitude_source == 'sensors' and self.estimator.method == 'legacy'
        if is_legacy and self.state_file:
            raise ConfigError(
                'state_file', 'the legacy estimator cannot be resumed after a restart: '
                'choose another estimator.method'
            )
        if self.altitude_source == 'sensors' and self.estimator.method == 'external':
            raise ConfigError(
                'estimator.method', 'external makes no estimate: set altitude_source to odometry'
            )


def read_params(parameters: Parameters) -> FlightLoopParams:
    """Return what the parameters of a node or a file give; raise `ConfigError` for a wrong one."""
    return build(FlightLoopParams, parameters.declare(parameters_of(FlightLoopParams)))


def _has_folder(path: str) -> bool:
    try:
        return Path(path).expanduser().parent.is_dir()
    except RuntimeError:
        # There is no such user.
        return False
