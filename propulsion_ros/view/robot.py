# SPDX-License-Identifier: Apache-2.0
"""Converts a robot description for a page: shapes on frames that move."""
from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from propulsion_ros.drawing.drawn_blocks import DrawnBlock, drawn_blocks
from propulsion_ros.graph.family_params import loop_params_of
from propulsion_ros.graph.share import read_description, robot_files
from propulsion_ros.graph.simulation import BODY
from propulsion_ros.models.body.rigid_body import BodyParams
from propulsion_ros.models.common.rotation import quaternion_of
from propulsion_ros.pictures.signals import Signals
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import printable
from propulsion_ros.settings.flat import build
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.settings.yaml_file import settings_of
from propulsion_ros.urdf.link_tree import IDENTITY, Joint, LinkTree, Pose
from propulsion_ros.urdf.reader import actuators_from_urdf
from propulsion_ros.urdf.visuals import PLAIN, Visual, visuals_of
from propulsion_ros.urdf.xml import Description, parse_urdf
from propulsion_ros.view.meshes import TRIANGLE_LIMIT, Mesh, mesh_path, read_mesh
from propulsion_ros.view.numbers import flat

_SHAPES = 2000  # most shapes that are drawn, as more are too slow
_TRIANGLES = 3 * TRIANGLE_LIMIT  # most triangles of all meshes together
_STAND_IN = 0.1  # edge of the box for a mesh that cannot be drawn, before its scale [m]
_FEW = 5  # most meshes that are named in notes
_LIQUID = 100.0  # density above which a fluid is a liquid [kg/m^3]


@dataclass(eq=False)
class Robot:
    """A robot description with the parameters of its nodes."""

    description: Description
    folder: Path | None = None
    """Folder of its file, for relative paths."""
    params_files: Sequence[Path] = ()
    """Parameter files of its nodes, of which the later ones win."""
    notes: list[str] = field(default_factory=list)
    """Parts that are not drawn as described, a line each."""

    @cached_property
    def tree(self) -> LinkTree:
        """Its links and joints."""
        with self.description.located():
            return LinkTree(parse_urdf(self.description.text))

    @cached_property
    def blocks(self) -> Sequence[DrawnBlock]:
        """Plugin blocks, [] for none."""
        with self.description.located():
            specs = actuators_from_urdf(self.description.text, loop_params_of)
            return drawn_blocks(specs, self.settings_of) if specs else []

    @property
    def base_link(self) -> str:
        """Link whose motion odometry has."""
        return self.blocks[0].base_link if self.blocks else self.tree.root

    def settings_of(self, node: str) -> dict[str, Any]:
        """Return the parameters that the files give a node."""
        return settings_of(self.params_files, node)

    @cached_property
    def visuals(self) -> Sequence[Visual]:
        """Shapes, as many as are drawn."""
        with self.description.located():
            found = list(visuals_of(parse_urdf(self.description.text)))
        if len(found) > _SHAPES:
            self.notes.append(f'{len(found)} shapes, the first {_SHAPES} are drawn')
        return found[:_SHAPES]


def robot_of(model: str, params_files: Sequence[Path] = ()) -> Robot:
    """Return a robot with the parameters of its nodes.

    Parameters
    ----------
    model : str
        A .urdf or .xacro file, ``package://NAME/FILE``, or the name of a vehicle of the package,
        over whose own parameter file ``params_files`` win.
    params_files : sequence of Path
        Parameter files.

    Raises
    ------
    SourceError
        If a file cannot be read; the error names it.
    """
    path, own = robot_files(model)
    return Robot(read_description(path), path.resolve().parent, [*own, *params_files])


def robot_in(signals: Signals, model: str = '', params_files: Sequence[Path] = ()) -> Robot:
    """Return the robot of a recording.

    It is that of a model, as of `robot_of`, else of the description in the recording, else a plain
    body.
    """
    if model:
        return robot_of(model, params_files)
    if signals.robot_description:
        name = f'robot_description of {signals.name}'
        return Robot(Description(name, signals.robot_description), params_files=params_files)
    return Robot(PLAIN_ROBOT, params_files=params_files, notes=[
        'the input has no robot_description, so a box stands for the robot; give --model'
    ])


def scene_of(robot: Robot, moving: Collection[str]) -> dict[str, Any]:
    """Return the shapes of a robot and the frames that they are in, in types of JSON.

    Frame 0 is base_link; each joint of ``moving`` has another one. ``size`` and ``centre`` are
    those of all shapes [m], with every joint at 0. The robot is in air, in water, or floats on a
    surface at a ``level`` [m].
    """
    params = build(BodyParams, robot.settings_of(BODY), 'body.')
    medium = 'surface' if params.hulls.names else 'water'
    medium = medium if params.fluid_density > _LIQUID else 'air'
    frames = _Frames(robot, moving)
    meshes = _Meshes(robot)
    shapes = [meshes.shape_of(visual) for visual in robot.visuals]
    boxes = [_bounds(robot.tree.pose(v.link, robot.base_link) @ pose, size)
             for v, pose, size, _ in shapes]
    corners = np.vstack([np.zeros((0, 3)), *boxes, *(
        block.layout.position for block in robot.blocks if block.layout is not None
    )])
    low, high = (corners.min(axis=0), corners.max(axis=0)) if len(corners) else (
        np.full(3, -_STAND_IN), np.full(3, _STAND_IN))
    return {
        'frames': frames.rows,
        'shapes': [
            {**drawn, 'frame': frames.of(v.link)[0], 'colour': flat(v.colour),
             **_placed(frames.of(v.link)[1] @ pose)}
            for v, pose, _, drawn in shapes
        ],
        'medium': medium, 'level': params.water_level,
        'meshes': [mesh.packed for mesh in meshes.kept],
        'size': float(max(np.max(high - low), 1e-3)), 'centre': flat(0.5 * (low + high)),
    }


class _Frames:
    """Frames that move, and the pose of each link in one of them."""

    def __init__(self, robot: Robot, moving: Collection[str]) -> None:
        self.rows: list[dict[str, Any]] = [{'parent': -1, **_placed(IDENTITY)}]
        self._tree, self._base = robot.tree, robot.base_link
        self._of: dict[str, tuple[int, Pose]] = {self._base: (0, IDENTITY)}
        below: dict[str, list[Joint]] = {}
        for joint in robot.tree.joints.values():
            below.setdefault(joint.parent, []).append(joint)
        level = [self._base]
        while level:
            carried = [joint for link in level for joint in below.get(link, ())]
            for joint in carried:
                self._add(joint, joint.name in moving and not joint.is_loose)
            level = [joint.child for joint in carried]

    def _add(self, joint: Joint, moves: bool) -> None:
        frame, pose = self._of[joint.parent]
        pose = pose @ joint.origin
        if moves and joint.kind != 'fixed':
            self.rows.append({
                'parent': frame, **_placed(pose), 'axis': flat(joint.axis), 'joint': joint.name,
                'turns': joint.turns,
            })
            frame, pose = len(self.rows) - 1, IDENTITY
        self._of[joint.child] = frame, pose

    def of(self, link: str) -> tuple[int, Pose]:
        """Return the frame of a link, and its pose there."""
        return self._of.get(link) or (0, self._tree.pose(link, self._base))


Shape = tuple[Visual, Pose, FloatArray, dict[str, Any]]
"""A visual, the pose of what is drawn for it, its edges [m], and what is drawn."""


class _Meshes:
    """Reads each mesh once; one that is too large, or invalid, becomes a box."""

    def __init__(self, robot: Robot) -> None:
        self.kept: list[Mesh] = []
        self._robot, self._left = robot, _TRIANGLES
        self._known: dict[str, tuple[FloatArray, int | None]] = {}
        self._failed = 0

    def shape_of(self, visual: Visual) -> Shape:
        if visual.kind != 'mesh':
            drawn: dict[str, Any] = {'kind': visual.kind, 'size': flat(visual.size)}
            return visual, visual.pose, 2.0 * visual.half_edges, drawn
        if visual.mesh not in self._known:
            self._known[visual.mesh] = self._read(visual)
        bounds, number = self._known[visual.mesh]
        scale = np.array(visual.size)
        edges = np.abs(scale * (bounds[1] - bounds[0]))
        middle = Pose(np.eye(3), scale * bounds.mean(axis=0))
        if number is None:
            box = {'kind': 'box', 'size': flat(np.maximum(edges, 1e-6))}
            return visual, visual.pose @ middle, edges, box
        mesh = {'kind': 'mesh', 'size': flat(scale), 'mesh': number}
        # The offset of its middle counts for the size of the robot.
        return visual, visual.pose, edges + 2.0 * np.abs(middle.position), mesh

    def _read(self, visual: Visual) -> tuple[FloatArray, int | None]:
        """Return the lowest and highest corner of a mesh, and its number if it is drawn."""
        stand_in = 0.5 * _STAND_IN * np.array([[-1.0] * 3, [1.0] * 3])
        name = printable(visual.mesh)
        try:
            mesh = read_mesh(mesh_path(visual.mesh, self._robot.folder))
        except SourceError as error:
            self._note(f'{error}; drawn as a small box')
            return stand_in, None
        bounds = np.array([mesh.points.min(axis=0), mesh.points.max(axis=0)])
        if len(mesh.faces) > min(TRIANGLE_LIMIT, self._left):
            self._note(
                f'{name}: {len(mesh.faces)} triangles, drawn as a box; the limit is '
                f'{TRIANGLE_LIMIT}, {_TRIANGLES} for all meshes'
            )
            return bounds, None
        self._left -= len(mesh.faces)
        self.kept.append(mesh)
        return bounds, len(self.kept) - 1

    def _note(self, text: str) -> None:
        self._failed += 1
        if self._failed <= _FEW:
            self._robot.notes.append(text)
        elif self._failed == _FEW + 1:
            self._robot.notes.append('and further meshes that are drawn as boxes')


def _bounds(pose: Pose, edges: FloatArray) -> FloatArray:
    """Return the lowest and highest corner of a box, (2, 3)."""
    half = np.abs(pose.rotation) @ (0.5 * edges)
    return np.array([pose.position - half, pose.position + half])


def _placed(pose: Pose) -> dict[str, Any]:
    return {'position': flat(pose.position), 'quaternion': flat(quaternion_of(pose.rotation))}


PLAIN_ROBOT = Description(
    'no description',
    '<robot name="body"><link name="base_link"><visual><geometry><box size="0.4 0.2 0.1"/>'
    f'</geometry><material name="plain"><color rgba="{" ".join(map(str, PLAIN))}"/></material>'
    '</visual></link></robot>',
)
"""Stands for a robot whose description is not known."""
