# SPDX-License-Identifier: Apache-2.0
"""The examples, each flown in closed loop with its real nodes; and what a user gets wrong."""
from __future__ import annotations

import argparse
import math
import re
import runpy
import signal
import subprocess
import sys
from contextlib import contextmanager, nullcontext
from pathlib import Path
from time import sleep
from unittest.mock import MagicMock

import pytest
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from nav_msgs.msg import Odometry
from sensor_msgs.msg import FluidPressure
from std_msgs.msg import String

from propulsion_ros.graph.wiring import checked_graph
from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.messages import qos
from propulsion_ros.pictures.bag import signals_of_bag
from propulsion_ros.replay.bags import BagReader
from propulsion_ros.replay.recorder import RECORDED
from propulsion_ros.tools import cli
from propulsion_ros.tools import fly as fly_command
from propulsion_ros.view.robot import robot_in

EXAMPLES = Path(__file__).parents[2] / 'examples'
README = EXAMPLES.parent / 'README.md'
_BLOCK = re.compile(r'```python\n(.*?)```', re.DOTALL)
FLOWN = {
    'hexacopter': ['--allocate', 'rotors', '--wait-for', 'rotors_allocator/wrench_command'],
    'auv': ['--allocate', 'thrusters', '--wait-for', 'thrusters_allocator/wrench_command'],
    'hopper': ['--wait-for', 'boosters/command'],
    'cubesat': ['--allocate', 'jets', '--wait-for', 'jets_allocator/wrench_command'],
    'tiltrotor': ['--allocate', 'rotors', '--wait-for', 'rotors_allocator/wrench_command'],
    'azimuth_boat': ['--allocate', 'thrusters', '--wait-for', 'thrusters_allocator/wrench_command'],
}
"""Options of each example, as its page has them."""


def command(name, *options):
    folder = EXAMPLES / name
    return [
        sys.executable, '-m', 'propulsion_ros.tools.cli', 'fly', str(folder / f'{name}.urdf'),
        '--params-file', str(folder / f'{name}.yaml'), *options,
    ]


@contextmanager
def flying(name, *options):
    """Fly an example in another process, which is killed if it has not ended."""
    process = subprocess.Popen(command(name, *options), stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        _, process.said = process.communicate(timeout=60.0)


def fly(graph, folder, name, duration, *options):
    """Fly an example with its controller; return its odometry and what it logged."""
    settings = folder / 'seen.yaml'
    settings.write_text(
        '/**/vehicle:\n  ros__parameters:\n    wait_for_subscribers: [clock, pressure]\n'
    )
    poses = graph.listen(Odometry, 'vehicle/odometry', qos.LOCKSTEP)
    # No controller subscribes it: once it is connected, the odometry of this test is too.
    graph.listen(FluidPressure, 'vehicle/pressure', qos.LOCKSTEP)
    with flying(
        name, *FLOWN[name], '--controller', str(EXAMPLES / name / 'controller.py'),
        '--params-file', str(settings),
        '--duration', str(duration), '--real-time-factor', '0', *options,
    ) as process:
        end_ns = round(duration * 1e9)
        graph.until(lambda: process.poll() is not None, f'the end of the flight of {name}', 300.0)
    assert process.returncode == 0, process.said
    graph.until(
        lambda: poses and stamp_to_ns(poses[-1].header.stamp) == end_ns, 'the last odometry'
    )
    assert f'has run for {duration:.3f} s, its duration' in process.said
    return poses, process.said


def place(pose):
    p = pose.pose.pose.position
    return p.x, p.y, p.z


@pytest.mark.slow
def test_hexacopter_hovers_and_its_picture_is_drawn(graph, tmp_path):
    pytest.importorskip('matplotlib')
    picture = tmp_path / 'hexacopter.png'
    poses, _ = fly(graph, tmp_path, 'hexacopter', 4.0, '--picture', str(picture))
    x, y, z = place(poses[-1])
    assert z == pytest.approx(2.0, abs=0.05)
    # The wind pushes it a little.
    assert 0.0 < x < 0.1
    assert y == pytest.approx(0.0, abs=1e-3)
    assert picture.read_bytes().startswith(b'\x89PNG')


@pytest.mark.slow
def test_underwater_vehicle_holds_its_depth_while_a_current_carries_it(graph, tmp_path):
    poses, _ = fly(graph, tmp_path, 'auv', 5.0)
    x, y, z = place(poses[-1])
    assert z == pytest.approx(-3.0, abs=0.02)
    assert x > 0.3
    assert y < -0.5


@pytest.mark.slow
def test_cubesat_loses_the_momentum_that_its_pulses_can_take(graph, tmp_path):
    poses, _ = fly(graph, tmp_path, 'cubesat', 5.0)
    rate = poses[-1].twist.twist.angular
    momentum = [0.0333 * abs(rate.x), 0.0333 * abs(rate.y), 0.0067 * abs(rate.z)]
    bits = [2.0 * arm * 0.02 * 0.01 for arm in (0.05, 0.15, 0.05)]
    assert all(left <= bit for left, bit in zip(momentum, bits, strict=True))


@pytest.mark.slow
def test_tiltrotor_flies_at_15_metres_a_second_and_comes_back_to_a_hover(graph, tmp_path):
    poses, _ = fly(graph, tmp_path, 'tiltrotor', 26.0)
    speeds = [pose.twist.twist.linear.x for pose in poses]
    assert max(speeds) == pytest.approx(15.0, abs=0.3)
    tilts = [abs(pose.pose.pose.orientation.y) for pose in poses]
    # The rotors tilt for it, not the body.
    assert max(tilts) < 0.04
    x, y, z = place(poses[-1])
    assert abs(speeds[-1]) < 0.05
    assert x > 120.0
    assert y == pytest.approx(0.0, abs=0.05)
    assert z == pytest.approx(5.0, abs=0.1)


@pytest.mark.slow
def test_boat_holds_its_poses_at_its_waterline_and_turns_on_the_spot(graph, tmp_path):
    poses, _ = fly(graph, tmp_path, 'azimuth_boat', 110.0)
    floats = place(poses[0])[2]

    def at(time):
        pose = next(each for each in poses if stamp_to_ns(each.header.stamp) >= time * 1e9)
        q = pose.pose.pose.orientation
        return *place(pose), math.degrees(2.0 * math.atan2(q.z, q.w))

    for time, (east, north, heading) in {
        5.0: (0.0, 0.0, 0.0), 44.0: (6.0, 4.0, 0.0), 74.0: (6.0, 8.0, 90.0),
        110.0: (6.0, 8.0, -90.0),
    }.items():
        x, y, z, yaw = at(time)
        assert math.hypot(x - east, y - north) < 0.2
        assert math.remainder(yaw - heading, 360.0) == pytest.approx(0.0, abs=2.0)
        assert z == pytest.approx(floats, abs=1e-3)
    spot = [place(each) for each in poses if stamp_to_ns(each.header.stamp) > 75e9]
    assert max(math.hypot(x - 6.0, y - 8.0) for x, y, _ in spot) < 0.4


def test_hopper_takes_off(graph, tmp_path):
    poses, _ = fly(graph, tmp_path, 'hopper', 3.0)
    assert poses[-1].twist.twist.linear.z > 8.0


@pytest.mark.slow
def test_hopper_lands_softly(graph, tmp_path):
    poses, said = fly(graph, tmp_path, 'hopper', 14.0)
    assert max(place(pose)[2] for pose in poses) == pytest.approx(62.0, abs=2.0)
    line = next(line for line in said.splitlines() if 'touchdown at' in line)
    assert float(line.split(': ')[-1].split(' m/s down')[0]) < 0.8


@pytest.mark.parametrize('name', FLOWN)
def test_page_of_an_example_has_the_command_that_is_flown(name):
    text = (EXAMPLES / name / 'README.md').read_text(encoding='utf-8')
    assert ' '.join(FLOWN[name]) in ' '.join(text.replace('\\\n', ' ').split())
    assert f'{name}.png' in text


def test_controllers_are_short():
    for name in FLOWN:
        text = (EXAMPLES / name / 'controller.py').read_text(encoding='utf-8')
        assert 40 <= len(text.splitlines()) <= 90


@pytest.mark.parametrize('namespace', ['', '/a/b/'])
def test_bag_of_a_flight_has_every_command_and_the_robot(tmp_path, capfd, monkeypatch, namespace):
    pytest.importorskip('rosbags')
    # A recorder that looks for new topics so seldom must wait for the controller's.
    monkeypatch.setattr('propulsion_ros.replay.recorder._SEARCH', 1.5)
    bag, script, prefix = tmp_path / 'bag', tmp_path / 'hold.py', namespace.rstrip('/')
    text = _BLOCK.search(README.read_text(encoding='utf-8'))[1]
    script.write_text(text.replace("('hold')", f"('hold', namespace='{prefix}')"), 'utf-8')
    assert cli.main([
        'fly', 'quadrotor', '--wait-for', 'rotors/command', '--controller', str(script),
        '--duration', '0.2', '--real-time-factor', '0', '--record', str(bag),
        '--namespace', namespace,
    ]) == 0
    last = capfd.readouterr().err.splitlines()[-1]
    assert last.startswith('[INFO]')
    assert last.endswith('vehicle]: has ended, so every node stops')
    stamps = {f'{prefix}/rotors/command': set(), f'{prefix}/vehicle/odometry': set()}
    with BagReader(bag) as reader:
        for message in reader.messages(stamps):
            stamp = reader.decode(message).header.stamp
            stamps[message.topic].add(stamp_to_ns(stamp))
    end = 200_000_000
    steps = set(range(0, end, 4_000_000))
    # Nothing waits for the reply to the last step.
    assert [each - {end} for each in stamps.values()] == [steps, steps]
    robot = robot_in(signals_of_bag(bag))
    assert robot.notes == []
    assert {block.name for block in robot.blocks} == {'rotors'}


def test_first_step_waits_for_a_controller_that_no_step_waits_for(tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(EXAMPLES / 'two_stage')
    options = ['--params-file', 'two_stage.yaml', '--controller', 'pilot.py', '--duration', '4']
    pages = []
    monkeypatch.setattr(
        'propulsion_ros.pictures.picture.draw', lambda page, path: pages.append(page))
    options += ['--real-time-factor', '0', '--picture', 'flight.png']
    assert cli.main(['fly', 'two_stage.urdf', *options]) == 0
    assert 'preflight' in {span.name for span in pages[0].phases}
    launched = re.search(r'phase launch at (\S+) s', capfd.readouterr().err)
    assert launched, 'the call came after the end'
    # It is called at 3 s, and no step waits for its response.
    assert float(launched[1]) < 3.5


def test_rocket_without_a_flight_computer_is_named_at_the_end(capfd, monkeypatch):
    """Nothing flew without its --params-file, and nothing was said."""
    monkeypatch.chdir(EXAMPLES / 'two_stage')
    options = ['--controller', 'pilot.py', '--duration', '4', '--real-time-factor', '0']
    assert cli.main(['fly', 'two_stage.urdf', *options]) == 0
    assert (
        'never commanded: all of boosters; no flight_state runs, which a section flight_state of a '
        '--params-file starts\n'
    ) in capfd.readouterr().err


def test_pilot_of_two_stages_ends_with_the_landing(graph):
    phases = graph.talk_later(String, 'flight_state/subphase', qos.LATCHED)
    phases.publish(String(data='descent'))
    process = subprocess.Popen([sys.executable, str(EXAMPLES / 'two_stage' / 'pilot.py')])
    try:
        graph.until(phases.get_subscription_count, 'the pilot')
        assert process.poll() is None
        phases.publish(String(data='landed'))
        graph.until(lambda: process.poll() is not None, 'its end')
        assert process.returncode == 0
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(('phases', 'ends'), [
    ('preflight launch flight recovery descent', False), ('preflight launch landed', True),
    ('preflight launch flight preflight', True),
])
def test_pilot_of_two_stages_ends_where_the_flight_is_stood_down_too(phases, ends):
    """A failed flight went on for ever."""
    pilot = runpy.run_path(str(EXAMPLES / 'two_stage' / 'pilot.py'))['Pilot'](MagicMock())
    for phase in phases.split():
        pilot.look(String(data=phase))
    assert pilot.end.done() is ends


@pytest.mark.slow
@pytest.mark.parametrize('source', ['odometry', 'pressure', 'sensors'])
def test_first_step_waits_for_what_the_flight_computer_reads(tmp_path, capfd, source):
    settings = tmp_path / 'flown.yaml'
    settings.write_text(f'flight_state:\n  ros__parameters:\n    altitude_source: {source}\n')
    options = ['--params-file', str(settings), '--duration', '0.1', '--real-time-factor', '0']
    assert cli.main(['fly', 'rocket', *options]) == 0
    assert 'has run for 0.100 s' in capfd.readouterr().err


# What goes wrong.


def test_paused_actuator_is_flown_without_and_taken_up_again(graph, tmp_path):
    settings = tmp_path / 'patient.yaml'
    settings.write_text(
        '/**/vehicle:\n  ros__parameters:\n    lockstep_timeout: 3.0\n    start_timeout: 60.0\n'
    )
    poses = graph.listen(Odometry, 'vehicle/odometry', qos.LOCKSTEP)
    bag = tmp_path / 'bag'
    with flying('hexacopter', '--params-file', str(settings), '--record', str(bag)) as process:
        graph.until(lambda: len(poses) > 20 or process.poll() is not None, 'steps')

        def change(transition):
            request = ChangeState.Request(transition=Transition(id=transition))
            assert graph.call(ChangeState, 'rotors/change_state', request).success

        change(Transition.TRANSITION_DEACTIVATE)
        paused = len(poses)
        graph.until(lambda: len(poses) > paused + 30, 'steps without the rotors')
        change(Transition.TRANSITION_ACTIVATE)
        resumed = len(poses)
        graph.until(lambda: len(poses) > resumed + 100, 'steps with the rotors')
        assert process.poll() is None
    assert 'so it counts as no force until it publishes again' in process.said
    assert 'rotors/wrench: publishes again, so each step waits for it' in process.said
    assert process.said.endswith('propulsion_ros fly: stopped\n')
    with BagReader(bag) as reader:
        # What was recorded stays where a signal ends the flight.
        assert reader.count_of(['/vehicle/odometry']) > 100


def test_controller_that_fails_ends_the_flight(tmp_path, capfd):
    controller = tmp_path / 'controller.py'
    controller.write_text('raise SystemExit(3)\n')
    code = cli.main([*command('hexacopter')[3:], *FLOWN['hexacopter'], '--controller',
                     str(controller)])
    assert code == 1
    assert f'propulsion_ros fly: {controller} ended with code 3' in capfd.readouterr().err


PLAIN = """
import time

import rclpy
from nav_msgs.msg import Odometry
from rclpy.node import Node
from sensor_msgs.msg import JointState

from propulsion_ros.messages import qos


class Plain(Node):
    def __init__(self):
        super().__init__('plain')
        self.count, self.skipped = 0, set()
        self.commands = self.create_publisher(JointState, 'boosters/command', qos.LOCKSTEP)
        self.create_subscription(Odometry, 'vehicle/odometry', self.reply, qos.LOCKSTEP)

    def reply(self, odometry):
        self.count += 1
        command = JointState(header=odometry.header, name=['engine'], effort=[1000.0])
        {mistake}
        self.commands.publish(command)


rclpy.init()
rclpy.spin(Plain())
"""


def fly_plainly(folder, mistake, *options):
    """Fly with a controller that knows nothing of how a flight ends."""
    controller = folder / 'plain.py'
    controller.write_text(PLAIN.replace('{mistake}', mistake))
    with flying(
        'hopper', *FLOWN['hopper'], '--controller', str(controller), '--duration', '1',
        '--real-time-factor', '0', *options,
    ) as process:
        process.wait(90.0)
    return process


@pytest.mark.parametrize(('mistake', 'code', 'line'), [
    pytest.param('pass', 0, 'never commanded: gimbal_x, gimbal_y', id='plain spin'),
    pytest.param('while self.count == 20: time.sleep(0.1)', 1,
                 'has not returned from here, called from plain', id='endless loop'),
    pytest.param('if self.count == 20: raise ValueError', 1, ': ValueError, called from plain.py:',
                 id='raises', marks=pytest.mark.slow),
    pytest.param('if self.count == 20: raise SystemExit(0)', 1,
                 'plain.py ended before --duration 1 s; does it rclpy.spin?', id='early',
                 marks=pytest.mark.slow),
    pytest.param("if self.count % 20 == 0: command.name = ['engin']", 1,
                 "command refused: unknown name 'engin'", id='refused',
                 marks=pytest.mark.slow),
    pytest.param('if self.count % 20 == 0: return', 1,
                 'a controller must reply to each odometry on boosters/command', id='skips',
                 marks=pytest.mark.slow),
])
def test_what_a_controller_does_wrong_is_one_line_and_a_code(tmp_path, mistake, code, line):
    process = fly_plainly(tmp_path, mistake)
    assert process.returncode == code, process.said
    assert line in process.said
    assert 'Traceback' not in process.said


def test_recording_that_is_slow_lacks_no_step(tmp_path):
    """Hundreds of steps were missing in a bag, and nothing was printed."""
    bag, controller = tmp_path / 'bag', tmp_path / 'plain.py'
    # The queue of many a controller is short.
    controller.write_text(
        PLAIN.replace('{mistake}', 'pass').replace("command', qos.LOCKSTEP", "command', 1")
    )
    with flying(
        'hopper', *FLOWN['hopper'], '--controller', str(controller), '--duration', '4',
        '--real-time-factor', '0', '--record', str(bag),
    ) as process:
        next(line for line in process.stderr if 'running' in line)
        # The nodes and the controller have processes of their own.
        for _ in range(3):
            sleep(0.1)
            process.send_signal(signal.SIGSTOP)
            sleep(0.6)
            process.send_signal(signal.SIGCONT)
        assert process.wait(90.0) == 0
    with BagReader(bag) as reader:
        for topic in ('command', 'state', 'wrench'):
            stamps = {
                stamp_to_ns(reader.decode(message).header.stamp)
                for message in reader.messages([f'/boosters/{topic}'])
            }
            assert stamps >= {10_000_000 * k for k in range(400)}, topic


@pytest.mark.parametrize(('mistake', 'code', 'line'), [
    pytest.param('raise ValueError', 1, '{bag}: what was flown until then\n', id='raises'),
    pytest.param('raise SystemExit(0)', 0, 'plain.py ended at 1.2 s\n', id='ends',
                 marks=pytest.mark.slow),
])
def test_what_was_flown_until_a_controller_ends_is_kept(tmp_path, mistake, code, line):
    """A whole flight was thrown away, as it landed before --duration."""
    bag, picture = tmp_path / 'bag', tmp_path / 'flight.png'
    process = fly_plainly(
        tmp_path, f'if self.count == 121: {mistake}', '--duration', '9', '--record', str(bag),
        '--picture', str(picture),
    )
    assert process.returncode == code
    assert line.format(bag=bag) in process.said
    with BagReader(bag) as reader:
        assert reader.count_of(['/boosters/command']) == 120
    assert picture.is_file()


@pytest.mark.slow
def test_controller_that_ends_without_an_observer_has_flown(tmp_path):
    process = fly_plainly(
        tmp_path, 'if self.count == 121: raise SystemExit(0)', '--duration', '9'
    )
    assert (process.returncode, 'plain.py ended at 1.2 s' in process.said) == (0, True)


def test_killed_flight_leaves_no_process_behind(graph, tmp_path):
    poses = graph.listen(Odometry, 'vehicle/odometry', qos.LOCKSTEP)
    controller = EXAMPLES / 'hopper' / 'controller.py'
    process = subprocess.Popen(
        command('hopper', *FLOWN['hopper'], '--controller', str(controller)),
        stderr=subprocess.DEVNULL,
    )
    try:
        graph.until(lambda: poses or process.poll() is not None, 'a step', 90.0)
        children = Path(f'/proc/{process.pid}/task/{process.pid}/children').read_text().split()
        assert len(children) == 2
    finally:
        process.kill()
        process.wait()
    graph.until(
        lambda: not any(_is_running(child) for child in children), 'the end of all processes'
    )


def _is_running(pid):
    status = Path(f'/proc/{pid}/stat')
    # A zombie waits for its new parent alone.
    return status.exists() and ' Z ' not in status.read_text()


@pytest.mark.parametrize(('robot', 'line'), [
    ('package://propulsion_ros/urdf/none.urdf', f'{README.parent}/urdf/none.urdf: cannot be read'),
    ('package://nowhere/a.urdf', "package 'nowhere' is not installed"),
])
def test_robot_that_is_not_there_is_one_line(capsys, robot, line):
    assert cli.main(['fly', robot]) == 1
    err = capsys.readouterr().err
    assert line in err
    assert err.count('\n') == 1


@pytest.mark.parametrize(('before', 'after', 'counted'), [
    pytest.param('', '', '', id='right'),
    pytest.param('<rotor_constant_left>', '<rotor_constant>1e-4</rotor_constant> '
                 '<rotor_constant_left>', '1 warning', id='constant of another conversion'),
    pytest.param('</max_command>', '</max_command> <rotor_constant>1e-4</rotor_constant> '
                 '<thrust_coefficient>0.1</thrust_coefficient>', '2 warnings', id='two'),
])
def test_what_check_warns_of_is_counted_before_the_flight(
    tmp_path, capsys, monkeypatch, before, after, counted
):
    """A constant that no conversion uses was flown without a word, as were thrusters in air."""
    text = (EXAMPLES / 'thruster_scale' / 'thruster.urdf').read_text(encoding='utf-8')
    (tmp_path / 'robot.urdf').write_text(text.replace(before, after), encoding='utf-8')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr('propulsion_ros.tools.fly._fly', lambda *given: None)
    assert cli.main(['fly', 'robot.urdf']) == 0
    first, *others = capsys.readouterr().err.splitlines()
    assert 'thrusters push in air, without buoyancy: give body.fluid_density' in first
    line = f'propulsion_ros fly: {counted}: propulsion_ros check robot.urdf'
    assert others == ([line] if counted else [])


def test_warnings_of_every_parameter_file_are_counted_once(tmp_path, capsys, monkeypatch):
    """With two files there was no line."""
    text = (EXAMPLES / 'hexacopter' / 'hexacopter.urdf').read_text(encoding='utf-8')
    doubtful = text.replace('<time_constant_down>0.05<', '<time_constant_down>50<', 1)
    (tmp_path / 'robot.urdf').write_text(doubtful, encoding='utf-8')
    for name, key in (('own.yaml', 'command_timeout: 1.0'), ('lag.yaml', 'time_constant_up: [85]')):
        (tmp_path / name).write_text(f'/**/rotors:\n  ros__parameters:\n    {key}\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr('propulsion_ros.tools.fly._fly', lambda *given: None)
    files = ['--params-file', 'own.yaml', '--params-file', 'lag.yaml']
    assert cli.main(['fly', 'robot.urdf', *files]) == 0
    command = ' '.join(['check robot.urdf', *files])
    assert capsys.readouterr().err == f'propulsion_ros fly: 2 warnings: propulsion_ros {command}\n'
    assert cli.main(command.split()) == 0
    assert capsys.readouterr().err.endswith('no faults in 3 files, 2 warnings\n')


@pytest.mark.parametrize(('words', 'topics'), [
    pytest.param(['quadrotor', '--real-time-factor', '0'],
                 'rotors/command, rotors_allocator/wrench_command', id='allocator'),
    pytest.param(['rov', '--real-time-factor', '0'],
                 'thrusters/command, fins/command, thrusters_allocator/wrench_command', id='two'),
    pytest.param(['freeflyer', '--real-time-factor', '0'], 'fam/wrench_command', id='wrench'),
    pytest.param(['hexacopter.urdf', '--params-file', 'fast.yaml'], 'rotors/command', id='file'),
    pytest.param(['hexacopter.urdf', '--real-time-factor', '2'], '', id='can keep up'),
    pytest.param(['hexacopter.urdf', '--real-time-factor', '0', '--wait-for', 'rotors/command'],
                 '', id='waits'),
    pytest.param([str(EXAMPLES / 'two_stage/two_stage.urdf'), '--real-time-factor', '0'],
                 'boosters/command; a flight computer that lights engines is started by a section '
                 'flight_state of a --params-file', id='no flight computer'),
    pytest.param([str(EXAMPLES / 'two_stage/two_stage.urdf'), '--real-time-factor', '0',
                  '--params-file', str(EXAMPLES / 'two_stage/two_stage.yaml')], '',
                 id='commanded by the flight computer'),
])
def test_controller_that_no_step_waits_for_gets_a_line(
    tmp_path, capsys, monkeypatch, words, topics
):
    """The robot fell, and the clock was blamed."""
    robot = (EXAMPLES / 'hexacopter' / 'hexacopter.urdf').read_text(encoding='utf-8')
    (tmp_path / 'hexacopter.urdf').write_text(robot, encoding='utf-8')
    (tmp_path / 'fast.yaml').write_text(
        'vehicle:\n  ros__parameters: {real_time_factor: 0.0}\n'
    )
    (tmp_path / 'c.py').touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr('propulsion_ros.tools.fly._fly', lambda *given: None)
    monkeypatch.setattr('propulsion_ros.tools.fly._note_doubts', lambda *given: None)
    assert cli.main(['fly', *words, '--controller', 'c.py']) == 0
    line = capsys.readouterr().err
    assert line.startswith('propulsion_ros fly: steps do not wait ') == bool(topics)
    assert line.endswith(f': {topics}\n' if topics else '')


def test_blocks_of_a_vehicle_are_allocated_beside_its_own():
    graph = checked_graph(['--vehicle', 'rov', '--allocate', 'fins'], [])
    assert {'thrusters_allocator', 'fins_allocator'} < {spec.name for spec in graph.nodes}


def test_signal_that_ends_the_nodes_first_is_reported_too(capfd, monkeypatch):
    ended = subprocess.CompletedProcess([], 0)
    ended.poll = ended.wait = lambda *limit: 0
    monkeypatch.setattr('propulsion_ros.demos.flight.interrupts', lambda: nullcontext([2]))
    monkeypatch.setattr('propulsion_ros.demos.flight.stack', lambda *args: nullcontext(ended))
    assert cli.main(['fly', str(EXAMPLES / 'hexacopter' / 'hexacopter.urdf')]) == 0
    assert capfd.readouterr().err == 'propulsion_ros fly: stopped\n'


@pytest.mark.parametrize(('files', 'waits'), [
    ({'picture': Path('a.png')}, True), ({'record': Path('bag')}, True), ({}, False),
])
def test_steps_wait_for_a_picture_as_for_a_recording(files, waits):
    options = argparse.Namespace(**{'record': None, 'picture': None, 'controller': 'a', **files},
                                 wait_for=[])
    assert (fly_command._watched(options).get('recorded_topic') == RECORDED) == waits
