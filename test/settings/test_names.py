# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys

import pytest

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.names import domain_id


@pytest.mark.parametrize(('text', 'number'), [('', 0), ('0', 0), ('7', 7), ('232', 232)])
def test_domain_of_the_environment(monkeypatch, text, number):
    monkeypatch.setenv('ROS_DOMAIN_ID', text)
    assert domain_id() == number


@pytest.mark.parametrize('text', ['233', '-1', '1.0', 'nine', '9' * 30, '0' * 10 + '300', '²'])
def test_wrong_domain_names_the_variable(monkeypatch, text):
    monkeypatch.setenv('ROS_DOMAIN_ID', text)
    with pytest.raises(SourceError, match=r'^ROS_DOMAIN_ID: expected an integer from 0 to 232'):
        domain_id()


@pytest.mark.parametrize('arguments', [
    pytest.param(['propulsion_ros.nodes.actuator_node'], id='node'),
    pytest.param(['propulsion_ros.tools.cli', 'record', 'bag'], id='record'),
])
def test_process_ends_in_one_line(tmp_path, arguments):
    done = subprocess.run(
        [sys.executable, '-m', *arguments], cwd=tmp_path, capture_output=True, text=True,
        check=False, env={**os.environ, 'ROS_DOMAIN_ID': '300'},
    )
    assert done.returncode == 1
    assert done.stderr.count('\n') == 1
    assert "ROS_DOMAIN_ID: expected an integer from 0 to 232 in the environment, got '300'" \
        in done.stderr
