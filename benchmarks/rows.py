# SPDX-License-Identifier: Apache-2.0
"""What is measured, as rows of a table."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any


@dataclass(frozen=True)
class Row:
    """One measurement, beside another one of the same run or beside a limit.

    Attributes
    ----------
    work : str
        What is done.
    ours : float or None
        What it costs, or gives; None where it is not measured, for the reason in `beside`.
    unit : str
        Of both numbers.
    beside : str
        What it is held against; '' for nothing.
    other : float or None
        The same number there.
    """

    work: str
    ours: float | None
    unit: str
    beside: str = ''
    other: float | None = None

    @property
    def ratio(self) -> float | None:
        """Ours over the other one."""
        return self.ours / self.other if self.other and self.ours is not None else None

    def as_json(self) -> dict[str, Any]:
        """Return the row as JSON has it."""
        return {**asdict(self), 'ratio': self.ratio}


def not_measured(peer: str, install: str) -> Row:
    """Return the row of an original that is not installed."""
    return Row(peer, None, '', f'not measured: pip install {install}')


def as_text(row: Row) -> str:
    """Return a row as a line."""
    if row.ours is None:
        return f'  {row.work:<58} {row.beside}'
    line = f'  {row.work:<58} {number(row.ours, row.unit):>18}'
    if row.ratio is None or row.other is None:
        return line
    return f'{line}  {row.beside:<24} {number(row.other, row.unit):>18}  {row.ratio:7.2f}'


def as_markdown(rows: Iterable[Row]) -> str:
    """Return rows as a Markdown table, a line for each work: beside several others in turn."""
    lines = ['| Work | ours | beside | | ratio |', '| --- | --- | --- | --- | --- |']
    for work, group in groupby(rows, key=lambda row: row.work):
        same = list(group)
        ours = next((number(row.ours, row.unit) for row in same if row.ours is not None), '')
        beside, others, ratios = (
            '; '.join(filter(None, texts)) for texts in (
                [row.beside for row in same],
                [number(row.other, row.unit) if row.other is not None else '' for row in same],
                [f'{row.ratio:.2f}' if row.ratio is not None else '' for row in same],
            )
        )
        lines.append(f'| {work} | {ours} | {beside} | {others} | {ratios} |')
    return '\n'.join(lines)


def as_columns(rows: Iterable[Row]) -> str:
    """Return rows as a Markdown table with a column for each part of a work behind a colon.

    A cell has our number, in the unit of the first one of its column, and the ratio in brackets.
    A part beside nothing stands in the first row of its work.
    """
    cells: dict[tuple[str, str], dict[str, str]] = {}
    units: dict[str, str] = {}
    notes = []
    for row in rows:
        work, _, part = row.work.rpartition(': ')
        if row.ours is None:
            notes.append(f'{row.work}: {row.beside}.')
            continue
        ratio = '' if row.ratio is None else f' ({row.ratio:.2f})'
        beside = row.beside or next((known for own, known in cells if own == work), '')
        if units.setdefault(part, row.unit) != row.unit:
            raise ValueError(f'{row.work}: expected {units[part]}, got {row.unit}')
        cells.setdefault((work, beside), {})[part] = f'{number(row.ours, "").strip()}{ratio}'
    besides = {beside for _, beside in cells}
    head = [f'Work, beside {min(besides)}'] if len(besides) == 1 else ['Work', 'beside']
    head += [f'{part} [{unit}]' for part, unit in units.items()]
    shown = [
        [*key[:len(head) - len(units)], *(own.get(part, '') for part in units)]
        for key, own in cells.items()
    ]
    lines = [f'| {" | ".join(each)} |' for each in (head, ['---'] * len(head), *shown)]
    return '\n'.join([*lines, *(['', *notes] if notes else [])])


def number(value: float, unit: str) -> str:
    """Return a number with its unit, to three digits."""
    return f'{value:.3g} {unit}' if abs(value) < 1000 else f'{value:.0f} {unit}'
