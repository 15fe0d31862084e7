# SPDX-License-Identifier: Apache-2.0
"""Any bytes end in something sound or in one line: each reader, with what was found before."""
from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

pytest.importorskip('rosbags')

from fuzz.target import outcome
from fuzz.targets import TARGETS
from parts import amount

EXAMPLES = int(os.environ.get('FUZZ_EXAMPLES', amount('fuzz', 25, 2000)))
"""For each target; the examples are the same in every run unless there are more."""
pytestmark = pytest.mark.part('fuzz')
FEW = settings(
    max_examples=EXAMPLES, derandomize=EXAMPLES <= 100, deadline=None, database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@st.composite
def damaged(draw, target):
    """Return a seed of a target with one to three places cut, doubled, moved or overwritten."""
    data = draw(st.sampled_from(target.seeds()))
    words = [word.encode() for word in target.words]
    patches = st.binary(max_size=8) | st.sampled_from(words or [b'\xff'])
    for _ in range(draw(st.integers(1, 3))):
        begin = draw(st.integers(0, len(data)))
        end = min(begin + draw(st.sampled_from((0, 1, 2, 8, 60))), len(data))
        other = draw(st.integers(0, len(data)))
        patch = draw(patches | st.just(data[begin:end] * 2) | st.just(data[other:other + 40]))
        data = data[:begin] + patch + data[end:]
    return data


@pytest.mark.parametrize('name', TARGETS)
def test_damaged_bytes_end_in_one_line(name):
    target = TARGETS[name]

    @FEW
    @example(b'')
    @example(b'\xff\xfe\x00\x1b[2J\n')
    @given(damaged(target) | st.binary(max_size=200))
    def any_bytes(data):
        outcome(target, data)

    any_bytes()


@pytest.mark.parametrize('name', TARGETS)
def test_some_seed_is_sound(name):
    target = TARGETS[name]
    assert '' in [outcome(target, seed) for seed in target.seeds()]
