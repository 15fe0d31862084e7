# SPDX-License-Identifier: Apache-2.0
"""The documentation of the detector's parameters is that of the parameters themselves."""
import dataclasses
from pathlib import Path

import pytest

from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.settings.quantity import spec_of

PAGE = Path(__file__).parents[3] / 'docs' / 'apogee.md'


@pytest.mark.parametrize('field', dataclasses.fields(ApogeeParams), ids=lambda field: field.name)
def test_the_page_has_the_parameter_as_it_is(field):
    spec = spec_of(field)
    default = field.default if isinstance(field.default, str) else f'{field.default:g}'
    row = f'| `{field.name}` | {default} {spec.unit}'.rstrip() + f' | {spec.doc} |'
    assert row in PAGE.read_text(encoding='utf-8').splitlines()
