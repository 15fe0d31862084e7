# SPDX-License-Identifier: Apache-2.0
"""Hints on units and notation, for values that are wrong or implausible."""
from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator

_WITH_UNIT = re.compile(r'\s*([-+]?[.\d]+(?:[eE][-+]?\d+)?)\s*([A-Za-z°µ%/][\w°µ^*/%. ]*?)\s*')
_DEGREE, _RPM = math.pi / 180.0, math.pi / 30.0
UNITS = {
    **dict.fromkeys(('%', 'percent'), (0.01, '')),
    **dict.fromkeys(('degrees', 'degree', 'deg', '°'), (_DEGREE, 'rad')), 'rad': (1.0, 'rad'),
    **dict.fromkeys(('rpm', 'RPM', '1/min'), (_RPM, 'rad/s')), 'rad/s': (1.0, 'rad/s'),
    **dict.fromkeys(('deg/s', '°/s'), (_DEGREE, 'rad/s')), '1/degree': (1.0 / _DEGREE, '1/rad'),
    's': (1.0, 's'), 'ms': (1e-3, 's'), **dict.fromkeys(('us', 'µs'), (1e-6, 's')),
    'min': (60.0, 's'), 'm': (1.0, 'm'), 'mm': (1e-3, 'm'), 'cm': (1e-2, 'm'), 'in': (0.0254, 'm'),
    'km': (1e3, 'm'), 'm^2': (1.0, 'm^2'), 'cm^2': (1e-4, 'm^2'), 'mm^2': (1e-6, 'm^2'),
    'm^3': (1.0, 'm^3'), 'l': (1e-3, 'm^3'), 'cm^3': (1e-6, 'm^3'),
    'kg': (1.0, 'kg'), 'g': (1e-3, 'kg'), 't': (1e3, 'kg'), 'lb': (0.45359237, 'kg'),
    'kg m^2': (1.0, 'kg m^2'), 'g cm^2': (1e-7, 'kg m^2'), 'kg mm^2': (1e-6, 'kg m^2'),
    'kg cm^2': (1e-4, 'kg m^2'), 'g mm^2': (1e-9, 'kg m^2'),
    'N': (1.0, 'N'), 'gf': (9.80665e-3, 'N'), 'mN': (1e-3, 'N'), 'kN': (1e3, 'N'),
    'kgf': (9.80665, 'N'), 'lbf': (4.4482216, 'N'), 'kg/s': (1.0, 'kg/s'), 'g/s': (1e-3, 'kg/s'),
    't/s': (1e3, 'kg/s'), 'Hz': (1.0, 'Hz'), 'kHz': (1e3, 'Hz'), 'Pa': (1.0, 'Pa'),
    'bar': (1e5, 'Pa'), 'hPa': (100.0, 'Pa'), 'kPa': (1e3, 'Pa'), 'MPa': (1e6, 'Pa'),
    'Ah': (1.0, 'A h'), 'mAh': (1e-3, 'A h'), 'V': (1.0, 'V'), 'mV': (1e-3, 'V'),
    'ohm': (1.0, 'ohm'), 'mohm': (1e-3, 'ohm'), 'W': (1.0, 'W'), 'mW': (1e-3, 'W'),
    'm/s': (1.0, 'm/s'), 'km/h': (1.0 / 3.6, 'm/s'),
    **dict.fromkeys(('kn', 'knots'), (1852.0 / 3600.0, 'm/s')), 'm/s^2': (1.0, 'm/s^2'),
    'mm/s^2': (1e-3, 'm/s^2'), 'kg/m^3': (1.0, 'kg/m^3'), 'g/cm^3': (1e3, 'kg/m^3'),
    'g/m^3': (1e-3, 'kg/m^3'),
    'N/rpm^2': (_RPM**-2, 'N s^2/rad^2'), 'N/(rev/s)^2': (0.25 / math.pi**2, 'N s^2/rad^2'),
    'N/krpm^2': (1e-6 / _RPM**2, 'N s^2/rad^2'), 'rev/s': (2.0 * math.pi, 'rad/s'),
}
"""Value of one of each unit in SI, and the SI unit; likely units come first."""

_GRAVITY = 9.80665
_TWICE_FREE = 20.0
"""Acceleration that no fall at an apogee has [m/s^2]."""
_FREEZING = 273.15
"""0 degrees Celsius [K]."""

_LEAST_TIMES = {'': 2.0, 'rad': 1.0, 'rad/s': 3.0}
"""Least factor beyond its limit of a number in percent, degrees or rpm; 10 in other units."""

_SIGNED = ('N', 'rad', 'm/s^2', 'kg', 'kg/s', 'A h', 'V', 'm', 'm^2', 's', 'ohm')
"""Units of sizes to which people may add a sign."""

_MOST = 1e5
"""A larger number is not one in another unit."""

ELSEWHERE = {
    **dict.fromkeys(('mass', 'inertia', 'com', 'centre_of_mass', 'center_of_mass'), (
        "; mass, its centre and inertia come from the links' <inertial>"
    )),
    'wind': "; write 'body.current'",
    **dict.fromkeys(('position', 'axis', 'origin'), '; geometry comes from links and joints'),
}
"""Where the value of an unknown parameter comes from, the end of its error."""

ALSO_CALLED = {
    'thrust_constant': 'rotor_constant', 'motor_constant': 'rotor_constant',
    'thrust_coefficient': 'rotor_constant', 'rotor_constant': 'motor_constant',
}
"""Names of a thrust constant elsewhere, and its name here if that one is unknown."""


def by_opening(names: Iterable[str]) -> list[str]:
    """Return the first name with each word of parachutes, in the order in which those open."""
    named, words = list(names), ('pilot', 'drogue', 'main')
    first = (next((name for name in named if word in name.lower()), '') for word in words)
    return list(filter(None, first))


def header_hint(header: str) -> str:
    """Return what to write in place of a first column without a name or commas, else ''."""
    if not header:
        return 'it has no name: leave out an index, with pandas by to_csv(..., index=False)'
    points = ', and write decimals with points' * (';' in header)
    return f'separate columns by commas{points}' if points or '\t' in header else ''


def fall_doubt(fall: float) -> str:
    """Return why a log may be in another unit, by the acceleration of its fall [m/s^2]."""
    return '' if not fall > _TWICE_FREE else (
        f'it falls with {fall:.3g} m/s^2, a free fall with 9.81; altitude_m is in metres, time_s '
        'in seconds; a foot is 0.3048 m'
    )


PRESSURE = 'if it is a pressure in {}, write 44330.8 * (1 - (p / {{first:.6g}})**0.190263)'
PRESSURES = {'hPa': (300.0, 1100.0), 'Pa': (3e4, 1.1e5)}
"""What an altitude may be instead, and the range of flights that it has."""


def pressure_doubt(first: float, lowest: float, highest: float) -> str:
    """Return what to write where a column of altitudes goes down from what is a pressure."""
    return next((
        f'; {PRESSURE.format(unit).format(first=first)}' for unit, (low, high) in PRESSURES.items()
        if low <= lowest and highest <= high and first - lowest > highest - first
    ), '')


def conversions(value: float, unit: str) -> Iterator[tuple[str, float]]:
    """Yield other units in which a number may have been written, and its value in ``unit``."""
    if unit == 'K':
        yield '°C', value + _FREEZING
    if unit == 'Hz' and value:
        yield 's', 1.0 / value
    factors = set[float]()
    for word, (factor, si) in UNITS.items():
        if si == unit and factor not in (1.0, *factors):
            factors.add(factor)
            yield word, value * factor
    if unit == 's':
        # A specific impulse may be in m/s.
        yield 'm/s', value / _GRAVITY


def accepted(value: float, unit: str, lo: float, hi: float, above: float) -> str:
    """Return the end of the error of a number out of bounds: what to write, '' if unknown."""
    bound = hi if value > hi else -lo
    if value == -1.0 and unit == 's' and lo == 0.0:
        return ': write 0 for none, or 1'
    if value < 0.0 <= max(lo, above) and unit in _SIGNED:
        return f': write {-value:.6g}, its size' if -value <= hi else ''
    if value > 0.0 >= hi and unit in _SIGNED:
        return f': write {-value:.6g}' if -value >= lo else ''
    if abs(value) < _LEAST_TIMES.get(unit, 10.0) * bound or abs(value) > _MOST or (
        not unit and (hi != 1.0 or lo < 0.0)
    ):
        return ''
    for _, meant in conversions(value, unit):
        if lo <= meant <= hi and meant > above and meant:
            return f': write {meant:.6g}, ' + (f'in {unit}' if unit else 'a share')
    return ''


def number_hint(text: object, unit: str | None = None) -> str:
    """Return the end of the error of a text that is no number: what to write, '' if unknown.

    ``unit`` is the unit of the number, None if that is unknown.
    """
    if not isinstance(text, str):
        return ''
    if '${' in text or '$(' in text:
        return '; xacro expands expressions in files whose names end in .xacro'
    if re.search(r'\d\s+[eE][-+]?\d|\d\s*[x*]\s*10', text):
        return '; write a power of ten without spaces, as 1.2e-5'
    if re.search(r'\bpi\b|\d\s*[*/]\s*\d', text):
        return '; write the number, or an expression as ${...} in a file that ends in .xacro'
    if re.fullmatch(r'\s*\d+(:\d+)+(\.\d*)?\s*', text):
        return '; write one number, in seconds for a time'
    if ',' in text or ';' in text:
        return '; write a point in a number, and a space between two'
    if len(text.split()) > 1 and all(map(_is_number, text.split())):
        return f'; write a list, [{", ".join(text.split())}]'
    if _is_number(text):
        if '_' not in text and text.isascii():
            return '; write it without quotes'
        why = 'in ROS a number has no _' if '_' in text else 'only the digits 0 to 9 are read'
        return f'; write {float(text):.6g}: {why}'
    if text.strip().lower() in ('none', 'null', 'off', 'unlimited'):
        return '; leave it out, or write 0'
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
