# SPDX-License-Identifier: Apache-2.0
"""The command in force: the last one of each name, or the safe one once that is stale.

If commands that were in use become stale, that is logged.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from propulsion_ros.loops.ports import Host
from propulsion_ros.models.common.family import FIELDS, Command
from propulsion_ros.settings.quantity import BoolArray, FloatArray, IntArray
from propulsion_ros.timing.dwell import Dwell

_NEVER = np.iinfo(np.int64).min // 2
_RETURN = 1.0
"""Commands are back after they came for so long [s]; slow ones would end and return each time."""


class CommandUpdate(NamedTuple):
    """New values for some of the names."""

    columns: IntArray
    """Places of the commanded names in `Family.command_names`, shape (k,)."""
    values: FloatArray
    """One value for each, in the field that the name takes, shape (k,)."""

    def without(self, columns: IntArray) -> CommandUpdate | None:
        """Return the update without the names of some columns, None if none is left."""
        kept = ~np.isin(self.columns, columns)
        return CommandUpdate(self.columns[kept], self.values[kept]) if kept.any() else None


class FieldSplit:
    """Puts one value for each name into the field that the name takes.

    Parameters
    ----------
    fields : sequence of str
        Field of each of the m names: 'position', 'velocity' or 'effort'.
    """

    def __init__(self, fields: Sequence[str]) -> None:
        self._taken = [field for field in FIELDS if field in fields]
        # A factor of 1 changes no value, and a product takes a third of the time of np.where.
        self._factors = np.array([
            [1.0 if own == field else np.nan for own in fields] for field in self._taken
        ])

    def command(self, values: FloatArray) -> Command:
        """Return the command of values (m,) or (t, m); NaN for names that take another field."""
        if len(self._taken) == 1:
            return Command(**{self._taken[0]: values})
        factors = self._factors if values.ndim == 1 else self._factors[:, None]
        return Command(**dict(zip(self._taken, values * factors, strict=True)))


class CommandHold:
    """Holds commands by name and replaces those that are older than the timeout.

    Parameters
    ----------
    fields : sequence of str
        The one of `FIELDS` that each of the m names takes.
    safe_command : FloatArray
        Values that replace a stale command, shape (m,).
    timeout_ns : int
        Age in stamp time beyond which a command is stale; 0 holds for ever.

    Attributes
    ----------
    commanded : BoolArray
        Names that had a command since the start, (m,).
    stale : BoolArray
        Names whose command was too old at the last `at`, (m,).
    last : FloatArray
        Last values that were commanded, (m,), NaN where there were none.
    """

    def __init__(
        self, fields: Sequence[str], safe_command: FloatArray, timeout_ns: int
    ) -> None:
        self._split = FieldSplit(fields)
        self._safe = np.asarray(safe_command, dtype=float)
        self._timeout_ns = timeout_ns
        self._none: BoolArray = np.zeros(len(self._safe), bool)
        self._off, self._has_off = self._none, False
        self._common_ns: int | None = None
        self._last_columns: IntArray | None = None
        self._last_is_whole = False
        self.clear()

    @property
    def off(self) -> BoolArray:
        """Names that are held safe whatever is commanded, (m,)."""
        return self._off

    @off.setter
    def off(self, value: BoolArray) -> None:
        self._off, self._has_off, self._common_ns = value, bool(value.any()), None
        self._is_new = True

    @property
    def has_any(self) -> bool:
        """Whether any name was commanded."""
        return bool(self.commanded.any())

    @property
    def ended(self) -> BoolArray:
        """Names whose stale command differs from the safe one, (m,)."""
        # NaN means the safe command too.
        was_on: BoolArray = (self.last != self._safe) & ~np.isnan(self.last)
        return self.stale & was_on & ~self._off

    def clear(self) -> None:
        """Forget every command; all names are safe and none is stale."""
        self.last = np.full(len(self._safe), np.nan)
        self._stamps = np.full(len(self._safe), _NEVER, dtype=np.int64)
        self.commanded = np.zeros(len(self._safe), bool)
        self.stale: BoolArray = self._none
        self._changes_ns: int | None = None
        self._common_ns = None
        self._renew(0)

    def apply(self, stamp_ns: int, update: CommandUpdate) -> bool:
        """Take new values for some names; a value that is older than the name's is ignored.

        Return whether any of them was new.
        """
        columns, values = update.columns, update.values
        if self._common_ns is None or stamp_ns < self._common_ns:
            newer = stamp_ns >= self._stamps[columns]
            if not newer.all():
                columns, values = columns[newer], values[newer]
                if not len(columns):
                    return False
        # Never write to arrays that were handed out, nor to those of an update.
        if self._is_whole(columns):
            self.last = values
        else:
            self.last = self.last.copy()
            self.last[columns] = values
        # Most commands are for all names, which then have one stamp in common.
        if len(columns) == len(self.last):
            self._stamps.fill(stamp_ns)
            self.commanded.fill(True)
            self._common_ns = None if self._has_off else stamp_ns
        else:
            self._stamps[columns] = stamp_ns
            self.commanded[columns] = True
            self._common_ns = None
        self._is_new = True
        return True

    def _is_whole(self, columns: IntArray) -> bool:
        """Return whether columns are all names in order; a reader has the same array each time."""
        if columns is not self._last_columns:
            self._last_columns = columns
            self._last_is_whole = np.array_equal(columns, np.arange(len(self._safe)))
        return self._last_is_whole

    def next_stale_ns(self) -> int | None:
        """Return when the next command in force becomes stale [ns], None if none will."""
        return self._find_next_stale() if self._is_new else self._changes_ns

    def _find_next_stale(self) -> int | None:
        fresh = self._stamps[self.commanded & ~self.stale]
        if not self._timeout_ns or not len(fresh):
            return None
        return int(fresh.min()) + self._timeout_ns + 1

    def at(self, stamp_ns: int) -> Command:
        """Return the command in force at a tick; `stale` then marks the names that are safe."""
        # The command changes only with a new one, or when one becomes stale.
        if self._is_new or (self._changes_ns is not None and stamp_ns >= self._changes_ns):
            self._renew(stamp_ns)
        return self._command

    def until_stale(self, stamps: IntArray) -> IntArray:
        """Return the first of some rising stamps (k,), up to a gap in which a command is stale."""
        is_gap = np.diff(stamps) > self._timeout_ns
        if not self._timeout_ns or not is_gap.any():
            return stamps
        return stamps[:int(is_gap.argmax()) + 1]

    def over(self, stamps: IntArray, values: FloatArray, ticks: IntArray) -> Command:
        """Return the commands in force at ticks, (t, m), after commands for all names.

        Parameters
        ----------
        stamps, values : ndarray
            Rising stamps (k,), values (k, m) of commands, none of which is stale before the next.
        ticks : IntArray
            Stamps (t,) of ticks from the first command on; the hold then stands at the last one.
        """
        at = np.searchsorted(stamps, ticks, side='right') - 1
        last = at[-1]
        self.apply(int(stamps[last]), CommandUpdate(np.arange(len(self._safe)), values[last]))
        self.at(int(ticks[-1]))
        return self._split.command(np.where(self._off, self._safe, values[at]))

    def _renew(self, stamp_ns: int) -> None:
        """Compute the command in force from a stamp on."""
        values, common_ns = self.last, self._common_ns
        if common_ns is not None and not 0 < self._timeout_ns < stamp_ns - common_ns:
            self.stale = self._none
            self._changes_ns = common_ns + self._timeout_ns + 1 if self._timeout_ns else None
        else:
            if self._timeout_ns:
                self.stale = self.commanded & (stamp_ns - self._stamps > self._timeout_ns)
                self._changes_ns = self._find_next_stale()
            values = np.where(self.stale | self._off, self._safe, values)
        self._command = self._split.command(values)
        self._is_new = False


class CommandLoss:
    """Logs a warning when commands end while actuators are on, and a line when they return.

    Attributes
    ----------
    is_lost : bool
        Whether commands have ended, and are not back.
    """

    def __init__(self, hold: CommandHold, names: Sequence[str], host: Host) -> None:
        self._hold, self._names, self._host = hold, names, host
        self._fresh = Dwell(_RETURN)
        self.reset()

    def reset(self) -> None:
        """Start over, without a log line."""
        self._seen, self.is_lost = self._hold.stale, False
        self._fresh.reset()

    def follow(self, stamp_ns: int) -> None:
        """Check the commands in force at a tick."""
        # The array `stale` is replaced when its content changes.
        if self._hold.stale is self._seen and not self.is_lost:
            return
        self._seen = self._hold.stale
        ended = self._hold.ended
        if self.is_lost:
            if self._fresh.update(stamp_ns, self._hold.has_any and not ended.any()):
                self.is_lost = False
                self._host.log('info', f'commands are back at {stamp_ns * 1e-9:.3f} s')
        elif ended.any():
            self.is_lost = True
            self._fresh.reset()
            names = ', '.join(name for name, has in zip(self._names, ended, strict=True) if has)
            self._host.log('warn', (
                f'commands ended at {stamp_ns * 1e-9:.3f} s with {names} in use; the safe '
                'command applies until the next one'
            ))
