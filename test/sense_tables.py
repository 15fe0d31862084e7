# SPDX-License-Identifier: Apache-2.0
"""The table of rules of sense, made from the rules."""
from __future__ import annotations

from dataclasses import replace

from flight_tables import main, table
from propulsion_ros.graph.doubts import OF_UNIT, RULES, Rule, rule_of
from propulsion_ros.graph.node_config import schema_of
from propulsion_ros.models.registry import REGISTRY


def rules() -> str:
    """Return every rule of robots with its usual range."""
    rows = dict.fromkeys((
        f'`{rule.name}`', rule.what.format('...'), usual(rule), source(rule),
    ) for rule in RULES)
    return table(('rule', 'line', 'usual', 'from'), rows)


def units() -> str:
    """Return what is usual for parameters, by their unit, and for those with a range of their own.
    """
    own: dict[tuple[str, str], list[str]] = {}
    for parameter in (each for family in REGISTRY for each in schema_of(family)):
        rule = rule_of(parameter)
        if rule is not None and parameter.spec.usual:
            keys = own.setdefault((rule.name, rule.words()), [])
            keys.append(f'`{parameter.key.rpartition(".")[2]}`')
    return table(('rule', 'of', 'usual', 'from'), (
        *((f'`{rule.name}`', f'[{unit}]', rule.words(), source(rule))
          for unit, rule in OF_UNIT.items() if rule.usual),
        *((f'`{name}`', ', '.join(dict.fromkeys(keys)), words, '')
          for (name, words), keys in sorted(own.items())),
    ))


def usual(rule: Rule) -> str:
    """Return the usual range of a rule, as a multiple of something where it is one."""
    text = (replace(rule, unit='') if rule.of else rule).words()
    text = text.replace('at most', '≤').replace('at least', '≥')
    return f'{text} times {rule.of} [{rule.unit or "1"}]' if rule.of else text


def source(rule: Rule) -> str:
    """Return where the range of a rule comes from; '' for what is of no use beyond it."""
    return '' if rule.source == 'of no use otherwise' else rule.source


SECTIONS = {'rules': rules, 'units': units}


if __name__ == '__main__':
    main(SECTIONS)
