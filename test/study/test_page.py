# SPDX-License-Identifier: Apache-2.0
"""What the picture of a study says: its finding, units, and the worst cases apart."""
from __future__ import annotations

import io
import itertools
import warnings
from pathlib import Path

import numpy as np
import pytest

from parts import few_of
from propulsion_ros.study.draws import Variable
from propulsion_ros.study.session import Session
from propulsion_ros.study.study import Study, StudyParams, find_study, read_study

plt = pytest.importorskip('matplotlib.pyplot')

from matplotlib.text import Text  # noqa: E402

from propulsion_ros.pictures.picture import figure_of  # noqa: E402
from propulsion_ros.study import page  # noqa: E402


@pytest.fixture
def drawn(monkeypatch):
    """Return what makes the figure of a study, drawn."""
    made = []

    def draw(page, path):
        made.append(figure_of(page))
        made[-1].draw_without_rendering()

    monkeypatch.setattr('propulsion_ros.pictures.picture.draw', draw)

    def figure(rows, limits=None, names=('mass',), unit=lambda name: '', vary=()):
        study = Study(
            Path('some.yaml'), StudyParams(kind='apogee'),
            (*(Variable(name, 'normal', [0.0, 1.0]) for name in names), *vary), (), limits or {},
        )
        page.draw_study(study, rows, unit, Path('unused'))
        return made[-1]

    yield figure
    plt.close('all')


def _rows(count=40, **more):
    rng = np.random.default_rng(1)
    return [
        {'case': n, 'seed': 0, 'mass': float(x), 'top': float(x) + 0.1, 'error': '', **more}
        for n, x in enumerate(rng.normal(0.0, 1.0, count))
    ]


def test_the_title_is_the_finding(drawn):
    rows = _rows()
    assert drawn(rows).get_suptitle() == 'some: none of 40 cases failed'
    assert drawn(rows, {'top': (-9.0, 9.0)}).get_suptitle() == (
        'some: none of 40 cases failed or left its limits'
    )
    rows[3] = {'case': 3, 'seed': 0, 'mass': 0.0, 'error': 'broken'}
    assert drawn(rows, {'top': (-9.0, 1.0)}).get_suptitle() == (
        f'some: 1 of 40 cases failed, {sum(row.get("top", 0.0) > 1.0 for row in rows)} left '
        'the limits'
    )


def test_axes_have_units(drawn):
    units = {'mass': 'kg', 'top': 'm/s^2'}
    points, spread = drawn(_rows(), unit=lambda name: units.get(name, '')).axes
    assert (points.get_xlabel(), points.get_ylabel()) == ('mass [kg]', 'top [m/s²]')
    assert spread.get_xlabel() == 'cases'
    assert points.get_title(loc='left').endswith(' m/s² in 90 % of cases')


@pytest.mark.parametrize('shift', [0.0, 1e-4, 5.0])
def test_names_of_the_worst_cases_are_inside_and_apart(drawn, shift):
    rows = _rows()
    for n in (0, 1, 2):
        rows[n].update(mass=4.0 + shift * n, top=9.0 + shift * n)
    figure = drawn(rows, {'top': (-9.0, 8.0)})
    points = figure.axes[0]
    # Without the line to the point.
    boxes = [Text.get_window_extent(text) for text in points.texts]
    assert sorted(text.get_text() for text in points.texts) == ['case 0', 'case 1', 'case 2']
    whole = points.get_window_extent()
    assert all(whole.contains(*corner) for box in boxes for corner in (box.min, box.max))
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


@pytest.mark.parametrize(('high', 'red'), [
    (8.0, {'case 0', 'case 1', 'case 2'}), (9.5, {'case 1', 'case 2'}), (20.0, set()),
])
def test_only_a_case_beyond_its_limits_is_red(drawn, high, red):
    rows = _rows()
    for n in (0, 1, 2):
        rows[n].update(mass=4.0 + n, top=9.0 + n)
    points = drawn(rows, {'top': (-9.0, high)}).axes[0]
    colours = {text.get_text(): text.get_color() for text in points.texts}
    assert {name for name, colour in colours.items() if colour == page.COLOURS['beyond']} == red


def test_variants_are_drawn_apart_and_flags_are_counted_in_the_title(drawn):
    methods = Variable('apogee.method', 'grid', ['new', 'old'])
    rows = [{**row, 'apogee.method': methods.levels[n % 2], 'late': int(n < 3), 'missed': 0}
            for n, row in enumerate(_rows())]
    figure = drawn(rows, {'late': (0.0, 0.0), 'missed': (0.0, 0.0)}, vary=(methods,))
    assert figure.get_suptitle() == (
        'some: new: 2 of 20 cases left the limits (late 2); old: 1 of 20 cases left the limits '
        '(late 1)'
    )
    titles = [axes.get_title(loc='left').partition(':')[0] for axes in figure.axes]
    assert [title for title in titles if title] == ['new, top', 'old, top']


def test_without_numbers_that_vary_it_is_drawn_too(drawn):
    (only,) = drawn(_rows(), names=()).axes[-1:]
    assert only.get_xlabel() == 'cases'


@pytest.mark.parametrize(('name', 'units'), few_of([
    ('quadrotor', {
        'highest': 'm', 'tilt': 'rad', 'robot.mass': 'factor', 'rotors.time_constant_up': 's',
        'vehicle.body.current[0]': 'm/s',
    }),
    # The last two are results of the controller.
    ('rocket', {'fastest': 'm/s', 'delay': 's', 'nothing': ''}),
    ('apogee', {'delay': 's', 'sigma': 'm', 'apogee.minimum_height': 'm', 'reason': ''}),
], 2))
def test_units_are_those_of_topics_and_parameters(name, units):
    session = Session(read_study(find_study(Path(name))))
    assert {column: session.unit(column) for column in units} == units


@pytest.mark.parametrize('limit', [1e9, 1e300, -1e300])
@pytest.mark.parametrize('tops', [(7e-18, 8e-18), (-1e300, 1e300), (1.0, 1.0 + 1e-15)])
def test_numbers_of_any_size_are_drawn(drawn, tops, limit):
    """A limit far from small numbers, and equal ones but for rounding, ended in a traceback."""
    rows = [{'case': i, 'seed': 0, 'mass': float(i), 'top': float(top), 'other': float(i),
             'error': ''} for i, top in enumerate(np.linspace(*tops, 4))]
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        drawn(rows, {'top': (limit, np.inf)}).savefig(io.BytesIO())
