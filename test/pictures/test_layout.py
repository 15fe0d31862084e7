# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

from markdown_pages import REPOSITORY
from mistakes import TEXTS
from propulsion_ros.tools import cli
from propulsion_ros.tools.check import _layout
from propulsion_ros.urdf.visuals import shapes_of_urdf

pytest.importorskip('matplotlib')


@pytest.fixture
def robot(tmp_path):
    path = tmp_path / 'robot.urdf'
    path.write_text(TEXTS['robot'])
    return path


def test_show_and_picture_of_a_robot(robot, tmp_path, capsys):
    picture = tmp_path / 'layout.png'
    assert cli.main(['check', str(robot), '--show', '--picture', str(picture)]) == 0
    assert picture.read_bytes().startswith(b'\x89PNG')
    assert 'rotors  front     0.2 0 0    0 0 1  9' in capsys.readouterr().out


def test_show_takes_the_parameters_of_a_file(robot, tmp_path, capsys):
    settings = tmp_path / 'robot.yaml'
    settings.write_text('rotors:\n  ros__parameters: {max_thrust: [3.5]}\n')
    assert cli.main(['check', str(settings), '--model', str(robot), '--show']) == 0
    assert 'rotors  front     0.2 0 0    0 0 1  3.5' in capsys.readouterr().out


def test_a_robot_with_a_fault_is_not_shown(robot, capsys):
    robot.write_text(TEXTS['robot'].replace('<max_thrust>9', '<max_thrust>-9'))
    assert cli.main(['check', str(robot), '--show']) == 1
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_show_needs_one_robot(tmp_path, capsys):
    settings = tmp_path / 'robot.yaml'
    settings.write_text(
        'rotors:\n  ros__parameters: {names: [a], max_thrust: [3.5], motor_constant: [1e-5]}\n'
    )
    assert cli.main(['check', str(settings), '--show']) == 1
    assert '--show and --picture: expected one robot description, got 0' in capsys.readouterr().err


def test_without_matplotlib_one_line_names_it(robot, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, 'matplotlib', None)
    monkeypatch.delitem(sys.modules, 'propulsion_ros.pictures.layout', raising=False)
    assert cli.main(['check', str(robot), '--picture', str(tmp_path / 'layout.png')]) == 1
    assert "pip install 'matplotlib>=3.6'" in capsys.readouterr().err


@pytest.mark.parametrize(('vehicle', 'turns'), [
    ('quadrotor', [-1, 1, 1, -1]), ('rov', [0] * 8), ('cubesat', [0] * 12),
])
def test_what_turns_is_drawn_as_it_turns(vehicle, turns):
    from propulsion_ros.pictures.layout import _turns

    robot = _layout([REPOSITORY / f'urdf/{vehicle}.urdf.xacro'], None)
    assert _turns(robot.groups[0]).tolist() == turns


def test_a_shape_is_drawn_however_thin(tmp_path, monkeypatch):
    from propulsion_ros.pictures import layout

    robot = _layout([REPOSITORY / 'urdf/quadrotor.urdf.xacro'], None)
    flat = np.array([[x, y, 0.0] for x in (0.0, 1.0) for y in (0.0, 1.0)] * 2)
    layout.draw_layout(replace(robot, shapes={'a': [(flat, flat)]}), 'thin', tmp_path / 'a.png')
    assert (tmp_path / 'a.png').stat().st_size > 10_000


def test_ways_of_coaxial_rotors_lie_apart():
    from propulsion_ros.pictures.layout import _figure_of, _turns, plt

    robot = _layout([REPOSITORY / 'urdf/quadrotor.urdf.xacro'], None)
    whole = robot.groups[0]
    pairs = replace(whole.layout, position=whole.layout.position[[0, 0, 2, 2]])
    figure = _figure_of(replace(robot, groups=[replace(whole, layout=pairs)]), 'coaxial')
    rings = [line for line in figure.axes[0].lines if not isinstance(line.get_marker(), str)]
    sizes = {(*line.get_xydata()[0], line.get_markersize()) for line in rings}
    # Those of a pair turn against each other: of one the outline goes down where it begins.
    rises = [np.diff(line.get_marker().vertices[:2, 1])[0] > 0.0 for line in rings]
    plt.close(figure)
    assert len(sizes) == 4
    assert rises == [turn < 0.0 for turn in _turns(whole)]


def test_rotors_are_drawn_as_circles_from_above():
    from propulsion_ros.pictures.layout import _figure_of, plt

    robot = _layout([REPOSITORY / 'urdf/quadrotor.urdf.xacro'], None)
    figure = _figure_of(robot, 'circles')
    outlines = [patch.get_xy()[:-1] for patch in figure.axes[0].patches]
    plt.close(figure)
    for point in robot.groups[0].layout.position[:, :2]:
        far = [np.linalg.norm(outline - point, axis=1) for outline in outlines]
        assert any(len(each) > 20 and np.allclose(each, 0.128, atol=1e-3) for each in far)


def test_a_ball_is_drawn_as_a_circle_from_any_side():
    (ball,), = shapes_of_urdf(
        '<robot name="r"><link name="a"><visual><origin xyz="1 2 3"/><geometry>'
        '<sphere radius="0.5"/></geometry></visual></link></robot>', 'a',
    ).values()
    assert np.allclose(np.linalg.norm(ball[1] - [1.0, 2.0, 3.0], axis=1), 0.5)
    assert np.allclose(np.ptp(ball[1], axis=0), 1.0, atol=0.01)


def test_numbers_of_near_rotors_stand_beside_the_rightmost():
    from propulsion_ros.pictures.layout import _figure_of, plt

    robot = _layout([REPOSITORY / 'urdf/quadrotor.urdf.xacro'], None)
    whole = robot.groups[0]
    near = np.array([[0.2, -0.2, 0.0], [0.2, 0.2, 0.0], [0.21, -0.19, 0.0], [0.2, 0.21, 0.0]])
    pairs = replace(whole.layout, position=near)
    figure = _figure_of(replace(robot, groups=[replace(whole, layout=pairs)]), 'near')
    places = {each.get_text(): each.xy[0] for each in figure.axes[0].texts}
    plt.close(figure)
    assert [places['1, 3'], places['2, 4']] == [0.21, 0.2]


def test_fins_have_arrows_and_what_points_at_the_reader_has_none():
    from propulsion_ros.pictures.layout import _figure_of, plt

    robot = _layout([REPOSITORY / 'urdf/rov.urdf.xacro'], None)
    figure = _figure_of(robot, 'arrows')
    # Eight thrusters, of which four push up, and two fins that push the stern down.
    assert [sum(bool(each.arrowprops) for each in axis.texts) for axis in figure.axes[:3]] == [
        4, 10, 10]
    plt.close(figure)


def test_mass_and_pressure_of_a_rocket_have_their_places():
    from propulsion_ros.pictures.layout import _figure_of

    folder = REPOSITORY / 'examples/two_stage'
    robot = _layout([folder / 'two_stage.yaml'], folder / 'two_stage.urdf')
    figure = _figure_of(robot, 'rocket')
    of_mass, of_pressure = (
        next(line for line in figure.axes[1].lines if line.get_label() == f'centre of {what}')
        for what in ('mass', 'pressure')
    )
    assert of_pressure.get_xydata().tolist() == [[0.0, 1.2]]
    assert of_mass.get_xydata()[0, 1] > 1.2
