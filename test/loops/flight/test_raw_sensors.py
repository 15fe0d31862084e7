# SPDX-License-Identifier: Apache-2.0
"""A flight computer on raw sensors of a flight whose truth is known."""
import numpy as np
import pytest
from flight_computer import CONFIG, Computer, ask, xyz
from rocket_truth import PAD_TIME, SITE, fly, pressure_of, turn
from sensor_msgs.msg import FluidPressure, Imu, MagneticField, NavSatFix

from fake_host import message
from parts import amount
from ros_graph import stamped

START = 1_000_000_000
RATE = amount('flights', 50, 100)
pytestmark = pytest.mark.part('flights')


class Flight:
    """One simulated flight into the sensors of a computer, sample by sample."""

    def __init__(self, is_simulated=True, **settings):
        self.truth = fly(7, 1, rate=float(RATE), duration=13.0)
        rng = np.random.default_rng(8)
        self.stamp_ns = START + np.array(self.truth.stamp_ns)
        samples = len(self.stamp_ns)
        self.rate = self.truth.rate[:, 0] + rng.normal(0.0, 0.005, (samples, 3))
        self.force = self.truth.force[:, 0] + rng.normal(0.0, 0.1, (samples, 3))
        self.pressure = pressure_of(self.truth.position[:, 0, 2]) + rng.normal(0.0, 5.0, samples)
        self.computer = Computer('sensors', is_simulated=is_simulated, **{
            'config_file': CONFIG, 'estimator.site_altitude': SITE[2],
            'flight.max_ascent_time': 30.0, 'required_checks': ['altitude', 'estimator'],
            **settings,
        })

    def send(self, k, imu=True):
        """Deliver the pressure and the inertial sample of one moment."""
        stamp_ns, host = int(self.stamp_ns[k]), self.computer.host
        pressure = float(self.pressure[k])
        host.deliver('~/pressure', message(stamp_ns, fluid_pressure=pressure, variance=0.0))
        if imu:
            host.deliver('~/imu', message(
                stamp_ns, angular_velocity=xyz(*self.rate[k].tolist()),
                linear_acceleration=xyz(*self.force[k].tolist()),
            ))

    def fly(self, end=np.inf, armed=1.0):
        """Launch after a time on the pad [s], and fly until one after liftoff; return self."""
        times = (self.stamp_ns - START) * 1e-9 - PAD_TIME
        for k in range(np.searchsorted(times, end, side='right')):
            if k == armed * RATE:
                self.computer.command('launch')
            self.send(k)
            self.computer.wait(1.0 / RATE)
        return self

    def said(self, key):
        """Return what ~/flags had of something since the launch."""
        rows = [dict(status.values) for (status,) in self.computer.values('~/flags')]
        return {row[key] for row in rows if row['phase'] != 'preflight'}


def test_whole_flight_from_raw_sensors():
    flight = Flight().fly()
    stamp_ns, _ = flight.computer.host.of('~/apogee')[-1]
    highest = int(np.argmax(flight.truth.position[:, 0, 2]))
    assert abs(stamp_ns - flight.stamp_ns[highest]) <= 0.3e9
    assert flight.computer.values('~/phase')[-1] == 'recovery'
    assert 'full' in flight.said('estimator')
    assert {flag for flags in flight.said('flags') for flag in flags.split()} <= {
        'attitude_unknown', 'altitude_unknown', 'velocity_unknown', 'frozen'
    }


def test_odometry_holds_the_truth_within_its_covariance():
    flight = Flight().fly(end=5.0)
    stamp_ns, row = flight.computer.host.of('~/odometry')[-1]
    (k,) = np.flatnonzero(flight.stamp_ns == stamp_ns)
    (outlet,) = [each for each in flight.computer.loop.outlets if each.topic == '~/odometry']
    assert (outlet.frame, row.child_frame) == ('map', 'base_link')
    pose, twist = row.pose_covariance.reshape(6, 6), row.twist_covariance.reshape(6, 6)
    error = np.array(row.position) - flight.truth.position[k, 0]
    assert abs(error[2]) < 4.0 * np.sqrt(pose[2, 2]) < 20.0
    # The twist is in the axes of the body: turned by the estimated attitude it is the truth's.
    world = turn(np.array(row.quaternion), np.array(row.velocity))
    assert abs(world[2] - flight.truth.velocity[k, 0, 2]) < 3.0
    np.testing.assert_allclose(twist, twist.T, rtol=1e-9)
    assert np.linalg.eigvalsh(twist[:3, :3]).min() > 0.0


def test_replay_estimates_what_a_computer_armed_between_two_samples_did():
    live, replayed = Flight().fly(end=0.0, armed=1.5), Flight(replay=True)
    armed_ns, _ = live.computer.host.of('~/requests')[-1]
    ask(replayed.computer, 'launch', armed_ns)
    replayed.fly(end=0.0, armed=np.inf)
    rows, recorded = (flight.computer.values('~/odometry') for flight in (replayed, live))
    assert [row.position for row in rows] == [row.position for row in recorded]


def test_launch_waits_for_the_estimator():
    flight = Flight()
    for k in range(RATE):
        flight.send(k, imu=False)
    text = "'launch' is refused: estimator: attitude_unknown imu_absent"
    assert flight.computer.call('launch') == (False, text)


@pytest.mark.parametrize('is_simulated', [False, True], ids=['robot', 'simulation'])
def test_thousand_hostile_messages_raise_nothing_and_fire_nothing(is_simulated):
    flight = Flight(is_simulated).fly(end=-0.5)
    rng, host = np.random.default_rng(5), flight.computer.host
    wild = lambda: float(rng.choice([  # noqa: E731
        np.nan, np.inf, -np.inf, 1.7e308, -1.7e308, 0.0, 1e30, rng.normal()
    ]))
    now = int(flight.stamp_ns[RATE])
    for k in range(1000):
        stamp_ns = int(now + k * 1_000_000 + rng.integers(-5, 5) * 100_000_000)
        pressure = stamped(FluidPressure, stamp_ns, fluid_pressure=wild(), variance=abs(wild()))
        imu, position, magnetic = (
            stamped(kind, stamp_ns) for kind in (Imu, NavSatFix, MagneticField)
        )
        for vector in (imu.angular_velocity, imu.linear_acceleration, magnetic.magnetic_field):
            vector.x, vector.y, vector.z = wild(), wild(), wild()
        position.latitude, position.longitude, position.altitude = wild(), wild(), wild()
        position.position_covariance = [wild() for _ in range(9)]
        position.status.status = int(rng.integers(-2, 3))
        for topic, sent in (
            ('pressure', pressure), ('imu', imu), ('fix', position), ('magnetic_field', magnetic),
        ):
            host.deliver(f'~/{topic}', sent)
    assert host.is_active
    assert set(flight.computer.values('~/phase')) <= {'preflight', 'launch'}
    assert not any(1.0 in row.effort for row in flight.computer.values('~/deployers'))
