from __future__ import annotations

import itertools

import pytest

from propulsion_ros.flight.phases import (
    COMMANDS,
    TRANSITIONS,
    Facts,
    Phase,
    find_transition,
    refusal,
)

READY = Facts(altitude_known=True, is_moving=False)


def test_phases_are_the_words_of_the_flown_software():
    words = ['setup', 'preflight', 'launch', 'flight', 'recovery', 'debug']
    assert [phase.value for phase in Phase] == words


def test_every_way_into_recovery_stamps_apogee_and_no_other_does():
    for row in TRANSITIONS:
        assert bool(row.apogee_source) == (row.target is Phase.RECOVERY), row


def test_no_trigger_is_ambiguous_in_a_phase():
    keys = [(row.source, row.trigger) for row in TRANSITIONS]
    assert len(keys) == len(set(keys))


def test_every_phase_can_be_reached_and_left_for_preflight():
    reached = {Phase.SETUP}
    for _ in Phase:
        reached |= {row.target for row in TRANSITIONS if row.source in reached}
    assert reached == set(Phase)
    back = {Phase.PREFLIGHT}
    for _ in Phase:
        back |= {row.source for row in TRANSITIONS if row.target in back}
    assert back == set(Phase)


def test_no_armed_phase_leads_to_debug():
    assert not any(row.source.is_armed and row.target is Phase.DEBUG for row in TRANSITIONS)


ACCEPTED = {
    (Phase.PREFLIGHT, 'launch'): Phase.LAUNCH,
    (Phase.PREFLIGHT, 'debug'): Phase.DEBUG,
    (Phase.LAUNCH, 'ignition'): Phase.LAUNCH,
    (Phase.LAUNCH, 'abort'): Phase.PREFLIGHT,
    (Phase.LAUNCH, 'liftoff_override'): Phase.FLIGHT,
    (Phase.FLIGHT, 'abort'): Phase.RECOVERY,
    (Phase.FLIGHT, 'apogee_override'): Phase.RECOVERY,
    (Phase.RECOVERY, 'reset'): Phase.PREFLIGHT,
    (Phase.DEBUG, 'reset'): Phase.PREFLIGHT,
}


@pytest.mark.parametrize(('phase', 'command'), itertools.product(Phase, COMMANDS))
def test_commands_are_accepted_in_their_phase_alone(phase, command):
    reason = refusal(phase, command, READY)
    if (phase, command) in ACCEPTED:
        assert reason == ''
        assert find_transition(phase, command).target is ACCEPTED[phase, command]
    else:
        assert reason.startswith(f"'{command}' is refused in {phase.value}, it belongs to ")


@pytest.mark.parametrize(
    ('phase', 'command', 'facts', 'reason'),
    [
        pytest.param(
            Phase.PREFLIGHT, 'launch', Facts(), "'launch' is refused: no recent sample gives an"
            ' altitude', id='launch blind',
        ),
        pytest.param(
            Phase.RECOVERY, 'reset', Facts(True, True), "'reset' is refused: the vehicle is still"
            ' moving', id='reset under the parachute',
        ),
        pytest.param(
            Phase.PREFLIGHT, 'lanch', READY, "unknown command 'lanch', did you mean 'launch'?",
            id='misspelt',
        ),
        pytest.param(
            Phase.PREFLIGHT, 'xyz', READY, "unknown command 'xyz', expected one of launch, debug,"
            ' ignition, abort, liftoff_override, apogee_override, reset', id='unknown',
        ),
        pytest.param(
            Phase.RECOVERY, 'abort', READY,
            "'abort' is refused in recovery, it belongs to launch or flight", id='wrong phase',
        ),
    ],
)
def test_refusals_say_why(phase, command, facts, reason):
    assert refusal(phase, command, facts) == reason


@pytest.mark.parametrize('phase', Phase)
def test_armed_phases(phase):
    assert phase.is_armed == (phase.value in ('launch', 'flight', 'recovery'))
