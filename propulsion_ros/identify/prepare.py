# SPDX-License-Identifier: Apache-2.0
"""Checks of a recording before the fit: spans on the ground, gaps, units and offsets."""
from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence

import numpy as np

from propulsion_ros.drawing.figure import spans_where
from propulsion_ros.identify.reading import (
    ALTITUDE,
    CLIMB,
    IMU,
    STATE,
    WRENCH,
    Recording,
    Series,
)
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.replay.command_table import STAMP
from propulsion_ros.settings.errors import SourceError

_BEGINS: dict[str, tuple[str, ...]] = {
    'imu': IMU, 'odometry': (ALTITUDE, CLIMB), 'state': (STATE,), 'wrench': (WRENCH,),
}
"""Prefixes of the series that are compared, by ``--measured``."""
_STOPPED = 0.6  # longest cut of all commands in flight; a longer one is on the ground [s]
_BEFORE = 0.5  # left out before a stop: the landing, near the ground [s]
_AFTER = 1.0  # left out after a stop: the take-off, near the ground [s]
_GAP = 0.02  # longest time between samples that is no gap [s],
_GAP_FACTOR = 5.0  # or the longest over the usual time, whichever is longer
_AFTER_GAP = 0.3  # left out after a gap [s]
SLOW = 0.5
"""Time between samples above which they show no lag; their stamps may be milliseconds [s]."""
_LONGEST = 3600.0  # longest run on a bench with samples so far apart [s]
_CLIPPED = 0.02  # share of samples at the largest command above which it is clipped,
_MORE = 3.0  # or that share over the mean share of a level, whichever is larger
# A command is in another unit above this times the largest command, or below -1 / this of it.
_OTHER_UNIT = 2.0
_PULSES = (900.0, 2100.0)  # range of pulses of an ESC [us]
_OF_PULSES = (1000.0, 2000.0)  # their usual ends [us]
_FULL = 1.1  # ratio within which a range of commands is that of the whole throttle
_SMALL = 1e-3  # share of the largest command that counts as 0
_BRIEF = 0.01  # longest span that is left out silently [s]
_IN_G = 0.3, 3.0  # range of a median specific force that is in g
_AWAY = 0.5  # mean of a specific force over its size below which gravity was taken away
_LARGE_FORCE = 400.0  # specific force that no vehicle has in the median [m/s^2]
_OFF_G = 0.02  # relative error of gravity at rest that is reported


def prepared(
    recording: Recording, kind: str, span: tuple[float | None, float | None], largest: float,
    *, may_be_steady: bool = True,
) -> tuple[Recording, list[str]]:
    """Return a recording whose unusable spans are marked, and warnings.

    ``span`` has the first and last stamp that count [s], None for no limit; ``largest`` is the
    largest command, NaN if there is none. With ``may_be_steady``, rows of a bench that are far
    apart are taken as settled.

    Raises
    ------
    SourceError
        If nothing was measured for ``kind``, nothing is left to fit, or a unit is wrong.
    """
    _refuse_kind(recording, kind)
    found = list(recording.notes)
    skipped = list(recording.skipped)
    begin, end = span
    if begin is not None:
        skipped.append((-np.inf, begin - recording.begin, ''))
    if end is not None:
        skipped.append((end - recording.begin, np.inf, ''))
    if kind == 'imu':
        _refuse_units(recording)
        skipped += _stops(recording)
    recording, sparse = _of_slow_rows(recording, kind, span, may_be_steady)
    found += sparse
    skipped += _gaps(recording)
    found += _clipped(recording, largest, kind)
    low = 0.0 if begin is None else begin - recording.begin
    high = recording.end if end is None else end - recording.begin
    found += [
        f'{why}: left out from {recording.begin + max(first, low):.2f} to '
        f'{recording.begin + min(last, high):.2f} s'
        for first, last, why in skipped if why and min(last, high) - max(first, low) > _BRIEF
    ]
    recording = dataclasses.replace(recording, skipped=tuple(skipped))
    if kind == 'imu':
        recording, more = _without_offset(recording)
        found += more
    if not any(np.any(recording.is_kept(each.time)) for each in recording.measured.values()):
        raise SourceError(
            recording.name, '; '.join([
                f'nothing is left to fit from {recording.begin + low:.2f} to '
                f'{recording.begin + high:.2f} s; it has {recording.begin:.2f} to '
                f'{recording.begin + recording.end:.2f} s', *found,
            ])
        )
    return recording, found


def _refuse_kind(recording: Recording, kind: str) -> None:
    """Raise `SourceError` if nothing was measured, or nothing for ``kind``."""
    if not recording.measured:
        raise SourceError(
            recording.name, 'has commands alone, and nothing that was measured; columns of a table '
            'are named in the parameter file, below identify: columns'
        )
    kinds = [
        each for each, begins in _BEGINS.items()
        if any(name.startswith(begins) for name in recording.measured)
    ]
    if kind not in kinds:
        problem = f'nothing was measured for --measured {kind}: {", ".join(recording.measured)}'
        remedy = f'; add --measured {" or ".join(kinds)}' if kinds else ''
        raise SourceError(recording.name, problem + remedy)


def _of_slow_rows(
    recording: Recording, kind: str, span: tuple[float | None, float | None], may_be_steady: bool
) -> tuple[Recording, list[str]]:
    """Return a recording, of a bench with rows that settled if these are far apart, and warnings.

    Raises
    ------
    SourceError
        If rows are so far apart for so long that their stamps are hardly in seconds.
    """
    step = min((float(np.median(np.diff(each.time))) for each in recording.measured.values()
                if len(each.time) > 1), default=np.inf)
    if kind == 'odometry' or not SLOW < step < np.inf:
        return recording, []
    begin, end = span
    words = 'are stamps in seconds?'
    first = recording.begin if begin is None else begin
    length = (recording.begin + recording.end if end is None else end) - first
    if length > _LONGEST:
        hint = f'; {recording.columns[STAMP].hint}' if STAMP in recording.columns else ''
        raise SourceError(recording.name, (
            f'samples are {step:.3g} s apart over {length:.4g} s, expected stamps in seconds{hint}'
        ))
    if kind != 'imu' and may_be_steady and (steady := _steadied(recording)):
        recording = steady
        words = f'each row is taken as settled, and shows no lag; {words}'
    return recording, [f'samples are {step:.3g} s apart; {words}']


def _refuse_units(recording: Recording) -> None:
    """Raise `SourceError` for a specific force in g, and for rates in degrees/s."""
    parts = [recording.measured[key] for key in IMU[:3] if key in recording.measured]
    if len(parts) < 3 or len({len(part.time) for part in parts}) > 1:
        return
    size = float(np.median(np.sqrt(sum(np.square(part.value) for part in parts))))
    mean = float(np.linalg.norm([part.value.mean() for part in parts]))
    if _IN_G[0] < size < _IN_G[1] and mean < _AWAY * size:
        raise SourceError(
            recording.name, f'accel: its mean is {mean:.3g} m/s^2, expected about 9.8: gravity is '
            'taken away; give the specific force, as an accelerometer has it'
        )
    if _IN_G[0] < size < _IN_G[1]:
        raise SourceError(
            recording.name, f'accel: its size is {size:.3g} in the median, expected about 9.8 '
            f'm/s^2; it looks like g: multiply by 9.80665{factor_hint(recording, IMU[:3], 9.80665)}'
        )
    if size > _LARGE_FORCE:
        factor = 10.0**-round(math.log10(size / 9.8))
        raise SourceError(
            recording.name, f'accel: its size is {size:.4g} in the median, expected about 9.8 '
            f'm/s^2; is it in mg, cm/s^2 or mm/s^2?{factor_hint(recording, IMU[:3], factor)}'
        )
    gyro = [recording.measured[key] for key in IMU[3:] if key in recording.measured]
    fast = max((float(np.percentile(np.abs(part.value), 90)) for part in gyro), default=0.0)
    if fast > 60.0:
        raise SourceError(
            recording.name, f'gyro: a tenth of its values is above {fast:.0f} rad/s; it looks like '
            f'degrees/s: multiply by 0.0174533{factor_hint(recording, IMU[3:], 0.0174533)}'
        )


def factor_hint(recording: Recording, keys: Sequence[str], factor: float) -> str:
    """Return what to write for the columns of what was measured, '' where these have its names."""
    columns = [recording.columns[key] for key in keys if key in recording.columns]
    lines = [f'factors.{each.name}: {factor * (each.factor or 1.0):.6g}' for each in columns]
    return f'; give identify: {", ".join(lines)}' * bool(lines)


def _steadied(recording: Recording) -> Recording | None:
    """Return a settled table, where a command begins halfway to its row; None for no table."""
    commands = dict[str, Series]()
    for name, each in recording.commands.items():
        if not any(np.array_equal(each.time, own.time) for own in recording.measured.values()):
            return None
        step = np.diff(each.time)
        commands[name] = Series(each.time - 0.5 * np.concatenate((step[:1], step)), each.value)
    return dataclasses.replace(recording, commands=commands, is_settled=True)


def _stops(recording: Recording) -> list[tuple[float, float, str]]:
    """Return the spans on the ground, with landing and take-off."""
    if not recording.commands:
        return []
    time = np.unique(np.concatenate([each.time for each in recording.commands.values()]))
    command = np.max(np.abs([
        each.value[np.maximum(np.searchsorted(each.time, time, 'right') - 1, 0)]
        for each in recording.commands.values()
    ]), axis=0)
    stopped = command <= _SMALL * max(float(command.max()), 1e-12)
    found = [
        (begin - _BEFORE, end + _AFTER) for begin, end, _ in spans_where(stopped, time, '')
        if end - begin > _STOPPED
    ]
    return [(*each, 'motors stopped, on the ground') for each in merged(found)]


def merged(pairs: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Merge spans that overlap."""
    result: list[tuple[float, float]] = []
    for begin, end in sorted(pairs):
        if result and begin <= result[-1][1]:
            result[-1] = result[-1][0], max(end, result[-1][1])
        else:
            result.append((begin, end))
    return result


def _gaps(recording: Recording) -> list[tuple[float, float, str]]:
    """Return the gaps between samples of each series, and some time after each."""
    found: list[tuple[float, float, str]] = []
    series = {**recording.measured, **{f'command of {k}': v for k, v in recording.commands.items()}}
    for key, each in series.items():
        step = np.diff(each.time)
        if not len(step):
            continue
        usual = float(np.median(step))
        for i in np.flatnonzero(step > max(_GAP, _GAP_FACTOR * usual)):
            span = float(each.time[i]), float(each.time[i + 1]) + _AFTER_GAP
            if key.startswith('command') and key.split()[-1] in recording.commands and not any(
                other.time.shape == each.time.shape for other in recording.measured.values()
            ):
                # A command with times of its own is held until the next.
                continue
            if all(abs(span[0] - other[0]) > _GAP for other in found):
                found.append((*span, f'a gap of {step[i]:.3f} s in {key}'))
    return found


def _clipped(recording: Recording, largest: float, kind: str) -> Iterator[str]:
    """Yield commands that are clipped or beyond limits; raise `SourceError` for another unit."""
    for name, each in recording.commands.items():
        kept = each.value[recording.is_kept(each.time)]
        low, top = (kept.min(), kept.max()) if len(kept) else (0.0, 0.0)
        reach = f'down to {low:.4g}' if low < -_SMALL * largest else f'up to {top:.4g}'
        if top > _OTHER_UNIT * largest or -low > largest / _OTHER_UNIT:
            column, hint = recording.columns.get(name), ''
            if column and top > low:
                ends = seen = column.raw(low), column.raw(top)
                is_whole = largest / _FULL < top - low < largest * _FULL
                if _PULSES[0] <= seen[0] and seen[1] <= _PULSES[1] and not is_whole:
                    # A log may lack full throttle, so the usual ends are suggested.
                    ends, hint = _OF_PULSES, f'; seen are {seen[0]:.6g} to {seen[1]:.6g}'
                hint += (
                    f'; if {ends[0]:.6g} is 0 and {ends[1]:.6g} is 1, give identify: zeros.'
                    f'{column.name}: {ends[0]:.6g} and factors.{column.name}: '
                    f'{1.0 / (ends[1] - ends[0]):.6g}'
                )
            raise SourceError(recording.name, (
                f'command of {name}: {reach}, expected a throttle from 0 to {largest:.4g}{hint}'
            ))
        if low > largest / _FULL and top > largest * _FULL:
            column, hint = recording.columns.get(name), ''
            if column:
                # If the whole throttle is seen, the lowest command is its zero.
                zero = low if top - low > largest / _FULL else largest
                hint = f'; give identify: zeros.{column.name}: {column.raw(zero):.6g}'
            raise SourceError(recording.name, (
                f'command of {name}: from {low:.4g} to {top:.4g}, expected a throttle from 0 to '
                f'{largest:.4g}{hint}'
            ))
        share = float(np.mean(kept >= top)) if len(kept) and top > 0.0 else 0.0
        levels = len(np.unique(kept))
        # Each level of a step test has its share, and a bench goes to full speed by design.
        if share > max(_CLIPPED, _MORE / max(levels, 1)) and levels > 20 and kind != 'wrench':
            yield (
                f'command of {name}: {share:.0%} of its values are {top:.4g}, its largest: clipped;'
                ' what the actuator gets may be less than what a controller wanted'
            )
        elif top > largest * (1.0 + _SMALL) or low < -_SMALL * largest:
            yield f'command of {name}: {reach}, its limits are 0 and {largest:.4g}'


def _without_offset(recording: Recording) -> tuple[Recording, list[str]]:
    """Remove the mean rate at rest from the gyroscope; compare the specific force with gravity."""
    rest = [
        (begin + _BEFORE + 0.5, end - _AFTER - 0.1) for begin, end, why in recording.skipped
        if why.startswith('motors stopped')
    ]
    rest = [each for each in rest if each[1] - each[0] > 0.2]
    found: list[str] = []
    measured = dict(recording.measured)
    means: dict[str, float] = {}
    for key in IMU:
        if key in measured and rest:
            each = measured[key]
            still = np.zeros(len(each.time), bool)
            for begin, end in rest:
                still |= (each.time > begin) & (each.time < end)
            if np.count_nonzero(still) > 10:
                means[key] = float(np.median(each.value[still]))
    for key in IMU[3:]:
        if key in means:
            measured[key] = Series(measured[key].time, measured[key].value - means[key])
    if all(key in means for key in IMU[:3]):
        size = float(np.sqrt(sum(means[key] ** 2 for key in IMU[:3])))
        if abs(size / STANDARD_GRAVITY - 1.0) > _OFF_G:
            found.append(
                f'accel: at rest its size is {size:.3f} m/s^2, expected {STANDARD_GRAVITY:.3f}: '
                'its scale or offset is wrong by that part, and so is each thrust'
            )
    elif any(key in measured for key in IMU):
        found.append(
            'no rest in the recording: the offset of the IMU is taken as 0; let it stand still '
            'for 2 s with motors stopped'
        )
    return dataclasses.replace(recording, measured=measured), found
