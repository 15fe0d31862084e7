# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from propulsion_ros.loops.complaints import Complaints

S = 1_000_000_000


class Log:
    """Complaints with a clock that a test sets, and the lines that they logged."""

    def __init__(self):
        self.now, self.lines = 0, []
        self.complaints = Complaints(self.lines.append, lambda: self.now)

    def add(self, key, *texts):
        for text in texts:
            self.complaints.add(key, text)


def test_the_same_line_is_logged_once_and_counted_each_time():
    log = Log()
    log.add('refused', 'no  such\nname', 'no such name', 'no such name')
    assert log.lines == ['no such name']
    assert log.complaints.counts['refused'] == 3


def test_different_lines_of_a_kind_are_logged_five_times_in_five_seconds():
    log = Log()
    log.add('refused', *map(str, range(9)))
    log.add('other_time', 'late')
    assert log.lines == ['0', '1', '2', '3', '4', 'late']
    log.now = 5 * S
    log.add('refused', '9')
    assert log.lines[-1] == '9'
    assert log.complaints.counts == {'refused': 10, 'other_time': 1}


def test_a_line_is_cut_and_moves_no_cursor():
    log = Log()
    log.add('refused', 'x' * 10_000, '\x1b[2J')
    assert len(log.lines[0]) <= 1005
    assert log.lines[1] == '\\x1b[2J'
