# SPDX-License-Identifier: Apache-2.0
"""The flown localisation filter against recordings of the original."""
import numpy as np
import pytest

from propulsion_ros.flight.legacy.estimator_fsm import LegacyLocalization

CASES = ('baro_static', 'accel_static', 'gps', 'nan_baro')


def test_every_recorded_case_is_tried(golden):
    assert {case['name'].split()[0] for case in golden('localizationkf')['cases']} == set(CASES)


def _replay(case):
    """Yield what the original printed and what comes here, after each operation."""
    filter_ = LegacyLocalization()
    printed, places = iter(case['out']), iter(case['ned'])
    for operation in case['ops']:
        kind, *numbers = operation.split()
        values = [float(number) for number in numbers]
        if kind == 'N':
            yield np.array(next(places)), np.array(filter_.to_ned(*values))
            continue
        if kind == 'F':
            filter_.set_reference(*values)
        elif kind == 'P':
            filter_.predict(*values)
        elif kind == 'B':
            filter_.barometer(*values)
        elif kind == 'G':
            filter_.fix(*values[:3], tuple(values[3:]))
        else:
            filter_.accelerometer(tuple(values), high_range=kind == 'H')
        covariance = filter_.covariance
        ours = [
            *filter_.state, *np.diag(covariance),
            covariance[6, 7], covariance[6, 8], covariance[7, 8],
        ]
        yield np.array(next(printed), dtype=float), np.array(ours)


@pytest.mark.parametrize('name', CASES)
def test_original_is_reproduced(golden, name):
    cases = golden('localizationkf')['cases']
    (case,) = (case for case in cases if case['name'].split()[0] == name)
    for original, ours in _replay(case):
        # The original computes in 32 bits, and its errors add up over 300 steps.
        np.testing.assert_allclose(ours, original, rtol=2e-5, atol=1e-4, equal_nan=True)
