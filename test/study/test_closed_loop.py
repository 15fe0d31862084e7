# SPDX-License-Identifier: Apache-2.0
"""A robot, its body and its controller in one process, in lockstep."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from propulsion_ros.demos.pilot import payload_of
from propulsion_ros.graph.share import read_description, share_directory
from propulsion_ros.graph.simulation import Simulation
from propulsion_ros.graph.wiring import robot_graph
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.study.closed_loop import ClosedLoop, FlightError
from propulsion_ros.study.signals import Signals, read_result

ROOT = Path(__file__).resolve().parents[2]
WRENCH = 'rotors_allocator/wrench_command'
MASS = 1.5


class Lift:
    """Commands a constant force upwards, until a time."""

    topics = ('rotors/state',)

    def __init__(self, force, until=np.inf):
        self._force, self._until = force, until
        self.received = []
        self.stamps = []

    def take(self, topic, message):
        self.received.append((topic, len(message.name)))

    def steer(self, time, motion):
        self.stamps.append(time)
        if time >= self._until:
            return None
        return {WRENCH: [0.0, 0.0, self._force, 0.0, 0.0, 0.0]}


@pytest.fixture(scope='module')
def quadrotor(tmp_path_factory):
    path = tmp_path_factory.mktemp('robot') / 'robot.urdf'
    path.write_text(read_description(
        share_directory() / 'urdf' / 'quadrotor.urdf.xacro'
    ).text)
    return path


def _loop(model, controller, results=(), wait_for=(WRENCH,), duration=0.2, **settings):
    given = {'duration': duration, 'real_time_factor': 0.0, 'publish_tf': False, **settings}
    graph = robot_graph('quadrotor', model=model, simulation=Simulation(wait_for, given))
    signals = Signals(tuple(
        read_result('', name, given) for name, given in dict(results).items()
    ))
    return ClosedLoop(graph, [graph.params_file], controller, signals.take), signals


def test_a_steady_force_moves_the_body_as_newton_has_it(quadrotor):
    lift = Lift(20.0)
    loop, signals = _loop(quadrotor, lift, {
        'climb': {'last': 'vehicle/odometry.vz'},
        'impulse': {'integral': 'rotors/wrench.force.z'},
        'mass': {'first': 'vehicle/inertia.mass'},
    }, **{'body.drag_area': 0.0, 'body.start_position': [0.0, 0.0, 10.0]})
    loop.fly()
    found = signals.numbers()
    assert found['mass'] == pytest.approx(MASS, rel=1e-3)
    # A wrench acts over the step behind its stamp; the last one has none.
    dt, steps = 1.0 / 250.0, len(lift.stamps)
    assert found['climb'] == pytest.approx(
        found['impulse'] / found['mass'] - 9.80665 * 0.2, abs=1e-9
    )
    assert lift.stamps == pytest.approx([n * dt for n in range(steps)])
    assert set(lift.received) == {('rotors/state', 4)}


def test_two_flights_are_the_same_to_the_bit(quadrotor):
    numbers = []
    for _ in range(2):
        loop, signals = _loop(quadrotor, Lift(19.0), {
            'z': {'last': 'vehicle/odometry.z'}, 'p': {'mean': 'vehicle/pressure.pressure'},
        }, duration=0.1, pressure_noise=3.0, noise_seed=5)
        loop.fly()
        numbers.append(signals.numbers())
    assert numbers[0] == numbers[1]


def test_a_controller_may_end_the_flight(quadrotor):
    lift = Lift(20.0, until=0.02)
    loop, _ = _loop(quadrotor, lift)
    loop.fly()
    assert lift.stamps[-1] == pytest.approx(0.02)


def test_a_missing_reply_ends_the_flight_with_one_line(quadrotor):
    class Mute(Lift):

        def steer(self, time, motion):
            return super().steer(time, motion) if time < 0.05 else {}

    loop, _ = _loop(quadrotor, Mute(20.0))
    with pytest.raises(FlightError, match=r'no step after 0\.052 s: expected a command'):
        loop.fly()


@pytest.mark.slow
@pytest.mark.filterwarnings('ignore::RuntimeWarning')
def test_a_body_that_diverges_is_an_error(quadrotor):
    loop, _ = _loop(quadrotor, Lift(20.0), **{'body.start_velocity': [0.0, 0.0, 1e4],
                                              'body.drag_area': 1e6})
    with pytest.raises((FlightError, ConfigError)):
        loop.fly()


@pytest.mark.slow
def test_services_are_called_and_refusals_end_the_flight():
    class Early(Lift):

        def requests(self, time):
            return ['flight_state/launch']

        def steer(self, time, motion):
            return {'boosters/command': {'booster_1.effort': 0.0}}

    graph = robot_graph('rocket', simulation=Simulation(
        ('boosters/command',), {'duration': 1.0, 'real_time_factor': 0.0, 'publish_tf': False},
    ))
    controller = Early(0.0)
    controller.topics = ()
    loop = ClosedLoop(graph, [graph.params_file], controller, lambda *message: None)
    with pytest.raises(FlightError, match=r'flight_state/launch refused: .'):
        loop.fly()
    with pytest.raises(FlightError, match="no service 'flight_state/lunch'"):
        loop.request('flight_state/lunch')


class Launch(Lift):
    """Requests what is due at each step from then on."""

    topics = ()

    def requests(self, time):
        if time >= 2.0:
            return ['flight_state/ignition']
        return ['flight_state/launch'] if time >= 1.0 else []

    def steer(self, time, motion):
        return {}


def two_stage(params, controller):
    folder = ROOT / 'examples' / 'two_stage'
    files = [folder / 'two_stage.yaml'] if params else []
    graph = robot_graph(model=folder / 'two_stage.urdf', simulation=Simulation(
        (), {'duration': 4.0, 'real_time_factor': 0.0, 'publish_tf': False}, tuple(files),
    ))
    phases = []
    loop = ClosedLoop(graph, files, controller, lambda topic, kind, message: phases.append(
        message.data) if topic == '/flight_state/phase' else None)
    return loop, phases


def test_a_request_at_each_step_is_one(monkeypatch):
    """The second one was refused, and every case failed."""
    monkeypatch.chdir(ROOT / 'examples' / 'two_stage')
    loop, phases = two_stage(True, Launch(0.0))
    loop.fly()
    assert list(dict.fromkeys(phases)) == ['preflight', 'launch', 'flight']


def test_a_rocket_without_a_flight_computer_is_told_its_section(monkeypatch):
    monkeypatch.chdir(ROOT / 'examples' / 'two_stage')
    loop, _ = two_stage(False, Launch(0.0))
    with pytest.raises(FlightError, match="no service 'flight_state/launch'; no flight_state runs"):
        loop.fly()


def test_a_robot_needs_no_controller(tmp_path):
    model = ROOT / 'examples' / 'hopper' / 'hopper.urdf'
    graph = robot_graph(model=model, simulation=Simulation(
        (), {'duration': 0.1, 'real_time_factor': 0.0, 'publish_tf': False},
    ))
    seen = []
    ClosedLoop(graph, [], None, lambda topic, kind, message: seen.append(topic)).fly()
    assert seen.count('/vehicle/odometry') >= 10


def test_a_command_is_numbers_by_name_and_field():
    row = payload_of('boosters/command', {'a.effort': 1.0, 'b.position': 2.0})
    assert list(row.names) == ['a', 'b']
    np.testing.assert_array_equal(row.effort, [1.0, np.nan])
    np.testing.assert_array_equal(row.position, [np.nan, 2.0])


@pytest.mark.parametrize(('commands', 'message'), [
    ({WRENCH: np.full(6, np.nan)}, f'{WRENCH}: expected 6 numbers, .* got nan'),
    ({WRENCH: [1.0, 2.0, 3.0, 4.0]}, f'{WRENCH}: expected 6 numbers, .* got .1.0, 2.0, 3.0, 4.0.'),
    ({WRENCH: {'a.thrust': 1.0}}, f"{WRENCH}: .* position, velocity, effort, got 'a.thrust'"),
    ({WRENCH: {'a.effort': 'full'}}, f"{WRENCH}: a.effort: expected a number, got 'full'"),
    ({WRENCH: {'a.effort': 1.0}}, f'{WRENCH}: expected .*WrenchStamped, got .*JointState'),
    ({WRENCH + 's': [0.0] * 6}, f"no node receives '{WRENCH}s', did you mean '{WRENCH}'.; found: "),
    ({'a.effort': 1.0}, f"no node receives 'a.effort'; found: .*{WRENCH}"),
    ([0.0] * 6, 'expected commands by topic, or None to end, got list'),
    (None, r'got None at the first step, which ends the flight; return \{\} for no command'),
])
def test_a_wrong_command_is_refused_by_its_topic(quadrotor, commands, message):
    """A flight without a first step was all that was said of it."""
    class Wrong(Lift):

        def steer(self, time, motion):
            return commands

    loop, _ = _loop(quadrotor, Wrong(20.0))
    with pytest.raises(ConfigError, match=message):
        loop.fly()


def test_a_topic_may_begin_with_a_slash(quadrotor):
    class Absolute(Lift):

        def steer(self, time, motion):
            return {f'/{WRENCH}': [0.0, 0.0, 20.0, 0.0, 0.0, 0.0]}

    loop, _ = _loop(quadrotor, Absolute(20.0), duration=0.02)
    loop.fly()


def test_a_topic_that_no_node_publishes_is_refused(quadrotor):
    lift = Lift(20.0)
    lift.topics = ('rotors/stat',)
    with pytest.raises(ConfigError, match=r"topics: no node publishes 'rotors/stat', did you mean"):
        _loop(quadrotor, lift)
