"""Executables that are stopped before their imports are done."""
from __future__ import annotations

import signal
import subprocess
import sys

import pytest

SLOW = """
import signal

print('imports', flush=True)
signal.pause()
"""


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM], ids=['SIGINT', 'SIGTERM'])
def test_signal_while_a_node_is_imported_ends_it_quietly(tmp_path, number):
    (tmp_path / 'slow_node.py').write_text(SLOW)
    line = (
        f"import sys; sys.path.append({str(tmp_path)!r}); "
        "from propulsion_ros.nodes.start import start_node; start_node('slow_node')"
    )
    process = subprocess.Popen(
        [sys.executable, '-c', line], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == 'imports\n'
    process.send_signal(number)
    assert process.communicate(timeout=40.0) == ('', '')
    assert process.returncode == 0


def test_main_is_called_and_ends_as_it_likes(tmp_path):
    (tmp_path / 'failing_node.py').write_text('import sys\ndef main():\n    sys.exit(3)\n')
    line = (
        f"import sys; sys.path.append({str(tmp_path)!r}); "
        "from propulsion_ros.nodes.start import start_node; start_node('failing_node')"
    )
    assert subprocess.run([sys.executable, '-c', line], check=False).returncode == 3
