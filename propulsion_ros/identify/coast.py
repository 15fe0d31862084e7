# SPDX-License-Identifier: Apache-2.0
"""The drag area of a vehicle that coasts upwards, from its altitude or vertical speed."""
from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from propulsion_ros.identify.free import BODY, Free, numbers
from propulsion_ros.identify.problem import Problem, Setup
from propulsion_ros.identify.reading import ALTITUDE, CLIMB, Recording, Series, Span
from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.body.rigid_body import BodyParams, RigidBody
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.flat import build, parameters_of
from propulsion_ros.settings.hints import fall_doubt, pressure_doubt
from propulsion_ros.settings.quantity import FloatArray

_PER_MASS = 'body.drag_area/mass'
"""Name of the drag area over mass, which is what is known without a mass [m^2/kg]."""
START_CLIMB = 'start.climb'
"""Name of the vertical speed at the start of a coast [m/s]."""
_STEP = 0.05  # longest step of the simulated body [s]
_OF_PAD = {'rail_length': 0.0, 'start_rpy': [0.0] * 3, 'start_angular_velocity': [0.0] * 3}
"""Start of a vertical coast, in place of the parameters of the launch pad."""
_AROUND = 1.0  # time that is left out after burnout and before apogee [s]
_WINDOW = 1.6  # span of a parabola of altitude; the air of a vented bay oscillates in 0.7 s [s]
_RISES = 20.0  # speed that the climb of a rocket must reach [m/s]


def coast_of(
    recording: Recording, area: Free, body: MassProperties, vehicle: Mapping[str, Any], span: Span
) -> tuple[Problem, list[str]]:
    """Return the comparison of a coast by its drag area, and warnings."""
    speed, found = _vertical_speed(recording), []
    begin, end = _coasting(recording, speed)
    spans = [(-np.inf, begin, '')] * (span[0] is None) + [(end, np.inf, '')] * (span[1] is None)
    recording = replace(recording, skipped=(*recording.skipped, *spans))
    found.append(
        f'coast from {recording.begin + begin:.2f} to {recording.begin + end:.2f} s, taken as '
        'vertical and without thrust'
    )
    top = np.abs(speed.time - end) < _AROUND
    fall = -np.polyfit(speed.time[top], speed.value[top], 1)[0] if top.sum() > 2 else np.nan
    found += filter(None, [fall_doubt(float(fall))])
    if body.mass <= 0.0:
        area = replace(area, name=_PER_MASS, names=(_PER_MASS,), unit='m^2/kg')
        found.append(
            'mass: the robot description has none: only the drag area over the mass is known'
        )
    kept = speed.time[recording.is_kept(speed.time)]
    if len(kept) < 10:
        raise SourceError(recording.name, 'has fewer than ten samples in the coast')
    # No sensor has the speed at the start exactly.
    climb = float(speed.at(kept[0]))
    start = numbers(
        START_CLIMB, ('climb',), BODY, 'm/s', [climb], 0.5 * climb, 1.5 * climb, 0.1 * climb
    )
    return CoastProblem(Setup(recording, None, (area, start), body, 'odometry'), vehicle), found


def _vertical_speed(recording: Recording) -> Series:
    """Return the vertical speed, measured or from altitude; raise `SourceError` without both."""
    measured = recording.measured
    if CLIMB in measured:
        return measured[CLIMB]
    if ALTITUDE not in measured:
        raise SourceError(recording.name, f'expected a column {CLIMB} or {ALTITUDE}')
    time, height = measured[ALTITUDE].time, measured[ALTITUDE].value
    speed = np.full(len(time), np.nan)
    for i, now in enumerate(time):
        cut = slice(*np.searchsorted(time, (now - 0.5 * _WINDOW, now + 0.5 * _WINDOW + 1e-9)))
        if cut.stop - cut.start >= 4:
            speed[i] = np.polyfit(time[cut] - now, height[cut], 2)[1]
    good = np.isfinite(speed)
    if np.count_nonzero(good) < 10:
        raise SourceError(recording.name, 'has too few altitudes for a vertical speed')
    return Series(time[good], speed[good])


def _coasting(recording: Recording, speed: Series) -> tuple[float, float]:
    """Return the span [s] of a coast: from a second after burnout to one before apogee."""
    fastest = int(np.argmax(speed.value))
    falling = np.flatnonzero(speed.value[fastest:] <= 0.0)
    if speed.value[fastest] < _RISES or not len(falling):
        heights = recording.measured[ALTITUDE].value if ALTITUDE in recording.measured else [0.0]
        raise SourceError(
            recording.name, f'no coast of a rocket: it climbs with {speed.value[fastest]:.3g} m/s '
            'at most, or ends before it falls'
            + pressure_doubt(heights[0], min(heights), max(heights))
        )
    begin = float(speed.time[fastest]) + _AROUND
    end = float(speed.time[fastest + int(falling[0])]) - _AROUND
    if end - begin < 1.0:
        raise SourceError(recording.name, f'the coast is too short: {end - begin:.1f} s')
    return begin, end


class CoastProblem(Problem):
    """Compares the climb of the simulated body without thrust to that of a flight."""

    def __init__(self, setup: Setup, vehicle: Mapping[str, Any]) -> None:
        self._speed = _vertical_speed(setup.recording)
        known = {f'body.{each.key}': each.key for each in parameters_of(BodyParams)}
        self._values = {known[key]: value for key, value in vehicle.items() if key in known}
        super().__init__(setup)

    def _channels(self) -> Any:
        yield self._channel('climb', 'm/s', self._speed)

    def _made_ticks(self, longest: float, shortest: float = 0.0) -> Any:
        return None, self.channels[0].time

    def coarse(self, *, thin: bool = False) -> Problem:
        """Return the problem itself: a coast is short, and needs no coarser steps."""
        return self

    def with_free(
        self, free: Sequence[Free], fixed: Mapping[str, Any] | None = None
    ) -> Problem:
        """Return the same comparison with other free parameters."""
        return CoastProblem(replace(self.setup, free=tuple(free)), {
            f'body.{key}': value for key, value in self._values.items()
        })

    def predicted(self, places: FloatArray) -> list[FloatArray]:
        """Return the predicted vertical speed, (c, n), at places of the search, (c, p)."""
        return [np.stack([self._climb(place) for place in places])]

    @functools.cached_property
    def given(self) -> list[FloatArray]:
        """Vertical speed that the robot's files predict before the fit, (n,)."""
        area = np.ravel(self._values.get('drag_area', 0.0))[-1]
        return [self._climb(np.array([area, self.start[1]]))]

    def _climb(self, place: FloatArray) -> FloatArray:
        body, time = self.body_at(place), self.channels[0].time
        begin, end = float(time[0]), float(time[-1])
        area, series = body.get('drag_area', 0.0), self.setup.recording.measured.get(ALTITUDE)
        height = 0.0 if series is None else float(series.at(begin))
        params = build(BodyParams, {
            **self._values, **_OF_PAD, 'drag_area': [0.0, 0.0, area], 'ground': False,
            'start_position': [0.0, 0.0, height],
            'start_velocity': [0.0, 0.0, body['climb']],
        })
        mass = MassProperties(body['mass'] or 1.0, np.zeros(3), np.eye(3))
        simulated, wrench = RigidBody(params), np.zeros(6)
        count = max(2, int(np.ceil((end - begin) / _STEP)))
        dt, speeds = (end - begin) / count, [body['climb']]
        for _ in range(count):
            simulated.step(wrench, mass, mass, dt)
            speeds.append(float(simulated.velocity[2]))
        return np.asarray(np.interp(time, begin + dt * np.arange(count + 1), speeds))
