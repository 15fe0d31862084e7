# SPDX-License-Identifier: Apache-2.0
"""What is offered for a text that is no number."""
import pytest

from propulsion_ros.settings.hints import number_hint


@pytest.mark.parametrize(('text', 'hint'), [
    ('1.2 e-5', 'as 1.2e-5'), ('1.2x10^-5', 'as 1.2e-5'), ('1.2*10^-5', 'as 1.2e-5'),
    ('0 0 -pi/4', 'as ${...}'), ('3/4', 'as ${...}'), ('2 * 0.1', 'as ${...}'),
    ('none', 'leave it out, or write 0'), ('Off', 'leave it out, or write 0'),
    ('12 mm', 'write 0.012'), ('spin', ''), ('7', 'without quotes'),
])
def test_what_was_meant_is_offered(text, hint):
    got = number_hint(text)
    assert hint in got
    assert bool(hint) == bool(got)
