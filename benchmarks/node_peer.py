# SPDX-License-Identifier: Apache-2.0
"""A node of a family or a bare one of the same messages, and a client's ends of its topics."""
from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Any

import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

from propulsion_ros.loops.command_hold import FIELDS
from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.messages import qos
from propulsion_ros.messages.fields import doubles, ns_to_stamp
from propulsion_ros.models.fam.fam import FamParams
from propulsion_ros.nodes.actuator_node import ActuatorNode
from propulsion_ros.nodes.inverse_fam_node import InverseFamNode
from propulsion_ros.nodes.spin import make_executor

PERIOD_NS = 10_000_000
_SETTINGS: dict[str, dict[str, Any]] = {
    'boosters': {'max_thrust': [1000.0], 'max_fuel_rate': [0.1]},
    'rotors': {'max_thrust': [10.0], 'motor_constant': [1e-5], 'time_constant_up': [0.05],
               'time_constant_down': [0.05]},
    'thrusters': {'rotor_constant': [3e-4], 'dynamics': ['first_order'], 'time_constant': [0.1]},
    'fins': {'two_lines.area': [0.01], 'two_lines.fluid_density': [1000.0],
             'two_lines.stall_angle': [0.4], 'two_lines.lift_slope': [4.0],
             'two_lines.stalled_lift_slope': [-1.0], 'two_lines.drag_slope': [0.5],
             'two_lines.stalled_drag_slope': [0.6], 'two_lines.zero_lift_drag': [0.01],
             'min_deflection': [-1.0], 'max_deflection': [1.0]},
}
ASTROBEE = ('fam', 'propulsion_modules', 'inverse_fam')
"""Families of twelve nozzles and two impellers, whatever n."""
FAMILIES = (*_SETTINGS, *ASTROBEE)
EXECUTORS = ('events', 'single')
_FIELDS = {'boosters': 'effort', 'rotors': 'effort', 'thrusters': 'velocity', 'fins': 'position'}
_STATE_FIELDS = {
    'boosters': ('position', 'effort'), 'rotors': ('velocity', 'effort'),
    'thrusters': ('velocity', 'effort'), 'fins': ('position', 'effort'),
    'fam': ('position', 'velocity'), 'propulsion_modules': FIELDS, 'inverse_fam': FIELDS,
}
_NOZZLES, _IMPELLERS = FamParams().nozzles.names, FamParams().impellers.names
_DEEP = 100_000


@dataclass(frozen=True)
class Work:
    """What a node is given to do.

    Attributes
    ----------
    family : str
        One of `FAMILIES`.
    n : int
        How many actuators; Astrobee has as many as it has.
    executor : str
        One of `EXECUTORS`.
    with_state : bool
        Whether the client subscribes to the state, and not to the wrench alone.
    """

    family: str
    n: int = 8
    executor: str = 'events'
    with_state: bool = False

    @property
    def names(self) -> list[str]:
        """What is commanded."""
        if self.family in ASTROBEE:
            return [*_NOZZLES, *_IMPELLERS]
        return [f'a{i}' for i in range(self.n)]

    @property
    def state_names(self) -> list[str]:
        """Names in the state."""
        further = ('ignition', 'throttle') if self.family == 'boosters' else ()
        return [*self.names, *(f'{name}/{what}' for what in further for name in self.names)]

    @property
    def input(self) -> tuple[Any, str]:
        """Type and topic of the commands."""
        if self.family == 'fam':
            return WrenchStamped, 'wrench_command'
        return JointState, 'command'

    def command(self) -> Any:
        """Return a command."""
        if self.family == 'fam':
            wrench = WrenchStamped()
            wrench.wrench.force.x = 0.05
            return wrench
        message = JointState(name=self.names)
        if self.family in ASTROBEE:
            nozzles, impellers = len(_NOZZLES), len(_IMPELLERS)
            message.position = [0.5] * nozzles + [nan] * impellers
            message.velocity = [nan] * nozzles + [200.0] * impellers
        else:
            setattr(message, _FIELDS[self.family], [0.5] * self.n)
        return message

    def parameters(self) -> dict[str, Any]:
        """Return what configures the node."""
        if self.family == 'inverse_fam':
            # As in a replay without /clock: no clock has the time of our stamps.
            return {'family': self.family, 'use_sim_time': True, 'reliable_inputs': True}
        parameters = {
            'family': self.family, 'update_rate': 1e9 / PERIOD_NS, 'step_on': 'stamp',
        }
        if self.family in ASTROBEE:
            return parameters
        places = [x for i in range(self.n) for x in (0.1 * i, 0.2, 0.0)]
        parameters |= {'names': self.names, 'position': places, **_SETTINGS[self.family]}
        return parameters | ({'two_lines.fin': self.names} if self.family == 'fins' else {})


class BareNode(Node):
    """Takes what a family takes and publishes a state and a wrench of the same size, no more."""

    def __init__(self, work: Work) -> None:
        super().__init__('bare')
        kind, topic = work.input
        self._names, self._fields = work.state_names, _STATE_FIELDS[work.family]
        self._wrench = self.create_publisher(WrenchStamped, '~/wrench', qos.STATE)
        self._state = self.create_publisher(JointState, '~/state', qos.STATE)
        self.create_subscription(kind, f'~/{topic}', self._on_command, qos.COMMAND)
        self._zeros = [0.0] * len(self._names)

    def _on_command(self, message: Any) -> None:
        state = JointState()
        state.header.stamp = message.header.stamp
        state.header.frame_id = 'base_link'
        state.name = list(self._names)
        for field in self._fields:
            setattr(state, field, doubles(self._zeros))
        self._state.publish(state)
        wrench = WrenchStamped()
        wrench.header.stamp = message.header.stamp
        wrench.header.frame_id = 'base_link'
        force = wrench.wrench.force
        force.x = 1.0
        self._wrench.publish(wrench)


def make_node(work: Work, bare: bool) -> Node:
    """Return a running node of this package, or the bare one."""
    if bare:
        return BareNode(work)
    cls = InverseFamNode if work.family == 'inverse_fam' else ActuatorNode
    node = cls(work.family, parameter_overrides=[
        Parameter(key, value=value) for key, value in work.parameters().items()
    ])
    node.start()
    return node


class Peer:
    """A node, in a process of its own or in this one, and a client's ends of its topics.

    Parameters
    ----------
    client : Node
        Talks to it.
    executor : Executor
        Spins the node where it is in this process.
    work : Work
        What it does.
    bare, apart : bool
        Whether it is the bare node, and whether it has a process of its own.
    """

    def __init__(
        self, client: Node, executor: Executor, work: Work, bare: bool, apart: bool
    ) -> None:
        self.name = 'bare' if bare else work.family
        self._process: subprocess.Popen[bytes] | None = None
        self._node: Node | None = None
        if apart:
            self._process = subprocess.Popen([  # noqa: S603  this very file
                sys.executable, '-m', 'benchmarks.node_peer', work.family, '--n', str(work.n),
                '--executor', work.executor, *(['--bare'] if bare else []),
            ])
        else:
            self._node = make_node(work, bare)
            executor.add_node(self._node)
        kind, topic = work.input
        self._command = work.command()
        self._publisher = client.create_publisher(kind, f'/{self.name}/{topic}', _DEEP)
        self._subscription = client.create_subscription(
            WrenchStamped, f'/{self.name}/wrench', self._on_wrench, _DEEP
        )
        if work.with_state:
            client.create_subscription(
                JointState, f'/{self.name}/state', lambda message: None, _DEEP, raw=True
            )
        self.last_ns = 100 * PERIOD_NS
        self.heard = self.heard_ns = 0

    def _on_wrench(self, message: WrenchStamped) -> None:
        self.heard += 1
        self.heard_ns = stamp_to_ns(message.header.stamp)

    @property
    def is_ready(self) -> bool:
        """Whether both ends have found each other."""
        return (
            self._publisher.get_subscription_count() > 0
            and self._subscription.get_publisher_count() > 0
        )

    def send(self) -> int:
        """Publish the next command and return its stamp [ns]: each makes one step and no more."""
        self.last_ns += PERIOD_NS
        self._command.header.stamp = ns_to_stamp(self.last_ns)
        self._publisher.publish(self._command)
        return self.last_ns

    @property
    def pid(self) -> int:
        """Of the node's process."""
        return os.getpid() if self._process is None else self._process.pid

    @property
    def cpu_seconds(self) -> float:
        """CPU time of all threads of the node's process so far [s]."""
        if self._process is None:
            return time.process_time()
        # The kernel's own count, to the nanosecond.
        tasks = Path(f'/proc/{self.pid}/task').glob('*/schedstat')
        return sum(int(task.read_text().split()[0]) for task in tasks) * 1e-9

    def stop(self) -> None:
        """End the process, or the node."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
        if self._node is not None:
            self._node.destroy_node()


def main() -> None:
    """Run a node until it gets the signal to stop."""
    parser = argparse.ArgumentParser(prog='python -m benchmarks.node_peer')
    parser.add_argument('family', choices=FAMILIES)
    parser.add_argument('--n', type=int, default=8)
    parser.add_argument('--executor', choices=EXECUTORS, default='events')
    parser.add_argument('--bare', action='store_true')
    options = parser.parse_args()
    stopped: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: stopped.append(number))
    # rclpy's own handlers would end the context in the middle of a step.
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    executor = make_executor(options.executor)
    executor.add_node(make_node(Work(options.family, options.n, options.executor), options.bare))
    while not stopped:
        executor.spin_once(timeout_sec=0.2)


if __name__ == '__main__':
    main()
