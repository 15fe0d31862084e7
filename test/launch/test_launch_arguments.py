# SPDX-License-Identifier: Apache-2.0
"""What tests read of the launch files' source is what launch itself says."""
from __future__ import annotations

import importlib.util

import pytest

pytest.importorskip('launch_ros', reason='launch_ros is not installed')

from markdown_pages import REPOSITORY
from page_launch import launch_arguments

FILES = sorted((REPOSITORY / 'launch').glob('*.launch.py'))


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.name)
def test_arguments_are_those_of_launch(path):
    spec = importlib.util.spec_from_file_location('launched', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    declared = module.generate_launch_description().get_launch_arguments()
    said = {argument.name: tuple(argument.choices or ()) for argument in declared}
    assert launch_arguments(path.name) == said
