# SPDX-License-Identifier: Apache-2.0
"""Flown logs through the node over the network and through the logic alone: the same answer."""
from __future__ import annotations

import math

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PointStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from flight_flags import newest_flags
from parts import few_of
from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.messages import qos
from propulsion_ros.messages.fields import doubles
from propulsion_ros.nodes.flight_state_node import FlightStateNode
from propulsion_ros.replay.flight_log import fly, read_flight_log
from ros_graph import stamped

LOGS = [
    'andromeda_2022', 'astra_upv_2022', 'bella_lui_2020', 'camoes_2023', 'cavour_2023',
    'erebus11_2022', 'genesis_2023', 'halcyon_2023', 'hedy_2025_baro', 'hedy_2025_ekf',
    'juno3_2023', 'lince_2023', 'ndrt_2020', 'prometheus_2022_telemega',
    'prometheus_2022_telemetrum',
]
pytestmark = pytest.mark.part('flights')
BLOCK = 50  # samples on their way at a time, fewer than the queues hold
AFTER = 0.5  # of the log that is fed after the decision [s]


def fly_log(path):
    """Return the samples that a node is sent, and what the flight logic says to each."""
    # An odometry holds no acceleration.
    samples = [row._replace(acceleration=math.nan) for row in read_flight_log(path)]
    reports = []
    for report in fly(samples, ApogeeParams()):
        reports.append(report)
        if report.apogee and report.stamp_ns > report.apogee.stamp_ns + AFTER * 1e9:
            break
    return samples[:len(reports)], reports


def odometry(sample):
    message = stamped(Odometry, sample.stamp_ns)
    message.pose.pose.position.z = sample.altitude
    message.twist.twist.linear.z = sample.velocity
    return message


class Flown:
    """A log sent to a node, sample by sample, none lost."""

    def __init__(self, graph, samples, reports):
        self.graph = graph
        self.node = graph.add(FlightStateNode, 'flight_state', {
            'reliable_inputs': True, 'silence_timeout': 0.0, 'pad_reference': 'zero',
            'use_sim_time': True,
            'required_checks': ['altitude'],
        })
        self.fits = graph.listen(JointState, 'flight_state/fit', qos.COMMAND)
        self.flags = graph.listen(DiagnosticArray, 'flight_state/flags', qos.LATCHED)
        self.apogees = graph.listen(PointStamped, 'flight_state/apogee', qos.LATCHED)
        sensor = graph.talk(Odometry, 'flight_state/odometry', qos.LOCKSTEP)
        graph.connected(self.node, '~/fit')
        sensor.publish(odometry(samples[0]))
        graph.until(
            lambda: graph.call(Trigger, 'flight_state/launch').success, 'the first sample'
        )
        accepted = 0
        for i, (sample, report) in enumerate(zip(samples[1:], reports[1:], strict=True)):
            sensor.publish(odometry(sample))
            accepted += report.stamp.is_accepted
            if i % BLOCK == BLOCK - 1 or i == len(samples) - 2:
                graph.heard('flight_state/fit', accepted)


@pytest.fixture(params=few_of(LOGS, len(LOGS)))
def log(request, flights):
    """Return the path of a flown log."""
    return flights / 'real' / f'{request.param}.csv'


def test_every_flown_log_is_here(flights):
    with_altitude = {
        path.stem for path in (flights / 'real').glob('*.csv')
        if path.open().readline().startswith('time_s,altitude_m')
    }
    assert with_altitude == set(LOGS)


def test_node_and_logic_agree_to_the_last_bit(graph, log):
    samples, reports = fly_log(log)
    flown = Flown(graph, samples, reports)
    accepted = [report for report in reports[1:] if report.stamp.is_accepted]
    assert len(flown.fits) == len(accepted)
    for message, report in zip(flown.fits, accepted, strict=True):
        estimate = report.estimate
        assert stamp_to_ns(message.header.stamp) == report.stamp_ns
        # As bytes, since NaN does not equal NaN.
        assert message.position[:3].tobytes() == doubles(
            [estimate.altitude, estimate.velocity, estimate.acceleration]
        ).tobytes()
    flags = newest_flags(graph, flown.node, flown.flags)
    last = reports[-1]
    if last.apogee is None:
        assert (flags['apogee'], flags['reason'], flags['sigma']) == ('', '', '')
        assert not flown.apogees
        return
    decided = next(report for report in reports if report.apogee).estimate
    graph.heard('flight_state/apogee')
    assert flags['apogee'] == f'{last.apogee.stamp_ns * 1e-9:.9f}'
    assert flags['apogee_source'] == 'detected'
    assert flags['reason'] == decided.reason
    assert [
        (stamp_to_ns(message.header.stamp), message.point.z) for message in flown.apogees
    ] == [(decided.apogee_ns, decided.apogee_altitude)]
