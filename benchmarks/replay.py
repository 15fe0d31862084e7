# SPDX-License-Identifier: Apache-2.0
"""How fast a bag is replayed without DDS, and in how much memory, by its length."""
from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import yaml
from rclpy.serialization import serialize_message

from benchmarks.node_peer import PERIOD_NS, Work
from benchmarks.rows import Row
from propulsion_ros.messages.fields import doubles, ns_to_stamp
from propulsion_ros.replay.bags import BagWriter, Recorded

_FAMILY = 'thrusters'
_USUAL, _OTHERS = 600, {'1 min': 60, '1 h': 3600}
"""Lengths [s]."""
_COUNTS = (1, 32)
# The largest memory that the kernel reports to others starts with that of the parent.
_MEASURED = """
import sys, time
from propulsion_ros.tools.cli import main
code = main(["replay", *sys.argv[1:]])
peak, = (line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(time.process_time(), peak.split()[1])
sys.exit(code)
"""
_SPEED = 'x real time'


def measure() -> Iterator[Row]:
    """Yield the rows: a command, a wrench and a state for each step, read and written as bags."""
    with tempfile.TemporaryDirectory() as name:
        folder, work = Path(name), Work(_FAMILY)
        usual_speed, usual_memory = _replay(folder, work, _USUAL)
        label = 'n=8 at 100 Hz, 10 min'
        yield Row(label, usual_speed, _SPEED)
        yield Row(f'{label}: memory', usual_memory, 'MB')
        for length, seconds in _OTHERS.items():
            speed, memory = _replay(folder, work, seconds)
            other = f'n=8 at 100 Hz, {length}'
            yield Row(other, speed, _SPEED, '10 min', usual_speed)
            yield Row(f'{other}: memory', memory, 'MB', '10 min', usual_memory)
        for n in _COUNTS:
            speed, _ = _replay(folder, Work(_FAMILY, n), _USUAL)
            yield Row(f'n={n} at 100 Hz, 10 min', speed, _SPEED, 'n=8', usual_speed)


def _replay(folder: Path, work: Work, seconds: int) -> tuple[float, float]:
    """Return simulated over CPU time of the whole command, and its largest memory [MB]."""
    bag = folder / f'{work.n}_{seconds}'
    config = bag.with_suffix('.yaml')
    config.write_text(yaml.safe_dump({
        f'/**/{work.family}': {'ros__parameters': work.parameters()}
    }), encoding='utf-8')
    _write_commands(bag, work, seconds)
    process = subprocess.run([  # noqa: S603  our own module, no shell
        sys.executable, '-c', _MEASURED, str(config), str(bag),
        str(bag.with_name(f'{bag.name}_replayed')),
    ], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    cpu, kilobytes = map(float, process.stdout.split())
    return seconds / cpu, kilobytes / 1024.0


def _write_commands(bag: Path, work: Work, seconds: int) -> None:
    message, (_, topic) = work.command(), work.input
    speeds = np.random.default_rng(1).uniform(-300.0, 300.0, (997, work.n))
    with BagWriter(bag) as writer:
        for k in range(1, seconds * 1_000_000_000 // PERIOD_NS):
            message.header.stamp = ns_to_stamp(k * PERIOD_NS)
            message.velocity = doubles(speeds[k % len(speeds)])
            writer.write(Recorded(
                f'/{work.family}/{topic}', 'sensor_msgs/msg/JointState', k * PERIOD_NS,
                serialize_message(message),
            ))
