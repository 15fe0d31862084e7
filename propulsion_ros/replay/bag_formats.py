# SPDX-License-Identifier: Apache-2.0
"""Checks of MCAP and sqlite3 files of bags, on which a library could work without bound."""
from __future__ import annotations

import os
import re
import sqlite3
import struct
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing, contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import opened, printable
from propulsion_ros.settings.yaml_file import YamlBudget

LARGEST = 64 * 1024**2
"""Largest size of a chunk or a message of a bag, packed or not [bytes]."""

_MOST_OPEN = 96 * 1024**2  # size of all chunks whose times overlap: all are in memory [bytes]
_DENSE = 20  # ratio of compression above which the records of a chunk are checked before use

_ANY_SIZE = 2**63  # no limit of a file [bytes]
_HEADER_AT, _HEAD = 8, struct.Struct('<BQ')  # offset of the header; kind and length of a record
_CHUNK_HEAD = struct.Struct('<QQQII')
_FOOTER, _FOOTER_SIZE = b'\x02\x14' + bytes(7), 37
_SCHEMA, _CHANNEL, _MESSAGE, _CHUNK = 0x03, 0x04, 0x05, 0x06
_CHUNK_INDEX, _ATTACHMENT, _STATISTICS = 0x08, 0x09, 0x0B
_INDEX_ENDS = (0x02, 0x0E)
_RECORDS = frozenset((*range(0x01, 0x10), *range(0x80, 0x100)))

_TABLES = ('messages', 'topics', 'schema', 'message_definitions')
_UNDEFINED = """SELECT name, type FROM topics JOIN message_definitions ON type = topic_type
WHERE encoding NOT IN ('ros2msg', 'ros2idl') ORDER BY name"""
"""Topics whose types a recorder did not find; the library reads no file that has one."""
_ADDRESS = re.compile(r'[?#]|%[0-9a-fA-F]{2}')


def check_mcap(path: Path, budget: YamlBudget) -> None:
    """Refuse records that a library would step through, or read, without bound.

    Raises `SourceError` naming the file.
    """
    with opened(path, _ANY_SIZE) as file, _named(path, ValueError, struct.error):
        end = file.seek(0, os.SEEK_END) - _FOOTER_SIZE
        file.seek(max(end, 0))
        footer = file.read(_FOOTER_SIZE)
        if end < _HEADER_AT or not footer.startswith(_FOOTER):
            # The library reports that.
            return
        _check_records(file, int.from_bytes(footer[9:17], 'little'), end, budget)


def check_sqlite(path: Path, budget: YamlBudget) -> None:
    """Refuse computed tables, which may have any number of rows of any size.

    Raises `SourceError` naming the file.
    """
    name = printable(path)
    if _ADDRESS.search(str(path)):
        raise SourceError(name, 'cannot be read: sqlite takes ?, # and % in a path for others')
    address = f'file:{path}?mode=ro&immutable=1'
    with (
        _named(path, ValueError, sqlite3.Error),
        closing(sqlite3.connect(address, uri=True)) as database,
    ):
        _check_tables(database)
        if 'offered_qos_profiles' in _columns(database, 'topics'):
            for qos, in database.execute('SELECT offered_qos_profiles FROM topics'):
                budget.take(qos if isinstance(qos, str) else '')
        if 'encoding' in _columns(database, 'message_definitions'):
            for topic, kind in database.execute(_UNDEFINED):
                raise SourceError(name, f'has no definition of {kind}, the type of {topic}')


@contextmanager
def _named(path: Path, *kinds: type[Exception]) -> Iterator[None]:
    """Raise `SourceError` naming a file in place of errors of some kinds."""
    try:
        yield
    except SourceError:
        raise
    except kinds as error:
        raise SourceError(printable(path), f'is not a readable bag: {error}') from error


def check_chunks(name: str, storages: Iterable[Any]) -> None:
    """Refuse chunks that are too large, each alone or all of one time together.

    Raises `SourceError` naming the bag.
    """
    for storage in storages:
        chunks = getattr(storage, 'chunks', ())
        if any(max(c.compressed_size, c.uncompressed_size) > LARGEST for c in chunks):
            raise SourceError(name, f'has a chunk of more than {LARGEST} bytes')
        size = 0
        for _, change in sorted(
            step for c in chunks for step in (
                (c.message_start_time, c.uncompressed_size),
                (c.message_end_time + 1, -c.uncompressed_size),
            )
        ):
            size += change
            if size > _MOST_OPEN:
                raise SourceError(name, f'has chunks of over {_MOST_OPEN} bytes for one time')


def bound_chunks() -> None:
    """Let the library unpack a chunk to the size that is stated for it, and no further."""
    from rosbags.rosbag2 import storage_mcap

    storage_mcap.DECOMPRESSORS.update(_decompressors())


def unpack(data: bytes, limit: int = LARGEST, make: Callable[[], Any] | None = None) -> bytes:
    """Return packed bytes unpacked, by default from zstd.

    Raises `ValueError` if they are more than ``limit`` bytes, or incomplete.
    """
    unpacker = (make or zstd().ZstdDecompressor)()
    content: bytes = unpacker.decompress(data, max_length=limit + 1)
    if len(content) > limit:
        raise ValueError(f'is unpacked to more than {limit} bytes')
    if not unpacker.eof:
        raise ValueError('ends before its last packed byte')
    return content


def _decompressors() -> dict[str, Callable[[bytes, int], bytes]]:
    """Return the functions that unpack chunks, by the name of their compression."""
    from lz4.frame import LZ4FrameDecompressor

    def bounded(make: Callable[[], Any]) -> Callable[[bytes, int], bytes]:
        def unpacked(data: bytes, size: int) -> bytes:
            content = unpack(data, min(size, LARGEST), make)
            if len(content) > _DENSE * len(data):
                _check_dense(content)
            return content
        return unpacked

    return {'zstd': bounded(zstd().ZstdDecompressor), 'lz4': bounded(LZ4FrameDecompressor)}


def zstd() -> Any:
    """Return the module of zstd; the library needs it too."""
    if sys.version_info >= (3, 14):
        from compression import zstd as module
    else:
        from backports import zstd as module
    return module


def _check_records(file: BinaryIO, index: int, end: int, budget: YamlBudget) -> None:
    """Check the records that the library reads: header and index, or all if these do not do."""
    _, _, length = next(_records(file, _HEADER_AT, end))
    if length > LARGEST:
        raise ValueError(f'it has a header of {length} bytes')
    found = _check_span(file, index, end, budget, _INDEX_ENDS) if index else set()
    if _CHUNK_INDEX not in found or (_STATISTICS in found and _SCHEMA not in found):
        _check_span(file, _HEADER_AT, index or end, budget)


def _check_span(
    file: BinaryIO, begin: int, end: int, budget: YamlBudget, ends: Collection[int] = ()
) -> set[int]:
    """Check the records between two places, or up to a kind in ``ends``; return their kinds."""
    found = set()
    for kind, place, length in _records(file, begin, end):
        if kind in ends:
            break
        found.add(kind)
        if length > LARGEST and kind != _ATTACHMENT:
            raise ValueError(f'it has a record of {length} bytes')
        if kind in (_CHANNEL, _CHUNK):
            file.seek(place)
            content = file.read(length)
            if kind == _CHANNEL:
                _check_channel(content, budget)
            else:
                inside = _unpacked_chunk(content)
                _check_span(BytesIO(inside), 0, len(inside), budget)
    return found


def _records(file: BinaryIO, begin: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield kind, place and length of the records from one place to another."""
    at = begin
    while at < end:
        file.seek(at)
        kind, length = _HEAD.unpack(file.read(_HEAD.size))
        if kind not in _RECORDS:
            # Holes of a file read as zeros; steps over nine bytes of them would take for ever.
            raise ValueError(f'it has no record at offset {at}')
        at += _HEAD.size
        yield kind, at, length
        at += length


def _check_channel(content: bytes, budget: YamlBudget) -> None:
    """Charge the budget for the texts of a channel: topic, encoding, and pairs, one of YAML."""
    at, pairs = 4, 2
    while at < len(content):
        at += 0 if pairs else 4
        pairs -= 1
        end = at + 4 + int.from_bytes(content[at:at + 4], 'little')
        budget.take(content[at + 4:end].decode('utf-8', 'replace'))
        at = end


def _unpacked_chunk(content: bytes) -> bytes:
    _, _, size, _, length = _CHUNK_HEAD.unpack_from(content)
    compression = content[_CHUNK_HEAD.size:_CHUNK_HEAD.size + length].decode('utf-8', 'replace')
    data = content[_CHUNK_HEAD.size + length + 8:]
    decompress = _decompressors().get(compression)
    return data if decompress is None else decompress(data, size)


def _check_dense(content: bytes) -> None:
    for kind, _, _ in _records(BytesIO(content), 0, len(content)):
        if kind not in (_SCHEMA, _CHANNEL, _MESSAGE):
            raise ValueError('it has a chunk with other records than messages')


def _check_tables(database: sqlite3.Connection) -> None:
    found = database.execute('SELECT type, lower(name), sql FROM sqlite_master').fetchall()
    for kind, table, sql in found:
        if table not in _TABLES:
            continue
        if kind != 'table' or 'VIRTUAL' in str(sql)[:40].upper():
            raise ValueError(f'{table} is no plain table')
        if any(_columns(database, table).values()):
            raise ValueError(f'{table} has a column that is computed')


def _columns(database: sqlite3.Connection, table: str) -> dict[str, int]:
    """Return the columns of a table, and for each whether it is hidden or computed, else 0."""
    return {row[1]: row[6] for row in database.execute(f'PRAGMA table_xinfo({table})')}
