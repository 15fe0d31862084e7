# SPDX-License-Identifier: Apache-2.0
"""The topics on the page of each vehicle are those of its graph."""
from __future__ import annotations

import time

import pytest
import rclpy

from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.graph.wiring import robot_graph
from propulsion_ros.nodes.stack import make_node
from propulsion_ros.tools.demo import reserved_domain
from ros_graph import close
from topic_tables import listed_rows

OF_EVERY_NODE = ('parameter_events', 'rosout', 'diagnostics', 'transition_event', '/tf')


@pytest.fixture
def nodes_of():
    """Start the nodes of a vehicle, and destroy them."""
    context, nodes = rclpy.Context(), []

    def start(vehicle):
        graph = robot_graph(vehicle)
        rclpy.init(
            args=['--ros-args', '--params-file', str(graph.params_file)], context=context,
            domain_id=domain,
        )
        for spec in graph.nodes:
            nodes.append(make_node(spec, context=context))
            nodes[-1].start()
            assert nodes[-1].is_active, spec.name
        return nodes

    # A domain of its own: other tests' nodes have the same names.
    with reserved_domain() as domain:
        yield start
        close(context, nodes)


def graph_rows(nodes):
    """Return topic, type, publishers and subscribers of all topics that nodes have."""
    found = {}
    for node in nodes:
        ends = (
            node.get_publisher_names_and_types_by_node,
            node.get_subscriber_names_and_types_by_node,
        )
        for column, ask in enumerate(ends):
            for topic, kinds in ask(node.get_name(), '/'):
                if not topic.endswith(OF_EVERY_NODE):
                    row = found.setdefault((topic, kinds[0].replace('/msg/', '/')), ([], []))
                    row[column].append(node.get_name())
    return [
        (topic, kind, ', '.join(sorted(pubs)), ', '.join(sorted(subs)))
        for (topic, kind), (pubs, subs) in sorted(found.items())
    ]


@pytest.mark.parametrize('vehicle', VEHICLES)
def test_page_lists_the_topics_of_the_graph(nodes_of, vehicle):
    nodes, expected = nodes_of(vehicle), listed_rows(vehicle)
    # The graph hears of its own nodes a little later.
    end = time.monotonic() + 20.0
    while (rows := graph_rows(nodes)) != expected and time.monotonic() < end:
        nodes[0].wait_for_node(nodes[-1].get_fully_qualified_name(), 0.1)
    table = '\n'.join(f'| `{row[0]}` | {" | ".join(row[1:])} |' for row in rows)
    assert expected == rows, f'expected in docs/vehicles/{vehicle}.md:\n{table}'
