# SPDX-License-Identifier: Apache-2.0
"""Names that ROS takes, and the domain, which ends a process of the middleware where wrong."""
from __future__ import annotations

import os
import re

from propulsion_ros.settings.errors import SourceError

_WORD = '[A-Za-z_][A-Za-z0-9_]*'


def is_name(text: str, before: str = '') -> bool:
    """Return whether ROS takes a text as the name of a topic; one of ``before`` may be first."""
    first = f'[{before}]?' if before else ''
    return re.fullmatch(f'{first}{_WORD}(/{_WORD})*', text) is not None


def check_namespace(text: str) -> None:
    """Raise `SourceError` for a namespace that ROS does not take."""
    if text.strip('/') and not is_name(text.removesuffix('/'), before='/'):
        raise SourceError('namespace', f"expected names separated by '/', got {text!r}")


def as_word(text: str) -> str:
    """Return the nearest name of a node."""
    word = re.sub('[^A-Za-z0-9_]', '_', text)
    return word if re.fullmatch(_WORD, word) else f'_{word}'


_VARIABLE = 'ROS_DOMAIN_ID'
_LONGEST = 10
_LAST = 232
"""The ports of the next domain would be above 65535."""


def domain_id() -> int:
    """Return the domain, 0 where none is given; raise `SourceError` naming the variable."""
    text = os.environ.get(_VARIABLE, '') or '0'
    is_number = text.isascii() and text.isdecimal() and len(text) < _LONGEST
    if not is_number or int(text) > _LAST:
        raise SourceError(
            _VARIABLE, f'expected an integer from 0 to {_LAST} in the environment, got {text!r}'
        )
    return int(text)
