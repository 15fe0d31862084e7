# SPDX-License-Identifier: Apache-2.0
"""A launch file in a process of its own, which launch needs the main thread of."""
from __future__ import annotations

import signal
import subprocess
import sys

from propulsion_ros.graph.share import share_directory

PROGRAM = """import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

source = PythonLaunchDescriptionSource(sys.argv[1])
arguments = [word.split(':=', 1) for word in sys.argv[2:]]
service = LaunchService(argv=sys.argv[2:], noninteractive=True)
service.include_launch_description(LaunchDescription([
    IncludeLaunchDescription(source, launch_arguments=arguments)]))
sys.exit(service.run())
"""
LIMIT = 300.0


class Launched:
    """A launch file that runs; the end of the context is Ctrl-C."""

    def __init__(self, name, **arguments):
        path = str(share_directory() / 'launch' / f'{name}.launch.py')
        self.process = subprocess.Popen(
            [sys.executable, '-c', PROGRAM, path, *(f'{k}:={v}' for k, v in arguments.items())],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.process.send_signal(signal.SIGINT)
        try:
            self.end()
        finally:
            self.process.kill()

    def end(self):
        """Return the exit code and all that was printed, once it has ended."""
        printed, _ = self.process.communicate(timeout=LIMIT)
        return self.process.returncode, printed

    def line_with(self, text):
        """Return the next line that has a text."""
        for line in self.process.stdout:
            if text in line:
                return line
        raise AssertionError(f'ended without {text!r}')
