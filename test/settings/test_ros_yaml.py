# SPDX-License-Identifier: Apache-2.0
"""Values of parameter files are those that ROS 2 itself reads, whatever the spelling."""
import math
from contextlib import suppress

import pytest

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.ros_yaml import dump
from propulsion_ros.settings.yaml_file import ParameterFile
from propulsion_ros.tools.check import check_file
from refusals import refusal

SPELLINGS = {
    # Whole numbers.
    '1': 1, '+1': 1, '-0': 0, '0x10': 16, '0X1F': 31, '-0x10': -16, '017': 15, '00': 0,
    '9223372036854775807': 2**63 - 1, '-9223372036854775808': -2**63,
    # Numbers.
    '1.0': 1.0, '5.': 5.0, '.5': 0.5, '-.5': -0.5, '1e3': 1000.0, '1E+3': 1000.0, '1.0e3': 1000.0,
    '.5e3': 500.0, '08': 8.0, '00.5': 0.5, '0x1p3': 8.0, '0x1.8': 1.5, '0e0': 0.0,
    '9223372036854775808': 2.0**63, '0xFFFFFFFFFFFFFFFF': 2.0**64, '1e308': 1e308,
    '.inf': math.inf, '-.INF': -math.inf, 'inf': math.inf, '-Infinity': -math.inf,
    '.nan': math.nan, 'NaN': math.nan,
    # True and false.
    'true': True, 'TRUE': True, 'yes': True, 'On': True, 'y': True, 'Y': True,
    'false': False, 'No': False, 'OFF': False, 'n': False, 'N': False,
    # Texts.
    '1_000': '1_000', '0o17': '0o17', '0b101': '0b101', '1:30': '1:30', '1e400': '1e400',
    '5e-324': '5e-324', '1e-400': '1e-400', '~': '~', 'null': 'null', 'Null': 'Null',
    '2001-12-14': '2001-12-14', 'tRUE': 'tRUE', '.iNF': '.iNF', '1e': '1e', '0x': '0x',
    '--1': '--1', '1.5.5': '1.5.5', '.': '.', '=': '=', '<<': '<<', '"1"': '1', "'true'": 'true',
    '!!str 1': '1',
    '""': '', '\u0663': '\u0663',
    # Arrays.
    '[1, 0x10]': [1, 16], '[1.0, 1e3, nan]': [1.0, 1000.0, math.nan], '[yes, n]': [True, False],
    '[a, "1"]': ['a', '1'], '[~, null]': ['~', 'null'], '[]': [],
}
"""What each spelling is."""

REFUSED = {
    # These ROS refuses too.
    '': 'a key without a value', '!!str': 'a key without a value', '*a': 'aliases',
    '[1, 2.5]': 'expected values of one type', '[1, 1_0]': 'expected values of one type',
    '[1, yes]': 'expected values of one type', '[{a: 1}]': 'expected values of one type',
    '{"": 1}': 'expected a name as key',
    # These it reads as something else.
    '[[1]]': 'expected values of one type', '{}': 'expected a value, got {}',
    '"a\\0b"': 'a NUL, at which ROS ends a text', '!!float 1': 'the tag !!float',
    '!!binary aGk=': 'the tag !!binary', '!!python/object/apply:os.system [ls]': 'the tag !!python',
}


def of_one(spelling):
    return f'n:\n  ros__parameters:\n    x: {spelling}\n    y: 1\n'


@pytest.mark.parametrize('spelling', SPELLINGS)
def test_a_spelling_is_what_ros_takes_it_for(written, spelling):
    path, expected = written(of_one(spelling)), SPELLINGS[spelling]
    # By their texts: 1 is no 1.0, and NaN is itself.
    assert repr(ParameterFile(path).of('n')['x']) == repr(expected)
    pytest.importorskip('rclpy')
    from fuzz import rcl

    given = rcl.read(path)['n']['x']
    assert repr([] if given is None else given) == repr(expected)


@pytest.mark.parametrize(('spelling', 'expected'), [
    ('[package://a/b, c]', ['package://a/b', 'c']), ('[1:30]', ['1:30']), ('[a?, b]', ['a?', 'b']),
])
def test_texts_that_only_newer_parsers_take_in_brackets(written, spelling, expected):
    """Ubuntu 24.04 has libyaml 0.2.5, which takes them; the wheels of ROS 2 have 0.1.7."""
    path = written(of_one(spelling))
    assert ParameterFile(path).of('n')['x'] == expected
    (warning,) = check_file(path).warnings
    assert warning.endswith('params.yaml:3: warning: a text with ? or : in brackets, which ROS 2 '
                            'from PyPI cannot read; put it in quotes')
    pytest.importorskip('rclpy')
    from fuzz import rcl

    given = None
    with suppress(ValueError):
        given = rcl.read(path)
    assert given in (None, {'n': {'x': expected, 'y': 1}})


@pytest.mark.parametrize('spelling', REFUSED)
def test_what_ros_cannot_read_or_misreads_is_refused(written, spelling):
    said = refusal(ParameterFile, written(of_one(spelling)))
    assert REFUSED[spelling] in said
    assert 'params.yaml:3' in said or 'line 3' in said


@pytest.mark.parametrize(('text', 'problem'), [
    ('n/', 'expected the name of a node'), ('n//m', 'expected the name of a node'),
    ('1n', 'letters, digits and _'), ('n-1', 'letters, digits and _'), ('n m', 'letters, digits'),
    ('é', 'letters, digits'), ('a*b', '* for any one part'), ('n' * 255, 'expected the name'),
])
def test_names_that_ros_refuses(written, text, problem):
    assert problem in refusal(ParameterFile, written(f'{text}:\n  ros__parameters:\n    x: 1\n'))


@pytest.mark.parametrize('text', [
    pytest.param('ros__parameters:\n  x: 1\n', id='no node'),
    pytest.param('a:\n  /b:\n    ros__parameters:\n      x: 1\n', id='two strokes'),
    pytest.param('n:\n  ros__parameters:\n    x: 1\n    x: a\n', id='a key of two types'),
    pytest.param('n:\n  ros__parameters: {x: 1}\nn:\n  ros__parameters: {x: a}\n', id='two nodes'),
    pytest.param('n:\n  ros__parameters: {a.b: 1, a: {b: a}}\n', id='a group of two types'),
    pytest.param('%YAML 1.2\n---\nn:\n  ros__parameters: {x: 1}\n', id='a version'),
])
def test_documents_that_ros_refuses_or_misreads(written, text):
    with pytest.raises(SourceError):
        ParameterFile(written(text))


def test_a_node_that_comes_again_adds_to_what_it_has(written):
    text = 'n:\n  ros__parameters: {x: 1, y: 2}\n/**:\n  ros__parameters: {x: 3}\n'
    again = 'n:\n  ros__parameters: {x: 4}\n'
    file = ParameterFile(written(text + again))
    # It keeps its first place, and what is behind that wins.
    assert file.of('n') == {'x': 3, 'y': 2}


@pytest.mark.parametrize('text', [
    'y', '1_000', '1e5', '08', 'nan', '0x1p3', 'null', '~', '', 'a b', '1' * 2000,
])
def test_a_text_that_is_written_is_a_text_to_ros(written, text):
    path = written(dump({'/**/n': {'x': text, 'names': [text, 'a']}}, width=100))
    assert ParameterFile(path).of('n') == {'x': text, 'names': [text, 'a']}
