"""The commands of a page, each put to the command line, file or graph that it speaks of."""
from __future__ import annotations

import argparse
import ast
import contextlib
import importlib.util
import io
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from unittest import mock

import rclpy

from markdown_pages import REPOSITORY
from page_graphs import PageError, message_class
from propulsion_ros.errors import ConfigError
from propulsion_ros.nodes import stack
from propulsion_ros.tools import cli
from propulsion_ros.wiring import VEHICLES

NOT_RUN = {
    'apogee-trials': 'flies a thousand flights',
    'demo': 'flies for a minute; test/tools/test_demo.py flies it',
    'play': 'plays in real time, to other processes',
    'record': 'records other processes until it is stopped',
}
"""Commands of propulsion_ros whose arguments are only parsed, and why."""

ELSEWHERE = {
    '.': 'changes the shell', 'cd': 'changes the shell', 'source': 'changes the shell',
    'export': 'changes the shell', 'mkdir': 'is the shell\'s own',
    'git': 'asks a network', 'rosdep': 'asks a network', 'pip': 'asks a network',
    'apt': 'needs another system',
    'colcon': '`make install-check` builds with it in CI',
    'rviz2': 'opens a window', 'plotjuggler': 'opens a window', 'rqt_plot': 'opens a window',
}
"""Programs of others, and why they are not run."""

ROS2_ELSEWHERE = {
    'bag': 'rosbag2 is not a wheel; test/tools reads and writes its bags with rosbags',
    'pkg': 'asks an installation; test/test_packaging.py looks at what is installed',
}
"""Verbs of ros2 that are not run, and why."""

OTHER_PACKAGES = {
    'plotjuggler': 'opens a window', 'rviz2': 'opens a window', 'rqt_plot': 'opens a window',
    'rqt_robot_monitor': 'opens a window',
}
"""Packages of others that `ros2 run` may start, and why they are not started."""

STARTS = (
    'ros2', 'propulsion_ros', 'make', 'python', 'python3', 'colcon', '.venv/bin/propulsion_ros',
    '.venv/bin/python',
)
"""How code within a sentence begins that is a command."""

LOOKS = ('cat', 'cut', 'head', 'tail', 'wc')
"""Programs that show files, and are run."""

_PLACEHOLDER = re.compile(r'\.\.\.|…|/path/to/\S*|[A-Z][A-Z_]*(\.[a-z.]+)?(\.\.\.|…)?|<.*>')
_SHARE = re.compile(r'\$\(ros2 pkg prefix --share propulsion_ros\)')
_LIFECYCLE = ('configure', 'activate', 'deactivate', 'cleanup', 'shutdown')


def commands_of(text):
    """Yield (offset of its line, words) for each command of a piece of shell."""
    text = _SHARE.sub(str(REPOSITORY), text)
    lines = text.split('\n')
    i = 0
    while i < len(lines):
        begin, line = i, lines[i]
        while line.endswith('\\'):
            i += 1
            line = line[:-1] + lines[i]
        i += 1
        for words in _split(line):
            yield begin, words


def _split(line):
    """Yield the words of each command in a line, without assignments and redirections."""
    # A placeholder is no redirection.
    line = re.sub(r'<[a-z][a-z ]*>', 'PLACE', line)
    lexer = shlex.shlex(line, posix=True, punctuation_chars=';|&<>')
    lexer.whitespace_split = True
    words, rest = [], iter((*lexer, ';'))
    for word in rest:
        if word in (';', '&&', '||', '|', '&'):
            while words and re.fullmatch(r'[A-Z_]+=.*', words[0]):
                words.pop(0)
            if words:
                yield words
            words = []
        elif word in ('<', '>', '>>'):
            next(rest)
        else:
            words.append(word)


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
        self.folder, self.robots = folder, robots
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
            'propulsion_ros': self._own, 'ros2': self._ros2, 'make': self._make,
            'python': self._python, 'python3': self._python,
        }
        if program in checks:
            checks[program](rest, whole)
        elif program in LOOKS:
            done = subprocess.run(
                words, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                check=False,
            )
            self.said += done.stdout + done.stderr
            self.failed |= bool(done.returncode)
        elif program not in ELSEWHERE:
            raise PageError(f'nobody knows the program {program}; '
                        'see ELSEWHERE in test/page_commands.py')

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
        run = name not in NOT_RUN and not any(map(_PLACEHOLDER.fullmatch, rest))
        out = io.StringIO()
        only_parsed = mock.patch.object(cli.COMMANDS[name], 'run', return_value=0)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), \
                contextlib.nullcontext() if run else only_parsed, _inside(self.folder):
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
        done = subprocess.run(
            [shutil.which('make') or 'make', '-n', *words], cwd=REPOSITORY,
            capture_output=True, text=True, check=False,
        )
        if done.returncode:
            raise PageError(f'make {" ".join(words)}: {done.stderr.strip()}')
        distros = [path.stem for path in (REPOSITORY / 'env').glob('*.txt')]
        known = {'VEHICLE': list(VEHICLES), 'DISTRO': distros}
        for word in words:
            key, _, value = word.partition('=')
            if key in known and value not in known[key] and not _PLACEHOLDER.fullmatch(value):
                raise PageError(f'{key} is one of {", ".join(known[key])}, not {value}')

    # python

    def _python(self, words, whole):
        if words[:1] != ['-m']:
            raise PageError(f'python {" ".join(words)}: expected -m and a module')
        module = words[1]
        if module.startswith('propulsion_ros.nodes.'):
            self._run(module.rpartition('.')[2], words[2:])
        elif importlib.util.find_spec(module) is None:
            raise PageError(f'there is no module {module}')

    # ros2

    def _ros2(self, words, whole):
        verbs = {
            'run': self._ros2_run, 'launch': self._launch, 'topic': self._topic,
            'param': self._param, 'service': self._service, 'node': self._node,
            'lifecycle': self._lifecycle, 'interface': self._interface,
        }
        if not words and not whole:
            return
        verb, rest = words[0], words[1:]
        if verb in verbs:
            try:
                verbs[verb](rest, whole)
            except IndexError:
                if whole:
                    raise PageError(f'ros2 {" ".join(words)} is not complete') from None
        elif verb not in ROS2_ELSEWHERE:
            raise PageError(f'nobody knows ros2 {verb}')

    def _ros2_run(self, words, whole):
        if words[0] in OTHER_PACKAGES:
            return
        if words[0] != 'propulsion_ros':
            raise PageError(f'nobody knows the package {words[0]}')
        if not (REPOSITORY / 'scripts' / words[1]).is_file():
            raise PageError(f'no executable {words[1]}')
        if words[1] in cli.COMMANDS:
            self._own(words[1:], whole=False)
        else:
            self._run(words[1], words[2:])

    def _run(self, name, words):
        """Start a node, or read the graph that `stack` would start."""
        split = words.index('--ros-args') if '--ros-args' in words else len(words)
        own, ros = words[:split], words[split:]
        if any(map(_PLACEHOLDER.fullmatch, own)):
            return
        context = rclpy.Context()
        try:
            with _inside(self.folder):
                rclpy.init(args=[name, *ros], context=context, domain_id=231)
                if name == 'stack':
                    stack.graph_of(_stack_options(own))
                    return
                node = stack.EXECUTABLES[name](context=context)
                node.start()
                active = node.is_active
                node.close()
                if ros and not active:
                    raise PageError(f'{name} does not start with {" ".join(ros)}')
        except (ConfigError, RuntimeError) as error:
            raise PageError(' '.join(str(error).split())) from None
        finally:
            rclpy.try_shutdown(context=context)

    def _launch(self, words, whole):
        if not words and not whole:
            return
        if words[0] != 'propulsion_ros':
            raise PageError(f'nobody knows the package {words[0]}')
        known = launch_arguments(words[1])
        for word in words[2:]:
            if word.startswith('--'):
                if word not in ('--show-args', '--print'):
                    raise PageError(f'ros2 launch has no {word}')
                continue
            key, _, value = word.partition(':=')
            if key not in known:
                raise PageError(f'{words[1]} has no argument {key}, it has {", ".join(known)}')
            if known[key] and value not in known[key] and not _PLACEHOLDER.fullmatch(value):
                raise PageError(f'{key} is one of {", ".join(known[key])}, not {value}')
            if key in ('model', 'params_file') and not _PLACEHOLDER.fullmatch(value) \
                    and not (self.folder / value).is_file():
                raise PageError(f'{key}: there is no file {value}')

    def _topic(self, words, whole):
        if words[0] in ('list',):
            return
        values = _positional(words[1:], ('-r', '--rate', '--qos-reliability', '--qos-durability',
                                         '--field', '-t', '--times', '-w'))
        if words[0] == 'pub':
            if whole and len(values) < 2:
                raise IndexError
            self.robots.publish(*(*values, '', '')[:3])
        elif words[0] in ('echo', 'hz', 'info', 'bw', 'delay'):
            if not values and not whole:
                return
            self.robots.has_topic(values[0])
            if len(values) > 1:
                message_class(values[1])
        else:
            raise PageError(f'nobody knows ros2 topic {words[0]}')

    def _param(self, words, whole):
        verb, rest = words[0], words[1:]
        if verb == 'set':
            self.robots.set(rest[0], rest[1], rest[2])
        elif verb in ('get', 'describe'):
            if rest or whole:
                self.robots.has_node(rest[0], rest[1])
        elif verb in ('list', 'dump'):
            if rest:
                self.robots.has_node(rest[0])
        else:
            raise PageError(f'nobody knows ros2 param {verb}')

    def _service(self, words, whole):
        if words[0] == 'list':
            return
        if words[0] != 'call':
            raise PageError(f'nobody knows ros2 service {words[0]}')
        if whole and len(words) < 3:
            raise IndexError
        self.robots.call(*(*words[1:], '', '')[:3])

    def _node(self, words, whole):
        if words[0] == 'info':
            self.robots.has_node(words[1])
        elif words[0] != 'list':
            raise PageError(f'nobody knows ros2 node {words[0]}')

    def _lifecycle(self, words, whole):
        if words[0] == 'set':
            self.robots.has_node(words[1])
            if words[2] not in _LIFECYCLE:
                raise PageError(f'a node has no transition {words[2]}')
        elif words[0] in ('get', 'list'):
            self.robots.has_node(words[1])
        elif words[0] != 'nodes':
            raise PageError(f'nobody knows ros2 lifecycle {words[0]}')

    def _interface(self, words, whole):
        if words[0] != 'show':
            raise PageError(f'nobody knows ros2 interface {words[0]}')
        message_class(words[1])


def launch_arguments(name):
    """Return the arguments of a launch file with their choices, () for any value.

    Read from the source: launch is not a wheel, and the arguments are literals.
    """
    path = REPOSITORY / 'launch' / name
    if not path.is_file():
        raise PageError(f'no launch file {name}')
    tree = ast.parse((REPOSITORY / 'propulsion_ros/launching.py').read_text(encoding='utf-8'))
    common = next(
        node.value for node in tree.body
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == 'ARGUMENTS'
    )
    called = {
        node.func.id for node in ast.walk(ast.parse(path.read_text(encoding='utf-8')))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    own = [
        node.value for function in tree.body
        if isinstance(function, ast.FunctionDef) and function.name in called
        for node in function.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == 'arguments'
    ]
    if not own:
        raise PageError(f'the arguments of {name} are not found in propulsion_ros/launching.py')
    found = {}
    for table in (common, *own):
        for key, value in zip(table.keys, table.values, strict=True):
            if isinstance(key, ast.Constant):
                options = {
                    ast.unparse(option): each
                    for option, each in zip(value.keys, value.values, strict=True)
                    if option is not None
                }
                choices = options.get("'choices'")
                # A launch file that changes a default keeps the choices.
                found[key.value] = (
                    tuple(ast.literal_eval(choices)) if choices else found.get(key.value, ())
                )
    return found


def _positional(words, with_value):
    """Return the words that are no options."""
    values, rest = [], iter(words)
    for word in rest:
        if word in with_value:
            next(rest)
        elif not word.startswith('-'):
            values.append(word)
    return values


def _stack_options(words):
    parser = argparse.ArgumentParser(exit_on_error=False)
    parser.add_argument('--executor', choices=('events', 'single'))
    stack._add_arguments(parser)
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            return parser.parse_args(words)
    except (SystemExit, argparse.ArgumentError) as error:
        raise PageError(f'stack {" ".join(words)}: {error}') from None


@contextlib.contextmanager
def _inside(folder):
    """Be in a folder for a while."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
