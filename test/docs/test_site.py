# SPDX-License-Identifier: Apache-2.0
"""The pages make a site without a warning, and every page can be reached."""
from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest

from markdown_pages import REPOSITORY

pytestmark = pytest.mark.slow
MISSING = [name for name in ('sphinx', 'myst_parser') if find_spec(name) is None]


@pytest.mark.skipif(
    bool(MISSING), reason=f'NOT TESTED: no site was made, {", ".join(MISSING)} is not installed '
    '(pip install -r env/site.txt)'
)
def test_the_pages_make_a_site_without_a_warning(tmp_path):
    done = subprocess.run(
        [sys.executable, '-m', 'sphinx', '-q', '-W', '--keep-going', 'docs', str(tmp_path)],
        capture_output=True, text=True, check=False, cwd=REPOSITORY,
    )
    assert (done.returncode, done.stderr) == (0, '')
    pages = {path.relative_to(tmp_path).with_suffix('') for path in tmp_path.rglob('*.html')}
    for path in (REPOSITORY / 'docs').rglob('*.md'):
        name = path.relative_to(REPOSITORY / 'docs').with_suffix('')
        assert name.name == 'README' or name in pages
    # The tables of parameters, and what docstrings say.
    assert 'time_constant' in (tmp_path / 'models.html').read_text(encoding='utf-8')
    assert 'Parameters' in (tmp_path / 'api.html').read_text(encoding='utf-8')


def test_every_page_is_in_the_contents():
    contents = (REPOSITORY / 'docs' / 'index.rst').read_text(encoding='utf-8').split()
    for path in (REPOSITORY / 'docs').rglob('*.md'):
        name = path.relative_to(REPOSITORY / 'docs').with_suffix('').as_posix()
        assert name == 'README' or name in contents
