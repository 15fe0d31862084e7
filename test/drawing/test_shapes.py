# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import numpy as np
import pytest

from propulsion_ros.drawing.shapes import (
    Propellant,
    Style,
    ThrustState,
    load_colour,
    read_state,
    status_shape,
    thrust_shapes,
)
from propulsion_ros.models.common.layout import ThrustLayout
from propulsion_ros.settings.errors import CommandError

RED, GREEN, YELLOW = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (1.0, 1.0, 0.0)
HALF_TURN = np.diag([-1.0, -1.0, 1.0])


def layout(plume='', **kwargs):
    """Two actuators: one along z at the origin, one along x in a link turned about z."""
    return ThrustLayout(
        names=('a', 'b'), links=('a_link', 'b_link'),
        position=np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]]),
        axis=np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
        rotation=np.stack([np.eye(3), HALF_TURN]),
        lowest=np.array([-10.0, -10.0]), highest=np.array([10.0, 20.0]), plume=plume, **kwargs,
    )


def drawn(thrust, plume='', is_stale=False, **style):
    state = ThrustState(np.array(thrust), np.empty(0))
    style = Style(**{'scale': 0.1, **style})
    return list(thrust_shapes('group', 'base_link', layout(plume), state, style, is_stale))


@pytest.mark.parametrize(('load', 'rgb', 'opaque'), [
    pytest.param(0.0, GREEN, False, id='rest'),
    pytest.param(0.25, (0.5, 1.0, 0.0), False, id='quarter'),
    pytest.param(0.5, YELLOW, False, id='half'),
    pytest.param(0.75, (1.0, 0.5, 0.0), False, id='three quarters'),
    pytest.param(1.0, RED, True, id='limit'),
    pytest.param(1.0 - 1e-6, RED, True, id='limit behind a lag'),
    pytest.param(1.5, RED, True, id='beyond'),
    pytest.param(math.inf, RED, True, id='infinitely beyond'),
])
def test_colour_says_how_near_the_limit_is(load, rgb, opaque):
    *colour, opacity = load_colour(load)
    assert colour == pytest.approx(rgb)
    assert (opacity == 1.0) is opaque


def test_unknown_limit_has_a_colour_of_its_own():
    known = {load_colour(load) for load in np.linspace(0.0, 1.0, 101)}
    assert load_colour(math.nan) not in known
    assert all(0.0 <= part <= 1.0 for part in load_colour(math.nan))


@pytest.mark.parametrize(('thrust', 'length', 'direction'), [
    pytest.param(4.0, 0.4, (0.0, 0.0, 1.0), id='forwards'),
    pytest.param(-4.0, 0.4, (0.0, 0.0, -1.0), id='backwards'),
    pytest.param(0.0, 0.0, (0.0, 0.0, 1.0), id='at rest'),
])
def test_arrow_points_along_the_thrust_and_is_as_long(thrust, length, direction):
    arrow = drawn([thrust, 0.0])[0]
    assert (arrow.kind, arrow.group, arrow.number) == ('arrow', 'group', 0)
    assert arrow.length == pytest.approx(length)
    assert arrow.direction == direction


@pytest.mark.parametrize(('in_links', 'frame', 'origin', 'direction'), [
    pytest.param(False, 'base_link', (1.0, 2.0, 3.0), (1.0, 0.0, 0.0), id='base_link'),
    pytest.param(True, 'b_link', (0.0, 0.0, 0.0), (-1.0, 0.0, 0.0), id='link'),
])
def test_frame(in_links, frame, origin, direction):
    arrow = drawn([0.0, 5.0], in_links=in_links)[1]
    assert (arrow.frame, arrow.origin, arrow.direction) == (frame, origin, direction)
    assert not any(math.copysign(1.0, x) < 0.0 for x in arrow.direction if x == 0.0)


def test_plume_is_translucent_and_against_the_thrust():
    shapes = drawn([4.0, 8.0], plume='flame')
    assert [(s.kind, s.group, s.number) for s in shapes] == [
        ('arrow', 'group', 0), ('plume', 'group/plume', 0),
        ('arrow', 'group', 1), ('plume', 'group/plume', 1),
    ]
    arrow, plume = shapes[2:]
    assert plume.direction == (-1.0, 0.0, 0.0)
    assert (plume.origin, plume.length) == (arrow.origin, arrow.length)
    assert plume.colour[3] < 0.5


def test_each_thrust_has_its_own_limit():
    half, limit = drawn([5.0, 20.0])
    assert half.colour == load_colour(0.5)
    assert limit.colour == (1.0, 0.0, 0.0, 1.0)


def test_old_state_is_grey_and_has_no_plume():
    arrow, plume, *_ = drawn([10.0, 0.0], plume='air', is_stale=True)
    red, green, blue, opacity = arrow.colour
    assert red == green == blue
    assert opacity < 1.0
    assert plume.length == 0.0


NAMES = ['other', 'b', 'joint', 'a']
NAN = math.nan


def read(names=NAMES, position=(NAN, NAN, 0.5, NAN), effort=(NAN, 2.0, NAN, 1.0), **kwargs):
    return read_state(layout(angle_names=('joint',), **kwargs), names, position, effort)


def test_state_is_read_by_name():
    state = read()
    assert state.thrust.tolist() == [1.0, 2.0]
    assert state.angles.tolist() == [0.5]


def test_unknown_angle_takes_the_value_that_stands_for_it():
    state = read(position=[NAN] * 4, unknown_angle=0.1)
    assert state.angles.tolist() == [0.1]


@pytest.mark.parametrize(('wrong', 'said'), [
    pytest.param({'names': []}, "expected a state of 'a' too", id='no names'),
    pytest.param({'names': ['x', 'b', 'joint', 'y']}, "expected a state of 'a' too", id='missing'),
    pytest.param({'names': ['a', 'b', 'joint', 'a']}, "'a' is named twice", id='twice'),
    pytest.param({'effort': [1.0]}, 'effort: expected 4 values, one per name, got 1', id='few'),
    pytest.param({'effort': []}, 'effort: expected 4 values, one per name, got 0', id='none'),
    pytest.param({'position': [0.0] * 5}, 'position: expected 4 values', id='many'),
    pytest.param({'effort': [0.0, NAN, 0.0, 0.0]}, 'b: effort nan is no state', id='NaN'),
    pytest.param({'effort': [0.0, 0.0, 0.0, math.inf]}, 'a: effort inf is no state', id='inf'),
    pytest.param({'effort': [0.0, 0.0, 0.0, -1e300]}, 'a: effort -1e+300 is', id='huge'),
    pytest.param({'position': [NAN] * 4}, 'joint: position nan is no state', id='NaN angle'),
    pytest.param({'position': [0.0, 0.0, -math.inf, 0.0]}, 'joint: position -inf', id='inf angle'),
])
def test_what_is_no_state_is_refused(wrong, said):
    with pytest.raises(CommandError) as caught:
        read(**wrong)
    assert said in str(caught.value)


@pytest.mark.parametrize(('phase', 'tanks', 'text'), [
    pytest.param('flight', [], 'flight', id='phase'),
    pytest.param('', [Propellant('main', 3.6, 12.0)], 'main 3.60 kg (30%)', id='tank'),
    pytest.param('flight', [Propellant('a', 1.0, 0.0), Propellant('b', 0.0, 2.0)],
                 'flight\na 1.00 kg\nb 0.00 kg (0%)', id='all'),
])
def test_status_is_a_text(phase, tanks, text):
    shape = status_shape('base_link', (1.0, 2.0, 3.0), 0.1, phase, tanks)
    assert (shape.kind, shape.text, shape.length) == ('text', text, 0.1)
    assert (shape.frame, shape.origin) == ('base_link', (1.0, 2.0, 3.0))


def test_nothing_to_say_is_nothing_to_see():
    assert status_shape('base_link', (0.0, 0.0, 0.0), 0.1, '', []).length == 0.0
