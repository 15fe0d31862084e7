# SPDX-License-Identifier: Apache-2.0
"""The rows with given numbers name what there is."""
from __future__ import annotations

import pytest

from propulsion_ros.study.ground.case import draw
from propulsion_ros.study.ground.rows import ROWS


@pytest.mark.parametrize('name', ROWS)
def test_its_numbers_are_drawn_numbers(name):
    row = ROWS[name]
    case = next(row.cases([0]))
    drawn = draw(case)
    assert {key: drawn.numbers[key] for key in row.pins} == dict(row.pins)
    assert len(list(row.cases())) == row.seeds * len(row.sources)
