# SPDX-License-Identifier: Apache-2.0
"""The flight logic on the samples of a log, set up as a flight computer sets it up."""
from __future__ import annotations

from collections.abc import Iterable, Iterator

from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.flight.flight_report import FlightReport
from propulsion_ros.loops.flight.params import FlightLoopParams
from propulsion_ros.loops.flight.setup import make_flight_state, read_config


def fly(samples: Iterable[Sample], apogee: ApogeeParams) -> Iterator[FlightReport]:
    """Yield what the flight logic reports of each sample, armed at the first.

    Parameters
    ----------
    samples : iterable of Sample
        In the order in which a flight computer would receive them.
    apogee : ApogeeParams
        Parameters of the detector; all others have their defaults.
    """
    params = FlightLoopParams(apogee=apogee)
    state = make_flight_state(params, read_config(params), in_simulation=False)
    for i, sample in enumerate(samples):
        report = state.update(sample)
        if i == 0:
            # By force, since a log may begin with an unknown altitude.
            state.command('launch', sample.stamp_ns, force=True)
        yield report
