# SPDX-License-Identifier: Apache-2.0
"""rosbag2 bags, MCAP and sqlite3, without a ROS installation; needs the package rosbags."""
from __future__ import annotations

import functools
import heapq
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import yaml

from propulsion_ros.loops.payloads import Kind
from propulsion_ros.loops.step_record import is_of_steps
from propulsion_ros.replay.bag_formats import (
    LARGEST,
    bound_chunks,
    check_chunks,
    check_mcap,
    check_sqlite,
    unpack,
    zstd,
)
from propulsion_ros.replay.plain import Wire, missing, text_of
from propulsion_ros.replay.ulog_reader import SUFFIX as ULOG
from propulsion_ros.replay.ulog_reader import UNMAPPED, UlogMap, UlogReader
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
    require_absent,
    write_text,
    writing,
)
from propulsion_ros.settings.ros_yaml import FAST_LOADER
from propulsion_ros.settings.yaml_file import YamlBudget

SUFFIXES = ('.mcap', '.db3')
"""Suffixes of the files of a bag."""
_READ_ALIKE = (*SUFFIXES, ULOG)
"""Suffixes of these and of PX4 logs, which are read as bags are."""
_METADATA = 'metadata.yaml'
_KEY = 'rosbag2_bagfile_information'
_ANY_SIZE = 2**63  # no limit of a file [bytes]
_PART = 1024 * 1024  # size that is unpacked at once [bytes]
_RATIO = 1000  # largest ratio of unpacked size, beyond `LARGEST`, to packed size


@contextmanager
def checked(path: Path) -> Iterator[Path]:
    """Yield the path that a library may open: the bag, or a copy of it with unpacked files.

    Raises `SourceError` naming the bag or its file.
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
    text, budget = read_text(metadata), YamlBudget(printable(metadata))
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
    """Return the value of a key in a mapping; None if there is no such key, or no mapping."""
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
    """Unpack a file of a bag."""
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


_REQUESTS = '/requests'
_EARLY_NS = 2_000_000_000  # time by which requests are played early [ns]
_NONE: Mapping[str, Sequence[Any]] = MappingProxyType({})
ReaderT = TypeVar('ReaderT', bound='BagReader')


class Recorded(NamedTuple):
    """One message of a bag."""

    topic: str
    type: str
    """Such as '/boosters/wrench' and 'geometry_msgs/msg/WrenchStamped'."""
    stamp_ns: int
    """Time of its recording [ns]."""
    data: bytes
    """CDR, as it was on the wire."""


def is_bag(path: Path) -> bool:
    """Return whether a path names a bag: a folder, new or not, or a file of one of its formats."""
    kind = kind_of(path)
    is_new_folder = not path.suffix and kind == ABSENT
    return kind == FOLDER or path.suffix in _READ_ALIKE or is_new_folder


class BagReader:
    """Reads the messages of a bag in the order in which they were recorded.

    The definitions of message types that a bag carries are not used: rosbags would make Python code
    of them. Messages are decoded as the types that come with ROS 2. Raises `SourceError` on
    entering and iterating, naming the bag and what is wrong with it.

    Parameters
    ----------
    path : Path
        Folder of a bag, or one .mcap or .db3 file; or a log of PX4 (.ulg).
    names : UlogMap
        Actuators and topics of such a log.
    """

    def __init__(self, path: Path, names: UlogMap = UNMAPPED) -> None:
        self._path, self._names = path, names
        self._stack = ExitStack()
        self._reader: Any = None

    def __enter__(self: ReaderT) -> ReaderT:
        try:
            # Only users of bags need this package.
            from rosbags.rosbag2 import Reader
        except ImportError as error:
            raise SourceError(printable(self._path), missing()) from error
        bound_chunks()
        try:
            self._reader = self._stack.enter_context(
                UlogReader(self._path, self._names) if self._path.suffix == ULOG
                else Reader(self._stack.enter_context(checked(self._path)))
            )
            _check_metadata(self._reader)
            storage = self._reader.storage
            check_chunks(printable(self._path), getattr(storage, 'storages', [storage]))
            self._is_packed = self._reader.compression_mode == 'message'
            if self._is_packed:
                # The library would unpack a message to any size.
                storage.metadata = storage.metadata._replace(compression_mode=None)
        except SourceError:
            self._stack.close()
            raise
        except Exception as error:
            self._stack.close()
            # The readers of both formats raise errors of any type for a damaged file.
            raise self._wrong(error) from error
        self._wire = Wire()
        return self

    @property
    def topics(self) -> dict[str, str]:
        """Type of each topic."""
        return {c.topic: str(c.msgtype) for c in self._reader.connections}

    @property
    def offered(self) -> dict[str, Sequence[Any]]:
        """Qualities of service of the publishers of each topic, as rosbags has them."""
        return {c.topic: c.ext.offered_qos_profiles for c in self._reader.connections}

    @property
    def count(self) -> int:
        """Number of messages."""
        return int(self._reader.message_count)

    def count_of(self, topics: Collection[str]) -> int:
        """Return how many messages some topics have."""
        return sum(int(c.msgcount) for c in self._reader.connections if c.topic in topics)

    def inside(self) -> Iterator[str]:
        """Yield the content of the bag, in one line each."""
        if self.count:
            begin, end = self._reader.start_time * 1e-9, (self._reader.end_time - 1) * 1e-9
            yield f'{begin:.3f} to {end:.3f} s, {end - begin:.3f} s'
        for c in sorted(self._reader.connections, key=lambda each: str(each.topic)):
            yield f'{c.topic}: {c.msgcount} {c.msgtype}'
        yield from getattr(self._reader, 'notes', ())

    def messages(self, topics: Collection[str] | None = None) -> Iterator[Recorded]:
        """Yield the messages of some topics, of all by default."""
        chosen = [c for c in self._reader.connections if topics is None or c.topic in topics]
        if not chosen:
            return
        messages = self._reader.messages(connections=chosen)
        while True:
            try:
                connection, stamp_ns, data = next(messages)
                _check_message(stamp_ns, data)
                content = unpack(data) if self._is_packed else bytes(data)
            except StopIteration:
                return
            except Exception as error:
                raise self._wrong(error) from error
            yield Recorded(connection.topic, str(connection.msgtype), stamp_ns, content)

    def for_nodes(self, topics: Collection[str]) -> Iterator[Recorded]:
        """Yield the messages of some topics as nodes can take them.

        A recorder may write a request behind the samples that followed it, and a fast player may
        delay it. So requests come early, and a node holds them until their stamps; requests that
        determined its steps come first of all.
        """
        requests = {topic for topic in topics if topic.endswith(_REQUESTS)}
        if not requests:
            return self.messages(topics)
        begin_ns = next((each.stamp_ns for each in self.messages()), 0)
        early = []
        for each in self.messages(requests):
            is_first = each.type == Kind.STATUSES and is_of_steps(self.decode(each))
            # No message can be written before the begin of a bag.
            due_ns = begin_ns if is_first else max(begin_ns, each.stamp_ns - _EARLY_NS)
            early.append(each._replace(stamp_ns=due_ns))
        early.sort(key=lambda each: each.stamp_ns)
        others = self.messages(set(topics) - requests)
        return heapq.merge(early, others, key=lambda message: message.stamp_ns)

    def decode(self, message: Recorded) -> Any:
        """Return a message with the fields of its type; arrays are those of numpy.

        Raises `SourceError` if it is no such message, or the definition of its type has changed
        since it was recorded.
        """
        if message.type in self._changed_types:
            raise SourceError(printable(self._path), f'was recorded with another {message.type}')
        return self._wire.read(message.data, message.type)

    @functools.cached_property
    def _changed_types(self) -> frozenset[str]:
        """Types whose definition has changed since the recording, by their hashes in the bag."""
        return frozenset(
            c.msgtype for c in self._reader.connections
            if c.digest and c.msgtype in self._wire.types.fielddefs
            and c.digest != self._wire.types.hash_rihs01(c.msgtype)
        )

    def _wrong(self, error: Exception) -> SourceError:
        return SourceError(printable(self._path), f'is not a readable bag: {text_of(error)[:300]}')

    def __exit__(self, *error: object) -> None:
        self._stack.close()


def _check_metadata(reader: Any) -> None:
    """Raise if the metadata of a bag are impossible; rosbags accepts any value."""
    counts = [reader.message_count, *(c.msgcount for c in reader.connections)]
    if not all(isinstance(count, int) and count >= 0 for count in counts):
        raise ValueError('expected numbers of messages in its metadata')
    for c in reader.connections:
        if not all(isinstance(text, str) for text in (c.topic, c.msgtype, c.digest)):
            raise ValueError('expected names and types of topics in its metadata')


def _check_message(stamp_ns: Any, data: Any) -> None:
    """Raise if time or data have the wrong type: a column of a database accepts any."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f'expected bytes as data of a message, got {type(data).__name__}')
    if not isinstance(stamp_ns, int):
        raise TypeError(f'expected whole nanoseconds as its time, got {type(stamp_ns).__name__}')


class BagWriter:
    """Writes a new bag, and counts its messages in `count`; `keeps` may change meanwhile.

    Entering raises `SourceError` if it exists or cannot be written.

    Parameters
    ----------
    path : Path
        A folder, for MCAP; .db3 at its end means one for sqlite3, .mcap one file.
    keeps : bool
        True to keep the bag if an error ends it; else it is removed then, as is an empty bag.
    offered : mapping
        Qualities of service of topics of another bag, `BagReader.offered`, used when it is played.
    """

    def __init__(
        self, path: Path, keeps: bool = False, offered: Mapping[str, Sequence[Any]] = _NONE
    ) -> None:
        self.keeps = keeps
        self._path, self._offered = path, offered
        # The library writes only folders.
        self._folder = path.with_name(f'{path.name}.part') if path.suffix == '.mcap' else path
        self._stack = ExitStack()
        self._connections: dict[str, Any] = {}
        self.count = 0

    def __enter__(self) -> BagWriter:
        try:
            from rosbags import rosbag2
        except ImportError as error:
            raise SourceError(printable(self._path), missing()) from error
        if self._path.suffix == ULOG:
            raise SourceError(printable(self._path), 'logs of PX4 are read, not written')
        for path in (self._path, self._folder):
            require_absent(path)
        self._made = [each for each in self._folder.parents if kind_of(each) == ABSENT]
        is_sqlite = self._path.suffix == '.db3'
        plugins = rosbag2.StoragePlugin
        try:
            with writing(self._path):
                writer = rosbag2.Writer(
                    self._folder, version=9,
                    storage_plugin=plugins.SQLITE3 if is_sqlite else plugins.MCAP,
                )
                if not is_sqlite:
                    writer.set_compression(
                        rosbag2.CompressionMode.STORAGE, rosbag2.CompressionFormat.ZSTD
                    )
                self._writer: Any = self._stack.enter_context(writer)
        except rosbag2.WriterError as error:
            raise SourceError(printable(self._path), text_of(error)) from error
        self._types = Wire().types
        return self

    def write(self, message: Recorded, offered: Sequence[Any] = ()) -> None:
        """Write a message; its topic begins with its first one.

        Raises `SourceError` if rosbags does not know its type, or it cannot be written.

        Parameters
        ----------
        offered : sequence of rclpy.qos.QoSProfile
            Qualities of service of its publishers, which are used when the bag is played.
        """
        try:
            connection = self._connections.get(message.topic)
            if connection is None:
                connection = self._connections[message.topic] = self._writer.add_connection(
                    message.topic, message.type, typestore=self._types,
                    offered_qos_profiles=[
                        *self._offered.get(message.topic, ()), *map(_qos, offered),
                    ],
                )
            self._writer.write(connection, message.stamp_ns, message.data)
        except Exception as error:
            # Both formats raise any error of their library or the disk.
            raise self._wrong(f'{message.topic} ({message.type})', error) from error
        self.count += 1

    def _wrong(self, what: str, error: Exception) -> SourceError:
        reason = text_of(error)[:300]
        return SourceError(printable(self._path), f'{what} cannot be written: {reason}')

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        keeps = error is None or self.keeps
        try:
            self._stack.__exit__(*((None, None, None) if keeps else (kind, error, trace)))
            if keeps and self.count and self._folder != self._path:
                (file,) = self._folder.glob('*.mcap')
                file.replace(self._path)
        except Exception as failure:
            keeps = False
            raise self._wrong('its end', failure) from failure
        finally:
            if not (keeps and self.count and self._folder == self._path):
                shutil.rmtree(self._folder, ignore_errors=True)
                with suppress(OSError):  # if a folder is not empty
                    for each in self._made:
                        each.rmdir()


def _qos(profile: Any) -> Any:
    """Return a quality of service of rclpy as that of rosbags."""
    from rosbags import interfaces as of

    never = of.QosTime(2147483647, 4294967295)
    return of.Qos(
        # The graph does not know the history of publishers.
        history=of.QosHistory.KEEP_LAST, depth=max(int(profile.depth), 1),
        reliability=of.QosReliability(int(profile.reliability)),
        durability=of.QosDurability(int(profile.durability)),
        deadline=never, lifespan=never, liveliness=of.QosLiveliness.AUTOMATIC,
        liveliness_lease_duration=never, avoid_ros_namespace_conventions=False,
    )
