# SPDX-License-Identifier: Apache-2.0
"""Cases with given numbers, by name: what was once wrong, and is to stay right."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pytest

from propulsion_ros.study.ground.case import Case, draw
from propulsion_ros.study.ground.sensors import IMU, ODOMETRY, PRESSURE


class Row(NamedTuple):
    """Cases that differ in their sources and seeds alone."""

    situation: str
    sources: tuple[str, ...]
    seeds: int
    pins: Mapping[str, Any] = {}
    faults: Sequence[tuple[str, str]] = ()
    restarts: int = 0
    stages: int = 1

    def cases(self, seeds: Iterable[int] | None = None) -> Iterator[Case]:
        """Yield its cases, of its own seeds or of others."""
        for source in self.sources:
            for seed in range(self.seeds) if seeds is None else seeds:
                yield Case(
                    self.situation, source, seed, list(self.faults), self.restarts, self.stages,
                    pins=self.pins,
                )


_EACH = ('pressure', 'odometry', 'sensors')
_BARO, _FUSED, _BOTH = ('pressure',), ('odometry',), ('sensors',)
_SHORT = {'length': 60.0}


def _flight_to_78(request: str, timer: float = 10.0) -> Row:
    return Row('low flight', _EACH, 4, {'top': 78.0, 'timer': timer, 'request': request})


ROWS: Mapping[str, Row] = {
    'wind of 3 to 6 m rms and a rattling rail': Row('wind of an rms', _BOTH, 12),
    '16 g for 0.2 s': Row('kick', _BOTH, 4, {'size': 16.0, 'blow': 0.2}),
    '4 g for 0.6 s, then zeros': Row('rest', _BOTH, 4, {
        **_SHORT, 'zeros after a force.force': 39.2, 'zeros after a force.length': 0.6,
    }, [(IMU, 'zeros after a force')]),
    'a flight to 78 m, then rest': _flight_to_78(''),
    'a flight to 78 m, then abort': _flight_to_78('abort', 60.0),
    'a flight to 78 m, then reset': _flight_to_78('reset', 60.0),
    'a hill, carried down at 2.5 m/s': Row('hill', _EACH, 2, {'speed': 2.5, 'burn': 1.6}),
    'an odometry that drifts by 36 m': Row('rest', _FUSED, 8, {
        **_SHORT, 'drift.size': 36.0, 'drift.length': 2.0, 'drift.at': 12.0,
        'speed stuck.size': 0.0, 'speed stuck.at': 0.0,
    }, [(ODOMETRY, 'drift'), (ODOMETRY, 'speed stuck')]),
    'a ramp of 12 m/s for 8 s, two stages': Row('rest', _EACH, 4, {
        **_SHORT, 'ramp.slope': 12.0, 'ramp.length': 8.0,
    }, [(PRESSURE, 'ramp')], stages=2),
    'a ramp of 40 m/s for 8 s': Row('rest', (*_BOTH, *_BARO), 4, {
        **_SHORT, 'ramp.slope': 40.0, 'ramp.length': 8.0,
    }, [(PRESSURE, 'ramp')]),
    'patchy under the drogue': Row('under a drogue', _BARO, 4, {
        'patchy.first': 12.0, 'patchy.on': 2.0, 'patchy.off': 4.0,
    }, [(PRESSURE, 'patchy')]),
    'an odometry patchy under the drogue': Row('under a drogue', _FUSED, 4, {
        'patchy.first': 12.0, 'patchy.on': 2.0, 'patchy.off': 4.0,
    }, [(ODOMETRY, 'patchy')]),
    'a lift at 2.5 m/s and a restart': Row('lift', _BARO, 12, {
        'speed': 2.5, 'rise': 100.0, 'acceleration': 1.0,
    }, restarts=1),
    'a syringe': Row('syringe', _BARO, 8),
    'a step of 30 m': Row('rest', _BARO, 4, {**_SHORT, 'step.size': 30.0}, [(PRESSURE, 'step')]),
    '30 m within 2 s that stay': Row('rest', _BARO, 4, {
        **_SHORT, 'ramp.slope': 15.0, 'ramp.length': 2.0,
    }, [(PRESSURE, 'ramp')]),
    **{f'raised at {speed:g} m/s': Row('raised', _BARO, 2, {'speed': speed, 'ride': 60.0})
       for speed in (8.0, 9.5, 12.0, 15.0)},
    'two barometers, one stuck at the pad': Row(
        'flight', _BARO, 20, faults=[(PRESSURE, 'interleaved')]
    ),
    'a charge of -400 m, 2 s before the apogee': Row('before the apogee', _BARO, 20, {
        'pulse.size': -400.0, 'pulse.length': 0.3, 'main_speed': 6.0,
    }, [(PRESSURE, 'pulse')]),
}
"""The rows, each with what it is in words."""


@pytest.mark.parametrize('name', ROWS)
def test_its_numbers_are_drawn_numbers(name):
    row = ROWS[name]
    case = next(row.cases([0]))
    drawn = draw(case)
    assert {key: drawn.numbers[key] for key in row.pins} == dict(row.pins)
    assert len(list(row.cases())) == row.seeds * len(row.sources)
