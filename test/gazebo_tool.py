# SPDX-License-Identifier: Apache-2.0
"""Gazebo's own command, where there is one: its parser, and whether its server runs Python."""
from __future__ import annotations

import shutil
import subprocess

import pytest
from defusedxml import ElementTree

COMMAND = shutil.which('gz') or shutil.which('ign')
needs_sdformat = pytest.mark.skipif(
    COMMAND is None, reason="NOT CHECKED by Gazebo's parser: neither 'gz sdf' nor 'ign sdf' here, "
    "install Gazebo, or Debian's ignition-tools and libsdformat-dev",
)


def sdf(option, path, check=True):
    """Run the parser on a file."""
    return subprocess.run(
        [COMMAND, 'sdf', option, path], capture_output=True, text=True, check=check
    )


def as_sdf(text, tmp_path):
    """Return a description as Gazebo's own parser reads it."""
    path = tmp_path / 'robot.urdf'
    path.write_text(text)
    return ElementTree.fromstring(sdf('-p', path).stdout).find('model')
