# SPDX-License-Identifier: Apache-2.0
"""What users typically get wrong: each mistake gets one line with place, reason and remedy."""
from __future__ import annotations

import pytest

from mistakes import KINDS, MESSAGES
from mistakes.messages import lines_of
from propulsion_ros.tools import cli

IN_FILES = [mistake for mistakes in KINDS.values() for mistake in mistakes]
LEAST = 100
SHARE_WITH_REMEDY = 0.9


def output_of(mistake, folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    for name, text in mistake.files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    try:
        code = cli.main(mistake.command.split())
    except SystemExit as end:
        code = end.code
    out, err = capsys.readouterr()
    return code, f'{out}{err}'.splitlines()


def require(mistake, lines):
    wanted = mistake.place, mistake.reason, mistake.remedy
    assert any(all(part in line for part in wanted) for line in lines), lines
    assert not any('Traceback' in line for line in lines)


@pytest.mark.parametrize('mistake', IN_FILES, ids=lambda mistake: mistake.id)
def test_mistake_in_a_file_or_command(mistake, tmp_path, capsys, monkeypatch):
    code, lines = output_of(mistake, tmp_path, capsys, monkeypatch)
    assert code == mistake.code
    require(mistake, lines)


@pytest.mark.parametrize('mistake', MESSAGES, ids=lambda mistake: mistake.id)
def test_mistake_in_a_message(mistake):
    require(mistake, lines_of(mistake))


def test_most_lines_name_place_reason_and_remedy():
    mistakes = [*IN_FILES, *MESSAGES]
    assert len(mistakes) >= LEAST
    assert all(mistake.place and mistake.reason for mistake in mistakes)
    with_remedy = sum(bool(mistake.remedy) for mistake in mistakes)
    assert with_remedy >= SHARE_WITH_REMEDY * len(mistakes)
