# SPDX-License-Identifier: Apache-2.0
"""The start of a robot's nodes and of its simulated body, without ROS."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from propulsion_ros.graph.simulation import BODY, Simulation, simulated
from propulsion_ros.graph.wiring import actuator_nodes, pushing_blocks
from propulsion_ros.replay.host import Bus
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.yaml_file import settings_of
from propulsion_ros.study.closed_loop import running
from propulsion_ros.urdf.block import ActuatorSpec

_DEPLOYERS = 'deployers'


def refusals(
    text: str, blocks: Sequence[ActuatorSpec], files: Sequence[Path]
) -> Iterator[tuple[str, ConfigError]]:
    """Yield what the nodes of a robot refuse at their start, `BODY` among them, with their names.

    Parameters
    ----------
    text : str
        URDF.
    blocks : sequence of ActuatorSpec
        Its plugin blocks, without faults.
    files : sequence of Path
        Parameter files, of which the later ones win.
    """
    nodes = actuator_nodes(text, list(blocks), True, True)
    if pushing_blocks(blocks):
        simulation = Simulation(params_files=tuple(files))
        try:
            nodes = simulated(nodes, blocks, text, simulation, _DEPLOYERS)
        except ConfigError as error:
            yield BODY, error
    bus, places = Bus(lambda *message: None), {block.name: block.locate for block in blocks}
    for spec in nodes:
        try:
            running(spec, files, bus, lambda line: None)
        except ConfigError as error:
            locate = places.get(spec.name)
            yield spec.name, locate(error, settings_of(files, spec.name)) if locate else error
