# SPDX-License-Identifier: Apache-2.0
import itertools
import math

import pytest

from propulsion_ros.flight.phases.phases import (
    COMMANDS,
    DUTIES,
    TRANSITIONS,
    Duty,
    Facts,
    Phase,
    find_transition,
    refusal,
)
from propulsion_ros.flight.phases.progress import BurnMonitor

READY = Facts(altitude_known=True, has_asked=True)


def test_phases_are_the_words_of_the_flown_software():
    words = ['setup', 'preflight', 'launch', 'flight', 'recovery', 'debug']
    assert [phase.value for phase in Phase] == words


def test_every_way_into_recovery_stamps_apogee_and_no_other_does():
    for row in TRANSITIONS:
        assert bool(row.apogee_source) == (row.target is Phase.RECOVERY), row


def test_no_trigger_is_ambiguous_in_a_phase():
    always = [(row.source, row.trigger) for row in TRANSITIONS if not row.on_the_ground]
    assert len(always) == len(set(always))
    # Of several rows the first that counts is taken, so one that always does comes last.
    for i, row in enumerate(TRANSITIONS):
        if row.on_the_ground:
            later = {(other.source, other.trigger) for other in TRANSITIONS[i + 1:]}
            assert (row.source, row.trigger) in later


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
    (Phase.PREFLIGHT, 'set_home'): Phase.PREFLIGHT,
    (Phase.PREFLIGHT, 'launch'): Phase.LAUNCH,
    (Phase.PREFLIGHT, 'debug'): Phase.DEBUG,
    (Phase.LAUNCH, 'ignition'): Phase.LAUNCH,
    (Phase.LAUNCH, 'abort'): Phase.PREFLIGHT,
    (Phase.LAUNCH, 'liftoff_override'): Phase.FLIGHT,
    (Phase.FLIGHT, 'abort'): Phase.RECOVERY,
    (Phase.FLIGHT, 'apogee_override'): Phase.RECOVERY,
    (Phase.RECOVERY, 'reset'): Phase.PREFLIGHT,
    (Phase.DEBUG, 'launch'): Phase.LAUNCH,
    (Phase.DEBUG, 'liftoff_override'): Phase.FLIGHT,
    (Phase.DEBUG, 'apogee_override'): Phase.RECOVERY,
    (Phase.DEBUG, 'reset'): Phase.PREFLIGHT,
    **{(phase, 'safe'): Phase.PREFLIGHT for phase in Phase if phase is not Phase.SETUP},
}


@pytest.mark.parametrize(('phase', 'command'), itertools.product(Phase, COMMANDS))
def test_commands_are_accepted_in_their_phase_alone(phase, command):
    reason = refusal(phase, command, READY)
    if (phase, command) in ACCEPTED:
        assert reason == ''
        assert find_transition(phase, command, READY).target is ACCEPTED[phase, command]
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
            Phase.PREFLIGHT, 'launch', Facts(True, objections=('90 m above home', 'no timer')),
            "'launch' is refused: 90 m above home; no timer", id='launch unready',
        ),
        pytest.param(
            Phase.PREFLIGHT, 'launch', Facts(objections=('90 m above home',)),
            "'launch' is refused: no recent sample gives an altitude", id='launch blind, unready',
        ),
        pytest.param(
            Phase.LAUNCH, 'ignition', Facts(ignition_commanded=True), "'ignition' is refused: it"
            ' was commanded before: abort and launch again', id='ignition again',
        ),
        pytest.param(
            Phase.RECOVERY, 'reset', Facts(True, aloft='it falls'),
            "'reset' is refused: it falls", id='reset under the parachute',
        ),
        pytest.param(
            Phase.FLIGHT, 'safe', Facts(True, ask_again_time=4.5), "'safe' is not done yet: it"
            ' disarms, and every charge that is still due is given up: request it again within'
            ' 4.5 s', id='safe once',
        ),
        pytest.param(
            Phase.LAUNCH, 'liftoff_override', Facts(True, ask_again_time=5.0), "'liftoff_override'"
            ' is not done yet: charges may fire after it, whatever sensors show: request it again'
            ' within 5 s', id='override once',
        ),
        pytest.param(
            Phase.PREFLIGHT, 'lanch', READY, "unknown command 'lanch', did you mean 'launch'?",
            id='misspelt',
        ),
        pytest.param(
            Phase.PREFLIGHT, 'xyz', READY, "unknown command 'xyz', expected one of set_home,"
            ' launch, debug, ignition, abort, liftoff_override, apogee_override, reset,'
            ' safe',
            id='unknown',
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


@pytest.mark.parametrize('phase', Phase)
def test_duties_agree_with_what_is_armed(phase):
    duties = DUTIES[phase]
    assert (Duty.ARM in duties.entry) == phase.is_armed
    assert (Duty.RUN_EVENTS in duties.update) == phase.is_armed
    assert (Duty.SOUND_BEACON in duties.entry) == (phase is Phase.RECOVERY)
    assert (Duty.SILENCE_BEACON in duties.exit) == (phase is Phase.RECOVERY)


def test_every_duty_is_done_somewhere():
    done = {
        duty for duties in DUTIES.values()
        for part in (duties.entry, duties.update, duties.exit) for duty in part
    }
    assert done == set(Duty)


NAN = math.nan
STEP_NS = 10_000_000


def burn(accelerations, fitted=False, step_ns=STEP_NS):
    monitor = BurnMonitor()
    states = []
    for i, a in enumerate(accelerations):
        monitor.update(i * step_ns, *((NAN, a) if fitted else (a, NAN)))
        states.append(monitor.is_burning)
    return states


def test_burnout_and_a_second_stage_are_seen():
    states = burn([30.0] * 100 + [-12.0] * 100 + [40.0] * 100 + [-10.0] * 100)
    changes = [i for i in range(1, 400) if states[i] != states[i - 1]]
    assert changes == [110, 210, 310]


def test_noise_about_zero_does_not_chatter():
    assert all(burn([4.0 * (-1) ** i for i in range(500)]))
    assert not any(burn([-12.0] * 20 + [-12.0 + 40.0 * (i % 5 == 0) for i in range(500)])[20:])


def test_fitted_acceleration_needs_a_second():
    states = burn([-12.0] * 200, fitted=True)
    assert states.index(False) == 100
