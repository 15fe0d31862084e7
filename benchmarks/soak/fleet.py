# SPDX-License-Identifier: Apache-2.0
"""The processes of the fleet: started, ended, and watched."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.soak.members import Member, write_settings
from benchmarks.soak.memory import Memory, resident

RANGE = 'ROS_AUTOMATIC_DISCOVERY_RANGE'
_LIMIT, _NICENESS = 30.0, 10


@dataclass
class Process:
    """One life of a node."""

    popen: subprocess.Popen[bytes]
    begun: float
    memory: Memory = field(default_factory=Memory)
    ending: str = ''
    """'kill' or 'stop' once it was made to end."""


class Fleet:
    """Node processes by name.

    Parameters
    ----------
    members : sequence of Member
        The nodes.
    folder : Path
        Gets their settings and what they log.
    far_prefix : sequence of str
        Command that runs another on the second host.

    Attributes
    ----------
    counts : collections.Counter
        Ends by kind: 'kill', 'stop', 'died'.
    faults : list of str
        Processes that ended without being told to, or not as they were told to.
    memories : dict
        Memory of each life of each node.
    bare : Memory
        Of a bare node that nobody commands or ends, and that sees the others come and go.
    """

    def __init__(
        self, members: Sequence[Member], folder: Path, far_prefix: Sequence[str] = ()
    ) -> None:
        self.members = {m.name: m for m in members}
        self._folder, self._far_prefix = folder, far_prefix
        self._settings = folder / 'settings.yaml'
        write_settings(members, self._settings)
        self._running: dict[str, Process] = {}
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []
        self.memories: dict[str, list[Memory]] = {name: [] for name in self.members}
        self.bare = Memory()
        self._bare: subprocess.Popen[bytes] | None = None

    @property
    def running(self) -> Mapping[str, Process]:
        """Processes that have not been seen to end, by node name."""
        return self._running

    def start(self, name: str) -> None:
        """Start the process of a node."""
        member = self.members[name]
        command = [
            *(self._far_prefix if member.is_far else ()), sys.executable, '-m',
            f'propulsion_ros.nodes.{member.executable}', '--ros-args', '-r', f'__node:={name}',
            '--params-file', str(self._settings),
        ]
        with self._log(name).open('ab') as log:
            popen = subprocess.Popen(  # noqa: S603  our own module, no shell
                command, stdout=subprocess.DEVNULL, stderr=log,
                # The link has no room for what nodes say to their neighbours.
                env={**os.environ, RANGE: 'SUBNET' if member.is_far else 'LOCALHOST'},
            )
        # What comes late shall be the nodes' fault, and not that of who counts.
        os.setpriority(os.PRIO_PROCESS, popen.pid, _NICENESS)
        process = self._running[name] = Process(popen, time.monotonic())
        self.memories[name].append(process.memory)

    def start_bare(self) -> None:
        """Start the process of the bare node."""
        self._bare = subprocess.Popen(
            [sys.executable, '-m', 'benchmarks.node_peer', 'rotors', '--bare'],
            env={**os.environ, RANGE: 'LOCALHOST'},
        )

    def end(self, name: str, kind: str) -> None:
        """Tell a process to end: 'kill' gives it no chance, 'stop' does."""
        process = self._running[name]
        process.ending = kind
        process.popen.send_signal(signal.SIGKILL if kind == 'kill' else signal.SIGTERM)

    def poll(self) -> list[str]:
        """Return the names of the processes that have ended since the last call."""
        ended = [name for name, p in self._running.items() if p.popen.poll() is not None]
        for name in ended:
            process = self._running.pop(name)
            code = process.popen.returncode
            expected = {'kill': -signal.SIGKILL, 'stop': 0}.get(process.ending)
            self.counts[process.ending or 'died'] += 1
            if code != expected:
                told = f'after {process.ending}' if process.ending else 'by itself'
                self.faults.append(f'{name}: ended {told} with code {code}')
        return ended

    def sample_memory(self, seconds: float) -> None:
        """Note the memory of every process, ``seconds`` after the start of the run."""
        for process in self._running.values():
            process.memory.sample(seconds, resident(process.popen.pid))
        if self._bare is not None:
            self.bare.sample(seconds, resident(self._bare.pid))

    def tracebacks(self) -> list[str]:
        """Return the nodes that logged a traceback."""
        return [
            f'{name}: logged a traceback' for name in self.members
            if self._log(name).is_file() and b'Traceback' in self._log(name).read_bytes()
        ]

    def _log(self, name: str) -> Path:
        return self._folder / f'{name}.log'

    def close(self) -> None:
        """Kill what still runs."""
        self._kill(process.popen for process in self._running.values())
        self._kill([self._bare] if self._bare else [])

    @staticmethod
    def _kill(processes: Iterable[subprocess.Popen[bytes]]) -> None:
        for process in processes:
            process.kill()
            process.wait(_LIMIT)
