# SPDX-License-Identifier: Apache-2.0
"""A flight computer in a host without ROS, its sensor, its disk, and one flight."""
from __future__ import annotations

import copy
from pathlib import Path
from types import SimpleNamespace

from fake_host import FakeHost, message
from propulsion_ros.graph.share import share_directory
from propulsion_ros.loops.flight.flight_loop import make_flight_loop
from propulsion_ros.loops.flight.params import FlightLoopParams
from propulsion_ros.loops.flight.record_file import encode
from propulsion_ros.models.common.atmosphere import temperature_and_pressure
from propulsion_ros.settings.flat import build
from propulsion_ros.study.bench_host import odometry, xyz

__all__ = ['odometry', 'xyz']
MS = 1_000_000
CONFIG = str(share_directory() / 'config' / 'rocket_flight.jsonc')
PERIOD = 0.02
ELSEWHERE = str(Path(__file__).with_name('flight.json'))
"""What is never on a disk."""
LIFTOFF, BURNOUT, SPEED, ACCELERATION, GRAVITY = 4.0, 7.0, 90.0, 30.0, 9.8
APOGEE = BURNOUT + SPEED / GRAVITY
TOP = 0.5 * ACCELERATION * 9.0 + 0.5 * SPEED**2 / GRAVITY
DESCENT = 20.0
DWELL = 0.3
"""For how long an altitude must call for a deployment, by default [s]."""
MAIN = APOGEE + 2.0 + (TOP - 0.5 * GRAVITY * 4.0 - 450.0) / DESCENT + DWELL


def altitude(t):
    """Boost, free fall to the apogee and some way beyond, then a steady descent."""
    if t < LIFTOFF:
        return 0.0
    if t < BURNOUT:
        return 0.5 * ACCELERATION * (t - LIFTOFF) ** 2
    if t < APOGEE + 2.0:
        return TOP - 0.5 * GRAVITY * (t - APOGEE) ** 2
    return max(TOP - 0.5 * GRAVITY * 4.0 - DESCENT * (t - APOGEE - 2.0), 0.0)


def request(stamp_ns, name, sender=''):
    return message(stamp_ns, status=[SimpleNamespace(name=name, hardware_id=sender)])


def ask(computer, name, stamp_ns=None, sender=''):
    """Deliver a request, of now where it has no stamp of its own."""
    now_ns = computer.loop._request_time() if stamp_ns is None else stamp_ns
    computer.host.deliver('~/request', request(now_ns, name, sender))


class Disk:
    """Writes records at once, or as a test has it."""

    def __init__(self, path=None):
        self.path, self.records, self.waits = path, [], []
        self.error, self.written, self.hangs, self.is_closed = '', 0, False, False

    def put(self, record):
        self.records.append(record)
        if not self.hangs and not self.error:
            self.written = len(self.records)
            if self.path is not None:
                self.path.write_bytes(encode(record))
        return len(self.records)

    def wait(self, number, seconds):
        self.waits.append(seconds)
        return bool(self.error) or self.written >= number

    def close(self):
        self.is_closed = True

    def give_up(self):
        self.path = None

    def when_ended(self, call):
        call()


class Computer:
    """A flight computer and its sensor, which begins at a time [s]."""

    def __init__(
        self, source='odometry', *, is_simulated=False, boot=None, disk=None, at=0.0, **settings
    ):
        self.host, self.source = FakeHost(), source
        self.disk = disk or Disk(Path(settings.get('state_file', '')))
        self.host.is_simulated = is_simulated
        self.host.now, self.host.steady = round((1_700_000_000 + at) * 1e9), 5 * 10**9
        params = build(FlightLoopParams, {
            'config_file': CONFIG, 'altitude_source': source, 'on_time_clock': 'stamps',
            'required_checks': ('altitude',), **settings,
        })
        self.loop = self.host.run(make_flight_loop(
            params, self.host, boot, self._open
        ))

    def _open(self, path):
        return self.disk

    def wait(self, seconds):
        """Let both clocks run."""
        for _ in range(round(seconds / 0.01)):
            self.host.now += 10 * MS
            if self.loop.timers:
                self.host.wait(0.01)
            else:
                self.host.steady += 10 * MS

    def feed(self, begin, end, motion=altitude, site=120.0):
        """Deliver samples at 50 Hz; the clocks go on with them."""
        for k in range(round(begin / PERIOD), round(end / PERIOD)):
            t = k * PERIOD
            self.wait(PERIOD)
            if self.source == 'pressure':
                _, pressure = temperature_and_pressure(site + motion(t))
                sample = message(round(t * 1e9), fluid_pressure=float(pressure))
            else:
                climb = (motion(t + 1e-4) - motion(t - 1e-4)) / 2e-4
                sample = odometry(round(t * 1e9), site + motion(t), climb)
            self.host.deliver(f'~/{self.source}', sample)

    def fly(self, until=2.0):
        """Rest for 2 s, launch, and fly up to a time."""
        self.feed(0.0, 2.0)
        self.command('launch')
        self.feed(2.0, until)
        return self

    def call(self, name):
        """Call a service, and return whether it succeeded and its message."""
        (request,) = [r for r in self.loop.requests if r.topic == f'~/{name}']
        return request.serve(True)

    def command(self, *names):
        for name in names:
            success, text = self.call(name)
            if name in ('liftoff_override', 'safe'):
                # Of consequence, so it is requested twice, and then no more.
                self.wait(0.5)
                success, text = self.call(name)
                self.wait(1.2)
            assert success, text

    def values(self, topic):
        return [payload for _, payload in self.host.of(topic)]

    @property
    def flags(self):
        return dict(self.values('~/flags')[-1][0].values)

    @property
    def warnings(self):
        return self.host.said('warn')

    @property
    def fired(self):
        """Name and stamp [s] of each event."""
        return [
            (status.name, stamp_ns * 1e-9)
            for stamp_ns, statuses in self.host.of('~/events') for status in statuses
        ]

    def on(self, deployer):
        """Return the stamps [s] at which a pyro was on."""
        (outlet,) = [outlet for outlet in self.loop.outlets if outlet.topic == '~/deployers']
        column = outlet.names.index(deployer)
        return [
            stamp_ns * 1e-9 for stamp_ns, row in self.host.of('~/deployers')
            if row.effort[column] == 1.0
        ]


_KEPT: dict[str, dict[float, Computer]] = {}
"""By their settings, computers at some times of one flight; at rest at 0."""


def rested(**settings):
    """Return a computer that has rested for 2 s; those of equal settings are copies of one."""
    kept = _KEPT.setdefault(repr(settings), {})
    if 0.0 not in kept:
        kept[0.0] = Computer(disk=Disk(), **settings)
        kept[0.0].feed(0.0, 2.0)
    return copy.deepcopy(kept[0.0])


def launched(until, **settings):
    """Return one that was launched then and flew on up to a time, copied in the same way."""
    kept = _KEPT.setdefault(repr(settings), {})
    if until not in kept:
        begun = max((t for t in kept if 0.0 < t < until), default=0.0)
        computer = copy.deepcopy(kept[begun]) if begun else rested(**settings)
        if not begun:
            computer.command('launch')
        computer.feed(begun or 2.0, until)
        kept[until] = computer
    return copy.deepcopy(kept[until])


def interrupted(path, at):
    """Return a computer that flew up to a time and then lost its power."""
    computer = launched(at, state_file=ELSEWHERE)
    path.write_bytes(encode(computer.disk.records[-1]))
    computer.disk.path = path
    return computer
