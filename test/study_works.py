# SPDX-License-Identifier: Apache-2.0
"""Work for the processes of a study that costs nothing, and some that kills them."""
from __future__ import annotations

import os
import signal
import tempfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Squares:
    """The squares of numbers; some numbers kill the process, once or each time."""

    folder: Path
    once: tuple[int, ...] = ()
    always: tuple[int, ...] = ()
    key: str = 'squares'

    def ready(self):
        # As a study has its files in one.
        tempfile.mkdtemp()
        return self

    def row(self, number):
        flag = self.folder / f'died_{number}'
        if number in self.always or (number in self.once and not flag.exists()):
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return {'case': number, 'square': number**2, 'error': ''}
