# SPDX-License-Identifier: Apache-2.0
"""Draw measured ratios."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl

from benchmarks.rows import Row

mpl.use('Agg')
from matplotlib import pyplot as plt

_ROW = 0.19
_HIGHER_IS_BETTER = ('Hz', 'x real time', 'M/s')


def draw(path: Path, sections: Mapping[str, Sequence[Row]]) -> None:
    """Draw how many times the other's cost each work takes, on one page.

    Parameters
    ----------
    path : Path
        Picture to write.
    sections : mapping of str to sequence of Row
        By title; rows without a ratio are left out.
    """
    shown = {
        title: [row for row in rows if row.ratio is not None] for title, rows in sections.items()
    }
    shown = {title: rows for title, rows in shown.items() if rows}
    heights = [len(rows) + 2 for rows in shown.values()]
    figure, panels = plt.subplots(
        len(shown), 1, figsize=(11.0, _ROW * sum(heights) + 1.0), squeeze=False,
        gridspec_kw={'height_ratios': heights}, layout='constrained', sharex=True,
    )
    for axes, (title, rows) in zip(panels[:, 0], shown.items(), strict=True):
        costs = [_cost(row) for row in rows]
        places = range(len(rows))
        axes.barh(
            places, [cost - 1.0 for cost in costs], left=1.0, height=0.7,
            color=['tab:green' if cost <= 1.0 else 'tab:orange' for cost in costs],
        )
        axes.set_yticks(places, [f'{row.work}  |  {row.beside}' for row in rows], fontsize=7)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xscale('log')
        axes.axvline(1.0, color='black', linewidth=0.8)
        axes.grid(axis='x', which='both', alpha=0.3)
        axes.set_title(title, loc='left', fontsize=9)
        for place, cost in zip(places, costs, strict=True):
            axes.annotate(
                f'{cost:.2f}', (max(cost, 1.0), place), (3, 0), textcoords='offset points',
                va='center', fontsize=6,
            )
    panels[-1, 0].set_xlabel('cost, times that of what stands beside it; left of 1 is cheaper')
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _cost(row: Row) -> float:
    ratio = row.ratio or 1.0
    return 1.0 / ratio if row.unit in _HIGHER_IS_BETTER else ratio
