# SPDX-License-Identifier: Apache-2.0
"""Fixed steps driven by message stamps: the same stamped inputs make the same ticks."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.timing.stamped_inputs import Ordering, StampedInputs


def period_from_rate(rate: float) -> int:
    """Return the period of a rate [Hz] in whole nanoseconds."""
    return round(1e9 / rate)


def ticks_per(key: str, rate: float, slower_rate: float) -> int:
    """Return how many ticks of ``rate`` make one of ``slower_rate``, the parameter ``key`` [Hz].

    Raises `ConfigError` where the rates do not divide.
    """
    ratio = rate / slower_rate
    if not 1.0 - 1e-9 <= ratio < 1e15 or abs(ratio - round(ratio)) > 1e-9:
        raise ConfigError(key, f'{slower_rate:g} Hz does not divide {rate:g} Hz')
    return round(ratio)


@dataclass(frozen=True)
class Grid(Ordering):
    """When ticks run."""

    period_ns: int
    """Ticks lie at whole multiples of it, counted from stamp 0, not from the first arrival."""


class FixedStepRunner(StampedInputs):
    """Applies stamped inputs in order and runs the ticks that are due.

    Tick k lies at ``k * period_ns``. Before it runs, every input with a stamp up to the tick's
    own is applied, see `StampedInputs`; a late one at the next tick.

    Parameters
    ----------
    grid : Grid
        When ticks run.
    step : callable
        ``step(tick, stamp_ns)``.
    sources, apply, on_jump, trusted, delays_ns
        As in `StampedInputs`.
    """

    def __init__(
        self,
        grid: Grid,
        sources: Sequence[str],
        apply: Callable[[str, int, Any], None],
        step: Callable[[int, int], None],
        on_jump: Callable[[int, int], None] = lambda from_ns, to_ns: None,
        trusted: Sequence[str] = (),
        delays_ns: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        self._period_ns, self._step = grid.period_ns, step
        super().__init__(grid, sources, apply, on_jump, trusted, delays_ns)

    def restart(self) -> None:
        """Forget all inputs and the place on the grid, as before the first input."""
        super().restart()
        self._next_tick: int | None = None

    @property
    def last_stamp_ns(self) -> int | None:
        """Stamp of the tick that ran last, None before the first."""
        return None if self._next_tick is None else (self._next_tick - 1) * self._period_ns

    def _is_late(self, source: str, stamp_ns: int) -> bool:
        """Return whether the tick that should have seen an input has run."""
        last = self.last_stamp_ns
        return last is not None and stamp_ns <= last

    def _run(self) -> None:
        horizon = self._horizon()
        if horizon is None:
            return
        period = self._period_ns
        if self._next_tick is None:
            # The first tick is the first one at which every awaited input exists.
            awaited = [self._first[s] for s in self._ordering.wait_for if s in self._first]
            first = max(awaited) if awaited else min(self._first.values())
            self._next_tick = -(-first // period)
        while self._next_tick * period <= horizon:
            tick, stamp_ns = self._next_tick, self._next_tick * period
            self._apply_until(stamp_ns)
            self._next_tick = tick + 1
            self._step(tick, stamp_ns)
