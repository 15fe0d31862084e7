# SPDX-License-Identifier: Apache-2.0
import math

import pytest

from propulsion_ros.flight.pyros.engines import EngineBank, EngineSpec, IgniterSpec, ValveSpec
from propulsion_ros.settings.errors import CommandError

MS = 1_000_000
IGNITER = IgniterSpec(500 * MS, channel=2)
VALVES = (
    ValveSpec('ox_vent_valve', 0.0, math.pi),
    ValveSpec('fuel_vent_valve', 0.1, 3.0),
    ValveSpec('fuel_press_valve', 0.2, 2.0),
)
THANOS = EngineSpec(0, 'thanos', IGNITER, VALVES, 'booster', 2600.0)
SIMPLE = EngineSpec(1, 'simple', IGNITER)


@pytest.fixture
def bank():
    bank = EngineBank([THANOS, SIMPLE])
    bank.arm(True, 0)
    return bank


def efforts(bank, now_ms):
    return {row.name: row.effort for row in bank.rows(now_ms * MS) if not math.isnan(row.effort)}


def positions(bank, now_ms):
    return [row.position for row in bank.rows(now_ms * MS) if 'valve' in row.name]


def test_sequence_of_an_engine_with_igniter_and_three_valves(bank):
    closed, opened = [0.0, 0.1, 0.2], [math.pi, 3.0, 2.0]
    assert positions(bank, 0) == closed
    bank.execute(0, 1, 1000 * MS)
    timeline = [
        (ms, efforts(bank, ms)['thanos'], efforts(bank, ms)['thanos/igniter'], positions(bank, ms))
        for ms in (1000, 1499, 1500, 5000)
    ]
    assert timeline == [
        (1000, 1.0, 1.0, closed), (1499, 1.0, 1.0, closed), (1500, 1.0, 0.0, closed),
        (5000, 1.0, 0.0, closed),
    ]
    bank.execute(0, 0, 6000 * MS)
    timeline = [(ms, efforts(bank, ms)['thanos'], positions(bank, ms)) for ms in (6000, 6999, 7000)]
    assert timeline == [(6000, 0.0, closed), (6999, 0.0, closed), (7000, 0.0, opened)]


def test_shutdown_ends_the_igniter_too(bank):
    bank.execute(1, 1, 0)
    assert efforts(bank, 100)['simple/igniter'] == 1.0
    bank.execute(1, 0, 100 * MS)
    assert efforts(bank, 100) == dict.fromkeys(
        ('thanos', 'thanos/igniter', 'simple', 'simple/igniter'), 0.0
    )


def test_ignition_of_a_running_engine_does_not_fire_its_igniter_again(bank):
    bank.execute(1, 1, 0)
    bank.execute(1, 1, 400 * MS)
    assert efforts(bank, 500)['simple/igniter'] == 0.0


@pytest.mark.parametrize(('steps', 'shows'), [
    # The original opened its vents at once.
    pytest.param([], {0: False, 60_000: False}, id='before ignition'),
    pytest.param([('execute', 0, 0)], {5000: False}, id='a shutdown before ignition'),
    pytest.param([('execute', 1, 0), ('execute', 0, 100)], {1099: False, 1100: True},
                 id='a shutdown'),
    pytest.param([('execute', 1, 0), ('arm', False, 100)], {1099: False, 1100: True},
                 id='disarmed'),
    pytest.param([('execute', 1, 0), ('execute', 0, 100), ('execute', 1, 2000)], {2000: False},
                 id='lit again'),
    pytest.param([('execute', 1, 0), ('arm', False, 100), ('arm', True, 2000)],
                 {2000: False, 9000: False}, id='armed after a scrub'),
])
def test_vents_open_a_second_after_a_burn_and_close_again(bank, steps, shows):
    for step, value, ms in steps:
        if step == 'arm':
            bank.arm(value, ms * MS)
        else:
            bank.execute(0, value, ms * MS)
    for ms, is_open in shows.items():
        assert positions(bank, ms) == ([math.pi, 3.0, 2.0] if is_open else [0.0, 0.1, 0.2])
    assert (efforts(bank, 9000)['thanos'] == 1.0) is (steps[-1:] == [('execute', 1, 2000)])


def test_valves_are_not_commanded_before_the_first_arming():
    bank = EngineBank([THANOS])
    assert all(math.isnan(position) for position in positions(bank, 0))


def test_thrust_of_boosters(bank):
    assert bank.thrusts() == {'booster': 0.0}
    bank.execute(0, 1, 0)
    assert bank.thrusts() == {'booster': 2600.0}


@pytest.mark.parametrize(
    ('demand', 'thrust'),
    [(math.nan, 2600.0), (1000.0, 1000.0), (9000.0, 2600.0), (-5.0, 0.0)],
)
def test_controller_throttles_a_running_engine_within_its_thrust(bank, demand, thrust):
    bank.control(0, demand)
    assert bank.thrusts() == {'booster': 0.0}, 'no controller lights an engine'
    bank.execute(0, 1, 0)
    assert bank.thrusts() == {'booster': thrust}


@pytest.mark.parametrize(
    ('engine', 'param', 'armed', 'reason'),
    [
        pytest.param(2, 1, True, 'engine 2 is unknown, there are 2', id='unknown'),
        pytest.param(-1, 1, True, 'engine -1 is unknown, there are 2', id='negative'),
        pytest.param(0, 2, True, "engine 'thanos': expected 0 or 1, got 2", id='parameter'),
        pytest.param(0, 1, False, "engine 'thanos' is refused: the phase is not an armed one",
                     id='disarmed'),
    ],
)
def test_refusals(bank, engine, param, armed, reason):
    bank.arm(armed, 0)
    with pytest.raises(CommandError) as caught:
        bank.execute(engine, param, 0)
    assert str(caught.value) == reason
    assert not any(efforts(bank, 0).values())


def test_shutdown_is_never_refused():
    bank = EngineBank([SIMPLE])
    bank.execute(0, 0, 0)
    assert efforts(bank, 0)['simple'] == 0.0


def test_demand_of_a_controller_ends_with_the_burn(bank):
    bank.execute(0, 1, 0)
    bank.control(0, 1000.0)
    bank.execute(0, 0, 1000 * MS)
    bank.execute(0, 1, 2000 * MS)
    assert bank.thrusts() == {'booster': 2600.0}


def test_resumed_engines_are_left_alone_until_they_are_commanded_or_shut_down():
    """How another process left them is unknown: nothing is closed, stopped or thrust."""
    bank = EngineBank([THANOS, SIMPLE])
    bank.arm(True, 0)
    bank.resume()
    assert efforts(bank, 100) == {'thanos/igniter': 0.0, 'simple/igniter': 0.0}
    assert all(math.isnan(position) for position in positions(bank, 100))
    assert bank.thrusts() == {}
    bank.shut_all_down(1000 * MS)
    assert positions(bank, 1500) == [0.0, 0.1, 0.2]
    assert positions(bank, 2500) == [math.pi, 3.0, 2.0]
    assert efforts(bank, 2500)['thanos'] == 0.0


# What keeps an engine dark, in the bank itself.


LANDER = EngineSpec(0, 'lander', IGNITER, landing=True)


def test_ignition_is_refused_once_the_ascent_is_over(bank):
    bank.arm(True, 0, is_down=True)
    with pytest.raises(CommandError, match="'simple' is refused: the ascent is over, and it is no"):
        bank.execute(1, 1, 0)
    assert not any(efforts(bank, 0).values())
    assert bank.thrusts() == {'booster': 0.0}


def test_engine_of_a_landing_is_lit_on_the_way_down():
    bank = EngineBank([LANDER])
    bank.arm(True, 0, is_down=True)
    bank.execute(0, 1, 0)
    assert efforts(bank, 0) == {'lander': 1.0, 'lander/igniter': 1.0}


def test_resumed_engine_whose_state_is_unknown_is_not_lit_on_the_way_down(bank):
    bank.resume()
    bank.arm(True, 0, is_down=True)
    with pytest.raises(CommandError, match='the ascent is over'):
        bank.execute(0, 1, 0)


MIXED = (
    ValveSpec('vent', 0.0, math.pi, is_safe_open=True),
    ValveSpec('feed', 0.0, math.pi, is_safe_open=False),
)


@pytest.mark.parametrize('before', [
    pytest.param((), id='never armed'), pytest.param(('arm',), id='armed, never run'),
    pytest.param(('arm', 'run'), id='running'), pytest.param(('arm', 'run', 'end'), id='burnt'),
    pytest.param(('arm', 'run', 'disarm'), id='disarmed a moment ago'),
])
def test_stop_leaves_valves_where_the_configuration_calls_it_safe_at_once(before):
    bank = EngineBank([EngineSpec(0, 'e', IGNITER, MIXED, booster='b', thrust=9.0)])
    for step in before:
        if step in ('arm', 'disarm'):
            bank.arm(step == 'arm', 0)
        else:
            bank.execute(0, float(step == 'run'), 0)
    bank.stop(1)
    rows = {row.name: row.position for row in bank.rows(1)}
    assert (rows['e/vent'], rows['e/feed']) == (math.pi, 0.0)
    assert efforts(bank, 1) == {'e': 0.0, 'e/igniter': 0.0}
    assert bank.thrusts() == {'b': 0.0}
