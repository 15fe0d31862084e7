# SPDX-License-Identifier: Apache-2.0
"""What a group with batteries publishes and reports, on a host without ROS."""
import math

import pytest

from fake_host import MS, FakeHost, joints
from propulsion_ros.loops.actuator_loop import LoopParams
from propulsion_ros.loops.actuator_ports import ActuatorPorts
from propulsion_ros.loops.payloads import BatteryRow
from propulsion_ros.loops.ports import OK, WARN
from propulsion_ros.models.rotors.rotors import Rotors, RotorsParams
from propulsion_ros.models.supply.batteries import BatteriesParams
from propulsion_ros.settings.errors import ConfigError


def group(**batteries):
    given = {
        'names': ['main'], 'capacity': 2.0, 'open_circuit_voltage': '0 12 1 16',
        'internal_resistance': 0.05, 'cut_off_voltage': 13.0, **batteries,
    }
    host = FakeHost()
    loop = ActuatorPorts(Rotors(RotorsParams(
        names=['a', 'b'], max_thrust=10.0, motor_constant=1e-5, moment_constant=0.02,
        battery=given['names'][-1], batteries=BatteriesParams(**given),
    )), LoopParams(step_on='stamp'), 'base_link', host)
    return host.run(loop), host


def send(host, ms, thrust=5.0):
    host.deliver('~/command', joints(ms * MS, 'ab', effort=[thrust] * 2))


def topics(loop):
    return [outlet.topic for outlet in loop.outlets if outlet.kind.endswith('BatteryState')]


def test_state_of_the_battery_is_published_with_the_wrench():
    _, host = group()
    for ms in (10, 20, 30):
        send(host, ms)
    rows = host.of('~/battery_state')
    assert [stamp for stamp, _ in rows] == [stamp for stamp, _ in host.of('~/wrench')]
    row = rows[-1][1]
    power = 2.0 * 0.02 * 5.0 * math.sqrt(5.0 / 1e-5)
    assert row.voltage * row.current == pytest.approx(power, rel=1e-9)
    assert row.voltage == pytest.approx(16.0 - 0.05 * row.current, rel=1e-5)
    fields = row.fields
    assert fields['location'] == 'main'
    assert fields['current'] == -row.current < 0.0
    assert fields['charge'] == pytest.approx(2.0 * row.charge)
    assert fields['capacity'] == fields['design_capacity'] == 2.0
    assert fields['percentage'] == row.charge < 1.0
    assert math.isnan(fields['temperature'])
    assert (fields['present'], fields['power_supply_status']) == (True, 2)


@pytest.mark.parametrize(('charge', 'status'), [(1.0, 4), (0.5, 3)])
def test_a_battery_at_rest_does_not_discharge(charge, status):
    assert BatteryRow('a', 1.0, 12.0, 0.0, charge).fields['power_supply_status'] == status


def test_several_batteries_have_a_topic_each():
    loop, host = group(names=['left', 'right'])
    assert topics(loop) == ['~/battery_state/left', '~/battery_state/right']
    send(host, 10)
    send(host, 20)
    (_, left), (_, right) = (host.of(topic)[-1] for topic in topics(loop))
    assert left.current == 0.0 < right.current
    assert (left.name, right.name) == ('left', 'right')
    with pytest.raises(ConfigError, match='cannot be part of a topic name'):
        group(names=['no name'])


def test_an_empty_battery_is_a_warning():
    loop, host = group(starting_charge=0.9)
    send(host, 10)
    send(host, 20)
    (_, level, text, values), = loop.health()
    assert (level, text) == (OK, 'ok')
    assert values['main/percentage'] == pytest.approx(0.9, abs=1e-3)
    assert 13.0 < values['main/voltage'] < 15.6
    loop, host = group(starting_charge=0.2)
    send(host, 10)
    send(host, 20)
    (_, level, text, values), = loop.health()
    assert (level, text) == (WARN, 'battery main is empty')
    assert (values['empty'], values['low_voltage']) == (1, 1)
    assert not host.of('~/wrench')[-1][1].any()


def test_reset_charges_and_a_stop_does_not():
    loop, host = group(capacity=0.01)
    for ms in range(10, 3000, 10):
        send(host, ms)
    charge = host.of('~/battery_state')[-1][1].charge
    assert charge < 0.8
    loop.stop()
    loop.start()
    assert loop.family._batteries.state().charge[0] == charge
    loop.reset()
    assert loop.family._batteries.state().charge[0] == 1.0
