# SPDX-License-Identifier: Apache-2.0
"""Shapes as RViz markers."""
from __future__ import annotations

from collections.abc import Sequence

from geometry_msgs.msg import Point
from visualization_msgs.msg import Marker, MarkerArray

from propulsion_ros.drawing.shapes import Shape
from propulsion_ros.messages.fields import set_stamp

_SHORTEST = 1e-3
"""An arrow below this length [m] is taken away: RViz complains of markers without size."""
_TYPES = {'arrow': Marker.ARROW, 'plume': Marker.ARROW, 'text': Marker.TEXT_VIEW_FACING}


class MarkerEncoder:
    """Makes messages of pictures, each complete, so that a later subscriber sees all of it.

    A picture is a sequence of pairs of a stamp [ns] and a `Shape`; an empty one removes all.
    """

    def __init__(self) -> None:
        # A message is filled again and again, as in `propulsion_ros.messages.encoders`.
        self._markers: dict[tuple[str, int], Marker] = {}

    def __call__(self, stamp_ns: int, picture: Sequence[tuple[int, Shape]]) -> MarkerArray:
        """Return the message of a picture; every shape has a stamp of its own."""
        if not picture:
            return MarkerArray(markers=[Marker(action=Marker.DELETEALL)])
        return MarkerArray(markers=[self._marker(each_ns, shape) for each_ns, shape in picture])

    def _marker(self, stamp_ns: int, shape: Shape) -> Marker:
        """Return the marker of a shape; it is the same object for each of its stamps."""
        key = shape.group, shape.number
        marker = self._markers.get(key)
        if marker is None:
            marker = self._markers[key] = _blank(shape)
        set_stamp(marker.header.stamp, stamp_ns)
        marker.header.frame_id = shape.frame
        is_seen = shape.length >= _SHORTEST
        marker.action = Marker.ADD if is_seen else Marker.DELETE
        if is_seen:
            self._fill(marker, shape)
        return marker

    @staticmethod
    def _fill(marker: Marker, shape: Shape) -> None:
        color, scale = marker.color, marker.scale
        color.r, color.g, color.b, color.a = shape.colour
        if shape.kind == 'text':
            at = marker.pose.position
            at.x, at.y, at.z = shape.origin
            scale.z = shape.length
            marker.text = shape.text
            return
        x, y, z = (
            a + shape.length * b for a, b in zip(shape.origin, shape.direction, strict=True)
        )
        ends = (shape.origin, (x, y, z))
        if shape.kind == 'plume':
            # A cone with its tip at the origin: an arrow towards it that is nearly all head.
            ends = ends[::-1]
            width, length = max(0.3 * shape.length, shape.width), 0.95 * shape.length
        else:
            width, length = 2.0 * shape.width, 0.25 * shape.length
        for point, end in zip(marker.points, ends, strict=True):
            point.x, point.y, point.z = end
        scale.x, scale.y, scale.z = shape.width, width, length


def _blank(shape: Shape) -> Marker:
    """Return a marker with what never changes."""
    marker = Marker(ns=shape.group, id=shape.number, type=_TYPES[shape.kind])
    marker.pose.orientation.w = 1.0
    # Drawn where its frame is now, not where it was at the stamp.
    marker.frame_locked = True
    if shape.kind != 'text':
        marker.points = [Point(), Point()]
    return marker
