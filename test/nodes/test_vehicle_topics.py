"""The topics of each vehicle in the README are those of its graph."""
from __future__ import annotations

import re
from pathlib import Path

import pytest
import rclpy

from propulsion_ros.nodes.stack import make_node
from propulsion_ros.wiring import VEHICLES, vehicle_graph

README = (Path(__file__).resolve().parents[2] / 'README.md').read_text(encoding='utf-8')
OF_EVERY_NODE = ('parameter_events', 'rosout', 'diagnostics', 'transition_event')


@pytest.fixture
def graph_rows():
    """Return the rows of a vehicle's graph: topic, type, publishers, subscribers."""
    contexts, nodes = [], []

    def rows(vehicle):
        graph = vehicle_graph(vehicle)
        contexts.append(rclpy.Context())
        rclpy.init(
            args=['--ros-args', '--params-file', str(graph.params_file)], context=contexts[0]
        )
        for spec in graph.nodes:
            nodes.append(make_node(spec, context=contexts[0]))
            nodes[-1].start()
            assert nodes[-1].is_active, spec.name
        found = {}
        for node in nodes:
            # What a node has is known at once where it lives; nothing is waited for.
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

    yield rows
    for node in nodes:
        node.close()
    for context in contexts:
        rclpy.try_shutdown(context=context)


def readme_rows(vehicle):
    section = re.search(rf'\n#### {vehicle}\n(.*?)\n#+ ', README, re.DOTALL)
    assert section, f'README.md has no section {vehicle}'
    cells = [
        [cell.strip().strip('`') for cell in line.strip('|').split('|')]
        for line in section[1].splitlines() if line.startswith('| `/')
    ]
    return [tuple(row) for row in cells]


@pytest.mark.parametrize('vehicle', VEHICLES)
def test_readme_lists_the_topics_of_the_graph(graph_rows, vehicle):
    rows = graph_rows(vehicle)
    table = '\n'.join(f'| `{row[0]}` | {" | ".join(row[1:])} |' for row in rows)
    assert readme_rows(vehicle) == rows, f'expected in README.md:\n{table}'
