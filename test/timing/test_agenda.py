# SPDX-License-Identifier: Apache-2.0
"""What is on an agenda is done behind the inputs that it names, and before the next."""
from __future__ import annotations

import pytest

from propulsion_ros.timing.stepping import Agenda, Place


@pytest.mark.parametrize(('place', 'before', 'after'), [
    pytest.param(Place(10), [(10, 'a'), (10, 'b'), (10, '')], (11, 'a'), id='behind a stamp'),
    pytest.param(Place(10, 'a'), [(9, 'b'), (10, 'a')], (10, 'b'), id='behind a source'),
    pytest.param(Place(10, 'b'), [(10, 'a'), (10, 'b')], (10, ''), id='before the tick'),
])
def test_it_is_done_in_its_place(place, before, after):
    done, agenda = [], Agenda(('a', 'b'))
    agenda.add(place, lambda: done.append(1))
    agenda.add(place, lambda: done.append(2))
    for here in before:
        agenda.pass_to(*here)
    assert not done
    assert len(agenda) == 2
    agenda.pass_to(*after)
    assert done == [1, 2]
    assert not agenda


def test_what_is_cleared_is_not_done():
    done, agenda = [], Agenda(())
    agenda.add(Place(1), lambda: done.append(1))
    agenda.clear()
    agenda.pass_to(5)
    assert not done
