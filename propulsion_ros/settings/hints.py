# SPDX-License-Identifier: Apache-2.0
"""What a user may have meant by a text that is no number."""
from __future__ import annotations

import math
import re

_WITH_UNIT = re.compile(r'\s*[-+.\d][-+.\deE]*\s*[A-Za-z°µ%/][\w°µ^*/%.]*\s*')


def number_hint(text: object) -> str:
    """Return the end of the error that a text is no number: what to write, '' where unknown."""
    if not isinstance(text, str):
        return ''
    if '${' in text or '$(' in text:
        return '; xacro expands expressions in files whose names end in .xacro'
    if re.fullmatch(r'\s*\d+(:\d+)+(\.\d*)?\s*', text):
        return '; write one number, in seconds for a time'
    if ',' in text or ';' in text:
        return '; write a point in a number, and a space between two'
    if _is_number(text):
        return '; write it without quotes'
    if _WITH_UNIT.fullmatch(text):
        return '; write SI numbers without unit'
    return ''


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
