# SPDX-License-Identifier: Apache-2.0
"""The flight computer of a node behind the parachute triggers of RocketPy; flights as files."""
from __future__ import annotations

import csv
import functools
import io
import json
import operator
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from propulsion_ros.flight.readiness import REQUIRED
from propulsion_ros.graph.executables import LOOPS
from propulsion_ros.graph.simulation import BODY
from propulsion_ros.loops.payloads import Kind, OdometryRow
from propulsion_ros.loops.ports import GivenParameters, Outlet
from propulsion_ros.replay.bags import BagWriter, Recorded
from propulsion_ros.replay.plain import SECOND, Wire, plain_message
from propulsion_ros.rocketpy.sensors import SOURCES, Reading, SensorFault, Source, found, message_of
from propulsion_ros.settings.errors import SourceError, naming
from propulsion_ros.settings.files import save_text
from propulsion_ros.settings.flat import suggestion
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.settings.yaml_file import ParameterFile
from propulsion_ros.study.bench_host import BenchHost
from propulsion_ros.study.draws import is_number

_NOTHING: Mapping[str, Any] = MappingProxyType({})
_ABSENT: Mapping[str, Any] = MappingProxyType({
    'state_file': '', 'receivers': [], 'replay': False, 'use_sim_time': False,
    'on_time_clock': 'stamps',
})
"""Parameters of parts that a computer in a simulator lacks: a disk, drivers, an own clock."""
_DEPLOYERS = '~/deployers'
_LONGEST_PAD = 3600.0  # longest time on the pad, of which each reading is fed [s]
_LAUNCH_NS = 1_000_000_000  # time before the flight at which it is armed [ns]
Trigger = Callable[[float, float, Any, Sequence[Any]], bool]
"""``trigger(p, h, y, sensors)``, as `rocketpy.Rocket.add_parachute` takes it."""
_ODOMETRY = Outlet(f'/{BODY}/odometry', Kind.ODOMETRY, 'state', 'map')


class Happened(NamedTuple):
    """An event that fired, or a deployer that was switched on."""

    time: float
    """Arrival of the sample at which it happened, in the time of the flight [s]."""
    name: str
    stamp: float
    """Stamp of that sample, in the time of the flight [s]: before ``time`` if it waited for another
    sensor or had a latency; it is the stamp of the event in a bag or a replay."""


class Received(NamedTuple):
    """One message that the computer received."""

    topic: str
    kind: str
    arrival_ns: int
    message: Any


class FlightComputer:
    """One flight computer, whose deployers are the triggers of parachutes.

    Each call of any trigger gives it all that its sensors have measured since the last call. Before
    the first reading of a flight it stands on the pad and is armed; each flight begins anew.

    Parameters
    ----------
    params : str or Path
        Parameter file of the node as flown, with ``config_file`` and ``altitude_source``.
    given : mapping
        Parameters that win over those of the file.
    node : str
        Name of the node in the file.
    sensors : collection of rocketpy.Sensor
        Sensors that it is wired to; () for all of the rocket.
    faults : mapping of SensorFault
        Faults by source: ``pressure``, ``imu`` or ``fix``.
    pad_time : float
        Time on the pad before the flight [s].

    Attributes
    ----------
    events, deployed : list of Happened
        Events that fired in this flight, and deployers that were switched on.
    received : list of Received
        All messages that it received in this flight.
    lines : list of str
        Its warnings.

    Raises
    ------
    ConfigError
        For any fault of file, parameters or faults; in a flight for sensors that are missing, and
        if the launch is refused.
    """

    def __init__(
        self,
        params: str | Path,
        given: Mapping[str, Any] = _NOTHING,
        *,
        node: str = 'flight_state',
        sensors: Collection[Any] = (),
        faults: Mapping[str, SensorFault] = _NOTHING,
        pad_time: float = 5.0,
    ) -> None:
        if not is_number(pad_time) or not 0.0 <= pad_time <= _LONGEST_PAD:
            raise SourceError('pad_time', (
                f'expected seconds, from 0 to {_LONGEST_PAD:g}, got {pad_time!r}'
            ))
        self.file, self.given, self.node = Path(params), dict(given), node
        self.wired, self.faults, self.pad_time = tuple(sensors), dict(faults), pad_time
        self._flight: _Flight | None = None
        # A trial finds faults of the configuration now, and not in a flight.
        trial = _Flight(self)
        self._deployers = trial.deployers
        for source, fault in self.faults.items():
            if source not in trial.sources:
                raise SourceError(
                    'faults', f'expected one of {", ".join(trial.sources)}, got {source!r}'
                )
            if not isinstance(fault, SensorFault):
                raise SourceError('faults', f'{source}: expected a SensorFault, got {fault!r}')
            fault.require(source)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without a flight, as a copy begins a new one."""
        return {**self.__dict__, '_flight': None}

    def trigger(self, deployer: str) -> Trigger:
        """Return the trigger of the parachute that a deployer of the configuration lets out.

        Raises `SourceError` if there is no such deployer.
        """
        if deployer not in self._deployers:
            raise SourceError(
                'trigger', f'no deployer {deployer!r}{suggestion(deployer, self._deployers)}; '
                f'{self.file} has {", ".join(self._deployers) or "none"}'
            )
        return functools.partial(self._fires, deployer)

    def _fires(self, deployer: str, p: float, h: float, y: Any, sensors: Sequence[Any]) -> bool:
        """Return whether a deployer has been on in this flight; the true values are not used."""
        flight = self._flight
        if flight is None or not flight.is_of(sensors):
            flight = self._flight = _Flight(self)
            flight.begin(sensors)
        flight.advance()
        return deployer in flight.on

    def finish(self) -> None:
        """Take the readings after the last trigger, as RocketPy calls none after it has fired."""
        if self._flight is not None:
            self._flight.advance()

    @property
    def events(self) -> list[Happened]:
        """Events that fired in this flight."""
        return self._flight.events if self._flight else []

    @property
    def deployed(self) -> list[Happened]:
        """Deployers that were switched on in this flight."""
        return [*self._flight.on.values()] if self._flight else []

    @property
    def received(self) -> list[Received]:
        """All messages that it received in this flight."""
        return self._flight.received if self._flight else []

    @property
    def lines(self) -> list[str]:
        """Its warnings in this flight."""
        return [line for _, line in self._flight.lines] if self._flight else []

    @property
    def begin_ns(self) -> int:
        """Stamp of the begin of a flight [ns]; no stamp on the pad is 0, which means none."""
        return round((self.pad_time + 1.0) * SECOND)


class _Flight(BenchHost):
    """Runs the loop of a computer in one flight; as on a robot, time passes without samples."""

    def __init__(self, computer: FlightComputer) -> None:
        super().__init__()
        self._computer, self._zero_ns = computer, computer.begin_ns
        self.on: dict[str, Happened] = {}
        self.events: list[Happened] = []
        self.received: list[Received] = []
        self._sensors: Sequence[Any] = ()
        self._sources: list[Source] = []
        self._is_armed = False
        with naming(f'{computer.file}: {computer.node}'):
            given = {**ParameterFile(computer.file).of(computer.node), **computer.given}
            checks = given.get('required_checks', REQUIRED)
            given.update(_ABSENT, required_checks=[each for each in checks if each != 'record'])
            self.run(LOOPS['flight_state_node'](GivenParameters(computer.node, given), self))
        wanted = {port.topic for port in self.loop.ports}
        if '~/odometry' in wanted:
            raise SourceError(
                f'{computer.file}: altitude_source',
                'expected pressure or sensors: RocketPy has no sensor that measures an odometry'
            )
        self.sources = [name for name in SOURCES if f'~/{name}' in wanted]
        (deployers,) = [each for each in self.loop.outlets if each.topic == _DEPLOYERS]
        self.deployers = deployers.names

    def begin(self, sensors: Sequence[Any]) -> None:
        """Take the sensors of the rocket."""
        self._sensors = sensors
        for name in self.sources:
            own = found(name, sensors, self._computer.wired)
            if own:
                self._sources.append(Source(name, own, self._computer.faults.get(name)))
            elif name in self._computer.faults:
                raise SourceError('faults', f'{name}: the rocket has no such sensor')

    def is_of(self, sensors: Sequence[Any]) -> bool:
        """Return whether these are the sensors of this flight; a new flight empties their data."""
        return len(sensors) == len(self._sensors) and all(
            map(operator.is_, sensors, self._sensors)
        ) and all(source.is_same for source in self._sources)

    def advance(self) -> None:
        """Take all readings since the last call."""
        if not self._is_armed:
            if not all(source.is_ready for source in self._sources):
                return
            rng = np.random.default_rng(0)
            self._feed(lambda source: source.on_pad(self._computer.pad_time, rng))
            if not self._is_armed:
                self._launch()
        if any(source.is_behind for source in self._sources):
            self._feed(lambda source: source.new())
            # Time also passes with readings that are lost.
            newest = max(source.newest for source in self._sources)
            self._pass_to(max(self.steady, self._stamp(newest)))

    def _launch(self) -> None:
        self._is_armed = True
        done, text = self.request('launch')
        if not done:
            raise SourceError(f'{self._computer.file}: {self._computer.node}', text)

    def _feed(self, readings: Callable[[Source], Sequence[Reading]]) -> None:
        # In nanoseconds, so that times that differ only by rounding are equal.
        rows = [
            (self._stamp(reading.arrival), rank, reading, source)
            for rank, source in enumerate(self._sources) for reading in readings(source)
        ]
        rows.sort(key=operator.itemgetter(0, 1))
        for arrival_ns, _, reading, source in rows:
            stamp_ns, name = self._stamp(reading.stamp), source.name
            message = message_of(name, stamp_ns, reading.values, source.sensors)
            self._keep(name, SOURCES[name].message, arrival_ns, message)
            self._pass_to(max(self.steady, arrival_ns))
            known_ns = self.loop.stamp_ns
            self.deliver(f'~/{name}', message)
            # Requested just after a sample, as a replay handles a request.
            is_new = self.loop.stamp_ns != known_ns
            if is_new and not self._is_armed and arrival_ns >= self._zero_ns - _LAUNCH_NS:
                self._launch()

    def _stamp(self, time: float) -> int:
        """Return the stamp of a time of the flight [ns]."""
        return self._zero_ns + round(time * SECOND)

    def _keep(self, name: str, kind: str, arrival_ns: int, message: Any) -> None:
        topic = f'/{self._computer.node}/{name}'
        self.received.append(Received(topic, kind, arrival_ns, message))

    def _pass_to(self, now_ns: int) -> None:
        """Let the clocks run until a time [ns]."""
        self.wait((now_ns - self.steady) * 1e-9)
        self.steady = now_ns

    # Called by the loop.

    def now_ns(self) -> int:
        """Return the time of messages [ns], as a simulator has a single clock."""
        return self.steady

    def log(self, level: str, line: str) -> None:
        """Keep a warning or an error."""
        if level != 'info':
            super().log(level, line)

    def publish(self, outlet: Outlet, stamp_ns: int, payload: Any) -> None:
        """Record deployers that are switched on, events that fire, and requests."""
        time, stamp = (
            (each - self._zero_ns) / SECOND for each in (self.steady, stamp_ns)
        )
        if outlet.topic == _DEPLOYERS:
            for name, effort in zip(outlet.names, payload.effort, strict=True):
                if effort == 1.0:
                    self.on.setdefault(name, Happened(time, name, stamp))
        elif outlet.topic == '~/events':
            self.events += [Happened(time, status.name, stamp) for status in payload]
        elif outlet.topic == '~/requests':
            message = plain_message(outlet, stamp_ns, payload)
            self._keep('requests', outlet.kind, self.steady, message)


def write_bag(path: str | Path, computer: FlightComputer, flight: Any = None) -> None:
    """Write a new bag with all messages of a computer in its last flight, for `replay`.

    The true motion of ``flight`` is written too, for `view`.

    Raises
    ------
    SourceError
        If it has not flown, or the bag cannot be written.
    """
    if not computer.received:
        raise SourceError(str(path), 'expected a flight computer that has flown')
    wire = Wire()
    rows = [
        (each.arrival_ns, each.topic, each.kind, each.message) for each in computer.received
    ]
    if flight is not None:
        rows += _motion(flight, computer.begin_ns)
        rows.sort(key=lambda row: row[0])
    with BagWriter(Path(path)) as writer:
        for stamp_ns, topic, kind, message in rows:
            writer.write(Recorded(topic, kind, stamp_ns, wire.serialise(message, kind)))


def write_logs(
    folder: str | Path, flights: Mapping[str, Any], rate: float = 50.0
) -> None:
    """Write ``NAME.csv`` of each flight as `apogee` and `view` read it, and the list of `study`.

    Flights are by name; their true motion is written at ``rate`` [Hz], up to the highest point and
    10 s beyond it.

    Raises
    ------
    SourceError
        If a file cannot be written, or the rate is invalid.
    """
    known: dict[str, Any] = {}
    if not is_number(rate) or rate <= 0.0:
        raise SourceError('rate', f'expected Hz above 0, got {rate!r}')
    for name, flight in flights.items():
        text, apogee = io.StringIO(), float(flight.apogee_time)
        writer = csv.writer(text, lineterminator='\n')
        writer.writerow(('time_s', 'altitude_m', 'vz_mps', 'az_mps2'))
        end = min(apogee + 10.0, float(flight.t_final))
        time = np.arange(0.0, end, 1.0 / rate)
        columns = [time, *(_at(each, time) for each in (flight.z, flight.vz, flight.az))]
        columns[1] = columns[1] - flight.env.elevation
        writer.writerows(np.round(np.array(columns).T, 6).tolist())
        save_text(Path(folder) / f'{name}.csv', text.getvalue())
        known[name] = {'apogee_t': apogee}
    save_text(Path(folder) / 'truth.json', json.dumps(known, indent=1))


def _motion(flight: Any, begin_ns: int) -> Iterator[tuple[int, str, str, Any]]:
    """Yield the true motion 50 times a second, in the axes of the body."""
    time = np.arange(float(flight.t_initial), float(flight.t_final), 0.02)
    x, y, z, *turn, w1, w2, w3 = (
        _at(getattr(flight, name), time)
        for name in ('x', 'y', 'z', 'e1', 'e2', 'e3', 'e0', 'w1', 'w2', 'w3')
    )
    unit = np.array(turn).T
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    velocity = np.stack([_at(getattr(flight, name), time) for name in ('vx', 'vy', 'vz')], axis=1)
    # The velocity of an Odometry is in the axes of the body.
    from scipy.spatial.transform import Rotation

    velocity = Rotation.from_quat(unit).inv().apply(velocity)
    for i, each in enumerate(time.tolist()):
        stamp_ns = begin_ns + round(each * SECOND)
        row = OdometryRow(
            'base_link', (x[i], y[i], z[i] - flight.env.elevation), unit[i], velocity[i],
            (w1[i], w2[i], w3[i]),
        )
        yield stamp_ns, _ODOMETRY.topic, _ODOMETRY.kind, plain_message(_ODOMETRY, stamp_ns, row)


def _at(source: Any, time: FloatArray) -> FloatArray:
    return np.array(source.get_value(time.tolist()), dtype=float)
