# SPDX-License-Identifier: Apache-2.0
"""Places in a page where measured tables stand."""
from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

BEGIN, END = '<!-- measured -->', '<!-- end -->'


def rewrite(page: Path, text: str) -> None:
    """Replace what stands between the marks of a page; SystemExit where it has none."""
    before, begin, rest = page.read_text(encoding='utf-8').partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f'{page}: expected {BEGIN} and {END}')
    page.write_text(f'{before}{begin}\n\n{text}\n\n{end}{after}', encoding='utf-8')


def as_list(machine: Mapping[str, str]) -> str:
    """Return the description of a machine as a list."""
    return '\n'.join(f'- {key}: {value}' for key, value in machine.items())
