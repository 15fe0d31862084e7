# SPDX-License-Identifier: Apache-2.0
"""What events move: engines, boosters, valves, servos, pyros; commands to other computers."""
import json
import math
from pathlib import Path

import numpy as np
from flight_computer import CONFIG, Computer

from fake_host import MS, FakeHost, joints
from propulsion_ros.loops.actuator_loop import LoopParams
from propulsion_ros.loops.actuator_ports import ActuatorPorts
from propulsion_ros.models.boosters.boosters import Boosters, BoostersParams

THANOS = str(Path(CONFIG).with_name('thanos_flight.jsonc'))


def rest(t):
    """Return an altitude that is measured, not held."""
    return 1e-4 * (round(t / 0.02) % 2)


def changes(computer, topic, field, name):
    """Return stamp [ms] and value where the value of a row is another one than before."""
    kept = []
    for stamp_ns, row in computer.host.of(topic):
        (outlet,) = [outlet for outlet in computer.loop.outlets if outlet.topic == topic]
        value = getattr(row, field)[(row.names or outlet.names).index(name)]
        if not kept or repr(kept[-1][1]) != repr(value):
            kept.append((stamp_ns // MS, value))
    return kept


def boosters():
    """Return two boosters on a host."""
    host, family = FakeHost(), Boosters(BoostersParams(
        names=['booster_1', 'booster_2'], max_thrust=[1300.0], max_fuel_rate=[1.0],
    ))
    host.run(ActuatorPorts(
        family, LoopParams(step_on='stamp', command_timeout=1.0), 'base_link', host
    ))
    return host


def test_event_lights_both_boosters():
    computer = Computer(is_simulated=True)
    computer.feed(0.0, 0.4, rest)
    computer.command('launch')
    computer.feed(0.4, 0.62, rest)
    computer.command('ignition')
    computer.feed(0.62, 2.0, rest)
    for name in ('engine_1', 'engine_2'):
        assert changes(computer, '~/engines', 'effort', name) == [(0, 0.0), (620, 1.0)]
        assert changes(computer, '~/engines', 'effort', f'{name}/igniter') == [
            (0, 0.0), (620, 1.0), (1120, 0.0),
        ]
    computer.command('abort')
    computer.feed(2.0, 2.2, rest)
    host = boosters()
    (outlet,) = [each for each in computer.loop.outlets if each.topic == '~/booster_command']
    for stamp_ns, row in computer.host.of('~/booster_command'):
        host.deliver('~/command', joints(stamp_ns, row.names or outlet.names, effort=row.effort))
    thrusts = {stamp_ns // MS: wrench[2] for stamp_ns, wrench in host.of('~/wrench')}
    assert thrusts == {**dict.fromkeys(range(620, 2000, 10), 2600.0), 2000: 0.0}


def test_recovery_sounds_the_beacon_turns_the_servo_and_shuts_down():
    computer = Computer(config_file=THANOS, is_simulated=True)
    computer.feed(0.0, 0.42, rest)
    computer.command('launch', 'ignition')
    computer.feed(0.42, 0.5, rest)
    computer.command('liftoff_override')
    computer.feed(0.5, 2.72, rest)
    computer.command('apogee_override')
    computer.feed(2.72, 2.9, rest)
    assert computer.values('~/beacon') == [False, False, False, True]
    assert computer.values('~/tune') == ['preflight', 'launch', 'flight', 'recovery']
    assert changes(computer, '~/engines', 'effort', 'engine') == [
        (0, 0.0), (420, 1.0), (2720, 0.0),
    ]
    angles = changes(computer, '~/deployers', 'position', 'camera door')
    np.testing.assert_array_equal(angles, [(0, math.nan), (2720, math.pi / 2)])
    assert changes(computer, '~/deployers', 'effort', 'drogue') == [(0, 0.0), (2720, 1.0)]
    ((_, effort),) = changes(computer, '~/deployers', 'effort', 'camera door')
    assert math.isnan(effort)
    assert computer.flags['apogee_source'] == 'override'


def test_a_controller_throttles_its_engine(tmp_path):
    config = tmp_path / 'flight.jsonc'
    config.write_text(Path(THANOS).read_text().replace('"setpoint": 0', '"setpoint": 50').replace(
        '"type": "Thanos",', '"type": "Thanos", "booster": "booster", "thrust": 100,'
    ))
    computer = Computer(config_file=str(config), is_simulated=True)
    computer.feed(0.0, 0.42, rest)
    computer.command('launch', 'ignition')
    computer.feed(0.42, 0.5, rest)
    computer.command('liftoff_override')
    computer.feed(0.5, 2.0, rest)
    _, throttle = changes(computer, '~/controllers', 'effort', 'drift')[-1]
    assert throttle > 1.0
    assert changes(computer, '~/booster_command', 'effort', 'booster')[-1][1] == throttle


def test_circuits_commands_and_dwell(tmp_path):
    config = tmp_path / 'rml.jsonc'
    config.write_text(json.dumps({
        'Deployers': [{'id': 0, 'name': 'main', 'type': 'local_pyro', 'channel': 2}],
        'Events': [{
            'id': 0, 'cooldown': 0, 'for_ms': 100,
            'condition': {'localPyroChannel': 2, 'continuity': True},
            'action': {
                'type': 'command', 'destination': 17, 'destination_service': 2, 'command_id': 69,
                'command_arg': -3,
            },
        }],
    }))
    computer = Computer(config_file=str(config), is_simulated=True)
    computer.feed(0.0, 0.4, rest)
    computer.command('launch')
    computer.feed(0.4, 0.82, rest)
    assert not computer.fired
    computer.host.deliver('~/continuity', joints(800 * MS, ['main'], position=[1.0]))
    computer.feed(0.82, 1.1, rest)
    assert [list(row) for row in computer.values('~/commands')] == [[17, 2, 69, -3]]
    ((stamp_ns, (status,)),) = computer.host.of('~/events')
    assert (stamp_ns, status.message) == (1000 * MS, 'circuit of pyro 2 is closed for 0.1 s')
