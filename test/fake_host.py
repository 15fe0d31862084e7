# SPDX-License-Identifier: Apache-2.0
"""A host without ROS, as studies have it, and a wrench for it."""
from __future__ import annotations

from propulsion_ros.study.bench_host import BenchHost as FakeHost
from propulsion_ros.study.bench_host import message

__all__ = ['MS', 'FakeHost', 'message', 'wrench_message']
MS = 1_000_000


def wrench_message(stamp_ns, wrench, frame='base_link'):
    """Return what looks like a WrenchStamped."""
    fx, fy, fz, tx, ty, tz = map(float, wrench)
    return message(stamp_ns, frame, wrench={
        'force': {'x': fx, 'y': fy, 'z': fz}, 'torque': {'x': tx, 'y': ty, 'z': tz},
    })
