# SPDX-License-Identifier: Apache-2.0
"""A flight whose topics lose their order on the way, as over DDS, and its recording."""
from __future__ import annotations

from collections import deque

import numpy as np

from propulsion_ros.graph.executables import LOOPS
from propulsion_ros.graph.simulation import BODY, Simulation
from propulsion_ros.graph.wiring import REPLAYED, robot_graph
from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.loops.payloads import JointRow, Kind
from propulsion_ros.loops.ports import GivenParameters, Outlet
from propulsion_ros.loops.stamped_ports import StampedPorts
from propulsion_ros.models.common.family import FIELDS
from propulsion_ros.replay.bags import BagWriter, Recorded
from propulsion_ros.replay.host import Bus, LoopHost
from propulsion_ros.replay.plain import Wire, plain_message
from propulsion_ros.settings.flat import build, parameters_of
from propulsion_ros.settings.yaml_file import settings_of

ODOMETRY, SETTLED_NS = f'/{BODY}/odometry', 10**10
LEAD = 5
"""How many steps ahead a command is stamped for which no step waits."""


class ShuffledBus(Bus):
    """Each subscription receives its messages in order, and all of them in any order."""

    def __init__(self, rng):
        super().__init__(lambda *published: None)
        self.rng, self.links, self.recorder, self.recorded = rng, {}, {}, []
        self.queues = []

    def subscribe(self, topic, kind, take):
        """Give a subscription a queue of its own."""
        self.queues.append(deque())
        self.links.setdefault(topic, []).append((self.queues[-1], take))

    def publish(self, topic, kind, message):
        """Queue a message for each subscription, and for the recorder."""
        if kind == Kind.CLOCK:
            self.now_ns = stamp_to_ns(message.clock)
        for queue, take in self.links.get(topic, ()):
            queue.append((take, message))
        self.recorder.setdefault(topic, deque()).append((kind, message))

    def deliver(self):
        """Deliver until nothing is on its way."""
        while waiting := [queue for queue in self.queues if queue]:
            take, message = waiting[self.rng.integers(len(waiting))].popleft()
            take(message)
            if self.rng.random() < 0.3:
                self.record(self.rng.integers(1, 4))
        self.record(1000)

    def record(self, count):
        """Let the recorder take some of what it has not taken yet."""
        for _ in range(count):
            topics = [topic for topic, queue in self.recorder.items() if queue]
            if not topics:
                return
            topic = topics[self.rng.integers(len(topics))]
            self.recorded.append((topic, *self.recorder[topic].popleft()))


class Node(GivenParameters):
    """The live parameters of a node, and its loop."""

    def __init__(self, spec, given, bus, lines):
        super().__init__(spec.name, given)
        self.changed = {}
        self.host = _Host(spec.name, '', bus, spec.remappings, True, lines.append)
        self.host.run(LOOPS[spec.executable](self, self.host))
        self.loop = self.host.loop

    def has_type(self, kind):
        return kind not in (Kind.TF, Kind.ACTUATORS)

    def follow_live(self, classes, values, loop):
        self.live = classes, values, loop.retune

    @property
    def live_parameters(self):
        """Parameters that may change."""
        return [
            parameter for cls in self.live[0] for parameter in parameters_of(cls)
            if parameter.spec.live
        ]

    def set(self, changed):
        """Change live parameters."""
        classes, values, apply = self.live
        self.changed.update(changed)
        apply(changed, *(build(cls, {**values, **self.changed}) for cls in classes))

    def call(self, service, data=True):
        """Call a service."""
        for request in self.loop.requests:
            if request.topic == f'~/{service}':
                request.serve(data)

    def pause(self):
        """Deactivate."""
        self.loop.stop()
        self.host.is_active = False

    def resume(self):
        """Activate again."""
        self.host.is_active = True
        self.loop.start()


class _Host(LoopHost):
    def publishers_of(self, topic, unless=''):
        return 1


class ShuffledFlight:
    """Flies a vehicle with sines as commands.

    Parameters
    ----------
    vehicle : str
        Of the package.
    rng : numpy.random.Generator
        Draws the order of deliveries.
    wait_for : sequence of str
        Topics that each step waits for.
    duration : float
        Of the flight [s].
    given : Path
        Parameter file that the replay does not get.
    acts : mapping of int
        ``act(flight)`` to be called by the controller at a step.
    """

    def __init__(self, vehicle, rng, wait_for, duration, given, acts):
        settings = {'duration': duration, 'real_time_factor': 0.0}
        graph = robot_graph(
            vehicle, simulation=Simulation(tuple(wait_for), settings, (given,))
        )
        self.rng, self.acts, self.lines, self.steps = rng, dict(acts), [], 0
        self.wait_for = {f'/{topic}' for topic in wait_for}
        self.bus, self.nodes = ShuffledBus(rng), {}
        for spec in graph.nodes:
            own = {
                **settings_of([graph.params_file, given], spec.name), **spec.settled([]).parameters,
            }
            if spec.executable == 'flight_state_node':
                own.update({**REPLAYED[spec.executable], 'replay': False})
            self.nodes[spec.name] = Node(spec, {**own, 'use_sim_time': True}, self.bus, self.lines)
        self.body = self.nodes[BODY]
        self.period_ns = self.body.loop._ticks.stamp(1)
        self.outlets = [*self._outlets(graph)]
        self.bus.subscribe(ODOMETRY, Kind.ODOMETRY, self._steer)

    @property
    def stepped(self):
        """Nodes whose steps are replayed."""
        return {
            name: node for name, node in self.nodes.items() if isinstance(node.loop, StampedPorts)
        }

    def _outlets(self, graph):
        """Yield each command topic that no node publishes, with what makes its numbers."""
        published = {
            topic for node in self.nodes.values() for topic in node.host.published_topics
        } - {'/boosters/command'}
        for node in self.nodes.values():
            host, loop = node.host, node.loop
            port = next((p for p in loop.ports if p.topic.endswith('command')), None)
            if port is None or host.resolve_topic_name(port.topic) in published:
                continue
            topic = host.resolve_topic_name(port.topic)
            rates = self.rng.uniform(0.5, 9.0, 24)
            if port.kind == Kind.WRENCH:
                yield Outlet(topic, port.kind, 'command', self.body.loop._frame), rates, None
            elif topic != '/inverse_fam/command':
                family = loop.family
                names = tuple(family.command_names)
                yield Outlet(topic, port.kind, 'command', names=names), rates, family

    def _steer(self, message):
        stamp_ns = stamp_to_ns(message.header.stamp)
        self.steps += 1
        # A step that is announced again is no other one.
        for act in self.acts.pop(round(stamp_ns / self.period_ns), ()):
            act(self)
        for outlet, rates, family in self.outlets:
            lead = 0 if outlet.topic in self.wait_for else LEAD
            waves = np.sin(rates * (stamp_ns * 1e-9 + lead) + np.arange(len(rates)))
            payload = 0.2 * waves[:6] if family is None else _row(family, waves)
            self.bus.publish(outlet.topic, outlet.kind, plain_message(
                outlet, stamp_ns + lead * self.period_ns, payload
            ))

    def fly(self):
        """Fly to the end, and stop all nodes."""
        (look,) = [timer.call for timer in self.body.loop.timers]
        for k in range(100):
            self.bus.steady_ns = k * SETTLED_NS
            look()
            self.bus.deliver()
            if not self.body.host.is_active:
                break
        for node in self.nodes.values():
            if node.host.is_active:
                node.pause()
        self.bus.deliver()

    def write(self, path):
        """Write what was recorded into a bag."""
        wire = Wire()
        with BagWriter(path) as writer:
            for i, (topic, kind, message) in enumerate(self.bus.recorded, start=1):
                if kind == Kind.IMU:
                    # No node of a vehicle takes it.
                    continue
                writer.write(Recorded(topic, kind, i * 1000, wire.serialise(message, kind)))


def _row(family, waves):
    """Return the command of a family by numbers between -1 and 1."""
    m = len(family.command_names)
    values = {field: np.full(m, np.nan) for field in FIELDS}
    limits = dict(zip(family.actuator_names, np.transpose(
        family.thrust_limits), strict=True)) if hasattr(family, 'thrust_limits') else {}
    for i, (name, field) in enumerate(zip(
        family.command_names, family.command_fields, strict=True
    )):
        lower, upper = limits.get(name, (-0.1, 0.1))
        middle, half = (lower + upper) / 2, (upper - lower) / 2
        if field == 'velocity':
            middle, half = 0.0, 50.0
        elif field == 'position':
            middle, half = 0.0, 0.1
        values[field][i] = middle + 0.9 * half * waves[i % len(waves)]
    return JointRow(**values)
