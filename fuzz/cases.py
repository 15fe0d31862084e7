# SPDX-License-Identifier: Apache-2.0
"""Damaged inputs by their numbers, with limits: ``python -m fuzz.cases --count 2000 urdf xacro``.

Each line that is printed is a JSON object of one target. A fault names target and number; a number
alone runs that case here, so that its traceback is shown: ``python -m fuzz.cases --case 17 urdf``.
"""
from __future__ import annotations

import argparse
import json
import os
import re
import resource
import select
import signal
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from fuzz.target import Target, outcome
from fuzz.targets import TARGETS

CPU_LIMIT, MEMORY_LIMIT = 5.0, 300.0
"""Of a case [s], [MB]."""
_ADDRESSES = 3 << 30
_AT_ONCE = 250
"""Cases of one process."""
_SILENCE = 240.0
"""How long a process may take for a case, however little of a processor it gets [s]."""
_VARYING = re.compile(r"[-+\d.e]*\d|'[^']*'|\"[^\"]*\"")


@dataclass
class Summary:
    """What came of the cases of a target."""

    target: str
    cases: int = 0
    sound: int = 0
    cpu: float = 0.0
    peak: float = 0.0
    """The most of one case [s], [MB]."""
    total: float = 0.0
    """CPU time of all cases [s]."""
    faults: list[str] = field(default_factory=list)
    reasons: set[str] = field(default_factory=set)
    """Refusals without their names and numbers."""

    def take(self, seed: int, found: dict[str, Any]) -> None:
        """Count a case."""
        self.cases += 1
        self.sound += found['text'] == ''
        self.reasons.add(_VARYING.sub('', found['text'])[:80])
        self.cpu, self.peak = max(self.cpu, found['cpu']), max(self.peak, found['peak'])
        self.total = round(self.total + found['cpu'], 3)
        self.faults.extend(f'{self.target} {seed}: {fault}' for fault in _faults(found))

    def __str__(self) -> str:
        return json.dumps({**vars(self), 'reasons': len(self.reasons)})


def run(target: Target, seeds: Iterable[int]) -> Summary:
    """Run the cases of some numbers, in processes with limits."""
    summary, waiting = Summary(target.name), list(seeds)
    # What they share is made once.
    target.seeds()
    while waiting:
        for found in _forked(target, waiting[:_AT_ONCE]):
            seed = waiting.pop(0)
            if found['is_alone'] or not list(_faults(found)):
                summary.take(seed, found)
                continue
            # Memory and time of a case are its own only where no other ran before.
            summary.take(seed, next(_forked(target, [seed])))
            break
    return summary


def _faults(found: dict[str, Any]) -> Iterator[str]:
    if found['fault']:
        yield found['fault']
    if found['cpu'] > CPU_LIMIT:
        yield f'{found["cpu"]:.1f} s'
    if found['peak'] > MEMORY_LIMIT:
        yield f'{found["peak"]:.0f} MB'


def _forked(target: Target, seeds: list[int]) -> Iterator[dict[str, Any]]:
    """Yield what came of cases of one process, up to the one that ended it."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _run(target, seeds, writing)
    os.close(writing)
    done, end = 0, 'waits for ever'
    try:
        with os.fdopen(reading, 'rb') as results:
            while done < len(seeds) and select.select([results], [], [], _SILENCE)[0]:
                line = results.readline()
                if not line:
                    end = ''
                    break
                done += 1
                yield {'is_alone': len(seeds) == 1, **json.loads(line)}
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        _, status, usage = os.wait4(child, 0)
    if done < len(seeds):
        code = os.waitstatus_to_exitcode(status)
        yield {
            'is_alone': len(seeds) == 1, 'text': 'ended', 'cpu': 0.0, 'peak': usage.ru_maxrss / 1e3,
            'fault': end or f'ends with {code} after {usage.ru_utime + usage.ru_stime:.1f} s',
        }


def _run(target: Target, seeds: list[int], writing: int) -> None:
    """Run cases in this process, which ends with them."""
    try:
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, _ADDRESSES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        for seed in seeds:
            data = target.case(seed)
            os.write(writing, json.dumps(_tried(target, data)).encode() + b'\n')
    except BaseException:
        fault = f'cannot be made: {_last(traceback.format_exc())}'
        row = {'text': '', 'cpu': 0.0, 'peak': 0.0, 'fault': fault}
        os.write(writing, json.dumps(row).encode() + b'\n')
    finally:
        os._exit(0)


def _tried(target: Target, data: bytes) -> dict[str, Any]:
    begun = _cpu()
    resource.setrlimit(resource.RLIMIT_CPU, (int(begun + CPU_LIMIT) + 2, resource.RLIM_INFINITY))
    _forget_peak()
    text = fault = ''
    try:
        text = outcome(target, data)
    except BaseException:
        fault = _last(traceback.format_exc())
    return {'text': text, 'fault': fault, 'cpu': _cpu() - begun, 'peak': _peak()}


def _last(trace: str) -> str:
    return ' | '.join(line.strip() for line in trace.splitlines()[-5:])[-600:]


def _cpu() -> float:
    """Return the CPU time of this process and of those that it started."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def _forget_peak() -> None:
    try:
        with open('/proc/self/clear_refs', 'w') as file:
            file.write('5')
    except OSError:
        # Then it is that of all cases of the process.
        pass


def _peak() -> float:
    """Return the most memory since `_forget_peak`, or of a process that was started [MB]."""
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        with open('/proc/self/status') as file:
            own = next((int(line.split()[1]) for line in file if line.startswith('VmHWM')), own)
    except OSError:
        pass
    return max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 1e3


def main() -> int:
    """Print what came of the cases of the chosen targets; return 1 where one has a fault."""
    parser = argparse.ArgumentParser(prog='python -m fuzz.cases', description=__doc__)
    parser.add_argument('targets', nargs='*', metavar='TARGET', help=', '.join(TARGETS))
    parser.add_argument('--first', type=int, default=0, help='number of the first case')
    parser.add_argument('--count', type=int, default=2000, help='cases of each target')
    parser.add_argument('--case', type=int, help='run this one here, without limits')
    args = parser.parse_args()
    chosen = [TARGETS[name] for name in args.targets or TARGETS]
    if args.case is not None:
        for target in chosen:
            data = target.case(args.case)
            print(data[:2000])
            print(outcome(target, data) or 'sound')
        return 0
    code = 0
    for target in chosen:
        summary = run(target, range(args.first, args.first + args.count))
        print(summary, flush=True)
        code |= bool(summary.faults)
    return code


if __name__ == '__main__':
    sys.exit(main())
