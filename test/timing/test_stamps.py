from __future__ import annotations

import pytest

from propulsion_ros.timing.stamps import Arrival, StampOrder

_WORD = {'n': Arrival.NEXT, 'g': Arrival.GAP, 'l': Arrival.LATE, 'j': Arrival.JUMP}


@pytest.mark.parametrize(
    ('seconds', 'expected'),
    [
        pytest.param([0, 0.1, 0.2, 0.3], 'nnn', id='regular'),
        pytest.param([0, 1, 2, 3], 'nnn', id='slow sensor has no gaps'),
        pytest.param([0, 0.1, 0.2, 3.0, 3.1], 'nngn', id='gap'),
        pytest.param([0, 0.1, 0.2, 1.2, 1.3], 'nnnn', id='short gap'),
        pytest.param([0, 0.1, 3.1, 6.1], 'ngn', id='rate change is one gap'),
        pytest.param([0, 0.1, 0.1, 0.1, 0.1, 0.1, 0.2], 'nlllln', id='repeated'),
        pytest.param([0, 0.1, 0.2, 0.15, 0.3], 'nnln', id='single late'),
        pytest.param([0, 0.1, 0.2, 0.15, 0.12, 0.11, 0.3], 'nnllln', id='late in falling order'),
        pytest.param([10, 10.1, 7.2, 7.3, 7.4, 7.5], 'nlljn', id='clock set back'),
        pytest.param([0, 0.1, 900, 0.2, 0.3, 0.4, 0.5], 'ngllJn', id='one stamp from the future'),
    ],
)
def test_arrivals(seconds, expected):
    order = StampOrder(1.5)
    assert order.classify(round(seconds[0] * 1e9)) is Arrival.FIRST
    got = [order.classify(round(s * 1e9)) for s in seconds[1:]]
    assert got == [_WORD[letter] for letter in expected.lower()]


def test_shift_moves_old_stamps_to_the_new_clock():
    order = StampOrder(1.5)
    for seconds in (10.0, 10.1, 10.2, 7.3, 7.4, 7.5):
        arrival = order.classify(round(seconds * 1e9))
    assert arrival is Arrival.JUMP
    assert order.shift_ns == pytest.approx(-3e9, abs=1)


def test_reset_forgets():
    order = StampOrder(1.5)
    order.classify(10**9)
    order.reset()
    assert order.classify(0) is Arrival.FIRST
