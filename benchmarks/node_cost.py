"""What an actuator node costs beside a bare rclpy node: ``python -m benchmarks.node_cost``.

Both run in processes of their own with the same executor. Commands go to them in turns, each one
waits for the wrench with its stamp, so that what else the machine does falls on both alike.
"""
from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import statistics
import subprocess
import sys
import time
from math import nan
from pathlib import Path
from typing import Any

import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState

from propulsion_ros.models.fam import FamParams
from propulsion_ros.nodes import qos
from propulsion_ros.nodes.conversions import doubles, ns_to_stamp
from propulsion_ros.nodes.spin import make_executor

PERIOD_NS = 10_000_000
N = 8
_NAMES = [f'a{i}' for i in range(N)]
_PLACES = [x for i in range(N) for x in (0.1 * i, 0.2, 0.0)]
FAMILIES: dict[str, dict[str, Any]] = {
    'boosters': {'max_thrust': [1000.0], 'max_fuel_rate': [0.1], 'position': _PLACES},
    'rotors': {'max_thrust': [10.0], 'motor_constant': [1e-5], 'time_constant_up': [0.05],
               'time_constant_down': [0.05], 'position': _PLACES},
    'thrusters': {'rotor_constant': [3e-4], 'dynamics': ['first_order'], 'time_constant': [0.1],
                  'position': _PLACES},
    'fins': {'two_lines.fin': _NAMES, 'two_lines.area': [0.01],
             'two_lines.fluid_density': [1000.0], 'two_lines.stall_angle': [0.4],
             'two_lines.lift_slope': [4.0], 'two_lines.stalled_lift_slope': [-1.0],
             'two_lines.drag_slope': [0.5], 'two_lines.stalled_drag_slope': [0.6],
             'two_lines.zero_lift_drag': [0.01], 'min_deflection': [-1.0],
             'max_deflection': [1.0], 'position': _PLACES},
}
ASTROBEE = ('fam', 'propulsion_modules', 'inverse_fam')
"""Families of twelve nozzles and two impellers, whatever n."""
FIELDS = {'boosters': 'effort', 'rotors': 'effort', 'thrusters': 'velocity', 'fins': 'position'}
_NOZZLES, _IMPELLERS = FamParams().nozzles.names, FamParams().impellers.names
_BLOCKS, _BLOCK = 15, 100
_LIMIT = 30.0


class BareNode(Node):
    """Takes what a family takes, publishes a WrenchStamped and a JointState, and nothing else."""

    def __init__(self, name: str, family: str) -> None:
        super().__init__(name)
        kind, topic = _command_of(family)
        self._names = [*_NOZZLES, *_IMPELLERS] if family in ASTROBEE else _NAMES
        self._wrench = self.create_publisher(WrenchStamped, '~/wrench', qos.STATE)
        self._state = self.create_publisher(JointState, '~/state', qos.STATE)
        self.create_subscription(kind, f'~/{topic}', self._on_command, qos.COMMAND)
        self._zeros = [0.0] * len(self._names)

    def _on_command(self, message: Any) -> None:
        state = JointState()
        state.header.stamp = message.header.stamp
        state.header.frame_id = 'base_link'
        state.name = list(self._names)
        state.velocity, state.effort = doubles(self._zeros), doubles(self._zeros)
        self._state.publish(state)
        wrench = WrenchStamped()
        wrench.header.stamp = message.header.stamp
        wrench.header.frame_id = 'base_link'
        force = wrench.wrench.force
        force.x = 1.0
        self._wrench.publish(wrench)


class Peer:
    """One server process, and the client's ends of its topics."""

    def __init__(self, client: Node, family: str, executor: str, bare: bool = False) -> None:
        self.name = 'bare' if bare else family
        self._family = family
        command = [sys.executable, '-m', 'benchmarks.node_cost', '--serve', family,
                   '--executor', executor, *(['--bare'] if bare else [])]
        self._process = subprocess.Popen(command)  # noqa: S603  this very script
        kind, topic = _command_of(family)
        self._publisher = client.create_publisher(kind, f'/{self.name}/{topic}', qos.COMMAND)
        self.heard_ns = 0
        self._subscription = client.create_subscription(
            WrenchStamped, f'/{self.name}/wrench', self._on_wrench, qos.STATE
        )
        self._field = FIELDS.get(family, 'effort')

    def _on_wrench(self, message: WrenchStamped) -> None:
        self.heard_ns = message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec

    @property
    def is_ready(self) -> bool:
        """Whether both ends have found each other."""
        return (
            self._publisher.get_subscription_count() > 0
            and self._subscription.get_publisher_count() > 0
        )

    def send(self, stamp_ns: int, value: float) -> None:
        """Publish one command."""
        if self._family == 'fam':
            wrench = WrenchStamped()
            wrench.header.stamp = ns_to_stamp(stamp_ns)
            wrench.wrench.force.x = 0.1 * value
            self._publisher.publish(wrench)
            return
        message = JointState()
        message.header.stamp = ns_to_stamp(stamp_ns)
        if self._family in ASTROBEE:
            nozzles, impellers = len(_NOZZLES), len(_IMPELLERS)
            message.name = [*_NOZZLES, *_IMPELLERS]
            message.position = [value] * nozzles + [nan] * impellers
            message.velocity = [nan] * nozzles + [200.0] * impellers
        else:
            message.name = _NAMES
            setattr(message, self._field, [value] * N)
        self._publisher.publish(message)

    @property
    def cpu_seconds(self) -> float:
        """CPU time of all threads of the process so far, to the nanosecond."""
        tasks = Path(f'/proc/{self._process.pid}/task').glob('*/schedstat')
        return sum(int(task.read_text().split()[0]) for task in tasks) * 1e-9

    def stop(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.wait()


def measure(family: str, executor_kind: str) -> dict[str, float]:
    """Return CPU time and median round trip of a message, and their ratios."""
    client = Node('client')
    executor = make_executor('single')
    executor.add_node(client)
    peers = {
        'bare': Peer(client, family, executor_kind, bare=True),
        'ours': Peer(client, family, executor_kind),
    }
    try:
        _spin_until(executor, lambda: all(p.is_ready for p in peers.values()), 'both nodes')
        trips: dict[str, list[float]] = {name: [] for name in peers}
        cpu = dict.fromkeys(peers, 0.0)
        for block in range(_BLOCKS + 1):
            for name, peer in peers.items():
                before = peer.cpu_seconds
                # Stamp after stamp, so that each command makes one step and no more.
                times = [
                    _round_trip(executor, peer, (100 + block * _BLOCK + i) * PERIOD_NS)
                    for i in range(_BLOCK)
                ]
                # The first block loads what is lazy.
                if block:
                    cpu[name] += peer.cpu_seconds - before
                    trips[name] += times
        count = _BLOCKS * _BLOCK
        result = {f'{name}_cpu': cpu[name] / count for name in peers}
        result |= {f'{name}_trip': statistics.median(trips[name]) for name in peers}
        for what in ('cpu', 'trip'):
            result[f'{what}_ratio'] = result[f'ours_{what}'] / result[f'bare_{what}']
        return result
    finally:
        for peer in peers.values():
            peer.stop()
        executor.shutdown()
        client.destroy_node()


def _round_trip(executor: Any, peer: Peer, stamp_ns: int) -> float:
    started = time.perf_counter()
    peer.send(stamp_ns, 0.5)
    while peer.heard_ns < stamp_ns:
        executor.spin_once(timeout_sec=1.0)
        if time.perf_counter() - started > _LIMIT:
            raise TimeoutError(f'{peer.name}: no wrench within {_LIMIT:g} s')
    return time.perf_counter() - started


def _spin_until(executor: Any, condition: Any, what: str) -> None:
    end = time.monotonic() + _LIMIT
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f'waited {_LIMIT:g} s for {what}')
        executor.spin_once(timeout_sec=0.05)


def _command_of(family: str) -> tuple[Any, str]:
    """Return type and topic of a family's commands."""
    return (WrenchStamped, 'wrench_command') if family == 'fam' else (JointState, 'command')


def serve(family: str, executor_kind: str, bare: bool) -> None:
    """Run one of both nodes until it is told to stop."""
    # Only what is measured is loaded into its process.
    from propulsion_ros.nodes.actuator_node import ActuatorNode
    from propulsion_ros.nodes.inverse_fam_node import InverseFamNode

    rclpy.init()
    if bare:
        node: Node = BareNode('bare', family)
    else:
        parameters = {'family': family}
        if family == 'inverse_fam':
            # Without the system's clock, whose time is not that of our stamps.
            parameters |= {'use_sim_time': True}
        else:
            parameters |= {'update_rate': 1e9 / PERIOD_NS, 'step_on': 'stamp'}
        if family not in ASTROBEE:
            parameters |= {'names': _NAMES, **FAMILIES[family]}
        cls = InverseFamNode if family == 'inverse_fam' else ActuatorNode
        node = cls(
            family, parameter_overrides=[Parameter(k, value=v) for k, v in parameters.items()]
        )
        node.start()
    executor = make_executor(executor_kind)
    executor.add_node(node)
    with contextlib.suppress(ExternalShutdownException):
        while rclpy.ok():
            executor.spin_once(timeout_sec=1.0)


def main() -> int:
    """Run the script."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').splitlines()[0])
    parser.add_argument('--serve', help=argparse.SUPPRESS)
    parser.add_argument('--bare', action='store_true', help=argparse.SUPPRESS)
    parser.add_argument('--executor', choices=('events', 'single'), default='events')
    parser.add_argument('--json', metavar='FILE', help='write the numbers here')
    args = parser.parse_args()
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    if args.serve:
        serve(args.serve, args.executor, args.bare)
        return 0
    os.environ['ROS_DOMAIN_ID'] = str(random.SystemRandom().randint(1, 100))
    rclpy.init()
    print(f'n = {N}, executor {args.executor}; ours, bare node, ratio')
    results = {}
    for family in (*FAMILIES, *ASTROBEE):
        found = results[family] = measure(family, args.executor)
        print(
            f'{family:18}  CPU {found["ours_cpu"] * 1e6:5.0f} {found["bare_cpu"] * 1e6:5.0f} us '
            f'{found["cpu_ratio"]:5.2f}    round trip {found["ours_trip"] * 1e6:5.0f} '
            f'{found["bare_trip"] * 1e6:5.0f} us {found["trip_ratio"]:5.2f}', flush=True,
        )
    rclpy.shutdown()
    if args.json:
        Path(args.json).write_text(json.dumps(results, indent=2) + '\n', encoding='utf-8')
    return 0


if __name__ == '__main__':
    sys.exit(main())
