# SPDX-License-Identifier: Apache-2.0
"""Betaflight as a program on this machine: started in a folder, set up and armed by its CLI."""
from __future__ import annotations

import contextlib
import socket
import struct
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

MOTORS, STATE, STICKS, CLI = 9002, 9003, 9004, 5761
"""Ports: UDP from the firmware and to it, and TCP of its first serial port."""
ORDER = ('front_right', 'rear_left', 'front_left', 'rear_right')
"""Motors in a packet: 2, 3, 4 and 1 of the mixer, see pwmCompleteMotorUpdate in sitl.c."""
SETTINGS = (
    # Switches: AUX1 arms, AUX2 is the angle mode. Nothing else needs a mode.
    'aux 0 0 0 1700 2100 0 0', 'aux 1 1 1 1700 2100 0 0',
    # Angles in proportion to the sticks, up to 40 degrees.
    'set angle_limit = 40', 'set roll_rc_rate = 67', 'set roll_srate = 67', 'set roll_expo = 0',
    'set pitch_rc_rate = 67', 'set pitch_srate = 67', 'set pitch_expo = 0',
    # Its gains are those of a racer with motors of 20 ms; these have 50, and turn slowly about z.
    'set simplified_pids_mode = OFF', 'set p_yaw = 60', 'set i_yaw = 15',
    # No hand moves a stick in no time, and what makes it quick for hands would kick.
    'set angle_feedforward = 0', 'set f_roll = 0', 'set f_pitch = 0',
)
_HOST, _STATE, _STICKS, _OUT = '127.0.0.1', '<18d', '<d16H', '<4f'
_PATIENCE = 20.0  # [s]
_BEGIN = 1.0  # after its first serial port is open [s]
_PAIR = 0.01  # between the two states that set its clock, less than 0.02 of its own time [s]


class FirmwareError(RuntimeError):
    """A firmware that does not do what it should."""


class Firmware:
    """The program, with the links to it; use it in a ``with``.

    Parameters
    ----------
    program : Path
        As ``make TARGET=SITL`` makes it, obj/betaflight_<version>_SITL.
    folder : Path
        Where it keeps its settings, eeprom.bin.
    rate : float
        Of its clock over the real one, at most 1.
    settings : sequence of str
        Lines for its CLI.
    """

    def __init__(
        self, program: Path, folder: Path, rate: float = 1.0,
        settings: Sequence[str] = SETTINGS,
    ) -> None:
        self._program, self._folder, self._settings = program, folder, settings
        self._rate, self._stamp = rate, 1.0
        self._process: subprocess.Popen[bytes] | None = None
        self._link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def __enter__(self) -> Firmware:
        try:
            self._link.bind((_HOST, MOTORS))
        except OSError as error:
            raise FirmwareError(f'port {MOTORS}: {error.strerror}: another simulator?') from error
        self._link.setblocking(False)
        try:
            self._start()
            self._set_up()
            self._start()
            # Before it has begun it may hang at a state, and forget whose sticks it takes.
            self._connected().close()
            time.sleep(_BEGIN)
            self._set_clock()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._link.close()
        self._stop()

    def _start(self) -> None:
        with (self._folder / 'firmware.log').open('ab') as log:
            self._process = subprocess.Popen(  # noqa: S603  the program that the user named
                [self._program.resolve()], cwd=self._folder, stdin=subprocess.DEVNULL, stdout=log,
                stderr=log,
            )
        # Its main loop sleeps for 50 us, and misses its own gyro where the kernel adds as much.
        with contextlib.suppress(OSError):
            Path(f'/proc/{self._process.pid}/timerslack_ns').write_text('1000', encoding='ascii')

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _set_clock(self) -> None:
        """Let its clock run at the rate.

        It runs as the stamps of two states did beside the time between them, which is wrong where
        states queue; so two set it, and no stamp goes on after them.
        """
        still = np.zeros(3), np.array([0.0, 0.0, 9.80665]), np.array([0.0, 0.0, 0.0, 1.0]), 101325.0
        # The first one after a silence only ends it.
        for _ in range(2):
            self.send_state(*still)
            begin = time.monotonic()
            time.sleep(_PAIR)
        if self._rate < 1.0:
            self._stamp += self._rate * (time.monotonic() - begin)
        self.send_state(*still)
        time.sleep(_PAIR)
        self.motors()

    def _set_up(self) -> None:
        """Write the settings; the firmware keeps them and ends, as a board restarts."""
        with self._console() as console:
            for line in self._settings:
                reply = _ask(console, f'{line}\n', '# ')
                if '###' in reply:
                    raise FirmwareError(f'{line}: {" ".join(reply.split())}')
            console.sendall(b'save\n')
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_PATIENCE)
        if self._process.poll() is None:
            raise FirmwareError('it does not end after its settings are saved')

    def _connected(self) -> socket.socket:
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                return socket.create_connection((_HOST, CLI), 1.0)
            time.sleep(0.1)
        raise FirmwareError(f'nothing replies on port {CLI}; see firmware.log')

    def _console(self) -> socket.socket:
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            console = self._connected()
            with contextlib.suppress(OSError):
                # A # alone, followed by silence, opens the CLI.
                if 'CLI' in _ask(console, '#', '# ', 5.0):
                    return console
            console.close()
        raise FirmwareError(f'its CLI does not reply on port {CLI}; see firmware.log')

    def send_state(
        self, rates: np.ndarray, force: np.ndarray, turn: np.ndarray, pascal: float
    ) -> None:
        """Send what its sensors measure now.

        Parameters
        ----------
        rates, force : array (3,)
            In the axes of the body, forward, left, up [rad/s], [m/s^2].
        turn : array (4,)
            Quaternion from the body to the world, x, y, z, w.
        pascal : float
            Pressure [Pa].
        """
        x, y, z, w = turn
        # Forward, right, down, but for forces, which have another sign; see updateState in sitl.c.
        row = (
            self._stamp, rates[0], -rates[1], -rates[2], *(-force), w, x, -y, -z, *_ZEROS, *_ZEROS,
            pascal,
        )
        self._link.sendto(struct.pack(_STATE, *row), (_HOST, STATE))

    def send_sticks(
        self, *, roll: float = 0.0, pitch: float = 0.0, throttle: float = 0.0,
        yaw: float = 0.0, is_armed: bool = False,
    ) -> None:
        """Send sticks from -1 to 1, the throttle from 0 to 1, and the switches."""
        centred = [1500.0 + 500.0 * each for each in (roll, pitch, yaw)]
        channels = [
            centred[0], centred[1], 1000.0 + 1000.0 * throttle, centred[2],
            2000.0 if is_armed else 1000.0, 2000.0, *[1000.0] * 10,
        ]
        row = [round(min(max(each, 1000.0), 2000.0)) for each in channels]
        self._link.sendto(struct.pack(_STICKS, self._stamp, *row), (_HOST, STICKS))

    def motors(self) -> np.ndarray | None:
        """Return the newest throttles in the order of `ORDER`, None where none came."""
        newest = None
        with contextlib.suppress(BlockingIOError):
            while True:
                newest = self._link.recv(64)
        if self._process.poll() is not None:
            raise FirmwareError('it has ended; see firmware.log')
        return None if newest is None else np.array(struct.unpack(_OUT, newest[:16]))


_ZEROS = (0.0, 0.0, 0.0)


def _ask(console: socket.socket, line: str, prompt: str, patience: float = _PATIENCE) -> str:
    """Return what comes up to the prompt."""
    console.sendall(line.encode())
    console.settimeout(patience)
    reply = ''
    with contextlib.suppress(TimeoutError):
        while not reply.endswith(prompt):
            part = console.recv(4096)
            if not part:
                raise ConnectionResetError(line)
            reply += part.decode(errors='replace')
    return reply
