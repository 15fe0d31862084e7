# SPDX-License-Identifier: Apache-2.0
"""The glossary is in alphabetical order, and has an entry for each term that its entries use."""
from __future__ import annotations

import re

from markdown_pages import REPOSITORY

PAGE = (REPOSITORY / 'docs/glossary.md').read_text(encoding='utf-8')
TERMS = [re.sub(r'[`.]', '', term) for term in re.findall(r'^\*\*(.*?)\*\*', PAGE, re.MULTILINE)]


def test_entries_are_in_alphabetical_order():
    folded = [term.lower().replace('_', '') for term in TERMS]
    assert folded == sorted(set(folded))


def test_every_term_in_italics_has_an_entry():
    entries = {word.strip().lower() for term in TERMS for word in term.split(',')}
    used = {' '.join(term.split()) for term in re.findall(r'(?<!\*)\*([^*]+)\*(?!\*)', PAGE)}
    beside = {'italics', 'transient local'}
    plural = {term.removesuffix('s') for term in used if term.removesuffix('s') in entries}
    assert {
        term for term in used - beside
        if term not in entries and term.removesuffix('s') not in plural
    } == set()


def test_entries_take_one_to_three_lines():
    assert max(entry.count('\n') + 1 for entry in PAGE.split('\n\n')) <= 3
