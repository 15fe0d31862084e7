# SPDX-License-Identifier: Apache-2.0
"""Each page says for whom it is and where to go next, and is short enough to be read."""
from __future__ import annotations

import re

import pytest

from markdown_pages import REPOSITORY
from mistakes.page import PAGE, with_lines

DOCS = REPOSITORY / 'docs'
PAGES = {str(path.relative_to(DOCS)): path for path in sorted(DOCS.rglob('*.md'))}
LONGEST = 3500
DECISION = 120
ALL = 60000


def prose(text):
    """Return a text without its blocks and tables."""
    text = re.sub(r'```.*?```', '', text, flags=re.S)
    return '\n'.join(line for line in text.split('\n') if not line.startswith('|'))


@pytest.mark.parametrize('name', PAGES)
def test_page_begins_and_ends(name):
    parts = PAGES[name].read_text(encoding='utf-8').strip().split('\n\n')
    assert parts[1].startswith('For ')
    assert parts[-1].startswith('Next: ')


@pytest.mark.parametrize('name', PAGES)
def test_page_is_short(name):
    assert len(prose(PAGES[name].read_text(encoding='utf-8')).split()) <= LONGEST


def test_all_pages_are_short_together():
    texts = [path.read_text(encoding='utf-8') for path in (*PAGES.values(), *DOCS.glob('*.rst'))]
    # What draws a table is no word.
    words = sum(bool(re.search(r'\w', each)) for text in texts for each in text.split())
    assert words <= ALL, f'{words - ALL} words too many: cut as many, in these pages or others'


def test_tracks_have_at_most_five_pages():
    page = PAGES['README.md'].read_text(encoding='utf-8')
    tracks = [line for line in page.split('\n') if line.startswith('| **')]
    assert len(tracks) == 4
    assert max(line.count('](') for line in tracks) <= 5


@pytest.mark.parametrize('name', ['decisions.md', 'decisions_running.md'])
def test_a_decision_is_short_and_has_a_price(name):
    page = PAGES[name].read_text(encoding='utf-8')
    entries = [part for part in re.split(r'\n\n', page) if part.startswith('**')]
    assert len(entries) > 30
    wrong = [entry[:60] for entry in entries
             if len(entry.split()) > DECISION or 'Cost: ' not in ' '.join(entry.split())]
    assert not wrong


def test_lines_are_those_of_the_mistakes():
    page = PAGE.read_text(encoding='utf-8')
    assert with_lines(page) == page, 'write it anew: PYTHONPATH=test python -m mistakes.page'
