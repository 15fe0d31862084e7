# SPDX-License-Identifier: Apache-2.0
"""The apogee detector that flew on Pickle Rick, in double precision, defects included."""
from __future__ import annotations

import math
from collections import deque

import numpy as np
from scipy.linalg import qr, solve_triangular

from propulsion_ros.flight.apogee.estimate import ApogeeEstimate
from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.settings.quantity import FloatArray

_EPSILON = float(np.finfo(float).eps)
_FARTHEST = 3600.0  # a vertex further away is no prediction, and fits no message stamp [s]


class LegacyApogeeDetector:
    """Detect the apogee as Pickle Rick does, for comparison and for replay of its flights.

    The normal equations of a parabola in the time since entry are kept as running sums, a new
    sample added and the one that leaves the window subtracted, and solved by Householder QR with
    column pivoting. Apogee is where the vertex has passed, the curve opens downward, the present
    altitude is above the minimum height and below the vertex, and no lockout holds.

    Its limits are the original's: the sums lose digits with the fourth power of the time since
    entry, one unknown altitude spoils them for good, an unknown velocity opens the lockout, a
    window need not be full, and `acceleration` is not looked at. Samples are taken at intervals
    *longer* than window / capacity, so a feed at exactly that rate is halved. Unlike the original
    its clock does not wrap after 49.7 days, and it can be reset.

    Parameters
    ----------
    params : ApogeeParams
        Of which `window`, `capacity`, `minimum_height`, `lockout_speed` and `lockout_hold` count.
    """

    def __init__(self, params: ApogeeParams) -> None:
        self._params = params
        self._spacing_ms = round(params.window / params.capacity * 1e3)
        self._hold_ms = round(params.lockout_hold * 1e3)
        self.reset()

    def reset(self) -> None:
        """Forget the flight."""
        self._entry_ms: int | None = None
        self._sampled_ms = 0
        self._points: deque[tuple[float, float]] = deque()
        self._sums = np.zeros(5)  # of the powers of time, its number of points first
        self._moments = np.zeros(3)  # of altitude times the powers of time
        self._is_locked = self._flies = True
        self._locked_ms: int | None = None
        self._detected_ns: int | None = None
        self._apogee_ns: int | None = None
        self._apogee_altitude = math.nan
        self._estimate = ApogeeEstimate(0)

    def withdraw(self) -> None:
        """Undo the detection, keeping what is known of the flight."""
        self._detected_ns = None

    def expect(self, *, flies: bool, may_light: bool, pad: float = 0.0) -> None:
        """Take whether the vehicle flies: before that the original was not run."""
        self._flies = flies

    def wait(self, stamp_ns: int) -> ApogeeEstimate:
        """Take an unknown altitude, as the original would."""
        return self.update(stamp_ns, math.nan)

    def update(
        self,
        stamp_ns: int,
        altitude: float,
        velocity: float = math.nan,
        acceleration: float = math.nan,
    ) -> ApogeeEstimate:
        """Take one sample; see `ApogeeDetector.update` for the arguments."""
        now_ms = stamp_ns // 1_000_000
        if self._entry_ms is None:
            self._entry_ms = now_ms
        elif now_ms - self._sampled_ms <= self._spacing_ms:
            return self._estimate
        self._sampled_ms = now_ms
        time = (now_ms - self._entry_ms) / 1e3
        self._add(time, altitude)
        self._lock(now_ms, velocity)
        s = self._sums
        coefficients = solve_pivoted(np.array([s[0:3], s[1:4], s[2:5]]), self._moments)
        self._estimate = self._judge(stamp_ns, time, altitude, coefficients)
        return self._estimate

    def _add(self, time: float, altitude: float) -> None:
        """Add a point to the sums; until the window is full a point of zeros leaves it."""
        old_time = old_altitude = 0.0
        if len(self._points) == self._params.capacity:
            old_time, old_altitude = self._points.popleft()
        else:
            self._sums[0] += 1.0
        self._points.append((time, altitude))
        new, old = _powers(time), _powers(old_time)
        self._sums[1:] += new[1:] - old[1:]
        self._moments += altitude * new[:3] - old_altitude * old[:3]

    def _lock(self, now_ms: int, velocity: float) -> None:
        if velocity >= self._params.lockout_speed:
            self._is_locked, self._locked_ms = True, now_ms
        elif self._locked_ms is None or now_ms - self._locked_ms > self._hold_ms:
            self._is_locked = False

    def _judge(
        self, stamp_ns: int, time: float, altitude: float, coefficients: FloatArray
    ) -> ApogeeEstimate:
        c0, c1, c2 = coefficients.tolist()
        vertex = -c1 / (2.0 * c2) if c2 < 0.0 else math.nan
        top = c0 - c1 * c1 / (4.0 * c2) if c2 < 0.0 else math.nan
        health = self._obstacle(altitude, c0)
        if self._detected_ns is None:
            is_near = abs(vertex - time) < _FARTHEST
            self._apogee_ns = stamp_ns + round((vertex - time) * 1e9) if is_near else None
            self._apogee_altitude = top if is_near else math.nan
            has_passed = _has_passed(vertex, time) and altitude < top
            if health == 'ok' and has_passed and self._flies:
                self._detected_ns = stamp_ns
        return ApogeeEstimate(
            stamp_ns, self._detected_ns is not None, self._detected_ns,
            self._apogee_ns, self._apogee_altitude, math.nan,
            c0 + c1 * time + c2 * time * time, c1 + 2.0 * c2 * time, 2.0 * c2,
            '' if self._detected_ns is None else 'fit', health,
        )

    def _obstacle(self, altitude: float, fitted: float) -> str:
        if not math.isfinite(fitted):
            return 'no altitude'
        if len(self._points) < 3:
            return 'filling'
        if self._is_locked:
            return 'lockout'
        return 'ok' if altitude > self._params.minimum_height else 'below minimum height'


def _has_passed(vertex: float, time: float) -> bool:
    """Return whether a vertex has passed, in whole milliseconds as the original compares them."""
    return math.isfinite(vertex) and round(time * 1e3) >= math.floor(vertex * 1e3)


def _powers(time: float) -> FloatArray:
    """Return time to the powers 0 to 4."""
    square = time * time
    return np.array([1.0, time, square, square * time, square * square])


def solve_pivoted(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Solve a square system by Householder QR with column pivoting, as Eigen does.

    Eigen's ``colPivHouseholderQr().solve()`` drops the columns that are left once the largest
    remaining norm is within rounding of the largest at the start, and sets their unknowns to 0.

    Parameters
    ----------
    matrix : FloatArray
        Shape (n, n).
    right : FloatArray
        Shape (n,).

    Returns
    -------
    FloatArray
        Shape (n,); NaN where an element of the system is not finite.
    """
    n = len(right)
    if not (np.isfinite(matrix).all() and np.isfinite(right).all()):
        return np.full(n, math.nan)
    q, r, order = qr(matrix, pivoting=True)
    threshold = _EPSILON * float(np.linalg.norm(matrix, axis=0).max())
    pivots = np.abs(np.diag(r))
    small = pivots <= threshold * np.sqrt((n - np.arange(n)) / n)
    rank = int(small.argmax()) if small.any() else n
    solution = np.zeros(n)
    if rank:
        rotated = q.T @ right
        solution[order[:rank]] = solve_triangular(r[:rank, :rank], rotated[:rank])
    return solution
