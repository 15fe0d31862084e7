# SPDX-License-Identifier: Apache-2.0
"""Fits find parameters that are known, and know how sure they are."""
from __future__ import annotations

import numpy as np
import pytest
from identify_benches import BENCHES
from identify_truth import fit_of, recorded, true_numbers

from parts import amount

FEW, MANY = 1, 50


@pytest.mark.part('fits')
@pytest.mark.parametrize('name', BENCHES)
def test_known_parameters_are_found(name):
    """Of 50 random sets 97 to 100 % are within 3 sigma, and the mean error is below 1 sigma."""
    bench, errors = BENCHES[name], []
    count = amount('fits', 1 if bench.is_slow else FEW, MANY)
    for seed in range(count):
        rng = np.random.default_rng(seed)
        truth = bench.draw(rng)
        recording = recorded(bench, {**bench.fixed, **truth}, rng)
        fit = fit_of(bench, truth, recording)
        errors.append((fit.values - true_numbers(bench, truth)) / fit.sd)
    scores = np.array(errors)
    if count < MANY:
        assert np.abs(scores).max() < 4.0, scores
        return
    assert np.mean(np.abs(scores) < 3.0) >= 0.97, scores
    assert np.abs(scores.mean(axis=0)).max() < 1.0, scores
