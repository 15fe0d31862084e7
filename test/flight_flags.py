# SPDX-License-Identifier: Apache-2.0
"""What a flight state node says in its flags, as a table."""
from __future__ import annotations


def flags_of(messages):
    """Return what the newest flags say, empty before the first."""
    values = messages[-1].status[0].values if messages else ()
    return {pair.key: pair.value for pair in values}


def newest_flags(graph, node, messages):
    """Return what a node said last, once it has come."""
    graph.until(
        lambda: messages and flags_of(messages) == node.loop._outputs.flags, 'the newest flags'
    )
    return flags_of(messages)
