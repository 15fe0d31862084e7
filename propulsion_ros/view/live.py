# SPDX-License-Identifier: Apache-2.0
"""Live data of a page: the newest message of every topic of a graph, some times per second."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy
from rclpy.serialization import deserialize_message

from propulsion_ros.loops.payloads import Kind
from propulsion_ros.messages.qos import profile_of
from propulsion_ros.messages.rclpy_private import RCLError
from propulsion_ros.pictures.bag import Sorter, readings_of
from propulsion_ros.pictures.panels import page_of, span_of
from propulsion_ros.pictures.signals import Signals
from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.settings.names import class_of
from propulsion_ros.view.motion import (
    Frames,
    Scale,
    arrows_of,
    canopies_of,
    joints_of,
    motion_of,
    moving_joints,
    palette,
    parachutes_of,
)
from propulsion_ros.view.numbers import as_json, flat
from propulsion_ros.view.page import plots_of
from propulsion_ros.view.robot import Robot, scene_of

RATE = 10.0
"""Pictures per second of wall time."""
_SEARCH = 0.5  # time between two searches for topics and pages [s]
_GRAPH = Path('graph')
_KEPT = 100  # most messages that are kept of a latched topic


def scene_data(robot: Robot, title: str) -> dict[str, Any]:
    """Return the data that a page needs before the first picture."""
    # Any joint may move later.
    scene, chutes = scene_of(robot, robot.tree.joints), parachutes_of(robot)
    at_rest = Signals('graph'), Frames(1.0, np.zeros(1), np.zeros(1))
    arrows = arrows_of(robot, Scale(scene['size']), *at_rest, draws_all=True)
    return {
        'live': True, 'title': title, 'robot': scene, 'palette': palette(),
        'arrows': list(arrows), 'canopies': [
            {'name': name, 'attachment': flat(chutes.attachment)} for name in chutes.names
        ], 'phases': [],
        'events': [], 'plots': [], 'notes': robot.notes, 'begin': 0, 'end': 1,
    }


class LiveView(Node):
    """Subscribes while a page is open, and sends pictures.

    ``is_watched`` returns whether a page is open; ``send`` takes each picture, as JSON.
    """

    def __init__(
        self, robot: Robot, is_watched: Callable[[], bool], send: Callable[[str], None],
        namespace: str = '', context: rclpy.Context | None = None,
    ) -> None:
        super().__init__('live_view', context=context, start_parameter_services=False)
        self._robot, self._is_watched, self._send = robot, is_watched, send
        self._prefix = f'/{namespace.strip("/")}/'.replace('//', '/')
        self._size = float(scene_of(robot, ())['size'])
        self._scale = Scale(self._size)
        self._open: dict[str, Any] = {}
        self._kinds: dict[str, str] = {}
        self._newest: dict[str, deque[bytes]] = {}
        self._has_news = self._has_plots = False
        self._fired: dict[str, float] = {}
        self._chutes = parachutes_of(robot)
        self.create_timer(_SEARCH, self._search)
        self.create_timer(1.0 / RATE, self._draw)

    def _search(self) -> None:
        """Subscribe to drawable topics while a page is open, and to none otherwise."""
        wanted = self._wanted() if self._is_watched() else {}
        for topic in [topic for topic in self._open if topic not in wanted]:
            self.destroy_subscription(self._open.pop(topic))
            self._newest.pop(topic, None)
        for topic, kind in wanted.items():
            if topic not in self._open:
                self._subscribe(topic, kind)

    def _wanted(self) -> dict[str, str]:
        """Return the type of each topic that can be drawn and has a publisher."""
        found = {
            topic: types[0] for topic, types in self.get_topic_names_and_types()
            if self.count_publishers(topic)
        }
        try:
            return {topic: found[topic] for topic in readings_of(_GRAPH, found, self._prefix)}
        except SourceError:
            # No node of this package runs yet.
            return {}

    def _subscribe(self, topic: str, kind: str) -> None:
        offers = [info.qos_profile for info in self.get_publishers_info_by_topic(topic)]
        if len(offers) > 1 and kind == Kind.ODOMETRY:
            self.get_logger().warning(
                f'{topic} has {len(offers)} publishers, and what came last is drawn; end the other '
                'simulation, or choose one robot by --namespace'
            )
        is_latched = bool(offers) and all(
            offer.durability == DurabilityPolicy.TRANSIENT_LOCAL for offer in offers
        )
        depth = _KEPT if is_latched else 1
        # Best effort, so that no publisher waits for a picture.
        profile = profile_of(depth, is_latched, is_latched)
        kept: deque[bytes] = deque(maxlen=depth)

        def take(message: bytes) -> None:
            kept.append(message)
            self._has_news = True

        try:
            # Raw, as most messages are never read.
            self._open[topic] = self.create_subscription(
                class_of(kind), topic, take, profile, raw=True)
        except (LookupError, RCLError) as error:
            self.get_logger().warning(f'{topic} is not drawn: {error}', once=True)
            return
        self._kinds[topic], self._newest[topic] = kind, kept

    def _draw(self) -> None:
        if not self._has_news or not self._is_watched():
            return
        self._has_news = False
        try:
            frame = self._frame(self._signals())
        except ConfigError as error:
            self.get_logger().warning(f'nothing is drawn: {error}', throttle_duration_sec=10.0)
            return
        self._send(as_json(frame))

    def _signals(self) -> Signals:
        """Return the signals of the newest messages."""
        sorter = Sorter('graph', self._prefix, readings_of(_GRAPH, self._kinds, self._prefix))
        now = self.get_clock().now().nanoseconds * 1e-9
        for topic, messages in self._newest.items():
            kind = class_of(self._kinds[topic])
            for message in messages:
                sorter.take(topic, now, deserialize_message(message, kind))
        return sorter.finish()

    def _frame(self, signals: Signals) -> dict[str, Any]:
        """Return one picture."""
        _, newest = span_of(signals)
        frames = Frames(1.0, np.zeros(1), np.array([newest]))
        phase = [mark.name for mark in signals.flight.phases][-1:]
        motion = motion_of(signals, frames)
        return {
            'time': round(newest, 4), 'phase': ''.join(phase),
            'events': sorted({mark.name for mark in signals.flight.marks}),
            'position': motion['position'], 'quaternion': motion['quaternion'],
            'isKnown': motion['is_known'],
            'joints': {
                name: values[0] for name, values in
                joints_of(moving_joints(self._robot, signals), frames).items()
            },
            'arrows': [
                [[part[0] for part in row['origin']], [part[0] for part in row['direction']],
                 row['length'][0], row['shade'][0]]
                for row in arrows_of(self._robot, self._scale, signals, frames, draws_all=True)
            ],
            'plots': self._plots(signals), 'canopies': self._canopies(signals, frames),
        }

    def _plots(self, signals: Signals) -> list[dict[str, Any]] | None:
        """Return the newest value of each line, None in every second picture."""
        self._has_plots = not self._has_plots
        if not self._has_plots:
            return None
        plots, _ = plots_of(page_of(signals))
        return [{
            'title': plot['title'], 'lines': [
                {**line, 'value': flat(line['value'][-1] if line['value'] else np.nan)[0],
                 'time': None} for line in plot['lines']
            ],
        } for plot in plots]

    def _canopies(self, signals: Signals, frames: Frames) -> list[Any]:
        """Return the radius of each parachute; a deployer publishes only while it fires."""
        now = float(frames.stamps[0])
        # After a restart of the simulation, parachutes are packed again.
        fired = {**signals.flight.fired, **self._fired}
        self._fired = {name: time for name, time in fired.items() if time <= now}
        signals.flight.fired = dict(self._fired)
        radii = {
            each['name']: each['radius'][0]
            for each in canopies_of(self._chutes, self._size, signals, frames)
        }
        return [radii.get(name, 0) for name in self._chutes.names]
