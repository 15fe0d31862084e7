# SPDX-License-Identifier: Apache-2.0
"""The ROS domain of the environment, checked: the middleware ends the process for a wrong one."""
from __future__ import annotations

import os

from propulsion_ros.settings.errors import SourceError

_VARIABLE = 'ROS_DOMAIN_ID'
_LAST = 232
"""The ports of the next domain would be above 65535."""


def domain_id() -> int:
    """Return the domain, 0 where none is given; raise `SourceError` naming the variable."""
    text = os.environ.get(_VARIABLE, '') or '0'
    if not (text.isascii() and text.isdecimal() and int(text[:9]) <= _LAST):
        raise SourceError(
            _VARIABLE, f'expected an integer from 0 to {_LAST} in the environment, got {text!r}'
        )
    return int(text)
