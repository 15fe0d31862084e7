# SPDX-License-Identifier: Apache-2.0
"""Settings of the simulated vehicle, as its node and the checks of files take them."""
from __future__ import annotations

from dataclasses import dataclass

from propulsion_ros.models.body.rigid_body import BodyParams
from propulsion_ros.models.body.simulated_body import ParachutesParams
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.names import is_name
from propulsion_ros.settings.quantity import group, quantity, validate


@dataclass(frozen=True, kw_only=True, eq=False)
class VehicleParams:
    """Parameters of a simulated vehicle."""

    robot_description: str = quantity(
        '', doc='URDF; its links give the dry mass and inertia', kind=str
    )
    base_link: str = quantity('', doc='frame of the body; empty: the root link', kind=str)
    world_frame: str = quantity('odom', doc='ENU frame of the odometry', kind=str)
    publish_tf: bool = quantity(
        True, doc='also publish the pose as TF, where tf2_msgs is installed', kind=bool
    )
    update_rate: float = quantity(
        100.0, 'Hz', doc="steps per second, the actuators' rate of publication", lo=1e-3, hi=1e4,
        usual=(1.0, 1e4),
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
        '', doc='JointState whose efforts, or angles of servos, free the parachutes', kind=str
    )
    wait_for_subscribers: tuple[str, ...] = quantity(
        ('clock',), kind=str, shape=('*',), choices=('clock', 'odometry', 'imu', 'pressure'),
        doc='own topics that must have a subscription before the first step',
    )
    wait_for_publishers: tuple[str, ...] = quantity(
        (), kind=str, shape=('*',),
        doc='topics of others that must have a publisher before the first step, as those of a '
        'controller',
    )
    recorder: str = quantity(
        '', kind=str,
        doc='name of the node that must subscribe to every topic before the first step',
    )
    recorded_topic: str = quantity(
        '', kind=str,
        doc='Clock of what is recorded; each step waits for it',
    )
    observer: str = quantity(
        '', kind=str,
        doc='name of the node whose subscription to ~/imu the first step waits for',
    )
    real_time_factor: float = quantity(
        1.0, doc='simulated over wall time; 0: as fast as the actuators reply', lo=0.0, hi=1e3
    )
    lockstep_timeout: float = quantity(
        10.0, 's', above=0.0, hi=1e6,
        doc='wall time to wait for a missing wrench; then a paused actuator counts as no force, '
        'and a dead graph ends the simulation',
    )
    start_timeout: float = quantity(
        0.0, 's', doc='wall time to wait for a complete graph; 0: as lockstep_timeout', lo=0.0,
        hi=1e6,
    )
    duration: float = quantity(
        0.0, 's', doc='simulated time after which the simulation ends; 0: never', lo=0.0, hi=1e6
    )
    pressure_noise: float = quantity(
        0.0, 'Pa', doc='standard deviation of the pressure', lo=0.0, hi=1e6, usual=(0.0, 1000.0)
    )
    pressure_rate: float = quantity(
        0.0, 'Hz', doc='rate of the pressure, which divides update_rate; 0: each step', lo=0.0,
        hi=1e4,
    )
    pressure_lag: float = quantity(
        0.0, 's', doc='first-order lag of the pressure behind that of the air', lo=0.0, hi=1e3,
        usual=(0.0, 10.0),
    )
    noise_seed: int = quantity(0, doc='seed of the sensor noise', kind=int, lo=0)
    body: BodyParams = group(BodyParams, element='body')
    parachutes: ParachutesParams = group(ParachutesParams, element='parachute')

    def __post_init__(self) -> None:
        validate(self)
        if not self.wrench_topics:
            raise ConfigError('wrench_topics', 'expected at least one topic')
        for key in ('wrench_topics', 'tank_topics', 'state_topics', 'wait_for_publishers'):
            for i, topic in enumerate(getattr(self, key)):
                _check_topic(key, topic, i)
        for key in ('deployer_topic', 'recorded_topic'):
            if topic := getattr(self, key):
                _check_topic(key, topic)
        topics = self.awaited_topics
        for i, topic in enumerate(topics):
            if topic in topics[:i]:
                raise ConfigError('wrench_topics', f'{topic!r} is waited for twice')
        if self.parachutes.names and not self.deployer_topic:
            raise ConfigError(
                'deployer_topic', 'is required with parachutes, such as flight_state/deployers; a '
                "config_file of flight_state in the body's parameter file starts what fires them"
            )

    @property
    def awaited_topics(self) -> tuple[str, ...]:
        """Topics that each step waits for."""
        return (*self.wrench_topics, *self.tank_topics)


def _check_topic(key: str, topic: str, row: int | None = None) -> None:
    if not is_name(topic, before='~/'):
        raise ConfigError(key, f'{topic!r} is no topic name', row)
