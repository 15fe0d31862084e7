# SPDX-License-Identifier: Apache-2.0
"""Fuses a barometer: pad reference, static ports, frozen values, gates.

A lock near Mach 1 is ended by physics; a run of refused innovations is judged: an outlier, a step
of the sensor, or a lost filter.
"""
from __future__ import annotations

import math
from collections import deque
from enum import Enum

import numpy as np

from propulsion_ros.flight.apogee.vetoes import LONGEST_DIP
from propulsion_ros.flight.belief.feed import BENDS, MOVES, Feed
from propulsion_ros.flight.estimation.barometer import (
    PRESSURE_RANGE,
    altitude_and_temperature,
    dynamic_pressure,
    mach_squared,
    metres_per_pascal,
)
from propulsion_ros.flight.estimation.error_state import (
    ALTITUDE_BIAS,
    FORCE_BIAS,
    PORT,
    POSITION,
    SCALE,
    SIZE,
    VELOCITY,
    ErrorStateFilter,
    at_least,
)
from propulsion_ros.flight.estimation.pad_aid import NEAR_PAD, PadReference, mean_without_spikes
from propulsion_ros.flight.estimation.params import EstimatorParams
from propulsion_ros.flight.estimation.sensor_health import SensorMonitor, Status
from propulsion_ros.flight.estimation.state import Stage
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.timing.dwell import Dwell, Held


class MachLock:
    """Locked while a speed that is well known is fast, and for a hold time after.

    A speed may be wrong, as after an outage of the inertial sensor. So a lock ends at the latest
    when the longest coast from the last speed under thrust does, that without drag; and when the
    barometer contradicts the height for longer, and by more, than static ports ever err.

    Parameters
    ----------
    params : EstimatorParams
        Mach number and hold time.
    """

    def __init__(self, params: EstimatorParams) -> None:
        self._limit2 = params.lockout_mach**2
        self._hold_ns = round(params.lockout_hold * 1e9)
        self._contradicted = Dwell(LONGEST_DIP)
        self.reset()

    def reset(self) -> None:
        """Unlock, and forget the flight."""
        self._until: int | None = None
        self._coast_end: int | None = None
        self._contradicted.reset()

    def take_speed(
        self, stamp_ns: int, mach2: float, speed2: float, climb: float, *, is_boost: bool
    ) -> None:
        """Take a speed that is well known.

        Parameters
        ----------
        stamp_ns : int
            [ns].
        mach2, speed2 : float
            Squares of Mach number and speed [m^2/s^2].
        climb : float
            Upward speed [m/s].
        is_boost : bool
            Whether an engine may still make it faster.
        """
        if mach2 <= self._limit2:
            return
        if is_boost or self._coast_end is None:
            slow2 = speed2 * self._limit2 / mach2 - (speed2 - climb * climb)
            coast = max(climb - math.sqrt(max(slow2, 0.0)), 0.0) / STANDARD_GRAVITY
            self._coast_end = stamp_ns + round(coast * 1e9)
        if stamp_ns <= self._coast_end:
            self._until = stamp_ns + self._hold_ns

    def is_locked(self, stamp_ns: int) -> bool:
        """Return whether the barometer is locked out."""
        return self._until is not None and stamp_ns < self._until

    def is_refuted(self, stamp_ns: int, contradicts: bool) -> bool:
        """Take whether no error of the ports explains a pressure; return whether that lasted."""
        return self._contradicted.update(stamp_ns, contradicts)

    def end(self) -> None:
        """Unlock, until another speed is known well."""
        self._until = None
        self._contradicted.reset()


_FRESH_NS = 300_000_000  # a measurement this soon after a good one shows where a step began
_STEADY = 0.25  # change of a stepped innovation, relative to it, that is still the same step
_PATIENCE = 5.0  # gate times after which a step that does not settle is none


class Verdict(Enum):
    """What to do after a refused innovation."""

    WAIT = 'wait'
    STEP = 'step'  # the sensor has stepped and goes on from there
    LOST = 'lost'  # the estimate has left the measurement: believe the measurement


class InnovationJudge:
    """Tells a sensor that stepped from an estimate that went astray.

    An innovation that leaps beyond the gate between two messages and then stays is a step of the
    sensor. One that grows through the gate, or is beyond it when the sensor returns, says that
    the estimate, and so the inertial sensor, went astray.

    Parameters
    ----------
    patience : float
        How long refusals must last before either is believed [s].
    """

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._refused = Dwell(patience, counts_gaps=True)
        self._settled = Dwell(patience, counts_gaps=True)
        self.reset()

    def reset(self) -> None:
        """Forget all innovations."""
        self._good_ns: int | None = None
        self._good = 0.0
        self._refused.reset()
        self._settled.reset()
        self._anchor = 0.0
        self._stepped = False

    def accept(self, stamp_ns: int, innovation: float) -> None:
        """Take an innovation within the gate."""
        self._good_ns = stamp_ns
        self._good = innovation
        self._refused.reset()

    def refuse(
        self, stamp_ns: int, innovation: float, width: float, *, may_step: bool = True
    ) -> Verdict:
        """Take an innovation beyond the gate.

        Parameters
        ----------
        stamp_ns : int
            Of the measurement [ns].
        innovation : float
            Measured less predicted.
        width : float
            Half width of the gate.
        may_step : bool
            Whether the estimate is good enough to separate a step of the sensor from a motion.
        """
        is_first = self._refused.start_ns is None
        has_lasted = self._refused.update(stamp_ns, True)
        if is_first:
            self._move_anchor(stamp_ns, innovation)
            is_fresh = self._good_ns is not None and stamp_ns - self._good_ns < _FRESH_NS
            self._stepped = is_fresh and abs(innovation - self._good) > 0.5 * width
            return Verdict.WAIT
        if not is_same_step(innovation, self._anchor, width):
            self._move_anchor(stamp_ns, innovation)
        if not (self._stepped and may_step):
            return Verdict.LOST if has_lasted else Verdict.WAIT
        if self._settled.update(stamp_ns, True):
            return Verdict.STEP
        is_over = self._refused.has_lasted(_PATIENCE * self._patience)
        return Verdict.LOST if is_over else Verdict.WAIT

    def _move_anchor(self, stamp_ns: int, innovation: float) -> None:
        """Let the innovation settle about another value from now on."""
        self._anchor = innovation
        self._settled.reset()
        self._settled.update(stamp_ns, True)


def is_same_step(innovation: float, step: float, width: float) -> bool:
    """Return whether an innovation is that of a step, within a gate of half a width."""
    return abs(innovation - step) <= max(_STEADY * abs(step), 0.5 * width)


def width_of(innovation: float, surprise: float, gate: float) -> float:
    """Return half the width of a gate, from an innovation and its normalised square."""
    return gate * abs(innovation) / math.sqrt(surprise) if surprise > 0.0 else math.inf


_UP = POSITION + 2
_PAD_DELAY_NS = 1_000_000_000  # a reading joins the pad reference only where no liftoff followed
_STEP_DELAY_NS = 10_000_000_000  # and one far from it, that may be of a climb, after this time
_WEATHER = 0.1  # how fast the weather moves the altitude of a pad at most [m/s]
_CERTAIN_SPEED = 30.0  # a speed less certain than this makes no Mach number [m/s]
_IMPLAUSIBLE = 4.0  # sigma of its prior that no error of the barometer has
_STEP_SIGMA = 5.0  # of the altitude bias after a step [m]
_BIAS_SIGMA = 10.0  # that joins the accelerometer bias where the estimate went astray [m/s^2]


class BaroAid:
    """Turns pressures into corrections of a filter.

    The altitude is that of the standard atmosphere above the mean on the pad. Its error has three
    parts: white noise, a slow bias, and a coefficient times the dynamic pressure (static ports);
    near Mach 1 that model fails and the barometer is locked out.

    Parameters
    ----------
    params : EstimatorParams
        Noise, gates and times.
    filter_ : ErrorStateFilter
        That is corrected.

    Attributes
    ----------
    monitor : SensorMonitor
        Health of the barometer.
    pad_altitude : float
        Of the pad above the standard sea level [m]; the parameter's before any pressure.
    surprise : float
        Normalised innovation squared of the latest pressure, NaN before.
    imu_doubt_ns : int or None
        Stamp at which the barometer last overruled the inertial estimate.
    step_ns : int or None
        Stamp at which the barometer last stepped.
    may_repeat : bool
        Whether a pressure that repeats itself is right, in flight too.
    """

    def __init__(self, params: EstimatorParams, filter_: ErrorStateFilter) -> None:
        self._params = params
        self._filter = filter_
        self._gate = params.gate**2
        self._row = np.zeros(SIZE)
        self._row[[_UP, ALTITUDE_BIAS]] = 1.0
        self._lock = MachLock(params)
        self._judge = InnovationJudge(params.gate_time)
        self.monitor = SensorMonitor(params.pressure_timeout)
        self._reference = PadReference()
        self._pending: deque[tuple[int, float]] = deque()
        self._held = Held()
        self._scatter = Feed(0, MOVES[0], BENDS[0])
        self.may_repeat = False
        self.reset()

    def reset(self) -> None:
        """Forget the flight and the pad."""
        self._scatter.reset()
        self.monitor.reset()
        self._judge.reset()
        self._reference.reset()
        self._pending.clear()
        self._lock.reset()
        self.pad_altitude = self._params.site_altitude
        self._is_armed, self._referred_ns = False, 0
        self._stepped = 0.0
        self._held.reset()
        self.surprise = math.nan
        self.imu_doubt_ns: int | None = None
        self.step_ns: int | None = None

    def set_pad(self, altitude: float) -> None:
        """Take the pad to be at an altitude above the standard sea level [m], measured no more."""
        self._reference.set(altitude)
        self.pad_altitude = altitude

    def check(self, stamp_ns: int, pascal: float) -> Status:
        """Return whether a pressure may be fused."""
        if math.isfinite(pascal) and not PRESSURE_RANGE[0] < pascal < PRESSURE_RANGE[1]:
            self.monitor.refuse(Status.RANGE)
            return Status.RANGE
        return self.monitor.arrive(stamp_ns, (pascal,))

    def fuse(
        self, stamp_ns: int, age: float, pascal: float, variance: float, stage: Stage,
        *, is_inertial: bool, is_armed: bool = False,
    ) -> None:
        """Fuse a pressure that `check` found good.

        Parameters
        ----------
        stamp_ns : int
            Of the pressure [ns].
        age : float
            Its stamp less the time of the filter [s].
        pascal, variance : float
            Pressure [Pa] and variance [Pa^2]; 0 is unknown.
        stage : Stage
            Of the flight.
        is_inertial : bool
            Whether the speed comes from an inertial sensor.
        is_armed : bool
            Whether the pad stays where it was, but for the weather.
        """
        self._is_armed = is_armed
        altitude, temperature = altitude_and_temperature(pascal)
        if stage is Stage.PAD:
            self._follow_pad(stamp_ns, altitude, is_inertial=is_inertial)
        elif self._pending:
            self._leave_pad()
        state = self._filter
        scale = metres_per_pascal(pascal, temperature)
        speed2 = self._speed_squared(stage)
        mach2 = mach_squared(speed2, temperature)
        sigma = math.sqrt(variance) if variance > 0.0 else self._params.pressure_noise
        self._scatter.take(stamp_ns, (altitude,), learns=False)
        noise = at_least((sigma * scale) ** 2, self._scatter.noise)
        up = state.position[2] + age * state.velocity[2]
        row = self._row
        # Without an inertial sensor an error of the ports looks like motion.
        row[PORT] = port = -scale * dynamic_pressure(pascal, mach2) if is_inertial else 0.0
        innovation = altitude - self.pad_altitude - up - state.altitude_bias - port * state.port
        if is_inertial and stage in (Stage.BOOST, Stage.COAST) and self._is_climb_certain:
            self._lock.take_speed(
                stamp_ns, mach2, speed2, state.velocity[2], is_boost=stage is Stage.BOOST
            )
        if self._lock.is_locked(stamp_ns):
            self.monitor.refuse(Status.LOCKOUT)
            # A speed that is wrong must not widen what refutes it: ports err most near Mach 1.
            worst = -scale * dynamic_pressure(pascal, min(mach2, 1.0))
            if self._lock.is_refuted(stamp_ns, self._is_beyond_ports(innovation, worst, noise)):
                self._believe(stamp_ns, innovation, is_inertial=is_inertial)
            return
        if self._is_held(stamp_ns, pascal, up, math.sqrt(noise), stage):
            self.monitor.refuse(Status.FROZEN)
            return
        self.surprise = state.correct(row, innovation, noise, self._gate)
        if self.surprise <= self._gate:
            self._settle(stamp_ns, altitude - self.pad_altitude - up, innovation, is_inertial)
            return
        self.monitor.refuse(Status.INNOVATION)
        width = width_of(innovation, self.surprise, self._params.gate)
        # A step is known by the inertial sensor alone, and under a parachute none follows exactly.
        may_step = is_inertial and stage in (Stage.PAD, Stage.BOOST, Stage.COAST)
        verdict = self._judge.refuse(stamp_ns, innovation, width, may_step=may_step)
        if verdict is Verdict.STEP:
            self._follow_step(stamp_ns, innovation, stage)
        elif verdict is Verdict.LOST and self._steps_back(innovation, width):
            self._follow_step(stamp_ns, -self._stepped, stage)
        elif verdict is Verdict.LOST:
            self._believe(stamp_ns, innovation, is_inertial=is_inertial)

    def _settle(
        self, stamp_ns: int, offset: float, innovation: float, is_inertial: bool
    ) -> None:
        """Accept a pressure that was fused, unless the barometer's own errors took it."""
        if is_inertial and self._is_strained():
            # Drift too slow for the gate: the errors of the barometer took it, up to here.
            self.monitor.refuse(Status.INNOVATION)
            self._believe(
                stamp_ns, offset - self._filter.altitude_bias, is_inertial=is_inertial
            )
            return
        self._judge.accept(stamp_ns, innovation)
        self.monitor.use(stamp_ns)

    def _follow_step(self, stamp_ns: int, innovation: float, stage: Stage) -> None:
        self.step_ns = stamp_ns
        if stage is Stage.PAD and not self._is_armed:
            self._reference.reset()
            self._pending.clear()
        else:
            self._stepped += innovation
            self._filter.altitude_bias += innovation
            self._filter.forget(ALTITUDE_BIAS, _STEP_SIGMA**2)
        self._judge.reset()

    def _steps_back(self, innovation: float, width: float) -> bool:
        """Return whether the sensor is back from where it has stepped, as after a charge."""
        return self._stepped != 0.0 and is_same_step(innovation, -self._stepped, width)

    @property
    def _is_climb_certain(self) -> bool:
        return self._filter.variance(VELOCITY + 2) < _CERTAIN_SPEED**2

    def _is_beyond_ports(self, innovation: float, port: float, noise: float) -> bool:
        """Return whether no error of the static ports explains an innovation."""
        params = self._params
        worst = _IMPLAUSIBLE * params.static_port_error * abs(port)
        sigma = math.sqrt(self._filter.variance(_UP) + noise)
        return abs(innovation) > worst + params.gate * sigma

    def _is_strained(self) -> bool:
        """Return whether the barometer's own errors have become implausible."""
        state, params = self._filter, self._params
        return (
            abs(state.port) > _IMPLAUSIBLE * params.static_port_error
            or abs(state.scale) > _IMPLAUSIBLE * params.altitude_scale_sigma
        )

    def _believe(self, stamp_ns: int, innovation: float, *, is_inertial: bool) -> None:
        """Give the estimate up as far as the barometer contradicts it."""
        state, params = self._filter, self._params
        self.imu_doubt_ns = stamp_ns
        state.port = state.scale = 0.0
        state.forget(PORT, params.static_port_error**2)
        state.forget(SCALE, params.altitude_scale_sigma**2)
        state.inflate(_UP, innovation**2)
        state.inflate(VELOCITY + 2, (innovation / params.gate_time) ** 2)
        if is_inertial:
            for axis in range(FORCE_BIAS, FORCE_BIAS + 3):
                state.inflate(axis, _BIAS_SIGMA**2)
        self._judge.reset()
        self._lock.end()

    def _follow_pad(self, stamp_ns: int, altitude: float, *, is_inertial: bool) -> None:
        pending = self._pending
        pending.append((stamp_ns, altitude))
        ripe = False
        while stamp_ns - pending[0][0] > self._pad_delay_ns(pending[0][1], is_inertial):
            self._refer(*pending.popleft())
            ripe = True
        if not ripe and math.isnan(self._reference.altitude):
            self.pad_altitude = mean_without_spikes([row[1] for row in pending])

    def _pad_delay_ns(self, altitude: float, is_inertial: bool) -> int:
        """Return after which time without liftoff a reading joins the pad reference."""
        is_far = abs(altitude - self._reference.altitude) > NEAR_PAD
        return _STEP_DELAY_NS if is_far and not is_inertial else _PAD_DELAY_NS

    def _refer(self, stamp_ns: int, altitude: float) -> None:
        followed = altitude - self._reference.above_pad(altitude)
        elapsed, self._referred_ns = (stamp_ns - self._referred_ns) * 1e-9, stamp_ns
        if self._is_armed:
            # Weather is slow; what changes faster, or is farther off, is no longer on its pad.
            way = followed - self.pad_altitude
            farthest = _WEATHER * max(elapsed, 0.0) if abs(way) < NEAR_PAD else 0.0
            followed = self.pad_altitude + max(-farthest, min(way, farthest))
        self.pad_altitude = followed

    def _leave_pad(self) -> None:
        """Settle the reference at liftoff, without what came just before it."""
        if math.isnan(self._reference.altitude):
            for pending in self._pending:
                self._refer(*pending)
        self._pending.clear()

    def _speed_squared(self, stage: Stage) -> float:
        state = self._filter
        east, north, up = state.velocity
        horizontal = state.variance(VELOCITY) + state.variance(VELOCITY + 1)
        squared = up * up
        if horizontal < _CERTAIN_SPEED**2 and stage is not Stage.DESCENT:
            squared += east * east + north * north
        return squared

    def _is_held(
        self, stamp_ns: int, pascal: float, up: float, sigma: float, stage: Stage
    ) -> bool:
        """Return whether a value only repeats itself: in flight no pressure stays."""
        if not self._held.repeats(stamp_ns, pascal, up) or self.may_repeat:
            return False
        return stage.is_flying or abs(up - self._held.then) > self._params.gate * sigma
