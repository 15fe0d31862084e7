# SPDX-License-Identifier: Apache-2.0
"""Requests are of now, and none outlives the phase in which it was made."""
import itertools

import pytest
from flight_computer import (
    APOGEE,
    MAIN,
    MS,
    Computer,
    altitude,
    ask,
    launched,
    odometry,
    request,
    rested,
)

from fake_host import message
from parts import few_of
from propulsion_ros.loops.flight.recorder import Boot
from propulsion_ros.models.common.atmosphere import temperature_and_pressure


def ask_later(computer, seconds, name, sender=''):
    """Deliver a request with the stamp that is some seconds from now."""
    ask(computer, name, round(computer.loop.stamp_ns + seconds * 1e9), sender)


@pytest.mark.parametrize(('seconds', 'is_taken'), [
    (-9.5, False), (-0.25, False), (-0.15, True), (0.05, True), (0.15, False), (9.5, False),
])
@pytest.mark.parametrize('is_simulated', [False, True])
def test_live_request_is_of_now(seconds, is_taken, is_simulated):
    computer = rested(is_simulated=is_simulated)
    ask_later(computer, seconds, 'launch', 'laptop')
    computer.feed(2.0, 3.0)
    assert (computer.flags['phase'] == 'launch') is is_taken
    if not is_taken:
        (line,) = computer.warnings
        side = 'ahead of' if seconds > 0 else 'behind'
        assert line.startswith(
            f"request 'launch' of 'laptop' is refused: stamped {abs(seconds):.3f} s {side} this"
        )


@pytest.mark.parametrize('name', ['launch', 'ignition', 'debug', 'liftoff_override'])
@pytest.mark.parametrize('is_simulated', [False, True])
def test_request_without_a_stamp_is_refused(name, is_simulated):
    """Those of a recording that was played beside the robot armed it and lit its engine."""
    computer = rested(is_simulated=is_simulated)
    if name == 'ignition':
        computer.command('launch')
    phase = computer.flags['phase']
    ask(computer, name, 0, 'laptop')
    computer.feed(2.0, 3.0, motion=lambda t: 0.0)
    assert computer.flags['phase'] == phase
    assert not computer.fired
    assert computer.warnings[-1] == (
        f"request '{name}' of 'laptop' is refused: it has no stamp, as one of a recording may; "
        f'give it a stamp of now, or call the service ~/{name}'
    )


@pytest.mark.parametrize('first', ['call', 'timer', 'sample'])
@pytest.mark.parametrize(('pause', 'is_taken'), [(0.8, True), (1.2, False), (30.0, False)])
def test_call_that_waited_while_the_process_was_stopped_is_refused(first, pause, is_taken):
    """Engines were lit up to half a minute after the call, whenever the process woke."""
    computer = rested()
    computer.command('launch')
    computer.host.now += round(pause * 1e9)
    computer.host.steady += round(pause * 1e9)
    if first == 'timer':
        computer.wait(0.11)
    elif first == 'sample':
        computer.feed(2.0 + pause, 2.1 + pause, motion=lambda t: 0.0)
    accepted, text = computer.call('ignition')
    assert accepted is is_taken
    if not is_taken:
        assert text.startswith(f"'ignition' is refused: this process was stopped for {pause:.1f} s")
        # DDS repeats a lost call within 3 s.
        computer.feed(2.1 + pause, 5.2 + pause, motion=lambda t: 0.0)
        assert not computer.call('ignition')[0]
        computer.feed(5.2 + pause, 5.8 + pause, motion=lambda t: 0.0)
        computer.command('ignition')


def test_request_that_waits_as_the_process_stops_is_dropped_and_an_abort_is_followed():
    computer = rested()
    computer.command('launch')
    ask_later(computer, 0.05, 'ignition')
    computer.host.now += 5 * 10**9
    computer.host.steady += 5 * 10**9
    computer.feed(7.0, 7.1, motion=lambda t: 0.0)
    assert not computer.fired
    assert any("'ignition' is dropped: this process was stopped" in line
               for line in computer.warnings)
    assert computer.call('abort')[0]
    assert computer.flags['phase'] == 'preflight'


@pytest.mark.parametrize('seconds', [-9.5, 9.5])
def test_replayed_request_takes_effect_at_its_stamp_whenever_it_comes(seconds):
    computer = rested(replay=True)
    ask_later(computer, seconds, 'launch')
    computer.feed(2.0, 12.0, motion=lambda t: 0.0)
    assert computer.flags['phase'] == 'launch'


def test_requests_that_wait_do_not_outlive_an_abort():
    """Requests queued behind an abort fired both charges after the next launch."""
    computer = rested()
    computer.command('launch')
    for k, name in enumerate(('liftoff_override', 'liftoff_override', 'apogee_override')):
        ask_later(computer, 0.09 - 0.001 * k, name)
    ask_later(computer, 0.0, 'abort')
    computer.command('launch')
    computer.feed(2.0, 3.0)
    assert computer.flags['phase'] == 'launch'
    assert not computer.fired
    assert sum('is dropped: the phase is preflight now' in line for line in computer.warnings) == 3


@pytest.mark.parametrize('seconds', [-1000.0, -0.5, 0.0, 0.09, 1000.0])
def test_abort_is_followed_once_on_arrival_whatever_its_stamp(seconds):
    computer = rested()
    computer.command('launch')
    ask_later(computer, seconds, 'abort')
    assert computer.flags['phase'] == 'preflight'
    computer.command('launch')
    stamp_ns = round(2.0 * 1e9 - 20 * MS + seconds * 1e9)
    computer.host.deliver('~/request', request(stamp_ns, 'abort'))
    computer.feed(2.0, 3.0)
    assert computer.flags['phase'] == 'launch', 'a repetition of the same one'


@pytest.mark.parametrize('abort', [
    pytest.param(lambda computer: ask(computer, 'abort'), id='message'),
    pytest.param(lambda computer: ask(computer, 'abort', 0), id='message without a stamp'),
    pytest.param(lambda computer: computer.call('abort'), id='service'),
])
@pytest.mark.parametrize('is_late', [False, True], ids=['waits', 'comes late'])
@pytest.mark.parametrize('name', ['launch', 'debug'])
def test_abort_drops_each_request_that_is_older(abort, is_late, name):
    """In preflight, where it is refused, it left a launch waiting that armed the vehicle."""
    computer = rested()
    computer.wait(0.02)
    stamp_ns = computer.loop._request_time()
    if not is_late:
        ask(computer, name, stamp_ns)
    computer.wait(0.1)
    abort(computer)
    computer.wait(0.02)
    if is_late:
        ask(computer, name, stamp_ns)
    computer.feed(2.16, 3.0)
    assert computer.flags['phase'] == 'preflight'
    line = f"request '{name}' is " + (
        "refused: stamped before 'abort'" if is_late else "dropped: 'abort' came")
    assert computer.warnings.count(line) == 1
    ask(computer, name)
    computer.feed(3.0, 3.5, motion=lambda t: 0.0)
    assert computer.flags['phase'] == name, 'a later one is followed'


@pytest.mark.parametrize('seconds', [-1000.0, 0.0, 1000.0])
def test_abort_with_a_wrong_clock_forbids_nothing_for_long(seconds):
    computer = rested()
    ask_later(computer, seconds, 'abort')
    computer.feed(2.0, 2.2)
    ask(computer, 'launch')
    computer.feed(2.2, 3.0)
    assert computer.flags['phase'] == 'launch'


def test_time_that_starts_again_after_an_abort_forbids_nothing():
    computer = Computer(is_simulated=True)
    computer.feed(500.0, 502.0, motion=lambda t: 0.0)
    ask(computer, 'abort')
    computer.feed(0.0, 2.0, motion=lambda t: 0.0)
    ask(computer, 'launch')
    computer.feed(2.0, 3.0, motion=lambda t: 0.0)
    assert computer.flags['phase'] == 'launch'


def test_request_is_followed_though_the_sensors_are_silent():
    computer = rested()
    computer.command('launch')
    computer.feed(2.0, 9.0)
    assert computer.flags['phase'] == 'flight'
    computer.wait(2.0)
    now_ns = computer.loop._request_time()
    computer.host.deliver('~/request', request(now_ns, 'apogee_override'))
    computer.wait(0.5)
    assert computer.flags['phase'] == 'recovery'


# The clocks of others.


def both(computer, begin, end, offset):
    """Deliver samples of two publishers that take turns, the second with another clock."""
    for k in range(round(begin / 0.02), round(end / 0.02)):
        t = k * 0.02
        computer.wait(0.01)
        climb = (altitude(t + 1e-4) - altitude(t - 1e-4)) / 2e-4
        computer.host.deliver('~/odometry', odometry(round(t * 1e9), 120.0 + altitude(t), climb))
        computer.wait(0.01)
        computer.host.deliver(
            '~/odometry', odometry(round((t + offset) * 1e9), 120.0 + altitude(t), climb)
        )


@pytest.mark.parametrize('offset', few_of([-1000.0, -3.0, 1.6, 5.0, 1000.0], 2))
def test_second_publisher_with_another_clock_does_not_drive_the_timer(offset):
    computer = Computer(**{'flight.max_ascent_time': 25.0}).fly()
    both(computer, 2.0, 12.0, offset)
    assert computer.flags['phase'] == 'flight'
    assert not computer.fired
    assert computer.host.counts['other_publisher'] > 400
    assert any(
        'odometry not taken: of another publisher or clock' in line for line in computer.warnings
    )
    assert computer.loop.stamp_ns * 1e-9 == pytest.approx(11.98)


def with_replay(flown, replayed, begin, stall, seconds=50.0):
    """Return a computer that flew beside a replay whose stamps are years older."""
    computer = Computer('pressure', **{'flight.max_ascent_time': 20.0})

    def deliver(stamp_ns, height):
        _, pressure = temperature_and_pressure(120.0 + height)
        computer.host.deliver('~/pressure', message(stamp_ns, fluid_pressure=float(pressure)))

    for k in range(round(seconds / 0.02)):
        t = k * 0.02
        computer.wait(0.02)
        if not stall[0] <= t < stall[0] + stall[1]:
            deliver(computer.host.now, flown(t) + 0.02 * (k % 2))
        if k == 150:
            computer.command('launch')
        if t > begin:
            deliver(round((1_600_000_000 + t) * 1e9), replayed(t - begin))
    return computer


@pytest.mark.parametrize('stall', few_of([
    pytest.param((6.0, 0.56), id='stall beside it'),
    pytest.param((6.0, 9.0), id='long stall beside it'),
    pytest.param((4.98, 0.72), id='stall where it begins'),
    pytest.param((4.5, 2.9), id='begins in a stall'),
], 3))
def test_replay_fires_nothing_on_the_pad(stall):
    """Both charges fired, and the sensor was refused as long as the replay went on."""
    computer = with_replay(lambda t: 0.0, altitude, 5.0, stall)
    assert computer.flags['phase'] == 'launch'
    assert not computer.fired
    assert computer.loop.stamp_ns == computer.host.now


@pytest.mark.parametrize('stall', few_of([
    pytest.param((4.5, 0.72), id='after ignition'),
    pytest.param((9.0, 0.72), id='in the coast'),
    pytest.param((9.0, 5.0), id='long, in the coast'),
], 2))
def test_replay_at_rest_does_not_disturb_a_flight(stall):
    """Both charges fired 5 s early, and after the stall at liftoff the phase stayed launch."""
    computer = with_replay(altitude, lambda t: 0.0, 3.0, stall)
    assert computer.flags['apogee_source'] == 'detected'
    (drogue, main) = (t - 1_700_000_000 for _, t in computer.fired)
    assert drogue == pytest.approx(APOGEE, abs=0.5)
    assert main == pytest.approx(MAIN, abs=1.0)


def test_publisher_that_is_followed_at_the_launch_has_precedence():
    """A replay that was there first was stopped, and went on after the launch."""
    computer = Computer('pressure')

    def deliver(seconds, **heights):
        for k in range(round(seconds / 0.02)):
            computer.wait(0.02)
            for name, height in heights.items():
                _, pressure = temperature_and_pressure(120.0 + height + 0.02 * (k % 2))
                stamp_ns = computer.host.now - (10**17 if name == 'replay' else 0)
                sample = message(stamp_ns, fluid_pressure=float(pressure))
                computer.host.deliver('~/pressure', sample)

    deliver(2.0, replay=0.0, sensor=0.0)
    deliver(12.0, sensor=0.0)
    assert any('pressure goes on with another publisher' in line for line in computer.warnings)
    computer.command('launch')
    deliver(2.0, replay=500.0, sensor=0.0)
    assert not computer.fired
    assert computer.flags['phase'] == 'launch'
    assert computer.loop.stamp_ns == computer.host.now


# A recording beside a sensor, before the launch and over a restart.


class Pad(Computer):
    """A computer beside whose sensor a recording of a flight is played, whose stamps are old."""

    def __init__(self, path, clock, ahead=0.0, **settings):
        boot = Boot('boot', lambda: clock[0] + self.host.steady - self.begun)
        self.begun, self._clock, self._ahead = 5 * 10**9, clock, ahead
        checks = ('altitude', 'publishers')
        super().__init__(
            'pressure', boot=boot, state_file=str(path), required_checks=checks, **settings
        )
        self.host.now += clock[0]

    def play(self, seconds, recorded=None, is_first=False, has_sensor=True, period=0.02):
        """Deliver the sensor at rest, and the recording from some second of its flight on."""
        for k in range(round(seconds / period)):
            self.wait(period)
            at_rest = [self._ahead, 0.02 * (k % 2)] if has_sensor else None
            flown = None
            if recorded is not None:
                t = recorded + k * period
                flown = [t - 1e8 - (self.host.now - 1_700_000_000 * 10**9) / 1e9, altitude(t)]
            for ahead, height in filter(None, (flown, at_rest)[::1 if is_first else -1]):
                _, pressure = temperature_and_pressure(120.0 + height)
                stamp_ns = self.host.now + round(ahead * 1e9)
                self.host.deliver('~/pressure', message(stamp_ns, fluid_pressure=float(pressure)))

    def killed(self, path, away=0.5, **settings):
        """Return the computer that is started after this one was killed."""
        self._clock[0] += self.host.steady - self.begun + round(away * 1e9)
        return Pad(path, self._clock, self._ahead, **settings)


@pytest.mark.parametrize(
    ('is_first', 'period'), few_of(itertools.product([True, False], [0.02, 0.5]), 3)
)
def test_recording_beside_the_sensor_refuses_the_launch_until_it_ends(tmp_path, is_first, period):
    """It was a warning, and the flight of the recording was flown."""
    computer = Pad(tmp_path / 'f.json', [0])
    computer.play(5.0, 0.0, is_first, period=period)
    success, text = computer.call('launch')
    assert not success
    assert text.startswith("'launch' is refused: pressure: two publishers, whose clocks are ")
    assert 'publishers' in computer.flags['not_ready'].split()
    computer.play(2.5)
    assert computer.call('launch') == (False, text), 'it may begin again'
    computer.play(1.0)
    computer.command('launch')
    computer.play(30.0, 0.0, is_first)
    assert computer.flags['phase'] == 'launch'
    assert computer.loop.stamp_ns == computer.host.now, "it is nearer to the computer's clock"


@pytest.mark.parametrize(
    ('ahead', 'is_first', 'late'),
    few_of(itertools.product([0.0, -1.6e9], [True, False], [0.0, 2.0]), 3),
)
def test_recording_beside_the_sensor_fires_nothing_after_a_restart(
    tmp_path, ahead, is_first, late
):
    """Its message came first, the sensor was refused from then on, and both charges fired."""
    path = tmp_path / 'f.json'
    computer = Pad(path, [0], ahead)
    computer.play(3.0)
    computer.command('launch')
    computer.play(6.0, 0.0, is_first)
    assert computer.flags['phase'] == 'launch'
    computer = computer.killed(path)
    if late:
        computer.play(late, 6.5, has_sensor=False)
    computer.play(25.0, 6.5 + late, is_first)
    assert computer.flags['phase'] == 'launch'
    assert not computer.fired
    assert computer.loop.stamp_ns == computer.host.now + round(ahead * 1e9)


def test_two_publishers_of_which_none_is_known_are_not_judged_until_one_ends(tmp_path):
    path = tmp_path / 'f.json'
    computer = Pad(path, [0])
    computer.play(3.0)
    computer.command('launch')
    computer.play(1.0)
    # The sensor has lost its clock too.
    computer._ahead = -1.5e9
    computer = computer.killed(path)
    computer.play(20.0, 6.0, is_first=True)
    assert computer.loop._state.is_resuming
    assert not computer.fired
    computer.play(15.0)
    assert computer.flags['phase'] in ('launch', 'preflight')
    assert not computer.loop._state.is_resuming
    assert not computer.fired


@pytest.mark.parametrize('ahead', [0.0, -1e9, 3.0, 1e8])
def test_one_publisher_of_any_time_is_launched_and_armed_again(tmp_path, ahead):
    path = tmp_path / 'f.json'
    computer = Pad(path, [0], ahead)
    computer.play(3.0)
    computer.command('launch')
    computer.play(1.0)
    computer = computer.killed(path)
    computer.play(8.0)
    assert computer.flags['phase'] == 'launch'


def test_publisher_whose_clock_was_set_goes_on_alone():
    computer = launched(9.0)
    for k in range(100):
        t = 9.0 + k * 0.02
        computer.wait(0.02)
        computer.host.deliver('~/odometry', odometry(round((t + 500.0) * 1e9), altitude(t) + 120.0))
    assert computer.flags['phase'] == 'flight'
    assert computer.loop.stamp_ns * 1e-9 == pytest.approx(510.98)


def test_clock_that_is_off_is_a_launch_check():
    computer = Computer(required_checks=('altitude', 'clocks'))
    computer.host.now = 1_200_000_000
    computer.feed(0.0, 2.0, motion=lambda t: 0.0)
    success, text = computer.call('launch')
    assert (success, text) == (
        False, "'launch' is refused: the clock of odometry is 1.220 s behind this computer's"
    )
    right = Computer(required_checks=('altitude', 'clocks'))
    right.host.now = 0
    right.feed(0.0, 2.0, motion=lambda t: 0.0)
    assert right.call('launch')[0]
    right = Computer(required_checks=('altitude', 'clocks'))
    right.host.now = 0
    right.host.deliver('~/continuity', message(3 * 10**9, name=['main'], position=[1.0]))
    right.feed(0.0, 0.5, motion=lambda t: 0.0)
    assert right.call('launch') == (
        False, "'launch' is refused: the clock of the pyros is 3.000 s ahead of this computer's"
    )


def late(computer, begin, end):
    """Deliver samples of one publisher, of which every fifth is stamped 0.8 s late."""
    for k in range(round(begin / 0.02), round(end / 0.02)):
        computer.wait(0.02)
        stamp_ns = round(k * 0.02 * 1e9) - (800 * MS if k % 5 == 4 else 0)
        computer.host.deliver('~/odometry', odometry(stamp_ns, 120.0, 0.0))


def test_late_stamps_of_one_sensor_are_described_and_the_check_can_be_taken_off():
    refused, taken_off = (
        Computer(required_checks=checks) for checks in (('altitude', 'publishers'), ('altitude',))
    )
    words = 'odometry: every fifth stamp is 0.8 s late'
    for computer in (refused, taken_off):
        late(computer, 0.0, 4.0)
        assert 'publishers' in computer.flags['not_ready'].split()
    assert refused.call('launch') == (False, f"'launch' is refused: {words}")
    success, text = taken_off.call('launch')
    assert success
    assert words in text


@pytest.mark.parametrize('offset', [-300.0, 5.0, 1000.0])
def test_circuits_with_a_clock_of_their_own_are_anchored_anew(offset):
    computer = Computer(required_checks=('circuits',))
    for k in range(100):
        t = 1000.0 + k * 0.02
        computer.wait(0.02)
        computer.host.deliver('~/odometry', odometry(round(t * 1e9), 100.0))
        computer.host.deliver('~/continuity', message(
            round((t + offset) * 1e9), name=['main'], position=[0.0]
        ))
    assert computer.call('launch') == (False, "'launch' is refused: open circuit of main")
    assert computer.host.counts['reanchored'] == 1
    assert any(
        f'continuity is steadily {offset:+.3f} s from the samples' in line
        for line in computer.warnings
    )
