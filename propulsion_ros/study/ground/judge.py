# SPDX-License-Identifier: Apache-2.0
"""Flies a case with the real flight computer, and judges charges and engines by the truth."""
from __future__ import annotations

import functools
import json
import math
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import json5
import numpy as np

from propulsion_ros.graph.share import share_directory
from propulsion_ros.loops.flight.flight_loop import make_flight_loop
from propulsion_ros.loops.flight.params import FlightLoopParams
from propulsion_ros.loops.flight.record_file import FlightRecord, encode
from propulsion_ros.loops.flight.recorder import Boot
from propulsion_ros.loops.ports import Outlet
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import read_text, replace_durably, write_text
from propulsion_ros.settings.flat import build, suggestion
from propulsion_ros.settings.yaml_file import write_parameters
from propulsion_ros.study.bench_host import BenchHost, message, odometry, xyz
from propulsion_ros.study.draws import generator
from propulsion_ros.study.ground.case import DRAWN, SITUATIONS, SOURCES, Case, Drawn, draw
from propulsion_ros.study.ground.sensors import FIX, IMU, ODOMETRY, PRESSURE, SITE
from propulsion_ros.study.ground.situations import LAUNCH, PAD
from propulsion_ros.study.kinds import Cases
from propulsion_ros.study.study import Case as StudyCase
from propulsion_ros.study.study import Study

PREMATURE = 1.0
"""A drogue is premature more than this before apogee if the climb exceeds `_COAST` [s]."""
LATE = 2.0
"""Time after apogee, or after the timer if all sources have faults, that makes one late [s]."""
MAIN_HEIGHT = 450.0
"""Height at which the shipped configuration fires the main [m]."""
_COAST = 5.0  # upward speed below which nothing is premature [m/s]
_TOUCH = 1.0  # time after touchdown until which a charge is late, not fired on the ground [s]
_LOWEST = {'pressure': 150.0}  # apogee below which a drogue may be missed, by source [m]
_EPOCH = 1_700_000_000  # time of stamps at power on [s]
_DROGUE, _MAIN = 'drogue parachute', 'main parachute'
VERDICTS = ('fired_on_ground', 'lit_on_ground', 'twice', 'missed', 'premature', 'late')
"""Columns with the number of errors of each kind."""


class _Disk:
    """Keeps the newest record, and writes it when the process dies."""

    error = ''

    def __init__(self, path: Path) -> None:
        self._path, self.written = path, 0
        self._record: FlightRecord | None = None

    def put(self, record: FlightRecord) -> int:
        self._record = record
        self.written += 1
        return self.written

    def wait(self, number: int, seconds: float) -> bool:
        return True

    def close(self) -> None:
        pass

    def give_up(self) -> None:
        pass

    def when_ended(self, call: Callable[[], None]) -> None:
        call()

    def write(self) -> None:
        """Write the newest record."""
        if self._record is not None:
            replace_durably(self._path, encode(self._record))


class Notes(BenchHost):
    """Hosts a flight computer, and records what it does, across restarts."""

    def __init__(self) -> None:
        super().__init__()
        self.time = 0.0
        self.phases: list[tuple[float, str]] = []
        self.events: list[tuple[float, str]] = []
        self.pulses: list[tuple[float, str]] = []
        self.lit: list[tuple[float, str]] = []
        self.refusals: list[str] = []
        self.apogee_by = ''
        self._on: set[str] = set()

    def restart(self) -> None:
        """Forget what a process knows; outputs that are on go off without power."""
        self._on = set()
        self.counts.clear()

    def publish(self, outlet: Outlet, stamp_ns: int, payload: Any) -> None:
        """Note what `_TAKEN` has, and drop all else."""
        take = _TAKEN.get(outlet.topic)
        if take is not None:
            take(self, outlet, payload)

    def log(self, level: str, line: str) -> None:
        """Drop a line."""

    def phase(self, outlet: Outlet, payload: Any) -> None:
        """Note a change of the phase."""
        if not self.phases or self.phases[-1][1] != payload:
            self.phases.append((self.time, payload))

    def event(self, outlet: Outlet, payload: Any) -> None:
        """Note the events that fired."""
        self.events += [(self.time, status.name) for status in payload]

    def flags(self, outlet: Outlet, payload: Any) -> None:
        """Note the source that decided the apogee."""
        self.apogee_by = dict(payload[0].values).get('apogee_source') or self.apogee_by

    def pulse(self, outlet: Outlet, payload: Any) -> None:
        """Note which deployers are switched on."""
        self._switch(self.pulses, zip(outlet.names, payload.effort, strict=True))

    def engine(self, outlet: Outlet, payload: Any) -> None:
        """Note which engines are lit."""
        rows = zip(payload.names, payload.effort, strict=True)
        self._switch(self.lit, ((name, effort) for name, effort in rows if '/' not in name))

    def _switch(self, to: list[tuple[float, str]], rows: Any) -> None:
        for name, effort in rows:
            if effort != 1.0:
                self._on.discard(name)
            elif name not in self._on:
                self._on.add(name)
                to.append((self.time, name))

    def first(self, event: str) -> float:
        """Return when an event fired first [s], NaN if it did not."""
        return next((time for time, name in self.events if name == event), math.nan)


_TAKEN = {
    '~/phase': Notes.phase, '~/events': Notes.event, '~/deployers': Notes.pulse,
    '~/engines': Notes.engine, '~/flags': Notes.flags,
}


@functools.cache
def _config(stages: int) -> str:
    """Return the file of the shipped configuration, or of that with a second stage."""
    shipped = share_directory() / 'config' / 'rocket_flight.jsonc'
    if stages == 1:
        return str(shipped)
    document = json5.loads(read_text(shipped))
    (ignition,) = [each for each in document['Events'] if each['name'] == 'ignition']
    sustainer = ignition['action'].pop()
    # As a team would, it is lit by time and height, after the burn of a good first stage.
    document['Events'].append({
        'id': 3, 'name': 'second stage', 'single_fire': True, 'cooldown': 0,
        'action': [sustainer],
        'condition': {'operator': 'AND', 'condition': [
            {'operator': 'MORETHAN', 'flightVar': 'TimeSinceLiftoff', 'threshold': 3000},
            {'operator': 'LESSTHAN', 'flightVar': 'Position', 'component': 2, 'threshold': -30},
        ]},
        'phases': ['flight'],
    })
    folder = tempfile.TemporaryDirectory(prefix='two_stages_')
    _KEPT.append(folder)
    path = Path(folder.name) / 'two_stages.jsonc'
    write_text(path, json.dumps(document))
    return str(path)


_KEPT: list[Any] = []
"""Folders of configurations, which last as long as the process."""


def messages_of(drawn: Drawn, source: str) -> Iterator[tuple[float, str, Any]]:
    """Yield arrival [s], topic and message of every reading of a configuration, in order."""
    rows: list[tuple[float, int, str, float, Any]] = []
    set_at, offset = drawn.clock
    for rank, name in enumerate(SOURCES[source]):
        stream = drawn.streams[name]
        values = stream.pascal if name == PRESSURE else stream.values
        rows += zip(
            stream.arrival.tolist(), [rank] * len(values), [name] * len(values),
            (stream.stamp + offset * (stream.arrival >= set_at)).tolist(), values.tolist(),
            strict=True,
        )
    rows.sort(key=lambda row: row[:2])
    for arrival, _, name, stamp, value in rows:
        yield arrival, f'~/{name}', _MESSAGES[name](round((stamp + _EPOCH) * 1e9), value)


def _imu(stamp_ns: int, value: list[float]) -> Any:
    return message(
        stamp_ns, linear_acceleration=xyz(*value[:3]), angular_velocity=xyz(*value[3:])
    )


def _fix(stamp_ns: int, value: list[float]) -> Any:
    return message(
        stamp_ns, status={'status': 0}, latitude=SITE[0], longitude=SITE[1],
        altitude=SITE[2] + value[0], position_covariance=[4.0, 0, 0, 0, 4.0, 0, 0, 0, 16.0],
    )


_MESSAGES: Mapping[str, Callable[[int, Any], Any]] = {
    PRESSURE: lambda stamp, value: message(stamp, fluid_pressure=value, variance=0.0),
    IMU: _imu, FIX: _fix,
    ODOMETRY: lambda stamp, value: odometry(stamp, SITE[2] + value[0], value[1]),
}


class _Computer:
    """A flight computer on a robot, which can lose its power."""

    def __init__(self, case: Case, drawn: Drawn, notes: Notes, folder: Path) -> None:
        self._notes, self._path, self._clock = notes, folder / 'flight.json', drawn.clock
        self._params = build(FlightLoopParams, {
            'config_file': _config(case.stages), 'altitude_source': case.source.split()[0],
            'state_file': str(self._path), 'flight.max_ascent_time': drawn.scene.timer,
            # The steady clock would take a third of the computing time.
            'on_time_clock': 'stamps',
        })
        self._disk: _Disk | None = None
        self.start(0.0)

    def start(self, now: float) -> None:
        """Start the process at a time [s]; the clock since boot is not reset."""
        host = self._notes
        host.restart()
        host.now = round((_EPOCH + now + self._offset(now)) * 1e9)
        host.steady = round((now + 5.0) * 1e9)

        def open_disk(path: Path) -> _Disk:
            self._disk = _Disk(path)
            return self._disk

        boot = Boot('bench', lambda: host.steady)
        host.run(make_flight_loop(self._params, host, boot, open_disk))

    def _offset(self, now: float) -> float:
        set_at, offset = self._clock
        return offset if now >= set_at else 0.0

    def kill(self) -> None:
        """End the process at once, with its newest record on the disk."""
        if self._disk is not None:
            self._disk.write()
        self._notes.is_active = False

    def pass_to(self, now: float) -> None:
        """Let both clocks run until a time [s]."""
        host = self._notes
        host.time = now
        host.now = round((_EPOCH + now + self._offset(now)) * 1e9)
        host.wait(now + 5.0 - host.steady * 1e-9)

    def call(self, name: str) -> bool:
        """Call a service, and return whether it succeeded."""
        success, text = self._notes.request(name)
        if not success:
            self._notes.refusals.append(f'{self._notes.time:.1f} {text}')
        return bool(success)


def fly(case: Case) -> tuple[Drawn, Notes]:
    """Fly a case with the flight computer, and return the drawn case and the notes."""
    drawn, notes = draw(case), Notes()
    with tempfile.TemporaryDirectory(prefix='ground_') as folder:
        computer = _Computer(case, drawn, notes, Path(folder))
        _run(computer, drawn, case, notes)
    return drawn, notes


def _run(computer: _Computer, drawn: Drawn, case: Case, notes: Notes) -> None:
    scene = drawn.scene
    agenda: list[tuple[float, str]] = [(LAUNCH, 'launch'), *scene.requests]
    for at, away in drawn.restarts:
        agenda += [(at, 'kill'), (at + away, 'start')]
    agenda.sort(key=lambda row: row[0])
    step, on = 0.05, True
    now = 0.0

    def pass_to(until: float) -> None:
        nonlocal now
        # Without messages the clocks advance in steps, so that events are noted at their time.
        while on and now + step < until:
            now += step
            computer.pass_to(now)
        now = max(now, until)
        if on:
            computer.pass_to(now)

    def follow(until: float) -> None:
        nonlocal on
        while agenda and agenda[0][0] <= until:
            at, name = agenda.pop(0)
            pass_to(at)
            if name == 'kill':
                computer.kill()
                on = False
            elif name == 'start':
                on = True
                computer.start(now)
            elif on and not computer.call(name) and name == 'launch' and at < scene.last_launch:
                agenda.append((at + 0.5, 'launch'))
                agenda.sort(key=lambda row: row[0])

    for arrival, topic, sample in messages_of(drawn, case.source):
        follow(arrival)
        pass_to(arrival)
        if on:
            notes.deliver(topic, sample)
    follow(scene.motion.end)
    pass_to(scene.motion.end)


def judge(case: Case) -> dict[str, Any]:
    """Fly a case, and return its row.

    Returns
    -------
    dict
        The case, phases, charges and engines, and the numbers of errors by `VERDICTS`.

    If a situation is beyond its sources, errors count in ``beyond`` only; a computer that was never
    armed has no errors.
    """
    drawn, notes = fly(case)
    scene, motion = drawn.scene, drawn.scene.motion
    drogue, main = notes.first(_DROGUE), notes.first(_MAIN)
    counts = Counter(name for _, name in notes.events)
    row: dict[str, Any] = {
        'situation': case.situation, 'source': case.source,
        'class': drawn.fault_class(case.source),
        'faults': ' + '.join(f'{source} {name}' for source, name in drawn.faults),
        'restarts': len(drawn.restarts), 'stages': case.stages,
        'phases': ' '.join(f'{phase}@{time:.2f}' for time, phase in notes.phases),
        'fired': ' '.join(_described(motion, *pulse) for pulse in notes.pulses),
        'lit': ' '.join(_described(motion, *pulse) for pulse in notes.lit),
        'refused': '; '.join(notes.refusals[:3]),
        'hours': motion.end / 3600.0, 'apogee_by': notes.apogee_by,
        'drogue': drogue, 'delay': drogue - scene.apogee,
        'main_height': float(motion.height[motion.at(main)]) if main == main else math.nan,
    }
    wrong = {
        'fired_on_ground': sum(motion.rested(time) > _TOUCH for time, _ in notes.pulses),
        'lit_on_ground': sum(_is_unrequested(drawn, *each) for each in notes.lit),
        'twice': sum(count > 1 for count in counts.values()),
        **_of_flight(drawn, case, drogue, main),
    }
    is_armed = any(phase == 'launch' for _, phase in notes.phases)
    is_beyond = case.source in SITUATIONS[case.situation].beyond
    counted = dict.fromkeys(VERDICTS, 0) if is_beyond or not is_armed else wrong
    return {**row, 'armed': int(is_armed), **counted, 'beyond': sum(wrong.values()) * is_beyond}


def _described(motion: Any, time: float, name: str) -> str:
    """Return as text when an output was switched on, with height, speed and support then."""
    row = motion.at(time)
    on = 'aloft' if motion.is_aloft[row] else 'supported'
    return f'{name}@{time:.2f}:{motion.height[row]:.0f}m:{motion.speed[row]:.1f}m/s:{on}'


def _is_unrequested(drawn: Drawn, time: float, name: str) -> bool:
    """Return whether an engine was lit at rest without a request."""
    requested = [at for at, request in drawn.scene.requests if request == 'ignition']
    is_requested = any(at <= time < at + 1.0 for at in requested)
    return not is_requested and drawn.scene.motion.rested(time) > _TOUCH


def _of_flight(drawn: Drawn, case: Case, drogue: float, main: float) -> dict[str, int]:
    """Count the errors of charges in a flight, from liftoff to touchdown."""
    scene, motion = drawn.scene, drawn.scene.motion
    top = float(np.ptp(motion.height))
    if math.isnan(scene.apogee) or top < _LOWEST.get(case.source, 100.0):
        return {'missed': 0, 'premature': 0, 'late': 0}
    is_aborted = any(name == 'abort' and at < scene.touchdown for at, name in scene.requests)
    due = scene.apogee if math.isnan(scene.due) else scene.due
    if set(SOURCES[case.source]) == {source for source, _ in drawn.faults}:
        due = max(due, PAD + scene.timer)
    low = (motion.time >= due) & (motion.height < MAIN_HEIGHT)
    on_due, main_due = (
        _once_on(drawn, each) for each in (due, float(motion.time[low.argmax()]))
    )
    ends = scene.touchdown
    is_off = due < ends <= on_due
    must_main = main_due + LATE < ends
    early = drogue < scene.apogee - PREMATURE and motion.speed[motion.at(drogue)] > _COAST
    return {
        'missed': int(not (is_off or drogue <= ends)) + int(must_main and not main <= ends),
        'premature': int(early and not is_aborted),
        'late': int(on_due + LATE < drogue <= ends) + int(
            must_main and max(main_due, drogue) + LATE < main <= ends
        ),
    }


def _once_on(drawn: Drawn, due: float) -> float:
    """Return the first time at or after a due one at which the computer has power [s]."""
    for at, away in drawn.restarts:
        if at <= due < at + away:
            due = at + away
    return due


_PREFIX = 'ground.'
_OWN = ('situation', 'source', 'seed', 'faults', 'restarts', 'stages', 'clock')
"""Variables besides those that fix a drawn number."""


class GroundCases(Cases):
    """Flies a drawn situation with the flight computer for each case.

    If they do not vary, situation and source are drawn evenly and there are no faults or restarts.
    """

    def __init__(self, study: Study, folder: Path) -> None:
        self.units = {'drogue': 's', 'delay': 's', 'main_height': 'm', 'hours': 'h'}
        known = {f'{_PREFIX}{name}' for name in (*_OWN, *DRAWN)}
        for variable in study.vary:
            if variable.name not in known or variable.mode != 'value':
                raise SourceError(
                    f'vary: {variable.name}', f'expected {_PREFIX}<one of {", ".join(_OWN)}, or of '
                    'the numbers that a situation, a sensor or <fault>. draws>, and no is:'
                    f'{suggestion(variable.name, known - {variable.name})}'
                )

    def check(self, case: StudyCase) -> None:
        """Raise `ConfigError` if a case cannot be drawn."""
        self._case(case)

    def fly(self, case: StudyCase) -> Mapping[str, Any]:
        """Return the row of a case."""
        return judge(self._case(case))

    def write(self, path: Path, case: StudyCase) -> None:
        """Write the parameters of the flight computer."""
        flown = self._case(case)
        write_parameters(path, None, {'flight_state': {
            'altitude_source': flown.source.split()[0],
            'flight.max_ascent_time': float(draw(flown).scene.timer),
        }})

    def _case(self, case: StudyCase) -> Case:
        values = {name.removeprefix(_PREFIX): value for name, value in case.values.items()}
        given = {name: values.pop(name) for name in _OWN if name in values}
        for name, known in (('situation', SITUATIONS), ('source', SOURCES)):
            rng = generator(case.seed, 0, f'{name} of a study')
            given.setdefault(name, list(known)[int(rng.integers(len(known)))])
        return Case(**{'seed': case.seed, **given}, pins=values)
