# SPDX-License-Identifier: Apache-2.0
"""The page for a browser: what it holds of a recording, and that nothing of it can run."""
from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest
from viewed import HOSTILE, flown

from markdown_pages import REPOSITORY
from propulsion_ros.drawing.figure import PUBLISHED, Mark, Page, Panel, Trace
from propulsion_ros.pictures.signals import Channel, Fit, Placed, Signals
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.tools import cli
from propulsion_ros.urdf.xml import Description
from propulsion_ros.view import page
from propulsion_ros.view.motion import FRAMES
from propulsion_ros.view.numbers import as_json, flat, thinned
from propulsion_ros.view.page import Library, data_of, html_of, plots_of
from propulsion_ros.view.robot import PLAIN_ROBOT, Robot, robot_in, robot_of, scene_of


@pytest.fixture
def libraries(tmp_path, monkeypatch):
    """Stand two small files for the libraries, which need not be installed."""
    for name in ('a', 'b'):
        (tmp_path / name).mkdir()
        (tmp_path / name / 'x.js').write_text(f'const {name} = 1;')
    monkeypatch.setattr(page, 'LIBRARIES', (Library('a', 'x.js', 'c'), Library('b', 'x.js', 'd')))
    monkeypatch.setattr(page, 'find_spec', lambda module: SimpleNamespace(
        submodule_search_locations=[str(tmp_path / module)]
    ))
    monkeypatch.setattr(page, '_licence', lambda library: {
        'name': library.module, 'use': library.use, 'text': 'permission </script> is granted'})


def read_back(html):
    return json.loads(re.search(
        r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)[1])


def test_a_page_has_the_body_its_thrusts_and_its_plots():
    data = data_of(flown(), robot_of('quadrotor'))
    assert (data['begin'], data['end'], data['step'], data['count']) == (0.0, 10.0, 0.02, 501)
    heights = data['motion']['position'][2::3]
    assert heights[0] == 0
    assert heights[250] == pytest.approx(5.0)
    assert heights[-1] == pytest.approx(10.0)
    # Half way round, by the shorter way between each two samples.
    assert np.abs(data['motion']['quaternion'][4 * 250:4 * 251]) == pytest.approx(
        [0.0, 0.0, 1.0, 0.0], abs=1e-3)
    first, *_, last = data['arrows']
    assert (first['name'], first['group'], first['direction']) == (
        'front_left', 'rotors', [[0], [0], [1]])
    # The largest thrust of the flight is half as long as the robot.
    assert last['length'] == flat([data['robot']['size'] / 2.0])
    assert first['length'] == flat([data['robot']['size'] / 4.0])
    # What moves and pushes first, and at the end what never changes.
    assert [plot['title'] for plot in data['plots']] == [
        'position [m]', 'rotors: speed [rad/s]', 'attitude [deg]',
        'rotors: thrust [N]', 'velocity in the world [m/s]', 'rate of turn [deg/s]',
    ]
    assert {line['command'] for line in data['plots'][3]['lines']} == {'', 'command'}
    assert data['robot']['frames'][0]['parent'] == -1
    assert {shape['kind'] for shape in data['robot']['shapes']} == {'box', 'cylinder'}
    assert not data['notes']


def test_a_long_recording_is_thinned_and_that_is_reported():
    data = data_of(flown(until=100.0), robot_of('quadrotor'))
    assert data['count'] == FRAMES + 1
    assert data['notes'] == ['100 s are drawn as 1501 frames, one every 0.0667 s']
    assert max(len(line['time']) for line in data['plots'][3]['lines']) <= 900


def test_thinning_keeps_every_peak():
    value = np.zeros(10_000)
    value[[1234, 8765]] = 5.0, -7.0
    time, kept = thinned(np.arange(10_000.0), value, 100)
    assert len(kept) <= 102
    assert (kept.max(), kept.min()) == (5.0, -7.0)
    assert time.tolist() == sorted(time)


def test_joints_of_a_state_move_the_links_below_them():
    signals = Signals('rocket')
    for t in (0.0, 1.0):
        signals.add(Channel('boosters', 'position', 'booster_1_gimbal_x'), t, 0.05 * t)
        signals.add(Channel('boosters', 'effort', 'booster_1'), t, 100.0)
        signals.add(Channel('boosters', 'effort', 'booster_2'), t, 100.0)
    data = data_of(signals, robot_of('rocket'))
    (frame,) = [row for row in data['robot']['frames'] if 'joint' in row]
    assert frame['joint'] == 'booster_1_gimbal_x'
    assert data['joints']['booster_1_gimbal_x'][-1] == 0.05
    assert any(shape['frame'] == 1 for shape in data['robot']['shapes'])
    # The thrust turns with it, and its flame goes the other way.
    turned = next(arrow for arrow in data['arrows'] if arrow['name'] == 'booster_1')
    assert len(turned['direction'][1]) == data['count']
    assert turned['flame']
    assert 'fins: not drawn, the input has no state of it' in data['notes']


def test_a_parachute_opens_after_it_fired():
    signals = flown()
    signals.flight.fired['main'] = 2.0
    signals.flight.fired['other'] = 4.0
    data = data_of(signals, robot_of('rocket'))
    main, other = data['canopies']
    # config/rocket.yaml: 0.8 s to the stretched line, 1.5 s more to 9 m^2.
    radius = dict(zip(np.round(0.02 * np.arange(501), 2), main['radius'], strict=True))
    assert (radius[2.8], radius[9.0]) == (0, pytest.approx(math.sqrt(9.0 / math.pi), rel=1e-4))
    assert 0.0 < radius[3.5] < radius[4.2]
    assert other['radius'][-1] > 0.0


def test_a_log_without_a_place_is_drawn_at_its_altitude():
    signals = Signals('log')
    for t in range(5):
        signals.add(Channel('', 'altitude', 'log'), float(t), 10.0 * t)
    data = data_of(signals, robot_in(signals))
    assert data['motion']['position'][-3:] == [0, 0, 40]
    assert data['notes'] == [
        'the input has no robot_description, so a box stands for the robot; give --model']


def test_a_flight_is_drawn_with_what_was_predicted_and_found():
    signals = Signals('throw')
    for t in range(3):
        signals.add(Channel('', 'altitude', 'log'), float(t), 5.0 * t * (2.0 - t))
        signals.flight.fits.append(Fit(float(t), 5.0 * t * (2.0 - t), 10.0 - 10.0 * t, -10.0))
        signals.flight.predictions.append((float(t), 1.0, 5.0))
    signals.flight.vertices.append((1.0, 5.0))
    plot = data_of(signals, Robot(PLAIN_ROBOT))['plots'][0]
    assert [(mark['name'], mark['time'], mark['value']) for mark in plot['marks']] == [
        ('apogee predicted', [1], [5]), ('apogee found', [1], [5]),
    ]
    assert plot['range'] == pytest.approx([-0.8, 13.0], abs=0.2)


def test_a_panel_over_another_quantity_than_time_is_left_out():
    trace = Trace('a', PUBLISHED, np.arange(3.0), np.arange(3.0))
    page = Page('', 'time [s]', 0.0, 2.0, panels=(
        Panel('over mass', (trace,), across='mass [kg]'), Panel('over time', (trace,)),
    ))
    plots, notes = plots_of(page)
    assert ([plot['title'] for plot in plots], notes) == (['over time'], [])


@pytest.mark.parametrize(('model', 'medium'), [
    ('quadrotor', 'air'), ('freeflyer', 'air'), ('rov', 'water'), ('azimuth_boat', 'surface'),
])
def test_a_robot_is_in_what_its_fluid_is(model, medium):
    folder = REPOSITORY / 'examples' / model
    robot = robot_of(str(folder / f'{model}.urdf'), [folder / f'{model}.yaml']) if (
        folder.is_dir()) else robot_of(model)
    assert scene_of(robot, ())['medium'] == medium


def test_what_is_no_place_is_left_out():
    signals = flown()
    good = list(signals.places['vehicle'])
    for x, qw in ((math.nan, 1.0), (1e30, 1.0), (0.0, 0.0)):
        signals.places['vehicle'].append(Placed(5.0, x, 0.0, 0.0, 0.0, 0.0, 0.0, qw))
    assert data_of(signals, Robot(PLAIN_ROBOT))['motion']['position'][:3] == [1, 2, 0]
    signals.places['vehicle'] = good[::-1]
    again = data_of(signals, Robot(PLAIN_ROBOT))['motion']
    assert again['position'][-3:] == [1, 2, 10]


def test_nothing_of_a_recording_can_run(libraries):
    signals = flown()
    signals.add(Channel(HOSTILE, 'effort', HOSTILE), 0.0, 1.0)
    signals.flight.marks.append(Mark(1.0, HOSTILE))
    text = (
        '<robot name="r"><link name="&lt;/script&gt;"><visual><geometry><box size="1 1 1"/>'
        '</geometry></visual></link></robot>'
    )
    data = data_of(signals, Robot(Description('r.urdf', text)), HOSTILE)
    html = html_of(data)
    assert read_back(html) == data
    assert data['title'] == HOSTILE
    # The page's own scripts, and no other.
    nonce = re.search(r"script-src 'nonce-(\w+)'", html)[1]
    tags = re.findall(r'<script[^>]*>', html)
    assert tags == [
        '<script type="application/json" id="data">',
        '<script type="application/json" id="licence-data">',
        *['<script type="text/plain" class="library">'] * 2, f'<script nonce="{nonce}">',
    ]
    assert html.count('</script>') == len(tags)
    assert 'alert("1")' not in html.split('id="data"')[0]
    for escaped in ('\u2028', '<b>', "default-src 'self'", 'unsafe-eval'):
        assert escaped not in html
    assert "connect-src 'none'" in html


@pytest.mark.parametrize('text', ['<', '>', '&', '\u2028', '\u2029', '</SCRIPT ', '<!--', ']]>'])
def test_json_of_any_text_ends_no_element(text):
    written = as_json({text: [text]})
    assert json.loads(written) == {text: [text]}
    assert not set(written) & set('<>&\u2028\u2029')


def test_the_same_input_gives_the_same_page(libraries):
    assert html_of(data_of(flown(), robot_of('rov'))) == html_of(data_of(flown(), robot_of('rov')))


def test_ten_thousand_links_are_drawn_as_far_as_they_can_be_seen():
    links = ''.join(
        f'<link name="l{i}"><visual><geometry><box size="1 1 1"/></geometry></visual></link>'
        + (f'<joint name="j{i}" type="fixed"><parent link="l{i // 2}"/><child link="l{i}"/></joint>'
           if i else '')
        for i in range(10_000)
    )
    robot = Robot(Description('r.urdf', f'<robot name="r">{links}</robot>'))
    assert len(scene_of(robot, ())['shapes']) == 2000
    assert robot.notes == ['10000 shapes, the first 2000 are drawn']


def test_a_wrong_description_is_named_with_its_line():
    text = '<robot name="r">\n<link name="a">\n<visual/></link></robot>'
    robot = Robot(Description('r.urdf', text))
    with pytest.raises(SourceError, match=r'^r.urdf:3: robot/link\[name=a\]/visual/geometry'):
        scene_of(robot, ())


def test_a_description_in_the_bag_is_taken_unless_there_is_a_model():
    signals = flown()
    signals.robot_description = PLAIN_ROBOT.text
    assert robot_in(signals).description.name == 'robot_description of a/flight.csv'
    assert 'rotor' in robot_in(signals, 'quadrotor').description.text


TABLE = 'stamp,a.effort,wrench.force.x\n0,1,2\n1,2,3\n'


def test_the_command_writes_a_page(libraries, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'out.csv').write_text(TABLE)
    assert cli.main(['view', 'out.csv', '--html', 'out.html', '--title', 'mine']) == 0
    assert read_back((tmp_path / 'out.html').read_text())['title'] == 'mine'
    assert 'give --model' in capsys.readouterr().err


def test_a_library_that_is_absent_is_named_with_the_words_for_pip(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(page, 'find_spec', lambda name: None)
    (tmp_path / 'out.csv').write_text(TABLE)
    assert cli.main(['view', 'out.csv']) == 1
    err = capsys.readouterr().err
    assert err.startswith(
        "propulsion_ros view: pages: need trimesh and plotly, pip install 'trimesh"
    )
    assert err.endswith(" 'plotly>=5.20'\n")
    assert not (tmp_path / 'view.html').exists()


def test_a_page_holds_the_libraries_and_their_licences():
    for library in page.LIBRARIES:
        if find_spec(library.module) is None:
            pytest.skip(f'{library.module} is not installed')
    html = html_of(data_of(flown(), robot_of('quadrotor')))
    assert len(html) < 5_000_000
    licences = json.loads(re.search(r'id="licence-data">(.*?)</script>', html)[1])
    texts = ' '.join(each['text'] for each in licences)
    assert texts.count('Permission is hereby granted') >= 2
    assert all(name in texts for name in ('Three.js Authors', 'Michael Dawson-Haggerty', 'Plotly'))


def test_a_library_that_another_release_has_otherwise_is_named(monkeypatch):
    trimesh = page.LIBRARIES[0]
    monkeypatch.setattr(page, 'LIBRARIES', [replace(trimesh, part=('<script>', 'not there'))])
    with pytest.raises(SourceError, match=r'viewer\.zip: has no script that ends before'):
        html_of(data_of(flown(), robot_of('quadrotor')))
