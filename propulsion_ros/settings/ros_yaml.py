# SPDX-License-Identifier: Apache-2.0
"""Reads values of parameter files as the parser of ROS 2 does, unlike other readers of YAML.

For it ``1.0e3`` is a number and ``1_000`` a text, ``y`` is true and ``~`` a text, and of all tags
only ``!!str`` has an effect.
"""
from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import DEEPEST

FAST_LOADER: Any = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
"""CSafeLoader has the parser of ROS, and takes a fourth of the time."""

_KIND = 'tag:yaml.org,2002:'
_UNTAGGED = '!untagged'
_QUOTES = ("'", '"')
_OLD_VERSION = (1, 1)
_NULLS = ('~', 'null', 'Null', 'NULL')
_LONGEST_NUMBER = 1000
_BOOLEANS = {
    spelling: value
    for value, words in ((True, ('y', 'yes', 'true', 'on')), (False, ('n', 'no', 'false', 'off')))
    for word in words for spelling in (word, word.capitalize(), word.upper())
}
_INTEGER = re.compile(r'\s*[-+]?(?:0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)')
_DECIMAL = re.compile(r'\s*[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?')
_BASE_16 = re.compile(
    r'\s*[-+]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][-+]?[0-9]+)?'
)
_ZERO = re.compile(r'\s*[-+]?(?:0[xX])?[0.]+(?:[eEpP].*)?')
_DOTTED = re.compile(r'[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)')
_NOT_FINITE = re.compile(r'[-+]?(?:inf|infinity|nan)', re.IGNORECASE)
_TAGS = {'int': int, 'float': float, 'bool': bool}
_TOO_DEEP = 'is nested too deeply'


class _Loader(FAST_LOADER):  # type: ignore[misc]
    """Distinguishes values with a tag from those without."""

    def resolve(self, kind: type, value: Any, implicit: Any) -> str:
        """Return the tag for a value without one."""
        return _UNTAGGED


def events_of(text: str) -> Iterator[yaml.Event]:
    """Yield the events of a text.

    Raises `SourceError` if it is nested more than 64 deep, or too deeply for the parser.
    """
    depth = 0
    try:
        for event in yaml.parse(text, FAST_LOADER):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST:
                raise SourceError('document', _TOO_DEEP)
            yield event
    except yaml.YAMLError as error:
        # A newer libyaml has a limit of its own, and reads ahead of the events.
        if 'nesting depth' not in str(error):
            raise
        raise SourceError('document', _TOO_DEEP) from None


def node_of(text: str, unquoted: list[int]) -> yaml.Node | None:
    """Return the one document of a text, None for none.

    ``unquoted`` gets the lines of texts with ? or : in brackets, which libyaml reads from 0.2.5 on.
    Raises `yaml.YAMLError` for a text that ROS refuses, `SourceError` if it is nested too deeply.
    """
    brackets: list[bool] = []
    for event in events_of(text):
        problem = _problem_of(event)
        if problem:
            raise yaml.MarkedYAMLError(
                problem=problem,
                problem_mark=event.start_mark,  # type: ignore[arg-type]
            )
        if isinstance(event, yaml.ScalarEvent) and event.style not in _QUOTES and any(brackets):
            if event.start_mark and re.search('[?:]', event.value):
                unquoted.append(event.start_mark.line + 1)
        elif isinstance(event, yaml.CollectionStartEvent):
            brackets.append(bool(event.flow_style))
        elif isinstance(event, yaml.CollectionEndEvent):
            brackets.pop()
    node: yaml.Node | None = _Loader(text).get_single_node()
    return node


def _problem_of(event: yaml.Event) -> str:
    """Return why ROS refuses an event, '' if it does not."""
    if isinstance(event, yaml.AliasEvent):
        return 'aliases (*name) are not taken, write the value again'
    if isinstance(event, yaml.DocumentStartEvent) and event.version not in (None, _OLD_VERSION):
        return 'a version that older parsers refuse, remove the line'
    if not isinstance(event, yaml.ScalarEvent):
        return ''
    if '\0' in event.value:
        return 'a NUL, at which ROS ends a text'
    if not event.value and event.style not in _QUOTES:
        return 'a key without a value, which ROS does not take; write [] for no values'
    return ''


class Pairs(list[tuple[str, Any]]):
    """Names with their values, in order; a name may be repeated."""


def tree_of(node: yaml.Node, is_plain: bool = False) -> Any:
    """Return the content of a node of a document, `Pairs` for a mapping.

    A plain document is not for ROS: it may have null, and has a dict for a mapping. Raises
    `yaml.MarkedYAMLError` for a key that is no text or, in a plain document, is given twice, or for
    a tag that ROS would not follow.
    """
    if isinstance(node, yaml.MappingNode):
        _check_tag(node, 'map')
        pairs, known = Pairs(), set[str]()
        for key, value in node.value:
            name = _key(key)
            if is_plain and name in known:
                raise yaml.MarkedYAMLError(
                    problem=f'{name!r} is given again', problem_mark=key.start_mark
                )
            known.add(name)
            pairs.append((name, tree_of(value, is_plain)))
        return dict(pairs) if is_plain else pairs
    if isinstance(node, yaml.SequenceNode):
        _check_tag(node, 'seq')
        return [tree_of(value, is_plain) for value in node.value]
    is_quoted = getattr(node, 'style', '') in _QUOTES
    if is_plain and node.tag == _UNTAGGED and node.value in _NULLS and not is_quoted:
        return None
    is_text = node.tag == f'{_KIND}str' or is_quoted
    value = node.value if is_text else value_of(node.value)
    if node.tag not in (_UNTAGGED, f'{_KIND}str', f'{_KIND}{_name_of(value)}'):
        raise _not_followed(node)
    return value


def value_of(text: str) -> bool | int | float | str:
    """Return the value of a text without quotes.

    Raises `yaml.YAMLError` for a number that is too long for an error.
    """
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _DOTTED.fullmatch(text) or _NOT_FINITE.fullmatch(text):
        return float(text.replace('.', ''))
    is_base_16 = _BASE_16.fullmatch(text)
    if not (is_base_16 or _DECIMAL.fullmatch(text)):
        return text
    if len(text) > _LONGEST_NUMBER:
        raise yaml.YAMLError(f'a number of {len(text)} characters')
    if _INTEGER.fullmatch(text):
        whole = int(text, 16 if is_base_16 else 8 if text.strip().lstrip('+-')[0] == '0' else 10)
        if -2**63 <= whole < 2**63:
            return whole
    try:
        number = float.fromhex(text) if is_base_16 else float(text)
    except OverflowError:
        return text
    # For ROS a number that is too large or too small for a double is a text.
    is_too_small = abs(number) < sys.float_info.min and not _ZERO.fullmatch(text)
    return text if is_too_small or math.isinf(number) else number


class _Dumper(yaml.SafeDumper):
    """Quotes texts that ROS would read as another type."""


def _text_node(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    is_text = len(text) > _LONGEST_NUMBER or isinstance(value_of(text), str)
    return dumper.represent_scalar(f'{_KIND}str', text, None if is_text else "'")


_Dumper.add_representer(str, _text_node)


def dump(nodes: Mapping[str, Mapping[str, Any]], width: float) -> str:
    """Return the parameters of nodes as the text of a parameter file, with lines of some width."""
    tree = {name: {'ros__parameters': dict(values)} for name, values in nodes.items()}
    return str(yaml.dump(
        tree, Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=width,
    ))


def _name_of(value: Any) -> str:
    return next((name for name, kind in _TAGS.items() if type(value) is kind), 'str')


def _key(node: yaml.Node) -> str:
    if isinstance(node, yaml.ScalarNode) and node.value:
        return str(node.value)
    raise yaml.MarkedYAMLError(problem='expected a name as key', problem_mark=node.start_mark)


def _check_tag(node: yaml.Node, kind: str) -> None:
    if node.tag not in (_UNTAGGED, f'{_KIND}{kind}'):
        raise _not_followed(node)


def _not_followed(node: yaml.Node) -> yaml.MarkedYAMLError:
    tag = node.tag.replace(_KIND, '!!')
    return yaml.MarkedYAMLError(
        problem=f'the tag {tag}, which ROS does not follow; remove it', problem_mark=node.start_mark
    )
