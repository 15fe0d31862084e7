# SPDX-License-Identifier: Apache-2.0
"""A host without ROS, as studies have it, and messages for it."""
from __future__ import annotations

from propulsion_ros.study.bench_host import BenchHost as FakeHost
from propulsion_ros.study.bench_host import message, xyz

__all__ = ['MS', 'FakeHost', 'joints', 'message', 'wrench_message', 'xyz']
MS = 1_000_000


def joints(stamp_ns, names, position=(), velocity=(), effort=()):
    """Return what looks like a JointState."""
    return message(
        stamp_ns, name=list(names), position=list(position), velocity=list(velocity),
        effort=list(effort),
    )


def wrench_message(stamp_ns, wrench, frame='base_link'):
    """Return what looks like a WrenchStamped."""
    values = [float(value) for value in wrench]
    return message(stamp_ns, frame, wrench={
        'force': xyz(*values[:3]), 'torque': xyz(*values[3:]),
    })
