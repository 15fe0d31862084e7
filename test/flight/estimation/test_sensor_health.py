# SPDX-License-Identifier: Apache-2.0
"""What of a sensor may be used, and what its faults are called."""
import math

import pytest

from propulsion_ros.flight.estimation.baro_aid import InnovationJudge, Verdict
from propulsion_ros.flight.estimation.sensor_health import SensorMonitor, Status

MS = 1_000_000


def _monitor():
    return SensorMonitor(0.5, limits=(100.0, 100.0), steps=(10.0, 10.0), frozen_time=0.2)


def _feed(monitor, *rows):
    """Give rows of (ms, x, y), use what is good, and return what each was."""
    found = []
    for ms, *values in rows:
        status = monitor.arrive(ms * MS, tuple(values))
        if status is Status.OK:
            monitor.use(ms * MS)
        found.append(status)
    return found


@pytest.mark.parametrize(('rows', 'last'), [
    ([(0, 1.0, 1.0)], Status.OK),
    ([(10, 1.0, 1.0), (10, 2.0, 1.0)], Status.DUPLICATE),
    ([(10, 1.0, 1.0), (9, 2.0, 1.0)], Status.LATE),
    ([(0, math.nan, 1.0)], Status.INVALID),
    ([(0, 1.0, -math.inf)], Status.INVALID),
    ([(0, math.inf, -math.inf)], Status.INVALID),
    ([(0, 1.0, 100.5)], Status.RANGE),
    ([(0, 1.0, 1.0), (10, 1.0, 20.0)], Status.STEP),
    ([(0, 1.0, 1.0), (10, 1.0, 20.0), (20, 1.0, 21.0)], Status.OK),
    ([(0, 1.0, 1.0), (10, 1.0, 20.0), (20, 1.0, -20.0)], Status.STEP),
    ([(0, 1.0, 1.0), (10, 1.0, 20.0), (20, 1.0, 2.0)], Status.OK),
], ids=['good', 'duplicate', 'late', 'nan', 'inf', 'inf - inf', 'range', 'step', 'confirmed step',
        'two spikes', 'spike over'])
def test_message(rows, last):
    monitor = _monitor()
    assert _feed(monitor, *rows)[-1] is last
    assert monitor.counts[last] >= 1


def test_status_over_time():
    monitor = _monitor()
    assert monitor.status(0) is Status.ABSENT
    _feed(monitor, (0, 1.0, 1.0))
    assert monitor.status(500 * MS) is Status.OK
    assert monitor.status(501 * MS) is Status.STALE
    _feed(monitor, *((ms, math.nan, 1.0) for ms in range(10, 700, 10)))
    assert monitor.status(400 * MS) is Status.OK
    assert monitor.status(690 * MS) is Status.INVALID
    _feed(monitor, (700, 1.0, 1.0))
    assert monitor.status(700 * MS) is Status.OK


def test_a_sensor_that_was_never_good_has_the_fault_of_its_messages():
    monitor = _monitor()
    _feed(monitor, (0, 500.0, 1.0))
    assert monitor.status(0) is Status.RANGE


def test_repetition_is_noticed():
    monitor = _monitor()
    _feed(monitor, (0, 1.0, 1.0), (100, 1.0, 1.0), (200, 1.0, 1.0))
    assert not monitor.is_held(200 * MS)
    assert monitor.is_held(200 * MS + 1)
    _feed(monitor, (300, 1.0, 1.5))
    assert not monitor.is_held(500 * MS)


def _verdicts(innovations, width=5.0, first_ms=0, moved=1.0, each_ms=20):
    """Judge innovations, by default one each 20 ms; those within the width are accepted.

    The reading has moved by a share of them; by the rest the estimate has moved.
    """
    judge = InnovationJudge(0.3)
    found = []
    for i, value in enumerate(innovations):
        stamp = (first_ms + each_ms * i) * MS
        if abs(value) < width:
            judge.accept(stamp, value, moved * value)
            found.append(None)
        else:
            found.append(judge.refuse(stamp, value, moved * value, width, Verdict.STEP))
    return found


@pytest.mark.parametrize(('patience', 'away', 'verdict'), [
    (0.1, 0.2, Verdict.STEP), (0.2, 0.2, Verdict.STEP),
    (1.0, 0.8, Verdict.LOST), (2.0, 1.5, Verdict.LOST),
])
def test_a_line_is_as_old_whatever_the_gate_time(patience, away, verdict):
    """A short time made a step of a slow barometer an error of the estimate, a long one hid it."""
    judge, found = InnovationJudge(patience), []
    for i in range(10):
        judge.accept(200 * i * MS, 0.1, 2.0 * i)
    for i in range(20):
        stamp = (1800 + round(1000 * away) + 200 * i) * MS
        found.append(judge.refuse(stamp, 40.0, 60.0 + 2.0 * i, 5.0, Verdict.STEP))
    assert next(each for each in found if each is not Verdict.WAIT) is verdict


def test_a_spike_is_waited_out():
    assert _verdicts([0.0, 50.0, 0.0, -50.0, 0.0]) == [None, Verdict.WAIT, None, Verdict.WAIT, None]


def test_a_leap_that_stays_is_a_step_of_the_sensor():
    found = _verdicts([0.0] + [50.0 + 0.1 * i for i in range(20)])
    assert Verdict.STEP in found
    assert Verdict.LOST not in found


def test_a_leap_that_two_readings_share_is_a_step_of_the_sensor():
    """The first part was fused, and turned the line so that the rest lay on it."""
    found = _verdicts([0.0, 0.0, 0.0, 4.0, *[8.0] * 4], each_ms=200)
    assert Verdict.STEP in found
    assert Verdict.LOST not in found


def test_a_reading_that_leaves_its_line_as_predicted_is_no_step_of_the_sensor():
    found = _verdicts([min(0.03 * i * i, 6.0) for i in range(60)], moved=50.0)
    assert Verdict.LOST in found
    assert Verdict.STEP not in found


def test_a_leap_of_the_estimate_is_no_step_of_the_sensor():
    found = _verdicts([0.0] + [50.0 + 0.1 * i for i in range(20)], moved=0.0)
    assert Verdict.LOST in found
    assert Verdict.STEP not in found


def test_what_grows_through_the_gate_is_a_lost_estimate():
    found = _verdicts([0.5 * i for i in range(40)])
    assert Verdict.LOST in found
    assert Verdict.STEP not in found


def test_a_leap_that_does_not_settle_is_a_lost_estimate():
    found = _verdicts([0.0] + [50.0 * 1.05**i for i in range(100)])
    assert found.index(Verdict.LOST) > 50
    assert Verdict.STEP not in found
