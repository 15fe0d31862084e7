# SPDX-License-Identifier: Apache-2.0
"""The blocks ``Engines``, ``Deployers`` and ``Controllers``; ``Sensors`` and ``Estimator``."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from propulsion_ros.flight.estimation.mounting import MountingParams
from propulsion_ros.flight.events.conditions import Condition, LessThan, MoreThan
from propulsion_ros.flight.events.controllers import PidSpec
from propulsion_ros.flight.events.variables import VARIABLES
from propulsion_ros.flight.pyros.deployers import DeployerSpec
from propulsion_ros.flight.pyros.engines import EngineSpec, IgniterSpec, ValveSpec
from propulsion_ros.models.common.rotation import matrix_of, matrix_of_rpy
from propulsion_ros.settings.flat import Parameter
from propulsion_ros.settings.json_node import JsonNode, Switch, key, read_key, read_keys
from propulsion_ros.settings.quantity import FloatArray

BYTE = range(256)
ADDRESS = (
    key('address', 'node of the flown network', int, choices=BYTE),
    key('destination_service', 'service at that node', int, choices=BYTE),
)
CHANNEL = (key('channel', 'local channel', int, choices=range(4)),)
_AXES = ('X', 'Y', 'Z')
_MILLIVOLTS = {
    'LOGIC_MAX_VOLTAGE': 4200.0, 'LOGIC_LOW_VOLTAGE': 3400.0, 'LOGIC_MIN_VOLTAGE': 3200.0,
    'DEPLOYMENT_MAX_VOLTAGE': 28000.0, 'DEPLOYMENT_LOW_VOLTAGE': 3400.0,
    'DEPLOYMENT_MIN_VOLTAGE': 3200.0,
}
SENSORS = (
    *(
        key(f'{axis}_AXIS', f'axis of the sensor that is {axis.lower()} of the board', int,
            i, choices=range(3))
        for i, axis in enumerate(_AXES)
    ),
    *(
        key(f'{axis}_FLIP', f'1 where {axis.lower()} points the other way', Switch, 0)
        for axis in _AXES
    ),
    *(
        key(name, 'limit of the supply voltage', unit='mV', lo=0.0, default=value)
        for name, value in _MILLIVOLTS.items()
    ),
)
_TURN = 2.0 * math.pi
_ORIENTATION_TYPE = key(
    'type', 'how the board sits in the rocket', str, choices=('euler', 'quaternion', 'axisAlign')
)
ORIENTATION = {
    'euler': tuple(
        key(name, f'{name}', unit='rad', lo=-_TURN, hi=_TURN) for name in ('roll', 'pitch', 'yaw')
    ),
    'quaternion': tuple(key(name, 'component', lo=-1.0, hi=1.0) for name in ('w', 'x', 'y', 'z')),
    'axisAlign': (
        *(key(f'{a}_axis', f'axis of the board that is {a} of the rocket', int, i,
              choices=range(3)) for i, a in enumerate('xyz')),
        *(key(f'{a}_inv', f'1 where {a} points the other way', Switch, 0) for a in 'xyz'),
    ),
}
ESTIMATOR = (key('Orientation', 'orientation of the board in the rocket', JsonNode, None),)


def identity(kind: str) -> tuple[Parameter, Parameter]:
    """Return the keys that every element of a list of devices has."""
    return (
        key('id', 'its place in the list, from 0', JsonNode),
        key('name', f'for people and messages; `{kind}_<id>` by default', str, None),
    )


def read_place(node: JsonNode, place: int) -> int:
    """Return the place of an element, which its id must repeat."""
    given = node['id']
    if given.value != place or isinstance(given.value, bool):
        raise given.error(f'expected {place}, its place in the list, got {given.value!r}')
    return place


def check_names(nodes: Sequence[JsonNode], names: Sequence[str]) -> None:
    """Refuse an empty name and one that is given twice."""
    for i, (node, name) in enumerate(zip(nodes, names, strict=True)):
        if not name.strip():
            raise node.get('name', '').error('expected a name, got none')
        if name in names[:i]:
            raise node.get('name', '').error(f"'{name}' is named twice")


_ENGINE_TYPE = key('type', 'what it is', str, choices=('SimpleEngine', 'Thanos'))
_IGNITER_TYPE = key(
    'type', 'where the igniter is', str, 'net_actuator',
    choices=('net_actuator', 'local_pyro'),
)
BOOSTER = (
    key('booster', 'name of the simulated booster that it lights', str, None),
    key('thrust', 'effort of that booster while it runs; any lights a solid motor', unit='N',
        above=0.0, default=None),
)
LIMITS = (
    key('landing', 'whether it may be lit on the way down', bool, False),
    key('max_tilt', 'events light it only below this tilt', unit='rad', above=0.0, default=None),
    key('min_height', 'events light it only above this height over the pad', unit='m', lo=0.0,
        default=None),
    key('max_height', 'events light it only up to this height over the pad', unit='m', above=0.0,
        default=None),
    key('earliest', 'events light it only from this time after liftoff on', unit='ms', lo=0.0,
        default=None),
    key('latest', 'events light it only before this time after liftoff', unit='ms', above=0.0,
        default=None),
)
# Heights are up, positions down; up to a height is at or below it.
_CONDITIONS: dict[str, tuple[type[LessThan | MoreThan], str, int, float]] = {
    'max_tilt': (LessThan, 'Tilt', 0, 1.0),
    'min_height': (LessThan, 'Position', 2, -1.0), 'max_height': (MoreThan, 'Position', 2, -1.0),
    'earliest': (MoreThan, 'TimeSinceLiftoff', 0, 1.0),
    'latest': (LessThan, 'TimeSinceLiftoff', 0, 1.0),
}
ENGINE_KEYS = (
    *identity('engine'), _ENGINE_TYPE, *BOOSTER, key('igniter', 'what lights it', JsonNode),
    *LIMITS,
)
_ON_TIMES = {'SimpleEngine': 'param', 'Thanos': 'fire_duration'}
IGNITER = {
    engine: (
        _IGNITER_TYPE, key(name, 'on-time', unit='ms', above=0.0, hi=10e3, default=1000.0),
    )
    for engine, name in _ON_TIMES.items()
}
VALVE = (
    *ADDRESS,
    key('closed_position', 'angle of the servo', unit='deg', lo=0.0, hi=180.0, default=0.0),
    key('open_position', 'angle of the servo', unit='deg', lo=0.0, hi=180.0, default=180.0),
    key('safe', 'its position when the flight computer stops', str, 'open',
        choices=('open', 'closed')),
)
VALVES = {
    'oxVentValve': 'ox_vent_valve',
    'fuelVentValve': 'fuel_vent_valve',
    'fuelPrssValve': 'fuel_press_valve',
}
ENGINE_TYPES = {
    'SimpleEngine': (),
    'Thanos': (
        key('engine', 'the engine controller', JsonNode),
        *(key(name, 'servo valve, open after shutdown', JsonNode) for name in VALVES),
    ),
}


def read_engines(nodes: list[JsonNode]) -> tuple[EngineSpec, ...]:
    """Return the engines of a list."""
    engines = tuple(_engine(node, i) for i, node in enumerate(nodes))
    check_names(nodes, [engine.name for engine in engines])
    boosters = [engine.booster for engine in engines]
    for i, (node, booster) in enumerate(zip(nodes, boosters, strict=True)):
        if booster and booster in boosters[:i]:
            raise node['booster'].error(f"'{booster}' is another engine's already")
    return engines


def _engine(node: JsonNode, place: int) -> EngineSpec:
    kind = read_key(node, _ENGINE_TYPE)
    values = read_keys(node, ENGINE_KEYS, ENGINE_TYPES[kind])
    valves = VALVES if kind == 'Thanos' else {}
    if valves:
        read_keys(values['engine'], ADDRESS)
    booster, thrust = values['booster'], values['thrust']
    if (booster is None) != (thrust is None):
        raise node.error("'booster' and 'thrust' belong together")
    return EngineSpec(
        read_place(node, place),
        values['name'] if values['name'] is not None else f'engine_{place}',
        _igniter(values['igniter'], kind),
        tuple(_valve(values[word], name) for word, name in valves.items()),
        booster or '',
        thrust or 0.0,
        values['landing'],
        _limits(node, values),
    )


def _limits(node: JsonNode, values: dict[str, Any]) -> tuple[Condition, ...]:
    """Return the conditions that must hold when events light an engine."""
    for low, high in (('min_height', 'max_height'), ('earliest', 'latest')):
        if None not in (values[low], values[high]) and values[low] >= values[high]:
            raise node[high].error(f'{values[high]:g} is not above {low}, {values[low]:g}')
    return tuple(
        kind(variable, component, sign * values[key])
        for key, (kind, variable, component, sign) in _CONDITIONS.items()
        if values[key] is not None
    )


def _igniter(node: JsonNode, engine: str) -> IgniterSpec:
    kind = read_key(node, _IGNITER_TYPE)
    place = CHANNEL if kind == 'local_pyro' else ADDRESS
    values: dict[str, Any] = read_keys(node, IGNITER[engine], place)
    return IgniterSpec(round(values[_ON_TIMES[engine]] * 1e6), values.get('channel'))


def _valve(node: JsonNode, name: str) -> ValveSpec:
    values = read_keys(node, VALVE)
    closed, opened = values['closed_position'], values['open_position']
    if closed == opened:
        raise node.error(f'closed_position and open_position are the same, {closed:g} deg')
    return ValveSpec(
        name, math.radians(closed), math.radians(opened), values['safe'] == 'open',
    )


MOST_DEPLOYERS = 32
"""Most deployers in one file, and ids of devices that a file names without describing them."""

_DEPLOYER_TYPE = key(
    'type', 'what it is', str, choices=('net_actuator', 'local_pyro', 'local_servo')
)
_ACTUATOR = key(
    'actuator', 'what is at that node: a pyro, on for a while, or a servo, at an angle', str,
    'pyro', choices=('pyro', 'servo'),
)
DEPLOYER_KEYS = (
    *identity('deployer'), _DEPLOYER_TYPE,
    key('max_climb', 'after an abort or an override of apogee it waits above this upward speed',
        unit='m/s', lo=0.0, default=None),
)
DEPLOYER_TYPES = {
    'net_actuator': (*ADDRESS, _ACTUATOR),
    'local_pyro': CHANNEL,
    'local_servo': CHANNEL,
}


def read_deployers(nodes: list[JsonNode]) -> tuple[DeployerSpec, ...]:
    """Return the deployers of a list."""
    if len(nodes) > MOST_DEPLOYERS:
        raise nodes[MOST_DEPLOYERS].error(f'there are at most {MOST_DEPLOYERS} deployers')
    deployers = tuple(_deployer(node, i) for i, node in enumerate(nodes))
    check_names(nodes, [deployer.name for deployer in deployers])
    return deployers


def _deployer(node: JsonNode, place: int) -> DeployerSpec:
    kind = read_key(node, _DEPLOYER_TYPE)
    values = read_keys(node, DEPLOYER_KEYS, DEPLOYER_TYPES[kind])
    return DeployerSpec(
        read_place(node, place),
        values['name'] if values['name'] is not None else f'deployer_{place}',
        kind,
        values.get('channel'),
        'servo' if kind == 'local_servo' else values.get('actuator', 'pyro'),
        math.inf if values['max_climb'] is None else values['max_climb'],
    )


VECTORS = tuple(name for name, variable in VARIABLES.items() if not variable.is_event_id)
CONTROLLER_KEYS = (
    *identity('controller'),
    key('type', 'what it is', str, choices=('pid',)),
    key('Kp', 'proportional gain, output per unit of the input'),
    key('Ki', 'integral gain, per unit and second'),
    key('Kd', 'derivative gain, per unit a second'),
    key('setpoint', 'what the input should be'),
    key('updateInterval', 'least time between two steps', unit='ms', lo=0.0),
    key('doohickeyType', 'what gets the output', str, 'Engine', choices=('Engine',)),
    key('doohickeyID', 'id of that engine', JsonNode),
    key('flightVar', 'the input', str, 'Position', choices=VECTORS),
    key('component', 'which component of the input', JsonNode, 1),
)


def read_controllers(nodes: list[JsonNode], engines: int) -> tuple[PidSpec, ...]:
    """Return the controllers of a list, for a number of engines."""
    controllers = tuple(_controller(node, i, engines) for i, node in enumerate(nodes))
    check_names(nodes, [controller.name for controller in controllers])
    return controllers


def _controller(node: JsonNode, place: int, engines: int) -> PidSpec:
    values = read_keys(node, CONTROLLER_KEYS)
    variable = VARIABLES[values['flightVar']]
    component = (
        values['component'].integer(tuple(variable.labels)) if variable.has_component else 0
    )
    return PidSpec(
        read_place(node, place),
        values['name'] if values['name'] is not None else f'controller_{place}',
        values['Kp'], values['Ki'], values['Kd'], values['setpoint'],
        round(values['updateInterval'] * 1e6),
        values['doohickeyID'].integer(range(engines)),
        values['flightVar'], component,
    )


def read_sensors(node: JsonNode) -> MountingParams:
    """Return the mounting of the sensors on the board, by the block ``Sensors``."""
    values = read_keys(node, SENSORS)
    axes = tuple(values[f'{axis}_AXIS'] for axis in _AXES)
    if sorted(axes) != [0, 1, 2]:
        raise node.error(f'expected each of 0, 1, 2 once as X_AXIS, Y_AXIS, Z_AXIS, got {axes}')
    flips = [values[f'{axis}_FLIP'] for axis in _AXES]
    return MountingParams(axes=np.array(axes), flips=np.array(flips, int))


def read_estimator(node: JsonNode) -> FloatArray | None:
    """Return the rotation from the board to the rocket (3, 3), by the block ``Estimator``.

    'euler' turns about the fixed x, y and z axes of the rocket, in this order. None if the block
    has no orientation.
    """
    inner = read_keys(node, ESTIMATOR)['Orientation']
    if inner is None:
        return None
    kind = read_key(inner, _ORIENTATION_TYPE)
    keys = ORIENTATION[kind]
    values = read_keys(inner, (_ORIENTATION_TYPE,), keys)
    numbers = tuple(float(values[one.key]) for one in keys)
    if kind == 'euler':
        return matrix_of_rpy(numbers)
    if kind == 'quaternion':
        if abs(math.hypot(*numbers) - 1.0) > 1e-2:
            raise inner.error(f'expected a quaternion of length 1, got {math.hypot(*numbers):.6g}')
        w, x, y, z = numbers
        return matrix_of((x, y, z, w))
    axes = tuple(int(number) for number in numbers[:3])
    if sorted(axes) != [0, 1, 2]:
        raise inner.error(f'expected each of 0, 1, 2 once as x_axis, y_axis, z_axis, got {axes}')
    matrix = np.zeros((3, 3))
    matrix[range(3), axes] = 1.0 - 2.0 * np.array(numbers[3:])
    return matrix
