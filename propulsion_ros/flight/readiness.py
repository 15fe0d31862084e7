# SPDX-License-Identifier: Apache-2.0
"""Reasons against a launch, and against disarming a vehicle that may be in the air."""
from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from propulsion_ros.flight.belief.departure import Departure
from propulsion_ros.flight.events.events import EventSpec
from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.flight.phases.phases import AGAIN, ON_THE_WAY_DOWN
from propulsion_ros.flight.pyros.deployers import DeployerSpec
from propulsion_ros.settings.hints import conversions

CHECKS: Mapping[str, str] = {
    'config': 'no event does anything',
    'home': 'altitude or position lie farther from home than `flight.home_tolerance`',
    'motion': 'the vehicle left what held it, and nothing was seen to hold it since',
    'estimator': 'the estimator names a fault in `~/flags`',
    'pressure': 'the last pressure is not one of 30,000 to 110,000 Pa, as in hPa',
    'circuits': 'the circuit of a pyro that an event fires is measured and open, or the last '
    'message of `~/continuity` could not be used',
    'frozen': 'altitude, speed and acceleration have repeated themselves for `flight.frozen_time`',
    'backup_timer': '`flight.max_ascent_time` is 0',
    'record': 'the `state_file` cannot be written, or a robot with events that light engines has '
    'none',
    'receivers': 'on a robot a topic on which events command deployers or engines has no receiver, '
    'or a node of `receivers` is missing',
    'clocks': 'sensors or pyro receivers have another time than this computer, or their stamps '
    'stand still',
    'publishers': 'one topic has stamps of two times, as of a recording that is played beside a '
    'sensor, or of a sensor some of whose stamps are late',
}
"""The checks, and what each finds."""

ALWAYS = ('altitude',)
"""Checks that refuse a launch whatever is chosen."""

REQUIRED = (
    *ALWAYS, 'config', 'home', 'motion', 'estimator', 'pressure', 'circuits', 'backup_timer',
    'record', 'receivers', 'publishers',
)
"""Checks that refuse a launch by default."""
_PAD_PRESSURES = 30e3, 110e3
"""From a pad at 9 km to one below the sea [Pa]."""


def required_checks(
    chosen: Collection[str], semantics: str, *, is_live: bool
) -> frozenset[str]:
    """Return which of the chosen checks refuse a launch.

    Parameters
    ----------
    chosen : collection of str
        As configured.
    semantics : str
        'safe' or 'legacy'. The flown software had no backup timer.
    is_live : bool
        Whether this is a robot or a simulated one, and not the replay of a recording, whose
        launch was accepted already.
    """
    is_timed = semantics == 'safe' and is_live
    return frozenset((*ALWAYS, *chosen)) - (frozenset() if is_timed else {'backup_timer'})


_NO_TIMER = (
    'no backup timer: set flight.max_ascent_time [s] to the time to apogee in a simulation of the '
    'flight and a few seconds more, such as flight.max_ascent_time: 25.0'
)


class Readiness:
    """Runs the checks.

    Parameters
    ----------
    params : FlightParams
        Only ``home_tolerance`` and ``max_ascent_time`` are used.
    events : sequence of EventSpec
        Of the flight.
    deployers : sequence of DeployerSpec
        That the events' actions name by id.

    Attributes
    ----------
    always : dict of str
        Objections by check that hold whatever sensors show; '' for none.
    """

    def __init__(
        self,
        params: FlightParams,
        events: Sequence[EventSpec],
        deployers: Sequence[DeployerSpec],
    ) -> None:
        self._tolerance = params.home_tolerance
        actions = [action for event in events for action in event.actions]
        fired = {action.target for action in actions if action.kind == 'deployment'}
        self._circuits = {
            spec.channel: spec.name for spec in deployers
            if spec.id in fired and spec.type == 'local_pyro' and spec.channel is not None
        }
        has_timer = params.max_ascent_time > 0.0
        self.always = {
            'config': '' if actions else 'no event does anything',
            'backup_timer': '' if has_timer else _NO_TIMER,
        }

    def objections(
        self, sample: Sample, departure: Departure | None = None, *, is_frozen: bool
    ) -> dict[str, str]:
        """Return the objections to a launch.

        Parameters
        ----------
        sample : Sample
            Where the vehicle is.
        departure : Departure or None
            When the vehicle left what held it; None unless it certainly flies.
        is_frozen : bool
            Whether the samples repeat themselves.

        Returns
        -------
        dict of str
            Reason by check, in the order of `CHECKS`; without those that have none.
        """
        closed = dict(sample.circuits)
        opened = [name for channel, name in self._circuits.items() if closed.get(channel) is False]
        found = {
            'home': self._off_home(sample),
            'motion': f'the vehicle flies, by its {departure.source}' if departure else '',
            'estimator': f'estimator: {" ".join(sample.faults)}' if sample.faults else '',
            'pressure': _odd_pressure(sample.pressure),
            'circuits': f'open circuit of {", ".join(opened)}' if opened else '',
            'frozen': 'the samples repeat themselves' if is_frozen else '',
            **self.always,
        }
        return {name: found[name] for name in CHECKS if found.get(name)}

    def _off_home(self, sample: Sample) -> str:
        """Return how far the vehicle is from home, '' where it is there or unknown."""
        up, aside = sample.altitude, math.hypot(*sample.horizontal_position)
        words = []
        if abs(up) > self._tolerance:
            words.append(f'{abs(up):.0f} m {"above" if up > 0.0 else "below"} home')
        if aside > self._tolerance:
            words.append(f'{aside:.0f} m aside from home')
        return ' and '.join(words)


def _odd_pressure(pressure: float) -> str:
    """Return why a pressure is none of a pad, '' for one that is, or is unknown."""
    low, high = _PAD_PRESSURES
    if math.isnan(pressure) or low <= pressure <= high:
        return ''
    meant = next(
        (f'; in {unit}? times {pascal / pressure:g}' for unit, pascal in conversions(pressure, 'Pa')
         if low <= pascal <= high), ''
    )
    return f'pressure of {pressure:g} Pa, expected {low:,.0f} to {high:,.0f} Pa{meant}'


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
        if event.ignites and (not event.phases or ON_THE_WAY_DOWN.intersection(event.phases)):
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
        Only ``reset_time`` and ``ask_again_time`` are used.
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
        return f'{why}; nothing is left to fire: {AGAIN} {again:g} s'
    wait = params.reset_time
    return f'{why}; wait until {wait:g} s after it, or disarm all outputs and request it twice'
