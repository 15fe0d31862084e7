# SPDX-License-Identifier: Apache-2.0
import math

import pytest
from visualization_msgs.msg import Marker

from fake_host import MS, FakeHost, joints, message
from propulsion_ros.graph.executables import make_visualizer
from propulsion_ros.graph.share import read_description, share_directory
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.graph.wiring import robot_graph
from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.loops.ports import GivenParameters
from propulsion_ros.loops.visualizer_loop import Pace
from propulsion_ros.messages.encoders import make_encoder
from refusals import refusal

NAMES = ['front_left', 'front_right', 'rear_left', 'rear_right']
TOPICS = {
    'quadrotor': {'state_topics': ['rotors/state']},
    'rocket': {'state_topics': ['boosters/state', 'fins/state'], 'tank_topics': ['tank']},
}


class Scene:
    """A visualizer of a vehicle, which somebody watches."""

    def __init__(self, vehicle='quadrotor', watched=True, **parameters):
        self.host = FakeHost()
        self.host.subscriptions['~/markers'] = int(watched)
        model = share_directory() / 'urdf' / f'{vehicle}.urdf.xacro'
        self.loop = self.host.run(make_visualizer(GivenParameters('visualizer', {
            'robot_description': read_description(model).text, **TOPICS[vehicle],
            'phase_topic': 'phase', **parameters,
        }), self.host))

    def deliver(self, ms, efforts=(3.0, 3.0, 3.0, 3.0)):
        self.host.deliver('rotors/state', joints(ms * MS, NAMES, effort=efforts))

    @property
    def pictures(self):
        return [picture for _, picture in self.host.of('~/markers')]

    @property
    def stamps(self):
        return [stamp_ns // MS for stamp_ns, _ in self.host.of('~/markers')]

    @property
    def markers(self):
        """The newest picture as RViz receives it, by namespace and id."""
        picture = make_encoder(self.loop.outlets[0])(*self.host.of('~/markers')[-1])
        return {(marker.ns, marker.id): marker for marker in picture.markers}


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


@pytest.mark.parametrize('mass', [math.nan, math.inf, -1.0], ids=str)
def test_bad_tank_is_counted_and_the_last_good_one_stays(mass):
    scene = Scene('rocket')
    for m in (3.0, mass):
        scene.host.deliver('tank', message(0, inertia={'m': m}))
    assert scene.host.said('warn') == [f'tank: {mass} kg is no mass']
    assert [tank.mass for tank in scene.loop._tanks.values()] == [3.0]


def test_health_names_what_is_silent():
    scene = Scene()
    assert [status[2] for status in scene.loop.health()] == ['no state of rotors']
    scene.deliver(0)
    assert [status[2] for status in scene.loop.health()] == ['ok']
    assert [status[2] for status in scene.loop.health()] == ['no state of rotors']


@pytest.mark.parametrize(('parameters', 'said'), [
    pytest.param({'state_topics': ['a', 'b']},
                 "parameter 'state_topics': expected one for each of rotors, got 2", id='count'),
    pytest.param({'robot_description': '<robot/>'}, 'robot', id='no robot'),
    pytest.param({'params_files': ['/nowhere.yaml']}, '/nowhere.yaml: cannot be read', id='file'),
])
def test_wrong_parameter_is_named(parameters, said):
    assert said in refusal(Scene, **parameters)


def vector(start, end):
    return [end.x - start.x, end.y - start.y, end.z - start.z]


def test_thrusts_plumes_and_status_of_a_rocket_are_markers():
    scene = Scene('rocket')
    scene.host.deliver('tank', message(0, inertia={'m': 3.0}))
    scene.host.deliver('phase', message(data='flight'))
    gimbals = [f'booster_{i}_gimbal_{axis}' for i in (1, 2) for axis in 'xy']
    # As the boosters' node publishes it.
    scene.host.deliver('boosters/state', joints(
        1500 * MS,
        ['booster_1', 'booster_2', *gimbals, 'booster_1/ignition', 'main_tank/fuel_ratio'],
        position=[math.nan] * 2 + [0.0] * 4 + [1.0, 0.3],
        effort=[1300.0, 650.0] + [math.nan] * 6,
    ))
    shown = scene.markers
    assert sorted(shown) == [
        ('boosters', 0), ('boosters', 1), ('boosters/plume', 0), ('boosters/plume', 1),
        ('status', 0),
    ]
    assert {stamp_to_ns(marker.header.stamp) for marker in shown.values()} == {1500 * MS}
    assert {marker.header.frame_id for marker in shown.values()} == {'base_link'}
    assert {marker.action for marker in shown.values()} == {Marker.ADD}
    # So that RViz draws them where their frame is now.
    assert {marker.frame_locked for marker in shown.values()} == {True}
    limit, half = shown['boosters', 0], shown['boosters', 1]
    assert vector(*limit.points) == pytest.approx([0.0, 0.0, 0.5])
    assert vector(*half.points) == pytest.approx([0.0, 0.0, 0.25])
    assert (limit.color.r, limit.color.g, limit.color.a) == (1.0, 0.0, 1.0)
    assert (half.color.r, half.color.g) == (1.0, 1.0)
    assert half.color.a < 1.0
    assert half.points[0].y == pytest.approx(-0.045)
    # A plume is a cone whose tip is at the nozzle.
    plume = shown['boosters/plume', 0]
    assert vector(*plume.points) == pytest.approx([0.0, 0.0, 0.5])
    assert plume.points[1] == limit.points[0]
    assert plume.color.a < 0.5
    status = shown['status', 0]
    assert (status.type, status.text) == (
        Marker.TEXT_VIEW_FACING, 'flight\nmain_tank 3.00 kg (25%)'
    )


def test_limits_of_a_parameter_file_win(tmp_path):
    path = tmp_path / 'rotors.yaml'
    path.write_text('/**/rotors:\n  ros__parameters:\n    max_thrust: [6.0]\n')
    scene = Scene(params_files=[str(path)])
    scene.deliver(0, (6.0, 3.0, 1.0, 1.0))
    shown = scene.markers
    assert vector(*shown['rotors', 0].points) == pytest.approx([0.0, 0.0, 0.5])
    assert shown['rotors', 0].color.a == 1.0


# Which robots are drawn.


def names_of(graph):
    return [spec.name for spec in graph.nodes]


@pytest.mark.parametrize('vehicle', VEHICLES)
def test_every_vehicle_is_drawn_when_asked_and_only_then(vehicle):
    assert 'visualizer' not in names_of(robot_graph(vehicle))
    wired = robot_graph(vehicle, drawn_with=())
    spec = next(spec for spec in wired.nodes if spec.name == 'visualizer')
    respawned = [each.name for each in wired.nodes if each.respawn_delay is not None]
    # What lasts of a flight computer is in its record.
    assert respawned == ['flight_state', 'visualizer'][vehicle != 'rocket':]
    loop = make_visualizer(GivenParameters(spec.name, spec.parameters), FakeHost())
    hosts = ('actuator_node', 'inverse_fam_node')
    groups = [spec.name for spec in wired.nodes if spec.executable in hosts]
    drawn = [f'{name}/state' for name in groups if name != 'fam']
    topics = [port.topic for port in loop.ports]
    assert [topic for topic in topics if topic.endswith('/state')] == drawn


def test_any_robot_is_drawn_when_asked():
    model = share_directory() / 'urdf' / 'quadrotor.urdf.xacro'
    assert names_of(robot_graph(model=model)) == ['rotors']
    wired = robot_graph(model=model, drawn_with=['own.yaml'])
    assert names_of(wired) == ['rotors', 'visualizer']
    assert wired.nodes[-1].parameters['params_files'] == ['own.yaml']
    assert wired.nodes[-1].parameters['phase_topic'] == ''


# When they are.


def drawn(stamps, period=100):
    """Return those of some (source, stamp [ms]) at which a picture is made."""
    pace, made = Pace(period * MS), []
    for source, stamp in stamps:
        pace.take(source, stamp * MS)
        if pace.is_due(source):
            pace.draw(source)
            made.append((source, stamp))
    return made


@pytest.mark.parametrize(('stamps', 'passed'), [
    pytest.param(range(0, 500, 10), [0, 100, 200, 300, 400], id='faster than the period'),
    pytest.param([0, 250, 500], [0, 250, 500], id='slower than the period'),
    pytest.param([5, 104, 105, 106], [5, 105], id='counted from the first'),
    pytest.param([1000, 995, 1000, 1005], [1000], id='a little back'),
    pytest.param([1100, 100, 1200], [1100, 1200], id='behind by a second is no jump'),
    pytest.param([5000, 0, 50, 100], [5000, 0, 100], id='time begins anew'),
    pytest.param([0, 9_000_000_000, 9_000_000_010], [0, 9_000_000_000], id='far ahead'),
    pytest.param([-500, -450, -400], [-500, -400], id='before 1970'),
])
def test_one_stamp_in_a_period_is_drawn(stamps, passed):
    assert [stamp for _, stamp in drawn([('a', stamp) for stamp in stamps])] == passed


def both(ahead, count=51):
    """Return two sources in turns, every 20 ms, the first one ahead [ms]."""
    return [(name, 20 * i + lead) for i in range(count) for name, lead in (('a', ahead), ('b', 0))]


@pytest.mark.parametrize('ahead', [0, 5, 999, 1001, 60_000, 10**12], ids=str)
def test_sources_of_any_times_share_the_pictures(ahead):
    shared = [('a', ahead + stamp) for stamp in range(0, 1001, 100)]
    alone = [('b', stamp) for stamp in range(1020, 1520, 20)]
    assert drawn(both(ahead)) == shared
    assert drawn([*both(ahead), *alone]) == [
        *shared, *[('b', stamp) for stamp in range(1100, 1501, 100)]
    ], 'one goes on without the other'


@pytest.mark.parametrize(('stamp', 'is_drawn'), [
    pytest.param(1099, False, id='within the period'),
    pytest.param(1100, True, id='a period later'),
    pytest.param(5, False, id='of another time'),
])
def test_a_new_source_counts_from_the_last_picture(stamp, is_drawn):
    assert drawn([('a', 1000), ('b', stamp)]) == [('a', 1000), *([('b', stamp)] * is_drawn)]


def test_time_of_all_sources_begins_anew():
    assert drawn([*both(0, 101), *both(0)]) == drawn(both(0, 101)) + drawn(both(0))


@pytest.mark.parametrize(('source', 'stamp', 'expected'), [
    pytest.param('a', 4000, False, id='a second back'),
    pytest.param('a', 3999, True, id='more than a second back'),
    pytest.param('a', 10**12, False, id='ahead'),
    pytest.param('b', 0, False, id='another source'),
])
def test_only_a_long_way_back_of_one_source_is_a_jump(source, stamp, expected):
    pace = Pace(100 * MS)
    assert not pace.take('a', 5000 * MS)
    assert pace.take(source, stamp * MS) == expected
    assert pace.newest_ns == (max(stamp, 5000) if not expected else stamp) * MS


def test_what_lags_by_more_than_a_second_is_stale():
    pace = Pace(100 * MS)
    assert not pace.is_stale(0)
    pace.take('a', 5000 * MS)
    assert not pace.is_stale(4000 * MS)
    assert pace.is_stale(3999 * MS)
    pace.restart()
    assert pace.newest_ns is None
    assert not pace.is_stale(0)
