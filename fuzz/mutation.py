# SPDX-License-Identifier: Apache-2.0
"""Damage that keeps a format: what a file holds as a tree, changed in a few places."""
from __future__ import annotations

import copy
import itertools
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

RAW = 'raw'
"""Kind of a node whose value stands in a text as it is."""
SPELLINGS = (
    '0', '-0', '-1', '+1', '.5', '5.', '1e3', '1e308', '-1e308', '1e400', '5e-324', 'nan', 'inf',
    '-inf', '.inf', '-.INF', '.nan', '0x10', '0X1F', '0x1p3', '1_000', '0o17', '017', '0b101',
    '1:30', '1e', '1e+', '--1', '9' * 400, str(2**63), str(-2**63 - 1), '1,5', '1 2 3', 'yes',
    'No', 'on', 'OFF', 'y', 'True', 'FALSE', '~', 'null', 'Null', '2001-12-14', '',
)
"""Of numbers and words that formats read in different ways."""
TEXTS = (
    '', ' ', '\n', 'a\nb', 'é', '\u202e', '\x1b[2J', '\0', '\ufeff', '\U0001f680', 'a' * 3000,
    '/', '..', '../../../etc/passwd', '/dev/zero', '%s', '{}', '${1}', '<b/>', '"', "'", '\\', '#',
    '(a+)+$', '[', '*', '&', '!', '---',
)
_NUMBERS = (0, 1, 2, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**64 - 1, -1)
_DIGITS = re.compile(r'[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?')
_ALWAYS = (b'', b'\xff\xfe\x00\x1b[2J\n')
_DEEP = 20_000
"""Levels that the trees of this module may have."""


@dataclass(eq=False)
class Node:
    """A part of a file: an element, a row, a record, or a value in one of these."""

    kind: str
    name: str = ''
    value: Any = None
    below: list[Node] = field(default_factory=list)


@dataclass(frozen=True)
class Format:
    """How the files of a format become trees, and trees files.

    Attributes
    ----------
    parse, write : callable
        ``parse(data)`` returns the root; ``write(root)`` takes any tree.
    words : Mapping
        By kind of node, values that it could have; '' has those of all other kinds.
    snippets : sequence
        Values of nodes of the kind `RAW`, to put in anywhere.
    kinds : sequence of str
        Kinds that a node may be changed to.
    """

    parse: Callable[[bytes], Node]
    write: Callable[[Node], bytes]
    words: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    snippets: Sequence[Any] = ()
    kinds: Sequence[str] = ()


def mutated(
    name: str, seed: int, sound: Sequence[bytes], form: Format | None, words: Sequence[str] = ()
) -> bytes:
    """Return a damaged file, the same for a name and a seed.

    Parameters
    ----------
    name : str
        Of the reader.
    seed : int
        Number of the case.
    sound : sequence of bytes
        Files to start from.
    form : Format, optional
        Of the files; without it only bytes are damaged.
    words : sequence of str
        Parts of the language.
    """
    if seed < len(_ALWAYS):
        return _ALWAYS[seed]
    rng = Random(f'{name}:{seed}')  # noqa: S311  no secret
    data = rng.choice((rng.choice(sound),) * 50 + (rng.randbytes(200),))
    if data not in sound:
        return data
    is_kept = form is not None and rng.random() < 0.95
    if form and is_kept:
        with deep():
            root = form.parse(data)
            for _ in range(rng.choice((1, 1, 1, 2, 3))):
                _change(root, form, words, rng)
            data = form.write(root)
    if not is_kept or rng.random() < 0.05:
        for _ in range(rng.randint(1, 3)):
            data = damaged(data, words, rng)
    return data


def damaged(data: bytes, words: Sequence[str], rng: Random) -> bytes:
    """Return bytes with one place cut, doubled, moved or overwritten."""
    begin = rng.randint(0, len(data))
    end = min(begin + rng.choice((0, 1, 2, 8, 60)), len(data))
    other = rng.randint(0, len(data))
    patch = rng.choice((
        rng.randbytes(rng.randint(0, 8)), data[begin:end] * 2, data[other:other + 40],
        rng.choice(words or ('\xff',)).encode(),
    ))
    return data[:begin] + patch + (data[end:] if rng.random() < 0.9 else b'')


def _change(root: Node, form: Format, words: Sequence[str], rng: Random) -> None:
    """Change one place of a tree."""
    node, parent = _place(root, rng)
    at = next(i for i, other in enumerate(parent.below) if other is node)
    action = rng.choice(_ACTIONS)
    if action in ('value', 'value', 'tweak') and node.below and node.value is None:
        node = next((other for other, _ in _walk(node) if not other.below), node)
    if action == 'delete':
        del parent.below[at]
    elif action == 'cut':
        del parent.below[at:]
    elif action == 'repeat':
        copies = 1 if sum(1 for _ in _walk(node)) > 100 else rng.choice((1, 1, 2, 40))
        parent.below[at:at] = [copy.deepcopy(node) for _ in range(copies)]
    elif action == 'swap':
        other = _place(root, rng, node.kind)[0]
        if node is not root and not _is_inside(node, other) and not _is_inside(other, node):
            node.value, other.value = other.value, node.value
            node.below, other.below = other.below, node.below
    elif action == 'graft':
        other = _place(root, rng)[0]
        other.below.insert(rng.randint(0, len(other.below)), copy.deepcopy(node))
    elif action == 'shuffle':
        rng.shuffle(parent.below)
    elif action == 'nest':
        inner = [node]
        for _ in range(rng.choice((1, 2, 70, 900))):
            inner = [Node(parent.kind, parent.name, None, inner)]
        parent.below[at:at + 1] = inner
    elif action == 'rename':
        node.name = rng.choice((*TEXTS, *words, _place(root, rng, node.kind)[0].name))
    elif action == 'kind' and form.kinds:
        node.kind = rng.choice(form.kinds)
    elif action == 'insert' and form.snippets:
        node.below.insert(rng.randint(0, len(node.below)), Node(RAW, '', rng.choice(form.snippets)))
    elif action == 'tweak':
        node.value = _tweaked(node.value, rng)
    else:
        node.value = _new_value(node, form, words, rng)


_ACTIONS = (
    'delete', 'cut', 'repeat', 'swap', 'graft', 'shuffle', 'nest', 'rename', 'kind', 'insert',
    'insert', 'tweak', 'tweak', 'tweak', 'value', 'value', 'value',
)


def _new_value(node: Node, form: Format, words: Sequence[str], rng: Random) -> Any:
    """Return another value for a node, of its own type or of none that fits."""
    own = form.words.get(node.kind, form.words.get('', ()))
    if own and rng.random() < 0.5:
        return rng.choice(own)
    if isinstance(node.value, (bytes, int, float)) and rng.random() < 0.8:
        return _tweaked(node.value, rng)
    return rng.choice(rng.choice((SPELLINGS, SPELLINGS, TEXTS, words or TEXTS)))


def _tweaked(value: Any, rng: Random) -> Any:
    """Return a value that differs a little, or in one of its numbers."""
    if isinstance(value, str):
        found = list(_DIGITS.finditer(value))
        if not found:
            return value[:rng.randint(0, len(value))] + rng.choice((*TEXTS, value))
        match = rng.choice(found)
        number = match[0]
        other = rng.choice((
            *SPELLINGS, '1', '2', f'-{number}', number * 2, f'{number}e9', f'{number}.',
            f'{number}1',
        ))
        return value[:match.start()] + other + value[match.end():]
    if isinstance(value, bytes):
        return _tweaked_bytes(value, rng)
    if isinstance(value, float):
        return rng.choice((0.0, -value, value * 1e9, 1e308, float('inf'), float('nan'), 5e-324))
    number = value if isinstance(value, int) else 0
    return rng.choice((*_NUMBERS, number + 1, number - 1, 2 * number, -number, number << 8))


def _tweaked_bytes(value: bytes, rng: Random) -> bytes:
    """Return bytes with another length at one of their words, or cut."""
    at = rng.randrange(0, max(len(value), 1), 4)
    size = rng.choice((4, 4, 8))
    number = rng.choice((*_NUMBERS, len(value))) % 256**size
    return rng.choice((
        value[:at] + number.to_bytes(size, 'little') + value[at + size:], value[:at],
        value[:at] + rng.randbytes(4) + value[at + 4:], value * 2, b'',
    ))


def _place(root: Node, rng: Random, kind: str = '') -> tuple[Node, Node]:
    """Return a node below the root, and what it is in; of some kind where there is one.

    Half of them are chosen on the way down, since most nodes are at the bottom.
    """
    if not root.below:
        root.below.append(Node(RAW, '', ''))
    if kind:
        same = [pair for pair in _walk(root) if pair[0].kind == kind]
        if same:
            return rng.choice(same)
    if rng.random() < 0.5:
        return rng.choice(list(_walk(root)))
    parent = root
    while True:
        node = rng.choice(parent.below)
        if not node.below or rng.random() < 0.3:
            return node, parent
        parent = node


def _walk(root: Node) -> Iterator[tuple[Node, Node]]:
    """Yield every node below the root, and what it is in."""
    waiting = [root]
    while waiting:
        parent = waiting.pop()
        for node in parent.below:
            yield node, parent
            waiting.append(node)


def _is_inside(node: Node, outer: Node) -> bool:
    return any(node is other for other in itertools.chain((outer,), (n for n, _ in _walk(outer))))


@contextmanager
def deep() -> Iterator[None]:
    """Let functions that call themselves go as deep as the trees are."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(_DEEP)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
