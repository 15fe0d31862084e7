# SPDX-License-Identifier: Apache-2.0
"""What `ros2 launch` of each vehicle costs with its simulated body, and no controller."""
from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.rows import Row
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.tools.domains import reserved_domain

_SHORT, _LONG = 2.0, 12.0
"""Simulated time of the two launches whose difference counts: both start and end alike [s]."""
_CPU_LIMIT, _MEMORY_LIMIT = 20.0, 250.0
_FORMS = {'': 'false', ', one process': 'true'}


def measure() -> Iterator[Row]:
    """Yield the rows; of memory what is shared between processes is divided among them."""
    if shutil.which('ros2') is None:
        yield Row('launches', None, '%', 'ros2 launch is not installed')
        return
    for vehicle in VEHICLES:
        for form, composed in _FORMS.items():
            (short, _), (long, sizes) = (
                _launch(vehicle, duration, composed) for duration in (_SHORT, _LONG)
            )
            percent = 100.0 * (long - short) / (_LONG - _SHORT)
            yield Row(f'{vehicle}{form}', percent, '% of a core', 'limit', _CPU_LIMIT)
            yield Row(f'{vehicle}{form}: memory', sum(sizes), 'MB', 'limit', _MEMORY_LIMIT)
            yield Row(f'{vehicle}{form}: memory of launch itself', sizes[0], 'MB')


def _launch(vehicle: str, duration: float, composed: str) -> tuple[float, list[float]]:
    """Return the CPU time of a launch [s] and the largest memory of its processes [MB]."""
    with reserved_domain() as domain:
        process = subprocess.Popen(  # noqa: S603  a list of words, no shell
            ['ros2', 'launch', 'propulsion_ros', f'{vehicle}.launch.py',  # noqa: S607
             f'duration:={duration}', f'composed:={composed}'],
            env={**os.environ, 'ROS_DOMAIN_ID': str(domain)}, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        largest = [0.0]
        while True:
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
            if ended:
                break
            largest = max(largest, _megabytes(process.pid), key=sum)
            time.sleep(1.0)
    if status:
        raise RuntimeError(f'{vehicle}: launch has ended with {os.waitstatus_to_exitcode(status)}')
    return usage.ru_utime + usage.ru_stime, largest


def _megabytes(session: int) -> list[float]:
    """Return the memory of each process of a session, its leader first."""
    sizes = []
    for folder in sorted(Path('/proc').glob('[0-9]*'), key=lambda each: int(each.name)):
        try:
            of = (folder / 'stat').read_text(encoding='utf-8').rpartition(')')[2].split()[3]
            rollup = (folder / 'smaps_rollup').read_text(encoding='ascii')
        except OSError:
            # It has ended meanwhile.
            continue
        if int(of) == session and 'Pss:' in rollup:
            sizes.append(int(rollup.partition('Pss:')[2].split()[0]) / 1024.0)
    return sizes or [0.0]
