# SPDX-License-Identifier: Apache-2.0
"""The lines of docs/troubleshooting.md, from the tables of mistakes.

usage: PYTHONPATH=test python -m mistakes.page
"""
from __future__ import annotations

import re
from pathlib import Path

from mistakes import KINDS, MESSAGES

PAGE = Path(__file__).resolve().parents[2] / 'docs/troubleshooting.md'
SHOWN = {
    'A message to a node: `command refused`, `command not taken`': ('messages', (
        'speed for a thrust', 'angle as a torque', 'too few values', 'wall time in simulation',
        'simulated time on a robot', 'joint angle in degrees', 'joint that no node publishes',
    )),
    'A robot description': ('robot', (
        'link in place of a joint', 'no place', 'file name of a library',
        'plugin outside of gazebo', 'floating joint', 'link without a joint', 'tag not closed',
        'an SDF', 'xacro in a URDF', 'motor constant per rpm', 'no limit backwards',
        'steering that turns nothing',
    )),
    'What makes no sense, by its [rule](urdf.md#rules-of-sense)': ('sense', (
        'cannot hover', 'cannot yaw', 'rotors all turn one way', 'rotor upside down', 'arm in mm',
        'lag in ms', 'mass in tonnes', 'two rates', 'fuel in g/s', 'origin in degrees',
    )),
    'A parameter file': ('parameters', (
        'parameters without ros__parameters', 'unknown node', 'tab', 'kinds mixed', 'geometry',
        'one blank too many',
    )),
    'A flight configuration': ('flight', (
        'comma missing', 'pulse in seconds', 'id is not the place',
    )),
    'A command on the terminal': ('commands', (
        'stamps in milliseconds', 'semicolons', 'log without a header', 'log on the pad',
        'altitude downward', 'allocator not started',
    )),
}
"""Which mistakes of each kind the page has: those of a newcomer whose line may not be enough."""


def table_of(mistakes):
    """Return a Markdown table of what lines have and which mistake that is."""
    rows = ['| The line has | The mistake |', '| --- | --- |']
    for each in mistakes:
        line = '; '.join(filter(None, (each.reason, each.remedy))).replace('|', '\\|')
        rows.append(f'| `{line}` | {each.id} |')
    return '\n'.join(rows)


def text():
    """Return the lines of the page."""
    kinds, parts = KINDS | {'messages': MESSAGES}, []
    for head, (kind, ids) in SHOWN.items():
        by_id = {each.id: each for each in kinds[kind]}
        parts.append(f'### {head}\n\n{table_of([by_id[each] for each in ids])}')
    return '\n\n'.join(parts)


def with_lines(page):
    """Return the page with the lines between its marks."""
    return re.sub(
        r'(<!-- messages -->\n).*?(<!-- end -->)',
        lambda found: f'{found[1]}\n{text()}\n\n{found[2]}', page, flags=re.S,
    )


if __name__ == '__main__':
    PAGE.write_text(with_lines(PAGE.read_text(encoding='utf-8')), encoding='utf-8')
