# SPDX-License-Identifier: Apache-2.0
"""Cases with given numbers, by name: what was once wrong, and is to stay right."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pytest

from parts import few_of
from propulsion_ros.study.ground.case import SITUATIONS, SOURCES, Case
from propulsion_ros.study.ground.judge import VERDICTS, judge
from propulsion_ros.study.ground.sensors import IMU, ODOMETRY, PRESSURE


class Row(NamedTuple):
    """Cases that differ in their sources alone."""

    situation: str
    sources: tuple[str, ...]
    pins: Mapping[str, Any] = {}
    faults: Sequence[tuple[str, str]] = ()
    restarts: int = 0
    stages: int = 1
    seed: int = 0

    def cases(self) -> Iterator[Case]:
        for source in self.sources:
            yield Case(
                self.situation, source, self.seed, list(self.faults), self.restarts, self.stages,
                pins=self.pins,
            )


_EACH = ('pressure', 'odometry', 'sensors')
_BARO, _FUSED, _BOTH = ('pressure',), ('odometry',), ('sensors',)
_SHORT = {'length': 60.0}


def _flight_to_78(request: str, timer: float = 10.0) -> Row:
    return Row('low flight', _EACH, {'top': 78.0, 'timer': timer, 'request': request})


ROWS: Mapping[str, Row] = {
    '16 g for 0.2 s': Row('kick', _BOTH, {'size': 16.0, 'blow': 0.2}),
    '4 g for 0.6 s, then zeros': Row('rest', _BOTH, {
        **_SHORT, 'zeros after a force.force': 39.2, 'zeros after a force.length': 0.6,
    }, [(IMU, 'zeros after a force')]),
    'a flight to 78 m, then rest': _flight_to_78(''),
    'a flight to 78 m, then abort': _flight_to_78('abort', 60.0),
    'a flight to 78 m, then reset': _flight_to_78('reset', 60.0),
    'a hill, carried down at 2.5 m/s': Row('hill', _EACH, {'speed': 2.5, 'burn': 1.6}),
    'a hill, carried down at 1.4 m/s': Row('hill', _FUSED, {
        'speed': 1.4, 'rest': 50.0, 'imu_rate': 50.0, 'imu_offset': -0.4, 'filter_time': 0.65,
    }),
    'a hill, a barometer that repeats itself': Row('hill', _BOTH, {
        'above': 145.0, 'baro_step': 0.85, 'baro_noise': 0.08, 'baro_rate': 50.0,
    }),
    'a hopper of 0.6 g': Row('hopper', (*_BOTH, 'sensors and fix'), {'speed': 17.0, 'top': 200.0}),
    'an odometry that drifts by 36 m': Row('rest', _FUSED, {
        **_SHORT, 'drift.size': 36.0, 'drift.length': 2.0, 'drift.at': 12.0,
        'speed stuck.size': 0.0, 'speed stuck.at': 0.0,
    }, [(ODOMETRY, 'drift'), (ODOMETRY, 'speed stuck')]),
    'a ramp of 12 m/s for 8 s, two stages': Row('rest', _EACH, {
        **_SHORT, 'ramp.slope': 12.0, 'ramp.length': 8.0,
    }, [(PRESSURE, 'ramp')], stages=2),
    'a ramp of 40 m/s for 8 s': Row('rest', _BOTH, {
        **_SHORT, 'ramp.slope': 40.0, 'ramp.length': 8.0,
    }, [(PRESSURE, 'ramp')]),
    'patchy under the drogue': Row('under a drogue', _BARO, {
        'patchy.first': 12.0, 'patchy.on': 2.0, 'patchy.off': 4.0,
    }, [(PRESSURE, 'patchy')]),
    'an odometry patchy under the drogue': Row('under a drogue', _FUSED, {
        'patchy.first': 12.0, 'patchy.on': 2.0, 'patchy.off': 4.0,
    }, [(ODOMETRY, 'patchy')]),
    'a lift at 2.5 m/s and a restart': Row('lift', _BARO, {
        'speed': 2.5, 'rise': 100.0, 'acceleration': 1.0,
    }, restarts=1),
    'armed aloft, lowered by 100 m, dropped': Row('armed aloft', _EACH, {
        'lowered': 100.0, 'hang': 5.0, 'drop': 400.0,
    }),
    'launched 150 m below where it was armed': Row('from below', _EACH, {
        'below': 150.0, 'speed': 4.0, 'push': 50.0, 'burn': 1.2,
    }),
    'a syringe': Row('syringe', _BARO),
    'a step of 30 m': Row('rest', _BARO, {**_SHORT, 'step.size': 30.0}, [(PRESSURE, 'step')]),
    '30 m within 2 s that stay': Row('rest', _BARO, {
        **_SHORT, 'ramp.slope': 15.0, 'ramp.length': 2.0,
    }, [(PRESSURE, 'ramp')]),
    **{f'raised at {speed:g} m/s': Row('raised', _BARO, {'speed': speed, 'ride': 60.0})
       for speed in (8.0, 9.5, 12.0, 15.0)},
    'two barometers, one stuck at the pad': Row(
        'flight', _BARO, faults=[(PRESSURE, 'interleaved')]
    ),
    'a charge of -400 m, 2 s before the apogee': Row('before the apogee', _BARO, {
        'pulse.size': -400.0, 'pulse.length': 0.3, 'main_speed': 6.0,
    }, [(PRESSURE, 'pulse')]),
    'wind of 3 to 6 m rms and a rattling rail': Row('wind of an rms', _BOTH),
    'a restart in wind of 6 m rms': Row('wind of an rms', _FUSED, {
        **_SHORT, 'rms': 6.0, 'imu_rate': 20.0, 'baro_rate': 20.0, 'restart.at': 30.0,
        'restart.away': 0.5,
    }, restarts=1, seed=4),
    'a restart in wind of 6 m rms that was not measured yet': Row('wind of an rms', _FUSED, {
        **_SHORT, 'timer': 15.0, 'rms': 6.0, 'imu_rate': 20.0, 'baro_rate': 20.0,
        'restart.at': 12.0, 'restart.away': 2.0,
    }, restarts=1, seed=4),
    'raised at 14 m/s, and a restart as it slows down': Row('raised', _FUSED, {
        'speed': 13.6, 'ride': 51.7, 'restart.at': 58.07, 'restart.away': 0.65, 'imu_rate': 50.0,
        'baro_rate': 50.0, 'baro_noise': 0.14, 'baro_step': 0.0, 'filter_time': 2.0,
    }, restarts=1),
    'an inertial sensor whose clock is 1 s ahead': Row('flight', _BOTH, {
        'clock.size': 1.0, 'imu_rate': 50.0,
    }, [(IMU, 'clock')]),
}
"""The rows, each with what it is in words."""


@pytest.mark.part('flights')
@pytest.mark.parametrize('name', few_of(ROWS, 9))
def test_nothing_fires_or_lights_that_should_not_and_what_should_does(name):
    for case in ROWS[name].cases():
        row = judge(case)
        assert {key: row[key] for key in VERDICTS if row[key]} == {}, case.source


@pytest.mark.part('flights')
@pytest.mark.parametrize('source', SOURCES)
@pytest.mark.parametrize('situation', few_of(SITUATIONS, 40))
def test_every_situation_with_every_source(situation, source):
    """Drawn together, most pairs were never tried: a third of the landings on hills fired."""
    pins = {'length': 60.0} if 'length' in SITUATIONS[situation].vary else {}
    row = judge(Case(situation, source, 1_100_033, pins=pins))
    assert {key: row[key] for key in VERDICTS if row[key]} == {}
