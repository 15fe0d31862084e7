# SPDX-License-Identifier: Apache-2.0
"""What became of everything that was sent to a node, life by life."""
from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

TOLD = ('taken', 'refused', 'other_time')
"""What a node counts of what it receives; the sum is all that it received while active."""


@dataclass
class Life:
    """One process of a node.

    Attributes
    ----------
    good, hostile : int
        What was sent to it from its start to its end.
    told : Counter
        What its last diagnostics counted, of `TOLD` and else.
    heard_of : int
        What was sent to it when they came.
    starting : int
        What was sent before it heard anything.
    faults : list of str
        Where it counted what cannot be.
    """

    good: int = 0
    hostile: int = 0
    told: Counter[str] = field(default_factory=Counter)
    heard_of: int = 0
    starting: int | None = None
    faults: list[str] = field(default_factory=list)

    @property
    def sent(self) -> int:
        """All that was sent to it."""
        return self.good + self.hostile

    @property
    def is_followed(self) -> bool:
        """Whether its diagnostics counted something taken and something refused."""
        return bool(self.told['taken'] and self.told['refused'])

    def tell(self, counts: Mapping[str, int]) -> None:
        """Take the diagnostics of the node."""
        told = Counter({key: value for key, value in counts.items() if value})
        unheard = self.sent - sum(told[key] for key in TOLD)
        back = [key for key in TOLD if told[key] < self.told[key]]
        if back:
            self.faults.append(f'{back[0]} fell from {self.told[back[0]]} to {told[back[0]]}')
        if unheard < 0:
            self.faults.append(f'heard {-unheard} more than was sent')
        if told['refused'] > self.hostile:
            self.faults.append(f'refused {told["refused"]} of {self.hostile} hostile messages')
        if told['taken'] > self.good:
            self.faults.append(f'took {told["taken"]} of {self.good} good messages')
        # What is on its way counts as unheard too, so the least of it is what came too early.
        self.starting = unheard if self.starting is None else min(self.starting, unheard)
        self.told, self.heard_of = told, self.sent

    def account(self) -> dict[str, int]:
        """Return what became of everything sent; the parts make up the whole.

        Returns
        -------
        dict
            'sent', and its parts: `TOLD`; 'starting', sent before it heard anything; 'lost' on
            the way; 'unsaid', sent after its last diagnostics.
        """
        if self.starting is None:
            return {'sent': self.sent, 'starting': self.sent}
        told = {key: self.told[key] for key in TOLD}
        return {
            'sent': self.sent, **told, 'starting': self.starting,
            'lost': self.heard_of - sum(told.values()) - self.starting,
            'unsaid': self.sent - self.heard_of,
        }


class Ledger:
    """The lives of one node, and what was sent between them."""

    def __init__(self) -> None:
        self.lives: list[Life] = []
        self._is_up = False
        self.down = 0

    def begin(self) -> None:
        """Begin the life of a process."""
        self.lives.append(Life())
        self._is_up = True

    def end(self) -> None:
        """End it."""
        self._is_up = False

    def sent(self, is_hostile: bool = False) -> None:
        """Count a message to the node."""
        if not self._is_up:
            self.down += 1
        elif is_hostile:
            self.lives[-1].hostile += 1
        else:
            self.lives[-1].good += 1

    def told(self, counts: Mapping[str, int]) -> None:
        """Take the diagnostics of the process that runs now."""
        if self._is_up:
            self.lives[-1].tell(counts)

    def account(self) -> Counter[str]:
        """Return the sum of the lives' accounts, with 'down', sent while there was no process."""
        total: Counter[str] = Counter(sent=self.down, down=self.down)
        for life in self.lives:
            total.update(life.account())
            total.update(hostile=life.hostile, late=life.told['late'])
        return total

    @property
    def faults(self) -> list[str]:
        """What cannot be."""
        return [f'life {n}: {f}' for n, life in enumerate(self.lives, 1) for f in life.faults]
