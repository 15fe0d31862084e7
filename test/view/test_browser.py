# SPDX-License-Identifier: Apache-2.0
"""Pages in a real browser, from the disk: they are drawn, follow the slider, and run nothing else.

Needs Chromium, on the path or as $CHROMIUM, and the packages of the extra `view`.
"""
from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from importlib.util import find_spec

import numpy as np
import pytest
from browser import Browser, chromium
from viewed import HOSTILE, flown

from markdown_pages import REPOSITORY
from propulsion_ros.drawing.figure import Mark
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.pictures.signals import Channel
from propulsion_ros.tools import cli
from propulsion_ros.tools.demo import reserved_domain
from propulsion_ros.urdf.xml import Description
from propulsion_ros.view.live import scene_data
from propulsion_ros.view.page import LIBRARIES, data_of, html_of, write_page
from propulsion_ros.view.robot import Robot, robot_of
from propulsion_ros.view.server import Server

pytestmark = pytest.mark.slow
MISSING = [library.module for library in LIBRARIES if find_spec(library.module) is None]
SIZE_LIMIT = 5_000_000


@pytest.fixture
def browser(tmp_path):
    if chromium() is None:
        pytest.skip('NOT TESTED: no page was opened, Chromium is absent (apt install chromium)')
    if MISSING:
        pytest.skip(f'NOT TESTED: no page was opened, {", ".join(MISSING)} is not installed')
    browser = Browser(tmp_path / 'profile')
    try:
        yield browser
    finally:
        browser.close()


def cursor(browser):
    """Return where the cursor of the first plot is [px]."""
    return browser.run("parseFloat(document.querySelector('.cursor').style.left)")


def move_slider(browser, share):
    browser.run(
        'var s = document.getElementById("slider");'
        f's.value = Number(s.min) + {share} * (s.max - s.min); s.dispatchEvent(new Event("input"))'
    )
    # Two frames later it is drawn.
    browser.run('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))')


def check_page(browser, path):
    """Open a page from the disk, move its slider, and look at both pictures."""
    assert path.stat().st_size < SIZE_LIMIT
    assert browser.open(f'file://{path}#t=0') == 'ready'
    seen = {}
    for share in (0.1, 0.6):
        move_slider(browser, share)
        seen[share] = browser.picture(), cursor(browser), browser.run(
            '[...document.querySelectorAll(".legend b")].map(each => each.textContent).join()')
    (before, left, values), (after, right, others) = seen.values()
    scene = before[60:600, :800].reshape(-1, 3)
    # The sky alone has a few shades of one hue.
    assert len(np.unique(scene // 16, axis=0)) > 30
    assert np.any(before[60:600, :800] != after[60:600, :800])
    assert right > left + 100.0
    assert values != others
    assert not browser.errors
    assert [address.partition('#')[0] for address in browser.requests] == [f'file://{path}']


@pytest.mark.parametrize('vehicle', VEHICLES)
def test_the_page_of_a_demo_is_drawn_and_follows_its_slider(browser, tmp_path, vehicle):
    path = tmp_path / f'{vehicle}.html'
    assert cli.main([
        'demo', '--vehicle', vehicle, '--output', str(tmp_path), '--html', str(path)
    ]) == 0
    check_page(browser, path)
    assert browser.run('view.scene.stage.scene.fog !== null') == (vehicle == 'rov')
    legend = browser.run('document.querySelector(".legend").textContent')
    assert ('target' in legend) == (vehicle in ('rov', 'quadrotor'))
    browser.run('document.querySelector("[data-camera=whole]").click()')
    assert browser.run('byId("key").textContent').endswith('the pink dot is the robot')
    # The path has a width, of a robot that begins at rest too.
    ring = browser.run('[...view.scene.tube.geometry.attributes.position.array.slice(-21)]')
    assert np.ptp(np.reshape(ring, (7, 3)), axis=0).max() > 0.0


def test_the_live_page_follows_a_graph_that_begins_anew(browser, tmp_path):
    with reserved_domain() as domain:
        environment = {**os.environ, 'ROS_DOMAIN_ID': str(domain)}
        live = subprocess.Popen(
            [sys.executable, '-m', 'propulsion_ros.tools.cli', 'view', '--live', '--model',
             'quadrotor'], stdout=subprocess.PIPE, text=True, env=environment,
        )
        try:
            browser.open(live.stdout.readline().split()[1])
            for _ in range(2):
                fly_for(3.0, environment)
                # Each flight begins at 0 s, and was seen to its end.
                assert float(browser.run('document.documentElement.dataset.time')) == (
                    pytest.approx(3.0, abs=0.5))
            plots = browser.run('document.querySelectorAll(".plot").length')
            assert plots >= 3
            assert len(np.unique(browser.picture()[60:600, :800].reshape(-1, 3), axis=0)) > 100
            assert not browser.errors
        finally:
            live.terminate()
            assert live.wait(30.0) == 0


def test_the_live_page_draws_what_is_out_of_order(browser):
    """Two simulations in one domain: time to and fro, plots that come and go, odd values."""
    data = scene_data(robot_of('quadrotor'), 'live')
    server = Server(html_of(data))
    arrows = [[[0, 0, 0], [0, 0, 1], 0.1, 3]] * len(data['arrows'])

    def send(time_s, names, value):
        server.send(json.dumps({
            'time': time_s, 'phase': '', 'events': [], 'position': [0, 0, 1], 'isKnown': True,
            'quaternion': [0, 0, 0, 1], 'joints': {}, 'canopies': [], 'arrows': arrows, 'plots': [
                {'title': 'thrust [N]', 'lines': [
                    {'name': name, 'colour': i, 'command': False, 'value': value, 'time': None}
                    for i, name in enumerate(names)
                ]}
            ] if names else [],
        }))

    try:
        browser.open(server.url)
        values = [1.0, None, 1e99, -1e99, 0.0]
        for i in range(60):
            # Of two clocks, in their own order, and each with its own plots.
            send((100.0 if i % 2 else 5.0) + 0.1 * i, ('a', 'b')[: i % 4], values[i % 5])
            browser.run('window.dispatchEvent(new Event("resize"))')
        # What the library throws ends neither the page nor its plots.
        browser.run(
            'var react = Plotly.react, thrown = 0;'
            'Plotly.react = () => { Plotly.react = react; thrown += 1; throw Error("once"); }'
        )
        for i in range(8):
            send(150.0 + i, ('a', 'a'), 3.0)
            time.sleep(0.2)
        assert browser.run('thrown') == 1
        send(200.0, ('a', 'a'), 3.0)
        browser.wait('document.documentElement.dataset.time === "200.000"')
        browser.wait('document.querySelectorAll(".plot").length === 1')
        assert not browser.errors
    finally:
        server.close()


def fly_for(seconds, environment):
    """Fly a quadrotor that has no controller; it falls no deeper than the ground."""
    done = subprocess.run(
        [sys.executable, '-m', 'propulsion_ros.tools.cli', 'fly', 'urdf/quadrotor.urdf.xacro',
         '--duration', str(seconds), '--real-time-factor', '1'],
        capture_output=True, text=True, check=False, env=environment, timeout=300.0, cwd=REPOSITORY,
    )
    assert done.returncode == 0, done.stderr


def test_what_is_hostile_in_a_recording_does_not_run(browser, tmp_path):
    signals = flown()
    attack = '</script><script>window.hit = 1</script><img src=x onerror="window.hit=1">'
    for name in (HOSTILE, attack, f'<a href="javascript:window.hit=1">{attack}</a>'):
        for t in (0.0, 10.0):
            signals.add(Channel(name, 'effort', name), t, 1.0)
        signals.flight.marks.append(Mark(5.0, name))
        signals.flight.phases.append(Mark(1.0, name))
    path = tmp_path / 'hostile.html'
    write_page(path, data_of(signals, robot_of('quadrotor'), attack))
    check_page(browser, path)
    assert browser.run('window.hit === undefined')
    assert browser.run('document.querySelectorAll("img, a[href]").length') == 0
    assert browser.run('document.getElementById("title").textContent') == attack


def test_ten_thousand_links_and_a_mesh_are_drawn(browser, tmp_path):
    pytest.importorskip('trimesh')
    (tmp_path / 'a.obj').write_text('v 0 0 0\nv 100 0 0\nv 0 100 0\nv 0 0 100\nf 1 2 3\nf 1 2 4\n')
    links = ''.join(
        f'<link name="l{i}"><visual><origin xyz="{i % 100} {i // 100} 0"/><geometry>'
        f'<box size=".5 .5 .5"/></geometry></visual></link>'
        f'<joint name="j{i}" type="fixed"><parent link="b"/><child link="l{i}"/></joint>'
        for i in range(10_000)
    )
    text = (
        '<robot name="r"><link name="b"><visual><geometry><mesh filename="a.obj"/></geometry>'
        f'</visual></link>{links}</robot>'
    )
    path = tmp_path / 'links.html'
    write_page(path, data_of(flown(), Robot(Description('r.urdf', text), tmp_path)))
    check_page(browser, path)
