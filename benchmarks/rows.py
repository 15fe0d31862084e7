# SPDX-License-Identifier: Apache-2.0
"""What is measured, as rows of a table."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """One measurement, beside another one of the same run or beside a limit.

    Attributes
    ----------
    work : str
        What is done.
    ours : float
        What it costs, or gives.
    unit : str
        Of both numbers.
    beside : str
        What it is held against; '' for nothing.
    other : float or None
        The same number there.
    """

    work: str
    ours: float
    unit: str
    beside: str = ''
    other: float | None = None

    @property
    def ratio(self) -> float | None:
        """Ours over the other one."""
        return self.ours / self.other if self.other else None

    def as_json(self) -> dict[str, Any]:
        """Return the row as JSON has it."""
        return {**asdict(self), 'ratio': self.ratio}


def as_text(row: Row) -> str:
    """Return a row as a line."""
    line = f'  {row.work:<58} {number(row.ours, row.unit):>18}'
    if row.ratio is None or row.other is None:
        return line
    return f'{line}  {row.beside:<24} {number(row.other, row.unit):>18}  {row.ratio:7.2f}'


def as_markdown(rows: Iterable[Row]) -> str:
    """Return rows as a Markdown table."""
    lines = ['| Work | ours | beside | | ratio |', '| --- | --- | --- | --- | --- |']
    for row in rows:
        other = '' if row.other is None else number(row.other, row.unit)
        ratio = '' if row.ratio is None else f'{row.ratio:.2f}'
        lines.append(
            f'| {row.work} | {number(row.ours, row.unit)} | {row.beside} | {other} | {ratio} |'
        )
    return '\n'.join(lines)


def number(value: float, unit: str) -> str:
    """Return a number with its unit, to three digits."""
    return f'{value:.3g} {unit}' if abs(value) < 1000 else f'{value:.0f} {unit}'
