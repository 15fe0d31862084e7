# SPDX-License-Identifier: Apache-2.0
"""Flights that do not come about: each ends with its reason."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from parts import few_of
from propulsion_ros.demos import flight
from propulsion_ros.demos.demo import demo_of


@pytest.mark.parametrize(('parameters', 'error', 'reason'), [
    pytest.param('update_rate: -1.0', RuntimeError, 'the other nodes stopped, see above',
                 id='wrong parameter'),
    pytest.param('wait_for_subscribers: [pressure]', TimeoutError,
                 'the nodes did not start within 4 s', id='nobody listens to the pressure'),
])
def test_flight_that_does_not_begin_says_why(tmp_path, monkeypatch, parameters, error, reason):
    if error is TimeoutError:
        monkeypatch.setattr(flight, '_STEP_LIMIT', 4.0)
    config = tmp_path / 'demo.yaml'
    config.write_text(f'/**/vehicle:\n  ros__parameters:\n    {parameters}\n', encoding='utf-8')
    with pytest.raises(error) as caught:
        flight.fly(demo_of('quadrotor'), 'quadrotor', [config], 1.0)
    assert str(caught.value) == reason


def child_of(process):
    """Return the process id of the other nodes, once they were started.

    Imports start processes too, to look for fonts and libraries.
    """
    listed = Path(f'/proc/{process.pid}/task/{process.pid}/children')
    while process.poll() is None:
        for child in listed.read_text(encoding='ascii').split():
            with suppress(FileNotFoundError, ProcessLookupError):
                if b'propulsion_ros.nodes.stack' in Path(f'/proc/{child}/cmdline').read_bytes():
                    return int(child)
        time.sleep(0.01)
    pytest.fail(process.stderr.read())


@pytest.mark.parametrize('number', few_of([signal.SIGINT, signal.SIGTERM], 2))
def test_flight_that_is_stopped_ends_in_one_line_and_leaves_nothing_running(tmp_path, number):
    command = [sys.executable, '-m', 'propulsion_ros.tools.cli', 'demo', '--vehicle', 'rov',
               '--output', str(tmp_path)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    child = child_of(process)
    try:
        process.send_signal(number)
        assert process.wait(300) == 128 + number
        assert not Path(f'/proc/{child}').exists()
    except BaseException:
        process.kill()
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        raise
    printed, said = process.communicate()
    assert printed.startswith('Starting')
    assert said == 'propulsion_ros demo: stopped\n'
    assert list(tmp_path.iterdir()) == []
