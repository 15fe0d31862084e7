# SPDX-License-Identifier: Apache-2.0
"""Meshes of robot descriptions: read, refused in one line, drawn as boxes where they are large."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from propulsion_ros.graph.share import share_directory
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.urdf.xml import Description
from propulsion_ros.view import meshes
from propulsion_ros.view.meshes import mesh_path, read_mesh
from propulsion_ros.view.robot import Robot, scene_of

TRIANGLE = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
STL = (
    'solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 2 0\n'
    'endloop\nendfacet\nendsolid\n'
)
OBJ = 'mtllib /etc/passwd\nusemtl x\nv 0 0 0\nv 1 0 0\nv 0 2 0\nf 1 2 3\n'
DAE = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><unit meter="1"/><up_axis>Z_UP</up_axis></asset>
  <library_geometries><geometry id="g"><mesh>
    <source id="p"><float_array id="pa" count="9">0 0 0 1 0 0 0 2 0</float_array>
      <technique_common><accessor source="#pa" count="3" stride="3"><param name="X" type="float"/>
      <param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common>
    </source>
    <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
    <triangles count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles>
  </mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene id="s"><node><instance_geometry url="#g"/></node>
  </visual_scene></library_visual_scenes>
  <scene><instance_visual_scene url="#s"/></scene>
</COLLADA>
"""
BOMB = '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'


@pytest.fixture
def mesh(tmp_path):
    pytest.importorskip('trimesh')

    def write(kind, content):
        path = tmp_path / f'a.{kind}'
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path
    return write


def corners(found):
    return sorted(map(tuple, found.points[found.faces].reshape(-1, 3).tolist()))


@pytest.mark.parametrize(('kind', 'text'), [('stl', STL), ('obj', OBJ), ('dae', DAE)])
def test_a_mesh_is_read(mesh, kind, text):
    if kind == 'dae':
        pytest.importorskip('collada')
    assert corners(read_mesh(mesh(kind, text))) == sorted(map(tuple, TRIANGLE.tolist()))


@pytest.mark.parametrize(('kind', 'content', 'expected'), [
    ('stl', b'', 'has no triangles'),
    # What the reader makes of it depends on what else is installed.
    ('stl', b'\0' * 80 + b'\xff\xff\xff\xff', 'a.stl: '),
    ('stl', STL.replace('vertex 0 2 0', 'vertex 0 1e30 0'), 'expected points within'),
    ('obj', 'v 0 0 0\nf 1 2 9\n', 'is no obj mesh'),
    ('obj', OBJ.replace('v 1 0 0', 'v nan 0 0'), 'expected points within'),
    ('dae', '<COLLADA', 'not well-formed XML'),
    ('dae', DAE.replace('<COLLADA', BOMB + '<COLLADA', 1), 'DTDs and entities are refused'),
    ('dae', '<script>alert(1)</script>', 'is no dae mesh'),
    ('dae', DAE.replace('<node>', '<node>' * 70).replace('</node>', '</node>' * 70),
     'elements are nested deeper than 64'),
    ('dae', DAE.replace('<node>', '<a/>' * 100_000 + '<node>'),
     'elements, expected at most 100000'),
    ('dae', DAE.replace('<node>', '<node id="n"><instance_node url="#n"/>'), 'words to read'),
    ('dae', DAE.replace('<instance_geometry', '<instance_geometry url="#g"/>' * 2000
                        + '<instance_geometry'), 'has more than 1500000 words to read'),
    ('dae', DAE.replace('<p>0 1 2</p>', '<vcount>2000000000</vcount><p>0 1 2</p>'),
     'has more than 1500000 words to read'),
    ('obj', 'v 0 0 0\nf' + ' 1' * 1_500_000, 'has more than 1500000 words to read'),
    ('glb', b'glTF', 'expected a mesh as stl, obj, dae'),
], ids=lambda value: str(value)[:30])
def test_a_hostile_mesh_is_refused_in_one_line(mesh, kind, content, expected):
    if kind == 'dae':
        pytest.importorskip('collada')
    with pytest.raises(SourceError) as caught:
        read_mesh(mesh(kind, content))
    assert expected in str(caught.value)
    assert '\n' not in str(caught.value)


def test_a_library_that_is_absent_is_named_with_the_words_for_pip(mesh, monkeypatch):
    path = mesh('stl', STL)
    monkeypatch.setattr(meshes, 'find_spec', lambda name: None)
    with pytest.raises(SourceError, match="needs trimesh, pip install 'trimesh<6,>=4"):
        read_mesh(path)


@pytest.mark.parametrize(('name', 'expected'), [
    ('file:///a%20b/c.stl', Path('/a b/c.stl')),
    ('c.stl', Path('/robots/c.stl')),
    ('/c.stl', Path('/c.stl')),
    ('package://propulsion_ros/c.stl', share_directory() / 'c.stl'),
])
def test_a_mesh_lies_where_its_address_says(name, expected):
    assert mesh_path(name, Path('/robots')) == expected


@pytest.mark.parametrize('name', ['http://a/b.stl', 'javascript:alert(1)', 'data:,x'])
def test_no_mesh_comes_from_elsewhere(name):
    with pytest.raises(SourceError, match='expected a package://, file:// or relative path'):
        mesh_path(name, None)


def scene(tmp_path, scale='1 1 1'):
    text = (
        '<robot name="r"><link name="a"><visual><geometry>'
        f'<mesh filename="a.stl" scale="{scale}"/></geometry></visual></link></robot>'
    )
    robot = Robot(Description('r.urdf', text), tmp_path)
    return robot, scene_of(robot, ())


def test_a_mesh_above_a_limit_is_drawn_as_its_box(mesh, tmp_path, monkeypatch):
    path = mesh('stl', STL)
    robot, drawn = scene(tmp_path)
    assert (drawn['shapes'][0]['kind'], robot.notes) == ('mesh', [])
    assert len(drawn['meshes']) == 1
    assert drawn['shapes'][0]['position'] == [0, 0, 0]
    monkeypatch.setattr('propulsion_ros.view.robot.TRIANGLE_LIMIT', 0)
    robot, drawn = scene(tmp_path, '2 2 2')
    (shape,) = drawn['shapes']
    assert (shape['kind'], shape['size'][:2], shape['position']) == ('box', [2, 4], [1, 2, 0])
    assert robot.notes[0].startswith('a.stl: 1 triangles, drawn as a box; the limit is 0')
    assert not drawn['meshes']
    monkeypatch.setattr('propulsion_ros.view.meshes.SIZE_LIMIT', path.stat().st_size - 1)
    robot, drawn = scene(tmp_path)
    assert 'drawn as a small box' in robot.notes[0]


def test_a_robot_with_a_mesh_that_is_none_is_still_drawn(mesh, tmp_path):
    mesh('stl', 'garbage')
    robot, drawn = scene(tmp_path)
    assert drawn['shapes'][0]['kind'] == 'box'
    (note,) = robot.notes
    assert note.endswith('a.stl: has no triangles; drawn as a small box')
