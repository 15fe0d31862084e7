# SPDX-License-Identifier: Apache-2.0
"""The table of rules of sense, made from the rules."""
from __future__ import annotations

from dataclasses import replace

from flight_tables import main, table
from propulsion_ros.graph.doubts import RULES, Rule


def rules() -> str:
    """Return every rule with its usual range."""
    return table(
        ('rule', 'line', 'usual', 'from', 'else'),
        ((
            f'`{rule.name}`', rule.what.format('...'), usual(rule), rule.source,
            rule.remedy or f'is it in {rule.other}?',
        ) for rule in RULES),
    )


def usual(rule: Rule) -> str:
    """Return the usual range of a rule, as a multiple of something where it is one."""
    if not rule.of:
        return rule.usual()
    return f'{replace(rule, unit="").usual()} times {rule.of} [{rule.unit or "1"}]'


SECTIONS = {'rules': rules}


if __name__ == '__main__':
    main(SECTIONS)
