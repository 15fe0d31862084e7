# SPDX-License-Identifier: Apache-2.0
"""A robot with its simulated body and its controller in this process, in lockstep, without ROS."""
from __future__ import annotations

import functools
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from propulsion_ros.demos.pilot import Command, Controller, payload_of
from propulsion_ros.graph.executables import LOOPS
from propulsion_ros.graph.simulation import BODY, NodeSpec, Simulation, simulated
from propulsion_ros.graph.wiring import (
    FLIGHT,
    REPLAYED,
    WITHOUT_FLIGHT,
    Graph,
    actuator_nodes,
    pushing_blocks,
)
from propulsion_ros.loops.decoders import msg_to_motion, stamp_to_ns
from propulsion_ros.loops.payloads import JointRow, Kind
from propulsion_ros.loops.ports import GivenParameters, Outlet
from propulsion_ros.replay.host import CLOCK_TOPIC, Bus, Emit, LoopHost
from propulsion_ros.replay.plain import plain_message
from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.settings.flat import known_hint
from propulsion_ros.settings.yaml_file import placing, settings_of
from propulsion_ros.study.signals import check_published
from propulsion_ros.urdf.block import ActuatorSpec

_ODOMETRY = f'/{BODY}/odometry'
_SETTLED_NS = 10_000_000_000  # time after which a body begins whose graph is complete [ns]
_DEPLOYERS = 'deployers'


class FlightError(RuntimeError):
    """Raised for a flight that cannot continue."""


class ClosedLoop:
    """Runs the loops of a graph on one bus, by the time of the body.

    Raises `ConfigError` if a loop cannot be made.

    Parameters
    ----------
    graph : Graph
        Nodes of a robot, a simulated body among them.
    files : sequence of Path
        Parameter files of the nodes, of which the later ones win.
    controller : Controller or None
        Replies to the odometry with commands; None if no step waits for a command.
    emit : callable
        Receives every message that is published.
    """

    def __init__(
        self,
        graph: Graph,
        files: Sequence[Path],
        controller: Controller | None,
        emit: Emit,
    ) -> None:
        self._bus = Bus(emit)
        self._bus.subscribe(CLOCK_TOPIC, Kind.CLOCK, self._keep_time)
        self.lines: list[str] = []
        self._outlets: dict[str, Outlet] = {}
        self._requested: list[str] | None = None
        self._hosts = {spec.name: self._run(spec, files) for spec in graph.nodes}
        self._body = self._hosts[BODY]
        (self._frame,) = [spec.parameters['base_link'] for spec in graph.nodes if spec.name == BODY]
        if controller is not None:
            for topic in getattr(controller, 'topics', ()):
                check_published('controller: topics', topic, self.published_topics)
                take = functools.partial(controller.take, topic)  # type: ignore[attr-defined]
                self._bus.subscribe(f'/{topic}', '', take)
            # Subscribed last, so that a reply is based on all that others publish at that step.
            steer = functools.partial(self._steer, controller)
            self._bus.subscribe(_ODOMETRY, Kind.ODOMETRY, steer)

    def _run(self, spec: NodeSpec, files: Sequence[Path]) -> _Host:
        with placing(files, spec.name, str(files[-1]) if files else spec.name):
            return running(spec, files, self._bus, self.lines.append)

    def fly(self) -> None:
        """Run until the body or the controller ends; raise `FlightError` if it cannot go on."""
        (look,) = [timer.call for timer in self._body.loop.timers]
        for now_ns in (0, _SETTLED_NS):
            self._bus.steady_ns = now_ns
            look()
            self._bus.feed((), 0, together=True)
        if self._body.is_active:
            raise FlightError('; '.join([
                f'no step after {self._bus.now_ns * 1e-9:.3f} s: expected a command with the '
                'stamp of each step', *self.lines[-1:],
            ]))
        if self._body.failure:
            raise FlightError(self._body.failure)

    @property
    def published_topics(self) -> dict[str, Outlet]:
        """Outlets by the full names of the topics that loops publish."""
        return dict(ChainMap(*(host.published_topics for host in self._hosts.values())))

    def request(self, name: str) -> None:
        """Call a service, such as ``flight_state/launch``; raise `FlightError` if refused."""
        node, _, service = name.rpartition('/')
        host = self._hosts.get(node)
        for request in host.loop.requests if host else ():
            if request.topic == f'~/{service}':
                done, text = request.serve(True)
                if not done:
                    raise FlightError(f'{name} refused: {text}')
                return
        lacks = node == FLIGHT and host is None
        why = WITHOUT_FLIGHT.format('a file of params') * lacks
        raise FlightError(f'no service {name!r}{why}')

    def _keep_time(self, message: Any) -> None:
        self._bus.now_ns = stamp_to_ns(message.clock)
        self._bus.steady_ns = max(self._bus.steady_ns, self._bus.now_ns)

    def _steer(self, controller: Controller, message: Any) -> None:
        stamp_ns = stamp_to_ns(message.header.stamp)
        wanted = [*getattr(controller, 'requests', lambda time: ())(stamp_ns * 1e-9)]
        is_first, before = self._requested is None, self._requested or ()
        self._requested = wanted
        # A request that is returned at successive steps is made once.
        for name in wanted:
            if name not in before:
                self.request(name)
        commands = controller.steer(stamp_ns * 1e-9, msg_to_motion(
            message, message.child_frame_id
        ))
        if commands is None and is_first:
            raise SourceError('steer()', 'expected commands by topic, got None at the first step, '
                              'which ends the flight; return {} for no command')
        if commands is None:
            self._body.finish()
            return
        if not isinstance(commands, Mapping):
            got = type(commands).__name__
            raise SourceError('steer()', f'expected commands by topic, or None to end, got {got}')
        for topic, command in commands.items():
            self._send(str(topic).strip('/'), stamp_ns, command)

    def _send(self, topic: str, stamp_ns: int, command: Command) -> None:
        is_new = topic not in self._outlets
        if is_new and not self._bus.takers(f'/{topic}'):
            known = sorted(
                each.strip('/') for each, kind in self._bus.kinds.items()
                if kind in (Kind.JOINTS, Kind.WRENCH) and each not in self.published_topics
            )
            hint = known_hint(topic, known, 'found')
            raise SourceError('steer()', f'no node receives {topic!r}{hint}')
        payload = payload_of(topic, command)
        if is_new:
            kind = Kind.JOINTS if isinstance(payload, JointRow) else Kind.WRENCH
            self._bus.check(f'/{topic}', kind)
            self._outlets[topic] = Outlet(f'/{topic}', kind, 'command', self._frame)
        outlet = self._outlets[topic]
        message = plain_message(outlet, stamp_ns, payload)
        self._bus.publish(outlet.topic, outlet.kind, message)


def running(
    spec: NodeSpec, files: Sequence[Path], bus: Bus, warn: Callable[[str], None]
) -> _Host:
    """Make and start the loop of a node as the node itself does; raise `ConfigError` likewise."""
    given = {**settings_of(files, spec.name), **spec.settled(files).parameters}
    if spec.executable == 'flight_state_node':
        own = REPLAYED[spec.executable]
        given.update({key: value for key, value in own.items() if key != 'replay'})
    given['use_sim_time'] = True
    host = _Host(spec.name, '', bus, spec.remappings, True, warn)
    host.run(LOOPS[spec.executable](_Parameters(spec.name, given), host))
    return host


class _Host(LoopHost):
    """Hosts one loop of a graph that is complete from the start."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.failure = ''

    def publishers_of(self, topic: str, unless: str = '') -> int:
        """Return 1: all publishers are in this process."""
        return 1

    def log(self, level: str, line: str) -> None:
        """Keep the last error, which is the reason why the loop stops."""
        super().log(level, line)
        if level == 'error':
            self.failure = line


class _Parameters(GivenParameters):
    """Parameters from files; optional types of messages are not available."""

    def has_type(self, kind: str) -> bool:
        """Return whether a plain message of a type can be made."""
        return kind not in (Kind.TF, Kind.ACTUATORS, Kind.PX4_MOTORS, Kind.PX4_SERVOS, Kind.RC_OUT)


def refusals(
    text: str, blocks: Sequence[ActuatorSpec], files: Sequence[Path], deployers: str = ''
) -> Iterator[tuple[str, ConfigError]]:
    """Yield name and error of each node of a robot that refuses to start, `BODY` among them.

    Parameters
    ----------
    text : str
        URDF.
    deployers : str
        Topic that deploys parachutes; '' for that of the files, or of their flight computer.
    """
    nodes = actuator_nodes(text, list(blocks), True, True)
    if pushing_blocks(blocks):
        simulation = Simulation(params_files=tuple(files))
        try:
            deployers = deployers or _DEPLOYERS * bool(simulation.of(FLIGHT).get('config_file'))
            nodes = simulated(nodes, blocks, text, simulation, deployers)
        except ConfigError as error:
            yield BODY, error
    bus, places = Bus(lambda *message: None), {block.name: block.locate for block in blocks}
    for spec in nodes:
        try:
            running(spec, files, bus, lambda line: None)
        except ConfigError as error:
            locate = places.get(spec.name)
            yield spec.name, locate(error, settings_of(files, spec.name)) if locate else error
