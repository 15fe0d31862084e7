# SPDX-License-Identifier: Apache-2.0
"""The flight logic on the samples of a log, set up as a flight computer sets it up."""
from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.flight.events.conditions import NoValue
from propulsion_ros.flight.events.events import Action, EventSpec
from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.flight.flight_report import FlightReport
from propulsion_ros.loops.flight.params import FlightLoopParams
from propulsion_ros.loops.flight.setup import make_flight_state, read_config
from propulsion_ros.rml.config import FlightConfig
from propulsion_ros.timing.sample_time import SampleTime

_LOOK_NS = 100_000_000
_LATER_STAGE = EventSpec(0, 'later stage', NoValue('never'), (Action('engine', 0, 1.0),))


def fly(samples: Iterable[Sample], apogee: ApogeeParams) -> Iterator[FlightReport]:
    """Yield what the flight logic reports of each sample, armed at the first.

    Parameters
    ----------
    samples : iterable of Sample
        In the order in which a flight computer would receive them.
    apogee : ApogeeParams
        Parameters of the detector; all others have their defaults.
    """
    params = FlightLoopParams(apogee=apogee, replay=True)
    state = make_flight_state(params, read_config(params), in_simulation=False)
    for i, sample in enumerate(samples):
        report = state.update(sample)
        if i == 0:
            # By force, since a log may begin with an unknown altitude.
            state.command('launch', sample.stamp_ns, force=True)
        yield report


def fly_live(
    samples: Iterable[tuple[int, Sample]], apogee: ApogeeParams, *, may_light: bool = False,
    lets_time_pass: bool = True,
) -> Iterator[tuple[int, FlightReport]]:
    """Yield when and what the flight logic reports of samples that arrive as on a robot.

    While none arrives, time goes on without one, as a flight computer lets it.

    Parameters
    ----------
    samples : iterable of (int, Sample)
        When each arrives, on a steady clock [ns], and the sample.
    apogee : ApogeeParams
        Parameters of the detector; all others have their defaults.
    may_light : bool
        Whether the configuration has a stage that may still light.
    lets_time_pass : bool
        Whether time goes on while no sample arrives.
    """
    params = FlightLoopParams(apogee=apogee, replay=True)
    config = FlightConfig((_LATER_STAGE,), ()) if may_light else read_config(params)
    state = make_flight_state(params, config, in_simulation=False)
    time, limit_ns = SampleTime(), round(params.silence_timeout * 1e9)
    looked_ns: int | None = None
    for arrival_ns, sample in samples:
        while lets_time_pass and looked_ns is not None and looked_ns + _LOOK_NS < arrival_ns:
            looked_ns += _LOOK_NS
            if time.silence_ns(looked_ns) >= limit_ns:
                silent = Sample(time.now_ns(looked_ns), math.nan)
                yield looked_ns, state.update(silent, looked_ns, is_silence=True)
                time.go_on(silent.stamp_ns)
        report = state.update(sample, arrival_ns)
        if looked_ns is None:
            # By force, since a log may begin with an unknown altitude.
            state.command('launch', sample.stamp_ns, force=True)
            looked_ns = arrival_ns
        if report.stamp.is_accepted:
            time.take(sample.stamp_ns, arrival_ns)
        yield arrival_ns, report
