# SPDX-License-Identifier: Apache-2.0
"""A wheel of this tree, and a prefix with it as pip installs it."""
from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile

from markdown_pages import REPOSITORY

DATA = re.compile(r'^propulsion_ros-[^/]*\.data/data/')
"""Beginning of the names of a wheel's files that belong into the prefix."""


def copied_tree(folder):
    """Return a copy of what the wheel is built from."""
    # Hidden ones change meanwhile: other tests make and remove files in .hypothesis.
    return shutil.copytree(REPOSITORY, folder / 'propulsion_ros', ignore=shutil.ignore_patterns(
        '.*', 'build', '*.egg-info', '__pycache__', 'test',
    ))


def built_wheel(source, folder):
    """Return a wheel that is built from a tree."""
    command = [sys.executable, '-m', 'pip', 'wheel', '-q', '--no-deps', '--no-build-isolation',
               '--no-index', '-w', str(folder), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return next(folder.glob('*.whl'))


def installed(wheel, prefix):
    """Return the folder of modules of a prefix, with a wheel in it."""
    site = prefix / 'lib' / 'python3' / 'site-packages'
    with zipfile.ZipFile(wheel) as archive:
        for info in archive.infolist():
            name = DATA.sub('', info.filename)
            path = (site if name == info.filename else prefix) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(archive.read(info))
    return site
