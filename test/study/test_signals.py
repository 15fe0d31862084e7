# SPDX-License-Identifier: Apache-2.0
"""What is kept of a signal."""
from __future__ import annotations

import math
from types import SimpleNamespace as Plain

import pytest

from propulsion_ros.loops.payloads import Kind
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.study.signals import Signals, read_result

ROWS = [(0.0, 1.0), (0.5, 4.0), (1.0, -2.0), (2.0, 3.0)]
TAKES = {
    'first': 1.0, 'last': 3.0, 'min': -2.0, 'max': 4.0, 'mean': 1.5, 'rms': math.sqrt(7.5),
    'integral': 0.5 + 2.0 - 2.0, 'time_of_min': 1.0, 'time_of_max': 0.5,
}


@pytest.mark.parametrize(('take', 'value'), TAKES.items())
def test_a_number_of_a_signal(take, value):
    assert read_result('', 'a', {take: 't.p'}).of(ROWS) == pytest.approx(value)


def test_only_a_part_counts_and_a_target_is_taken_off():
    result = read_result('', 'a', {'mean': 't.p', 'from': 0.5, 'to': 1.0, 'minus': 1.0})
    assert result.of(ROWS) == 0.0
    assert math.isnan(read_result('', 'a', {'max': 't.p', 'from': 3.0}).of(ROWS))


def _state(stamp, effort):
    return Plain(
        header=Plain(stamp=Plain(sec=stamp, nanosec=0)), name=['front', 'rear'], position=[],
        velocity=[], effort=effort,
    )


def test_parts_of_messages_by_name():
    signals = Signals((
        read_result('', 'most', {'max': '/rotors/state.rear.effort'}),
        read_result('', 'none', {'max': 'nothing/state.x'}),
    ))
    for stamp, effort in ((0, [9.0, 1.0]), (1, [9.0, 2.0])):
        signals.take('/rotors/state', Kind.JOINTS, _state(stamp, effort))
    assert signals.numbers()['most'] == 2.0
    assert math.isnan(signals.numbers()['none'])


@pytest.mark.parametrize(('part', 'kind', 'message'), [
    ('raer.effort', Kind.JOINTS, "unknown, did you mean 'rear.effort'?; known: front.effort"),
    ('x', Kind.STRING, 'no number can be kept of a std_msgs/msg/String'),
])
def test_an_unknown_part_is_named(part, kind, message):
    signals = Signals((read_result('', 'a', {'max': f'rotors/state.{part}'}),))
    with pytest.raises(SourceError, match=message.replace('?', r'\?')):
        signals.take('/rotors/state', kind, _state(0, [1.0, 2.0]))
