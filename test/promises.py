# SPDX-License-Identifier: Apache-2.0
"""What docs/stability.md calls stable, read from the package that Python finds, a line for each.

usage: python test/promises.py [SECTION...] > test/data/promises.txt

A line is a name, behind a colon what of it is promised, and behind a semicolon which nodes,
launch files or commands have it so. Nodes are started, commands are run, and files are read, so
that a line is what a user has. The table is kept, and a test compares.
"""
from __future__ import annotations

import argparse
import contextlib
import dataclasses
import inspect
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, get_origin
from unittest import mock

import propulsion_ros

HERE = Path(__file__).resolve().parent
TABLE = HERE / 'data' / 'promises.txt'
PACKAGE = Path(propulsion_ros.__file__).parent
Row = tuple[str, object, str]
"""Name, what of it is promised, and what has it, '' for the package."""

OWN = ('~/', '/clock', '/diagnostics')
OF_EVERY_NODE = re.compile(r'/(rosout|parameter_events)$|/_\w+$')
OF_RCLPY = ('rcl_interfaces/', 'type_description_interfaces/', 'lifecycle_msgs/srv/GetAvailable')
"""Topics and services of rclpy itself."""
LOG = 'time_s,altitude_m\n' + ''.join(
    f'{0.05 * i:.2f},{max(0.0, 60 * (0.05 * i - 1) - 4.9 * (0.05 * i - 1) ** 2):.2f}\n'
    for i in range(300)
)
EVERYTHING = {
    'publish_each': True, 'publish_numbers': True, 'publish_joint_states': True,
    'adapters': ['float64_multi_array'],
}
"""Parameters that give an actuator node every topic that it can have."""
BATTERY = {
    'battery': ['main'], 'batteries.names': ['main'], 'batteries.capacity': [5.0],
    'batteries.open_circuit_voltage': ['0 12 1 16'], 'batteries.internal_resistance': [0.05],
}
VARIANTS: Mapping[str, Iterable[dict[str, Any]]] = {
    'rotors': [EVERYTHING, EVERYTHING | BATTERY],
    'fam': [{}],
    'flight_state': [
        {'altitude_source': source} for source in ('pressure', 'odometry', 'sensors')
    ],
}
"""Parameters of each start of a node; its topics are those of all of them."""


def flow(*velocity: float) -> dict[str, float]:
    """Return the columns of a velocity of the body."""
    return {f'body.velocity.{axis}': each for axis, each in zip('xyz', velocity, strict=True)}


COMMANDS: Mapping[str, tuple[tuple[str, ...], dict[str, float]]] = {
    'rotors': ((), {'front_left.effort': 4.0}),
    'thrusters': ((), {'front_left.velocity': 200.0}),
    'fins': ((), {'fin_top.position': 0.1} | flow(2.0, 0.0, 0.0)),
    'jets': ((), {'left_up.effort': 0.1}),
    'fam': ((), {'wrench.force.x': 0.2}),
    'rocket': (('--model', 'urdf/rocket.urdf.xacro'), {
        'booster_1.effort': 1300.0, 'booster_1_gimbal_y.position': 0.02, 'fin_1.position': 0.1,
    } | flow(0.0, 0.0, 100.0)),
}
"""Options and a second of the same commands for each parameter file that is replayed."""
SCHEMES: Mapping[tuple[str, str], tuple[dict[str, Any], ...]] = {
    ('quadrotor', 'rotors'): (
        {'integrator': 'euler'}, {'integrator': 'rk4'}, {'integrator': 'isaaclab_euler'},
        {'integrator': 'isaaclab_rk4', 'mixing': 'discrete'},
        {'integrator': 'isaaclab_rk4', 'mixing': 'continuous'}, {'step_value': 'end'},
    ),
    ('rocket', 'boosters'): (
        {'integrator': 'euler'}, {'gimbals.integrator': 'euler'},
        {'noise_ratio': [0.1], 'noise_seed': [7]},
    ),
    ('rocket', 'fins'): ({'compat': 'uuv'}, {'compat': 'pyflyt'}),
    ('rov', 'thrusters'): ({'integrator': 'euler'},),
}
"""Parameters that keep the numbers of an original, and noise, which has no other source."""


# Nodes: topics, services, parameters.


def nodes() -> Iterator[Row]:
    """Yield topics, services, parameters and life cycle of each kind of node that was started."""
    import rclpy

    from propulsion_ros.nodes import base
    from propulsion_ros.nodes.stack import make_node
    from propulsion_ros.settings.flat import Parameter

    declared: dict[str, Parameter] = {}
    declare = base.declare

    def noting(node: Any, parameters: Iterable[Parameter], defaults: Mapping[str, Any]) -> Any:
        parameters = list(parameters)
        declared.update((each.key, each) for each in parameters)
        return declare(node, parameters, defaults)

    base.declare = noting
    context, found = rclpy.Context(), set()
    rclpy.init(args=[], context=context)
    for kind, spec, file in _kinds():
        for more in VARIANTS.get(kind, [EVERYTHING if spec.executable == 'actuator_node' else {}]):
            declared.clear()
            one = dataclasses.replace(spec, parameters={**spec.parameters, **more}, remappings={})
            node = make_node(one, params_files=[file] if file else [], context=context)
            node.start()
            if not node.is_active:
                raise RuntimeError(f'{kind} did not start')
            found |= {(*row, kind) for row in _of_node(node, declared)}
            found.add(('life cycle of a node', _life_cycle(node), kind))
            node.close()
    rclpy.try_shutdown(context=context)
    base.declare = declare
    yield from found


def _kinds() -> Iterator[tuple[str, Any, Path | None]]:
    """Yield each kind of node by its family or executable, as the first vehicle with it has it."""
    from propulsion_ros.graph.vehicles import VEHICLES
    from propulsion_ros.graph.wiring import robot_graph

    seen = set()
    for vehicle in VEHICLES:
        graph = robot_graph(vehicle, drawn_with=())
        for spec in graph.nodes:
            kind = spec.executable.removesuffix('_node')
            kind = spec.name if kind == 'actuator' else kind
            if kind not in seen:
                seen.add(kind)
                yield kind, spec, graph.params_file


def _of_node(node: Any, declared: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    own = node.get_fully_qualified_name()

    def relative(name: str) -> str:
        if name.startswith(f'{own}/'):
            first, _, rest = name.removeprefix(f'{own}/').partition('/')
            return f'~/{first}/<name>' if rest else f'~/{first}'
        return name

    frames = {outlet.topic: f'in {outlet.frame}' for outlet in node._outlets if outlet.frame}
    for way, ends in (('publisher', node.publishers), ('subscription', node.subscriptions)):
        for end in ends:
            name = relative(end.topic_name)
            # What joins it to the other nodes of a robot is the robot's.
            if not OF_EVERY_NODE.search(name) and name.startswith(OWN):
                # The depth is that of the settings.
                profile = end.qos_profile
                frame = frames.get(name, '') if way == 'publisher' else ''
                yield f'{way} {name}', ' '.join((
                    _type_of(end.msg_type), profile.reliability.name.lower(),
                    profile.durability.name.lower(), frame,
                ))
    for service in node.services:
        kind = _type_of(service.srv_type)
        if not kind.startswith(OF_RCLPY):
            yield f'service {relative(service.service_name)}', kind
    for key in sorted(node._parameters):
        if not key.startswith('qos_overrides.'):
            given = declared.get(key)
            yield f'parameter {key}', _parameter(given) if given else (
                node.get_parameter(key).type_.name.lower()
            )


def _life_cycle(node: Any) -> str:
    """Return the states that a node goes through."""
    states = [node._state_machine.current_state[1]]
    for name in ('deactivate', 'activate', 'deactivate', 'cleanup', 'configure', 'shutdown'):
        getattr(node, f'trigger_{name}')()
        states.append(node._state_machine.current_state[1])
    return ' '.join(states)


def _type_of(kind: type) -> str:
    package, interface, *_ = kind.__module__.split('.')
    return f'{package}/{interface}/{kind.__name__}'


def _parameter(parameter: Any) -> str:
    """Return type, unit, bounds, and whether it is required or may change."""
    spec = parameter.spec
    shape = '' if not spec.shape else str(list(spec.shape)).replace("'", '')
    words = [
        f'{spec.kind.__name__}{shape}', f'[{spec.unit}]' if spec.unit else '',
        parameter.constraints, 'required' if parameter.required else '',
        'live' if spec.live else '',
    ]
    return ', '.join(word for word in words if word)


# Launch files and installed files.


def launch_files() -> Iterator[Row]:
    """Yield launch files with their arguments and nodes, and the files that they take."""
    import page_launch
    from propulsion_ros.graph.share import share_directory
    from propulsion_ros.graph.vehicles import VEHICLES
    from propulsion_ros.graph.wiring import robot_graph

    share = share_directory()
    with tempfile.TemporaryDirectory() as folder:
        page_launch.REPOSITORY = Path(folder)
        Path(folder, 'launch').symlink_to(share / 'launch')
        Path(folder, 'propulsion_ros').symlink_to(PACKAGE)
        for path in sorted((share / 'launch').glob('*.launch.py')):
            for name, choices in page_launch.launch_arguments(path.name).items():
                yield f'launch argument {name}', ' or '.join(choices) or 'any', path.name
    for vehicle in VEHICLES:
        for spec in robot_graph(vehicle).nodes:
            yield f'launch starts {spec.name}', spec.executable, f'{vehicle}.launch.py'
    for name in ('launch', 'config', 'urdf', 'studies', 'policies', 'rviz', 'plotjuggler'):
        for path in sorted((share / name).iterdir()):
            if path.suffix != '.pyc' and path.is_file():
                yield f'file {name}/{path.name}', 'installed', ''
    lib = share.parents[1] / 'lib' / 'propulsion_ros'
    for path in sorted((lib if lib.is_dir() else share / 'scripts').iterdir()):
        if path.name != 'propulsion_ros':
            yield f'executable {path.name}', 'installed', ''


# Files that are read and written.


def file_keys() -> Iterator[Row]:
    """Yield the keys of flight configurations and studies, and columns of tables."""
    from flight_tables import allowed, keys_of
    from propulsion_ros.flight.events.variables import VARIABLES
    from propulsion_ros.flight.phases.phases import DUTIES
    from propulsion_ros.flight.readiness import CHECKS
    from propulsion_ros.rml.events import COMBINATIONS, COMPARISONS
    from propulsion_ros.settings.flat import parameters_of
    from propulsion_ros.study import study

    for place, key in keys_of():
        yield f'key flight configuration, {place} {key.key}', \
            f'{key.spec.kind.__name__}, {allowed(key)}'.rstrip(', '), ''
    for name, variable in VARIABLES.items():
        yield f'key flight configuration, flightVar {name}', variable.unit or 'no unit', ''
    for name in (*COMPARISONS, *COMBINATIONS):
        yield f'key flight configuration, operator {name}', 'known', ''
    for phase in DUTIES:
        yield f'value ~/phase {phase.value}', 'published', ''
    for name in CHECKS:
        yield f'value ~/flags check {name}', 'published', ''
    for key in parameters_of(study.StudyParams):
        yield f'key study {key.key}', _parameter(key), ''
    for kind, own in study.KINDS.items():
        yield f'key study of kind {kind}', ' '.join(sorted(own.keys)), ''


def descriptions() -> Iterator[Row]:
    """Yield what the tags of a description give, of every family and of the UUV simulator."""
    from propulsion_ros.graph.family_params import loop_params_of
    from propulsion_ros.models.registry import FAMILIES
    from propulsion_ros.settings.quantity import Group, spec_of
    from propulsion_ros.urdf.reader import actuators_from_urdf

    for name, family in FAMILIES.items():
        yield f'tag {name}', f'<{family.facts.tag}>' if family.facts.tag else 'none', ''
        for field in dataclasses.fields(family.Params):
            spec = spec_of(field)
            if isinstance(spec, Group):
                yield f'tag {name} <{spec.element}>', f'{field.name}.*', ''
    data = HERE / 'data'
    for path in (data / 'every_family.urdf', *sorted((data / 'public').glob('*_of_gz_sim.urdf'))):
        for block in actuators_from_urdf(path.read_text(encoding='utf-8'), loop_params_of):
            yield f'description {path.name}, block {block.name}', block.family, ''
            for key, value in block.values.items():
                yield f'description {path.name}, block {block.name} {key}', value, ''


def columns() -> Iterator[Row]:
    """Yield the columns of a replay, with what the same command for a second comes to.

    Two digits tell units and signs.
    """
    for robot, (options, command) in COMMANDS.items():
        row = ','.join(str(value) for value in command.values())
        lines = [','.join(('stamp', *command)), *(f'{0.05 * i:.2f},{row}' for i in range(1, 21))]
        Path('in.csv').write_text('\n'.join(lines), encoding='utf-8')
        files = (str(_share(word)) if '/' in word else word for word in options)
        code, _ = _ran('replay', str(_share(f'config/{robot}.yaml')), 'in.csv', 'out.csv', *files)
        if code:
            raise RuntimeError(f'replay of config/{robot}.yaml: exit code {code}')
        first, *rows = (line.split(',') for line in Path('out.csv').read_text('utf-8').split())
        for column, values in zip(first, zip(*rows, strict=True), strict=True):
            # Each node has its own last row.
            number = float(next(filter(None, reversed(values)), 'nan'))
            # What is left over of what cancels is 0.
            about = '0' if abs(number) < 1e-3 else f'{number:.2g}'
            yield f'column of replay {column}', f'comes to {about}', f'{robot}.yaml'


def numbers() -> Iterator[Row]:
    """Yield what a few steps apply by each scheme that is named after an original."""
    from propulsion_ros.models.common.family import BodyState

    flow = BodyState(velocity=[1.0, 2.0, 30.0])
    for (vehicle, group), schemes in SCHEMES.items():
        for scheme in schemes:
            Path('scheme.yaml').write_text(
                json.dumps({f'/**/{group}': {'ros__parameters': scheme}}), encoding='utf-8'
            )
            model = propulsion_ros.load(vehicle, 'scheme.yaml')[group]
            command = [0.01 * (i + 1) for i, _ in enumerate(model.command_names)]
            if group != 'fins':
                command = [100.0 * value for value in command]
            for _ in range(3):
                output = model.step(command, flow, dt=0.01)
            words = ' '.join(f'{key} {value}' for key, value in scheme.items())
            yield f'number {group} {words}', f'{abs(output.wrench).sum():.9g} after 3 steps', ''


# Commands: options, exit codes, JSON.


def commands() -> Iterator[Row]:
    """Yield the arguments and options of each command."""
    from propulsion_ros.tools import cli

    for command in cli.COMMANDS:
        parser = argparse.ArgumentParser(add_help=False)
        cli.module_of(command).add_arguments(parser)
        yield f'command {command}', 'known', ''
        for action in parser._actions:
            name = ', '.join(action.option_strings) or action.dest
            kind = getattr(action.type, '__name__', 'str') if action.nargs != 0 else 'flag'
            words = [
                kind, f'{action.nargs} times' if action.nargs else '',
                ' or '.join(map(str, action.choices or ())), 'required' if action.required else '',
            ]
            yield f'option {name}', ', '.join(word for word in words if word), command


def exit_codes() -> Iterator[Row]:
    """Yield the exit codes of commands, each with what led to it."""
    from propulsion_ros.tools import cli

    yield 'exit code of propulsion_ros --version', _code('--version'), ''
    yield 'exit code of propulsion_ros without a command', _code(), ''
    for command in cli.COMMANDS:
        yield 'exit code with an unknown option', _code(command, '--no-such-option'), command
    missing = {
        'apogee': 'none.csv', 'check': 'none.yaml', 'fly': 'none.urdf',
        'gazebo': 'none.urdf --output out',
        'identify': 'none --fit a.b --model none.urdf', 'play': 'none', 'plot': 'none',
        'replay': 'none.yaml none.csv out.csv', 'study': 'none.yaml', 'view': 'none',
    }
    for command, words in missing.items():
        yield 'exit code with a file that is missing', _code(command, *words.split()), command
    Path('log.csv').write_text(LOG, encoding='utf-8')
    Path('faulty.yaml').write_text('/**/rotors: {ros__parameters: {family: rotor}}', 'utf-8')
    yield 'exit code of apogee with an apogee', _code('apogee', 'log.csv'), ''
    yield 'exit code of check with a fault', _code('check', 'faulty.yaml'), ''
    fine = str(_share('config/rotors.yaml'))
    yield 'exit code of check without a fault', _code('check', fine), ''
    with mock.patch('propulsion_ros.tools.check.run', side_effect=KeyboardInterrupt):
        yield 'exit code of a command at Ctrl-C', _code('check', 'log.csv'), ''


def ends_of_nodes() -> Iterator[Row]:
    """Yield the exit codes of a node."""
    program = [sys.executable, '-m', 'propulsion_ros.nodes.actuator_node', '--ros-args', '-r']
    good = [*program, '__node:=rotors', '--params-file', str(_share('config/rotors.yaml'))]
    done = subprocess.run([*good, '-p', 'max_thrust:=[-1.0]'], capture_output=True, check=False)
    yield 'node with a wrong parameter exits with', done.returncode, ''
    for number in (signal.SIGINT, signal.SIGTERM):
        process = subprocess.Popen(good, stderr=subprocess.PIPE, text=True)
        for line in process.stderr:
            if 'active' in line:
                process.send_signal(number)
        yield f'node exits at {number.name} with', process.wait(timeout=60), ''


def _code(*words: str) -> object:
    return _ran(*words)[0]


def _ran(*words: str) -> tuple[object, str]:
    """Return the exit code of a command, and what it printed."""
    from propulsion_ros.tools import cli

    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        try:
            code: object = cli.main(words)
        except SystemExit as error:
            code = error.code or 0
    return code, out.getvalue()


def _share(name: str) -> Path:
    from propulsion_ros.graph.share import share_directory
    return share_directory() / name


def json_keys() -> Iterator[Row]:
    """Yield the keys of the JSON that commands print."""
    Path('log.csv').write_text(LOG, encoding='utf-8')
    yield from _printed('apogee', 'log.csv')
    yield from _printed('study', 'apogee', '--case', '0', '--output', 'one')
    # What is found does not matter, but something must be.
    bench = 'stamp,motor.position,wrench.force.z\n' + ''.join(
        f'{0.01 * i:.2f},{0.3 + 0.2 * (i // 50 % 2):.1f},{0.9 + 1.6 * ((i - 4) // 50 % 2):.1f}\n'
        for i in range(4, 300)
    )
    Path('bench.csv').write_text(bench, encoding='utf-8')
    yield from _printed(
        'identify', 'bench.csv', '--model', str(_share('examples/thrust_bench/bench.urdf')),
        '--measured', 'wrench', '--fit', 'rotors.time_constant_up'
    )


def _printed(*words: str) -> Iterator[Row]:
    code, text = _ran(*words)
    if code:
        raise RuntimeError(f'{" ".join(words)}: exit code {code}')
    for key, value in json.loads(text).items():
        yield f'JSON of {words[0]} {key}', _json_kind(value), ''
        inner = [each for each in value.values() if isinstance(each, dict)] \
            if isinstance(value, dict) else []
        for name, each in inner[0].items() if inner else ():
            yield f'JSON of {words[0]} {key}.<name>.{name}', _json_kind(each), ''


def _json_kind(value: object) -> str:
    # What is unknown is null.
    kinds = {
        str: 'text or null', list: 'list', dict: 'object', int: 'integer', bool: 'true or false',
    }
    return 'number or null' if value is None else kinds.get(type(value), 'number or null')


# Python.


def functions() -> Iterator[Row]:
    """Yield the signatures of what docs/api.rst and docs/add_a_family.md import.

    Of a class whose members the page does not have, such as a family, the name is promised.
    """
    from propulsion_ros import flight, models
    from propulsion_ros.models.registry import GROUP

    docs = HERE.parent / 'docs'
    named = {one or other for one, other in re.findall(
        r'function:: (propulsion_ros[\w.]+)|:: (propulsion_ros[\w.]+)\n   :members:',
        (docs / 'api.rst').read_text('utf-8'),
    )}
    for package in (propulsion_ros, models, flight):
        for name in package.__all__:
            getattr(package, name)
            yield f'name {package.__name__}.{name}', 'importable', ''
    for module, names in re.findall(
        r'^from (propulsion_ros[\w.]*) import (.+)$',
        (docs / 'add_a_family.md').read_text('utf-8'), re.M,
    ):
        # The page writes that family itself.
        named |= {f'{module}.{name.strip()}' for name in names.split(',')
                  if module != 'propulsion_ros.models.waterjets'}
    yield f'name of the entry points {GROUP}', 'read', ''
    for path in sorted(named):
        module, _, name = path.rpartition('.')
        try:
            value = getattr(import_module(module), name, None) or import_module(path)
        except ImportError:
            continue
        yield from _signatures(path, value)


def _signatures(path: str, value: Any) -> Iterator[Row]:
    if inspect.ismodule(value):
        for name, each in sorted(vars(value).items()):
            if inspect.isfunction(each) and each.__module__ == value.__name__ \
                    and not name.startswith('_'):
                yield from _signatures(f'{path}.{name}', each)
    # Python 3.10 takes an alias of an array for a class.
    elif inspect.isclass(value) and get_origin(value) is None:
        is_protocol = getattr(value, '_is_protocol', False)
        yield f'class {path}', 'protocol' if is_protocol else _signature(value), ''
        for name in getattr(value, '__annotations__', {}):
            if not name.startswith('_'):
                yield f'attribute {path}.{name}', _annotation(value.__annotations__[name]), ''
        for name, each in vars(value).items():
            if not name.startswith('_') and inspect.isfunction(each):
                yield f'function {path}.{name}', _signature(each), ''
            elif not name.startswith('_') and isinstance(each, property):
                yield f'attribute {path}.{name}', each.fget.__annotations__.get('return', ''), ''
    elif inspect.isfunction(value):
        yield f'function {path}', _signature(value), ''
    else:
        yield f'name {path}', 'importable', ''


def _annotation(given: Any) -> str:
    return str(getattr(given, '__forward_arg__', given))


def _signature(value: Any) -> str:
    # Python's versions print what is not evaluated in several ways.
    text = re.sub(r"ForwardRef\('([^']*)'[^)]*\)", r'\1', str(inspect.signature(value)))
    text = re.sub(r'<[^<>]*MISSING[^<>]*>', 'MISSING', text)
    return re.sub(r"<class '(\w+)'>", r'\1', re.sub(r"(: |-> )'([^']*)'", r'\1\2', text))


SECTIONS = {
    'nodes': (nodes, ('publisher', 'subscription', 'service', 'parameter', 'life')),
    'ends': (ends_of_nodes, ('node',)),
    'launch': (launch_files, ('launch', 'file', 'executable')),
    'keys': (file_keys, ('key', 'value')),
    'tags': (descriptions, ('tag', 'description')),
    'columns': (columns, ('column',)),
    'numbers': (numbers, ('number',)),
    'commands': (commands, ('command', 'option')),
    'codes': (exit_codes, ('exit',)),
    'json': (json_keys, ('JSON',)),
    'functions': (functions, ('function', 'class', 'attribute', 'name')),
}
"""What reads a part of the table, and the first words of its lines."""


def lines_of(sections: Iterable[str]) -> list[str]:
    """Return the lines of some sections in order; a section that fails has one line."""
    before, owners = Path.cwd(), defaultdict(set)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for section in sections:
            try:
                for name, what, owner in SECTIONS[section][0]():
                    owners[name, ' '.join(str(what).split())].add(owner)
            except Exception as error:
                error_text = f'cannot be read: {type(error).__name__}: {error}'
                owners[f'section {section}', error_text].add('')
        os.chdir(before)
    return sorted(
        f'{name}: {what}; {", ".join(sorted(of))}'.removesuffix('; ')
        for (name, what), of in owners.items()
    )


def breaks(promised: Iterable[str], found: Iterable[str]) -> list[str]:
    """Return a text for each promise that is not kept, and for what is not promised yet."""
    kept, has = set(promised), set(found)
    texts = [line for line in has if line.startswith('section ')]
    for line in texts:
        # One text is enough.
        rest = of_section(kept | has, line.split()[1].rstrip(':'))
        kept, has = kept.difference(rest), has.difference(rest, [line])
    for line in sorted(kept - has):
        now = sorted(each for each in has - kept if _name(each) == _name(line))
        texts.append(f'{_name(line)}: is promised as\n  {line}\nand is now\n  '
                     + ('\n  '.join(now) or 'not there'))
    changed = {_name(line) for line in kept - has}
    texts += [f'{_name(line)}: is new, add the line\n  {line}'
              for line in sorted(has - kept) if _name(line) not in changed]
    return texts


def of_section(lines: Iterable[str], section: str) -> list[str]:
    """Return the lines of one section."""
    return [line for line in lines if line.split()[0] in SECTIONS[section][1]]


def _name(line: str) -> str:
    return line.partition(': ')[0]


def main() -> None:
    """Print the lines of the sections that are named, or of all."""
    print(f'promises of {PACKAGE}', file=sys.stderr)
    print('\n'.join(lines_of(sys.argv[1:] or SECTIONS)))


if __name__ == '__main__':
    main()
