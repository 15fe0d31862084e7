# SPDX-License-Identifier: Apache-2.0
"""The flight state node on raw sensors of a flight whose truth is known."""
from __future__ import annotations

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PointStamped
from nav_msgs.msg import Odometry
from rocket_truth import PAD_TIME, SITE, fly, pressure_of, turn
from sensor_msgs.msg import FluidPressure, Imu, MagneticField, NavSatFix
from std_msgs.msg import String
from std_srvs.srv import Trigger

from parts import amount, few_of
from propulsion_ros.graph.share import share_directory
from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.messages import qos
from propulsion_ros.messages.fields import ns_to_stamp
from propulsion_ros.nodes.flight_state_node import FlightStateNode
from ros_graph import stamped

CONFIG = str(share_directory() / 'config' / 'rocket_flight.jsonc')
START = 1_000_000_000
RATE = amount('flights', 50, 100)
pytestmark = pytest.mark.part('flights')
IN_SIMULATION_AND_ON_A_ROBOT = pytest.mark.parametrize('is_simulated', few_of([
    pytest.param(False, id='robot'), pytest.param(True, id='simulation'),
], 2))


class Flight:
    """One simulated flight into the node's sensors, sample by sample."""

    def __init__(self, graph, **settings):
        self.graph = graph
        self.truth = fly(7, 1, rate=float(RATE), duration=13.0)
        rng = np.random.default_rng(8)
        samples = len(self.truth.stamp_ns)
        self.rate = self.truth.rate[:, 0] + rng.normal(0.0, 0.005, (samples, 3))
        self.force = self.truth.force[:, 0] + rng.normal(0.0, 0.1, (samples, 3))
        self.pressure = pressure_of(self.truth.position[:, 0, 2]) + rng.normal(0.0, 5.0, samples)
        self.node = graph.add(FlightStateNode, 'flight_state', {
            'config_file': CONFIG, 'altitude_source': 'sensors', 'reliable_inputs': True,
            'silence_timeout': 0.0, 'on_time_clock': 'stamps',
            'estimator.site_altitude': SITE[2], 'flight.max_ascent_time': 30.0,
            # The stamps are those of a simulation, and come faster than time passes.
            'use_sim_time': True, 'required_checks': ['altitude', 'estimator'], **settings,
        })
        self.odometry = graph.listen(Odometry, 'flight_state/odometry', qos.COMMAND)
        self.phases = graph.listen(String, 'flight_state/phase', qos.LATCHED)
        self.flags = graph.listen(DiagnosticArray, 'flight_state/flags', qos.LATCHED)
        self.apogees = graph.listen(PointStamped, 'flight_state/apogee', qos.LATCHED)
        self.imu = graph.talk(Imu, 'flight_state/imu', qos.COMMAND)
        self.baro = graph.talk(FluidPressure, 'flight_state/pressure', qos.COMMAND)
        graph.connected(self.node, '~/odometry')

    def send(self, k, imu=True):
        """Publish the pressure and the inertial sample of one moment."""
        stamp_ns = START + self.truth.stamp_ns[k]
        pressure = float(self.pressure[k])
        self.baro.publish(stamped(FluidPressure, stamp_ns, fluid_pressure=pressure))
        if imu:
            message = stamped(Imu, stamp_ns)
            rate, force = message.angular_velocity, message.linear_acceleration
            rate.x, rate.y, rate.z = self.rate[k].tolist()
            force.x, force.y, force.z = self.force[k].tolist()
            self.imu.publish(message)

    def fly(self, end=None, imu_until=1e9):
        """Launch after a second on the pad, and fly until a time after liftoff."""
        stamps = self.truth.stamp_ns
        for k, stamp in enumerate(stamps):
            t = stamp * 1e-9 - PAD_TIME
            if end is not None and t > end:
                break
            if k == RATE:
                self.graph.until(
                    lambda: self.graph.call(Trigger, 'flight_state/launch').success, 'the launch'
                )
            self.send(k, t < imu_until)
            if k % 20 == 19:
                # No more on the way than the queues hold.
                reached = START + stamp - 200_000_000
                self.graph.until(
                    lambda: self.odometry
                    and stamp_to_ns(self.odometry[-1].header.stamp) >= reached,  # noqa: B023
                    f'an estimate of {t:.2f} s',
                )

    def said(self, key):
        """Return what ~/flags said of something since the launch."""
        said = [{v.key: v.value for v in s.values} for m in self.flags for s in m.status]
        return [values[key] for values in said if values['phase'] != 'preflight']

    @property
    def apogee_time(self):
        """When the truth is highest, in the node's time [s]."""
        k = int(np.argmax(self.truth.position[:, 0, 2]))
        return (START + self.truth.stamp_ns[k]) * 1e-9


def test_whole_flight_from_raw_sensors(graph):
    flight = Flight(graph)
    flight.fly()
    graph.until(lambda: flight.apogees, 'apogee')
    apogee = flight.apogees[-1]
    assert stamp_to_ns(apogee.header.stamp) * 1e-9 == pytest.approx(flight.apogee_time, abs=0.3)
    assert [p.data for p in flight.phases][-1] == 'recovery'
    assert set(flight.said('estimator')) >= {'full'}
    assert {flag for flags in flight.said('flags') for flag in flags.split()} <= {
        'attitude_unknown', 'altitude_unknown', 'velocity_unknown', 'frozen'
    }


def test_odometry_holds_the_truth_within_its_covariance(graph):
    flight = Flight(graph)
    flight.fly(end=5.0)
    truth = {START + ns: k for k, ns in enumerate(flight.truth.stamp_ns)}
    last = flight.odometry[-1]
    k = truth[stamp_to_ns(last.header.stamp)]
    assert (last.header.frame_id, last.child_frame_id) == ('map', 'base_link')
    p, v, q = last.pose.pose.position, last.twist.twist.linear, last.pose.pose.orientation
    pose = np.reshape(last.pose.covariance, (6, 6))
    twist = np.reshape(last.twist.covariance, (6, 6))
    error = np.array([p.x, p.y, p.z]) - flight.truth.position[k, 0]
    assert abs(error[2]) < 4.0 * np.sqrt(pose[2, 2]) < 20.0
    # The twist is in the axes of the body: turned by the estimated attitude it is the truth's.
    world = turn(np.array([q.x, q.y, q.z, q.w]), np.array([v.x, v.y, v.z]))
    assert abs(world[2] - flight.truth.velocity[k, 0, 2]) < 3.0
    np.testing.assert_allclose(twist, twist.T, rtol=1e-9)
    assert np.linalg.eigvalsh(twist[:3, :3]).min() > 0.0


def test_launch_waits_for_the_estimator(graph):
    flight = Flight(graph)
    for k in range(RATE):
        flight.send(k, imu=False)
    graph.until(lambda: len(flight.odometry) > RATE // 2, 'estimates')
    response = graph.call(Trigger, 'flight_state/launch')
    assert not response.success
    text = "'launch' is refused: estimator: attitude_unknown imu_absent"
    assert response.message == text


@pytest.mark.part('floods')
@IN_SIMULATION_AND_ON_A_ROBOT
def test_thousand_hostile_messages_raise_nothing_and_fire_nothing(graph, capfd, is_simulated):
    flight = Flight(graph, use_sim_time=is_simulated)
    fix = graph.talk(NavSatFix, 'flight_state/fix', qos.COMMAND)
    field = graph.talk(MagneticField, 'flight_state/magnetic_field', qos.COMMAND)
    flight.fly(end=-0.5)
    rng = np.random.default_rng(5)
    wild = lambda: float(rng.choice([  # noqa: E731
        np.nan, np.inf, -np.inf, 1.7e308, -1.7e308, 0.0, 1e30, rng.normal()
    ]))
    now = START + flight.truth.stamp_ns[RATE]
    for k in range(amount('floods', 200, 1000)):
        stamp = ns_to_stamp(int(now + k * 1_000_000 + rng.integers(-5, 5) * 100_000_000))
        pressure = FluidPressure(fluid_pressure=wild(), variance=abs(wild()))
        imu, position, magnetic = Imu(), NavSatFix(), MagneticField()
        for vector in (imu.angular_velocity, imu.linear_acceleration, magnetic.magnetic_field):
            vector.x, vector.y, vector.z = wild(), wild(), wild()
        position.latitude, position.longitude, position.altitude = wild(), wild(), wild()
        position.position_covariance = [wild() for _ in range(9)]
        for message, publisher in (
            (pressure, flight.baro), (imu, flight.imu), (position, fix), (magnetic, field),
        ):
            message.header.stamp = stamp
            publisher.publish(message)
        if k % 20 == 19:
            graph.executor.spin_once(timeout_sec=0.0)
            for _ in range(200):
                graph.executor.spin_once(timeout_sec=0.0)
    assert flight.node.is_active
    assert {p.data for p in flight.phases} <= {'preflight', 'launch'}
    assert 'Traceback' not in capfd.readouterr().err
