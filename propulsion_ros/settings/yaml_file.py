# SPDX-License-Identifier: Apache-2.0
"""ROS parameter files, read and written without ROS."""
from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.settings.files import printable, read_text, save_text
from propulsion_ros.settings.flat import nearest
from propulsion_ros.settings.ros_yaml import Pairs, dump, events_of, node_of, tree_of

SIZE_LIMIT = 256 * 1024
"""Most bytes of a parameter file: a hundred times the largest in use."""

_ROOT = 'ros__parameters'
_LONGEST_REASON = 300
_LONGEST_SHOWN = 60
_BUDGET = 1024 * 1024
"""Most characters of YAML, plus `_NODE` for each node, for which the library takes 4 s."""
_NODE = 20
_PART = r'(?:\*\*?|[A-Za-z_][A-Za-z0-9_]*)'
_NODE_NAME = re.compile(rf'(?:/{_PART})+')
_LONGEST_NODE = 255
_NO_NODE = (
    'expected the name of a node above it: letters, digits and _ between single strokes, * for '
    'any one part, /** for every node'
)
_ALIKE = 0.8
"""Least similarity of the name of a node to a misspelt one, at most 1."""

_HINTS = {
    # For the parser a tab is a character that cannot begin anything.
    'cannot start any token': '; indent by blanks, not by tabs',
    'mapping values are not allowed': (
        '; is it indented as the line before, and does that have its colon?'
    ),
    "did not find expected '-' indicator": '; is it indented as the line before?',
    'did not find expected key': '; is it indented as the line before?',
    "could not find expected ':'": '; does each key have its colon, and a blank behind it?',
    'a key without a value': '; indent what is below it by two blanks more',
    'single document': '; remove the --- between two',
}


class ParameterFile:
    """Parameters of nodes in files, by node name; later files win.

    Namespaces and ``/**`` match as in ROS. Raises `SourceError` with the file and the key of a
    fault.
    """

    def __init__(self, *paths: str | Path) -> None:
        self._files = [_Reader(path) for path in paths]

    @property
    def entries(self) -> list[tuple[str, dict[str, Any]]]:
        """Each pattern of node names with its flat parameters, in the order of the files."""
        return [(pattern, dict(values)) for file in self._files for pattern, values in file.entries]

    @property
    def nodes(self) -> list[str]:
        """Names of the nodes that have parameters of their own, in the order of the files."""
        return list(dict.fromkeys(name for name, _ in self.nodes_and_namespaces))

    @property
    def nodes_and_namespaces(self) -> list[tuple[str, str]]:
        """Nodes that have parameters of their own, each with its namespace."""
        # ``/**`` matches the root too; a name with a star for one word matches itself.
        pairs = (pattern.replace('/**', '').rpartition('/')[::2] for pattern, _ in self.entries)
        return list(dict.fromkeys((name, space) for space, name in pairs if name not in ('', '*')))

    def of(self, node: str, namespace: str = '/', but_for: str = '') -> dict[str, Any]:
        """Return the flat parameters of a node; later entries win.

        Entries that also apply to the node ``but_for`` are left out.
        """
        name, other = _full_name(node, namespace), _full_name(but_for or node, namespace)
        values: dict[str, Any] = {}
        for pattern, parameters in self.entries:
            if _matches(pattern, name) and not (but_for and _matches(pattern, other)):
                values.update(parameters)
        return values

    def names(self, node: str, namespace: str = '/') -> bool:
        """Return whether there is a section with the name of this node, not only a pattern."""
        name = _full_name(node, namespace)
        return any(
            pattern.endswith(f'/{node}') and _matches(pattern, name) for pattern, _ in self.entries
        )

    def place_of(self, node: str, key: str) -> str:
        """Return the file, and the line of a parameter, else of its node, if known."""
        sections = [
            (file, pattern, key in parameters)
            for file in self._files for pattern, parameters in file.entries
            if pattern.rsplit('/', 1)[-1] in (node, '*', '**')
        ]
        giving = [section for section in sections if section[2]]
        for file, pattern, gives in (giving or sections)[-1:]:
            line = file.places.suffix_of(f'{pattern}/{key}' if gives else pattern)
            return f'{file.name}{line}'
        return self._files[-1].name if self._files else ''

    def placed(self, node: str, error: ConfigError) -> SourceError:
        """Return an error of a node with its place and the name of the node."""
        line = error if error.key == node else SourceError(node, str(error))
        return SourceError(self.place_of(node, error.key), str(line))

    def doubts(self) -> Iterator[tuple[str, str]]:
        """Yield the places that ROS may read in another way than meant, with the reason."""
        for file in self._files:
            for line, key, before in file.places.repeated:
                yield f'{file.name}:{line}', (
                    f'{key}: is given again, and line {before} has no effect; remove one'
                )
            for line in dict.fromkeys(file.places.unquoted):
                yield f'{file.name}:{line}', (
                    'a text with ? or : in brackets, which ROS 2 from PyPI cannot read; put it in '
                    'quotes'
                )

    def check_names(self, nodes: Iterable[str], namespace: str = '/') -> None:
        """Refuse a file that has nothing for any of some nodes, but a name that is nearly one.

        ROS does not report a misspelt name, nor one in another namespace. Raises `SourceError`
        with the file, its name for the node, and the name of the node.
        """
        names = {node: _full_name(node, namespace) for node in nodes}
        for file in self._files:
            patterns = [pattern for pattern, _ in file.entries]
            if any(_matches(pattern, name) for pattern in patterns for name in names.values()):
                continue
            for pattern in patterns:
                last = pattern.rsplit('/', 1)[-1]
                near = difflib.get_close_matches(last, names, n=1, cutoff=_ALIKE)
                if near:
                    raise SourceError(
                        file.name,
                        f'{pattern!r} is no node here, did you mean {names[near[0]]!r}?',
                    )


class _Reader:
    """Reads one file.

    Attributes
    ----------
    name : str
        Its path, as errors show it.
    places : KeyPlaces
        Lines of its keys.
    entries : list of tuple
        Each pattern of node names with its flat parameters.
    """

    def __init__(self, path: str | Path) -> None:
        self.name, self.places = printable(path), KeyPlaces()
        found: dict[str, dict[str, Any]] = {}
        for pattern, parameters in self._read(read_text(path, SIZE_LIMIT)):
            # A repeated node adds to its parameters, at its first place.
            before = found.setdefault(pattern, {})
            for key, value in parameters.items():
                self._check_kind(f'{pattern}/{key}', before.get(key, value), value)
            before.update(parameters)
        self.entries = list(found.items())

    def _read(self, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
        if text.lstrip().startswith('<'):
            raise SourceError(
                self.name, 'expected a parameter file, got XML; is it the robot description?'
            )
        document = document_of(self.name, text, self.places, is_plain=False)
        yield from self._walk(document, '')

    def _walk(self, tree: Any, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
        if not isinstance(tree, Pairs):
            raise self._no_nodes(tree, path)
        for key, below in tree:
            if key != _ROOT:
                # A name at the top may begin with a stroke.
                name = key if path else key.removeprefix('/')
                yield from self._walk(below, f'{path}/{name}')
                continue
            place = f'{path}/{key}'
            if not isinstance(below, Pairs):
                hint = '; write a blank behind the colon' if ':' in str(below) else ''
                raise self._error(place, f'expected parameters, got {_short(below)}{hint}')
            if not _NODE_NAME.fullmatch(path) or len(path) > _LONGEST_NODE:
                raise self._error(place, _NO_NODE)
            yield path, self._parameters(path, below)

    def _parameters(self, path: str, tree: Pairs) -> dict[str, Any]:
        parameters: dict[str, Any] = {}
        for name, value in _flat(tree, ''):
            self._check_value(f'{path}/{name}', value)
            self._check_kind(f'{path}/{name}', parameters.get(name, value), value)
            parameters[name] = value
        return parameters

    def _check_kind(self, place: str, before: Any, value: Any) -> None:
        """Refuse a repeated value of another type, as ROS would keep one of them by its type."""
        if _kind_of(before) != _kind_of(value):
            raise self._error(place, (
                f'is given again with another type, {_short(before)} and {_short(value)}; remove '
                'one'
            ))

    def _no_nodes(self, tree: Any, path: str) -> SourceError:
        """Return the error of a value that is not below a node and its ``ros__parameters``."""
        words = [word for word in path.split('/') if word]
        near = next((word for word in words if nearest(word, [_ROOT])), '')
        hint = '; expected NODE, ros__parameters and KEY, one below the other'
        if near:
            hint = f'; {near!r}: did you mean {_ROOT!r}?'
        elif len(words) == 1:
            hint = f'; write a node and {_ROOT!r} above {words[0]!r}, one below the other'
        elif words:
            hint = f'; write {_ROOT!r} below the node, and {words[-1]!r} below that'
        return self._error(path or 'document', f'expected node names, got {_short(tree)}{hint}')

    def _check_value(self, place: str, value: Any) -> None:
        if isinstance(value, Pairs):
            raise self._error(
                place, 'expected a value, got {}, which ROS does not take; write [] for no values'
            )
        kinds = {type(element) for element in value} if isinstance(value, list) else set()
        if len(kinds) > 1 or kinds & {list, Pairs}:
            hint = '; write 1.0 for 1' if kinds == {int, float} else ''
            raise self._error(place, (
                f'expected values of one type, or ROS does not read them, got {value!r}{hint}'
            ))

    def _error(self, place: str, problem: str) -> SourceError:
        return SourceError(f'{self.name}{self.places.suffix_of(place)}: {place}', problem)


def _short(tree: Any) -> str:
    """Return a value that is given in place of a mapping, shortened: it may be a whole file."""
    text = repr(tree)
    return text if len(text) <= _LONGEST_SHOWN else f'{text[:_LONGEST_SHOWN]} ...'


class KeyPlaces:
    """Lines of the keys of a document, by path: ``/node/group.key`` for a parameter.

    Attributes
    ----------
    repeated : list of tuple
        Line and path of each repeated key, and the line of the earlier one.
    unquoted : list of int
        Lines that older parsers refuse; see `node_of`.
    """

    def __init__(self) -> None:
        self.unquoted: list[int] = []
        self._lines: dict[str, int] = {}
        self.repeated: list[tuple[int, str, int]] = []
        self._seen: set[tuple[int, str]] = set()

    def read(self, tree: yaml.Node | None) -> None:
        """Take the lines of all keys of a document."""
        waiting: list[tuple[yaml.Node | None, str, bool]] = [(tree, '', False)]
        # The list grows during the loop.
        for node, prefix, is_inside in waiting:
            for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
                name = str(key.value)
                path = prefix + name if is_inside else f'{prefix}/{name.strip("/")}'
                self._add(path, key.start_mark.line + 1, id(node))
                if is_inside:
                    waiting.append((value, f'{path}.', True))
                elif name == _ROOT:
                    waiting.append((value, f'{prefix}/', True))
                else:
                    waiting.append((value, path, False))

    def suffix_of(self, path: str) -> str:
        """Return a colon and the line of a key, '' if it is not known."""
        return f':{self._lines[path]}' if path in self._lines else ''

    def _add(self, path: str, line: int, mapping: int) -> None:
        if (mapping, path) in self._seen:
            self.repeated.append((line, path, self._lines[path]))
        self._seen.add((mapping, path))
        self._lines[path] = line


def document_of(name: str, text: str, places: KeyPlaces, is_plain: bool = True) -> Any:
    """Return the content of a YAML text, None if it is empty, and take the lines of its keys.

    See `tree_of`. Raises `SourceError` with the file and the line if it is no YAML.
    """
    try:
        tree = node_of(text, places.unquoted)
        places.read(tree)
        return None if tree is None else tree_of(tree, is_plain)
    except SourceError as error:
        raise SourceError(name, error.problem) from None
    except Exception as error:
        # The library may raise any exception.
        reason = ' '.join(str(error).replace('in "<unicode string>", ', 'in ').split())
        hint = next((hint for part, hint in _HINTS.items() if part in str(error)), '')
        mark = getattr(error, 'problem_mark', None)
        line = '' if mark is None else f':{mark.line + 1}'
        raise SourceError(
            f'{name}{line}', f'is not YAML: {reason[:_LONGEST_REASON]}{hint}'
        ) from error


def _full_name(node: str, namespace: str) -> str:
    return f'/{namespace.strip("/")}/{node}'.replace('//', '/')


def _flat(tree: Pairs, prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in tree:
        if isinstance(value, Pairs) and value:
            yield from _flat(value, f'{prefix}{key}.')
        else:
            yield f'{prefix}{key}', value


def _kind_of(value: Any) -> tuple[type, ...]:
    return (list, *map(type, value[:1])) if isinstance(value, list) else (type(value),)


def _matches(pattern: str, name: str) -> bool:
    """Whether a pattern of whole tokens, ``*`` for one and ``**`` for any, is a node's name."""
    tokens = {'**': '(/[^/]+)*', '*': '/[^/]+'}
    parts = [tokens.get(token, '/' + re.escape(token)) for token in pattern.split('/')[1:]]
    return re.fullmatch(''.join(parts), name) is not None


class YamlBudget:
    """Limits YAML that a library reads: aliases expand, and nesting has no limit there."""

    def __init__(self, name: str) -> None:
        self._name, self._spent = name, 0

    def take(self, text: str) -> None:
        """Add the cost of a text; text that is no YAML is not judged here.

        Raises `SourceError` if all texts together cost too much, or this one is nested too deeply.
        """
        self._spend(len(text))
        weights: dict[str | None, int] = {}
        inside: list[tuple[str | None, int]] = []
        try:
            for event in events_of(text):
                if isinstance(event, yaml.NodeEvent):
                    self._spend(_NODE + len(getattr(event, 'value', '')))
                if isinstance(event, yaml.AliasEvent):
                    # An alias of a collection that is still open expands without end.
                    self._spend(weights.get(event.anchor, _BUDGET))
                elif isinstance(event, yaml.CollectionStartEvent):
                    inside.append((event.anchor, self._spent))
                elif isinstance(event, yaml.CollectionEndEvent):
                    anchor, before = inside.pop()
                    weights[anchor] = self._spent - before
                elif isinstance(event, yaml.ScalarEvent):
                    weights[event.anchor] = _NODE + len(event.value)
        except SourceError as error:
            raise SourceError(self._name, error.problem) from None
        except yaml.YAMLError:
            return

    def _spend(self, cost: int) -> None:
        self._spent += cost
        if self._spent > _BUDGET:
            raise SourceError(self._name, 'has more YAML than any bag')


@contextmanager
def placing(paths: Sequence[str | Path], node: str, otherwise: str) -> Iterator[None]:
    """Add the place of the parameter, and the node, to an error that names no source."""
    try:
        yield
    except SourceError:
        raise
    except ConfigError as error:
        file = ParameterFile(*paths)
        if error.key in file.of(node):
            raise file.placed(node, error) from error
        raise SourceError(f'{otherwise}: {node}', str(error)) from error


def settings_of(
    paths: Iterable[str | Path], node: str, namespace: str = '/'
) -> dict[str, Any]:
    """Return the flat parameters that several files give a node; later files win."""
    return ParameterFile(*paths).of(node, namespace)


def write_parameters(
    path: Path, file: ParameterFile | None, changes: Mapping[str, Mapping[str, Any]],
    comments: Iterable[str] = (), width: float = math.inf, without: tuple[str, ...] = (),
) -> None:
    """Write a parameter file: the content of an old one, if any, followed by changed values.

    ``changes`` are flat parameters by node, ``comments`` the lines above all; keys of the old file
    that begin with one of ``without`` are left out. Raises `SourceError` if it cannot be written.
    """
    entries = [
        (pattern, kept) for pattern, old in (file.entries if file else [])
        if (kept := {key: value for key, value in old.items() if not key.startswith(without)})
    ]
    known = {pattern for pattern, _ in entries}
    entries += [
        (f'/{node}' if f'/{node}' in known else f'/**/{node}', dict(new))
        for node, new in changes.items()
    ]
    merged: dict[str, dict[str, Any]] = {}
    for pattern, values in entries:
        # The later entry of a node wins, so move it behind all others.
        merged[pattern] = {**merged.pop(pattern, {}), **values}
    save_text(path, ''.join(f'# {line}\n' for line in comments) + dump(merged, width))
