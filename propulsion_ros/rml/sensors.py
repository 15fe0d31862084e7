# SPDX-License-Identifier: Apache-2.0
"""The blocks ``Sensors`` and ``Estimator``: how the board is mounted, and what it measures."""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from propulsion_ros.models.common.rotation import matrix_of, matrix_of_rpy
from propulsion_ros.settings.json_node import JsonNode, Switch, key, read_key, read_keys
from propulsion_ros.settings.quantity import FloatArray

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


@dataclass(frozen=True)
class SensorsConfig:
    """The block ``Sensors``."""

    axes: tuple[int, int, int] = (0, 1, 2)
    """For x, y, z of the board: the axis of the sensor, 0 to 2."""
    flips: tuple[int, int, int] = (0, 0, 0)
    """1 where that axis points the other way."""


@dataclass(frozen=True)
class OrientationConfig:
    """How the board sits in the rocket."""

    type: str = ''
    """'euler' (roll, pitch, yaw [rad]), 'quaternion' (w, x, y, z), 'axisAlign' (three axes,
    three inversions), or '' where the file names none."""
    values: tuple[float, ...] = ()
    """In the order above."""

    @property
    def rotation(self) -> FloatArray | None:
        """Rotation matrix from the board to the rocket, (3, 3), None where none is given.

        'euler' turns about the fixed x, y and z axes of the rocket, in this order.
        """
        if self.type == 'euler':
            return matrix_of_rpy(self.values)
        if self.type == 'quaternion':
            w, x, y, z = self.values
            return matrix_of((x, y, z, w))
        if self.type == 'axisAlign':
            matrix = np.zeros((3, 3))
            axes = [int(axis) for axis in self.values[:3]]
            matrix[range(3), axes] = 1.0 - 2.0 * np.array(self.values[3:])
            return matrix
        return None


def read_sensors(node: JsonNode) -> SensorsConfig:
    """Return the block ``Sensors``."""
    values = read_keys(node, SENSORS)
    x, y, z = (values[f'{axis}_AXIS'] for axis in _AXES)
    if sorted((x, y, z)) != [0, 1, 2]:
        raise node.error(f'expected each of 0, 1, 2 once as X_AXIS, Y_AXIS, Z_AXIS, got {x, y, z}')
    flip_x, flip_y, flip_z = (values[f'{axis}_FLIP'] for axis in _AXES)
    for rail in ('LOGIC', 'DEPLOYMENT'):
        limits = [values[f'{rail}_{level}_VOLTAGE'] for level in ('MIN', 'LOW', 'MAX')]
        if limits != sorted(limits):
            raise node.error(f'expected {rail}_MIN <= LOW <= MAX_VOLTAGE, got {limits} mV')
    return SensorsConfig((x, y, z), (flip_x, flip_y, flip_z))


def read_estimator(node: JsonNode) -> OrientationConfig:
    """Return the orientation in the block ``Estimator``."""
    inner = read_keys(node, ESTIMATOR)['Orientation']
    if inner is None:
        return OrientationConfig()
    kind = read_key(inner, _ORIENTATION_TYPE)
    keys = ORIENTATION[kind]
    values = read_keys(inner, (_ORIENTATION_TYPE,), keys)
    numbers = tuple(float(values[one.key]) for one in keys)
    if kind == 'quaternion' and abs(math.hypot(*numbers) - 1.0) > 1e-2:
        raise inner.error(f'expected a quaternion of length 1, got {math.hypot(*numbers):.6g}')
    if kind == 'axisAlign' and sorted(numbers[:3]) != [0.0, 1.0, 2.0]:
        given = tuple(int(number) for number in numbers[:3])
        raise inner.error(f'expected each of 0, 1, 2 once as x_axis, y_axis, z_axis, got {given}')
    return OrientationConfig(kind, numbers)
