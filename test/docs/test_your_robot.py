# SPDX-License-Identifier: Apache-2.0
"""The robot of the page falls as the page shows."""
from __future__ import annotations

import re

from markdown_pages import REPOSITORY, Page
from propulsion_ros.graph.simulation import Simulation
from propulsion_ros.graph.wiring import robot_graph
from propulsion_ros.study import closed_loop


def test_touchdown_is_that_of_the_page(tmp_path, monkeypatch):
    page = Page(REPOSITORY / 'docs' / 'your_robot.md', 'docs/your_robot.md')
    model, settings = tmp_path / 'lifter.urdf', tmp_path / 'lifter.yaml'
    for path in (model, settings):
        path.write_text(page.files[path.name], encoding='utf-8')
    graph = robot_graph(model=model, simulation=Simulation(
        (), {'duration': 0.5, 'real_time_factor': 0.0, 'publish_tf': False},
    ))
    said = []
    monkeypatch.setattr(closed_loop._Host, 'log', lambda host, level, line: said.append(line))
    closed_loop.ClosedLoop(graph, [settings], None, lambda *message: None).fly()
    shown = re.findall(r'\[vehicle\]: (touchdown .*)', page.path.read_text(encoding='utf-8'))
    assert [line for line in said if line.startswith('touchdown')] == shown
