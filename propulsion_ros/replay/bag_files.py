# SPDX-License-Identifier: Apache-2.0
"""Files of a bag, which a library opens by itself: what would hang or fill memory is refused."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

import yaml

from propulsion_ros.replay.bag_formats import LARGEST, check_mcap, check_sqlite, zstd
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import (
    ABSENT,
    FOLDER,
    check_file,
    kind_of,
    opened,
    opened_to_write,
    printable,
    read_text,
    write_text,
)
from propulsion_ros.settings.ros_yaml import FAST_LOADER
from propulsion_ros.settings.yaml_file import YamlBudget

SUFFIXES = ('.mcap', '.db3')
"""Of the files of a bag."""
_METADATA = 'metadata.yaml'
_METADATA_LIMIT = 1024 * 1024
_KEY = 'rosbag2_bagfile_information'
_ANY_SIZE = 2**63
_PART = 1024 * 1024
_RATIO = 1000
"""How many times its own size a packed file may be unpacked, beyond `LARGEST`."""


@contextmanager
def checked(path: Path) -> Iterator[Path]:
    """Yield what a library may open for a bag: the bag, or a copy of it with unpacked files.

    Parameters
    ----------
    path : Path
        Folder, or one .mcap or .db3 file.

    Raises
    ------
    SourceError
        Naming the bag or its file.
    """
    kind = kind_of(path)
    if kind == FOLDER and kind_of(path / _METADATA) == ABSENT:
        problem = f'expected a bag, got a folder without {_METADATA}'
        files = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES)
        if files:
            problem += f'; give {printable(files[0])}, of a recorder that was killed'
        raise SourceError(printable(path), problem)
    if kind == FOLDER:
        with TemporaryDirectory(prefix='propulsion_ros_bag_') as copy:
            yield _checked_folder(path, Path(copy))
    else:
        _check_storage(path, path.suffix, YamlBudget(printable(path)))
        yield path


def _checked_folder(path: Path, copy: Path) -> Path:
    metadata = path / _METADATA
    text, budget = read_text(metadata, _METADATA_LIMIT), YamlBudget(printable(metadata))
    budget.take(text)
    try:
        root = yaml.compose(text, FAST_LOADER)
    except yaml.YAMLError:
        # The library reports that.
        return path
    document = _at(root, _KEY)
    for topic in _items(_at(document, 'topics_with_message_count')):
        # Older bags have YAML inside YAML.
        budget.take(_text(_at(_at(topic, 'topic_metadata'), 'offered_qos_profiles')))
    names = map(_text, _items(_at(document, 'relative_file_paths')))
    files = [path / PurePath(name).name for name in names]
    if _text(_at(document, 'compression_mode')).lower() == 'file':
        for file in files:
            _unpack(file, copy / file.name)
        for key in ('compression_mode', 'compression_format'):
            _clear(_at(document, key))
        write_text(copy / _METADATA, yaml.serialize(root))
        path, files = copy, [copy / file.name for file in files]
    suffix = '.db3' if _text(_at(document, 'storage_identifier')) == 'sqlite3' else '.mcap'
    for file in files:
        if kind_of(file) != ABSENT:
            _check_storage(file, suffix, budget)
    return path


def _at(node: yaml.Node | None, key: str) -> yaml.Node | None:
    """Return what a key of a mapping has; None where there is no such key, or no mapping."""
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return next((value for name, value in pairs if _text(name) == key), None)


def _items(node: yaml.Node | None) -> list[yaml.Node]:
    return node.value if isinstance(node, yaml.SequenceNode) else []


def _text(node: yaml.Node | None) -> str:
    return str(node.value) if isinstance(node, yaml.ScalarNode) else ''


def _clear(node: yaml.Node | None) -> None:
    if isinstance(node, yaml.ScalarNode):
        node.tag, node.value, node.style = 'tag:yaml.org,2002:str', '', "'"


def _check_storage(path: Path, suffix: str, budget: YamlBudget) -> None:
    check_file(path)
    if suffix == '.db3':
        check_sqlite(path, budget)
    elif suffix == '.mcap':
        check_mcap(path, budget)


def _unpack(path: Path, target: Path) -> None:
    """Write what a packed file of a bag holds."""
    with opened(path, _ANY_SIZE) as packed, opened_to_write(target) as file:
        left = LARGEST + _RATIO * path.stat().st_size
        try:
            with zstd().open(packed, 'rb') as content:
                while part := content.read(min(left + 1, _PART)):
                    left -= len(part)
                    if left < 0:
                        raise SourceError(
                            printable(path), f'is unpacked to over {_RATIO} times its size'
                        )
                    file.write(part)
        except (zstd().ZstdError, EOFError) as error:
            raise SourceError(printable(path), f'cannot be unpacked: {error}') from error
