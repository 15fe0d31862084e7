# SPDX-License-Identifier: Apache-2.0
"""Five hundred damaged configurations: an error that names the place, or a sound configuration."""
from __future__ import annotations

import copy
import json
import math
import random
from collections import Counter

import json5
import pytest

from fuzz.settings import fly
from parts import amount
from propulsion_ros.graph.share import share_directory
from propulsion_ros.rml.config import BLOCKS, parse, read_flight_config
from propulsion_ros.settings.errors import SourceError

COUNT = amount('fuzz', 200, 20_000)
pytestmark = pytest.mark.part('fuzz')
TEXTS = [
    (share_directory() / 'config' / name).read_text(encoding='utf-8')
    for name in ('thanos_flight.jsonc', 'rocket_flight.jsonc')
]
DOCUMENTS = [json5.loads(text) for text in TEXTS]
STRANGE = (
    None, True, False, 0, 1, -1, 2, 3, 255, 256, 1.5, -450, 1e9, 10**400, math.nan, math.inf, '',
    'x', 'AND', 'NOT', 'MORETHAN', 'descent', 'Position', [], {}, [[]], [{}], {'type': 'pid'},
)


def places(value, path=()):
    """Yield the path of every value inside a document."""
    children = ()
    if isinstance(value, dict):
        children = value.items()
    elif isinstance(value, list):
        children = enumerate(value)
    for key, child in children:
        yield (*path, key)
        yield from places(child, (*path, key))


def parent_of(document, path):
    for key in path[:-1]:
        document = document[key]
    return document


def mutate(rng, document):
    """Return the document with one to three values replaced, removed, renamed or moved."""
    document = copy.deepcopy(document)
    for _ in range(rng.randint(1, 3)):
        path = rng.choice(list(places(document)) or [('Events',)])
        parent, key = parent_of(document, path), path[-1]
        kind = rng.choice(('replace', 'remove', 'rename', 'repeat', 'swap', 'nest', 'scale'))
        if kind == 'replace' or (isinstance(parent, dict) and key not in parent):
            parent[key] = copy.deepcopy(rng.choice(STRANGE))
        elif kind == 'remove':
            del parent[key]
        elif kind == 'rename' and isinstance(parent, dict):
            parent[key + rng.choice('sx_')] = parent.pop(key)
        elif kind == 'repeat' and isinstance(parent, list):
            parent.insert(key, copy.deepcopy(parent[key]))
        elif kind == 'swap':
            other = rng.choice(list(places(document)))
            parent[key] = copy.deepcopy(parent_of(document, other)[other[-1]])
        elif kind == 'nest':
            for _ in range(rng.choice((1, 3, 8, 60))):
                parent[key] = {'operator': 'NOT', 'condition': [parent[key]]}
        elif kind == 'scale' and isinstance(parent[key], (int, float)):
            parent[key] = parent[key] * rng.choice((-1, 0.5, 2, 1000))
    return document


def garble(rng, text):
    """Return the text with a stretch of it cut, doubled or overwritten."""
    begin = rng.randrange(len(text))
    end = min(begin + rng.choice((1, 1, 3, 40)), len(text))
    patch = rng.choice(('', text[begin:end] * 2, rng.choice('{}[]",:0-/')))
    return text[:begin] + patch + text[end:]


def damaged(seed):
    rng = random.Random(seed)
    which = rng.randrange(len(TEXTS))
    if rng.random() < 0.3:
        return garble(rng, TEXTS[which])
    return json.dumps(mutate(rng, DOCUMENTS[which]))


def outcome(seed):
    """Return 'refused' or 'sound'; anything else fails."""
    text = damaged(seed)
    semantics = 'legacy' if seed % 5 == 0 else 'safe'
    refusal = None
    try:
        config = read_flight_config(text, semantics)
    except SourceError as error:
        refusal = error
    if refusal is not None:
        check(refusal)
        return 'refused'
    assert config.events
    assert len(config.events) == len(parse(text)['Events'].items())
    assert [event.id for event in config.events] == list(range(len(config.events)))
    fly(config)
    return 'sound'


def check(error):
    """Check that a refusal is one line that begins with a place in the document."""
    message = str(error)
    assert '\n' not in message
    assert error.key, message
    assert error.problem, message
    is_unknown_block = error.problem.startswith('unknown key') and '.' not in error.key
    assert error.key.split('.')[0].split('[')[0] in ('document', *BLOCKS) or is_unknown_block


def test_the_originals_are_sound():
    for text in TEXTS:
        fly(read_flight_config(text))


def test_damaged_configurations():
    outcomes = Counter(outcome(seed) for seed in range(COUNT))
    assert sum(outcomes.values()) == COUNT
    # Neither outcome is an accident: a test that only ever saw one would prove little.
    assert min(outcomes['refused'], outcomes['sound']) > COUNT / 10


@pytest.mark.parametrize('text', [
    'null', '0', '[]', '""', '{"Events": null}', '{"Events": {}}', '{"Events": [null]}',
    '{"Events": [[]]}', '{"Events": [{}]}', '/* */', '{"Events": []}', '{}', '\ufeff{}', '\x00',
])
def test_small_wrong_texts(text):
    for semantics in ('safe', 'legacy'):
        with pytest.raises(SourceError) as caught:
            read_flight_config(text, semantics)
        assert caught.value.key
        assert '\n' not in str(caught.value)
