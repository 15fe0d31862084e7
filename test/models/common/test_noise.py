# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from propulsion_ros.models.common.noise import TickNoise

TICKS = 50_000
ticks = st.integers(-(2**63), 2**63)


def noise(*seeds: int, batch: tuple[int, ...] = ()) -> TickNoise:
    return TickNoise(np.array(seeds, int), batch)


def series(source: TickNoise, count: int = TICKS) -> np.ndarray:
    return np.stack([source.at(tick) for tick in range(count)])


@pytest.fixture(scope='module')
def samples() -> np.ndarray:
    return series(noise(0, 1, 2, 2**40))


def test_each_channel_is_standard_normal(samples):
    for channel in samples.T:
        assert abs(channel.mean()) < 5.0 / np.sqrt(TICKS)
        assert channel.std() == pytest.approx(1.0, abs=5.0 / np.sqrt(2 * TICKS))
        assert stats.kstest(channel, 'norm').pvalue > 1e-3


@pytest.mark.parametrize('lag', [1, 2, 1023, 1024, 1025])
def test_ticks_are_independent_within_and_across_blocks(samples, lag):
    for channel in samples.T:
        assert abs(np.mean(channel[lag:] * channel[:-lag])) < 5.0 / np.sqrt(TICKS - lag)


@given(st.lists(ticks, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_a_tick_gets_its_value_in_any_order(asked, shuffle):
    source = noise(3, 4)
    first = {tick: source.at(tick).copy() for tick in asked}
    shuffle.shuffle(asked)
    for tick in asked:
        np.testing.assert_array_equal(source.at(tick), first[tick])
        np.testing.assert_array_equal(noise(3, 4).at(tick), first[tick])


def test_members_of_a_batch_are_independent():
    drawn = series(noise(1, 2, batch=(2, 3)), 5_000)
    assert drawn.shape == (5_000, 2, 3, 2)
    correlation = np.corrcoef(drawn.reshape(5_000, -1).T) - np.eye(12)
    assert np.abs(correlation).max() < 5.0 / np.sqrt(5_000)


def test_a_large_batch_and_no_channel_at_all():
    assert noise(1, 2, batch=(4096,)).at(10).shape == (4096, 2)
    assert noise().at(10).shape == (0,)
