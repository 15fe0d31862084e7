# SPDX-License-Identifier: Apache-2.0
"""Reader of the flight configuration, the Ricardo Markup Language of Pickle Rick (JSONC).

Lengths are metres in north-east-down axes, times milliseconds, angles radians, as flown;
conditions keep those units and print themselves in metres of altitude, seconds and degrees.
"""
from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from propulsion_ros.flight.estimation.mounting import MountingParams
from propulsion_ros.flight.events.conditions import (
    All,
    Condition,
    LessThan,
    MoreThan,
    comparisons,
)
from propulsion_ros.flight.events.controllers import PidSpec
from propulsion_ros.flight.events.events import EventSpec
from propulsion_ros.flight.events.variables import Variables
from propulsion_ros.flight.phases.phases import Phase
from propulsion_ros.flight.pyros.deployers import DeployerSpec
from propulsion_ros.flight.pyros.engines import EngineSpec
from propulsion_ros.rml.devices import (
    read_controllers,
    read_deployers,
    read_engines,
    read_estimator,
    read_sensors,
)
from propulsion_ros.rml.events import EventReader
from propulsion_ros.rml.firing import never_fires
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import DEEPEST, expand_user, printable, read_named
from propulsion_ros.settings.hints import by_opening
from propulsion_ros.settings.json_node import JsonNode, line_in, line_of, parse_jsonc
from propulsion_ros.settings.quantity import FloatArray

_DESCENT = 20.0  # speed of a descent by which the order of parachutes is found [m/s]
_HEIGHTS = range(20_000, 0, -50)  # its heights [m]
_LEAST_PULSE_MS = 5.0  # shortest pulse of igniters in use [ms]

_FASTEST = 100.0  # largest upward speed at which a canopy may be opened [m/s]
_LEAST_TIME_MS = 50.0  # a shorter time since an event is likely meant in seconds [ms],
_LEAST_CHARGE_MS = 250.0  # and of a charge, which is not fired so soon after another one
_VECTORS = ('Position', 'Velocity', 'Acceleration')

BLOCKS = ('Sensors', 'Estimator', 'Deployers', 'Engines', 'Controllers', 'Events')
UNREAD = ('General', 'Networking', 'Radio')
"""Blocks of the flown software that set nothing here."""
HIGHEST = 1e5
"""Height below which every parachute opens [m]; no other variable is so large either."""
_LEGACY_NESTING = 10
"""Deepest nesting of lists and objects that the flown parser takes."""
UNITS = 'times in ms, lengths in m, axes north-east-down, angles in rad'
"""Units of every configuration of this language."""


@dataclass(frozen=True, eq=False)
class FlightConfig:
    """Content of a configuration file."""

    events: tuple[EventSpec, ...]
    """Events in order of evaluation, at least one."""
    deployers: tuple[DeployerSpec, ...]
    """Deployers by id; a file without the block gets one for each id up to the highest in use."""
    unread: tuple[str, ...] = ()
    """Blocks of the language that the file has and that set nothing here."""
    engines: tuple[EngineSpec, ...] = ()
    """Engines by id."""
    controllers: tuple[PidSpec, ...] = ()
    """Controllers by id."""
    sensors: MountingParams | None = None
    """Mounting of the sensors on the board; None if their axes are the same."""
    orientation: FloatArray | None = None
    """Rotation from the board to the rocket (3, 3); None if their axes are the same."""
    semantics: str = 'safe'
    """'safe' or 'legacy': semantics of the evaluation of events."""
    fingerprint: str = ''
    """Hash of text and semantics."""

    @property
    def stages(self) -> dict[str, float]:
        """Boosters that events light after a time of flight, and that time [s]."""
        waits = {
            self.engines[action.target].booster: 1e-3 * _wait(event.condition)
            for event in self.events for action in event.actions
            if action.ignites and self.engines
        }
        return {name: wait for name, wait in waits.items() if wait > 0.0}


def _wait(condition: Condition) -> float:
    """Return the time after liftoff until which a condition certainly does not hold [ms]."""
    if isinstance(condition, All):
        return max(map(_wait, condition.operands))
    if isinstance(condition, MoreThan) and condition.variable == 'TimeSinceLiftoff':
        return condition.threshold
    return 0.0


def load_flight_config(
    path: str | Path, semantics: str = 'safe', source: str = ''
) -> FlightConfig:
    """Read a configuration file; a ``~`` is the user's folder.

    Raises `SourceError` with the file's name and the path inside it, for everything that is wrong.

    Parameters
    ----------
    semantics : str
        'safe', or 'legacy' to accept and mean the same as the flown software.
    source : str
        The ``altitude_source`` with which it is flown, by which an event that deploys and can
        never fire is refused; '' for no such check.
    """
    text = read_named(expand_user(path))
    try:
        config = read_flight_config(text, semantics)
        certain = never_fires(config.events, source) if source and semantics == 'safe' else ()
        for event, reason in certain:
            if event.deploys:
                raise SourceError(
                    f'Events[{event.id}].condition', f"'{event.name}' can never fire: {reason}"
                )
        return config
    except SourceError as e:
        # A text that is no JSON has no paths.
        line = line_in(e) if e.key == 'document' else line_of(text, e.key)
        where = f'{printable(path)}:{line}' if line else printable(path)
        raise SourceError(f'{where}: {e.key}', e.problem) from e


def read_flight_config(text: str, semantics: str = 'safe') -> FlightConfig:
    """Return the configuration of a JSONC text; see `load_flight_config`."""
    is_legacy = semantics == 'legacy'
    document = JsonNode(parse_jsonc(text, _LEGACY_NESTING if is_legacy else DEEPEST))
    document.check_keys((*BLOCKS, *UNREAD))
    sensors = read_sensors(document['Sensors']) if document.has('Sensors') else None
    orientation = read_estimator(document['Estimator']) if document.has('Estimator') else None
    has_deployers = document.has('Deployers')
    deployers = read_deployers(document['Deployers'].items()) if has_deployers else None
    engines = read_engines(document.get('Engines', []).items())
    controllers = read_controllers(document.get('Controllers', []).items(), len(engines))
    if not is_legacy:
        _check_channels(deployers or (), engines)
    nodes = document['Events'].items()
    if not nodes:
        raise document['Events'].error('expected at least one event')
    # The flown files have no block Engines if the engines are only named on the network.
    known = None if is_legacy and not document.has('Engines') else engines
    events = EventReader(deployers, known, len(controllers), is_legacy).read(nodes)
    return FlightConfig(
        events,
        _named(events) if deployers is None else deployers,
        tuple(filter(document.has, UNREAD)), engines, controllers, sensors, orientation, semantics,
        hashlib.sha256(f'{semantics}\n{text}'.encode()).hexdigest(),
    )


def doubtful_events(config: FlightConfig, source: str) -> list[str]:
    """Return a line for each event or limit without an effect, or with an unintended one."""
    if config.semantics != 'safe':
        return []
    certain = {event.id for event, _ in never_fires(config.events, source)}
    later = {
        event.id for event, _ in never_fires(config.events, source, deepest=0.0, is_climb=True)
    }
    early = [
        f"event '{event.name}' can fire in the climb: '{event.condition}' holds there too; add "
        'TimeSinceApogee, or "phases": ["recovery"]'
        for event in config.events
        if event.deploys and Phase.FLIGHT.value in event.phases and event.id not in later
    ]
    pulses = [
        *((f"event '{event.name}'", action.param)
          for event in config.events for action in event.actions
          if action.deploys and config.deployers[action.target].actuator != 'servo'),
        *((f"igniter of '{engine.name}'", 1e-6 * engine.igniter.on_time_ns)
          for engine in config.engines),
    ]
    short = [
        f'{who} has param {pulse:g}, a pulse of {pulse:g} ms, too short for a charge; write the '
        'on-time in ms, as 1000'
        for who, pulse in pulses if 0.0 < pulse < _LEAST_PULSE_MS
    ]
    fast = [
        f"'{deployer.name}' has max_climb {deployer.max_climb:g} m/s, at which no canopy holds; "
        'write about 30'
        for deployer in config.deployers if _FASTEST < deployer.max_climb < math.inf
    ]
    tilted = [
        f"'{engine.name}' has max_tilt {limit.threshold:g} rad, which holds at any tilt; write "
        f'{math.radians(limit.threshold):.3g}, in rad'
        for engine in config.engines for limit in engine.limits
        if isinstance(limit, LessThan) and limit.variable == 'Tilt' and limit.threshold > math.pi
    ]
    endless = [
        f"event '{event.name}' has the limit '{leaf}', which holds from the pad on up; in Position "
        f'the altitude is negative: write MORETHAN {-leaf.threshold:g} for below '
        f'{leaf.threshold:g} m'
        for event in config.events if any(action.deploys for action in event.actions)
        for leaf in comparisons(event.condition)
        if isinstance(leaf, LessThan) and (leaf.variable, leaf.component) == ('Position', 2)
        and leaf.threshold > 0.0
    ]
    boundless = [
        f"event '{event.name}' has the limit '{leaf}', which always holds; positions are in m, and "
        'times begin at 0'
        for event in config.events for leaf in comparisons(event.condition)
        if isinstance(leaf, MoreThan)
        and leaf.threshold < (0.0 if leaf.variable.startswith('TimeSince') else -HIGHEST)
    ]
    exchanged = [
        f"event '{event.name}' deploys {min(own)!r}, not {other!r}; is an id that of another?"
        for event in config.events
        for own in [{config.deployers[each.target].name for each in event.actions if each.deploys}]
        for other in sorted({spec.name for spec in config.deployers} - own)
        if own and other in event.name
        and not any(name in event.name or other in name for name in own)
    ]
    limited = with_limits(config)
    own: dict[Any, str] = {
        limit: f"'{engine.name}' is lit only with"
        for engine in config.engines for limit in engine.limits
    }
    waits = [
        (own.get(leaf, f"event '{event.name}' waits for"), leaf,
         _LEAST_CHARGE_MS if event.deploys else _LEAST_TIME_MS)
        for event in config.events for leaf in comparisons(event.condition)
    ]
    seconds = sorted({
        f"{who} '{leaf}', times are in ms: write {1e3 * leaf.threshold:g} for {leaf.threshold:g} s"
        for who, leaf, least in waits
        if isinstance(leaf, (LessThan, MoreThan)) and leaf.variable.startswith('TimeSince')
        and 0.0 < leaf.threshold < least
    })
    unlit = [
        f"event '{event.name}' can never light its engine: {reason}"
        for event, reason in never_fires(limited, source) if event.ignites and not event.deploys
    ]
    return [*early, *short, *fast, *tilted, *endless, *boundless, *exchanged, *seconds, *unlit,
            *_aside(config), *_repeated(config), *_unfired(config), *_unguarded(limited, source),
            *_out_of_order(config)] + [
        f"event '{event.name}' fires only below the pad, since its condition is '{event}'; in "
        'Position the altitude is negative, as -450 for 450 m above the pad'
        for event, _ in never_fires(config.events, source, deepest=0.0)
        if event.deploys and event.id not in certain
    ]


def with_limits(config: FlightConfig) -> list[EventSpec]:
    """Return the events, each with the limits of the engines that it lights."""
    return [
        replace(event, condition=All((event.condition, *(
            limit for action in event.actions if action.ignites and config.engines
            for limit in config.engines[action.target].limits
        )))) for event in config.events
    ]


def why_unlit(config: FlightConfig) -> str | None:
    """Return why no event lights an engine on the pad after its ignition, None if one may."""
    events = with_limits(config)
    never = {event.id: why for event, why in never_fires(events, 'sensors', is_pad=True)}
    first = [event.id for event in config.events if event.ignites and event.follows_ignition
             and Phase.LAUNCH.value in (event.phases or (Phase.LAUNCH.value,))]
    return '; '.join(never[i] for i in first) if never.keys() >= {*first} else None


def _unfired(config: FlightConfig) -> Iterator[str]:
    """Yield a line for each deployer that no event fires, and for those that nothing describes."""
    fired = {each.target for event in config.events for each in event.actions if each.deploys}
    idle = [f"; event '{event.name}' has no action" for event in config.events if not event.actions]
    for spec in config.deployers:
        if spec.type and spec.id not in fired:
            yield f"no event fires '{spec.name}'{''.join(idle[:1])}"
    if named := [spec.name for spec in config.deployers if not spec.type and spec.id in fired]:
        yield f'Deployers: is missing, and events deploy {", ".join(named)}; describe each of them'


def _aside(config: FlightConfig) -> Iterator[str]:
    """Yield a line for each charge by where the vehicle is aside, and not how high."""
    for event in config.events:
        read = [leaf for leaf in comparisons(event.condition)
                if event.deploys and leaf.variable in _VECTORS]
        if read and all(leaf.component in (0, 1) for leaf in read):
            yield (
                f"event '{event.name}' deploys by '{read[0]}', whatever its altitude, which is "
                'component 2'
            )


def _repeated(config: FlightConfig) -> Iterator[str]:
    """Yield a line for each charge that is to fire again and again."""
    for event in config.events:
        names = [config.deployers[each.target].name for each in event.actions
                 if each.deploys and config.deployers[each.target].actuator != 'servo']
        if names and not event.single_fire:
            yield (
                f"event '{event.name}' fires {names[0]!r} again and again, since its single_fire "
                'is false; a charge burns once: leave it out'
            )


def _unguarded(limited: Sequence[EventSpec], source: str) -> Iterator[str]:
    """Yield a line for each stage that is lit however late, or however it points."""
    for event in limited:
        read = {leaf.variable for leaf in comparisons(event.condition)
                if leaf.variable != 'TimeSinceLiftoff' or not isinstance(leaf, MoreThan)}
        missing = {key: how for key, variable, how in (
            ('latest', 'TimeSinceLiftoff', 'late'), ('max_tilt', 'Tilt', 'tilted'),
        ) if variable not in read and (key != 'max_tilt' or source != 'pressure')}
        if missing and event.ignites and not (event.follows_ignition or event.lands):
            yield (
                f"event '{event.name}' lights its engine however {' and '.join(missing.values())}: "
                f'give that engine {" and ".join(missing)}'
            )


def openings(config: FlightConfig) -> tuple[dict[str, tuple[float, EventSpec]], set[str]]:
    """Return height [m] and event of each parachute's opening in a descent, in their order.

    The descent from an apogee is steady. The second value has the names of those that may open near
    the ground too.
    """
    first, low = dict[str, tuple[float, EventSpec]](), set[str]()
    for height in _HEIGHTS:
        down = Variables(int(1e9 * (_HEIGHTS[0] - height) / _DESCENT), (0.0, 0.0, -height),
                         (0.0, 0.0, _DESCENT), apogee_ns=0)
        near = replace(down, position=(0.0, 0.0, -float(_HEIGHTS[-1])))
        for event in config.events:
            for name in [config.deployers[each.target].name for each in event.actions
                         if each.deploys and event.condition(down)]:
                first.setdefault(name, (height, event))
                low |= {name} if event.condition(near) else set()
    return first, low


def _out_of_order(config: FlightConfig) -> Iterator[str]:
    """Yield a line for each parachute that opens before one that should open earlier by its name.

    The last one has a line if it can open only high up.
    """
    first, low = openings(config)
    for name, later in itertools.pairwise(by_opening(first)):
        if first[later][0] > first[name][0]:
            yield (
                f"event '{first[later][1].name}' opens {later!r} where '{first[later][1]}', before "
                f"{name!r} opens, where '{first[name][1]}'; are the two conditions swapped?"
            )
    for name in by_opening(first)[-1:]:
        if name not in low:
            yield (
                f"event '{first[name][1].name}' opens {name!r} where '{first[name][1]}', and never "
                f'below; are MORETHAN and LESSTHAN swapped? In Position the altitude is negative'
            )


def _check_channels(deployers: Sequence[DeployerSpec], engines: Sequence[EngineSpec]) -> None:
    """Raise `SourceError` if one pulse would fire two devices."""
    owners: dict[int, str] = {}
    for path, name, channel in (
        *((f'Deployers[{i}]', spec.name, spec.channel) for i, spec in enumerate(deployers)
          if spec.type == 'local_pyro'),
        *((f'Engines[{i}].igniter', f'{spec.name}/igniter', spec.igniter.channel)
          for i, spec in enumerate(engines)),
    ):
        if channel is None:
            continue
        if channel in owners:
            raise SourceError(f'{path}.channel', (
                f"'{owners[channel]}' and '{name}' share the channel {channel}; give each its own, "
                'or where none is left type net_actuator, with address and destination_service'
            ))
        owners[channel] = name


def _named(events: tuple[EventSpec, ...]) -> tuple[DeployerSpec, ...]:
    """Return one deployer for each id up to the highest that events name."""
    used = [
        action.target
        for event in events for action in event.actions if action.kind == 'deployment'
    ]
    return tuple(DeployerSpec(i, f'deployer_{i}') for i in range(max(used, default=-1) + 1))
