# SPDX-License-Identifier: Apache-2.0
"""The flown estimator's states and outputs against recordings of the original."""
import numpy as np
import pytest

from propulsion_ros.flight.legacy.estimator_fsm import LegacyEstimator, LegacyInput, LegacyState


def _read(numbers):
    v = [float(number) for number in numbers]
    return LegacyInput(
        tuple(v[:3]), tuple(v[3:6]), tuple(v[6:9]), v[9], tuple(v[10:13]), tuple(v[13:16]),
        bool(v[16]),
    )


def _row(estimator):
    attitude = estimator.orientation.attitude if estimator.is_oriented else (0.0,) * 4
    return [
        estimator.state, estimator.has_error, *attitude,
        *estimator.position, *estimator.velocity, *estimator.acceleration,
    ]


@pytest.mark.parametrize('number', range(20))
def test_recorded_script(golden, number):
    case = golden('estimator_fsm')['cases'][number]
    estimator = LegacyEstimator()
    sensors, recorded = None, iter(case['out'])
    for line in case['script']:
        kind, *words = line.split()
        if kind == 'FLAG':
            (estimator.failed.add if words[1] == '1' else estimator.failed.discard)(words[0])
        elif kind == 'HOME':
            estimator.set_home(sensors)
        else:
            sensors = _read(words[1:])
            estimator.update(int(words[0]), sensors)
            row = next(recorded)
            # Angles, and what follows from the attitude, were recorded between.
            expected = [*row[:6], *row[11:20]]
            np.testing.assert_allclose(_row(estimator), expected, atol=1e-6, err_msg=line)


def test_recordings_and_states_are_complete(golden):
    cases = golden('estimator_fsm')
    assert len(cases['cases']) == 20
    assert cases['meta']['states'] == [state.name for state in LegacyState]


@pytest.mark.parametrize(
    ('failed', 'state'),
    [('', 'NOMINAL'), ('GPS', 'PARTIAL_NO_GPS'), ('BARO', 'PARTIAL_NO_BARO'),
     ('MAG', 'PARTIAL_NO_MAG'), ('IMU', 'NOMINAL'), ('GPS BARO MAG', 'PARTIAL_NO_GPS_NO_BARO')],
)
def test_states_that_are_not_recorded(failed, state):
    """The rest of the table of 32, of which 20 rows were recorded."""
    sensors = LegacyInput((0.0,) * 3, (0.0, 0.0, -1.0), (0.4, 0.0, 0.9), 100.0)
    estimator = LegacyEstimator()
    estimator.set_home(sensors)
    estimator.failed = set(failed.split())
    estimator.update(4000, sensors)
    assert estimator.state is LegacyState[state]
    assert estimator.has_error == (state != 'NOMINAL')
