# SPDX-License-Identifier: Apache-2.0
"""What docs/stability.md calls stable is what a built wheel has; a break is named."""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest

from installed import installed
from markdown_pages import REPOSITORY
from promises import SECTIONS, TABLE, breaks, of_section

HOW = (
    '\nto test/data/promises.txt, in the order of the letters, or write all of it anew:'
    '\n  .venv/bin/python test/promises.py > test/data/promises.txt'
    '\nWhat is promised already changes as docs/stability.md states.'
)


@pytest.fixture(scope='module')
def prefix(wheel_file, tmp_path_factory):
    """Return a prefix with a wheel of this tree in it."""
    prefix = tmp_path_factory.mktemp('prefix')
    installed(wheel_file, prefix)
    return prefix


def found(prefix, *sections):
    """Return the lines of what is installed in a prefix."""
    site = prefix / 'lib/python3/site-packages'
    environment = {**os.environ, 'PYTHONPATH': str(site)}
    # Beside the wheels of ROS 2 no set-up file has named any prefix.
    environment.pop('AMENT_PREFIX_PATH', None)
    done = subprocess.run(
        [sys.executable, str(REPOSITORY / 'test/promises.py'), *sections], text=True,
        capture_output=True, check=False, env=environment, cwd=prefix,
    )
    assert done.returncode == 0, done.stderr
    assert f'promises of {site}/propulsion_ros\n' in done.stderr
    return done.stdout.splitlines()


def table():
    return TABLE.read_text(encoding='utf-8').splitlines()


def test_every_promise_is_kept_by_the_wheel(prefix):
    broken = breaks(table(), found(prefix))
    assert not broken, '\n'.join((*broken, HOW))


GONE = ''
# File, what is changed in it, to what, and the beginning of the promise that names it.
SEEDS = [
    pytest.param('flight/outputs.py', "'~/subphase'", "'~/sub_phase'", 'publisher ~/subphase',
                 id='topic'),
    pytest.param('flight/outputs.py', "_POINT, 'result'", "_POINT, 'latched'",
                 'publisher ~/predicted_apogee', id='quality of service'),
    pytest.param('vehicle_loop.py', "'lockstep', frame\\)", "'lockstep', world)",
                 'publisher ~/pressure', id='frame'),
    pytest.param('actuator_ports.py', "'~/current'", "'~/stream'", 'subscription ~/current',
                 id='subscription'),
    pytest.param('actuator_ports.py', "'~/set_enabled', 'std_srvs/srv/SetBool'",
                 "'~/set_enabled', 'std_srvs/srv/Trigger'", 'service ~/set_enabled', id='type'),
    pytest.param('*', r'\bsilence_timeout\b', 'quiet_timeout', 'parameter silence_timeout',
                 id='parameter'),
    pytest.param('rotors/params.py', "0.0, 'rad/s', doc='rotor speed at", "0.0, 'rpm', doc='at",
                 'parameter initial_rotor_speed', id='unit'),
    pytest.param('fins/fins.py', "doc='(.*)', lo=0.0", r"doc='\1', lo=-1.0",
                 'parameter rate_limit', id='bound'),
    pytest.param('nodes/base.py', r'return super\(\).on_deactivate\(state\)',
                 'return TransitionCallbackReturn.FAILURE', 'life cycle of a node',
                 id='life cycle'),
    pytest.param('nodes/spin.py', 'code = 0', 'code = 3', 'node exits at SIGINT',
                 id='exit code of a node'),
    pytest.param('launch_actions.py', "'composed'", "'in_one'", 'launch argument composed',
                 id='launch argument'),
    pytest.param('graph/family_params.py', "'_allocator'", "'_mixer'",
                 'launch starts rotors_allocator', id='node of a launch file'),
    pytest.param('propulsion.rviz', GONE, GONE, 'file rviz/', id='installed file'),
    pytest.param('lib/propulsion_ros/plot', GONE, GONE, 'executable plot', id='executable'),
    pytest.param('rml/devices.py', r'\bmin_height\b', 'lowest',
                 'key flight configuration, Engines (each) min_height', id='key of a flight'),
    pytest.param('study/study.py', r'\bwait_for\b', 'awaited', 'key study wait_for',
                 id='key of a study'),
    pytest.param('phases/phases.py', "DEBUG = 'debug'", "DEBUG = 'test'", 'value ~/phase debug',
                 id='value'),
    pytest.param('fins/fins.py', "element='quadratic'", "element='square'", 'tag fins <quadratic>',
                 id='tag'),
    pytest.param('uuv_dialect.py', "'a0': 'angle_offset'", "'a0': 'zero_lift_drag'",
                 'description every_family.urdf, block fins two_lines.angle_offset',
                 id='tag of the UUV simulator'),
    pytest.param('gz_dialect.py', "'propeller_diameter': 'prop", "'diameter': 'prop",
                 'description boat_of_gz_sim.urdf, block thrusters propeller_diameter',
                 id='tag of gz-sim'),
    pytest.param('table_writer.py', "'ixx'", "'xx'", 'column of replay nitrogen.ixx', id='column'),
    pytest.param('rotors/integrators.py', "if integrator == 'isaaclab_rk4'", 'if not integrator',
                 'number rotors integrator isaaclab_rk4', id='number of an original'),
    pytest.param('tools/cli.py', "'play': .*", '', 'command play', id='command'),
    pytest.param('tools/record.py', "'--duration'", "'--time'", 'option --duration', id='option'),
    pytest.param('tools/check.py', 'return 1', 'return 0', 'exit code of check with a fault',
                 id='exit code'),
    pytest.param('tools/apogee.py', "'sigma'", "'deviation'", 'JSON of apogee sigma', id='JSON'),
    pytest.param('propulsion_ros/__init__.py', r'parameters: (.*) = None,(\s+batch)',
                 r'parameters: \1,\2', 'function propulsion_ros.load', id='function'),
    pytest.param('common/lag.py', "step_value: str = 'end'", "step_value: str = 'mean'",
                 'class propulsion_ros.models.common.lag.Lag', id='class'),
    pytest.param('body/bodies.py', r'def specific_force\(', 'def felt(',
                 'attribute propulsion_ros.models.Bodies.specific_force', id='attribute'),
    pytest.param('models/__init__.py', "'BatteryState', 'Bodies',", "'BatteryState',",
                 'name propulsion_ros.models.Bodies', id='name'),
]


@pytest.fixture(scope='module')
def broken(prefix, tmp_path_factory):
    """Return what is named where every seed is sown at once: none hides another one."""
    folder = shutil.copytree(prefix, tmp_path_factory.mktemp('broken') / 'prefix')
    for param in SEEDS:
        pattern, old, new, _ = param.values
        sow(folder, pattern, old, new)
    return breaks(table(), found(folder))


def sow(prefix, pattern, old, new):
    """Replace a text in the files of a prefix, or take the files away."""
    count = 0
    for path in prefix.rglob(pattern):
        if old == GONE:
            path.unlink()
            count += 1
        elif path.suffix in ('.py', '.yaml'):
            text, here = re.subn(old, new, path.read_text(encoding='utf-8'))
            path.write_text(text, encoding='utf-8')
            count += here
    assert count, f'nothing to break: {pattern}: {old}'


@pytest.mark.slow
@pytest.mark.parametrize(('pattern', 'old', 'new', 'name'), SEEDS)
def test_seeded_break_is_named(broken, pattern, old, new, name):
    assert any(text.startswith(name) for text in broken), [text.split('\n')[0] for text in broken]


def test_every_kind_of_promise_has_a_seed():
    def kind(text):
        return text.split(maxsplit=1)[0]

    assert {kind(line) for line in table()} == {kind(param.values[3]) for param in SEEDS}


def test_every_line_belongs_to_a_section():
    known = [line for section in SECTIONS for line in of_section(table(), section)]
    assert sorted(known) == sorted(table()) == table()


def test_breaks_name_what_is_changed_gone_and_new():
    promised = ['option --a: int; fly', 'option --b: flag; fly', 'option --c: str; fly']
    assert breaks(promised, promised) == []
    now = ['option --a: int; fly, play', 'option --c: str; fly', 'option --d: str; fly']
    assert breaks(promised, now) == [
        'option --a: is promised as\n  option --a: int; fly\n'
        'and is now\n  option --a: int; fly, play',
        'option --b: is promised as\n  option --b: flag; fly\nand is now\n  not there',
        'option --d: is new, add the line\n  option --d: str; fly',
    ]


def test_section_that_cannot_be_read_is_one_text():
    texts = breaks(['option --a: int; fly', 'key study a: int'],
                   ['section commands: cannot be read: KeyError: a', 'key study a: int'])
    assert texts == ['section commands: cannot be read: KeyError: a']
