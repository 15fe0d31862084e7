# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from propulsion_ros.settings.files import DEEPEST
from propulsion_ros.urdf.xml import SIZE_LIMIT, numbers, parse_urdf, path_step
from refusals import refusal

LAUGHS = ''.join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10 if i else "ha"}">' for i in range(9))


@pytest.mark.parametrize(('xml', 'message'), [
    pytest.param('', "robot: expected the text of a URDF, got ''", id='empty'),
    pytest.param('/my/robot.urdf', "robot: expected the text of a URDF, got '/my/robot.urdf'",
                 id='path'),
    pytest.param('<robot>&nbsp;</robot>', 'robot: not well-formed XML', id='undefined entity'),
    pytest.param('<robot name="\ud800"/>', 'robot: not well-formed XML', id='lone surrogate'),
    pytest.param('<robot name="\0"/>', 'robot: not well-formed XML', id='NUL'),
    pytest.param('<!DOCTYPE r [<!ENTITY a "b">]><robot name="&a;"/>',
                 'robot: DTDs and entities are refused', id='entity'),
    pytest.param('<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><robot>&a;</robot>',
                 'robot: DTDs and entities are refused', id='external entity'),
    pytest.param(f'<!DOCTYPE r [{LAUGHS}]><robot>&a8;</robot>',
                 'robot: DTDs and entities are refused', id='billion laughs'),
    pytest.param('<robot>' + ' ' * SIZE_LIMIT + '</robot>',
                 f'robot: {SIZE_LIMIT + 15} characters, expected at most {SIZE_LIMIT}',
                 id='too large'),
    pytest.param('<robot>' + '<a>' * DEEPEST + '</a>' * DEEPEST + '</robot>',
                 f'robot: elements are nested deeper than {DEEPEST}', id='too deep'),
    pytest.param('<robot>' + '<a>' * 200_000 + '</a>' * 200_000 + '</robot>',
                 f'robot: elements are nested deeper than {DEEPEST}', id='abysmal'),
])
def test_document_is_refused_in_one_line(xml, message):
    assert refusal(parse_urdf, xml).startswith(message)


def test_what_is_as_large_and_deep_as_allowed_is_read():
    filling = ' ' * (SIZE_LIMIT - len('<robot></robot>'))
    assert parse_urdf(f'<robot>{filling}</robot>').tag == 'robot'
    levels = DEEPEST - 1
    assert len(list(parse_urdf('<robot>' + '<a>' * levels + '</a>' * levels + '</robot>').iter())) \
        == DEEPEST


def test_numbers_are_finite():
    assert numbers(' 1  -2.5e3\n', 'p') == [1.0, -2500.0]
    assert numbers(None, 'p') == []


@pytest.mark.parametrize(('text', 'limits', 'message'), [
    pytest.param('inf', {}, 'p: inf is not finite', id='infinity'),
    pytest.param('1 nan', {}, 'p: nan is not finite', id='NaN'),
    pytest.param('1e400', {}, 'p: 1e400 is not finite', id='overflow'),
    pytest.param('1_4', {}, "p: expected a number, got '1_4'; write 14: in ROS a number has no _",
                 id='underscore'),
    pytest.param('\u0663', {}, "p: expected a number, got '\u0663'; write 3: only the digits "
                 '0 to 9 are read', id='digits of another script'),
    pytest.param('1,2', {}, "p: expected a number, got '1,2'; write a point in a number, "
                 'and a space between two', id='comma'),
    pytest.param('1 2', {'count': 3}, 'p: expected 3 numbers, got 2; write x, y and z',
                 id='two of three'),
    pytest.param('1 2', {'count': 1}, 'p: expected 1 number, got 2', id='two of one'),
    pytest.param('-1e10', {'largest': 1e9}, 'p: expected at most 1e+09, got -1e10',
                 id='too large'),
])
def test_wrong_numbers(text, limits, message):
    assert refusal(numbers, text, 'p', **limits) == message


def test_errors_show_only_the_start_of_a_long_text():
    assert len(refusal(numbers, 'x' * 10_000, path_step('tag', 'y' * 10_000))) < 250


@pytest.mark.parametrize(('name', 'step'), [
    (None, 'tag'), ('', 'tag'), ('a', 'tag[name=a]'), ('a\n b', 'tag[name=a b]'),
])
def test_step_of_a_path_is_one_line(name, step):
    assert path_step('tag', name) == step
