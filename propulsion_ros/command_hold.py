"""The command in force: the last one of each name, or the safe one once that is stale."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from propulsion_ros.models.family import Command
from propulsion_ros.quantity import BoolArray, FloatArray, IntArray

FIELDS = ('position', 'velocity', 'effort')
_NEVER = np.iinfo(np.int64).min // 2


@dataclass(frozen=True)
class CommandUpdate:
    """New values for some of the names.

    Attributes
    ----------
    columns : IntArray
        Places of the commanded names in `Family.command_names`, shape (k,).
    values : FloatArray
        One value for each, in the field that the name takes, shape (k,).
    """

    columns: IntArray
    values: FloatArray


class CommandHold:
    """Holds commands by name and replaces those that are older than the timeout.

    Parameters
    ----------
    fields : sequence of str
        The field that each of the m names takes: 'position', 'velocity' or 'effort'.
    safe_command : FloatArray
        What replaces a stale command, shape (m,).
    timeout_ns : int
        Age in stamp time beyond which a command is stale; 0 holds for ever.

    Attributes
    ----------
    stale : BoolArray
        Names whose command was too old at the last `at`, (m,).
    off : BoolArray
        Names that are held safe whatever is commanded, (m,).
    """

    def __init__(
        self, fields: Sequence[str], safe_command: FloatArray, timeout_ns: int
    ) -> None:
        self._masks = {
            field: np.array([own == field for own in fields]) for field in FIELDS if field in fields
        }
        self._safe = np.asarray(safe_command, dtype=float)
        self._timeout_ns = timeout_ns
        self.off: BoolArray = np.zeros(len(self._safe), bool)
        self.clear()

    def clear(self) -> None:
        """Forget every command; all names are safe and none is stale."""
        self._values = np.full(len(self._safe), np.nan)
        self._stamps = np.full(len(self._safe), _NEVER, dtype=np.int64)
        self._commanded = np.zeros(len(self._safe), bool)
        self.stale: BoolArray = np.zeros(len(self._safe), bool)

    def apply(self, stamp_ns: int, update: CommandUpdate) -> None:
        """Take new values for some names."""
        self._values[update.columns] = update.values
        self._stamps[update.columns] = stamp_ns
        self._commanded[update.columns] = True

    def next_stale_ns(self) -> int | None:
        """Return when the next command that is in force becomes stale, None where none will."""
        fresh = self._stamps[self._commanded & ~self.stale]
        if not self._timeout_ns or not len(fresh):
            return None
        return int(fresh.min()) + self._timeout_ns + 1

    def at(self, stamp_ns: int) -> Command:
        """Return the command in force at a tick; `stale` then says which names are safe."""
        values = self._values
        if self._timeout_ns:
            self.stale = self._commanded & (stamp_ns - self._stamps > self._timeout_ns)
        unheeded = self.stale | self.off
        if unheeded.any():
            values = np.where(unheeded, self._safe, values)
        return Command(
            **{field: np.where(mask, values, np.nan) for field, mask in self._masks.items()}
        )
