# SPDX-License-Identifier: Apache-2.0
"""Requests that count only when made twice: a person's two, and no publisher that repeats one."""
from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from propulsion_ros.settings.errors import CommandError

LEAST_NS = 500_000_000
"""Between the two, at least: faster is a repetition by a program [ns]."""
_PART, _MARGIN_NS = 1.5, 250_000_000
"""No third one may follow for so many times the time between the two, and this long [ns]."""
MOST = 64
"""Chains at most, so that requests of ever new sources cannot fill memory."""


@dataclass
class _Chain:
    """Requests of one name and one source, each shortly after the one before."""

    last_ns: int
    count: int = 1
    is_stream: bool = False
    due_ns: int | None = None


class Repetitions:
    """Waits after the second request for a third one, which only a program that repeats makes.

    Two requests of the same name and source, at least `LEAST_NS` and at most ``within`` apart,
    are a decision once no third one has come for 1.5 times as long and 0.25 s. A third one, or a
    second one that comes earlier, is a stream: all of it is refused, until it has been silent for
    twice ``within``. So no rate of repetition is ever followed, and no stream of one source keeps
    the two requests of another one from being followed.

    Parameters
    ----------
    within : float
        How far apart the two may be [s].
    """

    def __init__(self, within: float) -> None:
        self._within_ns = round(within * 1e9)
        self.reset()

    def reset(self) -> None:
        """Forget every request."""
        self._chains: dict[tuple[str, Hashable], _Chain] = {}

    def take(self, name: str, source: Hashable, now_ns: int) -> int | None:
        """Take a request and return when it is followed [ns]; None where it is not.

        Parameters
        ----------
        name : str
            What is requested.
        source : hashable
            What distinguishes one sender from another.
        now_ns : int
            On a steady clock [ns].

        Raises
        ------
        CommandError
            If too many other sources have requested just before; a source of None has a place.
        """
        chain = self._chains.get((name, source))
        if chain is None or self._is_over(chain, now_ns):
            self._begin(name, source, now_ns)
            return None
        gap_ns, chain.last_ns = now_ns - chain.last_ns, now_ns
        chain.count += 1
        is_second = chain.count == 2 and gap_ns >= LEAST_NS
        chain.is_stream = chain.is_stream or not is_second
        chain.due_ns = None
        if not chain.is_stream:
            chain.due_ns = now_ns + round(_PART * gap_ns) + _MARGIN_NS
        return chain.due_ns

    def _begin(self, name: str, source: Hashable, now_ns: int) -> None:
        """Begin a chain, and forget those that are over."""
        self._chains = {
            key: chain for key, chain in self._chains.items() if not self._is_over(chain, now_ns)
        }
        if source is not None and len(self._chains) >= MOST:
            raise CommandError(
                f"'{name}' is refused: {MOST} requests of other senders are waited for, which is "
                'the limit'
            )
        self._chains[name, source] = _Chain(now_ns)

    def is_stream(self, name: str, source: Hashable) -> bool:
        """Return whether a source repeats a request as only a program does."""
        chain = self._chains.get((name, source))
        return chain is not None and chain.is_stream

    def due(self, now_ns: int) -> str:
        """Return the request that is to be followed now, '' for none, and forget it."""
        for (name, source), chain in self._chains.items():
            if chain.due_ns is not None and now_ns >= chain.due_ns:
                del self._chains[name, source]
                return name
        return ''

    def drop(self, kept: str = '') -> list[str]:
        """Forget all but the streams and one name; return what was to be followed."""
        waiting = [
            name for (name, _), chain in self._chains.items()
            if chain.due_ns is not None and name != kept
        ]
        self._chains = {
            key: chain for key, chain in self._chains.items() if chain.is_stream or key[0] == kept
        }
        return waiting

    def _is_over(self, chain: _Chain, now_ns: int) -> bool:
        """Return whether a request is none of a chain any more, but a first one."""
        longest_ns = 2 * self._within_ns if chain.is_stream else self._within_ns
        return chain.due_ns is None and now_ns - chain.last_ns > longest_ns
