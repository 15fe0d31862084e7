# SPDX-License-Identifier: Apache-2.0
"""How long a node takes to its first wrench, and how much memory the vehicles take."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node

from benchmarks.node_peer import FAMILIES, Peer, Work
from benchmarks.rows import Row
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.graph.wiring import robot_graph
from propulsion_ros.nodes.spin import make_executor
from propulsion_ros.tools.demo import reserved_domain

_STARTS = 3
_LIMIT = 60.0


def measure() -> Iterator[Row]:
    """Yield the rows."""
    rclpy.init()
    try:
        bare = _megabytes(Work('thrusters'))
        for family in FAMILIES:
            ours, beside = (
                # Now and then DDS needs its second announcement, three seconds later.
                min(times) for times in zip(*(
                    [_first_wrench(Work(family), bare=is_bare) for is_bare in (False, True)]
                    for _ in range(_STARTS)
                ), strict=True)
            )
            yield Row(f'{family}: start to first wrench', ours, 's', 'bare node', beside)
    finally:
        rclpy.try_shutdown()
    taken = []
    for vehicle in VEHICLES:
        with reserved_domain() as domain:
            taken.append(_vehicle_megabytes(vehicle, domain))
        nodes = len(robot_graph(vehicle).nodes)
        yield Row(
            f'{vehicle}: memory of {nodes} nodes in one process', taken[-1], 'MB', 'bare node', bare
        )
    yield Row(
        'all vehicles: memory', sum(taken), 'MB', f'{len(taken)} bare nodes', len(taken) * bare
    )


def _first_wrench(work: Work, bare: bool) -> float:
    """Return the wall time [s] from the start of the process to its first wrench here."""
    client = Node('client')
    executor = make_executor('single')
    executor.add_node(client)
    started = time.monotonic()
    peer = Peer(client, executor, work, bare=bare, apart=True)
    try:
        while not peer.heard:
            executor.spin_once(timeout_sec=0.01)
            # Both ends know each other before the first command.
            if peer.is_ready:
                peer.send()
            if time.monotonic() - started > _LIMIT:
                raise TimeoutError(f'{peer.name}: no wrench within {_LIMIT:g} s')
        return time.monotonic() - started
    finally:
        peer.stop()
        executor.shutdown()
        client.destroy_node()


def _megabytes(work: Work) -> float:
    """Return the memory of a process with a bare node."""
    client = Node('client')
    executor = make_executor('single')
    peer = Peer(client, executor, work, bare=True, apart=True)
    try:
        end = time.monotonic() + _LIMIT
        while not peer.is_ready:
            if time.monotonic() > end:
                raise TimeoutError(f'waited {_LIMIT:g} s for the bare node')
            executor.spin_once(timeout_sec=0.05)
        return _resident(peer.pid)
    finally:
        peer.stop()
        executor.shutdown()
        client.destroy_node()


def _vehicle_megabytes(vehicle: str, domain: int) -> float:
    """Return the memory of a vehicle's nodes, each of which has published its diagnostics."""
    process = subprocess.Popen(  # noqa: S603  our own module, no shell
        [sys.executable, '-m', 'propulsion_ros.nodes.stack', '--vehicle', vehicle,
         '--ros-args', '--log-level', 'error'],
        env={**os.environ, 'ROS_DOMAIN_ID': str(domain)},
    )
    context = rclpy.Context()
    rclpy.init(args=[], context=context, domain_id=domain)
    listener = Node('listener', context=context)
    executor = make_executor('single', context)
    executor.add_node(listener)
    awaited = {spec.name for spec in robot_graph(vehicle).nodes}

    def on_diagnostics(message: DiagnosticArray) -> None:
        awaited.difference_update(
            status.name.split(':')[0].rpartition('/')[2] for status in message.status
        )

    listener.create_subscription(DiagnosticArray, '/diagnostics', on_diagnostics, 100)
    try:
        end = time.monotonic() + _LIMIT
        while awaited:
            if time.monotonic() > end or process.poll() is not None:
                raise TimeoutError(f'{vehicle}: nothing heard of {", ".join(sorted(awaited))}')
            executor.spin_once(timeout_sec=0.1)
        return _resident(process.pid)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()
        executor.shutdown()
        listener.destroy_node()
        rclpy.try_shutdown(context=context)


def _resident(pid: int) -> float:
    """Return the resident memory of a process [MB]."""
    for line in Path(f'/proc/{pid}/status').read_text(encoding='ascii').splitlines():
        if line.startswith('VmRSS:'):
            return int(line.split()[1]) / 1024.0
    raise RuntimeError(f'process {pid} has no memory')
