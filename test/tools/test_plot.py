# SPDX-License-Identifier: Apache-2.0
"""Pages of plots: of flight logs, of parts of an input, and as pictures."""
from __future__ import annotations

import itertools
import math
import struct
import sys
import warnings

import numpy as np
import pytest
from plot_pages import decided, found, panels, parabolas, points, predicted

from parts import PART, few_of
from propulsion_ros.drawing.figure import (
    COMMAND,
    DECIDING,
    FITTED,
    PUBLISHED,
    Callout,
    Level,
    Mark,
    Page,
    Panel,
    Span,
    Trace,
)
from propulsion_ros.pictures.panels import moving, page_of
from propulsion_ros.pictures.signals import Channel, Fit, Signals
from propulsion_ros.pictures.table import signals_of_log
from propulsion_ros.replay.bags import BagWriter, Recorded
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.tools import cli

GRAVITY, SPEED = 9.80665, 60.0
SIGNATURE = b'\x89PNG\r\n\x1a\n'
HEADER = 'stamp,a.effort,wrench.force.x\n'
TABLE = HEADER + ''.join(f'{0.1 * i:.1f},{i},{2 * i}\n' for i in range(20))


def throw(until=10.0):
    """Return a log of a throw at 0 s with a speed of 60 m/s."""
    time = np.arange(-1.0, until, 0.05)
    rising = np.maximum(time, 0.0)
    speed = np.where(time > 0.0, SPEED - GRAVITY * rising, 0.0)
    altitude = SPEED * rising - GRAVITY / 2 * rising**2
    rows = (f'{t:.2f},{h:.3f},{v:.3f}' for t, h, v in zip(time, altitude, speed, strict=True))
    return '\n'.join(['time_s,altitude_m,vz_mps', *rows, ''])


@pytest.fixture
def log(tmp_path):
    def write(text):
        path = tmp_path / 'throw.csv'
        path.write_text(text)
        return path
    return write


def test_a_log_is_flown_by_the_detector(log):
    page = page_of(signals_of_log(log(throw())))
    shown, apogee = page.above
    (detected,), ((time, altitude),) = decided(shown), found(shown)
    assert time == pytest.approx(SPEED / GRAVITY, abs=0.02)
    assert altitude == pytest.approx(SPEED**2 / GRAVITY / 2, abs=0.1)
    assert time < detected < time + 1.0
    words = f'apogee {altitude:.1f} m at {time:.2f} s, detected at {detected:.2f} s'
    assert page.title == f'throw: {words}'
    assert [span.name for span in page.phases] == ['preflight', 'launch', 'flight', 'recovery']
    assert page.phases[2].end == page.phases[3].begin == detected
    assert [mark.name for mark in page.marks] == ['liftoff']
    assert page.marks[0].time == pytest.approx(0.0, abs=1.0)
    assert [trace.label for trace in shown.series] == ['log']
    assert len(shown.series[0].x) == 220
    # After the throw left the window every fit is that of free fall.
    settled = [acceleration for time, _, _, acceleration in parabolas(shown) if time > 3.0]
    assert len(settled) > 10
    assert {round(acceleration, 1) for acceleration in settled} == {-9.8}
    assert parabolas(apogee, DECIDING)[0][0] == pytest.approx(detected)
    assert {span.name for span in shown.bands} <= {'lockout', 'fit not believed'}
    assert predicted(shown)[-3:] == pytest.approx(np.array([(time, altitude)] * 3), abs=0.1)
    assert panels(page) == {
        'vertical speed [m/s]': ['log', 'fit'], 'vertical acceleration [m/s²]': ['fit'],
    }
    assert points(page, 'vertical speed [m/s]', 'log')[21] == (0.05, 59.51)


def test_a_log_without_an_apogee_has_no_detection(log):
    page = page_of(signals_of_log(log(throw(until=4.0))))
    (shown,) = page.above
    assert (page.title, decided(shown), found(shown)) == ('throw', [], [])


def signals():
    made = Signals('some/input.csv')
    for i in range(11):
        made.add(Channel('', 'effort', 'a'), float(i), 10.0 * i)
    made.add(Channel('', 'mass', 't'), 9.0, 1.0)
    made.flight.marks += [Mark(2.0, 'early'), Mark(7.0, 'late')]
    made.flight.phases += [Mark(0.0, 'launch'), Mark(5.0, 'flight'), Mark(6.0, 'flight')]
    return made


def fitted_flight(source='detected'):
    """Return a throw of 10 m/s at 0 s, whose apogee is decided at 1.5 s."""
    made = Signals('throw.csv')
    for i in range(9):
        t = 0.25 * i
        height, speed = 10.0 * t - 5.0 * t**2, 10.0 - 10.0 * t
        made.add(Channel('', 'altitude', 'log'), t, height)
        made.flight.fits.append(Fit(t, height, speed, -10.0))
        # What is predicted during a lockout is not drawn.
        made.flight.predictions.append((t, 1.0, 5.0) if t >= 0.5 else (t, 1.4, 2.0))
    made.flight.phases.append(Mark(0.0, 'flight'))
    made.flight.health += [Mark(0.0, 'lockout'), Mark(0.5, 'ok')]
    made.flight.detections.append(Mark(1.5, source))
    made.flight.vertices.append((1.0, 5.0))
    return made


@pytest.fixture
def figure_of():
    """Return what makes the figure of a page; they are closed at the end."""
    pytest.importorskip('matplotlib')
    import matplotlib.pyplot as plt

    from propulsion_ros.pictures import picture

    yield picture.figure_of
    plt.close('all')


def test_an_angle_that_goes_on_beyond_half_a_turn_has_a_gap():
    made = Signals('roll')
    for t, angle in enumerate((170.0, 179.0, -175.0)):
        made.add(Channel('vehicle', 'attitude', 'roll'), float(t), angle)
        made.add(Channel('vehicle', 'turn_rate', 'x'), float(t), angle)
    attitude, rate = (panel.traces[0].y.tolist() for panel in page_of(made).panels)
    assert attitude == pytest.approx([170.0, 179.0, np.nan, -175.0], nan_ok=True)
    assert rate == [170.0, 179.0, -175.0]


def test_large_numbers_have_a_prefix_of_their_unit(figure_of):
    made = Signals('tank')
    for t in range(3):
        made.add(Channel('jets', 'pressure', 'gas'), float(t), 1e7 - 1e5 * t)
    (axis,) = figure_of(page_of(made)).axes
    axis.figure.canvas.draw()
    assert all(text.get_text().endswith(' M') for text in axis.get_yticklabels())


def test_large_numbers_that_are_alike_are_told_apart(figure_of):
    made = Signals('tank')
    for t in range(3):
        made.add(Channel('jets', 'pressure', 'gas'), float(t), 101325.0 + 0.3 * t)
    (axis,) = figure_of(page_of(made)).axes
    axis.figure.canvas.draw()
    texts = [text.get_text() for text in axis.get_yticklabels()]
    assert len(set(texts)) == len(texts)


def test_the_altitude_says_what_the_flight_logic_made_of_it(figure_of):
    figure = figure_of(page_of(fitted_flight()))
    axis = figure.axes[0]
    handles, labels = axis.get_legend_handles_labels()
    drawn = dict(zip(labels, handles, strict=True))
    assert sorted(drawn) == sorted([
        'lockout', 'parabolas fitted to it', 'log', 'apogee predicted', 'decision',
        'apogee found',
    ])
    legend = [text.get_text() for text in axis.get_legend().get_texts()]
    assert legend == list(dict.fromkeys(labels))
    assert set(drawn['decision'].get_xdata()) == {1.5}
    assert drawn['apogee found'].get_xydata().tolist() == [[1.0, 5.0]]
    assert {tuple(point) for point in drawn['apogee predicted'].get_xydata()} == {(1.0, 5.0)}
    # Each fit of a throw is the throw itself.
    t, height = drawn['parabolas fitted to it'].get_data()
    assert height == pytest.approx(10.0 * t - 5.0 * t**2)


def test_an_apogee_that_no_detector_found_is_not_drawn_as_one(figure_of):
    figure = figure_of(page_of(fitted_flight('timer')))
    assert figure.get_suptitle() == 'throw: no apogee detected, timer at 1.50 s'
    labels = {label for axis in figure.axes for label in axis.get_legend_handles_labels()[1]}
    assert 'decision by timer' in labels
    assert not {'decision', 'parabola that decided'} & labels


def test_each_panel_over_time_names_its_axis(figure_of):
    made = tuple(Panel(f'p{i}', across='throttle' * (i == 3)) for i in range(5))
    figure = figure_of(Page('a', 'time [s]', 0.0, 1.0, above=(Panel('above'),), panels=made))
    labels = {axis.get_title(loc='left'): axis.get_xlabel() for axis in figure.axes}
    assert len(labels) == 6
    assert {title for title, label in labels.items() if label != 'time [s]'} == {'p3'}
    assert labels['p3'] == 'throttle'


def test_what_lies_near_the_apogee_is_drawn_larger(figure_of):
    made = Signals('high.csv')
    for t in range(21):
        made.add(Channel('', 'altitude', 'log'), float(t), 500.0 - (t - 10.0) ** 2)
    made.flight.phases.append(Mark(0.0, 'flight'))
    made.flight.detections.append(Mark(10.0, 'detected'))
    figure = figure_of(page_of(made))
    (axis,) = (a for a in figure.axes if a.get_title(loc='left').endswith('about the apogee'))
    assert axis.lines[0].get_xdata().tolist() == [7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0]


@pytest.mark.parametrize(('size', 'is_flat'), [(1e-13, True), (1e-6, False)])
def test_what_rounding_moves_is_drawn_flat(figure_of, size, is_flat):
    made = Signals('still.csv')
    for i in range(20):
        made.add(Channel('', 'position', 'a'), float(i), size * (-1.0) ** i)
    figure = figure_of(page_of(made))
    low, high = figure.axes[0].get_ylim()
    assert bool(high - low > 1.0) is is_flat


def test_the_fit_that_decided_is_the_last_one_before_the_decision():
    _, apogee = page_of(fitted_flight()).above
    assert [time for time, *_ in parabolas(apogee, DECIDING)] == pytest.approx([1.5])


def test_a_spike_does_not_flatten_the_flight():
    made = fitted_flight()
    for i in range(1000):
        made.add(Channel('', 'altitude', 'log'), 1.0, 1e5 if i == 500 else 4.0)
    low, high = page_of(made).above[0].limits
    assert -1.0 < low < 0.0
    assert 5.0 < high < 15.0


def test_short_flight_of_a_long_record_is_not_cut_off():
    made = fitted_flight()
    for i in range(29_000):
        made.add(Channel('', 'altitude', 'log'), 3.0 + 0.1 * i, max(i - 0.01 * i**2, 0.0))
    low, high = page_of(made).above[0].limits
    assert low < 0.0
    assert high > 25.0


def test_fits_that_begin_late_are_spread_over_their_own_time():
    made = Signals('late.csv')
    for i in range(2000):
        t = 0.1 * i
        made.add(Channel('', 'altitude', 'log'), t, 0.0)
        if t > 100.0:
            made.flight.fits.append(Fit(t, 0.0, 0.0, -10.0))
    fits = page_of(made).above[0].of(FITTED)
    assert len(fits) == 30
    assert np.ptp(fits[0].x) == pytest.approx(2.0 + 0.35 * (199.9 - 100.1), rel=0.01)


@pytest.mark.parametrize(('part', 'times', 'phases', 'marks'), [
    pytest.param({}, range(11), [(0.0, 5.0, 'launch'), (5.0, 10.0, 'flight')], ['early', 'late'],
                 id='all'),
    pytest.param({'begin': 6.0, 'end': 8.0}, [6, 7, 8], [(6.0, 8.0, 'flight')], ['late'],
                 id='middle'),
    pytest.param({'begin': -5.0, 'end': 1.5}, [0, 1], [(0.0, 1.5, 'launch')], [], id='beginning'),
    pytest.param({'begin': 9.5, 'end': 99.0}, [10], [(9.5, 10.0, 'flight')], [], id='end'),
])
def test_a_part_of_the_time_is_cut_out(part, times, phases, marks):
    page = page_of(signals(), **part)
    assert [time for time, _ in points(page, 'thrust [N]', 'a')] == list(times)
    assert page.phases == tuple(Span(*phase) for phase in phases)
    assert [mark.name for mark in page.marks] == marks
    has_mass = part.get('begin', 0.0) <= 9.0 <= part.get('end', 10.0)
    assert ('propellant [kg]' in panels(page)) == has_mass


@pytest.mark.parametrize(('told', 'part', 'expected'), [
    pytest.param([(2.0, 5.0)], {}, [(2.0, 5.0), (10.0, 5.0)], id='to the end'),
    pytest.param([(2.0, 5.0), (10.0, 6.0)], {}, [(2.0, 5.0), (10.0, 6.0)], id='told at the end'),
    pytest.param([(2.0, 4.0), (3.0, 5.0), (7.0, 6.0)], {'begin': 5.0, 'end': 8.0},
                 [(5.0, 5.0), (7.0, 6.0), (8.0, 6.0)], id='told before the part'),
    pytest.param([(2.0, 5.0), (9.0, 6.0)], {'begin': 5.0, 'end': 8.0}, [(5.0, 5.0), (8.0, 5.0)],
                 id='told before and after the part'),
    pytest.param([(2.0, 4.0), (5.0, 5.0)], {'begin': 5.0}, [(5.0, 5.0), (10.0, 5.0)],
                 id='told as the part begins'),
    pytest.param([(6.0, 4.0), (7.0, 5.0), (6.5, 6.0)], {},
                 [(6.0, 4.0), (7.0, 5.0), (math.nan, math.nan), (6.5, 6.0), (10.0, 6.0)],
                 id='time goes back'),
])
def test_a_command_holds_until_the_next(told, part, expected):
    made = signals()
    for time, value in told:
        made.add(Channel('', 'effort', 'a', COMMAND), time, value)
    drawn = points(page_of(made, **part), 'thrust [N]', 'a', COMMAND)
    assert np.array(drawn) == pytest.approx(np.array(expected), abs=0.0, nan_ok=True)


@pytest.mark.parametrize('part', [
    {'begin': 11.0}, {'end': -1.0}, {'begin': 5.0, 'end': 4.0}, {'begin': float('nan')},
], ids=str)
def test_a_part_without_anything_is_refused(part):
    with pytest.raises(SourceError, match=r'^some/input.csv: expected a part of 0 to 10 s, got'):
        page_of(signals(), **part)


def test_more_panels_than_a_picture_holds_are_refused():
    many = Signals('many')
    for i in range(61):
        many.add(Channel(f'node_{i}', 'effort', 'a'), 1.0, 1.0)
    with pytest.raises(SourceError, match='many: expected at most 60 panels, got 61'):
        page_of(many)


def test_values_beyond_what_an_axis_can_show_are_not_drawn():
    wild = Signals('wild')
    for i, value in enumerate((1.0, 1e300, float('inf'), -1e308, 2.0)):
        wild.add(Channel('', 'effort', 'a'), float(i), value)
    values = [value for _, value in points(page_of(wild), 'thrust [N]', 'a')]
    assert [value for value in values if value == value] == [1.0, 2.0]


@pytest.mark.parametrize(('field', 'value'), few_of(itertools.product(
    ['altitude', 'velocity', 'acceleration'], [math.inf, 1e99, 1e308, -1e308]
), 3), ids=str)
def test_fits_beyond_what_an_axis_can_show_are_not_drawn(tmp_path, field, value):
    pytest.importorskip('matplotlib')
    from propulsion_ros.pictures.picture import draw as draw_page

    made = fitted_flight()
    wild = made.flight.fits[2]._replace(**{field: value})
    made.flight.fits[2] = wild
    made.flight.predictions[2] = (wild.time, 3.0, value)
    made.flight.vertices[:] = [(3.0, value)]
    page = page_of(made)
    assert len(page.above[0].of(FITTED)) == 8 + (value == 1e99)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        draw_page(page, tmp_path / 'page.png')


@pytest.mark.parametrize(('count', 'expected'), [
    pytest.param(3, ['n0', 'n1', 'n2'], id='few'),
    pytest.param(6, [f'n{i}' for i in range(6)], id='as many as fit'),
    pytest.param(30, ['n27', 'n28', 'n29'], id='many, those that move most'),
])
def test_few_lines_of_a_panel_are_named(count, expected):
    lines = [
        Trace(f'n{i}', role, np.arange(2.0), np.array([0.0, far * i]))
        for role, far in (('published', 1.0), ('command', 0.5)) for i in range(count)
    ]
    assert list(Panel('', tuple(lines)).named) == expected


def test_names_are_beside_the_ends_of_their_lines(figure_of):
    """In the colour of the line, apart from each other, and the others as a number."""
    made = Signals('many.csv')
    for i in range(12):
        for t in (0.0, 1.0):
            made.add(Channel('', 'effort', f'n{i:02}'), t, i * t)
            made.add(Channel('', 'effort', f'n{i:02}', COMMAND), t, 6.0)
    figure = figure_of(page_of(made))
    (axis,) = figure.axes
    texts = {text.get_text(): text for text in axis.texts}
    assert list(texts) == ['n11', 'n10', 'n09', '9 others', '- - command']
    heights = [text.xy[1] for text in texts.values()]
    assert (np.diff(heights) < -0.08).all()
    assert 0.0 <= heights[-1] < heights[0] <= 1.0
    colours = [
        next(line.get_color() for line in axis.lines if line.get_ydata()[-1] == value)
        for value in (11.0, 10.0, 9.0)
    ]
    assert [texts[f'n{i:02}'].get_color() for i in (11, 10, 9)] == colours
    assert len(set(colours)) == 3


def estimated(parent=''):
    """Return a commanded actuator, how it moves, and an estimate of that."""
    made = Signals('bag')
    for i in range(11):
        for source, share in (('given', 0.9), ('estimate', 0.8)):
            for name, far in (('a', 1.0), ('b', 2.0), ('c', 1.5)):
                made.add(Channel(parent + source, 'effort', name), float(i), share * far * i)
            for axis, far in zip('xyz', (0.0, 3.0, 1.0), strict=True):
                made.add(Channel(parent + source, 'force', axis), float(i), share * far * i)
        made.add(Channel(parent + 'estimate', 'force', 'y', 'residual'), float(i), 0.1)
        made.add(Channel(parent + 'other', 'effort', 'd'), float(i), 1.0)
    return made


def test_sources_of_the_same_actuators_are_compared_by_what_moves_most():
    page = page_of(estimated(), compares=True)
    assert panels(page) == {
        'thrust of b [N], which moves most of 3': ['estimate, estimated', 'given'],
        'force along y [N], which moves most of 3': [
            'estimate, estimated', 'given', 'estimate, estimated residual',
        ],
        'other: thrust [N]': ['d'],
    }
    heading = 'thrust of b [N], which moves most of 3'
    assert points(page, heading, 'given')[-1] == (10.0, 18.0)
    assert points(page, heading, 'estimate, estimated')[-1] == (10.0, 16.0)


def test_actuators_of_two_vehicles_are_not_compared():
    both = estimated('north/')
    for channel, rows in estimated('south/').rows.items():
        both.rows[channel] = rows
    headings = list(panels(page_of(both, compares=True)))
    assert len(headings) == 6
    for channel in list(both.rows):
        if channel.source.endswith('/estimate'):
            del both.rows[channel]
    assert not any('moves most' in each for each in panels(page_of(both, compares=True)))


STILL = 'in (0 all the time: thrust, applied force, applied torque, propellant, ...)'


@pytest.mark.parametrize(('largest', 'title', 'headings'), [
    pytest.param(1e-8, 'in', ['thrust [N]', 'angle [rad]'], id='both move'),
    pytest.param(1e-10, 'in (0 all the time: angle)', ['thrust [N]'], id='one moves'),
    pytest.param(math.nan, 'in', ['thrust [N]'], id='one is unknown'),
])
def test_what_is_always_0_is_named_in_place_of_a_panel(largest, title, headings):
    made = Signals('in.csv')
    for time in (0.0, 1.0):
        made.add(Channel('', 'effort', 'a'), time, 2.0)
        made.add(Channel('', 'position', 'b'), time, largest * time)
    page = moving(page_of(made))
    assert (page.title, [panel.heading for panel in page.panels]) == (title, headings)


def test_where_nothing_moves_one_panel_shows_it():
    made = Signals('in.csv')
    for quantity in ('effort', 'force', 'torque', 'mass', 'climb'):
        for time in (0.0, 1.0):
            made.add(Channel('', quantity, 'a'), time, 0.0)
    page = moving(page_of(made))
    assert (page.title, [panel.heading for panel in page.panels]) == (STILL, ['thrust [N]'])


def test_limits_and_callouts_are_drawn_without_a_histogram_too(figure_of):
    panel = Panel(
        'thrust [N]', (Trace('a', PUBLISHED, np.array([0.0, 1.0]), np.array([1.0, 4.0])),),
        levels=(Level(3.0, 'limit', True),), callouts=(Callout(1.0, 4.0, 'too much', True),),
    )
    (axis,) = figure_of(Page('', 'time [s]', 0.0, 1.0, panels=(panel,))).axes
    assert [3.0, 3.0] in [list(line.get_ydata()) for line in axis.lines]
    assert 'too much' in [text.get_text() for text in axis.texts]


@pytest.fixture
def draw(tmp_path, capsys):
    """Run the command; return exit code, error and the picture's path."""
    def run(*arguments, picture='page.png', option='--output'):
        path = tmp_path / picture
        code = cli.main(['plot', *map(str, arguments), option, str(path)])
        printed = capsys.readouterr()
        assert printed.out == ''
        return code, printed.err, path
    return run


def write_bag(path):
    """Write a bag with a tank of 1 kg at 0, 1 and 2 s."""
    with BagWriter(path) as writer:
        for second in range(3):
            data = b'\x00\x01\x00\x00' + struct.pack('<iiIxxxx', second, 0, 1) + struct.pack(
                '<10d', 1.0, *[0.0] * 9
            )
            writer.write(Recorded(
                '/boosters/tanks/main', 'geometry_msgs/msg/InertiaStamped', second, data
            ))
    return path


@pytest.fixture
def inputs(tmp_path):
    """Write one input of each kind and return their paths by kind."""
    texts = {
        'table': TABLE, 'log': throw(), 'climb': throw(until=4.0), 'one row': HEADER + '1,2,3\n',
        'odd names': TABLE.replace('a.effort', 'a$b$^{.effort'),
        'many': '\n'.join([
            ','.join(['stamp', *(f'n{i}.velocity' for i in range(30))]),
            *(','.join(map(str, range(j, j + 31))) for j in range(3)), '',
        ]),
    }
    paths = {name: tmp_path / f'{name}.csv' for name in texts}
    for name, path in paths.items():
        path.write_text(texts[name])
    return paths


@pytest.mark.parametrize('kind', ['table', 'log', 'climb', 'one row', 'odd names', 'many', 'bag'])
def test_every_input_makes_a_picture_and_the_same_one_again(draw, inputs, tmp_path, kind):
    pytest.importorskip('matplotlib')
    if kind == 'bag':
        pytest.importorskip('rosbags')
        inputs['bag'] = write_bag(tmp_path / 'bag')
    code, error, picture = draw(inputs[kind])
    assert (code, error) == (0, f'propulsion_ros plot: {picture}\n')
    data = picture.read_bytes()
    assert data.startswith(SIGNATURE)
    if PART or kind in ('table', 'bag'):
        # By the name of the option that the other commands have.
        again = draw(inputs[kind], picture='again.png', option='--picture')[2]
        assert again.read_bytes() == data


def test_what_is_not_drawn_is_said(draw, log):
    pytest.importorskip('matplotlib')
    names = ','.join(f'foo{i}' for i in range(5))
    _, error, picture = draw(log(f'stamp,a.effort,{names}\n1{",1" * 6}\n'))
    assert error.splitlines() == [
        'propulsion_ros plot: not drawn: foo0, foo1, foo2, ...',
        f'propulsion_ros plot: {picture}',
    ]


def test_what_is_always_0_is_drawn_where_all_is(draw, log):
    pytest.importorskip('matplotlib')
    path = log('stamp,a.effort,b.position\n0,1,0\n1,2,0\n')
    assert len(draw(path, '--all')[2].read_bytes()) > len(draw(path)[2].read_bytes())


@pytest.mark.parametrize(('arguments', 'message'), [
    pytest.param(['absent.csv'], 'absent.csv: cannot be read: No such file', id='absent'),
    pytest.param(['table.csv', '--commands', 'absent.csv'], 'absent.csv: cannot be read',
                 id='absent commands'),
    pytest.param(['table.csv', '--from', '50'], 'table.csv: expected a part of 0 to 1.9 s',
                 id='empty part'),
])
def test_what_cannot_be_plotted_is_one_line_and_code_1(
    draw, inputs, tmp_path, arguments, message
):
    paths = [tmp_path / text if text.endswith('.csv') else text for text in arguments]
    code, error, picture = draw(*paths)
    assert (code, error.count('\n')) == (1, 1)
    assert message in error
    assert not picture.exists()


def test_without_matplotlib_one_line_says_so(draw, inputs, monkeypatch):
    monkeypatch.setitem(sys.modules, 'matplotlib', None)
    monkeypatch.delitem(sys.modules, 'propulsion_ros.pictures.picture', raising=False)
    code, error, picture = draw(inputs['table'])
    assert (code, error.count('\n')) == (1, 1)
    assert (
        "needs matplotlib, pip install 'matplotlib>=3.6', or apt install "
        'python3-matplotlib'
    ) in error
    assert not picture.exists()


@pytest.mark.parametrize('times', [
    pytest.param([1.0, 2.0, 3.0, 4.0, 5.0], id='each beside the next'),
    pytest.param([1.0, 1.2, 1.4, 1.6, 1.8], id='all together'),
    pytest.param([1.0, 9.0, 9.5, 9.7, 10.0], id='at the end'),
])
@pytest.mark.parametrize('size', [4, 16])
def test_names_of_events_do_not_overlap(figure_of, times, size):
    made = fitted_flight()
    made.add(Channel('', 'altitude', 'log'), 10.0, 0.0)
    made.flight.marks += [Mark(time, f'{i} parachute of the rocket'[:size])
                          for i, time in enumerate(times)]
    figure = figure_of(page_of(made))
    figure.canvas.draw()
    axis = figure.axes[0]
    texts = [text for text in axis.texts if text.get_text()[0].isdigit()]
    boxes = [text.get_window_extent() for text in texts]
    assert len(boxes) == len(times)
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
    assert all(axis.get_window_extent().contains(box.x0, box.y0) for box in boxes)


def test_names_of_short_phases_do_not_overlap(figure_of):
    made = fitted_flight()
    made.add(Channel('', 'altitude', 'log'), 48.0, 0.0)
    made.flight.phases[:] = [
        Mark(0.0, 'preflight'), Mark(2.5, 'launch'), Mark(5.0, 'flight'), Mark(12.0, 'recovery'),
    ]
    figure = figure_of(page_of(made))
    figure.canvas.draw()
    names = ('preflight', 'launch', 'flight', 'recovery')
    texts = [text for text in figure.axes[0].texts if text.get_text() in names]
    boxes = [text.get_window_extent() for text in texts]
    assert texts[-1].get_text() == 'recovery'
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
