# SPDX-License-Identifier: Apache-2.0
"""Which nodes receive what a flight computer commands."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

RECORDERS = ('rosbag2_recorder', 'recorder', 'live_view', '_ros2cli')
"""Names of nodes that move nothing, also with `_` and more behind them: those of ``ros2 bag
record``, of this package's ``record`` and ``view --live``, and of ``ros2 topic echo``."""
_OLDEST_NS = 3_000_000_000
"""How old what is known of the graph may be [ns]: three times the time between two looks."""


def is_recorder(node: str) -> bool:
    """Return whether a node of this full name is a recorder, by `RECORDERS`."""
    name = node.rpartition('/')[2]
    return any(name == known or name.startswith(f'{known}_') for known in RECORDERS)


class Receivers:
    """Judges by the graph whether what is commanded reaches a driver; reads no graph itself.

    Parameters
    ----------
    required : sequence of str
        Nodes that must subscribe, by full name, or by name alone in any namespace; () for any
        node that is no recorder.
    topics : sequence of str
        On which something is commanded.
    """

    def __init__(self, required: Sequence[str], topics: Sequence[str]) -> None:
        self._required, self.topics = tuple(required), tuple(topics)
        self.reset()

    def reset(self) -> None:
        """Forget the graph."""
        self._seen: Mapping[str, Sequence[str]] = {}
        self._seen_ns: int | None = None

    def note(self, steady_ns: int, seen: Mapping[str, Sequence[str]]) -> None:
        """Take the full names of the nodes that receive each topic, and when that was so [ns]."""
        self._seen_ns, self._seen = steady_ns, seen

    def receives(self, topic: str) -> bool:
        """Return whether a node that counts receives a topic."""
        return any(self._counts(node) for node in self._seen.get(topic, ()))

    def problem(self, steady_ns: int) -> str:
        """Return which receivers are missing, '' for none."""
        if not self.topics:
            return ''
        if self._seen_ns is None or steady_ns - self._seen_ns > _OLDEST_NS:
            return 'which nodes receive what is commanded is unknown'
        found = [node for topic in self.topics for node in self._seen.get(topic, ())]
        absent = [n for n in self._required if not any(_is_named(node, n) for node in found)]
        silent = [topic for topic in self.topics if not self.receives(topic)]
        whom = 'of receivers' if self._required else 'but recorders'
        return '; '.join((
            *(f"node '{name}' receives none of {', '.join(self.topics)}" for name in absent),
            *(f'no node {whom} receives {topic}' for topic in silent),
        ))

    def _counts(self, node: str) -> bool:
        if self._required:
            return any(_is_named(node, name) for name in self._required)
        return not is_recorder(node)


def _is_named(node: str, name: str) -> bool:
    return node == name if name.startswith('/') else node.rpartition('/')[2] == name
