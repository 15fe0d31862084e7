# SPDX-License-Identifier: Apache-2.0
"""Tables of the flight documentation, made from the code that they describe."""
from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from propulsion_ros.flight.events.variables import VARIABLES
from propulsion_ros.flight.phases.phases import DUTIES, TRANSITIONS
from propulsion_ros.flight.readiness import CHECKS
from propulsion_ros.loops.flight.params import FlightLoopParams
from propulsion_ros.rml import devices, events
from propulsion_ros.rml.events import COMBINATIONS, COMPARISONS
from propulsion_ros.settings.files import read_text, write_text
from propulsion_ros.settings.flat import Parameter, parameters_of
from propulsion_ros.settings.json_node import Switch
from propulsion_ros.settings.quantity import flatten

_LARGEST = 1024 * 1024  # bytes of a document
_Part = tuple[str, str, Iterable[Parameter]]
"""Block, which of its kind, and keys."""
_KINDS = {bool: 'true or false', str: 'text', Switch: '`0` or `1`'}


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ['---'] * len(head), *rows]
    return '\n'.join(re.sub(r'\|  (?=\|)', '| ', f'| {" | ".join(row)} |') for row in lines)


def phases() -> str:
    """Return what each phase does."""
    return table(
        ('Phase', 'on entry', 'at every sample', 'on exit', 'tune'),
        (
            (
                f'`{phase.value}`',
                *('; '.join(duty.value for duty in part)
                  for part in (duties.entry, duties.update, duties.exit)),
                duties.tune,
            )
            for phase, duties in DUTIES.items()
        ),
    )


def transitions() -> str:
    """Return every way from one phase to another, once for all phases that it starts in."""
    sources: dict[tuple[str, ...], list[str]] = {}
    for row in TRANSITIONS:
        way = (
            (f'`~/{row.trigger}`' if row.is_command else row.trigger)
            + ' while held' * row.on_the_ground,
            f'`{row.target.value}`',
            row.guard.refusal if row.guard else '',
            f'`{row.apogee_source}`' if row.apogee_source else '',
        )
        sources.setdefault(way, []).append(f'`{row.source.value}`')
    return table(
        ('From', 'by', 'to', 'refused where', 'apogee is stamped'),
        ((', '.join(each), *way) for way, each in sources.items()),
    )


def checks() -> str:
    """Return every check before a launch."""
    rows = [(f'`{name}`', finds) for name, finds in CHECKS.items()]
    return table(('check', 'objects where'), rows)


def variables() -> str:
    """Return every flight variable and its components."""
    return table(
        ('`flightVar`', 'unit', '`component`'),
        (
            (
                f'`{name}`', variable.unit,
                'id of the event' if variable.is_event_id
                else ', '.join(
                    f'{i} {"minus the " if label.scale < 0.0 else ""}{label.name}'
                    for i, label in variable.labels.items()
                )
                if variable.has_component else '',
            )
            for name, variable in VARIABLES.items()
        ),
    )


def operators() -> str:
    """Return the operators of conditions."""
    meanings = {
        'MORETHAN': 'at or above `threshold`', 'LESSTHAN': 'below `threshold`',
        'AND': 'every one of `condition`', 'OR': 'any one of `condition`',
    }
    rows = [(f'`{name}`', meanings[name], 'yes') for name in (*COMPARISONS, *COMBINATIONS)]
    rows += [
        ('`BETWEEN`', 'from `lower` to `upper`, both included', ''),
        ('`NOT`', 'not its one `condition`', ''),
        ('none', '`localPyroChannel` 0 to 3 with `continuity` true or false', 'true alone'),
    ]
    return table(('`operator`', 'holds for', 'legacy'), rows)


def keys() -> str:
    """Return every key of every block; what means the same, once; the name of a block, once."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for block, key in keys_of():
        given = f'({default_of(key)})' if default_of(key) else ''
        means = key.spec.doc, f'{allowed(key)} {given}'.strip()
        rows.setdefault((block, *means), []).append(f'`{key.key}`')
    blocks = [block for block, *_ in rows]
    return table(
        ('in', 'key', 'means', 'allowed (default)'),
        (
            (block if blocks.index(block) == at else '', ', '.join(names), *means)
            for at, ((block, *means), names) in enumerate(rows.items())
        ),
    )


def keys_of() -> Iterator[tuple[str, Parameter]]:
    """Yield block, with which of its kind, and key of every key."""
    parts: list[_Part] = [
        ('Sensors', '', devices.SENSORS),
        ('Estimator', '', devices.ESTIMATOR),
        *_each('Orientation', devices.ORIENTATION),
        ('Deployers', 'each', devices.DEPLOYER_KEYS),
        *_each('Deployers', devices.DEPLOYER_TYPES),
        ('Engines', 'each', devices.ENGINE_KEYS),
        *_each('Engines', devices.ENGINE_TYPES),
        *_each('igniter', devices.IGNITER),
        *_each('igniter', {'net_actuator': devices.ADDRESS, 'local_pyro': devices.CHANNEL}),
        ('valve', '', devices.VALVE),
        ('Controllers', 'each', devices.CONTROLLER_KEYS),
        ('Events', 'each', events.EVENT),
        ('Events', 'not in legacy', events.SAFE),
        *_each('action', events.ACTIONS),
    ]
    for block, which, group in parts:
        for key in group:
            yield f'{block} {f"({which})" if which else ""}'.strip(), key


def _each(block: str, kinds: Mapping[str, Iterable[Parameter]]) -> list[_Part]:
    return [(block, kind, group) for kind, group in kinds.items()]


def allowed(key: Parameter) -> str:
    """Return unit, bounds and choices of a key in words."""
    spec = key.spec
    words = [spec.unit, *spec.bounds] if spec.unit else spec.bounds
    if isinstance(spec.choices, range) and len(spec.choices) > 2:
        words.append(f'{spec.choices[0]} to {spec.choices[-1]}')
    elif spec.choices:
        words.append(' or '.join(f'`{choice}`' for choice in spec.choices))
    return ', '.join(words) or _KINDS.get(spec.kind, '')


def default_of(key: Parameter) -> str:
    if key.required or key.key == 'id':
        return 'required'
    if key.default is None:
        return ''
    if isinstance(key.default, bool):
        return str(key.default).lower()
    return f'{key.default:g}' if isinstance(key.default, (int, float)) else str(key.default)


def parameters() -> str:
    """Return the parameters of a flight."""
    return table(('parameter', 'means', 'unit', 'default'), (
        (f'`{each.key}`', each.spec.doc, each.spec.unit,
         ', '.join(f'{value:g}' for value in flatten(each.default)))
        for each in parameters_of(FlightLoopParams) if each.key.startswith('flight.')
    ))


PAGES = {
    'flight.md': {
        'phases': phases, 'transitions': transitions, 'checks': checks, 'parameters': parameters,
    },
    'flight_configuration.md': {'keys': keys, 'operators': operators, 'variables': variables},
}
"""Sections of each page."""


def fill(text: str, sections: Mapping[str, Callable[[], str]]) -> str:
    """Return a document with every marked section made anew."""
    for name, make in sections.items():
        pattern = rf'(<!-- {name} -->\n).*?(<!-- end -->)'
        text, count = re.subn(
            pattern, lambda found, make=make: f'{found[1]}{make()}\n{found[2]}', text,  # type: ignore[misc]
            count=1, flags=re.DOTALL,
        )
        if not count:
            raise ValueError(f'no section <!-- {name} -->')
    return text


def main(sections: Mapping[str, Callable[[], str]]) -> None:
    """Write the sections of a document in place."""
    path = sys.argv[1]
    write_text(path, fill(read_text(path, _LARGEST), sections))


if __name__ == '__main__':
    main(PAGES[Path(sys.argv[1]).name])
