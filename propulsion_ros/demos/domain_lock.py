# SPDX-License-Identifier: Apache-2.0
"""One flight at a time in a ROS domain of this machine: two would take each other's messages."""
from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from propulsion_ros.settings.errors import ConfigError, one_line
from propulsion_ros.settings.files import descriptor_to_lock

_LONGEST = 200
"""Of a name that is read [bytes]."""


@contextmanager
def held_domain(name: str) -> Iterator[None]:
    """Hold the ROS domain of the environment until the end of the context, or of this process.

    Where no file can be locked nothing is held; the vehicle looks for another one by itself.

    Parameters
    ----------
    name : str
        Of the flight, for the error of another one.

    Raises
    ------
    RuntimeError
        Where another flight of the same user holds it, with the names of both.
    """
    domain = os.environ.get('ROS_DOMAIN_ID') or '0'
    descriptor = _opened(domain)
    if descriptor is None:
        yield
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            other = os.pread(descriptor, _LONGEST, 0).decode('utf-8', 'replace')
            raise RuntimeError(one_line(
                f'{name} would mix with {other or "another flight"} in ROS domain {domain}: wait '
                'for its end, or set ROS_DOMAIN_ID to another number'
            )) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f'{name} (process {os.getpid()})'.encode()[:_LONGEST], 0)
        yield
    finally:
        os.close(descriptor)


def _opened(domain: str) -> int | None:
    if not domain.isdecimal():
        return None
    path = Path(tempfile.gettempdir()) / f'propulsion_ros-{os.getuid()}-domain-{int(domain)}'
    # In a folder of everyone a link may be somebody else's.
    if path.is_symlink():
        return None
    with suppress(OSError, ConfigError):
        return descriptor_to_lock(path)
    return None
