# SPDX-License-Identifier: Apache-2.0
"""What a user may have meant by a text that is no number."""
from __future__ import annotations

import math
import re

_WITH_UNIT = re.compile(r'\s*([-+]?[.\d]+(?:[eE][-+]?\d+)?)\s*([A-Za-z°µ%/][\w°µ^*/%. ]*?)\s*')
_DEGREE, _RPM = math.pi / 180.0, math.pi / 30.0
UNITS = {
    **dict.fromkeys(('%', 'percent'), (0.01, '')),
    **dict.fromkeys(('deg', 'degree', 'degrees', '°'), (_DEGREE, 'rad')), 'rad': (1.0, 'rad'),
    **dict.fromkeys(('deg/s', '°/s'), (_DEGREE, 'rad/s')), 'rad/s': (1.0, 'rad/s'),
    **dict.fromkeys(('rpm', 'RPM', '1/min'), (_RPM, 'rad/s')),
    's': (1.0, 's'), 'ms': (1e-3, 's'), 'us': (1e-6, 's'), 'µs': (1e-6, 's'), 'min': (60.0, 's'),
    'm': (1.0, 'm'), 'mm': (1e-3, 'm'), 'cm': (1e-2, 'm'), 'km': (1e3, 'm'), 'in': (0.0254, 'm'),
    'm^2': (1.0, 'm^2'), 'cm^2': (1e-4, 'm^2'), 'mm^2': (1e-6, 'm^2'),
    'kg': (1.0, 'kg'), 'g': (1e-3, 'kg'), 't': (1e3, 'kg'), 'lb': (0.45359237, 'kg'),
    'N': (1.0, 'N'), 'kN': (1e3, 'N'), 'mN': (1e-3, 'N'), 'gf': (9.80665e-3, 'N'),
    'kgf': (9.80665, 'N'), 'lbf': (4.4482216, 'N'), 'kg/s': (1.0, 'kg/s'), 'g/s': (1e-3, 'kg/s'),
    'Hz': (1.0, 'Hz'), 'kHz': (1e3, 'Hz'), 'Pa': (1.0, 'Pa'), 'hPa': (100.0, 'Pa'),
    'kPa': (1e3, 'Pa'), 'bar': (1e5, 'Pa'), 'Ah': (1.0, 'A h'), 'mAh': (1e-3, 'A h'),
    'V': (1.0, 'V'), 'm/s': (1.0, 'm/s'), 'km/h': (1.0 / 3.6, 'm/s'),
}
"""SI value and unit of one of each unit that people write."""

_MISTAKEN = {
    '': (0.01, 'a share', 2.0), 'rad': (_DEGREE, 'in rad', 1.0), 'rad/s': (_RPM, 'in rad/s', 3.0),
    **{unit: (1e-3, f'in {unit}', 10.0) for unit in ('s', 'm', 'kg')},
}
"""What makes a number right that is too large by some factor or more: it is in percent, degrees,
rpm, ms, mm or g."""

_SIGNED = ('N', 'm/s^2', 'kg', 'kg/s', 'A h', 'V')
"""Units of sizes that people give a sign."""

_MOST = 1e5
"""Larger numbers are no number of such a unit."""

_ELSEWHERE = {
    **dict.fromkeys(('mass', 'inertia', 'com', 'centre_of_mass', 'center_of_mass'), (
        "; mass, its centre and inertia come from the links' <inertial>"
    )),
    **dict.fromkeys(('position', 'axis', 'origin'), '; geometry comes from links and joints'),
}


def elsewhere(key: str) -> str:
    """Return the end of the error that a parameter is unknown: where its value comes from."""
    return _ELSEWHERE.get(key.rpartition('.')[2], '')


def accepted(value: float, unit: str, lo: float, hi: float, above: float) -> str:
    """Return the end of the error that a number is out of bounds: what to write, '' if unknown."""
    factor, words, least = _MISTAKEN.get(unit, (0.0, '', 0.0))
    bound = hi if value > hi else -lo
    if value < 0.0 <= max(lo, above) and unit in _SIGNED:
        meant, words = -value, 'its size'
    elif abs(value) < least * bound or abs(value) > _MOST or (not unit and hi != 1.0):
        return ''
    else:
        meant = value * factor
    if not lo <= meant <= hi or meant <= above or not meant:
        return ''
    return f': write {meant:.6g}' + (f', {words}' if words else '')


def number_hint(text: object, unit: str | None = None) -> str:
    """Return the end of the error that a text is no number: what to write, '' where unknown.

    ``unit`` is what the number is in, None where that is unknown.
    """
    if not isinstance(text, str):
        return ''
    if '${' in text or '$(' in text:
        return '; xacro expands expressions in files whose names end in .xacro'
    if re.fullmatch(r'\s*\d+(:\d+)+(\.\d*)?\s*', text):
        return '; write one number, in seconds for a time'
    if ',' in text or ';' in text:
        return '; write a point in a number, and a space between two'
    if len(text.split()) > 1 and all(map(_is_number, text.split())):
        return f'; write a list, [{", ".join(text.split())}]'
    if _is_number(text):
        return '; write it without quotes' if '_' not in text else (
            f'; write {float(text):.6g}: in ROS a number has no _'
        )
    found = _WITH_UNIT.fullmatch(text)
    if not found or not _is_number(found[1]):
        return ''
    factor, si = UNITS.get(found[2], (0.0, None))
    if si is None or unit not in (None, si):
        return '; write SI numbers without unit' + (f', in {unit}' if unit else '')
    return f'; write {float(found[1]) * factor:.6g}' + (f', in {si}' if si else ', a share')


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
