# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from propulsion_ros.loops.actuator_loop import CLOCK, COM, COMMAND
from propulsion_ros.loops.command_hold import CommandUpdate
from propulsion_ros.loops.estimate_loop import DEMAND, SPEED, EstimateLoop, EstimateParams
from propulsion_ros.models.common.wrench import move_wrench
from propulsion_ros.models.fam.fam import Fam, FamParams
from propulsion_ros.models.fam.inverse_fam import InverseFam, InverseFamParams

MS = 1_000_000
TIMEOUT = 320 * MS
FAM = Fam(FamParams())
WANTED = np.array([0.1, 0.02, -0.05, 0.004, 0.002, -0.003])
COM_POINT = np.array([0.02, -0.01, 0.03])


def update(values, columns=None):
    columns = np.arange(len(values)) if columns is None else np.asarray(columns)
    return CommandUpdate(columns, np.asarray(values, dtype=float))


def told(wrench=WANTED, fam=FAM, columns=None):
    """Return what the allocation sends for a wrench, all of it or some columns."""
    angle, speed = fam.sent(fam.allocate(np.asarray(wrench, dtype=float)))
    values = np.concatenate((angle, speed))
    columns = np.arange(14) if columns is None else np.asarray(columns)
    return CommandUpdate(columns, values[columns])


class Log:

    def __init__(self, heeds_clock=False, **params):
        self.seen, self.jumps = [], []
        self.inverse = InverseFam(InverseFamParams(**params))
        self.loop = EstimateLoop(
            self.inverse, EstimateParams(), self.seen.append,
            lambda *stamps: self.jumps.append(stamps), heeds_clock,
        )

    def push(self, source, ms, payload=None):
        return self.loop.inputs.push(source, round(ms * MS), payload)

    @property
    def stamps(self):
        return [applied.stamp_ns for applied in self.seen]


def test_residual_is_demand_minus_applied_about_the_origin():
    log = Log(com=COM_POINT)
    log.push(DEMAND, 990, update(WANTED))
    log.push(COMMAND, 1000, told(2.0 * WANTED))
    seen = log.seen[0]
    # The demand is about the centre of mass, what is published about base_link's origin.
    demanded = move_wrench(WANTED, COM_POINT)
    np.testing.assert_allclose(seen.wrench + seen.residual, demanded, atol=1e-15)
    direct = log.inverse.step(log.loop.hold.at(1000 * MS), None, 0.01, 0).wrench
    np.testing.assert_allclose(seen.wrench, direct, atol=1e-15)


def test_demand_that_is_too_old_is_no_demand():
    log = Log()
    log.push(DEMAND, 600, update(WANTED))
    log.push(COMMAND, 1000, told(np.zeros(6)))
    np.testing.assert_array_equal(log.seen[0].residual, -log.seen[0].wrench)


def test_demand_of_the_same_stamp_belongs_to_the_command():
    first, second = Log(), Log()
    first.push(COMMAND, 990, told())
    first.push(DEMAND, 1000, update(WANTED))
    first.push(COMMAND, 1000, told())
    second.push(DEMAND, 1000, update(WANTED))
    second.push(COMMAND, 1000, told())
    np.testing.assert_array_equal(first.seen[-1].residual, second.seen[-1].residual)


@pytest.mark.parametrize('witness', [
    pytest.param((CLOCK, None), id='a clock'),
    pytest.param((DEMAND, update(WANTED)), id='a demand'),
    pytest.param((COMMAND, told(columns=[0, 1, 2, 3, 4, 5, 12])), id='the other module'),
])
def test_silent_module_has_no_thrust_from_the_moment_it_is_late(witness):
    log = Log()
    log.push(COMMAND, 1000, told())
    log.push(witness[0], 1321, witness[1])
    silent = log.seen[1]
    assert silent.stamp_ns == 1000 * MS + TIMEOUT + 1
    assert np.all(silent.thrust == 0.0)
    assert np.all(silent.wrench == 0.0)


def test_one_silent_module_leaves_the_other_as_it_was():
    log = Log()
    log.push(COMMAND, 1000, told())
    first, other = [0, 1, 2, 3, 4, 5, 12], slice(6, 12)
    for ms in (1100, 1200, 1300):
        log.push(COMMAND, ms, told(columns=first))
    log.push(CLOCK, 1400)
    silent = log.seen[-1]
    assert len(log.seen) == 5
    np.testing.assert_array_equal(silent.thrust[:6], log.seen[0].thrust[:6])
    assert np.all(silent.thrust[other] == 0.0)
    assert log.seen[0].thrust[other].any()


def test_measured_speed_replaces_the_commanded_one_until_it_is_stale():
    log = Log(speed_source='measured')
    log.push(COMMAND, 1000, told())
    log.push(SPEED, 1010, update([200.0], columns=[1]))
    log.push(COMMAND, 1020, told())
    log.push(COMMAND, 1200, told())
    log.push(COMMAND, 1400, told())
    assert log.seen[1].speed.tolist() == [log.seen[0].speed[0], 200.0]
    np.testing.assert_array_equal(log.seen[-1].speed, log.seen[0].speed)


def test_com_moves_the_residual_from_its_stamp_and_outlives_a_jump():
    log = Log()
    log.push(DEMAND, 1000, update(WANTED))
    log.push(COMMAND, 1000, told())
    log.push(COM, 1005, COM_POINT)
    log.push(COMMAND, 1010, told())
    moved = log.seen[1].residual - log.seen[0].residual
    np.testing.assert_allclose(moved[3:], np.cross(COM_POINT, WANTED[:3]), atol=1e-15)
    assert np.all(moved[:3] == 0.0)
    for ms in (500_000, 500_010):
        log.push(DEMAND, ms, update(WANTED))
    log.push(COMMAND, 500_010, told())
    assert len(log.jumps) == 1
    np.testing.assert_allclose(log.seen[-1].residual, log.seen[1].residual, atol=1e-15)


def test_covariance_is_about_the_origin_too():
    log = Log(com=COM_POINT, thrust_scale_std=0.1)
    log.push(COMMAND, 1000, told())
    wrench = log.seen[0].wrench
    # One scale shared by all makes the whole wrench longer or shorter.
    np.testing.assert_allclose(
        log.seen[0].covariance, 0.01 * np.outer(wrench, wrench), atol=1e-15
    )


@given(order=st.permutations(range(6)), cut=st.integers(0, 5))
def test_what_a_clock_sees_does_not_depend_on_when_it_looks(order, cut):
    """Any clock readings between the commands leave the same estimates."""
    stamps = [1000, 1016, 1400, 1416, 2000, 2016]
    plain, watched = Log(), Log()
    for i, ms in enumerate(stamps):
        plain.push(COMMAND, ms, told())
        watched.push(COMMAND, ms, told())
        if order[i] >= cut and i + 1 < len(stamps):
            watched.push(CLOCK, ms + (stamps[i + 1] - ms) * order[i] / 6.0)
    assert plain.stamps == watched.stamps
    for a, b in zip(plain.seen, watched.seen, strict=True):
        np.testing.assert_array_equal(a.wrench, b.wrench)


def test_a_late_command_says_nothing_of_what_was_before_the_newest():
    log = Log()
    log.push(COMMAND, 1000, told())
    log.push(COMMAND, 990, told(-WANTED))
    assert log.stamps == [1000 * MS]
    # Of one of its names it is the first to say anything, and that holds from the newest on.
    log = Log()
    log.push(COMMAND, 1000, told(columns=range(13)))
    log.push(COMMAND, 990, told())
    assert log.stamps == [1000 * MS, 1000 * MS]
    assert not np.array_equal(log.seen[0].wrench, log.seen[1].wrench)


@pytest.mark.parametrize('first_ms', [500_000, 100_000], ids=['ahead of it', 'behind it'])
def test_a_first_clock_of_another_time_forgets_what_was_applied_before_it(first_ms):
    log = Log()
    log.push(COMMAND, first_ms, told(-WANTED))
    log.push(CLOCK, 300_000)
    assert log.jumps == [(first_ms * MS, 300_000 * MS)]
    log.push(COMMAND, 300_010, told())
    assert log.stamps == [first_ms * MS, 300_010 * MS]
    fresh = Log()
    fresh.push(COMMAND, 300_010, told())
    np.testing.assert_array_equal(log.seen[1].wrench, fresh.seen[0].wrench)


def numbered(number):
    """Return a command to all modules that its estimate can be told by."""
    return CommandUpdate(np.arange(14), np.r_[np.full(12, 0.5 + 1e-3 * number), 200.0, 200.0])


@pytest.mark.parametrize('wrong_ms', [-500_000, -900, 9_000, 500_000])
def test_nothing_is_said_before_the_clock_and_then_what_is_of_its_time(wrong_ms):
    log = Log(heeds_clock=True)
    log.push(COMMAND, 1_000_000 + wrong_ms, numbered(1))
    log.push(COMMAND, 1_000_000, numbered(2))
    assert log.stamps == []
    log.push(CLOCK, 1_000_010)
    assert [applied.angle[0] for applied in log.seen if applied.angle[0] == 0.502] == [0.502]
    assert log.stamps[-1] == 1_000_000 * MS
    assert not log.jumps


def test_command_far_ahead_of_the_clock_silences_none_before_it():
    log = Log(heeds_clock=True)
    log.push(CLOCK, 10_000)
    log.push(COMMAND, 19_000, numbered(1))
    log.push(COMMAND, 10_010, numbered(2))
    log.push(COMMAND, 10_020, numbered(3))
    assert log.stamps == [10_010 * MS, 10_020 * MS]
    for ms in range(10_100, 19_100, 100):
        log.push(COMMAND, ms, numbered(4))
        log.push(CLOCK, ms)
    assert [round(1e3 * (log.seen[i].angle[0] - 0.5)) for i in (0, 1, 2, -2, -1)] == [2, 3, 4, 1, 4]


OFFS = st.sampled_from((-900_000, -20_000, -1_500, -700, -40, -10, 0, 0, 0, 5, 20, 90, 110, 800,
                        4_000, 9_500, 20_000, 900_000))
INPUTS = st.tuples(
    st.sampled_from((COMMAND, COMMAND, SPEED, DEMAND, CLOCK, CLOCK, 'reset')), OFFS,
    st.integers(0, 30),
)


@given(st.lists(INPUTS, max_size=40))
def test_every_estimate_is_of_a_command_that_its_time_has_come_for(inputs):
    """Any order of commands, speeds, demands, clocks that jump, and resets."""
    log, now, sent, clock, last, said = Log(heeds_clock=True), 1_000_000, {}, None, None, 0

    def look():
        """Hold what was said since the last look to what was heard until now."""
        nonlocal said, last
        for applied in log.seen[said:]:
            assert clock is not None
            assert applied.stamp_ns <= (clock + 100) * MS
            # A module that fell silent counts as shut; else the command is known by its angle.
            number = round(1e3 * (applied.angle[0] - 0.5))
            if number in sent:
                assert sent[number] * MS <= applied.stamp_ns <= sent[number] * MS + TIMEOUT
            assert last is None or applied.stamp_ns >= last
            last = applied.stamp_ns
        said = len(log.seen)

    for number, (source, off, passed) in enumerate(inputs):
        now += passed
        if source == 'reset':
            log.loop.reset()
            clock = last = None
        elif source == CLOCK:
            jumps = len(log.jumps)
            # A clock is believed, so that it takes the time with it.
            now += off if number % 5 == 0 else 0
            log.push(CLOCK, now)
            clock = now if clock is None or len(log.jumps) > jumps else max(clock, now)
            last = None if len(log.jumps) > jumps else last
        elif source == COMMAND:
            sent[number] = now + off
            log.push(COMMAND, now + off, numbered(number))
        else:
            log.push(source, now + off, update([150.0, 250.0] if source == SPEED else WANTED))
        look()
    # Whatever came before, who is of this time is answered.
    begin = now if clock is None else clock
    log.push(CLOCK, begin)
    log.push(COMMAND, begin + 150, numbered(99))
    log.push(CLOCK, begin + 160)
    assert (begin + 150) * MS in [a.stamp_ns for a in log.seen if a.angle[0] == 0.5 + 1e-3 * 99]
