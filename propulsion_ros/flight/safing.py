# SPDX-License-Identifier: Apache-2.0
"""What a command waits for: its second request, or that nothing is in the air any more."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from propulsion_ros.flight.events.events import EventSpec
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.flight.phases.phases import Phase, Subphase
from propulsion_ros.flight.pyros.deployers import DeployerSpec

_DOWN = {Phase.RECOVERY.value, Subphase.DESCENT.value, Subphase.LANDED.value}


class AskedTwice:
    """Remembers a refused request for a short while, so that the second one may be followed.

    Parameters
    ----------
    within : float
        [s].
    """

    def __init__(self, within: float) -> None:
        self._within_ns = round(within * 1e9)
        self.forget()

    def forget(self) -> None:
        """Forget what was requested, as after any request that was followed."""
        self._name = ''
        self._times: tuple[int, int | None] = (0, None)

    def note(self, name: str, clock_ns: int, steady_ns: int | None) -> None:
        """Take a request that was refused."""
        self._name, self._times = name, (clock_ns, steady_ns)

    def was(self, name: str, clock_ns: int, steady_ns: int | None) -> bool:
        """Return whether the same was requested shortly before, on every clock there is."""
        then_ns, steady_then_ns = self._times
        if name != self._name or clock_ns - then_ns > self._within_ns:
            return False
        if steady_ns is None or steady_then_ns is None:
            return True
        return steady_ns - steady_then_ns <= self._within_ns


def all_disarmed(
    pending: Iterable[EventSpec], deployers: Sequence[DeployerSpec], circuits: Mapping[int, bool]
) -> bool:
    """Return whether nothing is left that events could still fire or light.

    Parameters
    ----------
    pending : iterable of EventSpec
        Events that are not spent.
    deployers : sequence of DeployerSpec
        That they name by id.
    circuits : mapping of int to bool
        Channel of a local pyro to whether its circuit is closed, of those measured lately. What
        is measured open, as by a safing switch or a plug that is pulled, is disarmed.
    """
    for event in pending:
        if event.ignites and (not event.phases or _DOWN & set(event.phases)):
            return False
        for action in event.actions:
            if not action.deploys:
                continue
            channel = deployers[action.target].channel
            if channel is None or circuits.get(channel) is not False:
                return False
    return True


def why_aloft(
    params: FlightParams, unseen: float, *, disarmed: bool, has_asked: bool
) -> str:
    """Return why a vehicle may still be in the air, '' where that need not keep it armed.

    Parameters
    ----------
    params : FlightParams
        Of which ``reset_time`` and ``ask_again_time`` count.
    unseen : float
        Time since a sensor last showed that nothing holds the vehicle [s].
    disarmed : bool
        See `all_disarmed`.
    has_asked : bool
        Whether the same was requested shortly before.
    """
    if unseen >= params.reset_time or (disarmed and has_asked):
        return ''
    why = f'the vehicle may still be in the air, it was last seen to fly {unseen:.0f} s ago'
    if disarmed:
        again = params.ask_again_time
        return f'{why}; nothing is left to fire: request it again within {again:g} s'
    wait = params.reset_time
    return f'{why}; wait until {wait:g} s after it, or disarm all outputs and request it twice'
