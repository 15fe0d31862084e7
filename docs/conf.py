# SPDX-License-Identifier: Apache-2.0
"""How Sphinx makes a site of these pages: `make site`, where warnings are errors, and rosdoc2."""
from __future__ import annotations

import re
from pathlib import Path

from pygments.lexers.special import TextLexer

import propulsion_ros

# Not beside this file: rosdoc2 runs it from a folder of its own.
DOCS = Path(propulsion_ros.__file__).resolve().parent.parent / 'docs'

LINES = (DOCS.parent / 'env/urls.txt').read_text('utf-8').splitlines()
URLS = {name.strip(): value.strip() for name, _, value in (line.partition('=') for line in LINES)}

project = 'propulsion_ros'
author = 'the maintainers and contributors of propulsion_ros'
version = release = propulsion_ros.__version__
extensions = ['myst_parser', 'sphinx.ext.autodoc', 'sphinx.ext.napoleon']
# The table of pages for a reader of the repository, here index.rst has them; and what rosdoc2 adds.
exclude_patterns = [
    'README.md', '__*', 'standard_docs', 'CHANGELOG.rst', 'CONTRIBUTING.md',
    'QUALITY_DECLARATION.md',
]
rosdoc2_settings = {'override_theme': False}
html_theme = 'alabaster'
html_theme_options = {
    'description': 'Actuators and flight software for robots that push against something',
    'extra_nav_links': {
        text: URLS[name] for text, name in (('Source', 'repository'), ('Report a fault', 'issues'))
        if URLS[name]
    },
}
myst_heading_anchors = 4
autodoc_typehints = 'none'

_LINK = re.compile(r'\[([^]\[]+)\]\(([^)#\s:]+)(#[^)]*)?\)')


def setup(app: object) -> None:
    """Read tables as plain text, and links to files beside the pages as their names."""
    app.add_lexer('csv', TextLexer)
    app.connect('source-read', _without_files)


def _without_files(app: object, name: str, source: list[str]) -> None:
    """Write what a link of the repository names: a site has no files beside its pages."""
    folder = (DOCS / name).parent

    def link(found: re.Match[str]) -> str:
        target = (folder / found[2]).resolve()
        if target == DOCS / 'README.md':
            return f'[{found[1]}](/index)'
        if target.is_relative_to(DOCS):
            return found[0]
        return f'{found[1]} (`{target.relative_to(DOCS.parent)}`)'

    source[0] = _LINK.sub(link, source[0])
