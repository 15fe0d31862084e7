# SPDX-License-Identifier: Apache-2.0
"""The visualizer: what is drawn, how often, and what it makes of what is wrong."""
from __future__ import annotations

import itertools
import math

import pytest
from geometry_msgs.msg import InertiaStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from visualization_msgs.msg import Marker, MarkerArray

from propulsion_ros.graph.share import load_robot_description, share_directory
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.graph.wiring import robot_graph, vehicle_graph
from propulsion_ros.loops import visualizer_loop
from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.messages import qos
from propulsion_ros.nodes.stack import make_node
from propulsion_ros.nodes.visualizer_node import VisualizerNode
from ros_graph import stamped

MS = 1_000_000
MARKERS = 'visualizer/markers'
GIMBALS = [f'booster_{i}_gimbal_{axis}' for i in (1, 2) for axis in 'xy']
NAN = math.nan


def description(vehicle):
    return load_robot_description(share_directory() / 'urdf' / f'{vehicle}.urdf.xacro')


ROCKET = {
    'robot_description': description('rocket'), 'state_topics': ['boosters/state', 'fins/state'],
    'tank_topics': ['boosters/tanks/main_tank'], 'phase_topic': 'flight_state/phase',
}
QUADROTOR = {'robot_description': description('quadrotor'), 'state_topics': ['rotors/state']}


def boosters(ms, thrusts=(1300.0, 650.0), angles=(0.0, 0.0, 0.0, 0.0)):
    """Return a state as the boosters' node publishes it."""
    return stamped(
        JointState, ms * MS, position=[NAN, NAN, *angles, 1.0, 0.3], effort=[*thrusts, *[NAN] * 6],
        name=['booster_1', 'booster_2', *GIMBALS, 'booster_1/ignition', 'main_tank/fuel_ratio'],
    )


def rotors(ms, thrusts=(3.0, 3.0, 3.0, 3.0)):
    names = ['front_left', 'front_right', 'rear_left', 'rear_right']
    return stamped(JointState, ms * MS, name=names, effort=list(thrusts))


@pytest.fixture(autouse=True)
def pass_of_time(monkeypatch):
    """Let enough wall time pass between any two messages, and never so much that it is silence."""
    seconds = itertools.count()
    monkeypatch.setattr(VisualizerNode, 'steady_ns', lambda node: next(seconds) * 1_000_000_000)
    monkeypatch.setattr(visualizer_loop, '_SILENCE', 1e6)


class Scene:
    """A visualizer, who talks to it, and who looks."""

    def __init__(self, graph, parameters, topic, watched=True, **kwargs):
        self.graph = graph
        self.node = graph.add(VisualizerNode, 'visualizer', parameters, **kwargs)
        self.loop = self.node.loop
        self.pictures = graph.listen(MarkerArray, MARKERS, qos.COMMAND) if watched else []
        self.states = graph.talk(JointState, topic, qos.STATE)
        if watched:
            graph.until(lambda: self.loop._is_watched, 'the probe to be found')

    def hear(self, message):
        """Let the node hear one state."""
        stamp_ns = stamp_to_ns(message.header.stamp)
        self.states.publish(message)
        self.graph.until(lambda: self.loop._pace.newest_ns == stamp_ns, 'the state')

    def shown(self, count=1):
        """Return the newest picture's markers by namespace and id, after so many pictures."""
        self.graph.until(lambda: len(self.pictures) >= count, f'{count} pictures')
        return {(marker.ns, marker.id): marker for marker in self.pictures[-1].markers}


def vector(start, end):
    return [end.x - start.x, end.y - start.y, end.z - start.z]


def test_thrusts_plumes_and_status_of_a_rocket(graph):
    scene = Scene(graph, ROCKET, 'boosters/state')
    tank = InertiaStamped()
    tank.inertia.m = 3.0
    graph.talk(InertiaStamped, 'boosters/tanks/main_tank', qos.LATCHED).publish(tank)
    graph.talk(String, 'flight_state/phase', qos.LATCHED).publish(String(data='flight'))
    graph.until(lambda: scene.loop._phase and scene.loop._tanks, 'phase and tank')
    scene.hear(boosters(1500))
    shown = scene.shown()
    assert sorted(shown) == [
        ('boosters', 0), ('boosters', 1), ('boosters/plume', 0), ('boosters/plume', 1),
        ('status', 0),
    ]
    assert {stamp_to_ns(marker.header.stamp) for marker in shown.values()} == {1500 * MS}
    assert {marker.header.frame_id for marker in shown.values()} == {'base_link'}
    assert {marker.action for marker in shown.values()} == {Marker.ADD}
    # So that RViz draws them where their frame is now.
    assert {marker.frame_locked for marker in shown.values()} == {True}
    limit, half = shown['boosters', 0], shown['boosters', 1]
    assert vector(*limit.points) == pytest.approx([0.0, 0.0, 0.5])
    assert vector(*half.points) == pytest.approx([0.0, 0.0, 0.25])
    assert (limit.color.r, limit.color.g, limit.color.a) == (1.0, 0.0, 1.0)
    assert (half.color.r, half.color.g) == (1.0, 1.0)
    assert half.color.a < 1.0
    assert half.points[0].y == pytest.approx(-0.045)
    # A plume is a cone whose tip is at the nozzle.
    plume = shown['boosters/plume', 0]
    assert vector(*plume.points) == pytest.approx([0.0, 0.0, 0.5])
    assert plume.points[1] == limit.points[0]
    assert plume.color.a < 0.5
    status = shown['status', 0]
    assert (status.type, status.text) == (
        Marker.TEXT_VIEW_FACING, 'flight\nmain_tank 3.00 kg (25%)'
    )


@pytest.mark.parametrize(('parameters', 'said'), [
    pytest.param({'robot_description': '<robot/>'}, 'robot', id='no robot'),
    pytest.param({'params_files': ['/nowhere.yaml']}, '/nowhere.yaml: cannot be read', id='file'),
])
def test_wrong_parameter_is_named(graph, capfd, parameters, said):
    node = graph.add(VisualizerNode, 'visualizer', {**ROCKET, **parameters})
    assert node.has_failed
    error = capfd.readouterr().err
    assert said in error
    assert 'Traceback' not in error


def test_limits_of_a_parameter_file_win(graph, tmp_path):
    path = tmp_path / 'rotors.yaml'
    path.write_text('/**/rotors:\n  ros__parameters:\n    max_thrust: [6.0]\n')
    scene = Scene(graph, {**QUADROTOR, 'params_files': [str(path)]}, 'rotors/state')
    scene.hear(rotors(0, (6.0, 3.0, 1.0, 1.0)))
    shown = scene.shown()
    assert vector(*shown['rotors', 0].points) == pytest.approx([0.0, 0.0, 0.5])
    assert shown['rotors', 0].color.a == 1.0


def names_of(graph):
    return [spec.name for spec in graph.nodes]


@pytest.mark.parametrize('vehicle', VEHICLES)
def test_every_vehicle_is_drawn_when_asked_and_only_then(graph, vehicle):
    assert 'visualizer' not in names_of(vehicle_graph(vehicle))
    wired = vehicle_graph(vehicle, drawn_with=())
    spec = next(spec for spec in wired.nodes if spec.name == 'visualizer')
    respawned = [each.name for each in wired.nodes if each.respawn_delay is not None]
    # What lasts of a flight computer is in its record.
    assert respawned == ['flight_state', 'visualizer'][vehicle != 'rocket':]
    node = make_node(spec, context=graph.context)
    graph.nodes.append(node)
    node.start()
    assert node.is_active
    drawn = list(node.loop.drawn_names)
    topics = {subscription.topic_name for subscription in node.subscriptions}
    assert topics >= {f'/{block}/state' for block in drawn}
    published = {f'/{block}/state' for block in names_of(wired)}
    assert {topic for topic in topics if topic.endswith('/state')} <= published
    hosts = ('actuator_node', 'inverse_fam_node')
    groups = [spec.name for spec in wired.nodes if spec.executable in hosts]
    assert drawn == [name for name in groups if name != 'fam']


def test_any_robot_is_drawn_when_asked():
    model = share_directory() / 'urdf' / 'quadrotor.urdf.xacro'
    assert names_of(robot_graph(model)) == ['rotors']
    wired = robot_graph(model, drawn_with=['own.yaml'])
    assert names_of(wired) == ['rotors', 'visualizer']
    assert wired.nodes[-1].parameters['params_files'] == ['own.yaml']
    assert wired.nodes[-1].parameters['phase_topic'] == ''
