# SPDX-License-Identifier: Apache-2.0
"""Files that hang, never end, or are not what their name says; run in processes with limits.

``python test/special_files.py GROUP,GROUP FOLDER EVERY`` makes the files of one case in EVERY of
some groups in a folder, gives each to its command, and prints one JSON object for each case.
"""
from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import sys
import time
from pathlib import Path

from special_bags import bags
from special_kinds import kinds, names, targets
from special_texts import contents

CPU_LIMIT, MEMORY_LIMIT = 5.0, 300.0
"""Of a case [s], [MB]."""
THRUST = 'stamp,rotor_0.effort\n0,1\n'
GROUPS = {'kinds': (kinds, names, targets), 'texts': (contents,), 'bags': (bags,)}
NEEDED = (
    *(f'propulsion_ros.tools.{name}' for name in ('check', 'apogee', 'replay', 'plot', 'demo',
                                                  'gazebo')),
    'propulsion_ros.tools.replay', 'propulsion_ros.nodes.flight_state_node',
    'propulsion_ros.nodes.actuator_node', 'rosbags.rosbag2', 'rosbags.typesys',
)
"""What is imported once, before the cases."""


def run(case, path):
    """Run the command of a case in this process; return its exit code."""
    kind, *words = (path if word == '{}' else word for word in case.command)
    if kind == 'node':
        node = importlib.import_module('propulsion_ros.nodes.flight_state_node')
        # YAML, in which a line end is a blank but in quotes.
        value = json.dumps(words[1])
        return node.main(['node', '--ros-args', '-p', f'{words[0]}:={value}'])
    if kind == 'settings':
        node = importlib.import_module('propulsion_ros.nodes.actuator_node')
        return node.main(['node', '--ros-args', '--params-file', *words])
    if kind in ('call', 'references'):
        from propulsion_ros.settings.errors import ConfigError

        try:
            if kind == 'references':
                from propulsion_ros.study.apogee_flights import references_of

                os.symlink(path, 'reference.json')
                references_of(Path())
            else:
                getattr(importlib.import_module(words[0]), words[1])(Path(words[2]))
        except ConfigError as error:
            print(error)
            return 1
        return 0
    from propulsion_ros.tools.cli import main

    return main([kind, *words])


def tried(case, folder):
    """Return the outcome of a case; on a busy machine CPU time counts that of others too."""
    for i in range(3):
        outcome = forked(case, f'{folder}_{i}')
        if outcome['cpu'] <= CPU_LIMIT:
            break
    return outcome


def forked(case, folder):
    """Return what a case costs, prints and exits with, in a process of its own."""
    os.mkdir(folder)
    path = os.path.join(os.fsencode(folder), os.fsencode(case.name))
    case.make(os.fsdecode(path))
    Path(folder, 'table.csv').write_text(THRUST)
    Path(folder, 'log.csv').write_text('time_s,altitude_m\n0,0\n1,1\n')
    printed = Path(folder, 'printed')
    begun = time.monotonic()
    child = os.fork()
    if not child:
        code = 99
        try:
            os.setpgid(0, 0)
            os.chdir(folder)
            resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
            resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
            file = os.open(printed, os.O_WRONLY | os.O_CREAT)
            os.dup2(file, 1)
            os.dup2(file, 2)
            try:
                code = run(case, os.fsdecode(path))
            except SystemExit as error:
                code = error.code
            except BaseException:
                import traceback

                traceback.print_exc()
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code if isinstance(code, int) else 98)
    while True:
        pid, status, usage = os.wait4(child, os.WNOHANG)
        if pid:
            break
        if time.monotonic() - begun > 90.0:
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.01)
    code = os.waitstatus_to_exitcode(status)
    output = printed.read_text(errors='backslashreplace') if printed.exists() else ''
    return {
        'id': case.id, 'code': code, 'output': output[:2000],
        'cpu': usage.ru_utime + usage.ru_stime,
        'peak': usage.ru_maxrss / 1000.0, 'wall': time.monotonic() - begun,
        'faults': list(faults(case, code, output, usage)),
    }


def faults(case, code, output, usage):
    """Yield what is wrong with the outcome of a case."""
    if code != case.code:
        yield f'code {code}'
    lines = output.removesuffix('\n').split('\n')
    if len(lines) != case.lines or not all(
        line.isprintable() and 0 < len(line) <= 1200 for line in lines
    ):
        yield f'{len(lines)} lines of {len(output)} characters'
    if case.wanted not in output:
        yield f'nothing of {case.wanted!r}'
    cpu, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000.0
    if cpu > CPU_LIMIT:
        yield f'{cpu:.1f} s'
    if peak > MEMORY_LIMIT:
        yield f'{peak:.0f} MB'


def main(groups, folder, every=1, *words):
    """Run one case in so many of some groups, of those whose ids have some words."""
    for name in NEEDED:
        importlib.import_module(name)
    for group in groups.split(','):
        cases = [case for make in GROUPS[group] for case in make()]
        for i, case in list(enumerate(cases))[::int(every)]:
            if all(word in case.id for word in words):
                print(json.dumps(tried(case, os.path.join(folder, f'{group}_{i}'))), flush=True)


if __name__ == '__main__':
    main(*sys.argv[1:])
