# SPDX-License-Identifier: Apache-2.0
"""The table of rules of sense, made from the rules."""
from __future__ import annotations

from flight_tables import main, table
from propulsion_ros.graph.doubts import RULES


def rules() -> str:
    """Return every rule with its limit."""
    return table(
        ('rule', 'limit', 'from'),
        ((f'`{rule.name}`', f'{rule.limit:.4g} {rule.unit}', rule.source) for rule in RULES),
    )


SECTIONS = {'rules': rules}


if __name__ == '__main__':
    main(SECTIONS)
