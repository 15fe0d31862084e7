# SPDX-License-Identifier: Apache-2.0
"""Runs the loops of a robot's nodes on recorded messages or rows of a table, without ROS."""
from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from propulsion_ros.graph.executables import LOOPS
from propulsion_ros.graph.family_params import loop_params_of, node_kind_of
from propulsion_ros.graph.node_config import block_of, family_of
from propulsion_ros.graph.simulation import BODY, NodeSpec, Simulation, with_current
from propulsion_ros.graph.wiring import inputs_of, replayed, robot_graph
from propulsion_ros.loops.ports import NONE, GivenParameters
from propulsion_ros.loops.stamped_ports import StampedPorts
from propulsion_ros.replay.host import CLOCK_TOPIC, Bus, LoopHost
from propulsion_ros.settings.errors import SourceError, naming
from propulsion_ros.settings.files import printable
from propulsion_ros.settings.flat import Parameter, known_hint
from propulsion_ros.settings.yaml_file import ParameterFile
from propulsion_ros.urdf.reader import actuators_from_urdf

_FLIGHT_STATE = 'flight_state'
_NOT_EXACT = {
    **{key: key for key in ('refused', 'late', 'late_aside', 'other_time', 'overflow', 'waiting')},
    'stray': 'not used for a stamp far off the others',
}
"""Counts of inputs that a live node may have handled differently, and their words."""


class Published(NamedTuple):
    """A message that a loop has published."""

    topic: str
    type: str
    """Such as '/boosters/wrench' and 'geometry_msgs/msg/WrenchStamped'."""
    message: Any
    """Object with the fields of the type."""


@dataclass(frozen=True)
class Choice:
    """Which nodes are replayed."""

    config: Path
    """Parameter file of the nodes."""
    vehicle: str = ''
    """A vehicle of the package, '' for none."""
    model: Path | None = None
    """Robot description with plugin blocks."""
    only: Collection[str] = ()
    """Node names; empty for all."""
    namespace: str = ''
    """Namespace of all nodes."""
    more: Sequence[Path] = ()
    """Parameter files whose values win over those of ``config``, the last one's over all."""


@dataclass(frozen=True)
class Inputs:
    """Inputs of the loops."""

    topics: Collection[str] = (CLOCK_TOPIC,)
    """Topics of a bag; loops receive what others publish on other topics only."""
    is_table: bool = False
    """True for a table, whose stamps are the time, as those of a clock."""
    is_bare: bool = False
    """True for a table of actuators alone, of which no input is late."""
    absent: Collection[str] = ()
    """Inputs that a table does not have, so that nothing waits for them."""


def print_warning(line: str) -> None:
    """Print a line on standard error."""
    print(line, file=sys.stderr)


class Robot:
    """Runs the loops of a robot's nodes on messages that it is given one by one.

    Raises `ConfigError` if a loop cannot be made.

    Parameters
    ----------
    inputs : Inputs
        Inputs that the loops will be given.
    note : callable or None
        Takes the usual lines of flight software: phases, apogee, events.

    Attributes
    ----------
    place : str
        Place of the input in its file, for warnings; '' for none.
    """

    def __init__(
        self, choice: Choice, inputs: Inputs, warn: Callable[[str], None] = print_warning,
        note: Callable[[str], None] | None = None,
    ) -> None:
        self._choice, self._inputs, self._warn_of, self._note = choice, inputs, warn, note
        self._published: list[Published] = []
        # Depth first is not the order of arrival if several messages come at once; bags were
        # always replayed so, and their outputs must not change.
        self.bus = Bus(self._take, inputs.topics, depth_first=not inputs.is_bare)
        self.place = ''
        self._given = [ParameterFile(path) for path in (choice.config, *choice.more)]
        shipped, specs = _specs(choice, self._given[0], inputs)
        names = [spec.name for spec in specs]
        for name in choice.only:
            if name not in names:
                hint = known_hint(name, names, 'found')
                raise SourceError(printable(choice.config), f'no node {name!r}{hint}')
        self.hosts = [
            self._run(spec, shipped) for spec in specs
            if not choice.only or spec.name in choice.only
        ]
        for file in self._given:
            file.check_names(names, choice.namespace)

    def _run(self, spec: NodeSpec, shipped: Sequence[ParameterFile]) -> LoopHost:
        """Make the loop of a node and start it."""
        choice, values = self._choice, self._parameters(spec, shipped)
        host = LoopHost(
            spec.name, choice.namespace, self.bus, spec.remappings,
            bool(values.get('use_sim_time')), self.warn,
            self._note if spec.name == _FLIGHT_STATE else None,
        )
        parameters = _Parameters(spec.name, values, choice.namespace, self._inputs)
        with naming(f'{choice.config}: {spec.name}'):
            host.run(LOOPS[spec.executable](parameters, host))
        return host

    def _parameters(self, spec: NodeSpec, shipped: Sequence[ParameterFile]) -> dict[str, Any]:
        """Return the parameters of a node: as the replay sets them, else as the files do."""
        namespace = self._choice.namespace or '/'
        own = [file.of(spec.name, namespace) for file in self._given]
        fixed = dict(spec.parameters)
        if CLOCK_TOPIC in self._inputs.topics:
            fixed['use_sim_time'] = True
            # A recorded clock may step nodes as the live one did.
            if self._inputs.is_table or any('step_on' in each for each in own):
                fixed.pop('step_on', None)
        if self._inputs.is_table and spec.executable != 'flight_state_node':
            fixed.pop('replay', None)
        for values in (*reversed(own), *(file.of(spec.name, namespace) for file in shipped)):
            fixed = {**values, **fixed}
        return {**spec.defaults, **fixed}

    @property
    def requests(self) -> list[str]:
        """Topics of requests to flight software, such as its launch."""
        flown = [host for host in self.hosts if host.name == _FLIGHT_STATE]
        return [host.resolve_topic_name('~/request') for host in flown]

    @property
    def wanted(self) -> frozenset[str]:
        """Topics that some loop takes; /clock only if a loop steps on it."""
        needs_clock = any(
            port.topic == CLOCK_TOPIC and getattr(host.loop, 'takes_clock', True)
            for host in self.hosts for port in host.loop.ports
        )
        return frozenset(self.bus.kinds) - (set() if needs_clock else {CLOCK_TOPIC})

    @property
    def unjoined(self) -> str:
        """Line on wanted topics that the inputs have only as those of a body; '' for none."""
        of_body = {
            topic: _of_body(self._choice, topic.rpartition('/')[2])
            for topic in sorted(self.wanted.difference(self._inputs.topics))
        }
        pairs = [
            f'{topic} as {body}' for topic, body in of_body.items()
            if body in self._inputs.topics and not (self._choice.model or self._choice.vehicle)
        ]
        wanted = f'it has what is wanted as of a body, {", ".join(pairs)}: add --model'
        return wanted if pairs else ''

    @property
    def step_requests(self) -> list[str]:
        """Topics of the requests that determined the steps of nodes besides their inputs."""
        return [
            host.resolve_topic_name(port.topic) for host, loop in self.stepped
            for port in loop.record.ports
        ]

    def flush(self) -> list[Published]:
        """Let the loops make the steps due at the end of a recording; return their messages."""
        for _, loop in self.stepped:
            loop.flush()
        return self.feed((), 0, together=True)

    def conclude(self) -> None:
        """Have flight software log what it missed, and why charges never fired."""
        for host in self.hosts:
            getattr(host.loop, 'conclude', lambda: None)()

    @property
    def stepped(self) -> list[tuple[LoopHost, StampedPorts]]:
        """Hosts and loops that take commands."""
        return [
            (host, host.loop) for host in self.hosts if isinstance(host.loop, StampedPorts)
        ]

    def feed(
        self, messages: Iterable[tuple[str, Any]], stamp_ns: int, together: bool = False
    ) -> list[Published]:
        """Give messages to the loops, see `Bus.feed`, and return those that they publish."""
        self.bus.feed(messages, stamp_ns, together)
        published, self._published = self._published, []
        return published

    def counts(self) -> Counter[str]:
        """Return the number of inputs that were not taken as they came, by node and reason."""
        counts: Counter[str] = Counter()
        for host in self.hosts:
            for _, _, _, values in host.loop.health():
                for key, words in _NOT_EXACT.items():
                    counts[f'{words} by {host.name}'] += int(values.get(key, 0))
        return +counts

    def _take(self, topic: str, kind: str, message: Any) -> None:
        self._published.append(Published(topic, kind, message))

    def warn(self, line: str) -> None:
        """Take a warning, with the place of the input."""
        self._warn_of(f'{self.place}: {line}' if self.place else line)


class _Parameters(GivenParameters):
    """Parameters from files, without waits for inputs that never come."""

    def __init__(
        self, node_name: str, given: Mapping[str, Any], node_namespace: str, inputs: Inputs
    ) -> None:
        super().__init__(node_name, given, node_namespace)
        self._inputs = inputs

    def declare(
        self, parameters: Iterable[Parameter], defaults: Mapping[str, Any] = NONE,
        more: bool = False,
    ) -> dict[str, Any]:
        """Return the values of parameters; see `Parameters`."""
        values = super().declare(parameters, defaults, more)
        if values.get('wait_for'):
            absent = self._inputs.absent
            values['wait_for'] = [each for each in values['wait_for'] if each not in absent]
        if self._inputs.is_bare and values.get('hold_back'):
            values['hold_back'] = 0.0
        return values


def _specs(
    choice: Choice, given: ParameterFile, inputs: Inputs
) -> tuple[list[ParameterFile], list[NodeSpec]]:
    """Return the parameter files that come with the package, and the nodes."""
    body = Simulation(params_files=(choice.config, *choice.more), namespace=choice.namespace)
    if choice.vehicle:
        graph = robot_graph(choice.vehicle, choice.model or '', replay=True, simulation=body)
        shipped = [ParameterFile(graph.params_file)] if graph.params_file else []
        return shipped, _joined(choice, inputs, graph.nodes)
    description, specs = '', []
    if choice.model:
        is_simulated = _of_body(choice, 'odometry') in inputs.topics
        robot = robot_graph(
            model=choice.model, replay=True, simulation=body if is_simulated else None
        )
        description, specs = robot.robot_description, list(robot.nodes)
    known = [spec.name for spec in specs]
    others = replayed(_of_file(choice.config, given, description, known))
    specs += [each for each in others if not inputs.is_bare or each.name != _FLIGHT_STATE]
    if not specs:
        kind = 'actuator node' if inputs.is_bare else 'node that can be replayed'
        found = ', '.join(given.nodes) or 'none'
        raise SourceError(
            printable(choice.config), f'no {kind}; found: {found}; a vehicle is given by '
            '--vehicle, a robot description by --model'
        )
    # Nodes that take the state of others as their command come after those.
    specs.sort(key=lambda spec: '~/command' in spec.remappings)
    return [], _joined(choice, inputs, specs)


def _of_body(choice: Choice, topic: str) -> str:
    """Return the full name of a topic of a simulated body."""
    return '/'.join(['', *filter(None, choice.namespace.split('/')), BODY, topic])


def _joined(choice: Choice, inputs: Inputs, specs: Sequence[NodeSpec]) -> list[NodeSpec]:
    """Return the nodes, which receive the current of the fluid if a recording has it."""
    return with_current(specs) if _of_body(choice, 'current') in inputs.topics else list(specs)


def _of_file(
    config: Path, given: ParameterFile, description: str, known: Collection[str]
) -> Iterator[NodeSpec]:
    """Yield the nodes of a parameter file by their names or families, with their inputs."""
    blocks = actuators_from_urdf(description, loop_params_of) if description else []
    families: dict[str, str] = {}
    parameters: dict[str, dict[str, Any]] = {}
    for name in given.nodes:
        if name not in known:
            with naming(f'{config}: {name}'):
                block = block_of(given.of(name), blocks, name)
                families[name] = family = family_of(given.of(name), block, name)
                described = {'robot_description': description} if block else {}
                parameters[name] = {'family': family, **described}
    for name, family in families.items():
        if family:
            yield NodeSpec(
                node_kind_of(family).executable, name, parameters[name],
                inputs_of(family, families),
            )
        elif name == _FLIGHT_STATE:
            yield NodeSpec('flight_state_node', name, {})
