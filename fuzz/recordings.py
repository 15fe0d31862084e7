# SPDX-License-Identifier: Apache-2.0
"""Readers of rosbag2 bags, both formats and the metadata beside them, and of logs of PX4."""
from __future__ import annotations

import functools
import shutil
import sys
from pathlib import Path

from benchmarks.wire import Wire
from fuzz.binary_formats import DB3, MCAP, ULOG
from fuzz.target import REPOSITORY, Target, require, scratch, shipped, written
from fuzz.text_formats import YAML
from propulsion_ros.replay.bags import BagReader
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.names import class_of

_MOST = 1000
"""Messages that are read of one bag: a small file can claim, and have, a great many."""


def _read(path: Path) -> None:
    """Read a bag as its users do, and the message types that it names."""
    with BagReader(path) as bag:
        require(bag.count >= 0, f'{bag.count} messages')
        for kind in bag.topics.values():
            try:
                class_of(kind)
            except LookupError as error:
                require(str(error).isprintable(), f'{error!r}')
        for i, message in enumerate(bag.messages()):
            if i == _MOST:
                break
            try:
                bag.decode(message)
            except SourceError as error:
                require(bool(str(error)), 'no reason')


def _file(suffix: str, data: bytes) -> None:
    _read(written(f'bag{suffix}', data))


def _metadata(data: bytes) -> None:
    folder = scratch() / 'folder.mcap'
    if not folder.is_dir():
        shutil.copytree(_bag('.mcap'), folder)
    (folder / 'metadata.yaml').write_bytes(data)
    _read(folder)


@functools.cache
def _bag(suffix: str) -> Path:
    """Return a small bag that is not compressed, so that its bytes mean something."""
    from rosbags.rosbag2 import StoragePlugin, Writer

    kinds = {'.mcap': StoragePlugin.MCAP, '.db3': StoragePlugin.SQLITE3}
    path, wire = scratch() / f'seed{suffix}', Wire()
    with Writer(path, version=9, storage_plugin=kinds[suffix]) as writer:
        for topic, kind in (('/a', 'std_msgs/msg/String'), ('/clock', 'rosgraph_msgs/msg/Clock')):
            connection = writer.add_connection(topic, kind, typestore=wire.types)
            for stamp_ns in (1, 2):
                writer.write(connection, stamp_ns, b'\x00\x01\x00\x00\x04\x00\x00\x00abc\x00')
    return path


def _stored(suffix: str) -> list[bytes]:
    return [path.read_bytes() for path in _bag(suffix).glob(f'*{suffix}')]


@functools.cache
def _logs() -> list[bytes]:
    """Return small logs of PX4: a flight, and one of other messages."""
    # The writer of logs is one of the tests.
    sys.path.append(str(REPOSITORY / 'test'))
    from ulog_flights import flown, messages_of, short, ulog

    flight = short(flown(scratch(), seconds=0.6), 150)
    messages = messages_of(flight, slow=10)
    few = {key: rows[:10] for key, rows in messages.items()}
    return [ulog(few), ulog({
        key: rows[:4] for key, rows in messages.items() if 'actuator' not in key[0]
    }, dropouts=[(12_345_679, 20)])]


TARGETS = (
    Target(
        'ulog', functools.partial(_file, '.ulg'), _logs,
        words=('ULog', 'uint64_t timestamp;', 'float[65535]', 'actuator_motors', '/s\x13 %\x0c'),
        form=ULOG,
    ),
    Target(
        'bag_mcap', functools.partial(_file, '.mcap'), lambda: _stored('.mcap'),
        words=('zstd', 'lz4', 'ros2msg', 'ros2idl', 'offered_qos_profiles', 'std_msgs/msg/Header'),
        form=MCAP,
    ),
    Target(
        'bag_sqlite3', functools.partial(_file, '.db3'), lambda: _stored('.db3'),
        words=('CREATE VIEW messages AS', 'topics', 'schema', 'SELECT', 'std_msgs/msg/Header'),
        form=DB3,
    ),
    Target(
        'bag_metadata', _metadata,
        lambda: [(_bag('.mcap') / 'metadata.yaml').read_bytes(),
                 *shipped('test/data/demo_bag/metadata.yaml')],
        words=('compression_mode: file', 'compression_mode: message', 'compression_format: zstd',
               'relative_file_paths:', '../../', 'storage_identifier: sqlite3', '&a', '*a',
               '!!python/object/apply:os.system', 'version: 1'),
        form=YAML,
    ),
)
