# SPDX-License-Identifier: Apache-2.0
"""Meshes of robot descriptions, as points and triangles."""
from __future__ import annotations

import base64
import io
import logging
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from xml.etree.ElementTree import Element

import numpy as np

from propulsion_ros.graph.share import located
from propulsion_ros.settings.errors import SourceError, one_line
from propulsion_ros.settings.files import printable, read_bytes
from propulsion_ros.settings.imports import how_to_get
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.urdf.xml import parse_xml

FORMATS = ('stl', 'obj', 'dae')
SIZE_LIMIT = 16 * 1024 * 1024
"""Largest size of a file, whose reader takes ten times as much memory [bytes]."""
WORD_LIMIT = 1_500_000
"""Most words of a text, or in all that a .dae file draws, whose reader keeps 110 bytes a corner."""
TRIANGLE_LIMIT = 20_000
"""Most triangles of a mesh: a larger one takes a megabyte of the page, and is drawn as a box."""
_LARGEST = 1e6  # largest coordinate [m]
_ELEMENTS = 100_000  # most XML elements of a file
_DRAWN = ('instance_geometry', 'instance_controller', 'instance_node')
_TOO_MANY = 2 * WORD_LIMIT
_INSTANCE = 1000  # number of words that take as long to read as one instance


@dataclass(frozen=True, eq=False)
class Mesh:
    """A mesh of triangles."""

    points: FloatArray
    """Points [m], (n, 3)."""
    faces: Any
    """Indices of the points of each triangle, (m, 3)."""

    @property
    def packed(self) -> dict[str, str]:
        """Points as float32 and faces as uint32, in base64."""
        return {
            'points': base64.b64encode(self.points.astype('<f4').tobytes()).decode(),
            'faces': base64.b64encode(self.faces.astype('<u4').tobytes()).decode(),
        }


def mesh_path(name: str, folder: Path | None) -> Path:
    """Return the file of a mesh: of a package, by a file:// address, or beside the description.

    Raises `SourceError` for another kind of address.
    """
    address = urlsplit(name)
    if address.scheme == 'file':
        return Path(unquote(address.path))
    if address.scheme not in ('', 'package'):
        raise SourceError(printable(name), 'expected a package://, file:// or relative path')
    path = located(name)
    return path if path.is_absolute() or folder is None else folder / path


def read_mesh(path: Path) -> Mesh:
    """Return a mesh, with all its parts in one.

    Raises `SourceError` naming the file, if it is no mesh or its package is not installed.
    """
    name, kind = printable(path), path.suffix[1:].lower()
    if kind not in FORMATS:
        raise SourceError(name, f'expected a mesh as {", ".join(FORMATS)}')
    content = read_bytes(path, SIZE_LIMIT)
    for module in ('trimesh', 'collada') if kind == 'dae' else ('trimesh',):
        if find_spec(module) is None:
            raise SourceError(name, f'needs {module}, {how_to_get(module)}')
    if kind == 'obj' or content.startswith(b'solid'):
        _check_words(name, sum(map(content.count, (b' ', b'\t', b'\n'))))
    if kind == 'dae':
        _check_xml(name, content)
    return _checked(name, _loaded(name, content, kind))


def _loaded(name: str, content: bytes, kind: str) -> Any:
    import trimesh

    # The library logs its repairs.
    logging.getLogger('trimesh').setLevel(logging.CRITICAL)
    try:
        # Without a resolver no other file is opened: no material, no texture.
        return trimesh.load_mesh(io.BytesIO(content), file_type=kind, process=False)
    except Exception as error:
        # The readers raise errors of any type for a damaged file.
        reason = one_line(str(error)) or type(error).__name__
        raise SourceError(name, f'is no {kind} mesh: {reason}') from error


def _checked(name: str, loaded: Any) -> Mesh:
    points, faces = np.asarray(loaded.vertices, float), np.asarray(loaded.faces)
    if not len(faces):
        raise SourceError(name, 'has no triangles')
    if faces.min() < 0 or faces.max() >= len(points):
        raise SourceError(name, 'has a triangle of a point that it does not have')
    if not np.all(np.abs(points) <= _LARGEST):  # nor NaN
        raise SourceError(name, f'expected points within {_LARGEST:g} m')
    return Mesh(points, faces)


def _check_xml(name: str, content: bytes) -> None:
    """Refuse what a reader would expand without bound: entities, instances, numbers of corners."""
    root = parse_xml(name, content, _ELEMENTS)
    counts = (text for element in root.iter() if _tag(element) == 'vcount'
              for text in (element.text or '').split())
    _check_words(name, sum(int(text) for text in counts if text.isdecimal() and len(text) < 20))
    _check_words(name, _Drawn(root).below(root))


def _check_words(name: str, count: int) -> None:
    if count > WORD_LIMIT:
        raise SourceError(name, f'has more than {WORD_LIMIT} words to read')


class _Drawn:
    """Counts the words of geometry that are read to draw a file, which may repeat any part."""

    def __init__(self, root: Element) -> None:
        self._by_name = {f'#{element.get("id")}': element for element in root.iter()}
        self._known: dict[str, int] = {}

    def below(self, element: Element) -> int:
        """Return the number of words for an element."""
        if _tag(element) in _DRAWN:
            return _INSTANCE + self._named(element.get('url', ''))
        words = len((element.text or '').split())
        return min(words + sum(map(self.below, element)), _TOO_MANY)

    def _named(self, name: str) -> int:
        if name in self._by_name and name not in self._known:
            # A part that contains itself is endless.
            self._known[name] = _TOO_MANY
            self._known[name] = self.below(self._by_name[name])
        return self._known.get(name, 0)


def _tag(element: Element) -> str:
    return str(element.tag).rpartition('}')[2]
