"""Flights that do not come about: each ends with its reason."""
from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from propulsion_ros.tools.demos import DEMOS, flight


@pytest.mark.parametrize(('parameters', 'error', 'reason'), [
    pytest.param('update_rate: -1.0', RuntimeError, 'the other nodes stopped, see above',
                 id='wrong parameter'),
    pytest.param('wait_for_subscribers: [pressure]', TimeoutError,
                 'the nodes did not start within 4 s', id='nobody listens to the pressure'),
])
def test_flight_that_does_not_begin_says_why(tmp_path, monkeypatch, parameters, error, reason):
    monkeypatch.setattr(flight, '_STEP_LIMIT', 4.0 if error is TimeoutError else 60.0)
    config = tmp_path / 'demo.yaml'
    config.write_text(f'/**/vehicle:\n  ros__parameters:\n    {parameters}\n', encoding='utf-8')
    with pytest.raises(error) as caught:
        flight.fly(DEMOS['quadrotor'], 'quadrotor', [config], 1.0)
    assert str(caught.value) == reason


def test_flight_that_is_interrupted_ends_in_one_line(tmp_path):
    command = [sys.executable, '-m', 'propulsion_ros.tools.cli', 'demo', '--vehicle', 'rov',
               '--output', str(tmp_path)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline().startswith('Starting')
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGINT
    assert said.strip() == 'propulsion_ros demo: stopped'
    assert list(tmp_path.iterdir()) == []
