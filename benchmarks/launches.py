# SPDX-License-Identifier: Apache-2.0
"""What `ros2 launch` of each vehicle costs with its simulated body, and no controller."""
from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from benchmarks.rows import Row
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.tools.demo import reserved_domain

_DURATION = 10.0
"""Simulated time [s]."""
_CPU_LIMIT, _MEMORY_LIMIT = 20.0, 250.0
_FORMS = {'': 'false', ', one process': 'true'}


def measure() -> Iterator[Row]:
    """Yield the rows; of memory what is shared between processes is divided among them."""
    if shutil.which('ros2') is None:
        yield Row('launches', None, '%', 'ros2 launch is not installed')
        return
    for vehicle in VEHICLES:
        for form, composed in _FORMS.items():
            cpu, sizes = _launch(vehicle, composed)
            percent = 100.0 * cpu / _DURATION
            yield Row(f'{vehicle}{form}: CPU', percent, '% of a core', 'limit', _CPU_LIMIT)
            yield Row(f'{vehicle}{form}: memory', sum(sizes), 'MB', 'limit', _MEMORY_LIMIT)
            yield Row(f'{vehicle}{form}: memory of launch itself', sizes[0], 'MB')


def _launch(vehicle: str, composed: str) -> tuple[float, list[float]]:
    """Return the CPU time of a flight [s] and the memory of the processes at its end [MB]."""
    with reserved_domain() as domain, subprocess.Popen(  # noqa: S603  a list of words, no shell
        ['ros2', 'launch', 'propulsion_ros', f'{vehicle}.launch.py',  # noqa: S607
         f'duration:={_DURATION}', f'composed:={composed}'],
        env={**os.environ, 'ROS_DOMAIN_ID': str(domain)}, start_new_session=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ) as process:
        begin = end = 0.0
        sizes: list[float] = []
        for line in process.stdout or ():
            if ': running' in line:
                begin = _seconds(process.pid)
            elif ': has run for' in line:
                end, sizes = _seconds(process.pid), _megabytes(process.pid)
    if process.returncode or not sizes:
        raise RuntimeError(f'{vehicle}: launch has ended with {process.returncode}')
    return end - begin, sizes


def _processes(session: int) -> Iterator[tuple[Path, list[str]]]:
    """Yield the folder of each process of a session, its leader first, and its state."""
    for folder in sorted(Path('/proc').glob('[0-9]*'), key=lambda each: int(each.name)):
        try:
            state = (folder / 'stat').read_text(encoding='utf-8').rpartition(')')[2].split()
        except OSError:
            # It has ended meanwhile.
            continue
        if int(state[3]) == session:
            yield folder, state


def _seconds(session: int) -> float:
    """Return the CPU time of the processes of a session [s]."""
    ticks = sum(int(state[11]) + int(state[12]) for _, state in _processes(session))
    return ticks / os.sysconf('SC_CLK_TCK')


def _megabytes(session: int) -> list[float]:
    """Return the memory of the processes of a session, its leader first."""
    texts = [(folder / 'smaps_rollup').read_text('ascii') for folder, _ in _processes(session)]
    return [int(text.partition('Pss:')[2].split()[0]) / 1024.0 for text in texts]
