"""Nodes over recorded messages: the very nodes of a robot, hosted without a graph."""
from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

from propulsion_ros.graph.family_params import node_kind_of
from propulsion_ros.graph.node_config import family_of, in_file
from propulsion_ros.graph.wiring import NodeSpec, inputs_of, replayed, robot_graph, vehicle_graph
from propulsion_ros.nodes.actuator_node import ActuatorNode
from propulsion_ros.nodes.base import PropulsionNode
from propulsion_ros.nodes.inverse_fam_node import InverseFamNode
from propulsion_ros.nodes.stack import EXECUTABLES
from propulsion_ros.replay.bags import Recorded
from propulsion_ros.replay.cdr import Wire
from propulsion_ros.replay.hosted import CLOCK_TOPIC, Bus, host
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.flat import suggestion
from propulsion_ros.settings.yaml_file import ParameterFile

_FLIGHT_STATE = 'flight_state'
_NOT_EXACT = (
    'refused', 'late', 'late_aside', 'other_time', 'stray', 'overflow', 'waiting',
)
"""Counts of what a live node may have taken in another way."""


class BagReplay:
    """The nodes of a robot, given recorded messages one by one.

    Parameters
    ----------
    config : Path
        Parameter file of the nodes.
    topics : collection of str
        What was recorded; nodes hear each other only on other topics.
    wire : Wire
        Reads and writes messages.
    vehicle : str
        A vehicle of the package, '' for none.
    model : Path or None
        Robot description with plugin blocks.
    only : collection of str
        Node names; empty for all.
    namespace : str
        Of all nodes.
    step_on : str
        What nodes step on where CONFIG does not say and there is a clock.

    Attributes
    ----------
    nodes : list of PropulsionNode
        Configured and active.

    Raises
    ------
    ConfigError
        Where a node cannot be configured; it has said why.
    """

    def __init__(
        self,
        config: Path,
        topics: Collection[str],
        wire: Wire,
        vehicle: str = '',
        model: Path | None = None,
        only: Collection[str] = (),
        namespace: str = '',
        step_on: str = 'stamp',
    ) -> None:
        self._now_ns = 0
        self._said: list[Recorded] = []
        self._bus = Bus(self._take, wire, topics)
        given = ParameterFile(config)
        files, specs = _specs(config, given, vehicle, model)
        names = [spec.name for spec in specs]
        for name in only:
            if name not in names:
                known = ', '.join(names) or 'none'
                raise SourceError(
                    str(config), f'no node {name!r}{suggestion(name, names)}; found: {known}'
                )
        if not specs:
            raise SourceError(
                str(config), 'no node that can be replayed; a vehicle is given by --vehicle, '
                'a robot description by --model'
            )
        self.nodes: list[PropulsionNode] = []
        for spec in specs:
            if only and spec.name not in only:
                continue
            parameters = dict(spec.parameters)
            own = given.of(spec.name, namespace or '/')
            if CLOCK_TOPIC in topics:
                parameters['use_sim_time'] = True
                if 'step_on' in parameters:
                    # A recorded clock may step them as the live one did.
                    parameters['step_on'] = own.get('step_on', step_on)
            for file in reversed(files):
                parameters = {**file.of(spec.name, namespace or '/'), **parameters}
            node = host(
                EXECUTABLES[spec.executable], spec.name, self._bus, namespace, spec.remappings,
                parameters,
            )
            if node.has_failed:
                raise SourceError(f'{config}: {spec.name}', 'cannot be configured, see above')
            self.nodes.append(node)
        given.check_names(names, namespace)

    @property
    def commanded(self) -> list[ActuatorNode | InverseFamNode]:
        """Nodes that take commands."""
        return [node for node in self.nodes if isinstance(node, (ActuatorNode, InverseFamNode))]

    @property
    def inputs(self) -> frozenset[str]:
        """Topics that the nodes hear."""
        return self._bus.wanted

    def feed(self, message: Recorded) -> list[Recorded]:
        """Give a message to the nodes and return what they say to it, stamped as it is."""
        self._now_ns = message.stamp_ns
        self._bus.feed(message.topic, message.type, message.data, message.stamp_ns)
        said, self._said = self._said, []
        # What was said at the start belongs to the first message.
        return [m if m.stamp_ns else replace(m, stamp_ns=message.stamp_ns) for m in said]

    def counts(self) -> Counter[str]:
        """Return what was not taken as it came, by node and reason."""
        counts: Counter[str] = Counter()
        for node in self.nodes:
            for _, _, _, values in node.health():
                for key in _NOT_EXACT:
                    counts[f'{key} by {node.get_name()}'] += int(values.get(key, 0))
        return +counts

    def _take(self, topic: str, kind: str, data: bytes) -> None:
        self._said.append(Recorded(topic, kind, self._now_ns, data))


def _specs(
    config: Path, given: ParameterFile, vehicle: str, model: Path | None
) -> tuple[list[ParameterFile], list[NodeSpec]]:
    """Return the parameter files, of which later ones win, and the nodes."""
    if vehicle:
        graph = vehicle_graph(vehicle, model=model or '', replay=True)
        shipped = [ParameterFile(graph.params_file)] if graph.params_file else []
        return [*shipped, given], list(graph.nodes)
    specs = list(robot_graph(model, replay=True).nodes) if model else []
    known = [spec.name for spec in specs]
    return [given], [*specs, *replayed(_of_file(config, given, known))]


def _of_file(
    config: Path, given: ParameterFile, known: Collection[str]
) -> Iterator[NodeSpec]:
    """Yield the nodes that a parameter file has by their names or families, joined."""
    families = {}
    for name in given.nodes:
        if name not in known:
            with in_file(config, name):
                families[name] = family_of(given.of(name), None, name)
    for name, family in families.items():
        if family:
            executable, remappings = node_kind_of(family).executable, inputs_of(family, families)
            yield NodeSpec(executable, name, {'family': family}, remappings)
        elif name == _FLIGHT_STATE:
            yield NodeSpec('flight_state_node', name, {})
