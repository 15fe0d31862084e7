# SPDX-License-Identifier: Apache-2.0
"""What flight logic, estimators and force allocation cost for each sample."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks import astrobee, cases
from benchmarks.cases import Case
from benchmarks.rows import Row
from benchmarks.steps import rows_of
from benchmarks.timing import cpu_medians
from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.flight.detectors import make_detector
from propulsion_ros.flight.estimation.state import Stage
from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.flight.flight_state import FlightState
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.graph.share import share_directory
from propulsion_ros.rml.config import load_flight_config

_PERIOD_NS = 20_000_000
_SPEED, _NOISE, _SAMPLES = 130.0, 0.3, 700
"""A throw that rises for 13 s, seen by an altimeter at 50 Hz."""


def measure() -> Iterator[Row]:
    """Yield the rows."""
    yield from rows_of(astrobee.allocation(1))
    yield from rows_of(astrobee.allocation(10_000))
    yield from _apogee()
    yield from rows_of(_flight())
    yield from rows_of(cases.estimator(Stage.PAD))
    yield from rows_of(cases.estimator(Stage.BOOST))


def _throw(spiky: bool = False) -> list[tuple[int, float]]:
    """Return stamps [ns] and altitudes [m]; with a spike in every twentieth sample."""
    time = np.arange(_SAMPLES) * _PERIOD_NS * 1e-9
    altitude = 20.0 + _SPEED * time - 0.5 * 9.80665 * time ** 2
    altitude += np.random.default_rng(1).normal(0.0, _NOISE, _SAMPLES)
    if spiky:
        altitude[::20] += 100.0
    return [(i * _PERIOD_NS, value) for i, value in enumerate(altitude.tolist())]


def _apogee() -> Iterator[Row]:
    """Yield a sample of the detector beside one of the original's."""
    ours, original = ApogeeParams(), ApogeeParams(method='legacy')
    for name, samples in (('apogee', _throw()), ('apogee, spikes', _throw(spiky=True))):
        times = cpu_medians({'ours': _detection(ours, samples),
                             'theirs': _detection(original, samples)})
        scale = 1e6 / _SAMPLES
        yield Row(name, times['ours'] * scale, 'us', 'legacy', times['theirs'] * scale)


def _detection(params: ApogeeParams, samples: list[tuple[int, float]]) -> Callable[[], None]:
    detector = make_detector(params)

    def run() -> None:
        detector.reset()
        for stamp_ns, altitude in samples:
            detector.update(stamp_ns, altitude)

    return run


def _flight() -> Case:
    """Return a sample of the whole flight logic: phases, apogee, landing and events."""
    config = load_flight_config(share_directory() / 'config' / 'rocket_flight.jsonc')
    samples = [
        Sample(stamp_ns, altitude=altitude, velocity=math.nan) for stamp_ns, altitude in _throw()
    ]
    state = FlightState(
        FlightParams(), make_detector(ApogeeParams()), config.events, config.deployers,
        config.controllers, config.semantics,
    )

    def fly() -> None:
        state.reset()
        state.command('launch', 0, force=True)
        for sample in samples:
            state.update(sample)

    return Case('flight logic', {'sample': fly}, per_step=_SAMPLES)
