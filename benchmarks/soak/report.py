# SPDX-License-Identifier: Apache-2.0
"""What a run found: numbers for a file, tables for a page, and whether all is well."""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.page import as_list
from benchmarks.soak.course import Course
from benchmarks.soak.fleet import Fleet
from benchmarks.soak.judge import EXPLAINED, UNEXPLAINED
from benchmarks.soak.link import Link
from benchmarks.soak.members import Member
from benchmarks.soak.memory import Memory, steepest
from benchmarks.soak.traffic import Traffic

_SENT = (
    'sent', 'hostile', 'taken', 'refused', 'other_time', 'late', 'down', 'starting', 'lost',
    'unsaid',
)
_FAR = 'over the link'
_SAID = (*EXPLAINED, 'missing')


def findings(
    fleet: Fleet, traffic: Traffic, course: Course, link: Link | None = None
) -> dict[str, Any]:
    """Return everything that a run found."""
    nodes = {}
    faults = [*fleet.faults, *fleet.tracebacks(), *course.faults]
    for name, line in traffic.lines.items():
        memory = steepest(fleet.memories[name])
        nodes[name] = {
            'group': _group(line.member),
            'lives': len(line.ledger.lives),
            'messages': dict(line.ledger.account()),
            'wrenches': dict(line.judge.counts),
            'memory': _growth(memory),
        }
        faults += [f'{name}: {fault}' for fault in line.ledger.faults]
        faults += [
            f'{name}: {line.judge.counts[key]} wrenches are {text}'
            for key, text in UNEXPLAINED.items() if line.judge.counts[key]
        ]
        if memory is not None and memory.grows(fleet.bare):
            faults.append(f'{name}: grows by {memory.slope:.2f} MB/min')
        if not line.judge.counts['commanded']:
            faults.append(f'{name}: followed no command')
    return {
        'steps': course.steps, 'skipped': course.skipped,
        'events': dict(course.done), 'ends': dict(fleet.counts), 'nodes': nodes,
        'link': None if link is None else [dict(lane.counts) for lane in link.lanes],
        'bare_memory': _growth(steepest([fleet.bare])),
        'faults': faults,
    }


def _growth(memory: Memory | None) -> dict[str, Any] | None:
    return None if memory is None else {
        'seconds': memory.times[-1] - memory.times[0],
        'first': memory.sizes[0], 'last': memory.sizes[-1], 'slope': memory.slope,
    }


def tables(found: dict[str, Any]) -> str:
    """Return the tables of a page."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for node in found['nodes'].values():
        group = node['group'] if node['group'].startswith(_FAR) else 'on one host'
        groups.setdefault(group, []).append(node)
    groups['all'] = list(found['nodes'].values())
    parts = [
        as_list(found['machine']), _events(found),
        _table(('messages', 'nodes', 'lives', *_SENT), [
            (name, len(nodes), sum(n['lives'] for n in nodes), *_sums(nodes, 'messages', _SENT))
            for name, nodes in groups.items()
        ]),
        _table(('wrenches', *_SAID, 'unexplained'), [
            (name, *_sums(nodes, 'wrenches', _SAID), sum(_sums(nodes, 'wrenches', UNEXPLAINED)))
            for name, nodes in groups.items()
        ]),
    ]
    memories = [
        (name, f'{m["seconds"]:.0f}', f'{m["first"]:.1f}', f'{m["last"]:.1f}', f'{m["slope"]:+.3f}')
        for name, m in (
            *((name, node['memory']) for name, node in found['nodes'].items()),
            ('a bare node', found['bare_memory']),
        ) if m
    ]
    if memories:
        head = ('memory', 'seen [s]', 'first [MB]', 'last [MB]', 'slope [MB/min]')
        parts.append(_table(head, memories))
    if found['link']:
        keys = ('sent', 'lost', 'dropped', 'octets')
        parts.append(_table(('link, frames', *keys), [
            (way, *(lane.get(key, 0) for key in keys))
            for way, lane in zip(('there', 'back'), found['link'], strict=True)
        ]))
    parts += [f'FAULT {fault}' for fault in found['faults']] or ['No faults.']
    return '\n\n'.join(parts)


def _events(found: dict[str, Any]) -> str:
    steps, skipped = found['steps'], found['skipped']
    said = [f'{count} {kind}' for kind, count in sorted(found['events'].items())]
    died = found['ends'].get('died', 0)
    return (
        f'{steps} steps of the sender, {skipped} more left out because it was late. '
        f'Events: {", ".join(said) or "none"}. Processes that ended by themselves: {died}.'
    )


def _group(member: Member) -> str:
    if not member.is_far:
        return member.family
    return f'{_FAR}, {"best effort" if member.is_best_effort else "reliable"}'


def _sums(nodes: Iterable[dict[str, Any]], what: str, keys: Iterable[str]) -> list[int]:
    total: Counter[str] = Counter()
    for node in nodes:
        total.update(node[what])
    return [total[key] for key in keys]


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = [head, ['---'] * len(head), *rows]
    return '\n'.join(
        f'| {" | ".join(str(cell).replace("_", " ") for cell in line)} |' for line in lines
    )
