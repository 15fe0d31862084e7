# SPDX-License-Identifier: Apache-2.0
"""A simulated vehicle in lockstep with its actuators, without ROS."""
from __future__ import annotations

import functools
import math
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from propulsion_ros.flight.pyros.deployers import PERIOD_NS
from propulsion_ros.loops.decoders import fired_by, msg_to_inertia, msg_to_wrench, stamp_to_ns
from propulsion_ros.loops.lockstep import Lockstep, Replies
from propulsion_ros.loops.payloads import ImuRow, JointRow, Kind, MassRow, OdometryRow, PressureRow
from propulsion_ros.loops.ports import OK, WARN, Health, Host, Outlet, Port, Request, Timer
from propulsion_ros.loops.vehicle_params import VehicleParams
from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.body.rigid_body import LIQUID
from propulsion_ros.models.body.simulated_body import SimulatedBody
from propulsion_ros.models.common.atmosphere import temperature_and_pressure
from propulsion_ros.models.common.noise import TickNoise
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import unknown_names
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.timing.stepping import FixedStepRunner, Grid, Ticks, ticks_per
from propulsion_ros.urdf.reader import joints_of_urdf, mass_from_urdf

_OLDEST_PYRO_NS = 200_000_000
"""A firing of a deployer that is older is refused [ns]."""
_POLL = 0.05
"""Time between two checks of the graph by a vehicle that waits [s]."""
_SETTLING = 0.3
"""Wall time from a complete graph to the first step [s]."""
_RECORDER_SETTLING = 2.0
"""The same with a recorder, which misses messages of nodes that have not discovered it yet [s]."""
_TWO_SIMULATIONS = (
    'stop the other simulation, or give one of them another clock topic or ROS_DOMAIN_ID'
)
_PATIENCE_NS = 5_000_000_000
"""Time between two log lines on what the first step waits for [ns]."""
_YEAR_NS = 31_557_600_000_000_000
"""A stamp that is later by more is one of wall time: no simulation takes so long [ns]."""
_OTHER_CLOCK = "; is that of its command another clock's? Copy the stamp of the odometry"
_SLOW = 2.0
"""Wall time that a simulation may be behind its pace before it is reported [s]."""
_MOST_SKIPPED = 10
"""Steps in a row that a controller may leave without a reply until they are repeated."""
_CLIMB = 30.0
"""A parachute that fires at a larger upward speed is logged as a warning [m/s]."""
_HOP = 0.1  # a touchdown after a shorter time in the air is not reported [s]
_STANDSTILL = 1e-9  # a smaller speed is a rounding error [m/s]


class VehicleLoop:
    """Moves a rigid body by the wrenches of its actuators, in lockstep with them.

    It publishes odometry and clock of step k, then waits for the wrench stamped k of every topic;
    that wrench acts from k to k + 1. An actuator that is paused counts as no force after
    ``lockstep_timeout``, until it publishes again. Raises `ConfigError` for a robot description
    that is missing, or gives no body that can be moved.
    """

    def __init__(self, params: VehicleParams, host: Host, with_tf: bool = False) -> None:
        self._params, self._host = params, host
        self._frame, dry = _dry_mass(params)
        self._own_joints = joints_of_urdf(params.robot_description)
        self._ticks = Ticks.of_rate(params.update_rate)
        self._body = SimulatedBody(params.body, params.parachutes, dry, params.wrench_topics)
        self._deployers = (params.deployer_topic,) if params.parachutes.names else ()
        self._recorders = (params.recorded_topic,) if params.recorded_topic else ()
        self._knows_deployers = False
        self._noise = TickNoise(np.array([params.noise_seed]))
        self._sampling, lag = self._ticks_per_sample(), params.pressure_lag
        self._lagging = math.exp(-self._ticks.dt / lag) if lag else 0.0
        self._lockstep = Lockstep(
            params.real_time_factor, params.lockstep_timeout, params.start_timeout,
            _RECORDER_SETTLING if params.recorder else _SETTLING,
        )
        self._replies = Replies(params.wrench_topics, params.tank_topics)
        self._runner = self._make_runner()
        self._joints: dict[str, float] = {}
        self._tick = self._airborne = 0
        self._touchdown = self._repeat = ''
        self._is_out = False
        self._patient_ns = 0
        self._open(with_tf and params.publish_tf)

    def _make_runner(self) -> FixedStepRunner:
        params = self._params
        sources = (
            *self._recorders, *self._deployers, *params.tank_topics, *params.wrench_topics
        )
        return FixedStepRunner(
            Grid(self._ticks, wait_for=sources), sources, self._apply, self._step,
            # A parachute pulls some time after its pyro fires, so a step waits for older firings.
            delays_ns=dict.fromkeys(self._deployers, self._body.parachutes.delay_ns),
        )

    def _ticks_per_sample(self) -> int:
        """Return how many steps make a sample of the pressure, or raise `ConfigError`."""
        own, delay_ns = self._params.update_rate, self._body.parachutes.delay_ns
        rate = self._params.pressure_rate or own
        ticks = ticks_per('pressure_rate', own, rate)
        # A step waits for the flight computer's decision on samples of one delay before it.
        if self._deployers and ticks > 1 and self._ticks.stamp(ticks) > delay_ns - PERIOD_NS:
            raise ConfigError('pressure_rate', (
                f'{rate:g} Hz is too slow for a parachutes.deployment_delay of '
                f'{delay_ns * 1e-9:g} s, expected a period and {PERIOD_NS * 1e-9:g} s within it'
            ))
        return ticks

    def _open(self, with_tf: bool) -> None:
        outlet = functools.partial(Outlet, overridable=False)
        world, frame = self._params.world_frame, self._frame
        self._clock = outlet('/clock', Kind.CLOCK, 'clock', lossless=True)
        self._odometry = outlet('~/odometry', Kind.ODOMETRY, 'lockstep', world)
        self._imu = outlet('~/imu', Kind.IMU, 'lockstep', frame)
        self._pressure = outlet('~/pressure', Kind.PRESSURE, 'lockstep', frame)
        self._inertia = outlet('~/inertia', Kind.INERTIA, 'latched', frame, lossless=True)
        self._merged = outlet('~/joint_states', Kind.JOINTS, 'lockstep')
        has_current = bool(np.any(self._params.body.current))
        self._current = outlet('~/current', Kind.TWIST, 'lockstep', world) if has_current else None
        self._tf = outlet('tf', Kind.TF, 'tf', world) if with_tf else None
        self._awaited = {
            'clock': self._clock, 'odometry': self._odometry, 'imu': self._imu,
            'pressure': self._pressure,
        }
        more = [outlet for outlet in (self._current, self._tf) if outlet is not None]
        self.outlets = (*self._awaited.values(), self._inertia, self._merged, *more)
        self.requests: Sequence[Request] = ()
        # The timer keeps the pace and checks the graph.
        pace = self._params.real_time_factor * self._params.update_rate
        self.timers = (Timer(min(1.0 / pace, _POLL) if pace else _POLL, self._check_time),)
        self.ports = tuple(self._open_ports())

    def _open_ports(self) -> Iterator[Port]:
        port, bind = functools.partial(Port, overridable=False), functools.partial
        for topic in self._params.wrench_topics:
            yield port(topic, Kind.WRENCH, bind(self._take_wrench, topic), 'lockstep')
        for topic in self._params.tank_topics:
            yield port(topic, Kind.INERTIA, bind(self._take_tank, topic), 'lockstep')
        for topic in self._params.state_topics:
            yield port(topic, Kind.JOINTS, self._take_state, 'state')
        for topic in self._deployers:
            yield port(topic, Kind.JOINTS, self._take_deployers, 'lockstep')
        for topic in self._recorders:
            yield port(topic, Kind.CLOCK, bind(self._take_recorded, topic), 'lockstep')

    # Called by the host.

    def start(self) -> None:
        """Return to the start and wait for the actuators."""
        self._body.reset()
        self._static = self._air_pressure()
        self._runner.restart()
        self._replies.restart()
        self._joints.clear()
        self._tick = self._airborne = 0
        self._touchdown = ''
        self._is_out = False
        self._patient_ns = self._host.steady_ns()
        self._lockstep.restart(self._patient_ns)
        self._host.log('info', f'active, waits for {", ".join(self._params.awaited_topics)}')

    def stop(self) -> None:
        """Publish nothing more: a clock that stands still needs no last message."""

    def health(self) -> Iterator[Health]:
        """Yield the simulated time and what was refused."""
        counts, absent = self._host.counts, ', '.join(self._replies.left_out)
        values = {
            'time': f'{self.time_ns * 1e-9:.3f}',
            'refused': counts['refused'],
            'out_of_step': counts['out_of_step'],
            'late': self._runner.counts['late'],
        }
        if self._touchdown:
            values['touchdown'] = self._touchdown
        if absent:
            yield 'body', WARN, f'goes on without {absent}', values
        else:
            yield 'body', OK, 'ok', values

    # Inputs.

    def _take_wrench(self, topic: str, message: Any) -> None:
        wrench, stamp_ns = msg_to_wrench(message), stamp_to_ns(message.header.stamp)
        if not all(map(math.isfinite, wrench.tolist())):
            self._refuse(f'{topic}: the wrench is not finite')
        elif not self._body.can_follow(wrench, self._ticks.dt):
            most = float(np.max(np.abs(wrench)))
            self._refuse(
                f'{topic}: the wrench is too large, expected one that the body can follow in '
                f'steps of {self._ticks.dt:g} s, got up to {most:g} N or N m'
            )
        elif self._is_last(topic, stamp_ns, wrench):
            # Its actuator has replied to that step already.
            self._replies.end(topic)
        elif self._is_expected(topic, message.header):
            self._runner.push(topic, stamp_ns, wrench)

    def _take_tank(self, topic: str, message: Any) -> None:
        tank = MassProperties(*msg_to_inertia(message))
        if not tank.is_possible:
            self._refuse(f'{topic}: {tank.mass} kg with this inertia is no mass')
        elif self._is_expected(topic, message.header):
            self._runner.push(topic, stamp_to_ns(message.header.stamp), tank)

    def _is_last(self, topic: str, stamp_ns: int, wrench: FloatArray) -> bool:
        """Return whether a wrench is the 0 of an actuator that stops, after its reply."""
        if wrench.any() or topic in self._replies.left_out:
            return False
        is_before = stamp_ns == self._ticks.stamp(self._tick - 1)
        return is_before or self._replies.has_sent(topic, stamp_ns)

    def _is_expected(self, topic: str, header: Any) -> bool:
        """Whether a message is in the body's frame and of the step that waits for it."""
        if header.frame_id != self._frame:
            self._refuse(f'{topic}: expected the frame {self._frame!r}, got {header.frame_id!r}')
            return False
        stamp_ns = stamp_to_ns(header.stamp)
        self._replies.note(topic, stamp_ns)
        if self._replies.is_back(topic, stamp_ns, self.time_ns):
            self._host.log('info', f'{topic}: publishes again, so each step waits for it')
        elif stamp_ns != self.time_ns:
            self._host.complain(
                'out_of_step', f'{topic}: expected the stamp {self.time_ns * 1e-9:.3f} s, '
                f'got {stamp_ns * 1e-9:.3f} s' + _OTHER_CLOCK * (stamp_ns - self.time_ns > _YEAR_NS)
            )
        return stamp_ns == self.time_ns

    def _compare_names(self, deployers: Collection[str]) -> None:
        """Warn of parachutes without a deployer, if there are deployers without a parachute."""
        names, topic = self._body.parachutes.names, self._params.deployer_topic
        if set(deployers) - set(names):
            for name, why in unknown_names(names, deployers, topic):
                self._host.log('warn', f'parachutes.names: {name!r} never opens: {why}')

    def _take_deployers(self, message: Any) -> None:
        if not self._knows_deployers:
            self._knows_deployers = True
            self._compare_names(message.name)
        fired = [name for name in fired_by(message) if name in self._body.parachutes.names]
        stamp_ns = stamp_to_ns(message.header.stamp)
        if self._replies.is_back(self._params.deployer_topic, stamp_ns, self.time_ns):
            self._host.log('info', f'{self._params.deployer_topic}: publishes again')
        if fired and self.time_ns - stamp_ns > _OLDEST_PYRO_NS:
            names = ', '.join(fired)
            self._refuse(f'deployers {names}: stamped {stamp_ns * 1e-9:.3f} s, too old to fire')
            fired = []
        self._runner.push(self._params.deployer_topic, stamp_ns, (stamp_ns, fired))

    def _take_recorded(self, topic: str, message: Any) -> None:
        stamp_ns = stamp_to_ns(message.clock)
        if self._replies.is_back(topic, stamp_ns, self.time_ns):
            self._host.log('info', f'{topic}: publishes again, so each step waits for it')
        self._runner.push(topic, stamp_ns, None)

    def _take_state(self, message: Any) -> None:
        for name, position in zip(message.name, message.position, strict=False):
            if name in self._own_joints and np.isfinite(position):
                self._joints[name] = position

    def _refuse(self, line: str) -> None:
        self._host.complain('refused', line)

    # Steps.

    @property
    def time_ns(self) -> int:
        """Simulated time [ns]."""
        return self._ticks.stamp(self._tick)

    def _apply(self, source: str, stamp_ns: int, payload: Any) -> None:
        if source in self._params.wrench_topics:
            self._body.push(source, payload)
        elif source in self._params.tank_topics:
            self._body.weigh(source, payload)
        else:
            fired_ns, names = payload
            for name in names:
                if self._body.parachutes.fire(name, fired_ns):
                    motion, times = self._body.motion, (fired_ns * 1e-9, self.time_ns * 1e-9)
                    climb = motion.velocity_world[2]
                    self._host.log('warn' if climb > _CLIMB else 'info', (
                        '{} was fired at {:.3f} s; at {:.3f} s {:.4g} m up, {:+.3g} m/s'
                    ).format(name, *times, motion.position[2], climb))

    def _step(self, tick: int, stamp_ns: int) -> None:
        was_on_rail = self._body.rigid.on_rail
        try:
            self._body.step(stamp_ns, self._ticks.dt)
        except FloatingPointError as error:
            self._fail(f'stopped at {stamp_ns * 1e-9:.3f} s: {error}')
            return
        self._tick, air = tick + 1, self._air_pressure()
        self._static = air + self._lagging * (self._static - air)
        if was_on_rail and not self._body.rigid.on_rail:
            speed = float(np.linalg.norm(self._body.motion.velocity))
            self._host.log(
                'info', f'leaves the rail at {self.time_ns * 1e-9:.3f} s with {speed:.3g} m/s'
            )
        self._note_touchdown()
        self._note_surface()
        self._lockstep.complete(self._host.steady_ns())
        if self._lockstep.skipped and self._params.wait_for_publishers:
            self._host.counts['skipped'] += 1
        if self._params.duration and self.time_ns >= round(self._params.duration * 1e9):
            self._publish()
            self._host.log('info', f'has run for {self.time_ns * 1e-9:.3f} s, its duration')
            self._host.finish()
        elif self._lockstep.skipped >= _MOST_SKIPPED and self._params.wait_for_publishers:
            self._fail(
                f'stopped at {self.time_ns * 1e-9:.3f} s: {_MOST_SKIPPED} steps in a row had their '
                'replies only when they were published again; a controller must reply to each '
                f'odometry on {", ".join(self._params.wait_for_publishers)}, with its stamp'
            )
        else:
            self._announce()

    def _note_touchdown(self) -> None:
        """Report how fast the body came to the ground in the last step."""
        velocity, airborne = self._body.rigid.touchdown, self._airborne
        self._airborne = 0 if self._body.rigid.on_ground else airborne + 1
        if velocity is None or airborne * self._ticks.dt < _HOP:
            return
        down, along = -velocity[2], float(np.hypot(velocity[0], velocity[1]))
        along = along if along > _STANDSTILL else 0.0
        self._touchdown = f'{down:.3g} m/s down, {along:.3g} m/s along the ground'
        self._host.log('info', f'touchdown at {self.time_ns * 1e-9:.3f} s: {self._touchdown}')

    def _note_surface(self) -> None:
        """Report once that a body which displaces water has come out of it."""
        fluid = self._params.body
        if self._is_out or not fluid.displaced_volume or fluid.fluid_density < LIQUID:
            return
        height = float(self._body.motion.position[2]) - fluid.water_level
        self._is_out = height > fluid.displaced_volume ** (1.0 / 3.0)
        if self._is_out:
            self._host.log('warn', (
                f'at {self.time_ns * 1e-9:.3f} s it is {height:.3g} m above water_level, and '
                'buoyant as below it: without body.hulls the water has no surface'
            ))

    def _announce(self) -> None:
        """Publish the present step if it is due."""
        if self._lockstep.try_announce(self._host.steady_ns(), self.time_ns):
            self._publish()
            if not self._replies.is_empty:
                self._fill()

    def _fill(self) -> None:
        """Reply to the present step for the sources that are left out."""
        stamp_ns = self.time_ns
        for source in tuple(self._replies.left_out):
            is_wrench = source in self._params.wrench_topics
            # None only lets time pass: a tank keeps its mass, and nothing is fired.
            self._runner.push(source, stamp_ns, np.zeros(6) if is_wrench else None)

    def _check_time(self) -> None:
        """Do what is due by wall time."""
        now_ns, lockstep = self._host.steady_ns(), self._lockstep
        if not lockstep.has_begun:
            self._check_start(now_ns)
        if lockstep.has_begun:
            # Another simulation may have begun at the same moment.
            if lockstep.try_look(now_ns) and self._has_rival():
                self._give_up()
                return
            self._announce()
            if self._replies.is_empty and not lockstep.is_pending:
                # All sources are left out, so no message triggers a step.
                self._fill()
        if lockstep.is_overdue(now_ns):
            self._go_on_without(now_ns)
        elif lockstep.try_repeat(now_ns):
            silent = self._runner.sources_behind(self.time_ns)
            if self._commands_of(silent):
                # Each has a stamp of its own, which would make it a new line.
                self._repeat = self._repeat or self._describe_silence()
                self._host.complain('repeated', (
                    f'{self._repeat}; published again, as on a busy machine; others are not logged'
                ))
            self._publish()
        elif lockstep.lag(now_ns, self.time_ns) > _SLOW:
            self._host.complain('slow', (
                f'runs at less than real_time_factor {self._params.real_time_factor:g}: a '
                'controller or an actuator is too slow to reply to each odometry in time'
            ))

    def _check_start(self, now_ns: int) -> None:
        """Begin when the graph is complete; until then log now and then what is missing."""
        missing = self._missing()
        if self._lockstep.try_begin(now_ns, not missing):
            self._host.log('info', 'running')
        elif missing and now_ns - self._patient_ns > _PATIENCE_NS:
            self._patient_ns = now_ns
            self._host.log('info', f'waits: {missing}')

    def _go_on_without(self, now_ns: int) -> None:
        """Leave out the sources that have not replied to the present step, or stop."""
        silent = self._runner.sources_behind(self.time_ns)
        can_go_on = self._lockstep.has_begun and not self._has_rival() and (
            self._replies.can_leave_out(silent, self._has_publisher)
        )
        if not can_go_on or not silent:
            self._give_up()
            return
        for source in silent:
            self._host.log('warn', (
                f'{source}: nothing stamped {self.time_ns * 1e-9:.3f} s within '
                f'{self._params.lockstep_timeout:g} s, {self._effect_without(source)} until it '
                'publishes again'
            ))
        self._replies.leave_out(silent)
        self._lockstep.wait_anew(now_ns)
        self._fill()

    def _effect_without(self, source: str) -> str:
        if source in self._params.wrench_topics:
            return 'so it counts as no force'
        if source in self._recorders:
            return 'so what is recorded may lack steps'
        return 'so nothing is fired' if source in self._deployers else 'so it keeps its mass'

    def _has_publisher(self, topic: str) -> bool:
        return self._host.publishers_of(topic) > 0

    def _has_rival(self) -> bool:
        """Whether another node publishes /clock too."""
        return self._host.publishers_of(self._clock.topic) > 1

    def _missing(self) -> str:
        """Return what is missing in the graph before the first step, '' if it is complete."""
        if self._has_rival():
            clock = self._host.resolve_topic_name(self._clock.topic)
            return f'{clock} has another publisher; {_TWO_SIMULATIONS}'
        params, left_out = self._params, self._replies.left_out
        awaited = (
            *params.wait_for_publishers, *params.awaited_topics, *self._deployers, *self._recorders
        )
        for topic in awaited:
            if topic not in left_out and not self._has_publisher(topic):
                return f'no publisher of {topic}'
        for topic in self._params.wait_for_subscribers:
            if not self._host.subscriptions_to(self._awaited[topic]):
                return f'no subscription to {topic}'
        receivers = self._host.receivers_of(self._imu) if params.observer else ()
        if params.observer not in ('', *(name.rpartition('/')[2] for name in receivers)):
            return f'no subscription of {params.observer} to imu'
        missed = self._host.topics_without(params.recorder) if params.recorder else ()
        for topic in missed:
            # What paces the steps is published beside the recorder, and not recorded.
            if topic != params.recorded_topic:
                return f'{params.recorder} does not record {topic} yet'
        return ''

    def _give_up(self) -> None:
        """Stop, since the wait for replies or for a complete graph has timed out."""
        params, has_begun = self._params, self._lockstep.has_begun
        if self._has_rival():
            self._fail(f'stopped: {self._missing()}')
            return
        missing = self._missing() or (
            self._describe_silence() if has_begun
            else 'the graph was not complete for long enough'
        )
        limit = params.lockstep_timeout if has_begun else params.start_timeout
        what, colon, remedy = missing.partition('; ')
        self._fail(
            f'stopped: {what} within {limit or params.lockstep_timeout:g} s{colon}{remedy}'
        )

    def _describe_silence(self) -> str:
        """Return which sources have not replied to the present step, and the likely reason."""
        silent = self._runner.sources_behind(self.time_ns)
        text = f'nothing stamped {self.time_ns * 1e-9:.3f} s from {", ".join(silent)}'
        for source in silent:
            period_ns = self._replies.period_ns(source) or 0
            if period_ns > 0 and abs(period_ns * 1e-9 / self._ticks.dt - 1.0) > 1e-3:
                return (
                    f'{text}, which publishes at {1e9 / period_ns:g} Hz where this body steps at '
                    f'{self._params.update_rate:g} Hz; give both the same update_rate'
                )
        if self._host.counts['refused']:
            text += '; messages of it were refused, see above'
        elif controllers := ', '.join(self._commands_of(silent)):
            text += f'; a controller must reply to each odometry on {controllers}, with its stamp'
        return text

    def _commands_of(self, silent: Sequence[str]) -> list[str]:
        """Return topics of a controller without whose commands these sources do not reply."""
        nodes = [source.strip('/').rpartition('/')[0] for source in silent]
        own = tuple(f'{node}{end}' for node in nodes for end in ('/', '_allocator/'))
        return [
            topic for topic in self._params.wait_for_publishers if topic.startswith(own)
        ]

    def _fail(self, line: str) -> None:
        self._host.log('error', line)
        self._host.deactivate()

    # Outputs.

    def _publish(self) -> None:
        """Publish everything of the present step; what replies to it, the odometry, comes last."""
        def publish(outlet: Outlet, payload: Any) -> None:
            self._host.publish(outlet, stamp_ns, payload)

        stamp_ns, motion, mass = self.time_ns, self._body.motion, self._body.mass
        publish(self._clock, None)
        if self._tick % self._sampling == 0:
            noise = self._params.pressure_noise
            measured = self._static + noise * self._noise.at(self._tick)[0]
            publish(self._pressure, PressureRow(float(measured), noise**2))
        publish(self._imu, ImuRow(
            self._body.rigid.specific_force.tolist(), motion.angular_velocity.tolist()
        ))
        if self._current is not None:
            publish(self._current, self._params.body.current)
        publish(self._inertia, MassRow(mass.mass, mass.com, mass.inertia))
        if self._joints:
            publish(self._merged, JointRow(
                position=list(self._joints.values()), names=list(self._joints)
            ))
        pose = OdometryRow(
            self._frame, motion.position.tolist(), motion.quaternion.tolist(),
            motion.velocity.tolist(), motion.angular_velocity.tolist(),
        )
        publish(self._odometry, pose)
        if self._tf is not None and self._host.subscriptions_to(self._tf):
            publish(self._tf, pose)

    def _air_pressure(self) -> float:
        body, height = self._params.body, float(self._body.motion.position[2])
        return float(temperature_and_pressure(
            body.site_altitude + height, body.temperature_offset
        )[1])


def _dry_mass(params: VehicleParams) -> tuple[str, MassProperties]:
    """Return the frame and the mass of the links of a robot."""
    if not params.robot_description:
        raise ConfigError('robot_description', 'is required: it gives mass and inertia')
    frame, dry = mass_from_urdf(params.robot_description, params.base_link)
    dry.require_solid('robot_description')
    return frame, dry
