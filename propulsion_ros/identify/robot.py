# SPDX-License-Identifier: Apache-2.0
"""The robot whose parameters are fitted: its actuators, its body, and the settings of the fit."""
from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from propulsion_ros.graph.family_params import ActuatorNodeParams, loop_params_of
from propulsion_ros.graph.node_config import Setting, block_named, read_setting
from propulsion_ros.graph.share import read_description
from propulsion_ros.identify.free import BODY
from propulsion_ros.identify.problem import properties_of
from propulsion_ros.identify.reading import Columns
from propulsion_ros.loops.ports import GivenParameters
from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.body.rigid_body import BodyParams
from propulsion_ros.models.steering.steered import STEERING, steering_of
from propulsion_ros.models.steering.steering import SteeringParams
from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.settings.files import printable
from propulsion_ros.settings.flat import Parameter, build, parameters_of, refuse_unknown
from propulsion_ros.settings.quantity import FloatArray, quantity, validate
from propulsion_ros.settings.yaml_file import ParameterFile, placing
from propulsion_ros.urdf.reader import actuators_from_urdf, mass_from_urdf
from propulsion_ros.urdf.xml import parse_urdf

_OF_BODY = 'body.'
OF_TABLE = _COLUMNS, _FACTORS, _ZEROS = 'columns.', 'factors.', 'zeros.'
"""Beginnings of keys of the settings that belong to one table, not to the robot."""


@dataclass(frozen=True, kw_only=True, eq=False)
class IdentifyParams:
    """Settings of the fit, beside ``columns``."""

    imu_position: FloatArray = quantity(
        0.0, 'm', doc='of the IMU, in base_link', shape=(3,), lo=-100.0, hi=100.0
    )
    mass: float = quantity(
        0.0, 'kg', doc='of the whole robot; 0: that of the robot description', lo=0.0
    )
    thrust_area: float = quantity(
        0.0, 'm^2', lo=0.0,
        doc='thrust over the pressure in a chamber above that around: area of the throat times '
        'thrust coefficient; 0: not known',
    )

    def __post_init__(self) -> None:
        validate(self)


def settings_of_fit(values: Mapping[str, Any]) -> tuple[IdentifyParams, Columns]:
    """Return the settings, and the columns of a table; raise `ConfigError` if wrong."""
    own, found = dict(values), Columns({}, {}, {})
    for key, value in values.items():
        for prefix, kind, of_it in (
            (_COLUMNS, str, found.targets), (_FACTORS, (int, float), found.factors),
            (_ZEROS, (int, float), found.zeros),
        ):
            if not key.startswith(prefix):
                continue
            if not isinstance(value, kind) or isinstance(value, bool):
                expected = 'name' if kind is str else 'number'
                raise ConfigError(key, f'expected a {expected}, got {value!r}')
            of_it[key.removeprefix(prefix)] = own.pop(key)
    refuse_unknown(own, [each.key for each in parameters_of(IdentifyParams)])
    return build(IdentifyParams, own), found


NODE, VEHICLE = 'identify', 'vehicle'
"""Sections of a parameter file with the settings of the fit, and with the simulated body."""


@dataclass(frozen=True)
class Robot:
    """Actuators, body and settings of a robot before the fit."""

    file: ParameterFile | None
    setting: Setting | None
    """Configuration of its actuators, None if no group is fitted."""
    group: str
    body: MassProperties
    params: IdentifyParams
    columns: Columns
    vehicle: Mapping[str, Any]
    """Parameters of the simulated body."""
    name: str = ''
    """Name of the robot in its description."""

    @functools.cached_property
    def values(self) -> dict[str, Any]:
        """All flat parameters of the family, defaults included."""
        if self.setting is None:
            return {}
        params = self.setting.build(self.setting.family_type.Params)
        joints = steering_of(self.setting.values)
        return {each.key: attrgetter(each.key)(params) for each in parameters_of(type(params))} | {
            STEERING + each.key: getattr(joints, each.key) for each in parameters_of(type(joints))
        }

    @functools.cached_property
    def fluid(self) -> BodyParams:
        """Parameters of the simulated body except those of its start."""
        own = {each.key for each in parameters_of(BodyParams) if not each.key.startswith('start_')}
        given = {key.removeprefix(_OF_BODY): value for key, value in self.vehicle.items()}
        return build(BodyParams, {key: value for key, value in given.items() if key in own})

    @property
    def schema(self) -> list[Parameter]:
        """The parameters of `values`."""
        if self.setting is None:
            return []
        return [*parameters_of(self.setting.family_type.Params),
                *parameters_of(SteeringParams, STEERING)]

    @property
    def properties(self) -> dict[str, float]:
        """Properties of the body that can be fitted, by name."""
        area = np.array(self.vehicle.get('body.drag_area', [0.0])).ravel()
        return {**properties_of(self.body), 'drag_area': float(area[-1])}


def read_robot(
    model: Path, params_files: Sequence[Path], fit: Sequence[str]
) -> Robot:
    """Return a robot by its description and parameter files, of which later ones win.

    ``model`` is a URDF or xacro, ``params_files`` are YAML, and ``fit`` names the group.

    Raises
    ------
    ConfigError
        If a file is wrong; the error names it.
    """
    description = read_description(model)
    file = ParameterFile(*params_files) if params_files else None
    source = ', '.join(map(printable, params_files or [model]))
    try:
        params, columns = settings_of_fit(file.of(NODE) if file else {})
    except ConfigError as error:
        raise SourceError(f'{source}: {NODE}', str(error)) from error
    with description.located():
        blocks = actuators_from_urdf(description.text, loop_params_of)
        _, body = mass_from_urdf(description.text)
    if params.mass:
        body = MassProperties(
            params.mass, body.com, body.inertia * (params.mass / body.mass if body.mass else 1.0)
        )
    groups = list(dict.fromkeys(
        name.partition('.')[0] for name in fit if '.' in name and not name.startswith(f'{BODY}.')
    ))
    if len(groups) > 1:
        raise SourceError('--fit', f'one group of actuators at a time, got {", ".join(groups)}')
    names = [block.name for block in blocks]
    group = groups[0] if groups else names[0] if len(names) == 1 else ''
    setting = None
    if group:
        try:
            block = block_named(blocks, group)
        except ConfigError as error:
            raise SourceError('--fit', error.problem) from None
        given = GivenParameters(group, file.of(group) if file else {})
        with placing(params_files, group, source):
            _, setting = read_setting(given, ActuatorNodeParams, lambda own: block)
            setting.build_family()
    vehicle = file.of(VEHICLE) if file else {}
    name = parse_urdf(description.text).get('name', '')
    return Robot(file, setting, group, body, params, columns, vehicle, name)
