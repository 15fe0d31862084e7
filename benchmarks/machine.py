# SPDX-License-Identifier: Apache-2.0
"""The machine and the versions that numbers belong to."""
from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path

_PACKAGES = (
    'ros-rclpy', 'numpy', 'scipy', 'torch', 'PyFlyt', 'pybullet', 'numba', 'rotorpy', 'rosbags',
)


def describe() -> dict[str, str]:
    """Return what there is, by name."""
    versions = []
    for package in _PACKAGES:
        try:
            versions.append(f'{package} {metadata.version(package)}')
        except metadata.PackageNotFoundError:
            continue
    return {
        'machine': f'{_processor()}, {os.cpu_count()} cores',
        'system': f'{platform.system()} {platform.release()}, {" ".join(platform.libc_ver())}',
        'versions': f'Python {platform.python_version()}, {", ".join(versions)}',
        'load before': ' '.join(f'{load:.1f}' for load in os.getloadavg()),
    }


def _processor() -> str:
    information = Path('/proc/cpuinfo')
    if information.exists():
        for line in information.read_text(encoding='utf-8').splitlines():
            if line.startswith('model name'):
                return line.partition(':')[2].strip()
    return platform.processor() or platform.machine()
