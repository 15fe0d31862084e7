# SPDX-License-Identifier: Apache-2.0
"""Pages have plain words: nodes publish, subscribe and receive; they do not speak and hear."""
from __future__ import annotations

import re

import pytest

from markdown_pages import pages

PICTURESQUE = re.compile(
    r'\b(hears?|heard|tells?|told|gives? way|mends?|mended|nobody|somebody|speaks?|listens?'
    r'|who asks)\b',
    re.IGNORECASE,
)
PAGES = {page.name: page for page in pages()}


@pytest.mark.parametrize('name', PAGES)
def test_page_has_plain_words(name):
    found = [
        f'{line.place}: {match[0]}'
        for line in PAGES[name].sentences for match in PICTURESQUE.finditer(line.text)
    ]
    assert not found, '\n'.join(found)
