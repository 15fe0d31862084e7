# SPDX-License-Identifier: Apache-2.0
"""One flight at a time has a ROS domain of this machine."""
from __future__ import annotations

import os
import subprocess
import sys

import pytest

from propulsion_ros.demos.flight import held_domain

HOLD = """
import sys
from propulsion_ros.demos.flight import held_domain
with held_domain(sys.argv[1]):
    print('held', flush=True)
    input()
"""


@pytest.fixture(autouse=True)
def own_folder(monkeypatch, tmp_path):
    monkeypatch.setattr('tempfile.tempdir', str(tmp_path))
    monkeypatch.setenv('TMPDIR', str(tmp_path))
    monkeypatch.setenv('ROS_DOMAIN_ID', '7')
    return tmp_path


def refused(name):
    with pytest.raises(RuntimeError) as caught, held_domain(name):
        pass
    return str(caught.value)


@pytest.mark.parametrize(('name', 'shown'), [
    pytest.param('rov', 'rov', id='vehicle'),
    pytest.param('a\nb.urdf', 'a\\nb.urdf', id='two lines'),
    pytest.param('é' * 300, 'é' * 99, id='long'),
])
def test_second_flight_is_refused_by_one_line_with_both_names(name, shown):
    with held_domain(name):
        line = refused('hexacopter.urdf')
        assert line.startswith(f'hexacopter.urdf would mix with {shown}')
        assert 'in ROS domain 7: wait for its end, or set ROS_DOMAIN_ID' in line
        assert '\n' not in line
    with held_domain('hexacopter.urdf'):
        assert refused('rov').startswith('rov would mix with hexacopter.urdf (process ')


@pytest.mark.parametrize(('one', 'other'), [
    pytest.param('', '0', id='default'), pytest.param('7', '007', id='zeros'),
])
def test_domain_has_one_name(monkeypatch, one, other):
    monkeypatch.setenv('ROS_DOMAIN_ID', one)
    with held_domain('rov'):
        monkeypatch.setenv('ROS_DOMAIN_ID', other)
        assert refused('rocket').startswith('rocket would mix with rov')


def test_other_domain_is_free(monkeypatch):
    with held_domain('rov'):
        monkeypatch.setenv('ROS_DOMAIN_ID', '8')
        with held_domain('rocket'):
            pass


def test_domain_is_free_after_an_exception():
    with pytest.raises(ValueError, match='in flight'), held_domain('rov'):
        raise ValueError('in flight')
    with held_domain('rocket'):
        pass


def test_domain_of_a_killed_process_is_free():
    process = subprocess.Popen(
        [sys.executable, '-c', HOLD, 'rov'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == 'held\n'
    assert refused('rocket').startswith(f'rocket would mix with rov (process {process.pid})')
    process.kill()
    process.communicate()
    with held_domain('rocket'):
        pass


@pytest.mark.parametrize('domain', ['../x', 'one', '-1', '²'])
def test_domain_that_is_no_number_names_no_file(monkeypatch, own_folder, domain):
    monkeypatch.setenv('ROS_DOMAIN_ID', domain)
    with held_domain('rov'), held_domain('rocket'):
        assert os.listdir(own_folder) == []


def test_link_in_the_place_of_the_file_is_not_followed(own_folder):
    target = own_folder / 'target'
    target.write_text('of somebody')
    (own_folder / f'propulsion_ros-{os.getuid()}-domain-7').symlink_to(target)
    with held_domain('rov'), held_domain('rocket'):
        pass
    assert target.read_text() == 'of somebody'


def test_what_is_no_file_in_the_place_of_the_file_stops_no_flight(own_folder):
    (own_folder / f'propulsion_ros-{os.getuid()}-domain-7').mkdir()
    with held_domain('rov'), held_domain('rocket'):
        pass
