# SPDX-License-Identifier: Apache-2.0
"""What the events of a report command to pyros."""
from __future__ import annotations

from collections import namedtuple

from propulsion_ros.flight.pyros.deployers import on_time_of

Deployment = namedtuple('Deployment', 'id name stamp_ns on_time_ns')


def deployments(report, deployers):
    """Return the commands to pyros, in the order of the actions."""
    return [
        Deployment(
            action.target, deployers[action.target].name, event.stamp_ns, on_time_of(action.param)
        )
        for event in report.events for action in event.actions if action.deploys
    ]
