# SPDX-License-Identifier: Apache-2.0
"""What the events of a report command to deployers."""
from __future__ import annotations

from propulsion_ros.flight.pyros.deployers import deployer_command


def deployments(report, deployers):
    """Return the commands to deployers, in the order of the actions."""
    return [
        deployer_command(deployers[action.target], event.stamp_ns, action.param)
        for event in report.events for action in event.actions if action.deploys
    ]
