# SPDX-License-Identifier: Apache-2.0
"""Draw what is measured on one screen: ratios of steps and nodes, rates of batches."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import matplotlib as mpl

from benchmarks.rows import Row

mpl.use('Agg')
from matplotlib import pyplot as plt
from matplotlib.ticker import EngFormatter

_SIZE = (15.0, 8.5)
"""Of the picture [inches], at 110 dots each."""


def draw(path: Path, sections: Mapping[str, Sequence[Row]]) -> None:
    """Draw steps and nodes beside others, and how many environments advance a second.

    Parameters
    ----------
    path : Path
        Picture to write.
    sections : mapping of str to sequence of Row
        By name; rows without a ratio are left out of the ratios.
    """
    figure = plt.figure(figsize=_SIZE, layout='constrained')
    left, right = figure.subfigures(1, 2)
    upper, lower = right.subplots(2, 1, height_ratios=(1.0, 1.3))
    steps = left.subplots()
    _draw_ratios(steps, sections.get('steps', ()), 'Steps: our time over that of the original')
    steps.set_xscale('log')
    steps.set_xticks([0.05, 0.1, 0.2, 0.5, 1.0, 2.0], ['0.05', '0.1', '0.2', '0.5', '1', '2'])
    steps.tick_params(axis='x', which='minor', bottom=False)
    nodes = [row for row in sections.get('nodes', ()) if row.work.endswith('CPU')]
    _draw_ratios(upper, nodes, 'Nodes: our CPU time of a message over that of a bare one')
    _draw_rates(lower, sections.get('batches', ()))
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _draw_ratios(axes: Any, rows: Sequence[Row], title: str) -> None:
    """Draw a line for each work, with a dot for each of those beside it."""
    shown = [row for row in rows if row.ratio is not None]
    works = [work for work, _ in groupby(shown, key=lambda row: row.work)]
    for beside in dict.fromkeys(row.beside for row in shown):
        own = [row for row in shown if row.beside == beside]
        axes.plot(
            [row.ratio for row in own], [works.index(row.work) for row in own], 'o', label=beside
        )
    names = [work.removesuffix(': CPU').replace(', two processes', '') for work in works]
    axes.set_yticks(range(len(works)), names, fontsize=8)
    axes.set_ylim(len(works) - 0.4, -0.6)
    axes.axvline(1.0, color='black', linewidth=0.8)
    axes.grid(alpha=0.4)
    axes.set_xlabel('ratio; ours is cheaper on the left of 1')
    axes.set_title(title, loc='right', fontsize=10)
    if shown:
        axes.legend(fontsize=8)


def _draw_rates(axes: Any, rows: Sequence[Row]) -> None:
    """Draw rates over the number of environments."""
    curves: dict[str, dict[int, float]] = {}
    for row in rows:
        if row.ours is None:
            continue
        work, _, size = row.work.rpartition(': ')
        curves.setdefault(work, {})[int(size)] = row.ours
        if row.other is not None:
            curves.setdefault(row.beside, {})[int(size)] = row.other
    # In the order in which they end, from above, as the legend is beside the ends.
    curves = dict(sorted(curves.items(), key=lambda item: -list(item[1].values())[-1]))
    ours = {row.work.rpartition(': ')[0] for row in rows}
    for name, curve in curves.items():
        style = '.-' if name in ours else 'x--'
        axes.plot(list(curve), [1e6 * rate for rate in curve.values()], style, label=name)
    axes.set_xscale('log')
    axes.set_yscale('log')
    for side in (axes.xaxis, axes.yaxis):
        side.set_major_formatter(EngFormatter(sep=' '))
    axes.grid(alpha=0.4)
    axes.set_xlabel('environments in one call')
    axes.set_title('Steps of environments a second, one core', loc='left', fontsize=10)
    if curves:
        axes.legend(fontsize=8, loc='center left', bbox_to_anchor=(1.0, 0.5))
