# SPDX-License-Identifier: Apache-2.0
"""Mistakes in flight configurations."""

from __future__ import annotations

from mistakes import Mistake, replaced

FLIGHT = """{
  "Deployers": [
    {"id": 0, "name": "drogue", "type": "local_pyro", "channel": 0}
  ],
  "Events": [
    {
      "id": 0,
      "name": "drogue parachute",
      "action": [{"type": "deployment", "id": 0, "param": 1000}],
      "condition": {
        "operator": "MORETHAN",
        "flightVar": "TimeSinceApogee",
        "threshold": 0
      }
    }
  ]
}
"""


def mistake(name, place, reason, remedy, *changes):
    return Mistake(
        name,
        place,
        reason,
        remedy,
        {'flight.jsonc': replaced(FLIGHT, changes)},
        'check flight.jsonc',
    )


MISTAKES = [
    mistake(
        'key misspelt',
        'flight.jsonc:9: Events[0].actoin',
        'unknown key',
        "did you mean 'action'?",
        ('"action"', '"actoin"'),
    ),
    mistake(
        'block misspelt',
        'flight.jsonc:5: events',
        'unknown key',
        "did you mean 'Events'?",
        ('"Events"', '"events"'),
    ),
    mistake(
        'comma missing',
        'flight.jsonc:12: document',
        'is not JSON: <string>:12 Unexpected """ at column 9',
        'is a comma missing before it?',
        ('"MORETHAN",', '"MORETHAN"'),
    ),
    mistake(
        'bracket missing',
        'flight.jsonc:16: document',
        'is not JSON: <string>:16 Unexpected "}" at column 1',
        'is a bracket before it not closed, or a value missing?',
        ('}\n  ]\n}', '}\n}'),
    ),
    mistake(
        'key twice',
        'flight.jsonc: document',
        'is not JSON: Duplicate key "id" found in object',
        'remove one',
        ('"id": 0,\n', '"id": 0,\n"id": 0,\n'),
    ),
    mistake(
        'operator in signs',
        'flight.jsonc:11: Events[0].condition.operator',
        "unknown '>'",
        'expected MORETHAN or LESSTHAN or BETWEEN',
        ('MORETHAN', '>'),
    ),
    mistake(
        'variable misspelt',
        'flight.jsonc:12: Events[0].condition.flightVar',
        "unknown 'TimeSinceApoge'",
        "did you mean 'TimeSinceApogee'?",
        ('TimeSinceApogee', 'TimeSinceApoge'),
    ),
    mistake(
        'component missing',
        'flight.jsonc:10: Events[0].condition.component',
        'is missing',
        '',
        ('TimeSinceApogee', 'Position'),
    ),
    mistake(
        'threshold as a text',
        'flight.jsonc:13: Events[0].condition.threshold',
        "expected a number, got '0 s'",
        'write 0, in s',
        ('"threshold": 0', '"threshold": "0 s"'),
    ),
    mistake(
        'unknown deployer',
        'flight.jsonc:9: Events[0].action[0].id',
        'got 3',
        'expected 0',
        ('"deployment", "id": 0', '"deployment", "id": 3'),
    ),
    mistake(
        'pulse in seconds',
        'flight.jsonc:9: Events[0].action[0].param',
        '0.5',
        'is below 1 ms',
        ('1000', '0.5'),
    ),
    mistake(
        'id is not the place',
        'flight.jsonc:7: Events[0].id',
        'got 1',
        'expected 0, its place in the list',
        ('"id": 0,\n', '"id": 1,\n'),
    ),
    mistake(
        'condition missing',
        'flight.jsonc:6: Events[0].condition',
        'is missing',
        '',
        ('"condition"', '"for_ms"'),
    ),
    mistake(
        'negative cooldown',
        'flight.jsonc:7: Events[0].cooldown',
        '-5',
        'is below 0 ms',
        ('"id": 0,\n', '"id": 0, "cooldown": -5,\n'),
    ),
]
