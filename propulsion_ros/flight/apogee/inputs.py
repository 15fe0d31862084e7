# SPDX-License-Identifier: Apache-2.0
"""The velocity input beside the altitude: whether it lives, and whether it is believed."""
from __future__ import annotations

import math

from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.timing.dwell import Held

_FAR = 12.0  # difference to the altitude's speed that is a wrong input [m/s]
_FINE = 1.5  # largest sigma of the altitude's speed that the bias is learnt from [m/s]
_SHARE_TIME = 4.0  # time constant of the share of values that are far [s]
_WRONG, _RIGHT = 0.5, 0.2  # share of far values from which the input is wrong; is right again
_MEMORY = 1.5  # of bias and scatter [s]
_WILD = 6.0  # scatter about the bias that makes an input useless [m/s]
_RISE = 8.0  # of the input that an engine must have made [m/s]
_LATE = 3.0  # by which the longest coast must be over, for an engine too weak for such a rise [s]
_ALIVE_NS = 1_500_000_000  # a value that has not changed for longer is not believed


class SpeedInput:
    """A velocity input that is compared with the speed of the altitude.

    A difference that lasts longer than any error of static ports is an error of the input, which
    then locks and contradicts nothing until the two have agreed for as long again. So is an upward
    speed that lasts longer than the coast from its largest one could.

    Attributes
    ----------
    latest : float
        The latest value [m/s].
    is_believed : bool
        Whether it has not been found wrong.
    """

    def __init__(self) -> None:
        self._held = Held(_ALIVE_NS)
        self.reset()

    def reset(self) -> None:
        """Forget the flight."""
        self.latest = math.nan
        self.restart()
        self.is_believed = True
        self._bias, self._square = 0.0, 0.0
        self._compared_ns: int | None = None
        self._far = 0.0
        self._fastest, self._fastest_ns, self._slowest = 0.0, 0, -math.inf

    def restart(self) -> None:
        """Forget since when the value has not changed."""
        self._held.reset()

    def add(self, stamp_ns: int, value: float) -> None:
        """Take a value; NaN and infinity are no value."""
        if not math.isfinite(value):
            return
        self._held.repeats(stamp_ns, value)
        self.latest = value
        if value > self._slowest + _RISE:
            # An engine burns, and the coast begins anew.
            self._fastest, self._fastest_ns, self._slowest = value, stamp_ns, value
        self._slowest = min(self._slowest, value)

    def is_live(self, stamp_ns: int) -> bool:
        """Return whether the value has changed lately."""
        return self._held.is_alive(stamp_ns)

    def at(self, stamp_ns: int) -> float:
        """Return the latest value without its bias [m/s]; NaN where it is not to be used."""
        is_useful = self.is_live(stamp_ns) and self.is_believed and self._square < _WILD * _WILD
        speed = self.latest - self._bias
        since = (stamp_ns - self._fastest_ns) * 1e-9
        is_over = since > self._fastest / STANDARD_GRAVITY + _LATE
        return math.nan if not is_useful or (speed > 0.0 and is_over) else speed

    def compare(self, stamp_ns: int, velocity: float, sigma: float, *, learns: bool) -> None:
        """Compare the latest value with the altitude's speed [m/s]; learn its bias from a coast."""
        if not self.is_live(stamp_ns):
            return
        difference = self.latest - velocity
        is_far = abs(difference) > _FAR + 3.0 * sigma
        since = 0.0 if self._compared_ns is None else (stamp_ns - self._compared_ns) * 1e-9
        self._compared_ns = stamp_ns
        self._far += (is_far - self._far) * min(since / _SHARE_TIME, 0.2)
        if self._far > _WRONG:
            self.is_believed = False
        elif self._far < _RIGHT:
            self.is_believed = True
        if learns and not is_far and sigma < _FINE:
            share = min(since / _MEMORY, 0.5)
            self._bias += share * (difference - self._bias)
            self._square += share * ((difference - self._bias) ** 2 - self._square)
