# SPDX-License-Identifier: Apache-2.0
"""The page on the simulated body has every parameter of it."""
from __future__ import annotations

from pathlib import Path

from body_tables import SECTIONS

from flight_tables import fill
from propulsion_ros.loops.vehicle_params import VehicleParams
from propulsion_ros.settings.flat import parameters_of

PAGE = Path(__file__).parents[2] / 'docs' / 'body.md'
TEXT = PAGE.read_text(encoding='utf-8')


def test_tables_are_those_of_the_parameters():
    assert fill(TEXT, SECTIONS) == TEXT, 'run: python test/body_tables.py docs/body.md'


def test_every_parameter_is_there():
    missing = [each.key for each in parameters_of(VehicleParams) if f'| `{each.key}` |' not in TEXT]
    assert not missing
