# SPDX-License-Identifier: Apache-2.0
"""Fly a vehicle closed loop through real ROS nodes, and draw the flight."""
from __future__ import annotations

import argparse
import json
import os
import random
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from propulsion_ros.graph.share import share_directory
from propulsion_ros.graph.simulation import BODY
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.pictures.bag import signals_of_bag
from propulsion_ros.pictures.panels import page_of
from propulsion_ros.replay.bags import BagWriter
from propulsion_ros.settings.files import (
    make_folder,
    printable,
    require_target,
    save_text,
)
from propulsion_ros.settings.yaml_file import ParameterFile, write_parameters
from propulsion_ros.tools.lines import fail, known, note
from propulsion_ros.view.page import data_of, in_order, require_libraries, write_page
from propulsion_ros.view.robot import robot_of

_DOMAINS = range(1, 101)  # without the default one, and with ports below the ephemeral ones
_FIRST_PORT = 32768
"""Port of domain 0, as in ROS 2's ``domain_coordinator``, so that other test runs keep off."""


@contextmanager
def reserved_domain() -> Iterator[int]:
    """Hold a domain that no other process on this machine holds, until the end of the context.

    A TCP port stands for each domain; the system frees it if the process dies. Raises
    `RuntimeError` if all of them are held.
    """
    for domain in random.SystemRandom().sample(_DOMAINS, len(_DOMAINS)):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as held:
            try:
                held.bind(('127.0.0.1', _FIRST_PORT + domain))
            except OSError:
                continue
            yield domain
            return
    raise RuntimeError(f'all ROS domains from {_DOMAINS[0]} to {_DOMAINS[-1]} are held')


@contextmanager
def own_network() -> Iterator[None]:
    """Keep the traffic of this process and its children on this machine, and to themselves.

    A range or a domain that the environment already has stays as it is.
    """
    with ExitStack() as stack:
        own = {'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}
        if 'ROS_DOMAIN_ID' not in os.environ:
            own['ROS_DOMAIN_ID'] = str(stack.enter_context(reserved_domain()))
        own = {name: value for name, value in own.items() if name not in os.environ}
        os.environ.update(own)
        try:
            yield
        finally:
            for name in own:
                os.environ.pop(name, None)


_PAGE_LIMIT = 20.0  # longest wait before the flight for a browser to show the page [s]
_STOP_LIMIT = 10.0  # longest wait for the page's process to end [s]
EXAMPLE = '--vehicle rocket --output demo'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        '--vehicle', choices=VEHICLES, default=next(iter(VEHICLES)),
        help='vehicle to fly (default: %(default)s)',
    )
    parser.add_argument(
        '--output', type=Path, default=Path('demo'),
        help='folder for the picture (default: %(default)s)',
    )
    parser.add_argument(
        '--until', type=float, default=240.0, metavar='SECONDS',
        help='simulated time at which the flight ends at the latest (default: %(default)g)',
    )
    parser.add_argument(
        '--params-file', type=Path, action='append', default=[], metavar='YAML',
        help='parameter file; its values win over those of the demo; may be repeated',
    )
    parser.add_argument(
        '--record', type=Path, metavar='BAG', help='record every topic into a new bag'
    )
    parser.add_argument(
        '--html', type=Path, metavar='PAGE', help='page for the browser to write: the vehicle in '
        '3D with its plots, as of view'
    )
    parser.add_argument(
        '--view', action='store_true', help='fly in real time, and serve a page of it to a browser '
        'on this machine; its address is printed'
    )
    parser.add_argument(
        '--gif', type=Path, metavar='LOOP', help='short moving picture of the flight to write'
    )


def run(options: argparse.Namespace) -> int:
    """Fly, print the table, write <vehicle>.png and <vehicle>.json; return 0 if all succeeded."""
    vehicle, output = options.vehicle, options.output
    is_shown = bool(options.html or options.gif)
    if not options.until > 0.0:  # nor NaN
        return fail('demo', f'--until {options.until:g} is not above 0 s')
    from propulsion_ros.demos import flight
    from propulsion_ros.demos.demo import demo_of, text_of
    from propulsion_ros.pictures.picture import draw

    demo = demo_of(vehicle)
    begun = time.monotonic()
    try:
        make_folder(output)
        configs = [share_directory() / 'config' / f'{vehicle}_demo.yaml']
        configs += options.params_file
        for path in options.params_file:
            # A fault is found before the nodes start, each of which would refuse the file.
            ParameterFile(path)
        for path in filter(None, (options.html, options.gif)):
            require_target(path, *options.params_file)
        if options.html:
            require_libraries()
        with own_network(), _bag(options) as place, _watched(options) as more:
            configs += more
            with BagWriter(place) if place else nullcontext() as bag:
                write = bag.write if bag else None
                recording = flight.fly(demo, vehicle, configs, options.until, write)
            signals = signals_of_bag(place) if place and is_shown else None
    except (RuntimeError, TimeoutError) as error:
        return fail('demo', error)
    except flight.StoppedError as stopped:
        note('demo', 'stopped')
        return 128 + stopped.number
    wall = time.monotonic() - begun
    summary = demo.summarise(recording)
    simulated = recording.series('motion')[-1, 0]
    print(f'\n{text_of(demo.table(summary, recording))}')
    print(f'\n{simulated:.0f} s flown in {wall:.0f} s of wall time', flush=True)
    numbers, picture = output / f'{vehicle}.json', output / f'{vehicle}.png'
    text = json.dumps(known(summary), indent=2, allow_nan=False)
    save_text(numbers, f'{text}\n')
    page = demo.page(summary, recording)
    draw(page, picture)
    if signals is not None:
        # The pilot's page has more marks than the vehicle has published.
        signals.flight.marks = list(page.marks)
        demo.add_targets(signals, recording)
        data = data_of(signals, robot_of(vehicle, configs), page.title)
        if options.html:
            write_page(options.html, data)
        if options.gif:
            from propulsion_ros.view.gif import write_gif

            recorded = in_order(page_of(signals, compares=True).panels)
            write_gif(options.gif, data, replace(page, panels=(*page.panels, *recorded)))
    print(f'picture: {printable(picture)}')
    for name, path in (('page', options.html), ('loop', options.gif)):
        if path:
            print(f'{name}: {printable(path)}')
    return 0


@contextmanager
def _watched(options: argparse.Namespace) -> Iterator[list[Path]]:
    """Serve a page of the flight if requested; yield parameter files, then one for real time."""
    if not options.view:
        yield []
        return
    from propulsion_ros.demos.flight import start_python, stop

    require_libraries()
    live = start_python(
        ['-m', 'propulsion_ros.tools.cli', 'view', '--live', '--model', options.vehicle],
        subprocess.PIPE,
    )
    try:
        _await_page(live)
        with TemporaryDirectory(prefix='propulsion_ros_') as folder:
            slow = Path(folder) / 'real_time.yaml'
            write_parameters(slow, None, {BODY: {'real_time_factor': 1.0}})
            yield [slow]
    finally:
        stop(live, _STOP_LIMIT)


def _await_page(live: subprocess.Popen[bytes]) -> None:
    """Print the lines of the page's process until a browser shows the page, or for some time."""
    from propulsion_ros.tools.view import OPEN

    is_open = threading.Event()

    def copy() -> None:
        for line in live.stdout or ():
            print(line.decode().rstrip(), flush=True)
            if line.decode().startswith('view: http'):
                print(f'demo: waits up to {_PAGE_LIMIT:g} s until a browser shows it', flush=True)
            elif line.decode().rstrip() == OPEN:
                is_open.set()
        is_open.set()

    threading.Thread(target=copy, daemon=True).start()
    is_open.wait(_PAGE_LIMIT)


@contextmanager
def _bag(options: argparse.Namespace) -> Iterator[Path | None]:
    """Yield the bag to record: the requested one, or a temporary one for a page or a loop."""
    if options.record or not (options.html or options.gif):
        yield options.record
        return
    with TemporaryDirectory(prefix='propulsion_ros_') as folder:
        yield Path(folder) / 'demo'
