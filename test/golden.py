# SPDX-License-Identifier: Apache-2.0
"""Inputs and outputs of the original systems, as they were recorded."""
from __future__ import annotations

import json
from pathlib import Path

_FOLDER = Path(__file__).parent / 'data/golden'


def vectors_of(name: str):
    """Return what a file has, by its name without the ending."""
    return json.loads((_FOLDER / f'{name}.json').read_text())
