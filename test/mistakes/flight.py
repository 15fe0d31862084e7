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
        name, place, reason, remedy, {'flight.jsonc': replaced(FLIGHT, changes)},
        'check flight.jsonc',
    )


MISTAKES = [
    mistake('key misspelt', '', '', '', ('"action"', '"actoin"')),
    mistake('block misspelt', '', '', '', ('"Events"', '"events"')),
    mistake('comma missing', '', '', '', ('"MORETHAN",', '"MORETHAN"')),
    mistake('bracket missing', '', '', '', ('}\n  ]\n}', '}\n}')),
    mistake('key twice', '', '', '', ('"id": 0,\n', '"id": 0,\n"id": 0,\n')),
    mistake('operator in signs', '', '', '', ('MORETHAN', '>')),
    mistake('variable misspelt', '', '', '', ('TimeSinceApogee', 'TimeSinceApoge')),
    mistake('component missing', '', '', '', ('TimeSinceApogee', 'Position')),
    mistake('threshold as a text', '', '', '', ('"threshold": 0', '"threshold": "0 s"')),
    mistake('unknown deployer', '', '', '', ('"deployment", "id": 0', '"deployment", "id": 3')),
    mistake('pulse in seconds', '', '', '', ('1000', '0.5')),
    mistake('id is not the place', '', '', '', ('"id": 0,\n', '"id": 1,\n')),
    mistake('condition missing', '', '', '', ('"condition"', '"for_ms"')),
    mistake('negative cooldown', '', '', '', ('"id": 0,\n', '"id": 0, "cooldown": -5,\n')),
]
