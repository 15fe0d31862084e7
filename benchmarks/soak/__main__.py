# SPDX-License-Identifier: Apache-2.0
"""Run the soak and say what was found; 1 where anything is dead, growing or unexplained."""
from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

import rclpy

from benchmarks.machine import describe
from benchmarks.page import BEGIN, END, rewrite
from benchmarks.soak import hosts
from benchmarks.soak.course import Course
from benchmarks.soak.fleet import RANGE, Fleet
from benchmarks.soak.link import Weather
from benchmarks.soak.members import FAR, FLEET
from benchmarks.soak.plan import draw_plan
from benchmarks.soak.report import findings, tables
from benchmarks.soak.traffic import Traffic
from propulsion_ros.nodes.spin import make_executor
from propulsion_ros.tools.demo import own_network


def main() -> int:
    """Run the script."""
    names = [m.name for m in FLEET]
    parser = argparse.ArgumentParser(prog='python -m benchmarks.soak', description=__doc__)
    parser.add_argument('--minutes', type=float, default=10.0, help='default: %(default)g')
    parser.add_argument('--seed', type=int, default=1, help='of all that is drawn')
    parser.add_argument('--nodes', nargs='+', choices=names, default=names, metavar='NODE',
                        help=f'some of: {", ".join(names)}')
    parser.add_argument('--kill-every', type=float, default=6.0, metavar='SECONDS',
                        help='mean time between two ends of processes (default: %(default)g)')
    parser.add_argument('--no-link', action='store_true', help='no second host')
    parser.add_argument('--json', type=Path, metavar='FILE', help='write the numbers here')
    parser.add_argument('--page', type=Path, metavar='FILE',
                        help=f'write the tables between {BEGIN} and {END} here')
    parser.add_argument('--logs', type=Path, metavar='FOLDER', help='keep what the nodes log')
    options = parser.parse_args()
    if not options.no_link and not hosts.is_inside():
        hosts.enter(sys.argv[1:])
    has_link = hosts.is_inside() and not options.no_link
    if not has_link and not options.no_link:
        print('no second host: this machine allows no network namespaces', file=sys.stderr)
    machine = {'date': date.today().isoformat(), **describe()}
    with own_network():
        found = {'machine': machine, **soak(options, has_link)}
    print(tables(found))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + '\n', encoding='utf-8')
    if options.page:
        rewrite(options.page, tables(found))
    return 1 if found['faults'] else 0


def soak(options: argparse.Namespace, has_link: bool) -> dict[str, Any]:
    """Run it, and return what was found."""
    members = [m for m in FLEET if m.name in options.nodes] + list(FAR if has_link else ())
    plan = draw_plan(members, 60.0 * options.minutes, options.seed, options.kill_every)
    with contextlib.ExitStack() as stack:
        folder = options.logs or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        far = stack.enter_context(hosts.FarHost(Weather(), options.seed)) if has_link else None
        os.environ[RANGE] = 'LOCALHOST' if far is None else 'SUBNET'
        rclpy.init()
        stack.callback(rclpy.try_shutdown)
        traffic = Traffic(members, options.seed)
        executor = make_executor('events')
        executor.add_node(traffic)
        fleet = Fleet(members, folder, far.prefix if far else ())
        stack.callback(fleet.close)
        course = Course(fleet, traffic, executor, plan, 60.0 * options.minutes)
        course.run()
        return findings(fleet, traffic, course, far.link if far else None)


if __name__ == '__main__':
    sys.exit(main())
