# SPDX-License-Identifier: Apache-2.0
"""Flown logs over the network in real time, on a robot: a stall at the apogee, late samples."""
from __future__ import annotations

import time

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from flown_sensors import PAD, flown_logs
from sensor_msgs.msg import FluidPressure
from std_srvs.srv import Trigger

from flight_flags import has_subscribers
from propulsion_ros.graph.share import share_directory
from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.messages import qos
from propulsion_ros.messages.fields import ns_to_stamp
from propulsion_ros.nodes.flight_state_node import FlightStateNode

CONFIG = str(share_directory() / 'config' / 'rocket_flight.jsonc')
pytestmark = [pytest.mark.part('flights'), pytest.mark.slow]
STALL, BEFORE = 0.8, 0.5
END = 2.0


class Robot:
    """A flight computer, and a barometer whose samples arrive when a log had them."""

    def __init__(self, graph, flown):
        self.graph, self.flown = graph, flown
        self.node = graph.add(FlightStateNode, 'flight_state', {
            'config_file': CONFIG, 'altitude_source': 'pressure', 'required_checks': ['altitude'],
        })
        self.events = graph.listen(DiagnosticArray, 'flight_state/events', qos.LATCHED_HISTORY)
        self.baro = graph.talk(FluidPressure, 'flight_state/pressure', qos.SENSOR)
        graph.until(lambda: has_subscribers(self.node, '~/events'), 'the probe to be found')

    def fly(self, stall, latency):
        """Send the log up to some time after a stall, after which all samples are late."""
        flown, graph = self.flown, self.graph
        begin = float(flown.time[0])
        start_ns, started = time.time_ns(), time.monotonic()
        self.epoch_ns = start_ns - round(begin * 1e9)
        launch = begin + PAD - 1.5
        for t, pascal in zip(flown.time.tolist(), flown.pressure.tolist(), strict=True):
            if stall[0] <= t < stall[1]:
                continue
            if t > stall[1] + END:
                return
            arrival = t - begin + (latency if t >= stall[1] else 0.0)
            graph.let_pass(started + arrival - time.monotonic())
            if launch is not None and t > launch:
                assert graph.call(Trigger, 'flight_state/launch').success
                launch = None
            message = FluidPressure(fluid_pressure=pascal)
            message.header.stamp = ns_to_stamp(self.epoch_ns + round(t * 1e9))
            self.baro.publish(message)

    @property
    def fired(self):
        """Return when each event was fired, by the time of the log [s]."""
        return {
            status.name: (stamp_to_ns(m.header.stamp) - self.epoch_ns) * 1e-9
            for m in self.events for status in m.status
        }


@pytest.mark.parametrize('late', [0.15, 0.35])
@pytest.mark.parametrize('name', ['bella_lui_2020', 'ndrt_2020', 'prometheus_2022_telemega'])
def test_drogue_comes_within_a_second_of_the_return_of_late_samples(graph, flights, name, late):
    flown = next(f for f in flown_logs(flights) if f.name == name)
    robot = Robot(graph, flown)
    back = flown.apogee - BEFORE + STALL
    robot.fly((back - STALL, back), late)
    drogue = robot.fired['drogue parachute']
    assert drogue - flown.apogee > -1.0
    assert drogue - back < 1.0 + late
