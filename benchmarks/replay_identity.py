# SPDX-License-Identifier: Apache-2.0
"""How often a replay over DDS gives the bytes of the live run: by rate, with /clock and without.

python -m benchmarks.replay_identity                      # flies the rocket first, 20 minutes
python -m benchmarks.replay_identity --bag BAG --config YAML --rates 10 --runs 1

With a bag the runs are held to its replay without DDS on this machine, else to the live run.
"""
from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.executors import Executor
from rclpy.serialization import deserialize_message

from benchmarks.wire import Wire
from propulsion_ros.graph.share import share_directory
from propulsion_ros.nodes.spin import make_executor
from propulsion_ros.replay.bags import BagReader, Recorded
from propulsion_ros.replay.player import Player
from propulsion_ros.replay.recorder import Recorder
from propulsion_ros.replay.robot import Choice, Robot
from propulsion_ros.replay.sources import BagSource
from propulsion_ros.tools.demo import own_network

HELD = ('wrench', 'state', 'fit', 'phase', 'subphase', 'apogee', 'events', 'flags', 'residual')
START_LIMIT = 120.0
LOOK, QUIET, SILENCE = 0.05, 2.5, 60.0
"""How long to wait for a message, for one that should not come, and for one that should [s]."""
Contents = dict[str, list[bytes]]


def contents(messages: Iterable[Recorded], wire: Wire, node_names: Sequence[str]) -> Contents:
    """Return the bytes of what the nodes published, by topic, without what padding holds."""
    topics: Contents = {}
    for message in messages:
        *_, parent, name = message.topic.split('/')
        is_tank = parent == 'tanks'
        node = message.topic.split('/')[-3] if is_tank else parent
        if node in node_names and (is_tank or name in HELD):
            topics.setdefault(message.topic, []).append(wire.canonical(message.data, message.type))
    return topics


def offline(
    vehicle: str, config: Path, bag: Path, wire: Wire
) -> tuple[Contents, list[str], frozenset[str]]:
    """Return what a replay without DDS publishes, the names of its nodes, and their topics."""
    with BagSource(bag) as source:
        robot = Robot(Choice(config, vehicle), source.inputs)
        source.begin(robot)
        # At the end each node is stopped; over DDS it is so when nothing is recorded any more.
        *moments, _ = source.play(robot)
        said = [
            Recorded(topic, kind, moment.stamp_ns, wire.serialise(message, kind))
            for moment in moments for topic, kind, message in moment.published
        ]
        names = [host.name for host in robot.hosts]
    return contents(said, wire, names), names, frozenset(robot.bus.kinds)


def over_dds(
    vehicle: str,
    config: Path,
    bag: Path,
    rate: float,
    clock: float,
    expected: Contents,
    inputs: Collection[str],
) -> list[Recorded]:
    """Play the topics of nodes from a bag into fresh ones, and return what they published."""
    stack = subprocess.Popen(  # noqa: S603  our own module, no shell
        [sys.executable, '-m', 'propulsion_ros.nodes.stack', '--vehicle', vehicle, '--replay',
         '--ros-args', '--params-file', str(config), '--log-level', 'error'],
    )
    context = rclpy.Context()
    rclpy.init(args=[], context=context)
    said: list[Recorded] = []
    try:
        executor = make_executor('events', context)
        recorder = Recorder(lambda message, offered: said.append(message), context=context)
        executor.add_node(recorder)
        recorder.settle(executor, expected, START_LIMIT)
        player = Player(rate, clock, context)
        executor.add_node(player)
        with BagReader(bag) as reader:
            topics = {
                topic: kind for topic, kind in reader.topics.items()
                if topic in inputs and topic != '/clock'
            }
            player.choose(topics, executor, START_LIMIT)
            if lost := player.play(reader.for_nodes(player.played), executor):
                raise TimeoutError(f'not received within its time: {", ".join(lost)}')
        hear_out(recorder, executor, expected)
        # The next run must receive nothing of this one.
        executor.shutdown()
        player.destroy_node()
        recorder.destroy_node()
    finally:
        stack.send_signal(signal.SIGINT)
        stack.wait(timeout=START_LIMIT)
        rclpy.try_shutdown(context=context)
    return said


def hear_out(recorder: Recorder, executor: Executor, expected: Contents) -> None:
    """Spin until all that is expected has come, and for so long that no more can be on its way.

    The diagnostics come once a second, the last ones say what was late.
    """
    heard, changed = -1, time.monotonic()
    while True:
        missing = any(recorder.counts[topic] < len(expected[topic]) for topic in expected)
        held = sum(recorder.counts[topic] for topic in expected)
        now = time.monotonic()
        if held != heard:
            heard, changed = held, now
        elif now - changed > (SILENCE if missing else QUIET):
            return
        executor.spin_once(timeout_sec=LOOK)


def late_inputs(said: Iterable[Recorded], node_names: Sequence[str]) -> int:
    """Return how many late inputs the nodes counted last; all must have published diagnostics."""
    late: dict[str, int] = {}
    for message in said:
        if message.topic == '/diagnostics':
            for status in deserialize_message(message.data, DiagnosticArray).status:
                late[status.name] = sum(
                    int(pair.value) for pair in status.values if pair.key.startswith('late')
                )
    silent = [name for name in node_names if not any(key.startswith(f'{name}:') for key in late)]
    if silent:
        raise RuntimeError(f'no diagnostics of {", ".join(silent)}')
    return sum(late.values())


def fly(vehicle: str, config: Path, bag: Path, until: float) -> None:
    """Record a live demo."""
    subprocess.run(  # noqa: S603  our own module, no shell
        [sys.executable, '-m', 'propulsion_ros.tools.cli', 'demo', '--vehicle', vehicle,
         '--output', str(bag.parent), '--record', str(bag), '--until', str(until)],
        check=True, stdout=subprocess.DEVNULL,
    )


def main() -> int:
    """Print one row for each setting; 0 where every run was identical."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--vehicle', default='rocket')
    parser.add_argument('--bag', type=Path, help='replay this one in place of a live flight')
    parser.add_argument('--config', type=Path, help='parameters of the live run')
    parser.add_argument('--until', type=float, default=20.5, help='end of the live flight [s]')
    parser.add_argument('--rates', type=float, nargs='+', default=[0.5, 1.0, 10.0])
    parser.add_argument('--clocks', type=float, nargs='+', default=[0.0, 40.0])
    parser.add_argument('--runs', type=int, default=5)
    options = parser.parse_args()
    wire, vehicle = Wire(), options.vehicle
    config = options.config or share_directory() / 'config' / f'{vehicle}_demo.yaml'
    with own_network(), tempfile.TemporaryDirectory() as folder:
        bag = options.bag or Path(folder) / 'live'
        if not options.bag:
            fly(vehicle, config, bag, options.until)
        expected, names, inputs = offline(vehicle, config, bag, wire)
        all_same = True
        if not options.bag:
            with BagReader(bag) as reader:
                live = contents(reader.messages(), wire, names)
            # The live nodes were stopped between two of them at their last step.
            all_same = report('without DDS', [compare(live, expected, cut=1)], [0])
        for rate in options.rates:
            for clock in options.clocks:
                results, late = [], []
                for _ in range(options.runs):
                    said = over_dds(vehicle, config, bag, rate, clock, expected, inputs)
                    results.append(compare(expected, contents(said, wire, names)))
                    late.append(late_inputs(said, names))
                told = f'/clock at {clock:g} Hz' if clock else 'no /clock'
                all_same &= report(f'{rate:g} x, {told}', results, late)
    return 0 if all_same else 1


def compare(expected: Contents, said: Contents, cut: int = 0) -> list[str]:
    """Return the topics that differ; of each the last ``cut`` messages may be missing."""
    different = []
    for topic in sorted(expected.keys() | said.keys()):
        messages, found = expected.get(topic, []), said.get(topic, [])
        count = min(len(messages), len(found))
        first = next((k for k in range(count) if messages[k] != found[k]), count)
        if first < max(len(messages), len(found)) - (cut if count > cut else 0):
            different.append(f'{topic} from {first} of {len(messages)}')
    return different


def report(name: str, results: Sequence[list[str]], late: Sequence[int]) -> bool:
    """Print a row; return whether every run was the same."""
    same = sum(not result for result in results)
    different = sorted({topic for result in results for topic in result})
    note = f'; different: {", ".join(different)}' if different else ''
    print(f'{name:<24} identical in {same} of {len(results)}, late {sum(late)}{note}', flush=True)
    return same == len(results)


if __name__ == '__main__':
    sys.exit(main())
