# SPDX-License-Identifier: Apache-2.0
"""Bags are read as they were written, and what is wrong with one is said in one line."""
from __future__ import annotations

import re
import sqlite3
from contextlib import closing, nullcontext

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import serialize_message
from special_bags import HEAD, foot
from std_msgs.msg import String

from benchmarks.wire import Wire
from propulsion_ros.replay.bag_formats import bound_chunks, check_mcap
from propulsion_ros.replay.bags import BagReader, BagWriter, Recorded, is_bag
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.yaml_file import YamlBudget

rosbags = pytest.importorskip('rosbags')

KIND = 'std_msgs/msg/String'
TEXTS = ['first', 'second', 'at the same time']
STAMPS = [5, 7, 7]
KINDS = {'/a': KIND, '/n/requests': 'diagnostic_msgs/msg/DiagnosticArray'}


def recorded():
    return [
        Recorded(f'/{i % 2}', KIND, stamp, b'\x00\x01\x00\x00'
                 + (len(text) + 1).to_bytes(4, 'little') + text.encode() + b'\x00')
        for i, (stamp, text) in enumerate(zip(STAMPS, TEXTS, strict=True))
    ]


def written(path):
    """Write a bag and return its path."""
    with BagWriter(path) as writer:
        for message in recorded():
            writer.write(message)
    return path


@pytest.fixture(params=['bag', 'bag.mcap', 'bag.db3'])
def bag(request, tmp_path):
    return written(tmp_path / request.param)


def files_of(bag):
    return [bag] if bag.is_file() else list(bag.iterdir())


def test_messages_come_back_in_their_order(bag):
    assert is_bag(bag)
    with BagReader(bag) as reader:
        assert reader.topics == {'/0': KIND, '/1': KIND}
        assert reader.count == 3
        messages = list(reader.messages())
        assert [m.stamp_ns for m in messages] == STAMPS
        assert sorted(m.data for m in messages) == sorted(m.data for m in recorded())
        assert [reader.decode(m).data for m in reader.messages({'/0'})] == [TEXTS[0], TEXTS[2]]
        assert list(reader.messages(())) == []


def test_one_file_of_a_bag_is_a_bag_too(bag):
    (file,) = [path for path in files_of(bag) if path.suffix in ('.mcap', '.db3')]
    with BagReader(file) as reader:
        assert len(list(reader.messages())) == 3


def test_format_follows_the_name(bag):
    suffix = '.db3' if bag.suffix == '.db3' else '.mcap'
    assert any(path.suffix == suffix for path in files_of(bag))
    assert bag.is_file() == (bag.suffix == '.mcap')
    assert list(bag.parent.iterdir()) == [bag]


def test_nothing_is_overwritten(bag):
    with pytest.raises(SourceError, match='exists already'), BagWriter(bag):
        pass


def no_bag(path):
    path.mkdir()


def cut(path):
    path.write_bytes(written(path).read_bytes()[:200])


@pytest.mark.parametrize('spoil', [
    pytest.param(lambda path: None, id='absent'),
    pytest.param(no_bag, id='empty folder'),
    pytest.param(cut, id='cut off'),
    pytest.param(lambda path: path.write_bytes(b'\x89MCAP0\r\nrubbish'), id='rubbish'),
    pytest.param(lambda path: path.write_text('stamp\n'), id='text'),
])
def test_what_is_no_bag_is_named_in_one_line(tmp_path, spoil):
    path = tmp_path / 'bag.mcap'
    spoil(path)
    with pytest.raises(SourceError) as caught, BagReader(path) as reader:
        list(reader.messages())
    assert str(caught.value).startswith(f'{path}')
    assert '\n' not in str(caught.value)


def test_definitions_in_a_bag_are_not_used(tmp_path):
    """The library would make Python code of them."""
    path = written(tmp_path / 'bag.db3')
    (file,) = path.glob('*.db3')
    content = file.read_bytes()
    assert b'string data' in content
    file.write_bytes(content.replace(b'string data', b'(string):;('))
    with BagReader(path) as reader:
        assert {reader.decode(m).data for m in reader.messages()} == set(TEXTS)


@pytest.mark.parametrize(('said', 'instead'), [
    pytest.param('message_count: 3', 'message_count: many', id='count'),
    pytest.param('message_count: 3', 'message_count: -3', id='negative count'),
    pytest.param('message_count: 3', 'message_count:', id='no count'),
    pytest.param('name: /0', 'name: 0', id='topic'),
    pytest.param(f'type: {KIND}', 'type: [1]', id='type'),
    pytest.param('RIHS01_', '{RIHS01: 1} #', id='hash'),
    pytest.param('relative_file_paths:', 'relative_file_paths: [../../x.mcap]\nold:', id='files'),
])
def test_metadata_that_no_bag_has_are_refused_in_one_line(tmp_path, said, instead):
    path = written(tmp_path / 'bag')
    metadata = path / 'metadata.yaml'
    text = metadata.read_text(encoding='utf-8')
    assert said in text
    metadata.write_text(text.replace(said, instead), encoding='utf-8')
    with pytest.raises(SourceError, match='is not a readable bag') as caught, BagReader(path):
        pass
    assert str(caught.value).isprintable()


def test_type_that_was_another_one_is_not_decoded(tmp_path):
    path = written(tmp_path / 'bag')
    metadata = path / 'metadata.yaml'
    text = metadata.read_text(encoding='utf-8')
    assert 'RIHS01_' in text
    metadata.write_text(text.replace('RIHS01_', 'RIHS01_0'), encoding='utf-8')
    with BagReader(path) as reader:
        (first, *_) = reader.messages()
        with pytest.raises(SourceError, match=f'was recorded with another {KIND}'):
            reader.decode(first)


@pytest.mark.parametrize('bag', ['bag', 'bag.db3'], indirect=True)
def test_a_folder_of_a_recorder_that_was_killed_has_its_file_named(bag):
    (bag / 'metadata.yaml').unlink()
    (file,) = bag.iterdir()
    problem = f'{bag}: expected a bag, got a folder without metadata.yaml; give {file}, of'
    with pytest.raises(SourceError, match=re.escape(problem)), BagReader(bag):
        pass


def unknown():
    return Recorded('/odd', 'nowhere_msgs/msg/Nothing', 9, b'')


@pytest.mark.parametrize('keeps', [False, True])
def test_type_that_is_not_known_ends_in_one_line_and_costs_no_recording(tmp_path, keeps):
    path = tmp_path / 'bag.mcap'
    with pytest.raises(SourceError, match=r'/odd .nowhere_msgs/msg/Nothing. cannot be written'), \
            BagWriter(path, keeps) as writer:
        for message in (*recorded(), unknown()):
            writer.write(message)
    assert path.exists() == keeps
    if keeps:
        with BagReader(path) as reader:
            assert len(list(reader.messages())) == 3


@pytest.mark.parametrize('name', ['a/b/bag', 'a/b/bag.mcap', 'a/b/bag.db3'])
def test_what_is_not_kept_leaves_no_folder(tmp_path, name):
    with BagWriter(tmp_path / name):
        pass
    assert not list(tmp_path.iterdir())
    with BagWriter(tmp_path / name) as writer:
        writer.write(recorded()[0])
    assert (tmp_path / name).exists()


@pytest.mark.parametrize(('name', 'problem'), [
    ('file/bag', 'cannot be written: Not a directory'),
    (f'{"x" * 300}.mcap', 'xxx.mcap: cannot be written: File name too long'),
])
def test_place_that_cannot_be_written_is_named(tmp_path, name, problem):
    (tmp_path / 'file').write_text('')
    with pytest.raises(SourceError) as caught, BagWriter(tmp_path / name):
        pass
    assert problem in str(caught.value)
    assert 'Errno' not in str(caught.value)


@pytest.mark.parametrize('mode', ['FILE', 'MESSAGE', 'STORAGE'])
@pytest.mark.parametrize('plugin', ['MCAP', 'SQLITE3'])
def test_packed_bags_are_read_as_others(tmp_path, plugin, mode):
    from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer

    if (plugin, mode) == ('SQLITE3', 'STORAGE'):
        pytest.skip('sqlite3 does not pack by itself')
    path, types = tmp_path / 'bag', Wire().types
    writer = Writer(path, version=9, storage_plugin=StoragePlugin[plugin])
    writer.set_compression(CompressionMode[mode], CompressionFormat.ZSTD)
    with writer:
        connections = {
            f'/{i}': writer.add_connection(f'/{i}', KIND, typestore=types) for i in range(2)
        }
        for message in recorded():
            writer.write(connections[message.topic], message.stamp_ns, message.data)
    before = {file.name: file.read_bytes() for file in path.iterdir()}
    with BagReader(path) as reader:
        assert reader.count == 3
        assert sorted(m.data for m in reader.messages()) == sorted(m.data for m in recorded())
    assert {file.name: file.read_bytes() for file in path.iterdir()} == before


def test_chunks_are_unpacked_by_what_the_library_has_for_it():
    """A release that keeps its functions elsewhere would read bombs again."""
    from rosbags.rosbag2 import storage_mcap

    bound_chunks()
    assert {'zstd', 'lz4'} <= storage_mcap.DECOMPRESSORS.keys()
    for name in ('zstd', 'lz4'):
        assert storage_mcap.DECOMPRESSORS[name].__module__ == bound_chunks.__module__


@pytest.mark.parametrize(('kind', 'is_record'), [
    (0x00, False), (0x01, True), (0x0F, True), (0x10, False), (0x7F, False), (0x80, True),
    (0xFF, True),
])
def test_records_of_a_file_are_those_of_the_format_and_private_ones(tmp_path, kind, is_record):
    path = tmp_path / 'bag.mcap'
    record = bytes([kind]) + bytes(8)
    path.write_bytes(HEAD + record + foot(0))
    with nullcontext() if is_record else pytest.raises(SourceError, match='no record at offset'):
        check_mcap(path, YamlBudget(str(path)))


@pytest.mark.parametrize(('name', 'recorded', 'expected'), [
    pytest.param('launch', 3.5, 1.5, id='of flight software'),
    pytest.param('launch', 1.0, 0.0, id='not before the bag begins'),
    pytest.param('begin', 3.5, 0.0, id='of steps, first of all'),
])
def test_requests_come_early_for_nodes(tmp_path, name, recorded, expected):
    path, ns = tmp_path / 'in.mcap', 1_000_000_000
    status = DiagnosticStatus(name=name, values=[KeyValue(key='set', value='{}')])
    kinds = {'/a': String(), '/n/requests': DiagnosticArray(status=[status])}
    with BagWriter(path) as writer:
        for topic, at in (('/a', 0.0), ('/n/requests', recorded), ('/a', 4.0)):
            writer.write(Recorded(
                topic, KINDS[topic], round((5.0 + at) * ns), serialize_message(kinds[topic])
            ))
    with BagReader(path) as reader:
        found = [(m.topic, m.stamp_ns / ns - 5.0) for m in reader.for_nodes(reader.topics)]
    assert sorted(found) == [('/a', 0.0), ('/a', 4.0), ('/n/requests', expected)]
    assert found[-1] == ('/a', 4.0)


@pytest.mark.parametrize('name', ['bag', 'bag.mcap', 'bag.db3'])
def test_another_bag_has_its_topics_as_they_were_offered(tmp_path, name):
    latched = QoSProfile(depth=7, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    first, again = tmp_path / 'first.db3', tmp_path / name
    with BagWriter(first) as writer:
        writer.write(recorded()[0], [latched])
    with BagReader(first) as reader, BagWriter(again, offered=reader.offered) as writer:
        writer.write(recorded()[0])
        offered = reader.offered
    with BagReader(again) as reader:
        (profile,) = reader.offered['/0']
        assert reader.offered == offered
    assert (profile.depth, profile.durability.value) == (7, int(latched.durability))


def test_topic_without_the_definition_of_its_type_is_named(tmp_path):
    path = tmp_path / 'bag.db3'
    with BagWriter(path) as writer:
        for topic in ('/a', '/b'):
            writer.write(Recorded(topic, 'std_msgs/msg/String', 1, b'\0\1\0\0' + bytes(8)))
    (file,) = path.glob('*.db3')
    with closing(sqlite3.connect(file)) as database:
        # As rosbag2 writes it where the package of the type is not installed.
        database.execute("UPDATE message_definitions SET encoding = 'unknown'")
        database.commit()
    text = 'has no definition of std_msgs/msg/String, the type of /a'
    with pytest.raises(SourceError, match=text), BagReader(path):
        pass
