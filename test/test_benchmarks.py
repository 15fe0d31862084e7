# SPDX-License-Identifier: Apache-2.0
"""What is measured is written as it is."""
from __future__ import annotations

import json
import re
from importlib import import_module

import pytest
from conftest import REPOSITORY

from benchmarks import __main__ as benchmarks
from benchmarks.rows import Row, as_columns, as_markdown, as_text, not_measured

DOCS = REPOSITORY / 'docs'
ROWS = [
    Row('step', 12.345, 'us', 'the original', 24.69),
    Row('replay', 1234.5, 'x real time'),
]


def test_rows_are_written_to_three_digits():
    assert as_markdown(ROWS).splitlines()[2:] == [
        '| step | 12.3 us | the original | 24.7 us | 0.50 |',
        '| replay | 1234 x real time |  |  |  |',
    ]
    assert as_text(ROWS[0]).split() == [
        'step', '12.3', 'us', 'the', 'original', '24.7', 'us', '0.50'
    ]


def test_work_beside_several_others_is_one_line_and_what_is_missing_is_named():
    rows = [
        Row('step', 12.0, 'us', 'the original', 24.0), Row('step', 12.1, 'us', 'another', 6.0),
        not_measured('a third', 'third'),
    ]
    assert as_markdown(rows).splitlines()[2:] == [
        '| step | 12 us | the original; another | 24 us; 6 us | 0.50; 2.02 |',
        '| a third |  | not measured: pip install third |  |  |',
    ]
    assert as_text(rows[2]).split() == ['a', 'third', 'not', 'measured:', 'pip', 'install', 'third']


def test_parts_of_a_work_are_columns():
    rows = [
        not_measured('a third', 'third'),
        Row('node: CPU', 12.0, 'us', 'bare', 10.0), Row('node: 99 %', 30.0, 'us', 'bare', 20.0),
        Row('other: CPU', 5.0, 'us'), Row('node: memory', 7.0, 'MB'),
    ]
    assert as_columns(rows).splitlines() == [
        '| Work | beside | CPU [us] | 99 % [us] | memory [MB] |',
        '| --- | --- | --- | --- | --- |',
        '| node | bare | 12 (1.20) | 30 (1.50) | 7 |', '| other |  | 5 |  |  |',
        '', 'a third: not measured: pip install third.',
    ]


def test_what_all_stand_beside_is_in_the_head():
    rows = [Row('node: CPU', 12.0, 'us', 'bare', 10.0), Row('other: CPU', 5.0, 'us', 'bare', 5.0)]
    assert as_columns(rows).splitlines() == [
        '| Work, beside bare | CPU [us] |', '| --- | --- |',
        '| node | 12 (1.20) |', '| other | 5 (1.00) |',
    ]


def test_a_column_has_one_unit():
    with pytest.raises(ValueError, match='other: CPU: expected us, got s'):
        as_columns([Row('node: CPU', 12.0, 'us'), Row('other: CPU', 5.0, 's')])


def test_picture_is_drawn_of_any_rows_and_fits_a_screen(tmp_path):
    from matplotlib import image

    draw = import_module('benchmarks.ratios').draw
    rows = [Row(f'work {i}: step', 1.0 + i, 'us', 'other', 2.0) for i in range(12)]
    rates = [Row(f'many: {n}', 0.1 * n, 'M/s', 'other', 0.2) for n in (1, 64)]
    draw(tmp_path / 'ratios.png', {'steps': rows, 'nodes': rows[:3], 'batches': rates})
    height, width, _ = image.imread(tmp_path / 'ratios.png').shape
    assert width <= 1920
    assert height <= 1080


def measured(monkeypatch, *arguments):
    """Run the command over rows that need no measurement."""
    module = type('Section', (), {'measure': staticmethod(lambda: iter(ROWS))})
    monkeypatch.setattr(benchmarks, 'import_module', lambda name: module)
    monkeypatch.setattr('sys.argv', ['benchmarks', 'steps', *map(str, arguments)])
    return benchmarks.main()


def test_page_and_json_hold_the_rows(monkeypatch, tmp_path, capsys):
    page, numbers = tmp_path / 'page.md', tmp_path / 'numbers.json'
    page.write_text(f'before\n{benchmarks.BEGIN}\nold\n{benchmarks.END}\nafter\n')
    assert measured(monkeypatch, '--page', page, '--json', numbers) == 0
    text = page.read_text()
    assert text.startswith('before\n')
    assert text.endswith('\nafter\n')
    assert benchmarks.table_of('steps', ROWS) in text
    assert 'old' not in text
    assert [row['ours'] for row in json.loads(numbers.read_text())['steps']] == [12.345, 1234.5]
    assert as_text(ROWS[0]) in capsys.readouterr().out


def test_sections_that_are_not_measured_stay(monkeypatch, tmp_path):
    numbers = tmp_path / 'numbers.json'
    old = Row('start', 2.0, 's', 'a bare node', 1.0)
    numbers.write_text(json.dumps({'machine': {}, 'start_up': [old.as_json()]}))
    assert measured(monkeypatch, '--json', numbers) == 0
    found = json.loads(numbers.read_text())
    assert found['start_up'] == [old.as_json()]
    assert len(found['steps']) == len(ROWS)


def test_page_without_a_place_for_tables_stays_as_it_is(monkeypatch, tmp_path):
    page = tmp_path / 'page.md'
    page.write_text('nothing')
    with pytest.raises(SystemExit, match='expected <!-- measured -->'):
        measured(monkeypatch, '--page', page)
    assert page.read_text() == 'nothing'


def test_tables_of_the_page_are_those_of_its_json():
    numbers = json.loads((DOCS / 'performance.json').read_text())
    page = (DOCS / 'performance.md').read_text()
    assert set(numbers) == {'machine', *benchmarks.SECTIONS}
    for key, value in numbers.pop('machine').items():
        assert f'- {key}: {value}' in page
    kept = benchmarks._kept(DOCS / 'performance.json')
    for name in numbers:
        table = benchmarks.table_of(name, kept[name])
        assert re.search(f'## {re.escape(benchmarks.SECTIONS[name])}\n\n{re.escape(table)}', page)
