# SPDX-License-Identifier: Apache-2.0
"""Run targets under coverage guidance and print a table: ``python -m fuzz --minutes 5``."""
from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from fuzz.target import REPOSITORY, Target
from fuzz.targets import TARGETS

_FOLDER = REPOSITORY / '.fuzz'
_TIMEOUT = 20
"""For one input [s]; what takes longer hangs."""
_MEMORY = 2048
"""Of one target [MiB]; what takes more has no bound."""


@dataclass(frozen=True)
class Found:
    """What a run came to.

    Attributes
    ----------
    executions, edges : int
        Inputs that were run, and edges of Python code that they reached.
    megabytes : int
        Most memory that was held.
    crash : str
        The input that ended it, or the log where none was kept; '' where nothing ended it.
    """

    executions: int
    edges: int
    megabytes: int
    crash: str


def run(target: Target, seconds: int) -> Found:
    """Run one target in a process of its own; its corpus is kept for the next run."""
    folder = _FOLDER / target.name
    corpus = folder / 'corpus'
    corpus.mkdir(parents=True, exist_ok=True)
    seeds = target.seeds()
    for i, seed in enumerate(seeds):
        (corpus / f'seed_{i}').write_bytes(seed)
    words = folder / 'words'
    words.write_text(''.join(f'"{_escaped(word)}"\n' for word in target.words))
    log = folder / 'log'
    # libFuzzer ends the process at once, so what it leaves behind is cleared away here.
    with log.open('wb') as file, tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run(  # noqa: S603  this very folder
            [
                sys.executable, '-m', 'fuzz.guided', target.name, str(corpus),
                f'-artifact_prefix={folder}/', f'-max_total_time={seconds}',
                f'-timeout={_TIMEOUT}', f'-rss_limit_mb={_MEMORY}', '-print_final_stats=1',
                f'-max_len={max(2 * max(map(len, seeds)), 256)}',
                *([f'-dict={words}'] if target.words else []),
            ],
            cwd=REPOSITORY, env={**os.environ, 'TMPDIR': scratch},
            stdout=file, stderr=subprocess.STDOUT, check=False,
        )
    return _found(log, done.returncode)


def _escaped(word: str) -> str:
    return ''.join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f'\\x{byte:02x}'
        for byte in word.encode()
    )


def _found(log: Path, code: int) -> Found:
    text = log.read_text(encoding='utf-8', errors='replace')
    edges = re.findall(r'cov: (\d+)', text)
    if not edges:
        raise RuntimeError(f'the target did not start, see {log}')
    executions = re.findall(r'number_of_executed_units: *(\d+)', text) or re.findall(
        r'^#(\d+)', text, re.MULTILINE
    )
    memory = re.findall(r'rss: (\d+)Mb', text)
    # What was merely slow is written down too.
    kept = re.findall(r'Test unit written to (\S*/(?:crash|timeout|oom)-\S+)', text)
    crash = kept[-1] if kept else str(log) if code else ''
    return Found(int(executions[-1]), int(edges[-1]), max(map(int, memory)), crash)


def main() -> int:
    """Run the chosen targets side by side; return 1 where one of them crashed."""
    parser = argparse.ArgumentParser(prog='python -m fuzz', description=__doc__)
    parser.add_argument('targets', nargs='*', metavar='TARGET', help=', '.join(TARGETS))
    parser.add_argument('--minutes', type=float, default=5.0, help='for each target')
    parser.add_argument('--jobs', type=int, default=os.cpu_count(), help='targets at a time')
    args = parser.parse_args()
    for name in args.targets:
        if name not in TARGETS:
            parser.error(f'no target {name!r}; known: {", ".join(TARGETS)}')
    chosen = [TARGETS[name] for name in args.targets or TARGETS]
    seconds = max(round(60 * args.minutes), 1)
    crashes = []
    print('| Target | Inputs | Edges reached | Memory [MiB] | Crashes |\n'
          '| --- | --- | --- | --- | --- |', flush=True)
    with ThreadPoolExecutor(args.jobs) as pool:
        for target, found in zip(
            chosen, pool.map(lambda target: run(target, seconds), chosen), strict=True
        ):
            print(f'| {target.name} | {found.executions:,} | {found.edges:,} | '
                  f'{found.megabytes} | {int(bool(found.crash))} |', flush=True)
            if found.crash:
                crashes.append(f'{target.name}: {found.crash}')
    for crash in crashes:
        print(f'{crash}\n(python -m fuzz.guided TARGET FILE shows it again)', file=sys.stderr)
    return 1 if crashes else 0


if __name__ == '__main__':
    sys.exit(main())
