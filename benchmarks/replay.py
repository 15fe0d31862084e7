# SPDX-License-Identifier: Apache-2.0
"""How fast bags and tables are replayed without DDS, and in how much memory, by their length."""
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
_LIMITS = {_USUAL: 300.0, 3600: 350.0}
_DEMO = Path(__file__).resolve().parent.parent / 'test' / 'data'
_DEMO_SECONDS, _DEMO_LIMIT = 54.0, 100.0
_COUNTS = (1, 32)
# The largest memory that the kernel reports to others starts with that of the parent.
_MEASURED = """
import os, sys
from propulsion_ros.tools.cli import main
code = main(["replay", *sys.argv[1:]])
peak, = (line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(sum(os.times()[:4]), peak.split()[1])
sys.exit(code)
"""
_SPEED = 'x real time'


def measure() -> Iterator[Row]:
    """Yield the rows: a command, a wrench and a state for each step, read and written as bags."""
    with tempfile.TemporaryDirectory() as name:
        folder, work = Path(name), Work(_FAMILY)
        usual_speed, usual_memory = _replay(folder, work, _USUAL)
        label = 'n=8 at 100 Hz, 10 min'
        yield Row(label, usual_speed, _SPEED, 'limit', _LIMITS[_USUAL])
        yield Row(f'{label}: memory', usual_memory, 'MB')
        for length, seconds in _OTHERS.items():
            speed, memory = _replay(folder, work, seconds)
            other = f'n=8 at 100 Hz, {length}'
            limit = ('limit', _LIMITS[seconds]) if seconds in _LIMITS else ()
            yield Row(other, speed, _SPEED, *limit)
            yield Row(f'{other}: memory', memory, 'MB', '10 min', usual_memory)
        for n in _COUNTS:
            speed, _ = _replay(folder, Work(_FAMILY, n), _USUAL)
            yield Row(f'n={n} at 100 Hz, 10 min', speed, _SPEED, 'n=8', usual_speed)
        for source, result in (('bag', 'table'), ('table', 'table')):
            speed, _ = _replay(folder, work, _USUAL, source, result)
            yield Row(f'{label}, {source} to {result}', speed, _SPEED, 'bag to bag', usual_speed)
        cpu, _ = _run(
            _DEMO / 'demo.yaml', _DEMO / 'demo_bag', folder / 'demo', '--vehicle', 'rocket'
        )
        yield Row(
            'rocket with flight software at 20 Hz, 54 s', _DEMO_SECONDS / cpu, _SPEED, 'limit',
            _DEMO_LIMIT,
        )


def _replay(
    folder: Path, work: Work, seconds: int, source: str = 'bag', result: str = 'bag'
) -> tuple[float, float]:
    """Return simulated over CPU time of the whole command, and its largest memory [MB]."""
    bag = folder / f'{work.n}_{seconds}'
    config, table = bag.with_suffix('.yaml'), bag.with_suffix('.csv')
    config.write_text(yaml.safe_dump({
        f'/**/{work.family}': {'ros__parameters': work.parameters()}
    }), encoding='utf-8')
    if not bag.exists():
        _write_commands(bag, table, work, seconds)
    target = folder / f'{bag.name}_from_{source}{"" if result == "bag" else ".csv"}'
    cpu, memory = _run(config, bag if source == 'bag' else table, target)
    return seconds / cpu, memory


def _run(config: Path, source: Path, target: Path, *options: str) -> tuple[float, float]:
    """Return CPU time [s] of the whole command, its children included, and its memory [MB]."""
    process = subprocess.run([  # noqa: S603  our own module, no shell
        sys.executable, '-c', _MEASURED, str(config), str(source), str(target), *options,
    ], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    cpu, kilobytes = map(float, process.stdout.split())
    return cpu, kilobytes / 1024.0


def _write_commands(bag: Path, table: Path, work: Work, seconds: int) -> None:
    message, (_, topic) = work.command(), work.input
    speeds = np.random.default_rng(1).uniform(-300.0, 300.0, (997, work.n))
    names = ','.join(f'{name}.velocity' for name in work.names)
    with BagWriter(bag) as writer, table.open('w', encoding='utf-8') as file:
        file.write(f'stamp,{names}\n')
        for k in range(1, seconds * 1_000_000_000 // PERIOD_NS):
            message.header.stamp = ns_to_stamp(k * PERIOD_NS)
            message.velocity = doubles(speeds[k % len(speeds)])
            writer.write(Recorded(
                f'/{work.family}/{topic}', 'sensor_msgs/msg/JointState', k * PERIOD_NS,
                serialize_message(message),
            ))
            cells = ','.join(map(repr, message.velocity))
            file.write(f'{k * PERIOD_NS * 1e-9:.9f},{cells}\n')
