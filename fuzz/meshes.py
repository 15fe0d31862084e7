# SPDX-License-Identifier: Apache-2.0
"""Readers of meshes."""
from __future__ import annotations

import functools
import struct

import numpy as np

from fuzz.binary_formats import STL
from fuzz.target import Target, require, written
from fuzz.text_formats import WORDS, XML
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.view.meshes import read_mesh

_CORNERS = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 3.0))
_FACES = ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3))
_DAE = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><unit name="inch" meter="0.0254"/><up_axis>Y_UP</up_axis></asset>
  <library_effects><effect id="e"><profile_COMMON><technique sid="t"><phong><diffuse>
    <color>1 0 0 1</color></diffuse></phong></technique></profile_COMMON></effect></library_effects>
  <library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
  <library_geometries><geometry id="g"><mesh>
    <source id="p"><float_array id="pa" count="12">0 0 0 1 0 0 0 2 0 0 0 3</float_array>
      <technique_common><accessor source="#pa" count="4" stride="3"><param name="X" type="float"/>
      <param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common>
    </source>
    <source id="n"><float_array id="na" count="3">0 0 1</float_array>
      <technique_common><accessor source="#na" count="1" stride="3"><param name="X" type="float"/>
      <param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common>
    </source>
    <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
    <triangles count="2" material="a"><input semantic="VERTEX" source="#v" offset="0"/>
      <input semantic="NORMAL" source="#n" offset="1"/><p>0 0 1 0 2 0 0 0 1 0 3 0</p></triangles>
    <polylist count="2"><input semantic="VERTEX" source="#v" offset="0"/><vcount>3 4</vcount>
      <p>0 1 2 0 1 2 3</p></polylist>
  </mesh></geometry></library_geometries>
  <library_nodes><node id="l"><translate>0 0 1</translate><instance_geometry url="#g"/></node>
  </library_nodes>
  <library_visual_scenes><visual_scene id="s">
    <node id="a"><matrix>1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1</matrix><rotate>0 0 1 90</rotate>
      <scale>1 1 2</scale><instance_geometry url="#g"><bind_material><technique_common>
        <instance_material symbol="a" target="#m"/></technique_common></bind_material>
      </instance_geometry><node><instance_node url="#l"/></node></node>
  </visual_scene></library_visual_scenes>
  <scene><instance_visual_scene url="#s"/></scene>
</COLLADA>
"""


def _mesh(kind: str, data: bytes) -> None:
    mesh = read_mesh(written(f'mesh.{kind}', data))
    require(bool(np.isfinite(mesh.points).all()), 'a mesh without bounds')
    require(len(mesh.packed['faces']) > 0, 'a mesh without triangles')


def _stl() -> list[bytes]:
    rows = b''.join(
        struct.pack('<12f', 0, 0, 1, *(x for i in face for x in _CORNERS[i])) + b'\0\0'
        for face in _FACES
    )
    return [bytes(80) + struct.pack('<I', len(_FACES)) + rows]


def _stl_of_text() -> list[bytes]:
    facets = (
        ['facet normal 0 0 1', 'outer loop',
         *(f'vertex {" ".join(map(str, _CORNERS[i]))}' for i in face), 'endloop', 'endfacet']
        for face in _FACES
    )
    lines = ['solid a', *(line for facet in facets for line in facet), 'endsolid a', '']
    return ['\n'.join(lines).encode()]


def _obj() -> list[bytes]:
    lines = [
        'mtllib a.mtl', 'o body', *(f'v {x} {y} {z}' for x, y, z in _CORNERS), 'vn 0 0 1', 'vt 0 1',
        'usemtl red', 's off', 'g one', 'f 1 2 3', 'f 1/1/1 2/1/1 4/1/1', 'g two',
        'f 1//1 3//1 4//1', 'f -1 -2 -3', 'f 1 2 3 4', '',
    ]
    return ['\n'.join(lines).encode()]


TARGETS = (
    Target('mesh_stl', functools.partial(_mesh, 'stl'), _stl, (SourceError,), form=STL),
    Target('mesh_stl_text', functools.partial(_mesh, 'stl'), _stl_of_text, (SourceError,),
           form=WORDS, words=('solid', 'facet', 'vertex', 'endsolid', 'COLOR=')),
    Target('mesh_obj', functools.partial(_mesh, 'obj'), _obj, (SourceError,), form=WORDS,
           words=('mtllib', 'usemtl', 'f', 'v', 'vt', 'vn', 'o', 'g', 'l', 'p', 'call a.obj')),
    Target('mesh_dae', functools.partial(_mesh, 'dae'), lambda: [_DAE.encode()], (SourceError,),
           form=XML, words=('#g', '#p', '#l', '#s', '#a', 'VERTEX', 'POSITION', 'file:///dev/zero',
                            '#', 'http://localhost:1/a.dae', 'X', 'float', 'Y_UP', '99999999999')),
)
