# SPDX-License-Identifier: Apache-2.0
"""The commands of a page, each put to the command line, file or graph that it speaks of."""
from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import subprocess
from unittest import mock

from markdown_pages import REPOSITORY
from page_graphs import PageError
from page_ros2 import Ros2
from page_shell import PLACEHOLDER, files_exist, inside
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.tools import cli

NOT_RUN = {
    'demo': 'flies for a minute; test/tools/test_demo.py flies it',
    'identify': 'needs recordings; test/identify fits them',
    'fly': 'flies until it is stopped; test/tools/test_fly.py flies the examples',
    'play': 'plays in real time, to other processes',
    'study': 'flies for minutes; test/study flies shorter ones',
    'record': 'records other processes until it is stopped',
}
"""Commands of propulsion_ros whose arguments are only parsed, and why."""

NEEDS = {'plot': 'matplotlib', 'view': 'trimesh'}
"""Optional packages, without which a command is only parsed."""

ELSEWHERE = {
    '.': 'changes the shell', 'cd': 'changes the shell', 'source': 'changes the shell',
    'export': 'changes the shell', 'mkdir': 'makes a folder',
    'git': 'asks a network', 'rosdep': 'asks a network', 'pip': 'asks a network',
    'apt': 'needs another system',
    'dask': 'needs several machines; test/study/test_cluster.py starts a cluster',
    'colcon': '`make install-check` builds with it in CI',
    'rviz2': 'opens a window', 'plotjuggler': 'opens a window', 'rqt_plot': 'opens a window',
}
"""Programs of others, and why they are not run."""

STARTS = (
    'ros2', 'propulsion_ros', 'make', 'python', 'python3', 'colcon', '.venv/bin/propulsion_ros',
    '.venv/bin/python',
)
"""How code within a sentence begins that is a command."""

LOOKS = ('cat', 'cut', 'head', 'tail', 'wc')
"""Programs that show files, and are run."""


class Commands:
    """Checks commands in a folder, where they are run one after the other.

    Parameters
    ----------
    folder : Path
        Has the files that the page gives, and those of the package.
    robots : Robots
        Graphs that topics may belong to.
    """

    def __init__(self, folder, robots):
        self._folder = folder
        self._ros2 = Ros2(folder, robots, self._own)
        self.said = ''
        self.failed = False

    def check(self, words, whole=True):
        """Check one command; raise `PageError`. Without ``whole`` its end may be left out.

        What a command really run has printed is added to `said`; `failed` says that one of them
        had an exit code other than 0.
        """
        program, rest = words[0], words[1:]
        if program.startswith('.venv/bin/'):
            program = program.removeprefix('.venv/bin/')
        checks = {
            'propulsion_ros': self._own, 'ros2': self._ros2.check, 'make': self._make,
            'python': self._python, 'python3': self._python,
        }
        if program in checks:
            checks[program](rest, whole)
        elif program in LOOKS:
            done = subprocess.run(
                words, cwd=self._folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                check=False,
            )
            self.said += done.stdout + done.stderr
            self.failed |= bool(done.returncode)
        elif program not in ELSEWHERE:
            raise PageError(
                f'nobody knows the program {program}; see ELSEWHERE in test/page_commands.py'
            )
        else:
            files_exist(rest)

    # propulsion_ros

    def _own(self, words, whole):
        if not words or words == ['...']:
            return
        name, rest = words[0], words[1:]
        if name not in cli.COMMANDS:
            known = ', '.join(cli.COMMANDS)
            raise PageError(f'propulsion_ros has no command {name}, it has {known}')
        if not whole and not rest:
            return
        run = (
            # What is live is served until it is stopped; test/view/test_live.py.
            name not in NOT_RUN and '--live' not in rest
            and not any(map(PLACEHOLDER.fullmatch, rest))
            and (name not in NEEDS or importlib.util.find_spec(NEEDS[name]) is not None)
        )
        out = io.StringIO()
        only_parsed = mock.patch.object(cli.module_of(name), 'run', return_value=0)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), \
                contextlib.nullcontext() if run else only_parsed, inside(self._folder):
            try:
                code = cli.main([name, *rest])
            except SystemExit as error:
                code = error.code
                if code == 2:
                    raise PageError(out.getvalue().strip().splitlines()[-1]) from None
        if run:
            self.said += out.getvalue()
            self.failed |= bool(code)

    # make

    def _make(self, words, whole):
        makefile = (REPOSITORY / 'Makefile').read_text(encoding='utf-8')
        scripts = [path.read_text(encoding='utf-8') for path in (REPOSITORY / 'env').glob('*.sh')]
        targets = re.findall(r'^([\w-]+):', makefile, re.MULTILINE)
        known = {
            'VEHICLE': list(VEHICLES),
            'DISTRO': [path.stem for path in (REPOSITORY / 'env').glob('*.txt')],
        }
        for word in words:
            key, given, value = word.partition('=')
            if not given and key not in targets:
                raise PageError(f'make has no target {key}, it has {", ".join(targets)}')
            if given and not re.search(rf'\b{key}\b', '\n'.join((makefile, *scripts))):
                raise PageError(f'make has no use for {key}')
            if value not in known.get(key, [value]) and not PLACEHOLDER.fullmatch(value):
                raise PageError(f'{key} is one of {", ".join(known[key])}, not {value}')

    # python

    def _python(self, words, whole):
        if words[0].endswith('.py'):
            files_exist(words[:1])
            return
        if words[:1] != ['-m']:
            raise PageError(f'python {" ".join(words)}: expected -m and a module')
        module = words[1]
        if module.startswith('propulsion_ros.nodes.'):
            self._ros2.start(module.rpartition('.')[2], words[2:])
        elif importlib.util.find_spec(module) is None:
            raise PageError(f'there is no module {module}')
