# SPDX-License-Identifier: Apache-2.0
import os
import socket
import stat
import tracemalloc
from pathlib import Path

import pytest

from propulsion_ros.settings import files
from propulsion_ros.settings.errors import SourceError
from refusals import refusal


def write(path, content):
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# Kinds.


def fifo(path):
    os.mkfifo(path)


def bound(path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


def loop(path):
    path.symlink_to(path.with_name('other'))
    path.with_name('other').symlink_to(path)


KINDS = [
    pytest.param(fifo, 'a FIFO', 'Is a FIFO, expected a regular file', id='fifo'),
    pytest.param(lambda path: path.symlink_to('/dev/zero'), 'a device',
                 'Is a device, expected a regular file', id='device'),
    pytest.param(bound, 'a socket', 'Is a socket, expected a regular file', id='socket'),
    pytest.param(Path.mkdir, files.FOLDER, 'Is a directory', id='folder'),
    pytest.param(loop, files.UNKNOWN, 'Too many levels of symbolic links', id='loop of links'),
    pytest.param(lambda path: None, files.ABSENT, 'No such file or directory', id='nothing'),
    pytest.param(lambda path: path.symlink_to('/nowhere'), files.ABSENT,
                 'No such file or directory', id='link to nothing'),
]
READERS = [
    pytest.param(lambda path: files.read_bytes(path, 9), id='bytes'),
    pytest.param(lambda path: files.read_text(path, 9), id='text'),
    pytest.param(lambda path: list(files.read_lines(path)), id='lines'),
    pytest.param(files.check_file, id='check'),
]


@pytest.mark.parametrize('read', READERS)
@pytest.mark.parametrize(('make', 'kind', 'reason'), KINDS)
def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path, make, kind, reason, read):
    path = tmp_path / 'file'
    make(path)
    assert files.kind_of(path) == kind
    assert refusal(read, path) == f'{path}: cannot be read: {reason}'


def test_a_file_is_one_through_links_too(tmp_path):
    write(tmp_path / 'file', 'a')
    (tmp_path / 'link').symlink_to('file')
    assert files.kind_of(tmp_path / 'link') == files.FILE
    assert files.read_text(tmp_path / 'link', 1) == 'a'


@pytest.mark.skipif(os.geteuid() == 0, reason='root may read everything')
def test_a_file_that_may_not_be_read(tmp_path):
    write(tmp_path / 'file', 'a').chmod(0)
    assert refusal(files.read_text, tmp_path / 'file', 9).endswith('Permission denied')


@pytest.mark.parametrize('read', READERS)
def test_a_path_that_can_name_nothing(read):
    assert 'null byte' in refusal(read, 'a\0b')
    assert files.kind_of('a\0b') == files.UNKNOWN


def test_a_home_of_nobody():
    assert refusal(files.expand_user, '~no_one/x').startswith('~no_one/x: cannot be read: ')
    assert files.expand_user('~/x') == Path.home() / 'x'


# Sizes.


def test_limit_is_the_largest_size(tmp_path):
    path = write(tmp_path / 'file', 'four')
    assert files.read_bytes(path, 4) == b'four'
    assert refusal(files.read_bytes, path, 3) == f'{path}: is larger than 3 bytes'


def test_size_is_refused_before_anything_is_read(tmp_path, monkeypatch):
    path = tmp_path / 'file'
    path.touch()
    os.truncate(path, 1 << 40)
    monkeypatch.setattr(files._Limited, 'readinto', None)
    assert refusal(files.read_bytes, path, 1000) == f'{path}: is larger than 1000 bytes'


@pytest.mark.skipif(not Path('/proc/self/status').exists(), reason='no files of the kernel here')
def test_a_file_may_state_no_size():
    path = Path('/proc/self/status')
    assert path.stat().st_size == 0
    assert 'VmPeak' in files.read_text(path, 100_000)
    assert refusal(files.read_text, path, 10) == f'{path}: is larger than 10 bytes'


def test_a_file_may_grow_while_it_is_read(tmp_path):
    path = write(tmp_path / 'file', 'a\n' * 5000)
    lines = files.read_lines(path, 20_000)
    next(lines)
    with path.open('ab') as file:
        file.write(b'a\n' * 10_000)
    with pytest.raises(SourceError, match='is larger than 20000 bytes'):
        list(lines)


def test_what_has_nothing_to_read_yet_is_not_waited_for(tmp_path, monkeypatch):
    class Waiting:

        def readinto(self, buffer):
            return None

    raw = files._Limited(Waiting(), 9, 'kmsg')
    assert refusal(raw.readinto, bytearray(9)) == 'kmsg: cannot be read: it has nothing to read yet'


# Texts.


@pytest.mark.parametrize(('content', 'text'), [
    pytest.param(b'', '', id='nothing'),
    pytest.param('é\n'.encode(), 'é\n', id='UTF-8'),
    pytest.param(b'\xef\xbb\xbfa', 'a', id='mark'),
    pytest.param(b'a\r\nb\rc\n', 'a\nb\nc\n', id='line ends'),
])
def test_text(tmp_path, content, text):
    assert files.read_text(write(tmp_path / 'file', content), 99) == text


@pytest.mark.parametrize(('content', 'reason'), [
    pytest.param(b'ab\xff', 'expected UTF-8 text, got byte 0xff at offset 2', id='byte'),
    pytest.param(b'\x1f\x8b\x08', 'expected UTF-8 text, got byte 0x8b at offset 1 (gzip?)',
                 id='gzip'),
    pytest.param(b'\xff\xfea\0', 'expected UTF-8 text, got byte 0xff at offset 0 (UTF-16?)',
                 id='UTF-16'),
    pytest.param(b'ab\0', 'expected text, got a NUL at offset 2', id='NUL'),
])
def test_what_is_no_text(tmp_path, content, reason):
    path = write(tmp_path / 'file', content)
    assert refusal(files.read_text, path, 99) == f'{path}: {reason}'


def test_other_encodings_may_be_replaced(tmp_path):
    assert files.read_text(write(tmp_path / 'file', b'caf\xe9'), 99, 'replace') == 'caf\ufffd'


# Lines.


def test_lines_keep_their_ends(tmp_path):
    path = write(tmp_path / 'file', b'\xef\xbb\xbfa\r\nb\rc\n\nd')
    assert list(files.read_lines(path)) == ['a\r\n', 'b\r', 'c\n', '\n', 'd']


def test_longest_line(tmp_path):
    path = write(tmp_path / 'file', b'a' * (files.LONGEST_LINE - 1) + b'\n' + b'b' * 9)
    assert [len(line) for line in files.read_lines(path)] == [files.LONGEST_LINE, 9]
    write(path, b'a\n' + b'b' * (files.LONGEST_LINE + 1))
    assert refusal(list, files.read_lines(path)) == (
        f'{path}:2: is a line of more than {files.LONGEST_LINE} characters'
    )


def test_lines_take_constant_memory(tmp_path):
    path = write(tmp_path / 'file', b'0,1,2,3,4,5,6,7,8,9\n' * 100_000)
    tracemalloc.start()
    try:
        assert sum(1 for _ in files.read_lines(path)) == 100_000
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_byte_that_is_no_text_is_named_wherever_it_is(tmp_path):
    path = write(tmp_path / 'file', b'abc\n' * 25_000 + b'\xe9\n')
    assert refusal(list, files.read_lines(path)) == (
        f'{path}: expected UTF-8 text, got byte 0xe9 at offset 100000'
    )
    write(path, b'a\nb\0\n')
    assert refusal(list, files.read_lines(path)) == f'{path}:2: expected text, got a NUL'


# Names.


@pytest.mark.parametrize(('name', 'shown'), [
    pytest.param('a b.urdf', 'a b.urdf', id='plain'),
    pytest.param('a\nb\x1b[2J', r'a\nb\x1b[2J', id='control characters'),
    pytest.param('a\u202eb', r'a\u202eb', id='direction'),
    pytest.param(os.fsdecode(b'a\xff'), r'a\udcff', id='not UTF-8'),
    pytest.param('n' * 5000, 'n' * 80 + ' ... ' + 'n' * 160, id='long'),
])
def test_names_are_shown_on_one_line(name, shown):
    assert files.printable(name) == shown
    assert files.printable(Path(name)) == shown


# Writing.


WRITERS = [
    pytest.param(lambda path: files.write_text(path, 'new'), id='text'),
    pytest.param(lambda path: files.replace_durably(path, b'new'), id='durably'),
]


def replace(path, error=None):
    with files.replacing(path) as file:
        file.write('new')
        if error:
            raise error


@pytest.mark.parametrize('write_new', [*WRITERS, pytest.param(replace, id='replacing')])
@pytest.mark.parametrize('beside', ['', '.new', '.unfinished'])
@pytest.mark.parametrize(('make', 'kind', 'reason'), KINDS[:5])
def test_nothing_but_a_file_is_written(tmp_path, make, kind, reason, beside, write_new):
    path = tmp_path / f'file{beside}'
    make(path)
    try:
        write_new(tmp_path / 'file')
    except OSError as error:
        assert error.strerror == reason  # noqa: PT017  a writer may take other names than this
    else:
        assert beside
        assert (tmp_path / 'file').read_text() == 'new'
    assert files.kind_of(path) == kind


@pytest.mark.parametrize('write_new', [*WRITERS, pytest.param(replace, id='replacing')])
def test_a_file_is_written_anew(tmp_path, write_new):
    path = write(tmp_path / 'file', 'much longer than it will be')
    write_new(path)
    assert path.read_text() == 'new'
    assert [file.name for file in tmp_path.iterdir()] == ['file']


def test_new_files_have_the_rights_that_others_have(tmp_path):
    (tmp_path / 'other').touch()
    files.write_text(tmp_path / 'file', 'new')
    mode = stat.S_IMODE((tmp_path / 'file').stat().st_mode)
    assert mode == stat.S_IMODE((tmp_path / 'other').stat().st_mode)


def test_what_was_there_stays_where_an_error_comes(tmp_path):
    path = write(tmp_path / 'file', 'old')
    with pytest.raises(KeyError):
        replace(path, KeyError())
    assert path.read_text() == 'old'
    assert [file.name for file in tmp_path.iterdir()] == ['file']


def test_a_path_that_can_name_nothing_is_not_written():
    with pytest.raises(OSError, match='null byte'):
        files.write_text('a\0b', 'new')
