# SPDX-License-Identifier: Apache-2.0
"""Judge the units and signs of a flight log by facts that hold in every flight.

Near its top every flight falls with gravity, and the columns of speed and acceleration are the
derivatives of the altitude. Parabolas are fitted to pieces of two seconds.
"""
from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.settings.hints import PRESSURE, PRESSURES
from propulsion_ros.settings.quantity import FloatArray

_FOOT = 0.3048  # [m]
_SPAN = 2.0  # length of a piece [s]
_STRIDE = 0.5  # time from one piece to the next [s]
_LEAST_POINTS, _MOST_POINTS = 6, 200  # samples of a piece that are fitted
_HELD = 4000  # most samples of a piece that are kept
_MOST = 4000  # most pieces that are kept
_SURE = 0.2  # largest relative standard deviation of an acceleration that is judged
_NEAR = 1.5  # tolerance of the time at which the speed is 0, over the time to the turning point
_LOW, _HIGH = 0.75, 1.6  # range of the acceleration near the top over gravity; drag adds to it
_THIN = 0.25  # density of air at 11 km over that at sea level
_CLIMB = 5.0  # least speed of a climb [m/s],
_MOVING = 5.0  # and its least speed in standard deviations
_BETTER = 0.4  # largest deviation in another unit, over that in the stated one
_EXPLAINED = 0.5  # and over the derivative itself
_MOST_OF = 0.8  # share of pieces that count, the best ones, as ports err near Mach 1
_ALIKE = 1.2  # ratio within which several units are all named
_AGAIN = 0.1  # largest share of rows that repeat a time
_ROWS = 20  # rows up to which repeated times are not judged


class _Altitude(NamedTuple):
    """Another meaning of an altitude: its numbers per metre, their range, and advice."""

    per_metre: float
    low: float
    high: float
    advice: str
    least: float = _LOW
    """Least acceleration near the top, over gravity times `per_metre`."""


_ALTITUDES = (
    _Altitude(1.0 / _FOOT, -math.inf, math.inf, 'if it is in ft, times 0.3048'),
    _Altitude(100.0, -math.inf, math.inf, 'if it is in cm, times 0.01'),
    _Altitude(1000.0, -math.inf, math.inf, 'if it is in mm, times 0.001'),
    _Altitude(-1.0, -math.inf, math.inf, 'if it is positive downward, write -altitude_m'),
    _Altitude(-0.11, *PRESSURES['hPa'], PRESSURE.format('hPa'), _THIN),
    _Altitude(-11.0, *PRESSURES['Pa'], PRESSURE.format('Pa'), _THIN),
)
_SPEEDS = {'km/h': 3.6, 'ft/s': 1.0 / _FOOT, 'mph': 3600.0 / 1609.344, 'knots': 3600.0 / 1852.0}
_FORCES = {'g': 1.0 / STANDARD_GRAVITY, 'ft/s^2': 1.0 / _FOOT}


class _Column(NamedTuple):
    """Another meaning of a column: value = factor * derivative + offset."""

    factor: float
    offset: float
    what: str

    def restored(self, name: str) -> str:
        """Return the expression that gives the derivative of a column of this kind."""
        sign, offset = '-' if self.offset > 0.0 else '+', abs(self.offset)
        value = f'({name} {sign} {offset:.6g})' if offset else name
        return f'{1.0 / self.factor:.6g} * {value}'.removeprefix('1 * ')


def _columns(si: str, units: dict[str, float], offsets: dict[str, float]) -> list[_Column]:
    return [
        _Column(sign * factor, sign * offset * factor, f'{unit}{way}{text}')
        for (unit, factor), (sign, way), (text, offset) in itertools.product(
            {si: 1.0, **units}.items(), ((1.0, ''), (-1.0, ', positive downward')),
            offsets.items(),
        )
    ][1:]


class _Given(NamedTuple):
    """A column that is a derivative of the altitude."""

    name: str
    unit: str
    least: float
    """Largest mean deviation from the derivative that is not reported, in `unit`."""
    others: Sequence[_Column]
    """Other meanings of the column."""


_GIVEN = (
    _Given('vz_mps', 'm/s', 5.0, _columns('m/s', _SPEEDS, {'': 0.0})),
    _Given('az_mps2', 'm/s^2', 3.0, _columns(
        'm/s^2', _FORCES, {'': 0.0, ' with gravity': STANDARD_GRAVITY}
    )),
)


class _Piece(NamedTuple):
    """Parabola of a piece of a log, and its derivatives by the other columns."""

    end: float
    half: float
    """Half of its length [s]."""
    derivatives: tuple[float, float]
    """Speed at its middle [m/s] and acceleration [m/s^2]."""
    sigmas: tuple[float, float]
    given: tuple[float, float]
    """The derivatives by vz_mps and az_mps2, NaN without them."""


class LogUnits:
    """Collects the samples of a log, and reports columns that seem to mean something else.

    Attributes
    ----------
    first, lowest, highest : float
        First, lowest and highest altitude so far [m].
    step : float
        Mean time between samples so far [s].
    """

    def __init__(self) -> None:
        self.first = self.lowest = self.highest = math.nan
        self.step = 0.0
        self._turns = [math.nan, math.nan]
        self._count = self._repeated = self._reversed = 0
        self._begun = self._time = math.nan
        self._due = -math.inf
        self._recent: deque[tuple[float, float, float, float]] = deque(maxlen=_HELD)
        self._pieces: list[_Piece] = []

    @property
    def height(self) -> float:
        """Largest rise above the first altitude [m]."""
        return self.highest - self.first if self.first == self.first else 0.0

    @property
    def depth(self) -> float:
        """Largest fall below the first altitude [m]."""
        return self.first - self.lowest if self.first == self.first else 0.0

    def taken(self, samples: Iterable[Sample]) -> Iterator[Sample]:
        """Yield samples unchanged, and collect them."""
        for sample in samples:
            self._take(sample)
            yield sample

    def doubts(self) -> list[str]:
        """Return a line for each column that seems to be something else."""
        found, per_metre = [], 1.0
        for turn, is_top in zip(self._turns, (True, False), strict=True):
            line, own = self._judge_altitude(turn, is_top)
            if line:
                found, per_metre = [line], own
                break
        moving = [piece for piece in self._pieces if piece.derivatives[0] / per_metre > max(
            _MOVING * piece.sigmas[0] / abs(per_metre), _CLIMB
        )]
        for i, column in enumerate(_GIVEN):
            pairs = np.array([
                (piece.derivatives[i] / per_metre, piece.given[i]) for piece in moving
                if not math.isnan(piece.given[i])
            ])
            found += filter(None, [_judge_column(column, pairs)])
        if self._count > _ROWS and self._repeated > _AGAIN * self._count:
            found.append(
                f'time_s repeats that of the row before in {self._repeated} of {self._count} rows; '
                'write it with its fractions of a second'
            )
        if self._count > _ROWS and self._reversed > _AGAIN * self._count:
            found = [f'time_s goes back in {self._reversed} of {self._count} rows; write them in '
                     'the order of their times, and see that time_s is no other column']
        return found

    def _judge_altitude(self, turn: float, is_top: bool) -> tuple[str, float]:
        """Return what the altitude seems to be, by its turning point, and its numbers per metre."""
        for piece in [piece for piece in self._pieces if piece.end <= turn][-1:]:
            speed, fall = piece.derivatives[0], -piece.derivatives[1]
            is_turn = piece.sigmas[1] < _SURE * abs(fall) and (fall > 0.0) == is_top and (
                abs(speed - piece.half * fall) < _NEAR * abs(fall) * (turn - piece.end + _STRIDE)
            )
            ratio = fall / STANDARD_GRAVITY
            if not is_turn or _LOW <= ratio <= _HIGH:
                continue
            line = (
                f'altitude_m falls with {fall:.3g} m/s^2 in the coast, a free fall with 9.81; '
                if fall > 0.0 else f'altitude_m is lowest where it turns with {-fall:.3g} m/s^2; '
            )
            for each in _ALTITUDES:
                is_within = each.low <= self.lowest and self.highest <= each.high
                if is_within and each.least <= ratio / each.per_metre <= _HIGH:
                    return line + each.advice.format(first=self.first), each.per_metre
            if ratio > 2.0:
                return line + 'altitude_m is in metres, time_s in seconds', ratio
        return '', 1.0

    def _take(self, sample: Sample) -> None:
        time, height = 1e-9 * sample.stamp_ns, sample.altitude
        self._repeated += time == self._time
        if not time >= self._time:
            self._recent.clear()
            self._reversed += self._count > 0
        self._begun = time if self._count == 0 else self._begun
        self.step = (time - self._begun) / max(self._count, 1)
        self._time, self._count = time, self._count + 1
        if math.isnan(height):
            return
        if math.isnan(self.first):
            self.first = self.lowest = self.highest = height
        if height > self.highest:
            self.highest, self._turns[0] = height, time
        if height < self.lowest:
            self.lowest, self._turns[1] = height, time
        self._recent.append((time, height, sample.velocity, sample.acceleration))
        if time >= self._due and len(self._pieces) < _MOST:
            self._due = time + _STRIDE
            self._pieces += self._piece()

    def _piece(self) -> Iterator[_Piece]:
        points = [each for each in self._recent if each[0] > self._time - _SPAN]
        points = points if len(points) >= _LEAST_POINTS else [*self._recent][-_LEAST_POINTS:]
        rows = np.array(points[::math.ceil(len(points) / _MOST_POINTS)])
        time = rows[:, 0] - rows[:, 0].mean()
        if len(rows) < _LEAST_POINTS or np.ptp(time) < 0.5 * _SPAN:
            return
        basis = np.stack([np.ones_like(time), time, 0.5 * time**2], axis=1)
        inverse = np.linalg.pinv(basis)
        fit = inverse @ rows[:, 1]
        scatter = float(np.sum((rows[:, 1] - basis @ fit)**2)) / (len(rows) - 3)
        _, v_sigma, a_sigma = np.sqrt(scatter * np.sum(inverse**2, axis=1)).tolist()
        # Columns are integrated, so that samples have the same weight as in the parabola.
        climb = inverse @ _integral(time, rows[:, 2])
        push = inverse @ _integral(time, _integral(time, rows[:, 3]))
        yield _Piece(
            self._time, 0.5 * float(np.ptp(time)), (float(fit[1]), float(fit[2])),
            (v_sigma, a_sigma), (float(climb[1]), float(push[2])),
        )


def _integral(time: FloatArray, values: FloatArray) -> FloatArray:
    steps = 0.5 * (values[1:] + values[:-1]) * np.diff(time)
    return np.concatenate([[0.0], np.cumsum(steps)])


def _judge_column(column: _Given, pairs: FloatArray) -> str:
    """Return the likely meaning of a column, by rows of derivative and column; '' if as named."""
    if len(pairs) < 2:
        return ''
    true, given = pairs.T

    def off(column: _Column) -> float:
        rows = np.sort(np.abs((given - column.offset) / column.factor - true))
        return float(np.mean(rows[:math.ceil(_MOST_OF * len(rows))]))

    own = off(_Column(1.0, 0.0, ''))
    best = min(column.others, key=off)
    if not own > max(column.least, off(best) / _BETTER):
        return ''
    line = f'{column.name} is off the derivative of altitude_m by {own:.3g} {column.unit}'
    if off(best) > _EXPLAINED * float(np.mean(np.abs(true))):
        return f'{line}, and in no unit it is near; is it of another column?'
    near = [each for each in column.others if bool(each.offset) == bool(best.offset) and (
        1.0 / _ALIKE < each.factor / best.factor < _ALIKE
    )]
    meant = ' or '.join(f'in {each.what}, write {each.restored(column.name)}' for each in near)
    return f'{line}, and by {off(best):.2g} if it is {meant}'
