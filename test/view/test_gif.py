# SPDX-License-Identifier: Apache-2.0
"""A flight as a short loop: its pictures differ, it is small, and it needs no browser."""
from __future__ import annotations

import itertools

import numpy as np
import pytest
from viewed import flown

from parts import few_of
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.pictures.signals import Mark
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.view.page import data_of
from propulsion_ros.view.robot import robot_of
from propulsion_ros.view.solids import arrow, polygons_of

pytest.importorskip('matplotlib')
from propulsion_ros.view import gif

TURN = [0.0, 0.0, 0.0, 1.0]


def write(path, monkeypatch, vehicle='quadrotor'):
    monkeypatch.setattr(gif, 'PICTURES', 5)
    signals = flown()
    signals.flight.fired['main'] = 1.0
    gif.write_gif(path, data_of(signals, robot_of(vehicle)))


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


def test_a_place_that_is_none_is_named(tmp_path, monkeypatch):
    with pytest.raises(SourceError, match='cannot be written'):
        write(tmp_path / 'no' / 'a.gif', monkeypatch)


def test_each_phase_has_its_share_of_the_pictures():
    signals = flown(until=100.0)
    signals.flight.phases = [Mark(0.0, 'preflight'), Mark(10.0, 'launch'), Mark(14.0, 'flight')]
    signals.flight.marks = [Mark(10.0, 'liftoff')]
    data = data_of(signals, robot_of('quadrotor'))
    times = data['begin'] + data['step'] * np.array(gif.chosen_frames(data))
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
