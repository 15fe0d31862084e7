# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.json_node import JsonNode
from propulsion_ros.settings.keys import Switch, key, read_key, read_keys

SPEED = key('speed', 'of the wheel', unit='rad/s', above=0.0, hi=10.0)
CHANNEL = key('channel', 'where it is', int, choices=range(4))
OPTIONAL = key('comment', 'for people', str, None)
DEFAULT = key('mode', 'how', str, 'on', choices=('on', 'off'))
FLIP = key('flip', '1 where it is turned', Switch, 0)
LIVE = key('live', 'whether it is', bool)
INNER = key('inner', 'read further on', JsonNode)


@pytest.mark.parametrize(('declared', 'value', 'expected'), [
    (SPEED, 3, 3.0), (CHANNEL, 2.0, 2), (OPTIONAL, 'x', 'x'), (OPTIONAL, None, None),
    (DEFAULT, None, 'on'), (FLIP, True, 1), (FLIP, 0, 0), (FLIP, None, 0), (LIVE, False, False),
])
def test_a_key_is_read_as_its_kind(declared, value, expected):
    found = read_key(JsonNode({declared.key: value}, 'wheel'), declared)
    assert found == expected
    assert type(found) is type(expected)


def test_what_is_read_further_on_keeps_its_path():
    found = read_key(JsonNode({'inner': [1]}, 'wheel'), INNER)
    assert (found.path, found.value) == ('wheel.inner', [1])


@pytest.mark.parametrize(('declared', 'value', 'error'), [
    (SPEED, 0, 'wheel.speed: 0 must be above 0 rad/s'),
    (SPEED, 11, 'wheel.speed: 11 is above 10 rad/s'),
    (SPEED, 'x', "wheel.speed: expected a number, got 'x'"),
    (SPEED, None, 'wheel.speed: expected a number, got None'),
    (CHANNEL, 4, 'wheel.channel: expected 0 to 3, got 4'),
    (CHANNEL, True, 'wheel.channel: expected an integer, got True'),
    (DEFAULT, 'of', "wheel.mode: unknown 'of', did you mean 'off'?"),
    (FLIP, 2, 'wheel.flip: expected 0 or 1, got 2'),
    (LIVE, 1, 'wheel.live: expected true or false, got 1'),
])
def test_errors_name_the_path(declared, value, error):
    with pytest.raises(SourceError) as caught:
        read_key(JsonNode({declared.key: value}, 'wheel'), declared)
    assert str(caught.value) == error


def test_a_required_key_is_missing():
    with pytest.raises(SourceError, match=r'^wheel\.speed: is missing$'):
        read_keys(JsonNode({}, 'wheel'), (SPEED,))


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
