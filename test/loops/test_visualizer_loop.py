# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import pytest

from fake_host import MS, FakeHost, message
from propulsion_ros.drawing.drawn_blocks import drawn_blocks
from propulsion_ros.graph.family_params import loop_params_of
from propulsion_ros.graph.share import load_robot_description, share_directory
from propulsion_ros.loops.visualizer_loop import VisualizerLoop
from propulsion_ros.loops.visualizer_params import VisualizerParams
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.urdf.reader import actuators_from_urdf

NAMES = ['front_left', 'front_right', 'rear_left', 'rear_right']
QUADROTOR = load_robot_description(share_directory() / 'urdf' / 'quadrotor.urdf.xacro')


class Scene:
    """A visualizer of the quadrotor, which somebody watches."""

    def __init__(self, watched=True, **parameters):
        self.host = FakeHost()
        self.host.subscriptions['~/markers'] = int(watched)
        params = VisualizerParams(**{
            'robot_description': QUADROTOR, 'state_topics': ['rotors/state'],
            'phase_topic': 'phase', **parameters,
        })
        blocks = drawn_blocks(actuators_from_urdf(QUADROTOR, loop_params_of))
        self.loop = self.host.run(VisualizerLoop(params, blocks, self.host))

    def deliver(self, ms, efforts=(3.0, 3.0, 3.0, 3.0)):
        state = message(ms * MS, name=NAMES, position=[], effort=list(efforts))
        self.host.deliver('rotors/state', state)

    @property
    def pictures(self):
        return [picture for _, picture in self.host.of('~/markers')]

    @property
    def stamps(self):
        return [stamp_ns // MS for stamp_ns, _ in self.host.of('~/markers')]


def is_grey(picture):
    red, green, blue, _ = picture[0][1].colour
    return red == green == blue


def test_thrusts_are_arrows_of_their_stamp_and_the_phase_is_text():
    scene = Scene(arrow_length=0.5)
    scene.host.deliver('phase', message(data='flight'))
    scene.deliver(700, (7.4, 3.7, 0.0, 0.0))
    (picture,) = scene.pictures
    assert [(stamp_ns, shape.kind) for stamp_ns, shape in picture] == [
        *[(700 * MS, 'arrow')] * 4, (700 * MS, 'text')
    ]
    lengths = [shape.length for _, shape in picture[:4]]
    assert lengths == pytest.approx([0.5, 0.25, 0.0, 0.0])
    assert {shape.width for _, shape in picture[:4]} == {0.02}
    assert picture[-1][1].text == 'flight'


def test_pictures_keep_their_distance_in_stamps_and_in_wall_time():
    scene = Scene()
    for ms in range(0, 500, 20):
        scene.deliver(ms)
        scene.host.wait(0.02)
    assert scene.stamps == [0, 100, 200, 300, 400]
    # Ten times as fast as the wall.
    for ms in range(500, 3000, 20):
        scene.deliver(ms)
        scene.host.wait(0.002)
    assert len(scene.stamps) == pytest.approx(5 + 3, abs=1)


def test_state_of_a_silent_robot_turns_grey_once():
    scene = Scene()
    scene.deliver(0)
    scene.host.wait(5.0)
    assert [is_grey(picture) for picture in scene.pictures] == [False, True]
    scene.deliver(6000)
    assert [is_grey(picture) for picture in scene.pictures] == [False, True, False]


def test_nothing_is_published_while_nobody_watches():
    scene = Scene(watched=False)
    scene.deliver(0)
    scene.host.wait(3.0)
    scene.host.deactivate()
    assert scene.pictures == []


def test_picture_is_removed_at_the_end_and_forgotten_at_the_next_start():
    scene = Scene()
    scene.deliver(700)
    scene.host.deactivate()
    assert scene.pictures[-1] == ()
    scene.deliver(710)
    assert len(scene.pictures) == 2
    scene.host.run(scene.loop)
    scene.deliver(720)
    assert scene.stamps[-1] == 720


@pytest.mark.parametrize(('ms', 'efforts', 'line'), [
    pytest.param(100, [math.nan] * 4, 'rotors: state refused: front_left: effort nan', id='NaN'),
    pytest.param(100, [1.0], 'rotors: state refused: effort: expected 4 values', id='too few'),
    pytest.param(2_145_000_000_000, [1.0] * 4, 'rotors refused: stamp', id='end of time'),
])
def test_bad_state_is_counted_and_the_last_good_one_stays(ms, efforts, line):
    scene = Scene()
    scene.deliver(0)
    scene.host.wait(0.2)
    scene.deliver(ms, efforts)
    assert scene.host.counts == {'refused': 1}
    assert scene.host.said('warn')[0].startswith(line)
    assert all(shape.length > 0.0 for _, shape in scene.pictures[-1][:4])


def test_health_names_what_is_silent():
    scene = Scene()
    assert [status[2] for status in scene.loop.health()] == ['no state of rotors']
    scene.deliver(0)
    assert [status[2] for status in scene.loop.health()] == ['ok']
    assert [status[2] for status in scene.loop.health()] == ['no state of rotors']


def test_wrong_count_of_topics_is_refused():
    with pytest.raises(ConfigError) as error:
        Scene(state_topics=['a', 'b'])
    assert str(error.value) == "parameter 'state_topics': expected one for each of rotors, got 2"
