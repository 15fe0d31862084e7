# SPDX-License-Identifier: Apache-2.0
"""Binary formats as trees: sqlite3 and MCAP bags, gzip, and STL."""
from __future__ import annotations

import gzip
import re
import sqlite3
import struct
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any

from fuzz.mutation import SPELLINGS, TEXTS, Format, Node
from fuzz.target import written
from fuzz.text_formats import CSV
from propulsion_ros.replay.bag_formats import zstd

_WORD = struct.Struct('<I')
_TO_PACK = 64 * 1024**2
"""Bytes of the largest file that is packed."""


def _database(data: bytes) -> Node:
    with closing(sqlite3.connect(written('parse.db3', data))) as db:
        tables = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
        return Node('database', below=[
            Node('pragma', 'user_version', 0), Node('pragma', 'encoding', "'UTF-8'"),
            *(Node('table', name, sql, [
                Node('row', below=[Node('cell', value=value) for value in row])
                for row in db.execute(f'SELECT * FROM {name}')  # noqa: S608  our own
            ]) for name, sql in tables),
        ])


def _as_database(root: Node) -> bytes:
    path = written('made.db3', b'')
    with closing(sqlite3.connect(path)) as db:
        # What the damaged statements hang at is no fault of a reader.
        db.set_progress_handler(lambda: True, 10_000_000)
        for node in root.below:
            # sqlite takes what it takes.
            with suppress(
                sqlite3.Error, sqlite3.Warning, OverflowError, UnicodeError, ValueError, TypeError,
            ):
                if node.kind == 'pragma':
                    db.execute(f'PRAGMA {node.name} = {node.value}')
                else:
                    db.execute(str(node.value))
            for row in node.below:
                cells = [cell.value for cell in row.below]
                holes = ', '.join('?' * len(cells))
                with suppress(sqlite3.Error, OverflowError, UnicodeError, TypeError):
                    db.execute(f'INSERT INTO "{node.name}" VALUES({holes})', cells)
        db.commit()
    return path.read_bytes()


_ENDLESS = 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) '
_STATEMENTS = (
    'CREATE VIEW messages AS ' + _ENDLESS  # noqa: S608  our own
    + 'SELECT x AS id, 1 AS topic_id, x AS timestamp, x AS data FROM c',
    'CREATE VIEW schema AS ' + _ENDLESS  # noqa: S608  our own
    + 'SELECT max(x) AS schema_version, 1 AS ros_distro FROM c',
    'CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id, timestamp, '
    'data AS (zeroblob(900000000)))',
    'CREATE TABLE messages(id, topic_id, timestamp, data)', 'CREATE TABLE messages(id)', 'SELECT 1',
    'CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id, timestamp, data) WITHOUT ROWID',
    'CREATE TABLE topics(id TEXT, name, type, serialization_format)',
    'CREATE TABLE schema(schema_version)',
    'CREATE TABLE topics(id, name, type, serialization_format, offered_qos_profiles, hash, a)',
    'CREATE VIEW topics AS SELECT 1 AS id', 'CREATE VIRTUAL TABLE messages USING fts5(data)',
    'CREATE TABLE messages(id, topic_id, timestamp, data BLOB DEFAULT (zeroblob(9)), UNIQUE(data))',
)
_CELLS = (
    None, 0, -1, 1, 2, 2**63 - 1, -2**63, 1.5, float('inf'), b'', b'\0', bytes(100), 'text',
    '\ud7ff', '[' * 99,
    'std_msgs/msg/Header', 'sensor_msgs/msg/JointState', 'no/msg/Type', '../a/b', '/a', 'cdr',
    'json', *TEXTS,
    *SPELLINGS[:12],
)
DB3 = Format(
    _database, _as_database,
    {'table': _STATEMENTS, 'pragma': ("'UTF-16'", 4096, 'wal', -1), '': _CELLS},
    kinds=('table', 'row', 'cell', 'pragma'),
)

# MCAP. A value None is worked out when the file is written, so that what is changed elsewhere fits.
_MAGIC = b'\x89MCAP0\r\n'
_CHUNK, _CHUNK_INDEX, _DATA_END, _SUMMARY_OFFSET = 0x06, 0x08, 0x0F, 0x0E
_LAYOUTS = {
    0x01: 'profile:s library:s',
    0x02: 'summary:Q offsets:Q crc:I',
    0x03: 'id:H name:s encoding:s data:s',
    0x04: 'id:H schema:H topic:s encoding:s metadata:m',
    0x05: 'channel:H sequence:I log_time:Q publish_time:Q data:r',
    0x06: 'start:Q end:Q size:Q crc:I compression:s records:c',
    0x07: 'channel:H records:s',
    0x08: 'start:Q end:Q at:Q length:Q offsets:s index:Q compression:s packed:Q size:Q',
    0x0B: 'messages:Q schemas:H channels:I files:I metadata:I chunks:I start:Q end:Q counts:s',
    0x0E: 'kind:B at:Q length:Q',
}
_COMPUTED = {
    (0x02, 'summary'), (0x02, 'offsets'), (0x06, 'size'), (0x06, 'crc'), (0x08, 'at'),
    (0x08, 'length'), (0x08, 'packed'), (0x08, 'size'),
}


def _mcap(data: bytes) -> Node:
    body = data.removeprefix(_MAGIC).removesuffix(_MAGIC)
    return Node('mcap', below=[
        Node('magic', value=_MAGIC), *_records(body), Node('magic', value=_MAGIC),
    ])


def _records(data: bytes) -> Iterator[Node]:
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from('<BQ', data, at)
        at += 9
        content = data[at:at + length]
        at += length
        yield Node('record', '', kind, [Node('length'), *_fields(kind, content)])


def _fields(kind: int, content: bytes) -> Iterator[Node]:
    at = 0
    for part in _LAYOUTS.get(kind, 'content:r').split():
        name, _, form = part.partition(':')
        if form in 'BHIQ':
            (value,) = struct.unpack_from(f'<{form}', content, at)
            at += struct.calcsize(f'<{form}')
            yield Node(form, name, None if (kind, name) in _COMPUTED else value)
        elif form == 'c':
            # Seeds are not packed.
            yield Node('chunk', name, None, list(_records(content[at + 8:])))
        elif form == 'r':
            yield Node('r', name, content[at:])
        else:
            (length,) = _WORD.unpack_from(content, at)
            inner = content[at + 4:at + 4 + length]
            at += 4 + length
            if form == 'm':
                yield Node('map', name, None, list(_strings(inner)))
            else:
                yield Node('s', name, inner)


def _strings(data: bytes) -> Iterator[Node]:
    at = 0
    while at < len(data):
        (length,) = _WORD.unpack_from(data, at)
        yield Node('s', '', data[at + 4:at + 4 + length])
        at += 4 + length


class _McapWriter:
    """Writes records one after the other, and knows where they are."""

    def __init__(self) -> None:
        self._out = bytearray()
        self._chunks: list[dict[str, int]] = []
        self._summary = self._offsets = self._indexed = 0

    def take(self, root: Node) -> bytes:
        for node in root.below:
            self._out += self._record(node) if node.kind == 'record' else _raw(node)
        return bytes(self._out)

    def _record(self, node: Node) -> bytes:
        kind = node.value % 256 if isinstance(node.value, int) else 0x80
        known: dict[str, int] = {'summary': self._summary, 'offsets': self._offsets}
        if kind == _CHUNK_INDEX and self._indexed < len(self._chunks):
            known = self._chunks[self._indexed]
            self._indexed += 1
        if kind == _SUMMARY_OFFSET:
            self._offsets = self._offsets or len(self._out)
        length, content = None, b''
        packing = next((_raw(n) for n in node.below if n.name == 'compression'), b'')
        for part in node.below:
            if part.kind == 'length':
                length = part.value
            elif part.kind == 'chunk':
                plain = b''.join(self._inner(record) for record in part.below)
                packed = _packed(plain, packing)
                known = {'size': len(plain), 'packed': len(packed), 'crc': zlib.crc32(plain)}
                content += struct.pack('<Q', len(packed)) + packed
            else:
                content += _field(part, known)
        if kind == _CHUNK and 'packed' in known:
            # Size and checksum stand before what they are of.
            content = content[:16] + b''.join(
                _field(part, known) for part in node.below if part.name in ('size', 'crc')
            ) + content[28:]
        whole = struct.pack('<BQ', kind, _number(length, len(content)) % 2**64) + content
        if kind == _CHUNK:
            self._chunks.append({'at': len(self._out), 'length': len(whole), **known})
        if kind == _DATA_END:
            self._summary = len(self._out) + len(whole)
        return whole

    def _inner(self, node: Node) -> bytes:
        return self._record(node) if node.kind == 'record' else _raw(node)


def _field(node: Node, known: dict[str, int]) -> bytes:
    if node.kind in ('B', 'H', 'I', 'Q'):
        size = struct.calcsize(f'<{node.kind}')
        value = known.get(node.name, 0) if node.value is None else _number(node.value, 0)
        return (value % 256**size).to_bytes(size, 'little')
    inner = _raw(node) + b''.join(_field(other, known) for other in node.below)
    return (_WORD.pack(len(inner)) if node.kind in ('s', 'map') else b'') + inner


def _raw(node: Node) -> bytes:
    value = node.value
    if isinstance(value, bytes):
        return value
    return b'' if value is None else str(value).encode('utf-8', 'replace')


def _number(value: Any, default: int) -> int:
    return value if isinstance(value, int) else default


def _packed(data: bytes, packing: bytes) -> bytes:
    if packing == b'zstd':
        return bytes(zstd().compress(data))
    if packing == b'lz4':
        import lz4.frame

        return bytes(lz4.frame.compress(data))
    return data


MCAP = Format(
    _mcap, lambda root: _McapWriter().take(root),
    {
        's': (b'zstd', b'lz4', b'rar', b'', b'ros1', b'sensor_msgs/msg/JointState', b'[' * 200_000,
              b'ros2idl', b'- {history: 9', b'\xff', b'a' * 100_000),
        'record': (*range(16), 0x80, 0xFF), 'length': (0, 1, 2**32, 2**63, 2**64 - 1),
    },
    kinds=('record', 's', 'r', 'chunk', 'map', 'Q'),
)


def _gzip(data: bytes) -> Node:
    return Node('gzip', below=[
        Node('field', 'magic', b'\x1f\x8b'), Node('field', 'method', b'\x08'),
        Node('field', 'flags', b'\0'), Node('field', 'time', bytes(6)),
        Node('content', 'times', 1, [CSV.parse(gzip.decompress(data))]),
        Node('crc'), Node('size'), Node('field', 'tail', b''),
    ])


def _as_gzip(root: Node) -> bytes:
    out, crc, size = b'', 0, 0
    for node in root.below:
        if node.kind == 'content':
            packed, crc, size = _deflated(
                b'\n'.join(CSV.write(table) for table in node.below), _number(node.value, 1)
            )
            out += packed
        elif node.kind in ('crc', 'size'):
            value = _number(node.value, crc if node.kind == 'crc' else size)
            out += _WORD.pack(value % 2**32)
        else:
            out += _raw(node)
    return out


def _deflated(content: bytes, times: int) -> tuple[bytes, int, int]:
    """Return a content so many times over, packed, and its checksum and length."""
    times = max(0, min(times, _TO_PACK // max(len(content), 1)))
    part = min(times, max(1, 2**16 // max(len(content), 1)))
    packer, out, crc = zlib.compressobj(1, wbits=-15), bytearray(), 0
    for begin in range(0, times, max(part, 1)):
        piece = content * min(part, times - begin)
        crc = zlib.crc32(piece, crc)
        out += packer.compress(piece)
    return bytes(out + packer.flush()), crc, len(content) * times


GZIP = Format(
    _gzip, _as_gzip,
    {
        'content': (0, 2, 50, 10**4, 10**9),
        'field': (b'\x04', b'\x08\0\0', b'\x1f\x8b\x08', b'\xff', bytes(9)),
        'crc': (0, 1), 'size': (0, 2**32 - 1), **CSV.words,
    },
    CSV.snippets, ('row', 'word', 'field', 'content'),
)

_TRIANGLE = 12


def _stl(data: bytes) -> Node:
    (count,) = _WORD.unpack_from(data, 80)
    return Node('stl', below=[
        Node('field', 'head', data[:80]), Node('count'),
        Node('triangles', below=[
            Node('triangle', below=[
                Node('number', value=value)
                for value in struct.unpack_from(f'<{_TRIANGLE}f', data, 84 + 50 * i)
            ]) for i in range(count)
        ]),
    ])


def _as_stl(node: Node) -> bytes:
    if node.kind == 'stl':
        triangles = sum(other.kind == 'triangle' for n in node.below for other in n.below)
        return b''.join(
            _WORD.pack(_number(n.value, triangles) % 2**32) if n.kind == 'count' else _as_stl(n)
            for n in node.below
        )
    if node.kind == 'triangle':
        return b''.join(map(_as_stl, node.below)) + b'\0\0'
    if node.kind == 'number':
        with suppress(TypeError, ValueError, OverflowError):
            return struct.pack('<f', float(node.value))
    return _raw(node) + b''.join(map(_as_stl, node.below))


STL = Format(
    _stl, _as_stl, {'count': (0, 1, 2, 2**31, 2**32 - 1), 'field': (b'solid', bytes(80), b'')},
    kinds=('triangle', 'number', 'field'),
)

_TEXTS = 'FIMPQAL'
"""Kinds of records of a ULog that have a text."""


def _ulog(data: bytes) -> Node:
    root, at = Node('ulog', below=[Node('field', 'head', data[:16])]), 16
    while at + 3 <= len(data):
        size, kind = struct.unpack_from('<HB', data, at)
        content = data[at + 3:at + 3 + size]
        parts = re.split(rb'([ ;:\[\]])', content) if chr(kind) in _TEXTS else [content]
        root.below.append(Node('record', chr(kind), below=[
            Node('size'), *(Node('field', '', part) for part in parts)
        ]))
        at += 3 + size
    return root


def _as_ulog(node: Node) -> bytes:
    if node.kind != 'record':
        return _raw(node) + b''.join(map(_as_ulog, node.below))
    content = b''.join(_as_ulog(n) for n in node.below if n.kind != 'size')
    sizes = [_number(n.value, len(content)) for n in node.below if n.kind == 'size']
    kind = ord((node.name or 'D')[0]) % 256
    return struct.pack('<HB', (sizes or [len(content)])[0] % 2**16, kind) + content


ULOG = Format(
    _ulog, _as_ulog,
    {
        'size': (0, 1, 2, 100, 2**15, 2**16 - 1),
        'field': (b'float', b'uint64_t', b'65535', b'60000', b'-1', b'char', b'timestamp', b'q',
                  b'sensor_combined', b'vehicle_attitude', b'esc_status', bytes(9), b'\xff' * 9,
                  b'PWM_MAIN_FUNC1', b'THR_MDL_FAC', b'\0\0\xc0\x7f', b'a' * 300),
    },
    kinds=('record', 'field'),
)
