# SPDX-License-Identifier: Apache-2.0
"""One flight computer for each record: a lock that ends with its process."""
from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.files import descriptor_to_lock


class RecordLock:
    """Holds the record of a flight for one process, whatever way that process ends.

    The lock lies beside the record, as ``<name>.lock``: the record is replaced at each write.

    Parameters
    ----------
    path : str
        The record.

    Attributes
    ----------
    problem : str
        Why nothing could be locked, '' where it is; then the record cannot be written either.

    Raises
    ------
    ConfigError
        Where another flight computer holds it.
    """

    def __init__(self, path: str) -> None:
        self.problem = ''
        self._fd: int | None = None
        record = Path(path).expanduser().resolve()
        beside = record.with_name(f'{record.name}.lock')
        try:
            self._fd = descriptor_to_lock(beside)
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.release()
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES) and self._is_held(beside):
                raise ConfigError(
                    'state_file', f'{path} is held by another flight computer'
                ) from error
            self.problem = f'state_file {path}: {beside} cannot be locked: {error.strerror}'

    @staticmethod
    def _is_held(beside: Path) -> bool:
        return os.access(beside, os.W_OK)

    def release(self) -> None:
        """Let another one have it."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
