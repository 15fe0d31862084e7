# SPDX-License-Identifier: Apache-2.0
"""Names of a study's files in the folder of a process that flies its cases."""
from __future__ import annotations

from pathlib import Path

ROBOT, CONTROLLER, CASE = 'robot.urdf', 'controller.py', 'case.yaml'


def params_name(index: int) -> str:
    """Return the name of a parameter file; that of the later one is the later name."""
    return f'params_{index:03d}.yaml'


def params_in(folder: Path) -> list[Path]:
    """Return the parameter files in a folder, of which the later ones win."""
    return sorted(folder.glob('params_*.yaml'))


def input_name(given: str, prefix: str = 'input') -> str:
    """Return the name of a table, with the ending that it has."""
    return prefix + ('.csv.gz' if given.endswith('.gz') else '.csv')
