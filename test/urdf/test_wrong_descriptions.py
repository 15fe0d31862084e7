# SPDX-License-Identifier: Apache-2.0
"""Each wrong tag of `mistakes/descriptions.yaml` is refused in one line that names its path."""
from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from mistakes import TEXTS
from propulsion_ros.graph.family_params import GroupParams, loop_params_of
from propulsion_ros.models.registry import FAMILIES
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import build
from propulsion_ros.urdf.reader import actuators_from_urdf
from refusals import refusal

TABLE = yaml.safe_load((Path(__file__).parents[1] / 'mistakes/descriptions.yaml').read_text())


def right(group):
    return TEXTS[group['of']] if 'of' in group else group['right']


def require_right(text):
    """Read a description and make the parameters of each of its blocks."""
    for spec in actuators_from_urdf(text, loop_params_of):
        for params in (FAMILIES[spec.family].Params, GroupParams):
            try:
                build(params, spec.values)
            except ConfigError as error:
                raise spec.locate(error) from None


@pytest.mark.parametrize('group', TABLE.values(), ids=TABLE)
def test_without_the_change_nothing_is_wrong(group):
    require_right(right(group))


@pytest.mark.parametrize(('text', 'changes', 'line'), [
    pytest.param(right(group), changes, line, id=f'{name}: {what}')
    for name, group in TABLE.items() for what, changes, line in group['wrong']
])
def test_a_wrong_tag_is_one_line_that_names_its_path(text, changes, line):
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new, 1)
    assert refusal(require_right, text) == line
