# SPDX-License-Identifier: Apache-2.0
"""Corrects the filter by a barometer, and finds which of both is wrong if they contradict."""
from __future__ import annotations

import math
from collections import deque
from enum import Enum

import numpy as np

from propulsion_ros.flight.apogee.vetoes import LONGEST_DIP
from propulsion_ros.flight.belief.departure import AWAY
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
from propulsion_ros.flight.estimation.pad_aid import PadReference, mean_without_spikes
from propulsion_ros.flight.estimation.params import EstimatorParams
from propulsion_ros.flight.estimation.sensor_health import SensorMonitor, Status
from propulsion_ros.flight.estimation.state import Stage
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.timing.dwell import Dwell, Held


class MachLock:
    """Locks the barometer out while the Mach number is large, and for a hold time after.

    The speed may be wrong, as after an outage of the inertial sensor. So the lock ends at the
    latest with the longest coast, without drag, from the last speed under thrust; and if the
    barometer contradicts the height for longer and by more than static ports err.

    Parameters
    ----------
    params : EstimatorParams
        Largest Mach number without lock, and hold time.
    """

    def __init__(self, params: EstimatorParams) -> None:
        self._largest_mach2 = params.lockout_mach**2
        self._hold_ns = round(params.lockout_hold * 1e9)
        self._contradicted = Dwell(LONGEST_DIP)
        self.reset()

    def reset(self) -> None:
        """Unlock, and forget the flight."""
        self._locked_until_ns: int | None = None
        self._coast_ends_ns: int | None = None
        self._contradicted.reset()

    def take_speed(
        self, stamp_ns: int, mach2: float, speed2: float, climb: float, *, is_boost: bool
    ) -> None:
        """Lock by a speed if its Mach number is large; the speed must be well known.

        Parameters
        ----------
        stamp_ns : int
            Time of the speed [ns].
        mach2, speed2 : float
            Squared Mach number, and squared speed [m^2/s^2].
        climb : float
            Upward speed [m/s].
        is_boost : bool
            Whether an engine may still accelerate the vehicle.
        """
        if mach2 <= self._largest_mach2:
            return
        if is_boost or self._coast_ends_ns is None:
            slow2 = speed2 * self._largest_mach2 / mach2 - (speed2 - climb * climb)
            coast = max(climb - math.sqrt(max(slow2, 0.0)), 0.0) / STANDARD_GRAVITY
            self._coast_ends_ns = stamp_ns + round(coast * 1e9)
        if stamp_ns <= self._coast_ends_ns:
            self._locked_until_ns = stamp_ns + self._hold_ns

    def is_locked(self, stamp_ns: int) -> bool:
        """Return whether the barometer is locked out."""
        return self._locked_until_ns is not None and stamp_ns < self._locked_until_ns

    def is_refuted(self, stamp_ns: int, contradicts: bool) -> bool:
        """Take whether a pressure contradicts the height; return whether that has lasted 3 s."""
        return self._contradicted.update(stamp_ns, contradicts)

    def end(self) -> None:
        """Unlock, until the next speed locks."""
        self._locked_until_ns = None
        self._contradicted.reset()


_IMPLAUSIBLE = 4.0  # a larger error of ports or accelerometer is implausible, in sigma
_SCALES = (-0.13, 0.25)  # scale of the altitude in air of 58 and of -43 degrees at the sea
_DIP_NS = round(LONGEST_DIP * 1e9)  # ports are judged, and a sensor is doubted, for so long [ns]


class PortPace:
    """Finds an estimated error of the static ports that changes faster than theirs can.

    It does where the inertial sensor is wrong, because the filter explains its drift by the ports.

    Parameters
    ----------
    params : EstimatorParams
        Error of the static ports, and the time over which it changes.
    """

    def __init__(self, params: EstimatorParams) -> None:
        self._density = params.static_port_density
        self._past: deque[tuple[int, float, float]] = deque()

    def reset(self) -> None:
        """Forget the past."""
        self._past.clear()

    def update(self, stamp_ns: int, port: float, variance: float) -> bool:
        """Take the error of the ports and its variance; return whether it changes too fast."""
        past = self._past
        past.append((stamp_ns, port, variance))
        while stamp_ns - past[0][0] > _DIP_NS:
            past.popleft()
        then_ns, before, spread = past[0]
        spread += self._density * (stamp_ns - then_ns) * 1e-9
        return (port - before) ** 2 > _IMPLAUSIBLE**2 * spread


_FRESH_NS = 300_000_000  # longest time from a good pressure to a step of the sensor [ns]
_LINE_NS = 500_000_000  # length of the line that a step leaves [ns]
_STEADY = 0.25  # relative change of an innovation that is still that of the same step
_PATIENCE = 5.0  # time after which a step that does not settle is none, in gate times


class Verdict(Enum):
    """Result of a refused innovation."""

    WAIT = 'wait'
    STEP = 'step'  # the sensor has stepped: add the step to its bias
    JUMP = 'jump'  # the altitude has jumped: believe it, and keep the speed
    LOST = 'lost'  # the estimate is wrong: believe the measurement


_JUMPS = {
    Stage.PAD: Verdict.STEP, Stage.BOOST: Verdict.STEP, Stage.COAST: Verdict.STEP,
    Stage.DESCENT: Verdict.JUMP,
}
"""What a jump of the altitude beside an inertial sensor is, by stage."""


class InnovationJudge:
    """Decides whether refused innovations are a step of the sensor or a wrong estimate.

    An innovation that leaves the gate between two messages because the measured altitude leaves its
    own line by a jump, and then stays, is a step of the sensor. One that grows out of the gate, or
    is beyond the gate when the sensor returns, shows that the estimate, and so the inertial sensor,
    is wrong. Under a parachute a jump, as by the pressure of an ejection charge, is followed by the
    altitude alone.

    Parameters
    ----------
    patience : float
        Time for which innovations must be refused before either is decided [s].
    """

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._refused = Dwell(patience, counts_gaps=True)
        self._settled = Dwell(patience, counts_gaps=True)
        self.reset()

    def reset(self) -> None:
        """Forget all innovations."""
        self._line: deque[tuple[int, float]] = deque()  # stamps and altitudes that were fused
        self._good = 0.0
        self._refused.reset()
        self._settled.reset()
        self._anchor = 0.0  # innovation about which the later ones settle
        self._has_jumped = False  # whether the refusals began with a jump

    def accept(self, stamp_ns: int, innovation: float, altitude: float) -> None:
        """Take an innovation that was fused, with the measured altitude."""
        self._line.append((stamp_ns, altitude))
        while stamp_ns - self._line[0][0] > _LINE_NS:
            self._line.popleft()
        self._good = innovation
        self._refused.reset()

    def _off_line(self, stamp_ns: int, altitude: float) -> float:
        """Return how far an altitude is from the line of the last ones [m]; 0 if they are old.

        The last one may already have a part of the step, and then would turn the line after it.
        """
        if not self._line or stamp_ns - self._line[-1][0] >= _FRESH_NS:
            return 0.0
        (first_ns, first), farthest = self._line[0], 0.0
        for last_ns, last in list(self._line)[-2:]:
            slope = (last - first) / max(last_ns - first_ns, 1)
            farthest = max(farthest, abs(altitude - last - slope * (stamp_ns - last_ns)))
        return farthest

    def refuse(
        self, stamp_ns: int, innovation: float, altitude: float, width: float, jump: Verdict
    ) -> Verdict:
        """Take an innovation that was refused, and decide.

        Parameters
        ----------
        stamp_ns : int
            Stamp of the measurement [ns].
        innovation, altitude : float
            Measured less predicted value, and the measured one [m].
        width : float
            Largest innovation within the gate [m].
        jump : Verdict
            What a jump is: a step of the sensor, or under a parachute a jump of the altitude;
            ``LOST`` where the estimate is not good enough to tell it from a motion.
        """
        is_first = self._refused.start_ns is None
        has_lasted = self._refused.update(stamp_ns, True)
        if is_first:
            self._move_anchor(stamp_ns, innovation)
            # An estimate that runs away moves the innovation as well, but not the reading.
            moved = min(abs(innovation - self._good), self._off_line(stamp_ns, altitude))
            self._has_jumped = moved > 0.5 * width
            return Verdict.WAIT
        if not is_same_step(innovation, self._anchor, width):
            self._move_anchor(stamp_ns, innovation)
        if jump is Verdict.LOST or not self._has_jumped:
            return Verdict.LOST if has_lasted else Verdict.WAIT
        if self._settled.update(stamp_ns, True):
            return jump
        if not self._refused.has_lasted(_PATIENCE * self._patience):
            return Verdict.WAIT
        return Verdict.LOST if jump is Verdict.STEP else jump

    def _move_anchor(self, stamp_ns: int, innovation: float) -> None:
        """Begin to wait until the innovations settle about this one."""
        self._anchor = innovation
        self._settled.reset()
        self._settled.update(stamp_ns, True)


def is_same_step(innovation: float, step: float, width: float) -> bool:
    """Return whether an innovation is near that of a step, for a gate of this half width [m]."""
    return abs(innovation - step) <= max(_STEADY * abs(step), 0.5 * width)


def width_of(innovation: float, surprise: float, gate: float) -> float:
    """Return the half width of a gate [m], from an innovation [m] and its normalised square."""
    return gate * abs(innovation) / math.sqrt(surprise) if surprise > 0.0 else math.inf


_UP = POSITION + 2  # index of the error of the height
_PAD_DELAY_NS = 1_000_000_000  # a reading is used for the pad if no liftoff follows so soon [ns]
_STEP_DELAY_NS = 10_000_000_000  # the same far from the pad without inertial sensor [ns]
_WEATHER = 0.1  # fastest change of the pad's pressure altitude by the weather [m/s]
_CERTAIN_SPEED = 30.0  # largest sigma of a speed whose Mach number is used [m/s]
_STEP_SIGMA = 5.0  # sigma of the altitude bias after a step [m]
_BIAS_SIGMA = 10.0  # sigma added to the accelerometer bias if the estimate is wrong [m/s^2]


class BaroAid:
    """Corrects a filter by pressures.

    The measured altitude is that of the standard atmosphere above its mean on the pad. Its error
    has three parts: white noise, a slow bias, and a coefficient times the dynamic pressure (static
    ports). Near Mach 1 this model is wrong, and `MachLock` locks the barometer out.

    Parameters
    ----------
    params : EstimatorParams
        Noise, gates and times.
    filter_ : ErrorStateFilter
        The filter that is corrected.

    Attributes
    ----------
    monitor : SensorMonitor
        Health of the barometer.
    pad_altitude : float
        Pressure altitude of the pad above the standard sea level [m]; before the first pressure
        that of the parameters.
    surprise : float
        Normalised innovation squared of the last pressure; NaN before the first.
    imu_doubt_ns : int or None
        Time at which the barometer last overruled the estimate [ns].
    step_ns : int or None
        Time at which the barometer last stepped [ns].
    may_repeat : bool
        Whether a pressure may repeat itself in flight.
    """

    def __init__(self, params: EstimatorParams, filter_: ErrorStateFilter) -> None:
        self._params = params
        self._filter = filter_
        self._gate = params.gate**2
        self._row = np.zeros(SIZE)
        self._row[[_UP, ALTITUDE_BIAS]] = 1.0
        self._lock = MachLock(params)
        self._pace = PortPace(params)
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
        self._pace.reset()
        self.pad_altitude = self._params.site_altitude
        self._is_armed = self._was_armed = False
        self._used_ns = 0
        self._stepped = 0.0  # sum of the steps in flight [m]
        self._held.reset()
        self.surprise = math.nan
        self.imu_doubt_ns: int | None = None
        self.step_ns: int | None = None

    def set_pad(self, altitude: float) -> None:
        """Set the pressure altitude of the pad [m]; it is not measured any more."""
        self._reference.set(altitude)
        self.pad_altitude = altitude

    def check(self, stamp_ns: int, pascal: float) -> Status:
        """Return OK if a pressure [Pa] may be fused, else the reason of its refusal."""
        if math.isfinite(pascal) and not PRESSURE_RANGE[0] < pascal < PRESSURE_RANGE[1]:
            self.monitor.refuse(Status.RANGE)
            return Status.RANGE
        return self.monitor.arrive(stamp_ns, (pascal,))

    def fuse(
        self, stamp_ns: int, age: float, pascal: float, variance: float, stage: Stage,
        *, is_inertial: bool, is_armed: bool = False,
    ) -> None:
        """Correct the filter by a pressure for which `check` returned OK.

        Parameters
        ----------
        stamp_ns : int
            Stamp of the pressure [ns].
        age : float
            That stamp less the time of the filter [s].
        pascal, variance : float
            Static pressure [Pa] and its noise variance [Pa^2]; 0 if unknown.
        stage : Stage
            Stage of the flight.
        is_inertial : bool
            Whether the inertial sensor advances the filter.
        is_armed : bool
            Whether only the weather may move the pad, as the vehicle is armed.
        """
        self._is_armed = is_armed
        altitude, temperature = altitude_and_temperature(pascal)
        if stage is Stage.PAD:
            self._follow_pad(stamp_ns, altitude, is_inertial=is_inertial)
        elif self._pending:
            self._leave_pad()
        state = self._filter
        per_pascal = metres_per_pascal(pascal, temperature)
        speed2 = self._speed_squared(stage)
        mach2 = mach_squared(speed2, temperature)
        # What a sensor states is its own noise, not that of air, ports and stamps.
        sigma = max(math.sqrt(variance), self._params.pressure_noise)
        self._scatter.take(stamp_ns, (altitude,), learns=False)
        noise = at_least((sigma * per_pascal) ** 2, self._scatter.noise)
        up = state.position[2] + age * state.velocity[2]
        row = self._row
        # Without inertial sensor an error of the ports cannot be separated from motion.
        row[PORT] = port = -per_pascal * dynamic_pressure(pascal, mach2) if is_inertial else 0.0
        innovation = altitude - self.pad_altitude - up - state.altitude_bias - port * state.port
        if is_inertial and stage in (Stage.BOOST, Stage.COAST) and self._is_climb_certain:
            self._lock.take_speed(
                stamp_ns, mach2, speed2, state.velocity[2], is_boost=stage is Stage.BOOST
            )
        if self._lock.is_locked(stamp_ns):
            self.monitor.refuse(Status.LOCKOUT)
            # Ports err most near Mach 1: with a wrong, larger speed they would explain anything.
            worst = -per_pascal * dynamic_pressure(pascal, min(mach2, 1.0))
            if self._lock.is_refuted(stamp_ns, self._is_beyond_ports(innovation, worst, noise)):
                self._overrule(stamp_ns, innovation, is_inertial=is_inertial)
            return
        if self._is_held(stamp_ns, pascal, up, math.sqrt(noise), stage):
            self.monitor.refuse(Status.FROZEN)
            return
        self.surprise = state.correct(row, innovation, noise, self._gate)
        if self.surprise <= self._gate:
            offset = altitude - self.pad_altitude - up
            self._accept(stamp_ns, offset, innovation, altitude, stage, is_inertial)
            return
        self.monitor.refuse(Status.INNOVATION)
        width = width_of(innovation, self.surprise, self._params.gate)
        # Only an inertial sensor shows a step, and under a parachute it is not exact enough.
        jump = _JUMPS.get(stage, Verdict.LOST) if is_inertial else Verdict.LOST
        verdict = self._judge.refuse(stamp_ns, innovation, altitude, width, jump)
        if verdict is Verdict.STEP:
            self._follow_step(stamp_ns, innovation, stage)
        elif verdict is not Verdict.WAIT and self._steps_back(innovation, width):
            self._follow_step(stamp_ns, -self._stepped, stage)
        elif verdict is not Verdict.WAIT:
            self._overrule(
                stamp_ns, innovation, is_inertial=is_inertial,
                moves_speed=verdict is Verdict.LOST,
            )

    def _accept(
        self, stamp_ns: int, offset: float, innovation: float, altitude: float, stage: Stage,
        is_inertial: bool,
    ) -> None:
        """Accept a fused pressure, unless only implausible errors of the barometer explain it."""
        if is_inertial and self._judge_errors(stamp_ns):
            # The estimate drifts too slowly for the gate, and the errors have followed the offset.
            self.monitor.refuse(Status.INNOVATION)
            self._overrule(
                stamp_ns, offset - self._filter.altitude_bias, is_inertial=is_inertial,
                moves_speed=stage is not Stage.DESCENT,
            )
            return
        self._judge.accept(stamp_ns, innovation, altitude)
        self.monitor.use(stamp_ns)

    def _follow_step(self, stamp_ns: int, innovation: float, stage: Stage) -> None:
        """Add a step of the sensor to its bias, or measure an unarmed pad anew."""
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
        """Return whether the sensor steps back by all its steps, as after an ejection charge."""
        return self._stepped != 0.0 and is_same_step(innovation, -self._stepped, width)

    @property
    def _is_climb_certain(self) -> bool:
        return self._filter.variance(VELOCITY + 2) < _CERTAIN_SPEED**2

    def _is_beyond_ports(self, innovation: float, by_port: float, noise: float) -> bool:
        """Return whether no error of the ports explains an innovation [m], with noise [m^2]."""
        params = self._params
        worst = _IMPLAUSIBLE * params.static_port_error * abs(by_port)
        sigma = math.sqrt(self._filter.variance(_UP) + noise)
        return abs(innovation) > worst + params.gate * sigma

    def _judge_errors(self, stamp_ns: int) -> bool:
        """Take the estimated errors of ports and scale; return whether they are implausible."""
        state, params = self._filter, self._params
        return (
            self._pace.update(stamp_ns, state.port, state.variance(PORT))
            or abs(state.port) > _IMPLAUSIBLE * params.static_port_error
            or not _SCALES[0] < state.scale < _SCALES[1]
        )

    def is_force_doubted(self, stamp_ns: int) -> bool:
        """Return whether the accelerometer was overruled lately, or its bias is implausible.

        Parameters
        ----------
        stamp_ns : int
            Time [ns].
        """
        if self.imu_doubt_ns is None:
            return False
        worst = max(map(abs, self._filter.force_bias))
        return (
            stamp_ns - self.imu_doubt_ns < _DIP_NS
            or worst > _IMPLAUSIBLE * self._params.accelerometer_bias_sigma
        )

    def _overrule(
        self, stamp_ns: int, innovation: float, *, is_inertial: bool, moves_speed: bool = True
    ) -> None:
        """Make the estimate so uncertain that it follows the barometer."""
        state, params = self._filter, self._params
        if moves_speed:
            self.imu_doubt_ns = stamp_ns
        state.port = state.scale = 0.0
        self._pace.reset()
        state.forget(PORT, params.static_port_error**2)
        state.forget(SCALE, params.altitude_scale_sigma**2)
        state.inflate(_UP, innovation**2)
        if moves_speed:
            state.inflate(VELOCITY + 2, (innovation / params.gate_time) ** 2)
        if moves_speed and is_inertial:
            for axis in range(FORCE_BIAS, FORCE_BIAS + 3):
                state.inflate(axis, _BIAS_SIGMA**2)
        self._judge.reset()
        self._lock.end()

    def _follow_pad(self, stamp_ns: int, altitude: float, *, is_inertial: bool) -> None:
        """Take an altitude on the pad; use it for the reference after a delay."""
        pending = self._pending
        pending.append((stamp_ns, altitude))
        is_used = False
        while stamp_ns - pending[0][0] > self._pad_delay_ns(pending[0][1], is_inertial):
            self._use_for_pad(*pending.popleft())
            is_used = True
        if not is_used and math.isnan(self._reference.altitude):
            self.pad_altitude = mean_without_spikes([row[1] for row in pending])

    def _pad_delay_ns(self, altitude: float, is_inertial: bool) -> int:
        """Return the time without liftoff after which a reading is used for the pad [ns]."""
        is_far = abs(altitude - self._reference.altitude) > AWAY
        return _STEP_DELAY_NS if is_far and not is_inertial else _PAD_DELAY_NS

    def _use_for_pad(self, stamp_ns: int, altitude: float) -> None:
        """Use a reading for the altitude of the pad, of an armed vehicle as the weather allows."""
        followed = altitude - self._reference.above_pad(altitude)
        elapsed, self._used_ns = (stamp_ns - self._used_ns) * 1e-9, stamp_ns
        if self._is_armed:
            # Weather is slow: an armed vehicle that moves faster or further has left its pad.
            way = followed - self.pad_altitude
            farthest = _WEATHER * max(elapsed, 0.0) if abs(way) < AWAY else 0.0
            followed = self.pad_altitude + max(-farthest, min(way, farthest))
        elif self._was_armed:
            # The bias has taken how far an armed vehicle was carried, as the pad takes it now.
            self._filter.altitude_bias -= followed - self.pad_altitude
        self._was_armed, self.pad_altitude = self._is_armed, followed

    def _leave_pad(self) -> None:
        """Drop the last readings at liftoff, unless they are the only ones."""
        if math.isnan(self._reference.altitude):
            for pending in self._pending:
                self._use_for_pad(*pending)
        self._pending.clear()

    def _speed_squared(self, stage: Stage) -> float:
        """Return the squared speed, without the horizontal one if that is uncertain [m^2/s^2]."""
        state = self._filter
        east, north, up = state.velocity
        horizontal = state.variance(VELOCITY) + state.variance(VELOCITY + 1)
        squared = up * up
        if horizontal < _CERTAIN_SPEED**2 and stage is not Stage.DESCENT:
            squared += east * east + north * north
        return squared

    def _is_held(self, stamp_ns: int, pascal: float, up: float, sigma: float, stage: Stage) -> bool:
        """Return whether a pressure repeats itself although the vehicle flies or has moved."""
        if not self._held.repeats(stamp_ns, pascal, up) or self.may_repeat:
            return False
        return stage.is_flying or abs(up - self._held.then) > self._params.gate * sigma
