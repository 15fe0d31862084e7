# SPDX-License-Identifier: Apache-2.0
"""Compares predictions of candidate models with what was measured."""
from __future__ import annotations

import copy
import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from propulsion_ros.identify.candidates import Candidates, Response, Ticks
from propulsion_ros.identify.free import BODY, DELAY, Free
from propulsion_ros.identify.prepare import SLOW
from propulsion_ros.identify.reading import (
    ALTITUDE,
    ATTITUDE,
    FLOW,
    IMU,
    STATE,
    VOLTAGE,
    WRENCH,
    Recording,
    Series,
)
from propulsion_ros.models.body.bodies import fluid_wrench
from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.body.rigid_body import BodyParams
from propulsion_ros.models.common.family import WRENCH_NAMES, Family, battery_names
from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.settings.quantity import BoolArray, FloatArray, IntArray

MEASURED = ('imu', 'odometry', 'state', 'wrench')
_MOST_TICKS = 15000  # steps of the model above which they are longer than samples,
_LONGEST_TICK = 0.005  # but no longer than this for that reason [s]
_COARSE_TICK = 0.01  # least step of the coarse search [s]
_WINDOW = 0.5  # windows over which rates are compared, each with its own offset and drift [s]
_BEFORE = 3.0  # time simulated before the first sample that counts, so that lags settle [s]
_LEAD = 0.25  # margin of the simulation at both ends, for delays [s]
_SETTLE = 1.0  # time after the first command in which the state of lags is unknown [s]
_TINY = 1e-9  # least divisor
_SWEEP, _LONGER = 3.0, 0.7  # period of a sweep, and how much longer that of the next one is [s]
_HALVES = 10  # most attempts to halve a move
_SMOOTH = 0.02  # width of the moving mean of rates before they are differentiated [s]


@dataclass(frozen=True)
class Channel:
    """One measured quantity at the times that are compared."""

    name: str
    unit: str
    time: FloatArray
    value: FloatArray
    """Times [s] and values, (n,) each."""
    axis: int = -1
    """Component of the wrench that is measured; -1 for a state."""
    windows: IntArray | None = None
    """Indices of the windows in which a rate of turn is compared, (w, s); None for others."""


@dataclass(frozen=True)
class Setup:
    """Inputs of a `Problem`."""

    recording: Recording
    candidates: Candidates | None
    """Model of the actuators; None if none is fitted."""
    free: tuple[Free, ...]
    body: MassProperties
    kind: str
    fluid: BodyParams = field(default_factory=BodyParams)
    """Drag and buoyancy of the body in a fluid."""
    imu_position: FloatArray = field(default_factory=lambda: np.zeros(3))
    """Position of the IMU in base_link [m], (3,)."""
    delay: float = 0.0
    """Fixed time from a command until the actuator takes it [s]."""
    moments: bool = False
    """True if rates of turn are compared too."""


class Problem:
    """Residuals of candidate parameters.

    Attributes
    ----------
    channels : list of Channel
        Compared quantities, in the order of the residuals.
    start : FloatArray
        Place where the search begins, (p,).

    Raises
    ------
    SourceError
        If a quantity that is needed was not measured.
    """

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.free = setup.free
        self.start, self.lower, self.upper, self.scale = (
            np.concatenate([np.zeros(0), *(getattr(each, name) for each in self.free)])
            for name in ('start', 'lower', 'upper', 'scale')
        )
        self.names = [name for each in self.free for name in each.names]
        # Some quantities of a state have one sample, or none in the spans that are compared.
        self.channels = [each for each in self._channels() if len(each.time) > 1]
        if not self.channels:
            recording = setup.recording
            raise SourceError(recording.name, '; '.join([
                f'has nothing measured for --measured {setup.kind} twice or more after the first '
                f'second; found: {", ".join(recording.measured) or "none"}, over '
                f'{recording.end:.3g} s, expected stamps in seconds that rise', *recording.notes,
            ]))
        self._ticks, self._time = self._made_ticks(_LONGEST_TICK)
        self.weights = [1.0 / self._spread(each.value) for each in self.channels]

    def with_free(self, free: Sequence[Free], fixed: Mapping[str, Any] | None = None) -> Problem:
        """Return the same comparison with other free parameters."""
        return Problem(replace(
            self.setup, free=tuple(free), candidates=self._candidates.changed(fixed or {}),
        ))

    def free_of(self, index: int) -> Free:
        """Return the parameter that a number of the search belongs to."""
        return [each for each in self.free for _ in each.start][index]

    @property
    def model(self) -> Family:
        """The model of the actuators before the fit."""
        return self._candidates.model

    @property
    def cuts(self) -> list[slice]:
        """Slices of the residuals, one of each channel."""
        return _cuts(
            len(each.time) if each.windows is None else each.windows.size for each in self.channels
        )

    @property
    def main_cuts(self) -> list[tuple[slice, float]]:
        """Slices and weights of the channels with the unit of the first channel."""
        unit = self.channels[0].unit
        return [
            (cut, weight) for channel, cut, weight
            in zip(self.channels, self.cuts, self.weights, strict=True) if channel.unit == unit
        ]

    def predicted(self, places: FloatArray) -> list[FloatArray]:
        """Return the prediction of each channel, (c, n), at places of the search, (c, p)."""
        response = self._run([self.changes(place) for place in places])
        bodies = [self.body_at(place) for place in places]
        return [self._of_channel(each, response, bodies) for each in self.channels]

    @functools.cached_property
    def given(self) -> list[FloatArray]:
        """Prediction of each channel by the robot's files, before the fit, (n,)."""
        response = self._run([{}])
        body = {**properties_of(self.setup.body), DELAY: self.setup.delay}
        return [self._of_channel(each, response, [body])[0] for each in self.channels]

    def residuals(self, places: FloatArray) -> FloatArray:
        """Return weighted residuals, (c, r), at places of the search, (c, p)."""
        return self.left_by(self.predicted(places))

    def left_by(self, predicted: Sequence[FloatArray]) -> FloatArray:
        """Return weighted residuals, (..., r), of a prediction of each channel, (..., n)."""
        return np.concatenate([
            weight * self.compared(channel, channel.value - each)
            for channel, weight, each in zip(self.channels, self.weights, predicted, strict=True)
        ], axis=-1)

    def compared(self, channel: Channel, difference: FloatArray) -> FloatArray:
        """Return a difference that counts: of a rate without offset and drift of each window."""
        if channel.windows is None:
            return difference
        rows = difference[..., channel.windows]
        basis = _drift(channel.windows.shape[1])
        rows = rows - (rows @ basis) @ basis.T
        return np.asarray(rows.reshape(*difference.shape[:-1], -1))

    def rms_of(self, residuals: FloatArray) -> dict[str, float]:
        """Return the root mean square of each channel's weighted residuals, (r,), in its unit."""
        return {
            each.name: rms(residuals[cut] / weight)
            for each, cut, weight in zip(self.channels, self.cuts, self.weights, strict=True)
        }

    def main_rms(self, residuals: FloatArray) -> float:
        """Return the root mean square over channels with the unit of the first, in that unit."""
        return rms(np.concatenate([residuals[cut] / weight for cut, weight in self.main_cuts]))

    def estimates(self, place: FloatArray) -> FloatArray:
        """Return the parameters at a place of the search, (p,)."""
        return self.to_estimates @ place

    @functools.cached_property
    def to_estimates(self) -> FloatArray:
        """Matrix from places of the search to parameters, (p, p)."""
        matrix = np.zeros((len(self.start),) * 2)
        for each, cut in self._parts:
            matrix[cut, cut] = each.estimates
        return matrix

    @functools.cached_property
    def _parts(self) -> list[tuple[Free, slice]]:
        """Free parameters, each with the slice of its numbers in a place of the search."""
        return list(zip(self.free, _cuts(len(each.start) for each in self.free), strict=True))

    def changes(self, place: FloatArray) -> dict[str, Any]:
        """Return the flat parameters of the family at a place of the search."""
        result: dict[str, Any] = {}
        for each, cut in self._parts:
            changed = each.changes(place[cut])
            if each.row >= 0:
                # Several parameters can each set a row of the same flat parameter.
                for key in changed.keys() & result.keys():
                    own = changed[key][each.row]
                    changed[key] = [*result[key]]
                    changed[key][each.row] = own
            result.update(changed)
        return result

    def body_at(self, place: FloatArray) -> dict[str, float]:
        """Return mass [kg], moments of inertia [kg m^2] and delay [s] at a place of the search."""
        found = {**properties_of(self.setup.body), DELAY: self.setup.delay}
        for each, cut in self._parts:
            if each.owner in (BODY, DELAY):
                found[each.keys[0]] = float(place[cut.start])
        return found

    def is_refused(self, place: FloatArray) -> bool:
        """Return whether a model refuses the parameters at a place of the search."""
        if self.setup.candidates is None:
            return False
        try:
            self._candidates.made(self.changes(place))
        except ConfigError:
            return True
        return False

    def moved(self, place: FloatArray, move: FloatArray) -> FloatArray:
        """Return the place after a move, which is halved until the model accepts that place."""
        for part in 0.5 ** np.arange(_HALVES):
            there: FloatArray = np.clip(place + part * move, self.lower, self.upper)
            if not self.is_refused(there):
                return there
        return place

    @property
    def _candidates(self) -> Candidates:
        if self.setup.candidates is None:
            raise TypeError('expected candidates of actuators, got none')
        return self.setup.candidates

    def turning(
        self, place: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, list[str]] | None:
        """Return the rates of turn of the body, and regressors by which thrusts explain them.

        They are the measured rates about x and y, (r, 2), the integrals of the thrusts, (r, n),
        the torques of unit thrusts by the geometry, (2, n), and names; None if not measured.
        """
        if self.setup.candidates is None or self.setup.kind != 'imu':
            return None
        coarse, measured = self.coarse(), self.setup.recording.measured
        known = [measured[key] for key in IMU[3:5] if key in measured]
        effort = self._candidates.efforts(self.changes(place), coarse._ticks)
        if effort is None or len(known) < 2:
            return None
        channel = self._rate_channel('gyro', known[0], 3)
        whole = np.cumsum(effort, axis=0).T * coarse._ticks.dt
        columns = np.stack([np.interp(channel.time, coarse._time, row) for row in whole])
        rates = np.stack([each.at(channel.time) for each in known])
        matrix = self._candidates.model.allocation_matrix  # type: ignore[attr-defined]
        return (
            self.compared(channel, rates).T, self.compared(channel, columns).T, matrix[3:5],
            list(self._candidates.command_names),
        )

    # Measured channels.

    def _channels(self) -> Any:
        recording, kind = self.setup.recording, self.setup.kind
        if kind == 'imu':
            yield from self._imu_channels()
        elif kind == 'wrench':
            for axis, name in enumerate(WRENCH_NAMES):
                if WRENCH + name in recording.measured:
                    unit = 'N' if axis < 3 else 'N m'
                    yield self._channel(WRENCH + name, unit, recording.measured[WRENCH + name],
                                        axis=axis)
        else:
            for name, series in recording.measured.items():
                if name.startswith(STATE):
                    yield self._channel(name, _unit_of(name), series)

    def _channel(self, name: str, unit: str, series: Series, **more: Any) -> Channel:
        kept = self._kept(series.time)
        return Channel(name, unit, series.time[kept], series.value[kept], **more)

    def _kept(self, time: FloatArray) -> BoolArray:
        """Return which times count: not the first ones, at which the state of lags is unknown."""
        commands = self.setup.recording.commands.values()
        first = min((float(each.time[0]) for each in commands), default=-np.inf)
        begins = self.setup.candidates is not None and not self._candidates.model.tank_names
        return self.setup.recording.is_kept(time) & ((time >= first + _SETTLE) | (not begins))

    def _imu_channels(self) -> Any:
        setup, recording = self.setup, self.setup.recording
        force = self._specific_force()
        for axis in self._pushed:
            if axis < 3 and force is not None:
                each = Series(force[0], setup.body.mass * force[1][:, axis])
                yield self._channel(f'thrust.{"xyz"[axis]}', 'N', each, axis=axis)
            elif axis >= 3 and setup.moments:
                key = IMU[axis]
                if key in recording.measured:
                    yield self._rate_channel(key, recording.measured[key], axis)

    @functools.cached_property
    def _pushed(self) -> list[int]:
        """Components of the wrench that the actuators can produce."""
        matrix = getattr(self._candidates.model, 'allocation_matrix', None)
        if matrix is None:
            return list(range(6))
        force, torque = np.abs(matrix[:3]).max(), max(np.abs(matrix[3:]).max(), _TINY)
        sizes = np.abs(matrix).max(axis=1) / ([force] * 3 + [torque] * 3)
        return [int(axis) for axis in np.flatnonzero(sizes > 1e-6)]

    def _specific_force(self) -> tuple[FloatArray, FloatArray] | None:
        """Return times and the specific force at the centre of mass less the fluid's, (n, 3)."""
        measured = self.setup.recording.measured
        parts = [measured.get(key) for key in IMU[:3]]
        first = next((part for part in parts if part is not None), None)
        if first is None:
            return None
        time = first.time
        force = np.stack([
            np.zeros(len(time)) if part is None else part.at(time) for part in parts
        ], axis=1)
        arm = self.setup.imu_position - self.setup.body.com
        rates = [measured.get(key) for key in IMU[3:]]
        if np.any(np.abs(arm) > 1e-6) and all(rate is not None for rate in rates):
            rate = np.stack([each.at(time) for each in rates if each is not None], axis=1)
            usual = float(np.median(np.diff(time)))
            turn = np.gradient(_smooth(rate, max(1, round(_SMOOTH / usual))), time, axis=0)
            force -= np.cross(turn, arm) + np.cross(rate, np.cross(rate, arm))
        return time, force - self._fluid_at(time)[:, :3] / self.setup.body.mass

    def _fluid_at(self, time: FloatArray) -> FloatArray:
        """Return the wrench of the fluid at some times, (n, 6)."""
        at, rows = self._fluid
        return np.stack([np.interp(time, at, row) for row in rows.T], axis=1)

    @functools.cached_property
    def _fluid(self) -> tuple[FloatArray, FloatArray]:
        """Times, and drag and buoyancy of the body [N], [N m], (n, 6); 0 if not known.

        Raises `SourceError` where buoyancy, which may be its whole weight, is not known.
        """
        names, fluid = (*FLOW, *ATTITUDE, ALTITUDE), self.setup.fluid
        measured = {**self.setup.recording.measured}
        for name, rate in zip(FLOW[3:], IMU[3:], strict=True):
            # A gyroscope turns as the body does.
            if rate in measured:
                measured.setdefault(name, measured[rate])
        if not fluid.hulls.names:  # The air is taken as that of the site.
            measured.setdefault(ALTITUDE, Series(np.zeros(1), np.zeros(1)))
        absent = [name for name in names if name not in measured]
        if absent and (fluid.displaced_volume or fluid.hulls.names):
            raise SourceError(self.setup.recording.name, (
                'buoyancy and drag of the body (body.* of vehicle) are in the specific force, and '
                f'without {", ".join(absent)} they are not known; name these columns, or give a '
                'bag with odometry'
            ))
        # `fluid_wrench` has no drag over the Mach number.
        if fluid.drag_over_mach or absent:
            return np.zeros(1), np.zeros((1, 6))
        time = max((measured[name].time for name in names), key=len)
        rows = np.stack([measured[name].at(time) for name in names], axis=1)
        return time, fluid_wrench(
            fluid, self.setup.body, rows[:, 10], rows[:, 6:10], rows[:, :3], rows[:, 3:6]
        )

    def _rate_channel(self, name: str, series: Series, axis: int) -> Channel:
        """Return a rate of turn in windows without a gap."""
        kept = self._kept(series.time)
        usual = float(np.median(np.diff(series.time)))
        size = max(8, round(_WINDOW / usual))
        index = np.flatnonzero(kept)
        firsts = [
            i for i in range(0, len(index) - size, size)
            if index[i + size - 1] - index[i] == size - 1
            and series.time[index[i + size - 1]] - series.time[index[i]] < 1.5 * _WINDOW
        ]
        return Channel(
            name, 'rad/s', series.time[kept], series.value[kept], axis,
            np.array(firsts, dtype=int)[:, None] + np.arange(size),
        )

    @staticmethod
    def _spread(value: FloatArray) -> float:
        return max(float(np.std(value)), _TINY * max(1.0, float(np.max(np.abs(value), initial=0))))

    # Predictions.

    def coarse(self, *, thin: bool = False) -> Problem:
        """Return the same comparison with longer time steps, and commands averaged over them.

        With ``thin``, samples that are denser than these steps are averaged too.
        """
        other = copy.copy(self)
        if thin:
            other.channels = [_thinned(each) for each in self.channels]
            other.weights = list(self.weights)
        for name in ('_measured_rate', 'given'):
            other.__dict__.pop(name, None)
        other._ticks, other._time = other._made_ticks(_COARSE_TICK, _COARSE_TICK)
        return other

    def swept(self) -> Problem:
        """Return the same comparison with sweeps in place of the commands, each with jumps."""
        other, given = copy.copy(self), self._ticks.commands
        low, high = np.minimum(given.min(axis=0), 0.0), np.maximum(given.max(axis=0), 0.0)
        share = self._time[:, None] / (_SWEEP + _LONGER * np.arange(len(low))) % 1.0
        other._ticks = replace(self._ticks, commands=low + share * (high - low))
        return other

    def _made_ticks(self, longest: float, shortest: float = 0.0) -> tuple[Ticks, FloatArray]:
        """Return the inputs of the model over all steps, and the middle of each step [s]."""
        recording, names = self.setup.recording, self._candidates.command_names
        begin = min(float(each.time[0]) for each in self.channels)
        end = max(float(each.time[-1]) for each in self.channels)
        usual = min(float(np.median(np.diff(each.time))) for each in self.channels)
        # Samples that are farther apart do not set the step.
        usual *= usual <= SLOW
        span = end + 0.05 - max(begin - _BEFORE, 0.0)
        dt = max(usual, shortest, min(span / _MOST_TICKS, longest))
        # A whole number of steps, so that those as long as samples begin when commands do.
        begin = max(begin - _BEFORE, 0.0) - dt * max(1, round(_LEAD / dt))
        edges = begin + dt * np.arange(int(np.ceil((end + _LEAD - begin) / dt)) + 1)
        columns = []
        for name in names:
            if name not in recording.commands:
                columns.append(np.full(len(edges) - 1, np.nan))
                continue
            columns.append(held_mean(recording.commands[name], np.asarray(edges, float)))
        if all(np.all(np.isnan(column)) for column in columns):
            raise SourceError(
                recording.name, f'has no {self.model.command_fields[0]} of '
                f'{", ".join(names)}; name the columns of a table in the parameter file, below '
                'identify: columns; of a log of PX4 the motors, --map motor_1=GROUP/ACTUATOR for '
                'throttles, .effort:0:LARGEST behind it for thrusts [N]'
            )
        middle = 0.5 * (edges[1:] + edges[:-1])
        flow = None
        if self._candidates.model.uses_body:
            flow = np.zeros((len(middle), 6))
            for i, key in enumerate(FLOW):
                if key in recording.measured:
                    flow[:, i] = recording.measured[key].at(middle)
        supplies = [f'{name}{VOLTAGE}' for name in battery_names(self.model)]
        absent = [name for name in supplies if name not in recording.measured]
        if absent and len(absent) < len(supplies):
            raise SourceError(recording.name, (
                f'expected the voltages of all batteries or of none, lacks {", ".join(absent)}'
            ))
        voltage = None if absent or not supplies else np.stack(
            [recording.measured[name].at(middle) for name in supplies], axis=1)
        return Ticks(dt, np.stack(columns, axis=1), flow, voltage), middle

    def _run(self, changes: Sequence[Mapping[str, Any]]) -> Response:
        """Return the responses with changed parameters, (c, ...); equal ones are run once."""
        unique: list[Mapping[str, Any]] = []
        which = []
        for each in changes:
            if each not in unique:
                unique.append(each)
            which.append(unique.index(each))
        response = self._candidates.run(unique, self._ticks)
        return Response(response.wrench[which], {
            name: rows[which] for name, rows in response.state.items()
        })

    def _of_channel(
        self, channel: Channel, response: Response, bodies: Sequence[Mapping[str, float]]
    ) -> FloatArray:
        if channel.axis < 0:
            rows = response.state[channel.name.removeprefix(STATE)]
        elif channel.windows is not None:
            rows = self._rates(channel, response, bodies)
        elif self.setup.kind == 'imu':
            mass = np.array([body['mass'] for body in bodies])
            rows = response.wrench[:, :, channel.axis] * (self.setup.body.mass / mass)[:, None]
        else:
            rows = response.wrench[:, :, channel.axis]
        # A speed and a rate are those at the end of a step, a force and a thrust are its mean.
        at_end = channel.windows is not None or (channel.axis < 0 and channel.unit != 'N')
        time = self._time + (0.5 * self._ticks.dt if at_end else 0.0)
        return np.stack([
            np.interp(channel.time - body[DELAY], time, row)
            for row, body in zip(rows, bodies, strict=True)
        ])

    def _rates(
        self, channel: Channel, response: Response, bodies: Sequence[Mapping[str, float]]
    ) -> FloatArray:
        """Return the rate of turn about an axis without its initial value, (c, k)."""
        com, axis = self.setup.body.com, channel.axis - 3
        torque = response.wrench[:, :, 3:] - np.cross(com, response.wrench[:, :, :3])
        torque += self._fluid_at(self._time)[:, 3:]
        moments = np.array([[body[f'i{a}{a}'] for a in 'xyz'] for body in bodies])
        rate = self._measured_rate
        one, two = (axis + 1) % 3, (axis + 2) % 3
        gyroscopic = (moments[:, one] - moments[:, two])[:, None] * rate[:, one] * rate[:, two]
        turn = (torque[:, :, axis] + gyroscopic) / moments[:, axis:axis + 1]
        return np.asarray(np.cumsum(turn, axis=1) * self._ticks.dt)

    @functools.cached_property
    def _measured_rate(self) -> FloatArray:
        """The measured rate of turn at the steps, (k, 3)."""
        measured = self.setup.recording.measured
        return np.stack([
            measured[key].at(self._time) if key in measured else np.zeros(len(self._time))
            for key in IMU[3:]
        ], axis=1)


def properties_of(body: MassProperties) -> dict[str, float]:
    """Return mass [kg] and moments of inertia [kg m^2] by name."""
    moments = {f'i{axis}{axis}': float(body.inertia[i, i]) for i, axis in enumerate('xyz')}
    return {'mass': body.mass, **moments}


def rms(values: FloatArray) -> float:
    """Return the root mean square of some values."""
    return float(np.sqrt(np.mean(np.square(values))))


def _cuts(sizes: Iterable[int]) -> list[slice]:
    """Return the slices of consecutive parts, by their sizes."""
    ends = [0, *accumulate(sizes)]
    return [slice(*pair) for pair in pairwise(ends)]


def _unit_of(state: str) -> str:
    name, _, field_name = state.rpartition('.')
    if field_name == 'position':
        return 'Pa' if name.endswith('/pressure') else ''
    return 'rad/s' if field_name == 'velocity' else 'N'


def _thinned(channel: Channel) -> Channel:
    """Return a channel averaged over coarse steps; a rate stays as it is."""
    size = int(_COARSE_TICK / max(float(np.median(np.diff(channel.time))), _TINY))
    if channel.windows is not None or size < 2:
        return channel
    count = len(channel.time) // size * size
    time, value = (rows[:count].reshape(-1, size) for rows in (channel.time, channel.value))
    whole = time[:, -1] - time[:, 0] < 2.0 * _COARSE_TICK
    return replace(channel, time=time.mean(axis=1)[whole], value=value.mean(axis=1)[whole])


def held_mean(series: Series, edges: FloatArray) -> FloatArray:
    """Return the mean of a held value between edges [s]; the first also holds before it."""
    time, value = series.time, series.value
    area = np.concatenate(([0.0], np.cumsum(np.diff(time) * value[:-1])))
    at = np.clip(np.searchsorted(time, edges, 'right') - 1, 0, len(time) - 1)
    inside = area[at] + (edges - time[at]) * value[at]
    return np.asarray(np.diff(inside) / np.diff(edges))


def _smooth(rows: FloatArray, size: int) -> FloatArray:
    kernel = np.ones(size) / size
    return np.stack([
        np.convolve(np.pad(row, size, 'edge'), kernel, 'same')[size:-size] for row in rows.T
    ], axis=1)


@functools.lru_cache(maxsize=8)
def _drift(size: int) -> FloatArray:
    """Return an orthonormal basis of offset and drift over a window, (size, 2)."""
    line = np.linspace(-1.0, 1.0, size)
    return np.stack([np.full(size, size**-0.5), line / np.linalg.norm(line)], axis=1)
