# SPDX-License-Identifier: Apache-2.0
"""What is fired while its record is written: charges at least once, igniters at most once."""
import copy
import functools
import itertools
import json

import pytest
from flight_computer import APOGEE, LIFTOFF, MS, Computer, Disk

from parts import few_of
from propulsion_ros.loops.flight.record_file import encode
from propulsion_ros.loops.flight.recorder import LONGEST_WAIT, Boot
from propulsion_ros.settings.files import replace_durably

LIT = LIFTOFF + 4.5
"""About when the sustainer is to be lit [s]."""
NEVER = 1e6


def when(variable, threshold, **more):
    return {'flightVar': variable, 'operator': 'MORETHAN', 'threshold': threshold, **more}


def event(i, name, kind, param, condition, target=0):
    action = {'type': kind, 'id': target, 'param': param}
    return {'id': i, 'name': name, 'action': action, 'condition': condition}


DROGUE = event(0, 'drogue', 'deployment', 1000, when('TimeSinceApogee', 0))
SUSTAINER = event(1, 'light', 'engine', 1, when('TimeSinceLiftoff', 4400))
STOP = event(2, 'stop', 'engine', 0, when('TimeSinceEvent', 0, component=1))
IGNITION = event(1, 'light', 'engine', 1, when('TimeSinceIgnition', 0))


class SlowDisk(Disk):
    """A disk on which each write takes some time [s]."""

    def __init__(self):
        self.delay, self.due, self.host = 0.0, [], None
        super().__init__()

    def put(self, record):
        self.records.append(record)
        self.due.append(self.host.steady + round(self.delay * 1e9))
        return len(self.records)

    @property
    def written(self):
        done = [i for i, due in enumerate(self.due, 1) if due <= self.host.steady]
        return max(done, default=0)

    @written.setter
    def written(self, value):
        pass

    @property
    def record(self):
        """What is on the disk."""
        return self.records[self.written - 1] if self.written else None


class Rocket:
    """A rocket whose flight computer is killed, and begins again from what the disk has."""

    def __init__(self, folder, events=(DROGUE, SUSTAINER), **settings):
        self.path, self.config = folder / 'flight.json', folder / 'two_stages.jsonc'
        self.config.write_text(json.dumps({
            'Deployers': [{'id': 0, 'name': 'drogue', 'type': 'local_pyro', 'channel': 0}],
            'Engines': [{'id': 0, 'name': 'sustainer', 'type': 'SimpleEngine', 'igniter': {
                'type': 'local_pyro', 'channel': 1, 'param': 300,
            }}],
            'Events': list(events),
        }))
        self.settings = {'state_file': str(self.path), **settings}
        self.computers, self.t, self.delay = [], 0.0, 0.0
        self.start()

    def start(self):
        """Start a process."""
        disk = SlowDisk()
        boot = Boot('boot', functools.partial(self._since_boot, 100.0 + self.t))
        computer = Computer(
            config_file=str(self.config), disk=disk, boot=boot, at=self.t, **self.settings
        )
        disk.host, disk.delay = computer.host, self.delay
        self.computers.append(computer)

    def _since_boot(self, begun):
        return round(begun * 1e9) + self.now.host.steady - 5 * 10**9

    @property
    def now(self):
        """The process that runs."""
        return self.computers[-1]

    def to(self, end):
        """Fly up to a time [s]."""
        self.now.feed(self.t, end)
        self.t = end
        return self

    def until_spent(self, event_id):
        """Fly until an event is spent."""
        while all(e.id != event_id for e in self.now.loop._state.snapshot().events):
            self.to(round(self.t + 0.02, 2))

    def kill(self, away=0.5):
        """Kill it, so that only what is on the disk stays, and start it again."""
        if self.now.disk.record is not None:
            replace_durably(self.path, encode(self.now.disk.record))
        self.t = round(self.t + away, 2)
        self.start()

    def begun(self, topic, column):
        """Return how often something went on, in all processes."""
        count = 0
        for computer in self.computers:
            on = [row.effort[column] == 1.0 for row in computer.values(topic)]
            count += sum(is_on and not was for was, is_on in zip([False, *on], on, strict=False))
        return count

    @property
    def pulses(self):
        return self.begun('~/deployers', 0)

    @property
    def ignitions(self):
        return self.begun('~/engines', 1)

    @property
    def events(self):
        return [name for computer in self.computers for name, _ in computer.fired]


@pytest.fixture(scope='module')
def kept(tmp_path_factory):
    """Return what gives a rocket that flew up to a time: equal ones are copies of one."""
    rockets = {}

    def fly(until, settings):
        key = repr((until, settings))
        if key not in rockets:
            rocket = Rocket(tmp_path_factory.mktemp('rocket'), **settings).to(2.0)
            rocket.now.command('launch')
            rockets[key] = rocket.to(until)
        return copy.deepcopy(rockets[key])
    return fly


@pytest.fixture
def rocket(kept, tmp_path):
    def make(until, **settings):
        rocket = kept(until, settings)
        rocket.path = tmp_path / 'flight.json'
        rocket.settings['state_file'] = rocket.settings['state_file'] and str(rocket.path)
        return rocket
    return make


DELAYS = [0.0, 0.05, 0.2, 0.5, NEVER]
KILLS = pytest.mark.parametrize(
    ('delay', 'after'), few_of(itertools.product(DELAYS, [0.0, 0.06, 0.22, 0.9]), 3)
)


@pytest.mark.parametrize('delay', few_of(DELAYS, 2))
def test_charge_and_igniter_wait_for_the_record_and_samples_do_not(rocket, delay):
    flown = rocket(LIT - 0.3)
    disk = flown.now.disk
    disk.delay = delay
    disk.waits.clear()
    for i in (1, 0):
        flown.until_spent(i)
        begun, spent = flown.now.host.steady, len(disk.records)
        while not flown.events[1 - i:] and flown.t < 60.0:
            before = flown.now.host.steady
            flown.to(round(flown.t + 0.02, 2))
            assert flown.now.host.steady - before == 20 * MS, 'a sample waited'
        waited = (flown.now.host.steady - begun) * 1e-9
        assert waited <= min(delay, LONGEST_WAIT) + 0.03
        if delay < LONGEST_WAIT:
            assert disk.written >= spent
            assert any(e.id == i for e in disk.record.snapshot.events)
        flown.to(round(flown.t + 0.5, 2))
    assert not any(disk.waits), 'the disk was waited for'
    assert flown.events == ['light', 'drogue']
    assert flown.pulses == 1
    assert flown.ignitions == int(delay < LONGEST_WAIT)
    errors = flown.now.host.said('error')
    assert errors == ([] if delay < LONGEST_WAIT else [
        "engine 'sustainer' is not lit by light: its record was not written within 0.25 s, and a "
        'restart could light it again'
    ])


@KILLS
def test_killed_igniter_is_lit_at_most_once(rocket, delay, after):
    """A write that took 50 ms, and a kill: one event twice."""
    flown = rocket(LIT - 0.3)
    flown.now.disk.delay = delay
    flown.until_spent(1)
    flown.to(round(flown.t + after, 2)).kill()
    flown.to(LIT + 5.0)
    assert flown.now.flags['phase'] == 'flight'
    assert flown.ignitions <= 1
    if delay < LONGEST_WAIT:
        assert flown.events.count('light') <= 1
    if delay + 0.03 < after:
        assert flown.events.count('light') == 1
        assert flown.ignitions == int(delay < LONGEST_WAIT)


def test_igniter_of_a_repeating_event_is_not_lit_again_after_a_kill(rocket):
    repeating = {**SUSTAINER, 'single_fire': False, 'cooldown': 60000}
    flown = rocket(LIT + 1.5, events=(DROGUE, repeating))
    assert flown.ignitions == 1
    flown.kill()
    flown.to(LIT + 3.0)
    assert flown.now.flags['phase'] == 'flight'
    assert flown.ignitions == 1


@KILLS
def test_killed_charge_is_fired_at_least_once(rocket, delay, after):
    flown = rocket(APOGEE - 0.4, events=(DROGUE,))
    flown.now.disk.delay = delay
    flown.until_spent(0)
    flown.to(round(flown.t + after, 2)).kill()
    flown.to(round(flown.t + 8.0, 2))
    assert 1 <= flown.pulses <= 2
    on = flown.now.on('drogue')
    assert on[-1] - on[0] > 0.85, 'a whole pulse'
    if delay < LONGEST_WAIT:
        assert flown.events.count('drogue') <= 1


def test_charge_whose_record_never_comes_is_fired_anew_after_each_kill(rocket):
    flown = rocket(APOGEE - 0.4, events=(DROGUE,))
    flown.delay = flown.now.disk.delay = NEVER
    for count in range(1, 4):
        flown.until_spent(0)
        flown.to(round(flown.t + 0.4, 2))
        assert flown.pulses == len(flown.events) == count
        flown.kill(away=0.2)


@pytest.mark.parametrize(('settings', 'is_lit'), [
    pytest.param({'state_file': ''}, False, id='a robot without a record'),
    pytest.param({'state_file': '', 'is_simulated': True}, True, id='a simulation without one'),
    pytest.param({'state_file': '', 'replay': True}, True, id='a replay'),
    pytest.param({'is_simulated': True}, True, id='a simulation whose disk hangs'),
    pytest.param({}, True, id='a robot with a record'),
])
def test_engines_are_lit_with_a_record_or_where_nobody_stands_beside_them(
    rocket, settings, is_lit
):
    flown = rocket(LIT - 0.3, **settings)
    flown.now.disk.delay = NEVER if settings.get('is_simulated') else 0.0
    flown.to(LIT + 1.0)
    assert flown.events == ['light']
    assert flown.ignitions == int(is_lit)
    if not is_lit:
        assert flown.now.host.said('error') == [
            "engine 'sustainer' is not lit by light: no state_file: on a robot engines are lit "
            'only where the record of it is kept'
        ]


@pytest.mark.parametrize(('settings', 'is_refused'), [
    pytest.param({}, True, id='with engines'),
    pytest.param({'events': (DROGUE,)}, False, id='without'),
    pytest.param({'is_simulated': True}, False, id='simulation'),
    pytest.param({'replay': True}, False, id='replay'),
])
def test_launch_without_a_record_is_refused_on_a_robot_whose_events_light_engines(
    tmp_path, settings, is_refused
):
    checks = ('altitude', 'record')
    flown = Rocket(tmp_path, state_file='', required_checks=checks, **settings).to(2.0)
    success, text = flown.now.call('launch')
    assert success is not is_refused
    assert ('no state_file' in text) is is_refused
    assert ('record' in flown.now.flags['not_ready'].split()) is is_refused


@pytest.mark.parametrize('events', [
    pytest.param((DROGUE, SUSTAINER, STOP), id='shut down by an event'),
    pytest.param((DROGUE, SUSTAINER), id='ended by a command'),
])
def test_ignition_that_waits_is_dropped_by_what_ends_it(rocket, events):
    flown = rocket(LIT - 0.3, events=events)
    flown.now.disk.delay = 0.2
    flown.until_spent(1)
    if STOP not in events:
        flown.now.command('abort')
    flown.to(LIT + 2.0)
    assert flown.ignitions == 0
    why = 'it was shut down' if STOP in events else 'the phase became recovery'
    assert flown.now.host.said('error') == [
        f"engine 'sustainer' is not lit by light: {why} before its record was written"
    ]


def test_abort_and_launch_while_an_ignition_waits_light_nothing(rocket):
    """The ignition of before the abort would have been lit in the next launch."""
    flown = rocket(3.0, events=(DROGUE, IGNITION))
    flown.now.command('ignition')
    flown.now.disk.delay = 0.2
    flown.until_spent(1)
    flown.now.command('abort')
    flown.now.disk.delay = 0.0
    flown.now.command('launch')
    flown.to(3.9)
    assert flown.ignitions == 0


def test_charge_that_waits_is_given_up_by_safe_for_good(rocket):
    flown = rocket(APOGEE - 0.4, events=(DROGUE,))
    flown.now.disk.delay = 0.2
    flown.until_spent(0)
    flown.now.loop._requests._follow('safe', is_second=True)
    flown.to(round(flown.t + 1.0, 2))
    assert flown.now.flags['phase'] == 'preflight'
    assert not flown.pulses
    assert not flown.events
    assert 'event drogue does not act: the phase became preflight' in flown.now.warnings
    flown.kill()
    flown.to(round(flown.t + 3.0, 2))
    assert not flown.pulses


def test_stop_while_a_charge_waits_leaves_it_owed(rocket):
    flown = rocket(APOGEE - 0.4, events=(DROGUE,))
    flown.now.disk.delay = 0.2
    flown.until_spent(0)
    flown.now.host.deactivate()
    flown.now.disk.delay = 0.0
    flown.now.disk.due[-1] = 0
    flown.kill()
    flown.to(round(flown.t + 3.0, 2))
    assert flown.pulses == 1
