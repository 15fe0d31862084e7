# SPDX-License-Identifier: Apache-2.0
"""Run every command of an installed package once, on the files that it installs.

usage: every_command.py [--sourced] PREFIX

A prefix of pip is run with nothing else; that of colcon with what its set-up file has put into the
environment.
"""
from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROBOT = '{share}/examples/hexacopter/hexacopter'
# Later ones read what earlier ones wrote. What ends with & runs beside the next one, after which
# Ctrl-C ends it: a slow machine needs longer to find a publisher than a duration allows for.
RUNS = (
    'check {robot}.yaml --model {robot}.urdf',
    'fly {robot}.urdf --params-file {robot}.yaml --allocate rotors --duration 4 '
    '--real-time-factor 0 --wait-for rotors_allocator/wrench_command --record flight '
    '--controller {share}/examples/hexacopter/controller.py',
    'identify flight --model {robot}.urdf --params-file {robot}.yaml --measured imu '
    '--fit body.mass',
    'replay {robot}.yaml flight again --model {robot}.urdf',
    'plot flight --output plots.png',
    'record copy &',
    'play flight --wait 60',
    'gazebo {share}/urdf/rov.urdf.xacro --output model',
    'demo --vehicle freeflyer --until 1',
    'study {share}/studies/apogee.yaml --cases 2 --jobs 1',
    'apogee log.csv --picture apogee.png',
    'view flight --model {robot}.urdf --html view.html',
)
LOG = 'time_s,altitude_m\n' + ''.join(
    f'{0.05 * i:.2f},{max(0.0, 60 * (0.05 * i - 1) - 4.9 * (0.05 * i - 1) ** 2):.2f}\n'
    for i in range(200)
)


def main() -> None:
    """Run them all; end with 1 after the first that fails."""
    *options, prefix = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, 'log.csv').write_text(LOG, encoding='utf-8')
        beside = []
        for line in RUNS:
            process = _started(
                Path(prefix).resolve(), line.removesuffix(' &'),
                environment_of(prefix, folder, options == ['--sourced']),
            )
            if line.endswith('&'):
                beside.append((line, process))
            else:
                _finish(line, process)
                while beside:
                    other, process = beside.pop()
                    process.send_signal(signal.SIGINT)
                    _finish(other, process)


def environment_of(prefix: str, home: str, is_sourced: bool) -> dict[str, str]:
    """Return the environment of a user of a prefix."""
    root = Path(prefix).resolve()
    # colcon puts the command beside the nodes, and its Python is that of the environment.
    bins = [root / 'bin', root / 'lib' / 'propulsion_ros', Path(sys.executable).parent]
    path = ':'.join(str(each) for each in bins[is_sourced:1 + 2 * is_sourced])
    sourced = {
        name: os.environ[name] for name in ('PYTHONPATH', 'AMENT_PREFIX_PATH')
        if is_sourced and name in os.environ
    }
    return {
        'PATH': f'{path}:/usr/bin:/bin', 'HOME': home, 'PYTHONDONTWRITEBYTECODE': '1',
        'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
        'ROS_DOMAIN_ID': os.environ.get('ROS_DOMAIN_ID', '101'), **sourced,
    }


def _started(prefix: Path, line: str, environment: dict[str, str]) -> subprocess.Popen[str]:
    share = prefix / 'share' / 'propulsion_ros'
    words = line.replace('{robot}', ROBOT).replace('{share}', str(share)).split()
    program = shutil.which('propulsion_ros', path=environment['PATH'])
    return subprocess.Popen(
        [str(program), *words], cwd=environment['HOME'], env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )


def _finish(line: str, process: subprocess.Popen[str]) -> None:
    text = process.communicate(timeout=600)[0]
    if process.returncode or 'Traceback' in text:
        sys.exit(f'propulsion_ros {line}\nexit code {process.returncode}, expected 0:\n{text}')
    print(f'propulsion_ros {line.split(maxsplit=1)[0]}: exit code 0', flush=True)


if __name__ == '__main__':
    main()
