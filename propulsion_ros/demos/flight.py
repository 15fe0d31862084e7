# SPDX-License-Identifier: Apache-2.0
"""Start the nodes of a vehicle, fly it with its pilot, and stop them."""
from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import rclpy
from rclpy.executors import Executor
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from std_msgs.msg import String

from propulsion_ros.demos.demo import Demo
from propulsion_ros.demos.pilot import Recording
from propulsion_ros.demos.pilot_node import LAST_TOPIC, ODOMETRY, PILOT, PilotNode
from propulsion_ros.graph.simulation import BODY
from propulsion_ros.graph.wiring import robot_graph
from propulsion_ros.messages import qos
from propulsion_ros.nodes.spin import make_executor
from propulsion_ros.replay.bags import Recorded
from propulsion_ros.replay.recorder import Pace, Recorder
from propulsion_ros.settings.errors import ConfigError, one_line
from propulsion_ros.settings.files import descriptor_to_lock
from propulsion_ros.settings.yaml_file import write_parameters

_STEP_LIMIT = 90.0  # longest wall time until the nodes start, and of a step [s]
_STOP_LIMIT = 60.0  # longest wait for the end of a process [s]
_PROGRESS_PERIOD = 0.25  # time between two lines of progress [s]
_LAST_SPINS = 10  # spins without a message after which all is recorded
_LAST_SPIN = 0.05  # duration of such a spin [s]
_LONGEST_NAME = 200  # of a flight in the lock of a domain [bytes]
_CLEAR = '\033[K'  # clears the rest of a line on a terminal


class StoppedError(Exception):
    """Raised if the signal `number` ended the flight."""

    def __init__(self, number: int) -> None:
        super().__init__(f'stopped by signal {number}')
        self.number = number


def fly(
    demo: Demo,
    vehicle: str,
    configs: Sequence[Path],
    until: float,
    write: Callable[[Recorded, Sequence[QoSProfile]], None] | None = None,
) -> Recording:
    """Fly a demo to its end and return the recording.

    Later ``configs`` win, all come after the vehicle's own. The flight stops at ``until`` [s] of
    simulated time in any case. ``write`` gets every message of the graph, for a bag.

    Raises
    ------
    TimeoutError
        If the nodes do not start, or do not make a step in time.
    RuntimeError
        If the other nodes die, or refuse the commands of the pilot, or another flight has the ROS
        domain.
    StoppedError
        After SIGINT or SIGTERM, with the other nodes stopped too.
    """
    pilot, graph = demo.make_pilot(), robot_graph(vehicle)
    options = ['--vehicle', vehicle, *(f'--wait-for={topic}' for topic in pilot.commands)]
    (frame,) = [spec.parameters['base_link'] for spec in graph.nodes if spec.name == BODY]
    print(f'Starting {", ".join(spec.name for spec in graph.nodes)} ...', flush=True)
    with (
        held_domain(vehicle), interrupts() as stopped,
        stack(options, configs, 'warn', {'observer': PILOT}) as process,
        joined() as executor,
    ):
        node = PilotNode(pilot, frame=frame)
        node.until = min(node.until, until)
        executor.add_node(node)
        with recorder(write, executor, graph.robot_description) as settle:
            settle([*pilot.commands], _STEP_LIMIT, lambda: _check(process, stopped))
            # No step is made before this, so nothing is missed.
            node.announce()
            _spin(node, executor, process, stopped)
            # Otherwise the vehicle would wait for a reply while the last messages are taken.
            stop(process)
        return pilot.recording


def _check(process: subprocess.Popen[bytes], stopped: Sequence[int]) -> str:
    """Raise if the flight cannot go on, else return ''."""
    if stopped:
        raise StoppedError(stopped[0])
    if process.poll() is not None:
        raise RuntimeError('the other nodes stopped, see above')
    return ''


@contextmanager
def joined() -> Iterator[Executor]:
    """Join the graph; at the end destroy every node, also if an error still holds one."""
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    try:
        executor = make_executor('events')
        try:
            yield executor
        finally:
            nodes = list(executor.get_nodes())
            executor.shutdown()
            for node in nodes:
                node.destroy_node()
    finally:
        rclpy.try_shutdown()


@contextmanager
def interrupts() -> Iterator[list[int]]:
    """Collect signals, as an exception from one in a callback or an import could be lost."""
    stopped: list[int] = []
    before = {
        number: signal.signal(number, lambda number, frame: stopped.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def recorder(
    write: Callable[[Recorded, Sequence[QoSProfile]], None] | None,
    executor: Executor,
    description: str,
    prefix: str = '/',
    pace: Pace | None = None,
) -> Iterator[Callable[[Sequence[str], float, Callable[[], str]], None]]:
    """Record all topics of a robot, and its description, until after the last step.

    ``write`` gets every message; with None nothing is recorded. ``description`` is the URDF, which
    is published too. ``pace`` has topics for whose recording each step waits, see `Recorder`.

    Yields
    ------
    callable
        ``settle(commands, limit, absent)`` waits until all is recorded, see `Recorder.settle`, or
        without a recording until nothing is absent; the recorder subscribes to `LAST_TOPIC` just
        before it returns.
    """
    if write is None:
        def join(commands: Sequence[str], limit: float, absent: Callable[[], str]) -> None:
            begun = time.monotonic()
            while missing := absent():
                if time.monotonic() - begun > limit:
                    raise TimeoutError(f'not begun within {limit:g} s: {missing}')
                executor.spin_once(timeout_sec=_LAST_SPIN)

        yield join
        return
    node = Recorder(write, sim_time=True, last=f'{prefix}{LAST_TOPIC}', pace=pace)
    executor.add_node(node)
    latched = node.create_publisher(String, f'{prefix}robot_description', qos.LATCHED)
    latched.publish(String(data=description))

    def settle(commands: Sequence[str], limit: float, absent: Callable[[], str]) -> None:
        topics = [ODOMETRY, *(topic.strip('/') for topic in commands)]
        node.settle(executor, ['/clock', *(prefix + topic for topic in topics)], limit, absent)

    yield settle
    drain(executor, node.counts.total)
    node.report_lost()
    executor.remove_node(node)
    node.destroy_node()


def drain(executor: Executor, count: Callable[[], int]) -> None:
    """Spin until the count of received messages no longer changes."""
    before = -1
    while (now := count()) != before:
        before = now
        for _ in range(_LAST_SPINS):
            executor.spin_once(timeout_sec=_LAST_SPIN)


def start_python(words: Sequence[str], stdout: int | None = None) -> subprocess.Popen[bytes]:
    """Start a module of this package, or a program of the user, which ends with this process."""
    child = [sys.executable, '-m', 'propulsion_ros.demos.child', str(os.getpid()), *words]
    return subprocess.Popen(child, stdout=stdout)  # noqa: S603  a list of words, no shell


def stop(process: subprocess.Popen[bytes], limit: float = _STOP_LIMIT) -> int:
    """End a process, with force after some time [s], and return its exit code."""
    if process.poll() is None:
        process.terminate()
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


@contextmanager
def stack(
    options: Sequence[str], configs: Sequence[Path], log_level: str, body: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """Run the nodes of a robot in a process of their own.

    They get options of ``stack``, parameter files, and parameters of the simulated body.
    """
    with tempfile.TemporaryDirectory(prefix='propulsion_ros_') as folder:
        # On the command line, parameters would not reach a body in a namespace.
        own = Path(folder) / 'body.yaml'
        write_parameters(own, None, {BODY: body})
        process = start_python([
            '-m', 'propulsion_ros.nodes.stack', *options, '--ros-args',
            *(part for path in (*configs, own) for part in ('--params-file', str(path))),
            '--log-level', log_level,
        ])
        try:
            yield process
        finally:
            code = stop(process)
    if code:
        raise RuntimeError(f'the other nodes ended with code {code}')


def _spin(
    pilot: PilotNode, executor: Executor, process: subprocess.Popen[bytes], stopped: Sequence[int]
) -> None:
    begun = shown = stepped = time.monotonic()
    steps = 0
    while not pilot.has_ended:
        executor.spin_once(timeout_sec=0.5)
        now = time.monotonic()
        _check(process, stopped)
        if pilot.steps > steps:
            steps, stepped = pilot.steps, now
        if pilot.failure:
            raise RuntimeError(pilot.failure)
        if now - stepped > _STEP_LIMIT:
            raise TimeoutError(
                f'no step after {pilot.now:.3f} s within {_STEP_LIMIT:g} s' if steps
                else f'the nodes did not start within {_STEP_LIMIT:g} s'
            )
        if steps and sys.stdout.isatty() and now - shown > _PROGRESS_PERIOD:
            shown = now
            print(f'\r{_progress(pilot, now - begun)}{_CLEAR}', end='', flush=True)
    start, end = ('\r', _CLEAR) if sys.stdout.isatty() else ('', '')
    print(f'{start}{_progress(pilot, time.monotonic() - begun)}{end}', flush=True)


def _progress(pilot: PilotNode, wall: float) -> str:
    rate = pilot.now / wall if wall > 0.0 else 0.0
    return f'  T {pilot.now:6.1f} s  {pilot.status}  at {rate:.1f} x real time '


@contextmanager
def held_domain(name: str) -> Iterator[None]:
    """Hold the ROS domain of the environment until the end of the context, or of this process.

    If no file can be locked nothing is held; the vehicle itself checks for another one.

    ``name`` is that of the flight, for the error message of another one.

    Raises
    ------
    RuntimeError
        If another flight of the same user holds it, with the names of both.
    """
    domain = os.environ.get('ROS_DOMAIN_ID') or '0'
    descriptor = _opened_lock(domain)
    if descriptor is None:
        yield
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            other = os.pread(descriptor, _LONGEST_NAME, 0).decode('utf-8', 'replace')
            raise RuntimeError(one_line(
                f'{name} would mix with {other or "another flight"} in ROS domain {domain}: wait '
                'for its end, or set ROS_DOMAIN_ID to another number'
            )) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f'{name} (process {os.getpid()})'.encode()[:_LONGEST_NAME], 0)
        yield
    finally:
        os.close(descriptor)


def _opened_lock(domain: str) -> int | None:
    if not domain.isdecimal():
        return None
    path = Path(tempfile.gettempdir()) / f'propulsion_ros-{os.getuid()}-domain-{int(domain)}'
    # In a shared folder a link may be somebody else's.
    if path.is_symlink():
        return None
    with suppress(OSError, ConfigError):
        return descriptor_to_lock(path)
    return None
