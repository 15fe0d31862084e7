"""One page of a flight, with what the pages of all vehicles have in common."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use('Agg')

import matplotlib.pyplot as plt

from propulsion_ros.tools.demos.demo import Demo
from propulsion_ros.tools.demos.recording import Recording


def draw(demo: Demo[Any], recording: Recording, summary: Any, path: Path) -> None:
    """Write the picture of a flight as a PNG."""
    figure, axes = plt.subplot_mosaic(
        [list(row) for row in demo.layout], figsize=(11, 8.5), height_ratios=demo.heights,
        layout='constrained',
    )
    figure.suptitle(demo.title)
    demo.draw(axes, recording, summary)
    figure.savefig(path, dpi=110)
    plt.close(figure)
