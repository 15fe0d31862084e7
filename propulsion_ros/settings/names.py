# SPDX-License-Identifier: Apache-2.0
"""Names that ROS takes."""
from __future__ import annotations

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
