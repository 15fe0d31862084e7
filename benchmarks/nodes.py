# SPDX-License-Identifier: Apache-2.0
"""What a node costs beside a bare rclpy node that takes and publishes the same messages.

A command goes to a node and comes back as a wrench. Both nodes take turns in one run, so that what
else the machine does falls on both alike.
"""
from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile

import numpy as np
import rclpy
from rclpy.executors import Executor
from rclpy.node import Node

from benchmarks.node_peer import EXECUTORS, FAMILIES, Peer, Work
from benchmarks.rows import Row
from propulsion_ros.nodes.spin import make_executor

_PAIRS, _FIRST, _BLOCKS, _BLOCK = 3, 4, 7, 100
"""Each process has a cost of its own, by where its memory lies, so several are measured."""
_LIMIT = 30.0
_TARGET_FAMILY = 'thrusters'
_FLOOD_TIME, _DRAIN_TIME = 1.0, 1.0
_RATES = tuple(round(500 * 1.25 ** k) for k in range(16))
"""Commands per second that are tried, from 500 to 14,000."""


def measure() -> Iterator[Row]:
    """Yield the rows."""
    rclpy.init()
    try:
        for family in FAMILIES:
            yield from _beside_bare(Work(family))
        for n in (1, 32):
            yield from _beside_bare(Work(_TARGET_FAMILY, n))
        yield from _beside_bare(Work(_TARGET_FAMILY, executor='single'))
        yield from _beside_bare(Work(_TARGET_FAMILY, with_state=True))
        for executor in EXECUTORS:
            yield from _beside_bare(Work(_TARGET_FAMILY, executor=executor), apart=False)
        yield _highest_rate(Work(_TARGET_FAMILY))
    finally:
        rclpy.try_shutdown()


@contextmanager
def _peers(work: Work, apart: bool) -> Iterator[tuple[Executor, dict[str, Peer]]]:
    """Run a node of ours and a bare one."""
    client = Node('client')
    executor = make_executor('single' if apart else work.executor)
    executor.add_node(client)
    peers = {
        name: Peer(client, executor, work, bare=name == 'bare', apart=apart)
        for name in ('bare', 'ours')
    }
    try:
        for peer in peers.values():
            _meet(executor, peer)
        yield executor, peers
    finally:
        executor.shutdown()
        for peer in peers.values():
            peer.stop()
        client.destroy_node()


def _beside_bare(work: Work, apart: bool = True) -> Iterator[Row]:
    """Yield CPU time, median and 99th percentile of the round trip of a message."""
    trips: dict[str, list[float]] = defaultdict(list)
    cpu: dict[str, list[float]] = defaultdict(list)
    for _ in range(_PAIRS):
        with _peers(work, apart) as (executor, peers):
            for block in range(_FIRST + _BLOCKS):
                for name, peer in peers.items():
                    before = peer.cpu_seconds
                    times = [_round_trip(executor, peer) for _ in range(_BLOCK)]
                    # In the first ones lazy parts are loaded and actuators reach their command.
                    if block >= _FIRST:
                        cpu[name].append((peer.cpu_seconds - before) / _BLOCK * 1e6)
                        trips[name] += times
    where = 'two processes' if apart else 'one process'
    subscribed = ', state subscribed' if work.with_state else ''
    label = f'{work.family} n={len(work.names)}, {work.executor}, {where}{subscribed}'
    beside = 'bare node'
    yield Row(
        f'{label}: CPU', statistics.median(cpu['ours']), 'us', beside,
        statistics.median(cpu['bare']),
    )
    for what, quantile in (('median', 50), ('99 %', 99)):
        took = {name: 1e6 * float(np.percentile(times, quantile)) for name, times in trips.items()}
        yield Row(f'{label}: round trip, {what}', took['ours'], 'us', beside, took['bare'])


def _round_trip(executor: Executor, peer: Peer) -> float:
    started = time.perf_counter()
    stamp_ns = peer.send()
    while peer.heard_ns < stamp_ns:
        executor.spin_once(timeout_sec=1.0)
        if time.perf_counter() - started > _LIMIT:
            raise TimeoutError(f'{peer.name}: no wrench within {_LIMIT:g} s')
    return time.perf_counter() - started


def _highest_rate(work: Work) -> Row:
    """Return the highest rate at which every command comes back as a wrench, three times."""
    with _peers(work, apart=True) as (executor, peers):
        highest = {
            name: max(takewhile(
                lambda rate, peer=peer: all(  # type: ignore[misc]
                    _comes_back(executor, peer, rate) for _ in range(3)
                ), _RATES,
            ), default=0)
            for name, peer in peers.items()
        }
    label = f'{work.family} n={work.n}, {work.executor}, two processes: rate without loss'
    return Row(label, highest['ours'], 'Hz', 'bare node', highest['bare'])


def _comes_back(executor: Executor, peer: Peer, rate: float) -> bool:
    """Whether commands at a rate [Hz] are sent in time and all come back."""
    count, heard = round(rate * _FLOOD_TIME), peer.heard
    started = time.perf_counter()
    for k in range(count):
        while time.perf_counter() - started < k / rate:
            executor.spin_once(timeout_sec=0.0)
        peer.send()
    # What cannot be sent in time is no such rate.
    in_time = time.perf_counter() - started < 1.1 * _FLOOD_TIME
    end = time.perf_counter() + _DRAIN_TIME
    while peer.heard - heard < count and time.perf_counter() < end:
        executor.spin_once(timeout_sec=0.05)
    return in_time and peer.heard - heard == count


def _meet(executor: Executor, peer: Peer) -> None:
    """Send commands until the node replies: it finds the client in its own time."""
    end = time.monotonic() + _LIMIT
    while not peer.heard:
        if time.monotonic() > end:
            raise TimeoutError(f'waited {_LIMIT:g} s for {peer.name}')
        if peer.is_ready:
            peer.send()
        executor.spin_once(timeout_sec=0.1)
    while peer.heard_ns < peer.last_ns:
        executor.spin_once(timeout_sec=0.1)
        if time.monotonic() > end:
            raise TimeoutError(f'{peer.name}: no wrench within {_LIMIT:g} s')
