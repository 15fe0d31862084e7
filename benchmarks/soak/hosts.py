# SPDX-License-Identifier: Apache-2.0
"""Two hosts on one machine: network namespaces, with a link between them."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from types import TracebackType

from benchmarks.soak.link import Link, Weather, open_tap

_INSIDE = 'PROPULSION_SOAK_INSIDE'
_NAMES, _ADDRESSES = ('soak_near', 'soak_far'), ('10.213.77.1/24', '10.213.77.2/24')
_OWN_PLACE = 'mount -t tmpfs tmpfs /dev/shm && ip link set lo up'
_PROBE = f'{_OWN_PLACE} && ip tuntap add dev soak_probe mode tap'


def is_inside() -> bool:
    """Return whether `enter` has started this program."""
    return _INSIDE in os.environ


def enter(argv: Sequence[str]) -> None:
    """Start this program anew in a network and shared memory of its own.

    It returns where the machine does not allow it.
    """
    tools = [shutil.which(tool) for tool in ('unshare', 'nsenter', 'ip')]
    unshare = ['unshare', *([] if os.geteuid() == 0 else ['--user', '--map-root-user']),
               '--net', '--mount', 'sh', '-c']
    if not all(tools) or subprocess.run(  # noqa: S603
        [*unshare, _PROBE], capture_output=True, check=False
    ).returncode:
        return
    os.environ[_INSIDE] = '1'
    os.execvp(  # noqa: S606
        unshare[0], [*unshare, f'{_OWN_PLACE} && exec "$@"', 'soak',
                     sys.executable, '-m', 'benchmarks.soak', *argv],
    )


class FarHost:
    """The second host, and the link to it; a context manager.

    Attributes
    ----------
    prefix : list of str
        Runs a command there.
    link : Link
        From here to there.
    """

    def __init__(self, weather: Weather, seed: int) -> None:
        # Its namespace lives as long as a process in it.
        self._holder = subprocess.Popen(
            ['unshare', '--net', 'sh', '-c', 'ip link set lo up && echo up && exec cat'],  # noqa: S607
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )
        if self._holder.stdout is None or self._holder.stdout.readline() != b'up\n':
            raise OSError('no second network namespace')
        # Without this both would take each other's shared memory for a network.
        self.prefix = [*self._enter, 'env', 'FASTDDS_BUILTIN_TRANSPORTS=UDPv4']
        near, far = _NAMES
        taps = (open_tap(near), open_tap(far))
        _run('ip', 'link', 'set', far, 'netns', str(self._holder.pid))
        for name, address, prefix in zip(_NAMES, _ADDRESSES, ([], self._enter), strict=True):
            _run(*prefix, 'ip', 'address', 'add', address, 'dev', name)
            _run(*prefix, 'ip', 'link', 'set', name, 'up')
        self.link = Link(taps, weather, seed)

    @property
    def _enter(self) -> list[str]:
        return ['nsenter', f'--net=/proc/{self._holder.pid}/ns/net']

    def __enter__(self) -> FarHost:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.link.close()
        self._holder.terminate()
        self._holder.wait()


def _run(*command: str) -> None:
    subprocess.run(command, check=True)  # noqa: S603
