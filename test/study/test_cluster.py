# SPDX-License-Identifier: Apache-2.0
"""The same cases on a Dask cluster, on the loopback address."""
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager
from importlib.util import find_spec
from types import SimpleNamespace

import pytest
from study_works import Squares

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.study import pool
from propulsion_ros.study.pool import Cluster, run
from propulsion_ros.tools.cli import main

APOGEE = 'kind: apogee\ncases: 12\nvary: {flight.seed: {counter: 0}}\n'

needs_dask = pytest.mark.skipif(
    find_spec('distributed') is None, reason='distributed is not installed: pip install distributed'
)


@pytest.fixture
def here():
    """Return a cluster of threads in this process."""
    distributed = pytest.importorskip('distributed')
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None,
        host='127.0.0.1', protocol='tcp://',
    ) as made:
        yield made.scheduler_address


@needs_dask
@pytest.mark.slow
@pytest.mark.part('kills')
def test_workers_of_a_scheduler_fly_every_case(here, tmp_path):
    with closing(Cluster(Squares(tmp_path), here)) as backend:
        assert backend.workers == 2
        found = [each for some in run(backend, range(25), 4) for each in some]
    assert sorted((n, row['square'], error) for n, row, error in found) == [
        (n, n**2, '') for n in range(25)
    ]


@needs_dask
@pytest.mark.parametrize('scheme', ['tcp', 'tls'])
def test_no_scheduler_is_one_line(tmp_path, monkeypatch, scheme):
    """For tls there are no certificates."""
    monkeypatch.setattr(pool, '_PATIENCE', 0.5)
    with pytest.raises(SourceError, match=r'://127\.0\.0\.1:9: no scheduler replies') as caught:
        Cluster(Squares(tmp_path), f'{scheme}://127.0.0.1:9')
    assert '\n' not in str(caught.value)
    with pytest.raises(SourceError, match='expected tcp://HOST:PORT or tls://HOST:PORT, got'):
        Cluster(Squares(tmp_path), 'nonsense://a')


def test_without_distributed_the_line_names_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, 'distributed', None)
    with pytest.raises(SourceError, match=r"needs distributed, pip install 'distributed>="):
        Cluster(Squares(tmp_path), 'tcp://127.0.0.1:9')


@pytest.mark.parametrize('call', [
    lambda backend, future: backend.workers,
    lambda backend, future: backend.result(future('finished')),
    # What was lost is sent again.
    lambda backend, future: backend.result(future('lost')),
])
def test_a_connection_that_breaks_is_one_line(call):
    def broken(*args, **options):
        raise OSError('Stream\nis closed')

    backend = Cluster.__new__(Cluster)
    backend._work, backend._client = None, SimpleNamespace(nthreads=broken, scatter=broken)
    with pytest.raises(SourceError, match=r'it no longer replies: Stream is closed$'):
        call(backend, lambda status: SimpleNamespace(status=status, result=broken))


@contextmanager
def _cluster(tmp_path):
    """Start a scheduler and two workers as processes; yields its address and the processes."""
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))}
    started = []

    def start(module, *words):
        with (tmp_path / f'{module}{len(started)}.log').open('w') as log:
            started.append(subprocess.Popen(
                [sys.executable, '-m', f'distributed.cli.{module}', '--host', '127.0.0.1',
                 '--no-dashboard', *words],
                env=environment, cwd=tmp_path, stdout=log, stderr=log,
            ))

    file = tmp_path / 'scheduler.json'
    try:
        start('dask_scheduler', '--port', '0', '--scheduler-file', str(file))
        for _ in range(600):
            if file.exists() and file.stat().st_size:
                break
            time.sleep(0.05)
        for _ in range(2):
            start('dask_worker', '--scheduler-file', str(file), '--nthreads', '1', '--no-nanny')
        yield json.loads(file.read_text())['address'], started
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait(20)


@needs_dask
@pytest.mark.slow
@pytest.mark.part('kills')
def test_a_cluster_writes_the_bytes_of_one_process_though_a_worker_is_killed(
    tmp_path, monkeypatch, capfd
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'apogee.yaml').write_text(APOGEE)
    words = ['study', 'apogee.yaml', '--no-picture', '--output']
    assert main([*words, 'one', '--jobs', '1']) in (0, 1)
    with _cluster(tmp_path) as (address, processes):
        killer = threading.Thread(target=_kill_after, args=(
            tmp_path / 'many' / 'journal.jsonl', 3, processes[1].pid
        ))
        killer.start()
        code = main([*words, 'many', '--scheduler', address, '--batch', '1'])
        killer.join()
        assert processes[1].wait(10) == -signal.SIGKILL
    assert code in (0, 1), capfd.readouterr().err
    one, many = ((tmp_path / name / 'results.csv').read_bytes() for name in ('one', 'many'))
    assert one == many


def _kill_after(journal, rows, pid):
    for _ in range(1200):
        if journal.exists() and journal.read_bytes().count(b'\n') > rows:
            os.kill(pid, signal.SIGKILL)
            return
        time.sleep(0.05)


@needs_dask
@pytest.mark.slow
@pytest.mark.part('kills')
def test_a_scheduler_that_dies_is_one_line_and_what_is_done_is_kept(
    tmp_path, monkeypatch, capfd
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pool, '_PATIENCE', 2.0)
    (tmp_path / 'apogee.yaml').write_text(APOGEE.replace('12', '1000'))
    with _cluster(tmp_path) as (address, processes):
        journal, words = tmp_path / 'dead' / 'journal.jsonl', ['study', 'apogee.yaml']
        killer = threading.Thread(target=_kill_after, args=(journal, 3, processes[0].pid))
        killer.start()
        code = main([*words, '--output', 'dead', '--scheduler', address, '--batch', '1'])
        killer.join()
    assert code == 1
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith('propulsion_ros study: --scheduler: what is done is kept; it no longer ')
    assert journal.read_bytes().count(b'\n') > 3
