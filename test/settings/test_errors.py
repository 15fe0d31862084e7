# SPDX-License-Identifier: Apache-2.0
"""What a file holds reaches a terminal or a log as one line that can be read."""
from types import FunctionType

import pytest

from propulsion_ros.settings.errors import (
    FIRST,
    CommandError,
    ConfigError,
    FaultList,
    FollowingError,
    SourceError,
    warn,
)


@pytest.mark.parametrize(('found', 'said'), [
    pytest.param('café ☃', 'café ☃', id='printable'),
    pytest.param('a\nb', r'a\nb', id='line end'),
    pytest.param('\x1b[2J', r'\x1b[2J', id='escape sequence'),
    pytest.param('\x00\x7f\u202e', r'\x00\x7f\u202e', id='control characters'),
    pytest.param('\ud800', r'\ud800', id='half of a character'),
])
def test_what_cannot_be_printed_is_escaped(found, said):
    assert str(ConfigError('key', found)) == f"parameter 'key': {said}"
    assert str(SourceError(found, 'wrong')) == f'{said}: wrong'
    assert str(CommandError(found)) == said


def test_a_long_text_is_cut_in_its_middle():
    for long in ('x' * 5_000_000, '\U000e0001' * 900):
        text = str(ConfigError('key', f'got xx{long}xx, expected y'))
        assert len(text) < 1100
        assert text.startswith("parameter 'key': got xx")
        assert text.endswith('xx, expected y')


def test_the_first_fault_ends_a_reading():
    with pytest.raises(ConfigError, match='wrong'), FIRST.kept():
        raise ConfigError('a', 'wrong')


def test_a_list_keeps_each_fault_and_warning_once_and_none_that_follows():
    faults = FaultList()
    for error in (ConfigError('a', 'wrong'), ConfigError('b', 'wrong'), ConfigError('a', 'wrong')):
        with faults.kept():
            raise error
    with faults.kept():
        raise FollowingError('c', 'has a fault')
    assert [error.key for error in faults.errors] == ['a', 'b']
    for _ in range(2):
        faults.warn('a', 'odd')
    assert faults.warnings == [('a', 'odd')]


@pytest.mark.parametrize('name', [{}, {'__name__': 'propulsion_ros_of_others'}])
def test_a_warning_has_the_line_of_code_outside_of_the_package(name):
    def line():
        warn('odd')

    with pytest.warns(UserWarning, match='odd') as warned:
        FunctionType(line.__code__, {**name, 'warn': warn})()
    assert warned[0].lineno == line.__code__.co_firstlineno + 1
