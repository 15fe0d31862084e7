# SPDX-License-Identifier: Apache-2.0
"""Writes one page for a browser that opens from the disk, without a network."""
from __future__ import annotations

import base64
import gzip
import hashlib
import io
import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from propulsion_ros.drawing.figure import (
    COMMAND,
    ESTIMATED,
    FOUND,
    PREDICTED,
    RESIDUAL,
    ROUNDING,
    Page,
    Panel,
    Trace,
    most_moved,
)
from propulsion_ros.pictures.panels import page_of
from propulsion_ros.pictures.signals import OF_MOTION, QUANTITIES, Signals
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import read_bytes, read_text, save_text
from propulsion_ros.settings.imports import how_to_get
from propulsion_ros.view.motion import (
    SHORTEST,
    Scale,
    arrows_of,
    canopies_of,
    frames_of,
    joints_of,
    motion_of,
    moving_joints,
    palette,
    parachutes_of,
)
from propulsion_ros.view.numbers import as_json, flat, thinned
from propulsion_ros.view.robot import Robot, scene_of

POINTS = 900
"""Most points of a line, as a screen shows no more."""
SHOWN = 12
"""Most plots of a page, of which each takes a tenth of a second to draw."""
_LINES = 16  # most lines of a plot
_ORDER = {
    # Other motion comes later, as it is visible in 3D.
    **dict.fromkeys((QUANTITIES[quantity] for quantity in OF_MOTION), 4),
    QUANTITIES['place']: 0, QUANTITIES['effort']: 1, 'effort [N]': 2,
}


def plots_of(page: Page) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the plots of a page, those of motion and thrust first, and notes on omissions."""
    shown = (*page.above[:1], *in_order(page.panels))
    # The slider and the cursors of all plots are of time.
    plots = [_plot(panel) for panel in shown if not panel.across]
    notes = [
        f'{plot["title"]}: the first {_LINES} of {plot["count"]} lines are drawn'
        for plot in plots[:SHOWN] if plot.pop('count') > _LINES
    ]
    if len(plots) > SHOWN:
        notes.append(f'{len(plots)} plots, the first {SHOWN} are drawn')
    return plots[:SHOWN], notes


def in_order(panels: Iterable[Panel]) -> list[Panel]:
    """Return the panels with those of motion and thrust first, and constant ones last."""
    return sorted(panels, key=lambda panel: (
        max(most_moved(panel.series).values(), default=0.0) < ROUNDING,
        _ORDER.get(panel.heading.rpartition(': ')[2], 3),
    ))


def _plot(panel: Panel) -> dict[str, Any]:
    labels = [
        f'{trace.label} {trace.role}' if trace.role in (RESIDUAL, ESTIMATED) else trace.label
        for trace in panel.series
    ]
    names = list(dict.fromkeys(labels))
    plot: dict[str, Any] = {
        'title': panel.heading, 'count': len(names), 'marks': [
            {'name': trace.label, 'time': flat(trace.x), 'value': flat(trace.y)}
            for trace in panel.of(PREDICTED, FOUND)
        ], 'lines': [
            _line(label, trace, names.index(label), panel.dashed)
            for trace, label in zip(panel.series, labels, strict=True) if label in names[:_LINES]
        ],
    }
    known = np.concatenate([trace.y[np.isfinite(trace.y)] for trace in panel.series])
    if panel.limits is not None and known.size:
        plot['range'] = flat(panel.limits)
    elif known.size and np.ptp(known) < ROUNDING:
        plot['range'] = flat(np.round(known[0], 6) + np.array([-1.0, 1.0]))
    return plot


def _line(name: str, trace: Trace, colour: int, dashed: str) -> dict[str, Any]:
    time, value = thinned(trace.x, trace.y, POINTS)
    return {
        'name': name, 'colour': colour, 'command': dashed * (trace.role == COMMAND),
        'time': flat(time, 6), 'value': flat(value),
    }


SIZE_LIMIT = 32 * 1024 * 1024
"""Largest size of a file of a library [bytes]."""
_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Library:
    """A package whose file a page contains."""

    module: str
    file: str
    """Path below the folder of the module."""
    use: str
    part: tuple[str, str] = ('', '')
    """Texts before and behind it in the file of an archive; by default a whole plain file."""


LIBRARIES = (
    Library(
        'trimesh', 'resources/templates/viewer.zip', 'the robot in 3D, by three.js',
        ('<script>', 'var camera,controls,scene,renderer'),
    ),
    Library('plotly', 'package_data/plotly.min.js', 'the plots'),
)


def data_of(signals: Signals, robot: Robot, title: str | None = None) -> dict[str, Any]:
    """Return the data of a page in types of JSON.

    Notes of the robot become those of the page. ``title`` stands above the page instead of the name
    of the input.

    Raises
    ------
    ConfigError
        If there is nothing to show, or the robot is wrong.
    """
    page = page_of(signals, title, compares=True)
    frames, joints = frames_of(page), moving_joints(robot, signals)
    scene = scene_of(robot, joints)
    plots, left_out = plots_of(page)
    scale = Scale(scene['size'])
    arrows = list(arrows_of(robot, scale, signals, frames))
    if frames.step > SHORTEST:
        robot.notes.append(
            f'{page.end - page.begin:.0f} s are drawn as {len(frames.times)} frames, one every '
            f'{frames.step:.3g} s'
        )
    return {
        'title': page.title, 'timeLabel': page.time_label,
        'begin': page.begin, 'end': page.end, 'step': frames.step, 'count': len(frames.times),
        'phases': [[*flat(span[:2], 7), span.name] for span in page.phases],
        'events': [[*flat(mark.time, 7), mark.name] for mark in page.marks],
        'robot': scene, 'joints': joints_of(joints, frames),
        'motion': motion_of(signals, frames),
        'arrows': arrows, 'largest': scale.largest, 'palette': palette(),
        'canopies': list(canopies_of(parachutes_of(robot), scene['size'], signals, frames)),
        'plots': plots,
        'notes': [*robot.notes, *left_out],
    }


def html_of(data: dict[str, Any]) -> str:
    """Return a page with its data, libraries and their licences.

    Raises `SourceError` if a library is not installed.
    """
    # Packed by gzip in base64, a library has a third of its size.
    libraries = [
        base64.b64encode(gzip.compress(_text_of(library).encode(), 9, mtime=0)).decode()
        for library in LIBRARIES
    ]
    text = as_json(data)
    # Only scripts with this nonce run; a text among the data cannot know it.
    nonce = hashlib.sha256(text.encode()).hexdigest()[:32]
    parts = {
        'NONCE': nonce, 'CONNECT': "'self'" if data.get('live') else "'none'",
        'STYLE': _own('page.css'),
        'DATA': text,
        'LICENCES': as_json([_licence(library) for library in LIBRARIES]),
        'LIBRARIES': '\n'.join(
            f'<script type="text/plain" class="library">{packed}</script>' for packed in libraries
        ),
        'SCRIPT': ''.join(
            _own(f'{name}.js') for name in ('stage', 'scene', 'plots', 'live', 'page')
        ),
    }
    pieces = _own('page.html').split('@@')
    return ''.join(parts.get(piece, piece) for piece in pieces)


def require_libraries() -> None:
    """Raise `SourceError` if a library is not installed."""
    absent = [library.module for library in LIBRARIES if find_spec(library.module) is None]
    if absent:
        raise _absent(*absent)


def write_page(path: Path, data: dict[str, Any]) -> None:
    """Write a page; raise `SourceError` if that is impossible."""
    save_text(path, html_of(data))


def _own(name: str) -> str:
    return read_text(_HERE / name, SIZE_LIMIT)


def _absent(*modules: str) -> SourceError:
    return SourceError('pages', f'need {" and ".join(modules)}, {how_to_get(*modules)}')


def _text_of(library: Library) -> str:
    """Return the script of a library; raise `SourceError` if another release lacks it."""
    # The Python code of a library is not imported.
    spec = find_spec(library.module)
    if spec is None or not spec.submodule_search_locations:
        raise _absent(library.module)
    path = Path(spec.submodule_search_locations[0]) / library.file
    if not any(library.part):
        return read_text(path, SIZE_LIMIT)
    begin, end = library.part
    with zipfile.ZipFile(io.BytesIO(read_bytes(path, SIZE_LIMIT))) as archive:
        text = archive.read(archive.namelist()[0]).decode()
    found = text.partition(begin)[2].rpartition(end)[0]
    if not found:
        raise SourceError(str(path), f'has no script that ends before {end!r}')
    return found


def _licence(library: Library) -> dict[str, str]:
    """Return name, version, use and the texts of the licences of a library."""
    try:
        package = distribution(library.module)
    except PackageNotFoundError as error:
        raise SourceError(
            library.module, f'is not installed as a package, {how_to_get(library.module)}'
        ) from error
    texts = [
        read_text(Path(str(package.locate_file(file))), SIZE_LIMIT, 'replace')
        for file in package.files or ()
        if '.dist-info' in str(file) and 'LICENSE' in file.name.upper()
    ]
    return {
        'name': f'{library.module} {package.version}', 'use': library.use,
        'text': '\n\n'.join([*texts, *re.findall(r'^/\*.*?\*/', _text_of(library), re.DOTALL)]),
    }
