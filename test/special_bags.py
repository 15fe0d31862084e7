# SPDX-License-Identifier: Apache-2.0
"""What bags can hold that would take for ever or fill the memory: both formats, and metadata."""
from __future__ import annotations

import json
import os
import sqlite3
import struct
import sys
from contextlib import closing
from pathlib import Path

from special_kinds import Case, holding, large, link_loop, link_to, sparse
from special_texts import ALIASES

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MIB = 1024 * 1024
STATE = 'sensor_msgs/msg/JointState'
QOS = 'offered_qos_profiles'
DENSE = '[' + '1,' * 2_000_000 + ']'
DEEP = '[' * 200_000


def database(messages='', topics='', schema='', rows=()):
    """Return what makes a sqlite3 bag of some tables."""
    def make(path):
        with closing(sqlite3.connect(path)) as db:
            db.execute(topics or 'CREATE TABLE topics(id INTEGER, name, type, '
                       'serialization_format, offered_qos_profiles)')
            db.execute(messages or 'CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id, '
                       'timestamp, data)')
            if schema:
                db.execute(schema)
            if not topics:
                db.execute('INSERT INTO topics VALUES(1, ?, ?, ?, ?)',
                           ('/rotors/state', STATE, 'cdr', ''))
            for statement, values in rows:
                db.execute(statement, values)
            db.commit()
    return make


def message(stamp, data):
    return ('INSERT INTO messages(topic_id, timestamp, data) VALUES(1, ?, ?)', (stamp, data))


ENDLESS_MESSAGES = """
    CREATE VIEW messages AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)
    SELECT x AS id, 1 AS topic_id, x AS timestamp, x'00' AS data FROM c
"""
ENDLESS_SCHEMA = """
    CREATE VIEW schema AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)
    SELECT max(x) AS schema_version FROM c
"""
QOS_ROW = 'UPDATE topics SET offered_qos_profiles = ?'


def damaged(path):
    database(rows=[message(i, b'a' * 99) for i in range(999)])(path)
    with open(path, 'r+b') as file:
        file.seek(4096)
        file.write(b'\xff' * 8192)


DATABASES = {
    'text as data': (database(rows=[message(1, 'text')]), 'expected bytes as data'),
    'a number as data': (database(rows=[message(1, 1_500_000_000)]), 'expected bytes as data'),
    'a fraction as data': (database(rows=[message(1, 1.5)]), 'expected bytes as data'),
    'nothing as data': (database(rows=[message(1, None)]), 'expected bytes as data'),
    'text as time': (database(rows=[message('soon', b'a')]), 'is not a readable bag'),
    'a fraction as time': (database(rows=[message(1.5, b'a')]), 'expected whole nanoseconds'),
    'nothing as time': (database(rows=[message(None, b'a')]), 'is not a readable bag'),
    'a number as topic': (database(rows=[('UPDATE topics SET name = 7', ())]), 'names and types'),
    'bytes as type': (database(rows=[("UPDATE topics SET type = x'00'", ())]), 'names and types'),
    'computed data': (database(
        messages='CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id, timestamp, '
        'data AS (zeroblob(900000000)))',
        rows=[('INSERT INTO messages(topic_id, timestamp) VALUES(1, 1)', ())]), 'computed'),
    'endless messages': (database(messages=ENDLESS_MESSAGES), 'no plain table'),
    'endless schema': (database(schema=ENDLESS_SCHEMA), 'no plain table'),
    'dense quality of service': (database(rows=[(QOS_ROW, (DENSE,))]), 'more YAML'),
    'deep quality of service': (database(rows=[(QOS_ROW, (DEEP,))]), 'nested too deeply'),
    'expanding quality of service': (database(rows=[(QOS_ROW, (ALIASES,))]), 'more YAML'),
    'no tables': (lambda path: sqlite3.connect(path).execute('CREATE TABLE a(b)').close(), ''),
    'a number as quality of service': (database(rows=[(QOS_ROW, (7,))]), ''),
    'a damaged table': (damaged, ''),
    'a head alone': (holding(b'SQLite format 3\0' + bytes(84)), ''),
    'a hole': (sparse(2 << 30, b'SQLite format 3\0'), ''),
}


def record(kind, content, length=None):
    return struct.pack('<BQ', kind, len(content) if length is None else length) + content


def text(value):
    value = value.encode()
    return struct.pack('<I', len(value)) + value


MAGIC = b'\x89MCAP0\r\n'
HEAD = MAGIC + record(0x01, text('ros2') + text('test'))
PACKED_SIZE = 60 * MIB


def foot(index):
    return record(0x02, struct.pack('<QQI', index, 0, 0)) + MAGIC


def channel(qos=''):
    pairs = text(QOS) + text(qos)
    return record(0x04, struct.pack('<HH', 1, 1) + text('/rotors/state') + text('cdr')
                  + struct.pack('<I', len(pairs)) + pairs)


SCHEMA = record(0x03, struct.pack('<H', 1) + text(STATE) + text('ros2msg') + text(''))


def statistics(count):
    return record(0x0B, struct.pack('<QHIIIIQQ', count, 1, 1, 0, 0, count, 1, 9)
                  + struct.pack('<IHQ', 10, 1, count))


def chunk(data, size, kind='zstd'):
    return record(0x06, struct.pack('<QQQI', 1, 9, size, 0) + text(kind)
                  + struct.pack('<Q', len(data)) + data)


def chunk_index(at, whole, data, size, kind='zstd'):
    return record(0x08, struct.pack('<QQQQ', 1, 9, at, len(whole)) + struct.pack('<IHQ', 10, 1, at)
                  + struct.pack('<Q', 47) + text(kind) + struct.pack('<QQ', len(data), size))


def recording(chunks, qos='', counts=True):
    """Return an indexed MCAP file of packed chunks, each with the size that it states."""
    body, index = HEAD, b''
    for data, size in chunks:
        whole = chunk(data, size)
        index += chunk_index(len(body), whole, data, size)
        body += whole
    return body + SCHEMA + channel(qos) + index + (statistics(len(chunks)) if counts else b'') \
        + foot(len(body))


def packed(size, head=b''):
    """Return zeros packed, after a head."""
    return zstd.compress(head + bytes(size - len(head)))


def hole(index):
    """Return what makes a file of a head, a hole of two gigabytes and a foot."""
    return sparse(2 << 30, HEAD, foot(index))


MCAPS = {
    'cut off': (large(lambda: recording([(packed(MIB), MIB)])[:-50]), 'is not a readable bag'),
    'cut in its chunk': (large(lambda: recording([(packed(MIB)[:-9], MIB)])), 'is not a readable'),
    'a head alone': (holding(HEAD), 'is not a readable bag'),
    'a foot alone': (holding(foot(0)), 'is not a readable bag'),
    'a hole without an index': (hole(0), 'no record at offset'),
    'a hole for an index': (hole(len(HEAD) + 1000), 'no record at offset'),
    'a head of a hole': (sparse(2 << 30, MAGIC + record(0x01, b'', 2_000_000_000), foot(0)),
                         'has a header of'),
    'a schema of a hole': (sparse(2 << 30, HEAD + record(0x03, b'', 2_000_000_000),
                                  foot(len(HEAD))), 'a record of'),
    'a length beyond the end': (holding(HEAD + record(0x04, b'', 2**63) + foot(len(HEAD))), ''),
    'a chunk that expands': (large(lambda: recording([(packed(500 * MIB), 500 * MIB)])),
                             'chunk of more than'),
    'a chunk that lies': (large(lambda: recording([(packed(500 * MIB), 1000)])),
                          'unpacked to more'),
    'chunks of one time': (large(lambda: recording([(packed(PACKED_SIZE), PACKED_SIZE)] * 50)),
                           'for one time'),
    'a chunk of nothing': (large(lambda: recording([(packed(PACKED_SIZE), PACKED_SIZE)])),
                           'no record at offset'),
    'a chunk of nothing after a schema': (large(lambda: recording(
        [(packed(PACKED_SIZE, SCHEMA), PACKED_SIZE)])), 'no record at offset'),
    'such a chunk without an index': (large(
        lambda: HEAD + chunk(packed(PACKED_SIZE, SCHEMA), PACKED_SIZE) + foot(0)), 'no record at'),
    'such a chunk in an empty index': (large(
        lambda: HEAD + chunk(packed(PACKED_SIZE, SCHEMA), PACKED_SIZE) + foot(
            len(HEAD + chunk(packed(PACKED_SIZE, SCHEMA), PACKED_SIZE)))), 'no record at'),
    'a chunk in a chunk': (large(lambda: recording([(packed(900, chunk(b'', 0)), 900)])), ''),
    'dense quality of service': (large(lambda: recording([], DENSE)), 'more YAML'),
    'deep quality of service': (large(lambda: recording([], DEEP)), 'nested too deeply'),
    'deep quality of service in a chunk': (large(lambda: HEAD + chunk(packed(
        len(channel(DEEP)), channel(DEEP)), len(channel(DEEP))) + foot(0)), 'nested too deeply'),
    'an unknown packing': (large(lambda: HEAD + chunk(b'abc', 3, 'rar') + foot(0)), ''),
    'another program': (holding(MAGIC + record(0x01, text('ros1') + text('')) + foot(0)), 'ros2'),
}


def metadata(**changes):
    """Return the metadata of a bag of one file, with some of them changed."""
    information = {
        'version': 9, 'storage_identifier': 'sqlite3', 'duration': {'nanoseconds': 1},
        'starting_time': {'nanoseconds_since_epoch': 1}, 'message_count': 1,
        'compression_format': '', 'compression_mode': '', 'relative_file_paths': ['a.db3'],
        'topics_with_message_count': [{'message_count': 1, 'topic_metadata': {
            'name': '/rotors/state', 'type': STATE, 'serialization_format': 'cdr', QOS: '',
            'type_description_hash': '',
        }}], **changes,
    }
    return json.dumps({'rosbag2_bagfile_information': information})


def bag(content, kind=None):
    """Return what makes a folder with metadata, and a file of some kind beside it."""
    def make(path):
        os.mkdir(path)
        content_kind = content if callable(content) else holding(content)
        content_kind(os.path.join(path, 'metadata.yaml'))
        (kind or database(rows=[message(1, b'\0\1\0\0')]))(os.path.join(path, 'a.db3'))
    return make


def zstd_of(kind):
    """Return what packs a file of some kind."""
    def make(path):
        kind(path)
        Path(path).write_bytes(zstd.compress(Path(path).read_bytes()))
    return make


def zstd_zeros(path):
    Path(path).write_bytes(packed(700 * MIB))


def zstd_message(path):
    database(rows=[message(1, packed(700 * MIB))])(path)


PACKED_FILES = metadata(compression_mode='FILE', compression_format='zstd')
PACKED_MESSAGES = metadata(compression_mode='MESSAGE', compression_format='zstd')
FOLDERS = {
    'metadata of aliases': (bag(ALIASES), 'more YAML'),
    'deep metadata': (bag(DEEP), 'nested too deeply'),
    'dense metadata': (bag('[' + '1,' * 400_000 + ']'), 'more YAML'),
    'much metadata': (bag('#' * 2 * MIB), 'is larger than'),
    'metadata of itself': (bag('a: &a [*a]'), 'more YAML'),
    'metadata that are a FIFO': (bag(os.mkfifo), 'Is a FIFO'),
    'metadata that are a device': (bag(link_to('/dev/zero')), 'Is a device'),
    'metadata that are no text': (bag(b'\xff'), 'expected UTF-8 text'),
    'a file that is a FIFO': (bag(metadata(), os.mkfifo), 'Is a FIFO'),
    'a file that is a device': (bag(metadata(), link_to('/dev/zero')), 'Is a device'),
    'a file that is a folder': (bag(metadata(), os.mkdir), 'Is a directory'),
    'a file that is a loop': (bag(metadata(), link_loop), 'Too many levels'),
    'a file elsewhere': (bag(metadata(relative_file_paths=['/dev/zero'])), 'missing'),
    'no file': (bag(metadata(relative_file_paths=[])), ''),
    'files that are numbers': (bag(metadata(relative_file_paths=[1, None, {}])), ''),
    'deep quality of service': (bag(metadata(topics_with_message_count=[{
        'message_count': 1, 'topic_metadata': {QOS: DEEP}}])), 'nested too deeply'),
    'a packed file that expands': (bag(PACKED_FILES, zstd_zeros), 'times its size'),
    'a packed file that is a FIFO': (bag(PACKED_FILES, os.mkfifo), 'Is a FIFO'),
    'a packed file that is none': (bag(PACKED_FILES), 'cannot be unpacked'),
    'a packed file of text as data': (bag(PACKED_FILES, zstd_of(
        database(rows=[message(1, 'text')]))), 'expected bytes as data'),
    'a packed message that expands': (bag(PACKED_MESSAGES, zstd_message), 'unpacked to more'),
    'a packed message that is none': (bag(PACKED_MESSAGES), 'is not a readable bag'),
    'a message that is cut off': (bag(metadata()), ''),
}


def bags():
    """Yield what bags can hold."""
    for suffix, table in (('.db3', DATABASES), ('.mcap', MCAPS), ('', FOLDERS)):
        for kind, (make, wanted) in table.items():
            yield Case(f'plot{suffix or " bag"}: {kind}', make, f'a{suffix}',
                       ('plot', '{}', '--output', 'out.png'), wanted)
