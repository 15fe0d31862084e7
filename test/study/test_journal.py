# SPDX-License-Identifier: Apache-2.0
"""What is done is on the disk, whatever tears the last line."""
from __future__ import annotations

import math
import os

import pytest

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.study import session as journal_module
from propulsion_ros.study.session import Journal

ROWS = [{'case': 0, 'x': 0.1 + 0.2, 'error': ''}, {'case': 2, 'x': math.inf, 'error': 'a, "b"'}]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / 'journal.jsonl'
    with Journal(path, 'one') as journal:
        journal.add(ROWS)
    return path


def test_rows_come_back_as_they_were(path):
    with Journal(path, 'one') as journal:
        assert journal.rows == {row['case']: row for row in ROWS}


def test_a_torn_line_is_dropped_wherever_it_is_torn(path):
    whole = path.read_bytes()
    last = whole.rindex(b'\n', 0, -1) + 1
    for end in range(last + 1, len(whole), 5):
        path.write_bytes(whole[:end])
        with Journal(path, 'one') as journal:
            assert list(journal.rows) == [0]
            journal.add(ROWS[1:])
        assert path.read_bytes() == whole


def test_a_torn_head_begins_anew(path):
    whole = path.read_bytes()
    path.write_bytes(whole[:9])
    with Journal(path, 'one') as journal:
        assert journal.rows == {}
    assert path.read_bytes() == whole[:whole.index(b'\n') + 1]


@pytest.mark.parametrize(('text', 'message'), [
    ('{"study": "two", "version": "0"}\n', 'another study'),
    ('case,x\n', 'expected rows of a study'),
    ('{"a": 1}\n', 'expected rows of a study'),
    ('{HEAD}\n{"case": 1}\n', 'expected rows of a study'),
    ('{HEAD}\n{HEAD}\n', 'expected rows of a study'),
    ('{HEAD}\n{"case": "1", "error": ""}\n', 'expected rows of a study'),
    ('{HEAD}\n' + '[' * 9999 + '\n', 'expected rows of a study'),
])
def test_a_file_of_another_study_is_refused(path, text, message):
    text = text.replace('{HEAD}', path.read_text().partition('\n')[0])
    path.write_text(text)
    with pytest.raises(SourceError, match=message):
        Journal(path, 'one')
    assert path.read_text() == text


def test_another_version_is_refused(path):
    head, _, rest = path.read_text().partition('\n')
    path.write_text(head.replace('"version": "', '"version": "old ') + '\n' + rest)
    with pytest.raises(SourceError, match='has rows of propulsion_ros old 0'):
        Journal(path, 'one')


def test_it_can_begin_anew(path):
    with Journal(path, 'two', again=True) as journal:
        assert journal.rows == {}
        journal.add([{'case': 4, 'error': ''}])
    with Journal(path, 'two') as journal:
        assert journal.rows == {4: {'case': 4, 'error': ''}}


@pytest.mark.parametrize('again', [False, True])
def test_two_at_once_are_refused(path, again):
    with Journal(path, 'one') as journal:
        with pytest.raises(SourceError, match='another study writes it now'):
            Journal(path, 'one', again)
        rows = dict(journal.rows)
    with Journal(path, 'one') as journal:
        assert journal.rows == rows


def test_zeros_after_a_loss_of_power_end_it(path):
    whole = path.read_bytes()
    last = whole.rindex(b'\n', 0, -1) + 1
    path.write_bytes(whole[:last] + b'\0' * 50 + whole[last:])
    with Journal(path, 'one') as journal:
        assert list(journal.rows) == [0]
    assert path.read_bytes() == whole[:last]


def test_rows_are_on_the_disk_after_some_seconds(path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, 'fsync', lambda descriptor: synced.append(path.read_bytes()))
    with Journal(path, 'one', again=True) as journal:
        journal.add(ROWS[:1])
        assert synced == []
        monkeypatch.setattr(journal_module, '_SYNC', -1.0)
        journal.add(ROWS[1:])
        assert synced == [path.read_bytes()]
