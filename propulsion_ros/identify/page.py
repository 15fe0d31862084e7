# SPDX-License-Identifier: Apache-2.0
"""One page of pictures of a fit."""
from __future__ import annotations

from pathlib import Path
from typing import Any


def draw_fit(result: Any, path: Path) -> None:
    """Write the page as a PNG."""
