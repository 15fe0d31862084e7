# SPDX-License-Identifier: Apache-2.0
"""Settings of a fit, as a parameter file has them below ``identify``."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import build, parameters_of, refuse_unknown
from propulsion_ros.settings.quantity import FloatArray, quantity, validate

_COLUMNS = 'columns.'


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


def settings_of_fit(values: Mapping[str, Any]) -> tuple[IdentifyParams, dict[str, str]]:
    """Return the settings and what columns of a table are; raise `ConfigError` if wrong."""
    columns = {key: value for key, value in values.items() if key.startswith(_COLUMNS)}
    for key, value in columns.items():
        if not isinstance(value, str):
            raise ConfigError(key, f'expected a name, got {value!r}')
    own = {key: value for key, value in values.items() if key not in columns}
    refuse_unknown(own, [each.key for each in parameters_of(IdentifyParams)])
    found = {key.removeprefix(_COLUMNS): str(value) for key, value in columns.items()}
    return build(IdentifyParams, own), found
