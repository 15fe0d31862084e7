# SPDX-License-Identifier: Apache-2.0
"""Comments and commas cost linear time, and mean what the parser of JSON5 takes them for."""
import random
import time

import json5
import pytest

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.json_node import (
    JSON5_LIMIT,
    JsonNode,
    Switch,
    key,
    parse_jsonc,
    read_key,
    read_keys,
    without_comments,
)
from refusals import refusal

PARTS = (
    '"a"', '"b"', '"c\\"d"', '"//"', '"/*"', '"\\\\"', '1', '-0', '1e5', '1E+2', '1.5', '0', 'true',
    'null', 'NaN', '[', ']', '[', '{', '}', ',', ',', ',', ':', ':', ' ', '\n', '//x\n', '/*y*/',
    '/**/', '/***/', '// "\n', "'s'", 'k', '+1', '0x1f', '\r', '// z\r', '\u2028', '// q\u2028',
    '-Infinity', '\\', '/', '*', '\xa0', '01', '.5', '5.', '\ufeff',
)
PADS = ('', '', ' ', '\n', '//c, ]\n', '/* } */', '\t', '/* // */')
VALUES = ('1', '-2.5e3', '"a"', '"//x"', '"\\"/*"', 'true', 'null', '-0', '1e5', '0x10', "'q'")


def sound(rng, depth):
    """Return a text with comments and commas at an end."""
    def pad():
        return rng.choice(PADS)

    kind = rng.random()
    if not depth or kind < 0.4:
        return pad() + rng.choice(VALUES) + pad()
    inner = [sound(rng, depth - 1) for _ in range(rng.randint(0, 3))]
    end = rng.choice(('', ',', f'{pad()},')) + pad()
    if kind < 0.7:
        return f'{pad()}[{",".join(inner)}{end}]{pad()}'
    pairs = ','.join(f'{pad()}"k{i}"{pad()}:{value}' for i, value in enumerate(inner))
    return f'{pad()}{{{pairs}{end}}}{pad()}'


def texts(seed):
    rng = random.Random(seed)
    for _ in range(200):
        text = sound(rng, 3) if rng.random() < 0.6 else ''.join(
            rng.choice(PARTS) for _ in range(rng.randint(1, 10))
        )
        if rng.random() < 0.3:
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice(PARTS) + text[at + rng.randint(0, 2):]
        yield text


def outcome(parse, text):
    """Return a value as text, so that -0 differs from 0 and NaN from nothing."""
    try:
        return repr(parse(text))
    except ValueError:
        return 'refused'


@pytest.mark.parametrize('seed', range(10))
def test_language_is_that_of_the_other_parser(seed):
    seen = set()
    for text in texts(seed):
        expected = outcome(lambda text: json5.loads(text, allow_duplicate_keys=False), text)
        assert outcome(parse_jsonc, text) == expected, text
        seen.add(expected == 'refused')
    assert seen == {True, False}


@pytest.mark.parametrize(('text', 'left'), [
    pytest.param('[1, // a\n2]', '[1,     \n2]', id='line'),
    pytest.param('[1/* a\nb */,2]', '[1    \n    ,2]', id='block'),
    pytest.param('["// a", "/* b */", ",]"]', '["// a", "/* b */", ",]"]', id='inside a text'),
    pytest.param('[1, ]', '[1  ]', id='comma'),
    pytest.param('[1, /* a */ ]', '[1          ]', id='comma before a comment'),
    pytest.param('[,]', '[,]', id='comma after nothing'),
    pytest.param('[1,,]', '[1,,]', id='two commas'),
    pytest.param('[1 /* a', '[1 /* a', id='no end'),
])
def test_lines_and_columns_stay(text, left):
    assert without_comments(text) == left


def test_errors_of_long_texts_have_their_line_and_column():
    text = '[\n' + '  1, // one, and more\n' * 5000 + '  2 3]'
    assert len(text) > JSON5_LIMIT
    with pytest.raises(SourceError, match=r'is not JSON: .*: line 5002 column 5 '):
        parse_jsonc(text)


@pytest.mark.parametrize('text', [
    pytest.param('[' + '1, // a\n' * 125_000 + ']', id='comments'),
    pytest.param('["' + '\\"' * 500_000, id='text without end'),
    pytest.param('[' + '"' * 999_999, id='texts'),
    pytest.param('[' + '/* ' * 333_333, id='comments without end'),
    pytest.param('[' + '//' * 500_000, id='slashes'),
    pytest.param('[' + ', ' * 500_000, id='commas'),
    pytest.param('[1,' + ' ' * 1_000_000, id='spaces after a comma'),
    pytest.param(('[' + ' ' * 1000 + ',]') * 1000, id='spaces before commas'),
    pytest.param('["' + '\\' * 1_000_000, id='backslashes'),
    pytest.param('1' * 1_000_000, id='digits'),
])
def test_a_megabyte_takes_a_moment(text):
    begun = time.process_time()
    outcome(parse_jsonc, text)
    assert time.process_time() - begun < 3.0


@pytest.mark.parametrize('text', ['1' * 5000, '[0x' + '1' * 1001 + ']'])
def test_a_number_that_no_error_could_show_is_refused(text):
    with pytest.raises(SourceError, match=r'number of|integer string'):
        parse_jsonc(text)


SPEED = key('speed', 'of the wheel', unit='rad/s', above=0.0, hi=10.0)
CHANNEL = key('channel', 'where it is', int, choices=range(4))
OPTIONAL = key('comment', 'for people', str, None)
DEFAULT = key('mode', 'how', str, 'on', choices=('on', 'off'))
FLIP = key('flip', '1 where it is turned', Switch, 0)
LIVE = key('live', 'whether it is', bool)


@pytest.mark.parametrize(('declared', 'value', 'expected'), [
    (SPEED, 3, 3.0), (CHANNEL, 2.0, 2), (OPTIONAL, 'x', 'x'), (OPTIONAL, None, None),
    (DEFAULT, None, 'on'), (FLIP, True, 1), (FLIP, 0, 0), (FLIP, None, 0), (LIVE, False, False),
])
def test_a_key_is_read_as_its_kind(declared, value, expected):
    found = read_key(JsonNode({declared.key: value}, 'wheel'), declared)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(('declared', 'value', 'error'), [
    (SPEED, 0, 'wheel.speed: 0 must be above 0 rad/s'),
    (SPEED, 11, 'wheel.speed: 11 is above 10 rad/s'),
    (SPEED, 'x', "wheel.speed: expected a number, got 'x'"),
    (SPEED, None, 'wheel.speed: expected a number, got None'),
    (CHANNEL, 4, 'wheel.channel: expected 0 to 3, got 4'),
    (CHANNEL, True, 'wheel.channel: expected an integer, got True'),
    (CHANNEL, 1.5, 'wheel.channel: expected an integer, got 1.5'),
    (DEFAULT, 'of', "wheel.mode: unknown 'of', did you mean 'off'?"),
    (FLIP, 2, 'wheel.flip: expected 0 or 1, got 2'),
    (LIVE, 1, 'wheel.live: expected true or false, got 1'),
])
def test_errors_name_the_path(declared, value, error):
    assert refusal(read_key, JsonNode({declared.key: value}, 'wheel'), declared) == error


def test_all_keys_are_read_and_no_other_is_taken():
    node = JsonNode({'speed': 1, 'live': True})
    assert read_keys(node, (SPEED, DEFAULT), (LIVE, OPTIONAL)) == {
        'speed': 1.0, 'mode': 'on', 'live': True, 'comment': None,
    }
    with pytest.raises(SourceError, match='live: unknown key, expected speed'):
        read_keys(node, (SPEED,))


def test_a_key_is_documented_as_a_parameter_is():
    assert (SPEED.description, SPEED.constraints) == (
        'of the wheel [rad/s]', 'above 0, at most 10',
    )
    assert (SPEED.required, DEFAULT.required) == (True, False)
