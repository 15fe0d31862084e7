# SPDX-License-Identifier: Apache-2.0
"""The velocity input of the detector: whether it changes, and whether it agrees with altitude."""
from __future__ import annotations

import math

from propulsion_ros.flight.apogee.parabola import CLEAR
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.timing.dwell import Held

_FAR = 12.0  # a value is off if it clearly differs from the altitude's speed by more [m/s]
_FINE = 1.5  # largest sigma of the altitude's speed from which the bias is learned [m/s]
_SHARE_TIME = 4.0  # time constant of the share of values that are off; longer than a dip [s]
_WRONG = 0.5  # the input is wrong from this share of values that are off
_RIGHT = 0.2  # it is right again below this share
_MEMORY = 1.5  # time constant of bias and scatter [s]
_WILD = 6.0  # an input that scatters by more about its bias is not used [m/s]
_RISE = 8.0  # a rise by more than this from the slowest value is that of an engine [m/s]
_LATE = 3.0  # time added to the longest coast, as a weak engine may rise by less [s]
_ALIVE_NS = 1_500_000_000  # a value that has not changed for longer is not used [ns]


class SpeedInput:
    """Compares a velocity input with the speed of the altitude.

    If the two differ for longer than static ports err, the input is wrong: it then neither locks
    the detector nor contradicts it, until the two have agreed for about as long. An upward input is
    not used after the longest possible coast from its largest value.

    Attributes
    ----------
    latest : float
        The latest value, up positive [m/s].
    is_believed : bool
        Whether the input is not wrong.
    """

    def __init__(self) -> None:
        self._held = Held(_ALIVE_NS)
        self.reset()

    def reset(self) -> None:
        """Forget all values."""
        self.latest = math.nan
        self.restart()
        self.is_believed = True
        self._bias, self._variance = 0.0, 0.0
        self._compared_ns: int | None = None
        self._far_share = 0.0  # share of the latest values that are off
        self._fastest, self._fastest_ns, self._slowest = 0.0, 0, -math.inf

    def restart(self) -> None:
        """Forget when the value last changed."""
        self._held.reset()

    def add(self, stamp_ns: int, value: float) -> None:
        """Take a value [m/s]; NaN and infinity are ignored."""
        if not math.isfinite(value):
            return
        self._held.repeats(stamp_ns, value)
        self.latest = value
        if value > self._slowest + _RISE:
            # An engine burns, and the coast begins anew.
            self._fastest, self._fastest_ns, self._slowest = value, stamp_ns, value
        self._slowest = min(self._slowest, value)

    def is_live(self, stamp_ns: int) -> bool:
        """Return whether the value has changed within 1.5 s."""
        return self._held.is_alive(stamp_ns)

    def at(self, stamp_ns: int) -> float:
        """Return the latest value less its bias [m/s]; NaN if the input must not be used."""
        is_useful = self.is_live(stamp_ns) and self.is_believed and self._variance < _WILD * _WILD
        speed = self.latest - self._bias
        since = (stamp_ns - self._fastest_ns) * 1e-9
        is_over = since > self._fastest / STANDARD_GRAVITY + _LATE
        return math.nan if not is_useful or (speed > 0.0 and is_over) else speed

    def compare(self, stamp_ns: int, velocity: float, sigma: float, *, learns: bool) -> None:
        """Compare the latest value with the altitude's speed [m/s]; in a coast learn its bias."""
        if not self.is_live(stamp_ns):
            return
        difference = self.latest - velocity
        is_far = abs(difference) > _FAR + CLEAR * sigma
        since = 0.0 if self._compared_ns is None else (stamp_ns - self._compared_ns) * 1e-9
        self._compared_ns = stamp_ns
        self._far_share += (is_far - self._far_share) * min(since / _SHARE_TIME, 0.2)
        if self._far_share > _WRONG:
            self.is_believed = False
        elif self._far_share < _RIGHT:
            self.is_believed = True
        if learns and not is_far and sigma < _FINE:
            share = min(since / _MEMORY, 0.5)
            self._bias += share * (difference - self._bias)
            self._variance += share * ((difference - self._bias) ** 2 - self._variance)
