"""The vehicle that the demos push: a rigid body in lockstep with its actuators."""
from __future__ import annotations

import functools
import re
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from geometry_msgs.msg import InertiaStamped, WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.clock import Clock as RosClock
from rclpy.clock_type import ClockType
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import FluidPressure, Imu, JointState
from std_msgs.msg import Header

from propulsion_ros.loops.decoders import msg_to_inertia, msg_to_wrench, stamp_to_ns
from propulsion_ros.loops.payloads import OdometryRow
from propulsion_ros.loops.ports import OK, Health
from propulsion_ros.messages.fields import inertia_to_msg, ns_to_stamp, odometry_to_transform
from propulsion_ros.models.body.parachutes import Parachutes, ParachutesParams
from propulsion_ros.models.body.rigid_body import BodyMotion, BodyParams, MassProperties, RigidBody
from propulsion_ros.models.common.atmosphere import temperature_and_pressure
from propulsion_ros.models.common.noise import TickNoise
from propulsion_ros.nodes import qos
from propulsion_ros.nodes.base import PropulsionNode
from propulsion_ros.nodes.spin import run
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import build, parameters_of
from propulsion_ros.settings.quantity import FloatArray, group, quantity, validate
from propulsion_ros.timing.stepping import FixedStepRunner, Grid, period_from_rate
from propulsion_ros.urdf.reader import joints_of_urdf, mass_from_urdf

_TOPIC = re.compile(r'[~/]?[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*')
_LARGEST = 1e12
"""No mass, distance or moment of inertia is larger, in SI units."""
_OLDEST_PYRO_NS = 200_000_000
"""A deployer that fired longer ago is not obeyed [ns]."""
_POLL = 0.05
"""How often a waiting vehicle looks at the graph [s]."""
_SETTLE = 0.3
"""From a complete graph to the first step: the other side may know of it a little later [s]."""
_REPEAT = 1.0
"""How often a step is announced again until it is answered [s]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class VehicleNodeParams:
    """What a vehicle node is made from."""

    robot_description: str = quantity(
        '', doc='URDF; its links give the dry mass and inertia', kind=str
    )
    base_link: str = quantity('', doc='frame of the body; empty: the root link', kind=str)
    world_frame: str = quantity('odom', doc='ENU frame of the odometry', kind=str)
    publish_tf: bool = quantity(
        True, doc='also publish the pose as TF, where tf2_msgs is installed', kind=bool
    )
    update_rate: float = quantity(
        100.0, 'Hz', doc="steps per second, the actuators' rate of publication", lo=1e-3, hi=1e4
    )
    wrench_topics: tuple[str, ...] = quantity(
        doc='wrenches that push the body; each step waits for all', kind=str, shape=('*',)
    )
    tank_topics: tuple[str, ...] = quantity(
        (), doc='tanks that weigh on the body; each step waits for all', kind=str, shape=('*',)
    )
    state_topics: tuple[str, ...] = quantity(
        (), doc='actuator states that ~/joint_states joins', kind=str, shape=('*',)
    )
    deployer_topic: str = quantity(
        '', doc='JointState whose efforts free the parachutes', kind=str
    )
    wait_for_subscribers: tuple[str, ...] = quantity(
        ('clock',), kind=str, shape=('*',), choices=('clock', 'odometry', 'imu', 'pressure'),
        doc='own topics that must have a subscription before the first step',
    )
    real_time_factor: float = quantity(
        1.0, doc='simulated over wall time; 0: as fast as the actuators answer', lo=0.0, hi=1e3
    )
    lockstep_timeout: float = quantity(
        10.0, 's', doc='wall time after which a missing wrench stops the vehicle', above=0.0,
        hi=1e6,
    )
    pressure_noise: float = quantity(
        0.0, 'Pa', doc='standard deviation of the pressure', lo=0.0, hi=1e6
    )
    noise_seed: int = quantity(0, doc='seed of the sensor noise', kind=int, lo=0)
    body: BodyParams = group(BodyParams, element='body')
    parachutes: ParachutesParams = group(ParachutesParams, element='parachute')

    def __post_init__(self) -> None:
        validate(self)
        if not self.wrench_topics:
            raise ConfigError('wrench_topics', 'expected at least one topic')
        for key in ('wrench_topics', 'tank_topics', 'state_topics'):
            for i, topic in enumerate(getattr(self, key)):
                if not _TOPIC.fullmatch(topic):
                    raise ConfigError(key, f'{topic!r} is no topic name', i)
        if self.deployer_topic and not _TOPIC.fullmatch(self.deployer_topic):
            raise ConfigError('deployer_topic', f'{self.deployer_topic!r} is no topic name')
        topics = (*self.wrench_topics, *self.tank_topics)
        for i, topic in enumerate(topics):
            if topic in topics[:i]:
                raise ConfigError('wrench_topics', f'{topic!r} is waited for twice')
        if self.parachutes.names and not self.deployer_topic:
            raise ConfigError('deployer_topic', 'is required with parachutes')


class VehicleNode(PropulsionNode):
    """Moves a rigid body by the wrenches of its actuators, one step for each of theirs.

    Odometry and clock of step k go out, then the vehicle waits for the wrench stamped k of
    every topic; that wrench acts from k to k + 1.

    ROS Parameters
    --------------
    Those of `VehicleNodeParams`.

    Publishers
    ----------
    /clock : rosgraph_msgs/Clock
        Simulated time.
    ~/odometry : nav_msgs/Odometry
        Pose of base_link in the world; twist in base_link.
    ~/imu : sensor_msgs/Imu
        Specific force and rate in base_link.
    ~/pressure : sensor_msgs/FluidPressure
        Static pressure of standard air at the altitude.
    ~/inertia : geometry_msgs/InertiaStamped
        Mass of the body with its tanks, centre of mass and inertia in base_link, latched.
    ~/joint_states : sensor_msgs/JointState
        Joint positions of all ``state_topics``.
    tf : tf2_msgs/TFMessage
        The pose of the odometry, with ``publish_tf``.

    Subscribers
    -----------
    wrench_topics : geometry_msgs/WrenchStamped
    tank_topics : geometry_msgs/InertiaStamped
    state_topics, deployer_topic : sensor_msgs/JointState
    """

    def __init__(self, name: str = 'vehicle', **kwargs: Any) -> None:
        super().__init__(name, **kwargs)

    # Configuration.

    def setup(self) -> None:
        """Read the configuration, weigh the robot, open the topics."""
        params = build(VehicleNodeParams, self.declare_rest(parameters_of(VehicleNodeParams)))
        if not params.robot_description:
            raise ConfigError('robot_description', 'is required: it gives mass and inertia')
        self._frame, self._dry = mass_from_urdf(params.robot_description, params.base_link)
        self._own_joints = joints_of_urdf(params.robot_description)
        if not _is_solid(self._dry):
            raise ConfigError(
                'robot_description',
                f'expected links with mass and positive inertia, got {self._dry.mass:g} kg in all',
            )
        self._params = params
        self._period_ns = period_from_rate(params.update_rate)
        self._body = RigidBody(params.body)
        self._parachutes = Parachutes(params.parachutes)
        self._noise = TickNoise(np.array([params.noise_seed]))
        lockstep = (*params.wrench_topics, *params.tank_topics)
        self._deployers = (params.deployer_topic,) if params.parachutes.names else ()
        sources = (*self._deployers, *params.tank_topics, *params.wrench_topics)
        self._runner = FixedStepRunner(
            Grid(self._period_ns, wait_for=sources), sources, self._apply, self._step,
            # A parachute pulls later than its pyro fires, so a step need not wait for the news.
            delays_ns=dict.fromkeys(self._deployers, self._parachutes.delay_ns),
        )
        self._lockstep = lockstep
        self._open()

    def _open(self) -> None:
        params, subscribe = self._params, self.create_subscription
        publish = self.create_lifecycle_publisher
        self._clock_pub = publish(Clock, '/clock', qos.CLOCK)
        self._odometry_pub = publish(Odometry, '~/odometry', qos.LOCKSTEP)
        self._imu_pub = publish(Imu, '~/imu', qos.LOCKSTEP)
        self._pressure_pub = publish(FluidPressure, '~/pressure', qos.LOCKSTEP)
        self._inertia_pub = publish(InertiaStamped, '~/inertia', qos.latched(lose_none=True))
        self._joints_pub = publish(JointState, '~/joint_states', qos.LOCKSTEP)
        self._awaited = {
            'clock': self._clock_pub, 'odometry': self._odometry_pub, 'imu': self._imu_pub,
            'pressure': self._pressure_pub,
        }
        self.entities += [*self._awaited.values(), self._inertia_pub, self._joints_pub]
        self._tf_type = _tf_type() if params.publish_tf else None
        if self._tf_type:
            self._tf_pub = publish(self._tf_type, 'tf', qos.TF)
            self.entities.append(self._tf_pub)
        for topic in params.wrench_topics:
            callback = functools.partial(self._on_wrench, topic)
            self.entities.append(subscribe(WrenchStamped, topic, callback, qos.LOCKSTEP))
        for topic in params.tank_topics:
            tank = functools.partial(self._on_tank, topic)
            self.entities.append(subscribe(InertiaStamped, topic, tank, qos.LOCKSTEP))
        for topic in params.state_topics:
            self.entities.append(subscribe(JointState, topic, self._on_state, qos.STATE))
        for topic in self._deployers:
            self.entities.append(
                subscribe(JointState, topic, self._on_deployers, qos.LOCKSTEP)
            )
        steady = RosClock(clock_type=ClockType.STEADY_TIME)
        pace = params.real_time_factor * params.update_rate
        self._timer = self.create_timer(
            min(1.0 / pace, _POLL) if pace else _POLL, self._on_timer, clock=steady
        )
        self.entities.append(self._timer)

    # Inputs.

    def _on_wrench(self, topic: str, message: WrenchStamped) -> None:
        if not self.is_active:
            return
        wrench = msg_to_wrench(message)
        if not np.all(np.isfinite(wrench)):
            self.complain('refused', f'{topic}: the wrench is not finite')
        elif self._is_last_word(message.header, wrench):
            # It has answered that step already.
            return
        elif self._is_expected(topic, message.header):
            self._runner.push(topic, stamp_to_ns(message.header.stamp), wrench)

    def _on_tank(self, topic: str, message: InertiaStamped) -> None:
        if not self.is_active:
            return
        tank = MassProperties(*msg_to_inertia(message))
        if not _is_mass(tank):
            self.complain('refused', f'{topic}: {tank.mass} kg with this inertia is no mass')
        elif self._is_expected(topic, message.header):
            self._runner.push(topic, stamp_to_ns(message.header.stamp), tank)

    def _is_last_word(self, header: Header, wrench: FloatArray) -> bool:
        """Whether an actuator that stops says so: no force, with the stamp of the step before."""
        return stamp_to_ns(header.stamp) == (self._tick - 1) * self._period_ns and not wrench.any()

    def _is_expected(self, topic: str, header: Header) -> bool:
        """Whether a message is in the body's frame and of the step that waits for it."""
        if header.frame_id != self._frame:
            self.complain(
                'refused', f'{topic}: expected the frame {self._frame!r}, got {header.frame_id!r}'
            )
            return False
        stamp_ns, now_ns = stamp_to_ns(header.stamp), self._tick * self._period_ns
        if stamp_ns != now_ns:
            self.complain(
                'out_of_step',
                f'{topic}: expected the stamp {now_ns * 1e-9:.3f} s, got {stamp_ns * 1e-9:.3f} s',
            )
        return stamp_ns == now_ns

    def _on_deployers(self, message: JointState) -> None:
        if not self.is_active:
            return
        fired = [
            name for name, effort in zip(message.name, message.effort, strict=False)
            if effort > 0.0 and name in self._parachutes.names
        ]
        stamp_ns = stamp_to_ns(message.header.stamp)
        if fired and self._tick * self._period_ns - stamp_ns > _OLDEST_PYRO_NS:
            self.complain(
                'refused',
                f'deployers {", ".join(fired)}: stamped {stamp_ns * 1e-9:.3f} s, too old to fire',
            )
            fired = []
        self._runner.push(
            self._params.deployer_topic, stamp_ns, [(name, stamp_ns) for name in fired]
        )

    def _on_state(self, message: JointState) -> None:
        if not self.is_active:
            return
        for name, position in zip(message.name, message.position, strict=False):
            if name in self._own_joints and np.isfinite(position):
                self._joints[name] = position

    # Steps.

    def started(self) -> None:
        """Return to the start and wait for the actuators."""
        self._body.reset()
        self._parachutes.reset()
        self._runner.restart()
        self._wrenches = {topic: np.zeros(6) for topic in self._params.wrench_topics}
        self._tanks: dict[str, MassProperties] = {}
        self._mass: MassProperties | None = None
        self._joints: dict[str, float] = {}
        self._tick = 0
        self._pending = True
        self._complete_wall: float | None = None
        self._begun = False
        self._start_wall = self._last_wall = self._asked_wall = time.monotonic()
        self._looked_wall = self._start_wall
        self.get_logger().info(f'active, waits for {", ".join(self._lockstep)}')

    def _apply(self, source: str, stamp_ns: int, payload: Any) -> None:
        if source in self._wrenches:
            self._wrenches[source] = payload
        elif source in self._params.tank_topics:
            self._tanks[source] = payload
        else:
            for name, fired_ns in payload:
                self._parachutes.fire(name, fired_ns)

    def _step(self, tick: int, stamp_ns: int) -> None:
        after = MassProperties.total([self._dry, *self._tanks.values()])
        # Tanks are known only after their first message, so the first step burns nothing.
        before = self._mass or after
        wrench: FloatArray = np.sum(list(self._wrenches.values()), axis=0)
        area = self._parachutes.drag_area(stamp_ns)
        drag = (area, self._parachutes.attachment) if area else None
        try:
            self._body.step(wrench, before, after, self._period_ns * 1e-9, drag)
        except FloatingPointError as error:
            self.get_logger().error(f'stopped at {stamp_ns * 1e-9:.3f} s: {error}')
            self.trigger_deactivate()
            return
        self._mass = after
        self._tick = tick + 1
        self._pending = True
        self._publish_if_due()

    def _on_timer(self) -> None:
        if not self.is_active:
            return
        now = time.monotonic()
        if not self._begun:
            self._begin_if_complete(now)
        if self._begun:
            if now - self._looked_wall > _REPEAT:
                # Another simulation may have begun at the same moment.
                self._looked_wall = now
                if self._has_rival():
                    self._give_up()
                    return
            self._publish_if_due()
        waited = now - self._last_wall
        if waited > self._params.lockstep_timeout:
            self._give_up()
        elif self._begun and not self._pending and now - max(
            self._asked_wall, self._last_wall
        ) > _REPEAT:
            # Who has started anew, or did not hear it, can still answer.
            self._asked_wall = now
            self._publish(self._tick)

    def _begin_if_complete(self, now: float) -> None:
        if self._missing():
            self._complete_wall = None
        elif self._complete_wall is None:
            self._complete_wall = now
        elif now - self._complete_wall >= _SETTLE:
            self._begun = True
            self.get_logger().info('running')
            self._start_wall = self._last_wall = self._asked_wall = now

    def _has_rival(self) -> bool:
        """Whether somebody else tells the time too."""
        return self.count_publishers(self._clock_pub.topic_name) > 1

    def _missing(self) -> str:
        """Return what the graph lacks before the first step, '' where it is complete."""
        if self._has_rival():
            clock = self._clock_pub.topic_name
            return f'{clock} has another publisher: remap /clock for one of the simulations'
        for topic in (*self._lockstep, *self._deployers):
            if not self.count_publishers(topic):
                return f'no publisher of {topic}'
        for topic in self._params.wait_for_subscribers:
            if not self._awaited[topic].get_subscription_count():
                return f'no subscription to {topic}'
        return ''

    def _publish_if_due(self) -> None:
        factor = self._params.real_time_factor
        now = time.monotonic()
        elapsed = self._tick * self._period_ns * 1e-9
        if not self._pending or (factor and now - self._start_wall < elapsed / factor):
            return
        self._pending = False
        self._last_wall = now
        self._publish(self._tick)

    def _give_up(self) -> None:
        stamp_ns = self._tick * self._period_ns
        missing = self._missing() or (
            f'nothing stamped {stamp_ns * 1e-9:.3f} s from {self._runner.behind(stamp_ns)}'
            if self._begun else 'the graph was not complete for long enough'
        )
        self.get_logger().error(f'stopped: {missing} within {self._params.lockstep_timeout:g} s')
        self.trigger_deactivate()

    # Outputs.

    def _publish(self, tick: int) -> None:
        stamp = ns_to_stamp(tick * self._period_ns)
        motion = self._body.motion
        self._clock_pub.publish(Clock(clock=stamp))
        self._pressure_pub.publish(self._pressure(stamp, motion, tick))
        self._imu_pub.publish(self._imu(stamp, motion))
        mass = self._mass or self._dry
        self._inertia_pub.publish(inertia_to_msg(
            tick * self._period_ns, self._frame, mass.mass, mass.com, mass.inertia
        ))
        if self._joints:
            self._joints_pub.publish(self._joint_states(stamp))
        odometry = self._odometry(stamp, motion)
        self._odometry_pub.publish(odometry)
        if self._tf_type and self._tf_pub.get_subscription_count():
            self._tf_pub.publish(self._tf_type(transforms=[odometry_to_transform(
                tick * self._period_ns, self._params.world_frame, OdometryRow(
                    self._frame, motion.position.tolist(), motion.quaternion.tolist(), (), (),
                ),
            )]))

    def _odometry(self, stamp: Any, motion: BodyMotion) -> Odometry:
        message = Odometry()
        message.header.stamp, message.header.frame_id = stamp, self._params.world_frame
        message.child_frame_id = self._frame
        pose, twist = message.pose.pose, message.twist.twist
        at, turn = pose.position, pose.orientation
        at.x, at.y, at.z = motion.position.tolist()
        turn.x, turn.y, turn.z, turn.w = motion.quaternion.tolist()
        linear, angular = twist.linear, twist.angular
        linear.x, linear.y, linear.z = motion.velocity_body.tolist()
        angular.x, angular.y, angular.z = motion.angular_velocity.tolist()
        return message

    def _imu(self, stamp: Any, motion: BodyMotion) -> Imu:
        message = Imu()
        message.header.stamp, message.header.frame_id = stamp, self._frame
        force, rate = message.linear_acceleration, message.angular_velocity
        force.x, force.y, force.z = motion.specific_force.tolist()
        rate.x, rate.y, rate.z = motion.angular_velocity.tolist()
        message.orientation_covariance[0] = -1.0
        return message

    def _pressure(self, stamp: Any, motion: BodyMotion, tick: int) -> FluidPressure:
        altitude = self._params.body.site_altitude + motion.position[2]
        _, pressure = temperature_and_pressure(altitude)
        noise = self._params.pressure_noise
        message = FluidPressure()
        message.header.stamp, message.header.frame_id = stamp, self._frame
        message.fluid_pressure = float(pressure + noise * self._noise.at(tick)[0])
        message.variance = noise**2
        return message

    def _joint_states(self, stamp: Any) -> JointState:
        message = JointState()
        message.header.stamp = stamp
        message.name = list(self._joints)
        message.position = list(self._joints.values())
        return message

    def health(self) -> Iterable[Health]:
        """Yield the simulated time and what was refused."""
        yield 'body', OK, 'ok', {
            'time': f'{self._tick * self._period_ns * 1e-9:.3f}',
            'refused': self.counts['refused'],
            'out_of_step': self.counts['out_of_step'],
            'late': self._runner.counts['late'],
        }


def _tf_type() -> Any:
    """Return the message type of TF, None where it is not installed."""
    try:
        # Where nothing reads TF it need not be there.
        from tf2_msgs.msg import TFMessage
    except ImportError:
        return None
    return TFMessage


def _is_mass(part: MassProperties) -> bool:
    """Whether numbers describe some mass, or none: finite, and no negative moment."""
    values = (part.mass, *part.com, *part.inertia.ravel())
    if not (np.abs(values) <= _LARGEST).all() or part.mass < 0.0:
        return False
    moments = np.linalg.eigvalsh(part.inertia)
    return bool(moments[0] >= -1e-9 * max(moments[-1], 0.0))


def _is_solid(part: MassProperties) -> bool:
    """Whether a body can be moved and turned."""
    return _is_mass(part) and part.mass > 0.0 and bool(np.linalg.eigvalsh(part.inertia)[0] > 0.0)


def main(args: Sequence[str] | None = None) -> None:
    """Run one vehicle node."""
    sys.exit(run(lambda options: [VehicleNode()], args))


if __name__ == '__main__':
    main()
