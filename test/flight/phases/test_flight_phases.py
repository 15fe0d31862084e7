# SPDX-License-Identifier: Apache-2.0
"""Phases that commands lead through, and what runs in them."""
import math

import pytest

from propulsion_ros.flight.apogee.detector import ApogeeDetector
from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.flight.events.conditions import MoreThan
from propulsion_ros.flight.events.controllers import PidSpec
from propulsion_ros.flight.events.events import Action, EventSpec
from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.flight.flight_state import FlightState
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.flight.phases.phases import Phase
from propulsion_ros.settings.errors import ConfigError

MS = 1_000_000
EAST = PidSpec(0, 'east', 1.0, 0.0, 0.0, 0.0, 0, 0)


def make(events=(), controllers=(), **options):
    return FlightState(
        FlightParams(), ApogeeDetector(ApogeeParams()), events, (), controllers, **options
    )


class Fed:
    """A flight state and its reports, one sample every 20 ms."""

    def __init__(self, *args, **options):
        self.state = make(*args, **options)
        self.k, self.report = 0, None

    def feed(self, count=1, **values):
        reports = []
        for _ in range(count):
            self.k += 1
            reports.append(self.state.update(Sample(
                self.k * 20 * MS, 1e-3 * (self.k % 2), 1e-3 * (self.k % 3), **values
            )))
        self.report = reports[-1]
        return reports

    def command(self, name, **options):
        return self.state.command(name, self.k * 20 * MS, **options)

    def override_liftoff(self):
        """Request it twice, as it must be."""
        assert 'request it again' in self.command('liftoff_override')
        assert self.command('liftoff_override', is_second=True) == ''


def test_debug_says_so_until_the_vehicle_is_back_on_the_pad():
    fed = Fed()
    fed.feed()
    seen = []
    for name in ('debug', 'launch', 'abort', 'launch', 'abort', 'debug', 'reset'):
        assert fed.command(name) == ''
        fed.feed()
        seen.append((fed.state.phase.value, 'debug' in fed.report.flags))
    assert seen == [
        ('debug', True), ('launch', True), ('preflight', False), ('launch', False),
        ('preflight', False), ('debug', True), ('preflight', False),
    ]


@pytest.mark.parametrize(('command', 'phase'), [
    ('launch', Phase.LAUNCH), ('liftoff_override', Phase.FLIGHT),
    ('apogee_override', Phase.RECOVERY),
])
def test_debug_leads_everywhere_without_an_altitude_and_with_a_clean_slate(command, phase):
    events = (EventSpec(0, 'once', MoreThan('TimeSinceApogee', 0, 0.0)),)
    fed = Fed(events)
    fed.feed()
    assert fed.command('launch') == ''
    fed.override_liftoff()
    assert fed.command('abort') == ''
    fed.feed(500)
    assert fed.command('reset') == ''
    assert fed.command('debug') == ''
    fed.feed(200)
    if command == 'liftoff_override':
        fed.override_liftoff()
    else:
        assert fed.command(command) == ''
    reports = fed.feed(2)
    assert fed.state.phase is phase
    assert (fed.state.liftoff is not None) == (phase is Phase.FLIGHT)
    assert [event.name for report in reports for event in report.events] == (
        ['once'] if phase is Phase.RECOVERY else []
    )


def test_set_home_belongs_to_preflight_and_needs_an_altitude():
    fed = Fed()
    assert fed.command('set_home') == "'set_home' is refused: no recent sample gives an altitude"
    fed.feed()
    assert fed.command('set_home') == ''
    assert fed.state.phase is Phase.PREFLIGHT
    assert fed.command('launch') == ''
    assert fed.command('set_home') == "'set_home' is refused in launch, it belongs to preflight"


def test_controllers_run_in_flight_alone_and_events_stop_them():
    events = (
        EventSpec(0, 'stop', MoreThan('TimeSinceLiftoff', 0, 100.0), (Action('controller', 0, 0),)),
        EventSpec(1, 'run', MoreThan('TimeSinceLiftoff', 0, 200.0), (Action('controller', 0, 1),)),
    )
    fed = Fed(events, (EAST,))
    outputs = []
    for name in ('', 'launch', 'liftoff_override'):
        if name == 'liftoff_override':
            fed.override_liftoff()
        else:
            assert name == '' or fed.command(name) == ''
        outputs.append([
            repr(control.output)
            for report in fed.feed(15, horizontal_position=(3.0, 0.0))
            for control in report.controls
        ])
    assert outputs == [[], [], ['-3.0'] * 5 + ['nan'] * 5 + ['-3.0'] * 5]
    assert fed.command('abort') == ''
    assert fed.feed(1, horizontal_position=(3.0, 0.0))[0].controls == ()


def test_events_see_the_attitude_and_the_circuits():
    events = (
        EventSpec(0, 'tilted', MoreThan('Tilt', 0, 1.0)),
        EventSpec(1, 'rolled', MoreThan('BoardOrientation', 0, 1.0)),
    )
    fed = Fed(events)
    fed.feed()
    assert fed.command('launch') == ''
    half = math.sqrt(0.5)
    assert fed.feed(1)[0].events == ()
    (report,) = fed.feed(1, rotation=(half, 0.0, 0.0, half))
    assert [event.name for event in report.events] == ['tilted', 'rolled']


@pytest.mark.parametrize('action', [Action('deployment', 0, 1.0), Action('controller', 1, 1.0)])
def test_actions_on_what_is_not_there_are_refused_at_once(action):
    event = EventSpec(0, 'e', MoreThan('Tilt', 0, 1.0), (action,))
    with pytest.raises(ConfigError, match=f'events\\[0\\].*{action.kind} {action.target} of'):
        make((event,), (EAST,))


def test_legacy_semantics_can_be_flown():
    silent = EventSpec(0, 'later', MoreThan('TimeSinceLiftoff', 0, 100.0), (), True, 0)
    fed = Fed((silent,), semantics='legacy')
    fed.feed()
    assert fed.command('launch') == ''
    fed.override_liftoff()
    assert [len(report.events) for report in fed.feed(8)] == [0, 0, 0, 0, 1, 0, 0, 0]
