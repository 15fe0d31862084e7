# SPDX-License-Identifier: Apache-2.0
"""The system in the server of a real gz-sim, where there is one with Python."""
from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from gazebo_tool import COMMAND
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState

from fake_gz import Hinge
from own_models import ARM, TRICOPTER, VESSEL, OwnModel
from propulsion_ros.graph.share import share_directory
from propulsion_ros.gz.model import gazebo_robot
from propulsion_ros.messages import qos

# Looked for, never imported: two of its interpreters in one process end it.
HAS_PYTHON = find_spec('gz') is not None and any(
    find_spec(name) for name in ('gz.sim', 'gz.sim8', 'gz.sim9')
)

pytestmark = pytest.mark.skipif(
    COMMAND is None or not HAS_PYTHON,
    reason="NOT RUN in a real Gazebo: no 'gz' with its Python here (Harmonic or later)",
)

GRAVITY, STEP = -2.0, 0.001
WORLD = f"""<sdf version="1.9"><world name="void">
  <physics name="1ms" type="dart"><max_step_size>{STEP}</max_step_size></physics>
  <gravity>0 0 {GRAVITY}</gravity>
  <plugin filename="gz-sim-physics-system" name="gz::sim::systems::Physics"/>
  <plugin filename="gz-sim-user-commands-system" name="gz::sim::systems::UserCommands"/>
  {{models}}</world></sdf>"""
LOADER = """<plugin filename="gz-sim-python-system-loader-system"
  name="gz::sim::systems::PythonSystemLoader"><module_name>{module}</module_name>{tags}</plugin>"""
LINK = """<link name="{0}"><pose>{1} 0 0 0</pose><inertial><mass>0.5</mass><inertia><ixx>0.02</ixx>
  <iyy>0.03</iyy><izz>0.04</izz></inertia></inertial></link>"""
JOINT = """<joint name="{0}" type="{1}"><parent>{2}</parent><child>{3}</child><axis><xyz>{4} {5} {6}
  </xyz><limit><lower>{7}</lower><upper>{8}</upper>
  <effort>1e6</effort></limit></axis></joint>"""
CONTROLLER = """<plugin filename="gz-sim-joint-position-controller-system"
  name="gz::sim::systems::JointPositionController"><joint_name>{}</joint_name>
  <use_velocity_commands>true</use_velocity_commands><cmd_max>{}</cmd_max>
  <initial_position>{}</initial_position></plugin>"""
ROTORS = ['front_left', 'front_right', 'rear_left', 'rear_right']
COMMANDS = {
    'quadrotor': ('rotors', 'rotors/command', JointState(name=ROTORS, effort=[5.0] * 4)),
    'rov': ('thrusters', 'thrusters/command', JointState(
        name=[f'{rotor}_up' for rotor in ROTORS], velocity=[200.0] * 4,
    )),
    'freeflyer': ('propulsion_modules', 'fam/state', JointState(
        name=['impeller_1', 'impeller_2', 'nozzle_2', 'nozzle_7'],
        velocity=[200.0, 200.0, np.nan, np.nan], position=[np.nan, np.nan, 0.5, 0.5],
    )),
    'rocket': ('boosters', 'boosters/command', JointState(
        name=['booster_1', 'booster_2'], effort=[1300.0] * 2,
    )),
    'cubesat': ('jets', 'jets/command', JointState(
        name=['front_left', 'back_left'], effort=[0.05] * 2,
    )),
}
"""Node, topic and command of a vehicle."""
vehicles = pytest.mark.parametrize('vehicle', COMMANDS)


class Server:
    """A server of gz-sim, its models, and what their probes have written."""

    def __init__(self, folder, graph):
        self.folder, self.graph = folder, graph
        self.process = None
        self.read = {}
        self.environment = {
            **os.environ, 'GZ_IP': '127.0.0.1', 'GZ_PARTITION': folder.name,
            'PYTHONPATH': os.pathsep.join([
                str(Path(__file__).parent), str(share_directory()),
                os.environ.get('PYTHONPATH', ''),
            ]),
        }

    def model(self, vehicle, namespace=''):
        """Write a vehicle's model with a probe; return its file."""
        made = gazebo_robot(
            share_directory() / 'urdf' / f'{vehicle}.urdf.xacro', namespace=namespace
        )
        path = self.folder / f'{namespace or vehicle}.urdf'
        path.write_text(made.description.replace(
            '</robot>', f'<gazebo>{self.probe(path)}</gazebo></robot>'
        ))
        return path

    def own_model(self, name, model: OwnModel, motion):
        """Write a model that has its blocks in the SDF alone; return its file."""
        path = self.folder / f'{name}.sdf'
        parts = {}
        for link, place in model.links.items():
            parts.setdefault(link.rpartition('::')[0], []).append(LINK.format(
                link.rpartition('::')[2], ' '.join(map(str, place))
            ))
        inside = [
            *parts.pop(''), *(f'<model name="{nested}">{"".join(own)}</model>'
                              for nested, own in parts.items()),
            *(JOINT.format(hinge.name, hinge.kind.lower(), hinge.parent, hinge.child, *hinge.axis,
                           *hinge.limits) for hinge in model.hinges),
            CONTROLLER.format(*motion),
            LOADER.format(module='propulsion_ros.gz.system', tags=model.block), self.probe(path),
        ]
        path.write_text(
            f'<sdf version="1.9"><model name="{name}">{"".join(inside)}</model></sdf>'
        )
        return path

    @staticmethod
    def probe(path):
        """Return the plugin that writes what happens to the model of a file."""
        return LOADER.format(
            module='newton_probe', tags=f'<file>{path.with_suffix(".jsonl")}</file>'
        )

    def start(self, *models):
        """Start a world with models in it."""
        world = self.folder / 'world.sdf'
        world.write_text(WORLD.format(models=''.join(
            f'<include><uri>{path}</uri><pose>{10 * k} 0 0 0 0 0</pose></include>'
            for k, path in enumerate(models)
        )))
        with open(self.folder / 'server.log', 'w') as log:
            self.process = subprocess.Popen(
                [COMMAND, 'sim', '-s', '-r', str(world)], stdout=log, stderr=log,
                env=self.environment,
            )

    def ask(self, service, kind, request, pilot=lambda: None):
        """Call a service of the world once it is there, while a pilot publishes commands."""
        words = [
            COMMAND, 'service', '-s', f'/world/void/{service}', '--reqtype', f'gz.msgs.{kind}',
            '--reptype', 'gz.msgs.Boolean', '--timeout', '2000', '--req', request,
        ]

        def call():
            return subprocess.Popen(
                words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                env=self.environment,
            )
        calls = [call()]

        def answered():
            # A call may take longer than a command holds.
            pilot()
            if calls[-1].poll() is None:
                return False
            if 'data: true' in calls[-1].communicate()[0]:
                return True
            calls.append(call())
            return False
        self.until(answered, service)

    def until(self, condition, what):
        """Wait for something while the server runs."""
        def is_so():
            assert self.process.poll() is None, f'the server has ended: {self.printed()}'
            return condition()
        self.graph.until(is_so, what)

    def printed(self):
        """Return what the server printed, without colours."""
        return re.sub(r'\x1b\[[0-9;]*m', '', (self.folder / 'server.log').read_text())

    def written(self, path):
        """Return name, mass and inertia of each link, times, and rows of each link (n, 24)."""
        written, (offset, lines) = path.with_suffix('.jsonl'), self.read.get(path, (0, []))
        if written.exists():
            # Only what is new: while it reads all, no command is published.
            with open(written, 'rb') as file:
                file.seek(offset)
                new = file.read().rpartition(b'\n')
            self.read[path] = offset + len(new[0] + new[1]), lines
            lines += map(json.loads, new[0].splitlines())
        heads, *rows = lines or [[]]
        # Before its first step gz-sim loses what is sent to it, Ctrl-C too.
        if not rows:
            return [], np.zeros(0), []
        rows = np.array(rows)
        return heads, rows[:, 0], np.split(rows[:, 1:], len(heads), axis=1)

    def laps(self, path):
        """Return mass, inertia, and what the first link did from each start of time on."""
        heads, times, rows = self.written(path)
        if not heads:
            return 1.0, np.eye(3), []
        rows = np.column_stack((times, rows[0][:, 12:]))
        begins = np.flatnonzero(np.diff(times) < 0.0) + 1
        return heads[0][1], np.array(heads[0][2]), np.split(rows, begins)

    def fly(self, path, pilot, seconds, lap=0):
        """Publish commands until a model was pushed for a time of the lap's time [s]."""
        def pushed():
            pilot()
            laps = self.laps(path)[2]
            return len(laps) > lap and np.sum(laps[lap][:, 7:10].any(axis=1)) > 1000 * seconds
        self.until(pushed, f'{seconds:g} s of thrust in lap {lap}')

    def end(self):
        """End the server as Ctrl-C does, and return its code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=20.0)


@pytest.fixture
def server(tmp_path, graph):
    """Return a server that is to be started."""
    server = Server(tmp_path, graph)
    yield server
    if server.process is not None and server.process.poll() is None:
        server.process.kill()
        server.process.wait()


def pilot_of(graph, vehicle, namespace='', is_stamped=lambda: False, scale=1.0):
    """Return what publishes a command, with the stamp of the last wrench or with none."""
    node, topic, message = COMMANDS[vehicle]
    wrenches = graph.listen(WrenchStamped, f'{namespace}/{node}/wrench', qos.STATE)
    publisher = graph.talk_later(JointState, f'{namespace}/{topic}', qos.COMMAND)
    scaled = JointState(
        name=message.name, position=message.position, velocity=message.velocity,
        effort=[scale * effort for effort in message.effort],
    )

    def publish():
        scaled.header.stamp = (
            wrenches[-1].header.stamp if wrenches and is_stamped() else WrenchStamped().header.stamp
        )
        publisher.publish(scaled)
    return publish


def assert_moves_as_newton_says(mass, inertia, rows):
    """Hold the change of velocity in each step to the recorded force and torque."""
    speed, turning, force, torque = (rows[:, k:k + 3] for k in (1, 4, 7, 10))
    # gz-sim renews the velocity of a link only where it has moved by more than a micrometre.
    renewed = np.append(True, np.any(np.diff(rows[:, 1:7], axis=0) != 0.0, axis=1))
    whole = renewed[:-1] & renewed[1:]
    assert np.sum(whole) > 500
    # In axes that turn with the link. What is left is gravity, whose size is known.
    own = np.cross(turning, speed)[:-1] - (force / mass)[:-1]
    left = (np.diff(speed, axis=0) / STEP + own)[whole]
    # gz-sim turns a link and what pulls it one after the other, which is of first order.
    rates = np.linalg.norm(turning, axis=1)
    turned = 2.0 * STEP * np.maximum(rates[:-1], rates[1:])
    bent = np.linalg.norm(np.diff(turning, axis=0), axis=1) * np.linalg.norm(speed[:-1], axis=1)
    most = 1e-9 + turned * (np.linalg.norm(own, axis=1) + abs(GRAVITY)) + bent
    np.testing.assert_array_less(
        np.abs(np.linalg.norm(left, axis=1) + GRAVITY), most[whole]
    )
    np.testing.assert_allclose(left[0], [0.0, 0.0, GRAVITY], atol=1e-9)
    moment = (np.diff(turning, axis=0) / STEP) @ inertia - torque[:-1]
    moment += np.cross(turning, turning @ inertia)[:-1]
    np.testing.assert_allclose(moment[whole], 0.0, atol=1e-9 * np.max(np.diag(inertia)))


def assert_thrust_holds(rows):
    """Once the thrust has come it never breaks off; what moves through water loses some of it."""
    thrust = np.linalg.norm(rows[:, 7:10], axis=1)
    # Before its first command fins already slow what falls through water.
    begin = np.flatnonzero(thrust > 0.3 * thrust.max())[0]
    highest = np.maximum.accumulate(thrust[begin:])
    np.testing.assert_array_less(0.6 * highest, thrust[begin:])


@pytest.mark.parametrize('is_created', [False, True], ids=['world file', 'create'])
@vehicles
def test_vehicle_moves_as_newton_says(server, graph, vehicle, is_created):
    """Commanded without a stamp from the first second on, then with stamps."""
    path = server.model(vehicle)
    server.start(*([] if is_created else [path]))
    if is_created:
        server.ask('create', 'EntityFactory', f'sdf_filename: "{path}"')
    stamps = [False]
    pilot = pilot_of(graph, vehicle, is_stamped=lambda: stamps[0])
    server.fly(path, pilot, 1.5)
    stamps[0] = True
    server.fly(path, pilot, 2.5)
    assert server.end() == 0
    mass, inertia, (rows,) = server.laps(path)
    assert_moves_as_newton_says(mass, inertia, rows)
    assert_thrust_holds(rows)
    assert 'Err' not in server.printed()


@vehicles
def test_thrust_holds_after_each_reset(server, graph, vehicle):
    path = server.model(vehicle)
    server.start(path)
    pilot = pilot_of(graph, vehicle)
    for lap in range(6):
        server.fly(path, pilot, 0.9, lap)
        if lap < 5:
            server.ask('control', 'WorldControl', 'reset: {all: true}', pilot)
    assert server.end() == 0
    mass, inertia, laps = server.laps(path)
    assert len(laps) == 6
    for rows in laps:
        assert rows[0, 0] == 0.0
        assert_moves_as_newton_says(mass, inertia, rows)
        assert_thrust_holds(rows)


def test_two_vehicles_follow_their_own_commands(server, graph):
    paths = {name: server.model('quadrotor', name) for name in ('a', 'b')}
    server.start(*paths.values())
    pilots = [
        pilot_of(graph, 'quadrotor', f'/{name}', scale=scale)
        for name, scale in (('a', 0.5), ('b', 1.0))
    ]

    def both():
        for pilot in pilots:
            pilot()
    for path in paths.values():
        server.fly(path, both, 1.5)
    assert server.end() == 0
    for name, thrust in (('a', 10.0), ('b', 20.0)):
        mass, inertia, (rows,) = server.laps(paths[name])
        assert_moves_as_newton_says(mass, inertia, rows)
        assert rows[-1, 9] == pytest.approx(thrust, rel=1e-6)


@dataclass(frozen=True)
class Push:
    """What an actuator does, once it is there: along an axis of its link, and about it."""

    link: str
    carrier: str
    axis: tuple
    thrust: float
    moment: float = 0.0


OWN = {
    'tricopter': (
        TRICOPTER, ('tilt', 0.2, 0.7),
        'rotors', JointState(name=['left', 'right', 'tail'], effort=[3.0, 4.0, 2.0]),
        [Push('left', 'frame', (0, 0, 1), 3.0, -0.048), Push('right', 'frame', (0, 0, 1), 4.0,
                                                              -0.064),
         Push('propeller', 'mount', (0, 0, 1), 2.0, 0.032)],
    ),
    'arm': (
        ARM._replace(hinges=[Hinge('ground', 'FIXED', 'world', 'base'), *ARM.hinges]),
        ('shoulder', 0.5, 2.0),
        'rotors', JointState(name=['hand'], effort=[4.0]),
        [Push('arm::tip', 'arm::tip', (1, 0, 0), 4.0, -0.064)],
    ),
    'vessel': (
        VESSEL, ('port_pod', 3.0, 9.0),
        'thrusters', JointState(name=['port', 'starboard'], effort=[10.0, 6.0]),
        [Push('port', 'hull', (1, 0, 0), 10.0), Push('starboard', 'hull', (1, 0, 0), 6.0)],
    ),
}
"""Models whose blocks are in the SDF alone: what moves which joint, node, command, what it does."""


def is_pushed(links):
    """Return in which rows a force acts on any link."""
    return np.any([np.any(own[:, 18:21], axis=1) for own in links], axis=0)


@pytest.mark.parametrize('name', OWN)
def test_force_follows_the_links_of_an_own_sdf(server, graph, name):
    """While a JointPositionController moves one of them."""
    model, motion, node, message, pushes = OWN[name]
    path = server.own_model(name, model, motion)
    server.start(path)
    publisher = graph.talk_later(JointState, f'{node}/command', qos.COMMAND)

    def pushed():
        publisher.publish(message)
        return is_pushed(server.written(path)[2]).sum() > 3000
    server.until(pushed, '3 s of thrust')
    assert server.end() == 0
    assert 'Err' not in server.printed()
    heads, times, rows = server.written(path)
    rows = {head[0]: own for head, own in zip(heads, rows, strict=True)}
    places = {link: own[:, :3] for link, own in rows.items()}
    turns = {link: own[:, 3:12].reshape(-1, 3, 3) for link, own in rows.items()}
    steady = times > times[is_pushed(rows.values())][0] + 1.5
    expected = {link: np.zeros((len(times), 6)) for link in rows}
    for push in pushes:
        along = turns[push.link] @ np.array(push.axis, float)
        arm = places[push.link] - places[push.carrier]
        expected[push.carrier] += np.column_stack((
            push.thrust * along, push.moment * along + np.cross(arm, push.thrust * along)
        ))
    for link, own in rows.items():
        there = (turns[link] @ own[:, 18:].reshape(-1, 2, 3).swapaxes(1, 2)).swapaxes(1, 2)
        np.testing.assert_allclose(
            there.reshape(-1, 6)[steady], expected[link][steady], rtol=0.0, atol=1e-9,
            err_msg=link
        )
    moved = next(hinge for hinge in model.hinges if hinge.name == motion[0])
    swing = np.einsum('nji,njk->nik', turns[moved.parent], turns[moved.child])[steady]
    assert np.linalg.norm(swing[-1] - swing[0]) > 0.1


@pytest.mark.parametrize(('old', 'new', 'message'), [
    pytest.param('urdf_file>', 'urdf_fle>', 'plugin/urdf_fle: unknown tag, did you mean '
                 "'urdf_file'?", id='misspelt tag'),
    pytest.param('quadrotor.urdf.xacro', 'nowhere.urdf', 'nowhere.urdf: cannot be read', id='file'),
])
def test_wrong_plugin_is_one_line_and_the_world_goes_on(server, old, new, message):
    path = server.model('quadrotor')
    path.write_text(path.read_text().replace(old, new))
    server.start(path)
    server.until(lambda: server.laps(path)[2], 'a step')
    assert server.end() == 0
    errors = [line for line in server.printed().splitlines() if re.search('Err', line, re.I)]
    assert len(errors) == 1
    assert message in errors[0]
