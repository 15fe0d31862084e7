# SPDX-License-Identifier: Apache-2.0
"""A flight as a short loop: its pictures differ, it is small, and it needs no browser."""
from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from viewed import flown

from markdown_pages import REPOSITORY
from parts import few_of
from propulsion_ros.drawing.figure import Mark, Page, Panel, Trace
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.pictures.panels import page_of
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.view.gif import arrow, polygons_of
from propulsion_ros.view.page import data_of
from propulsion_ros.view.robot import robot_of

pytest.importorskip('matplotlib')
from propulsion_ros.view import gif

TURN = [0.0, 0.0, 0.0, 1.0]


def write(path, monkeypatch, vehicle='quadrotor', page=None):
    monkeypatch.setattr(gif, 'PICTURES', 5)
    signals = flown()
    signals.flight.fired['main'] = 1.0
    gif.write_gif(path, data_of(signals, robot_of(vehicle)), page or page_of(signals))


@pytest.mark.parametrize('vehicle', few_of(VEHICLES, 3))
def test_a_loop_moves_and_is_small(tmp_path, monkeypatch, vehicle):
    from PIL import Image

    write(tmp_path / 'a.gif', monkeypatch, vehicle)
    assert (tmp_path / 'a.gif').stat().st_size < 2_000_000 * 5 / 80
    with Image.open(tmp_path / 'a.gif') as loop:
        assert (loop.n_frames, loop.info['loop'], loop.size) == (5, 0, (720, 380))
        pictures = []
        for i in range(5):
            loop.seek(i)
            pictures.append(np.asarray(loop.convert('RGB')))
    for before, after in itertools.pairwise(pictures):
        # The robot or its path, and the cursor of the plots.
        assert np.any(before[40:, :400] != after[40:, :400])
        assert np.any(before[40:, 440:] != after[40:, 440:])
    assert len(np.unique(pictures[2][40:, :400].reshape(-1, 3), axis=0)) > 15


@pytest.mark.parametrize('vehicle', VEHICLES)
def test_the_pages_have_a_loop_of_each_vehicle(vehicle):
    from PIL import Image

    path = REPOSITORY / f'docs/{vehicle}.gif'
    assert path.stat().st_size < 2_000_000
    with Image.open(path) as loop:
        assert loop.n_frames > 60
        before = np.asarray(loop.convert('RGB'))
        loop.seek(loop.n_frames // 5)
        assert np.mean(np.asarray(loop.convert('RGB'))[40:, :400] != before[40:, :400]) > 0.02


def test_a_loop_begins_with_its_page_and_has_its_first_panels(tmp_path, monkeypatch):
    given = Trace('given', 'published', np.arange(5.0, 10.0), np.arange(5.0))
    page = Page('', 'time [s]', 5.0, 10.0, panels=(
        Panel('A step', (given,), scale='force [N]'),
        Panel('A part of it', (given,), (6.0, 7.0), 'force [N]'),
        Panel('Two', (given, replace(given, label='wanted')), scale='force [N]'),
    ))
    data = data_of(flown(), robot_of('quadrotor'))
    assert data['step'] * gif.chosen_frames(data, page.begin)[0] == pytest.approx(5.0, abs=0.1)
    drawn = []
    monkeypatch.setattr(gif, 'draw_panel', lambda axis, page, panel, **_: drawn.append(panel))
    write(tmp_path / 'a.gif', monkeypatch, page=page)
    # The last one is drawn first, from below.
    assert [(panel.heading, len(panel.traces)) for panel in drawn] == [
        ('force [N]', 2), ('force [N]', 1), ('force [N]', 1)
    ]


def test_a_long_name_beside_a_plot_stays_in_the_picture(tmp_path, monkeypatch):
    given = Trace('given about any of the axes', 'published', np.arange(2.0), np.arange(2.0))
    page = Page('', 'time [s]', 0.0, 1.0, panels=(Panel('A', (given,), scale='force [N]'),) * 2)
    ends = []

    def close(figure):
        ends.extend(axis.get_tightbbox().x1 for axis in figure.axes[1:])
        figure.clear()

    monkeypatch.setattr(gif.plt, 'close', close)
    write(tmp_path / 'a.gif', monkeypatch, page=page)
    assert len(ends) == 2
    assert max(ends) <= 720.0


def test_a_place_that_is_none_is_named(tmp_path, monkeypatch):
    with pytest.raises(SourceError, match='cannot be written'):
        write(tmp_path / 'no' / 'a.gif', monkeypatch)


def test_each_phase_has_its_share_of_the_pictures():
    signals = flown(until=100.0)
    signals.flight.phases = [Mark(0.0, 'preflight'), Mark(10.0, 'launch'), Mark(14.0, 'flight')]
    signals.flight.marks = [Mark(10.0, 'liftoff')]
    data = data_of(signals, robot_of('quadrotor'))
    times = data['begin'] + data['step'] * np.array(gif.chosen_frames(data, data['begin']))
    assert times[0] == pytest.approx(9.5, abs=0.1)
    assert times[-1] == pytest.approx(100.0, abs=0.1)
    assert np.count_nonzero((times > 10.0) & (times < 14.0)) == pytest.approx(80 / 3, abs=2)
    assert np.all(np.diff(times) >= 0.0)


@pytest.mark.parametrize(('kind', 'size', 'extent'), [
    ('box', [1.0, 2.0, 3.0], [0.5, 1.0, 1.5]),
    ('cylinder', [0.5, 2.0], [0.5, 0.5, 1.0]),
    ('sphere', [0.5], [0.5, 0.5, 0.5]),
])
def test_polygons_fill_the_shape(kind, size, extent):
    shape = {'kind': kind, 'size': size, 'position': [1.0, 0.0, 0.0], 'quaternion': TURN}
    points = np.vstack(polygons_of(shape, []))
    assert points.max(axis=0) == pytest.approx(np.array([1.0, 0.0, 0.0]) + extent)
    assert points.min(axis=0) == pytest.approx(np.array([1.0, 0.0, 0.0]) - extent)


@pytest.mark.parametrize('along', np.vstack([np.eye(3), -np.eye(3), [[0.6, 0.0, 0.8]]]))
def test_an_arrow_ends_where_it_points(along):
    points = np.vstack(arrow(np.ones(3), along, 2.0, 0.1)) - 1.0
    assert (points @ along).max() == pytest.approx(2.0)
    assert (points @ along).min() == pytest.approx(0.0, abs=1e-12)
