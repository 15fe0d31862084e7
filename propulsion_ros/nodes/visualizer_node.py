"""Arrows, plumes and text for RViz: what the actuators of a robot do."""
from __future__ import annotations

import functools
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from geometry_msgs.msg import InertiaStamped
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

from propulsion_ros.drawing.drawn_blocks import DrawnBlock, drawn_blocks
from propulsion_ros.drawing.shapes import (
    Propellant,
    Shape,
    Style,
    ThrustState,
    ThrustStateReader,
    status_shape,
    thrust_shapes,
)
from propulsion_ros.drawing.thrust_layout import ThrustLayout
from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.loops.ports import OK, WARN, Health
from propulsion_ros.messages.markers import MarkerOutput
from propulsion_ros.nodes import qos
from propulsion_ros.nodes.base import PropulsionNode
from propulsion_ros.nodes.spin import run
from propulsion_ros.settings.errors import CommandError, ConfigError
from propulsion_ros.settings.flat import build, parameters_of
from propulsion_ros.settings.quantity import FloatArray, quantity, validate
from propulsion_ros.settings.yaml_file import ParameterFile
from propulsion_ros.timing.pace import Pace
from propulsion_ros.timing.stepping import period_from_rate

_UNKNOWN_SCALE = 0.01
"""Of arrows where no thrust has a limit [m/N]."""
_SHAFT = 0.04
"""Diameter of an arrow's shaft over `VisualizerNodeParams.arrow_length`."""
_LONGEST_PHASE = 60
_LEAST = 0.1
"""Wall time between two pictures, whatever the stamps say [s]."""
_SILENCE = 1.0
"""Wall time after which nobody knows what the actuators do [s]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class VisualizerNodeParams:
    """What a visualizer node is made from."""

    robot_description: str = quantity('', doc='URDF with plugin blocks', kind=str)
    base_link: str = quantity(
        '', doc="frame of the geometry; empty: the robot description's", kind=str
    )
    params_files: tuple[str, ...] = quantity(
        (), kind=str, shape=('*',),
        doc='parameter files of the actuator nodes, for limits that the description does not '
        'have; later ones win',
    )
    state_topics: tuple[str, ...] = quantity(
        doc='state of each plugin block, in their order; empty ones are not drawn', kind=str,
        shape=('*',),
    )
    tank_topics: tuple[str, ...] = quantity(
        (), doc="each tank, in the blocks' order; empty ones are not shown", kind=str,
        shape=('*',),
    )
    phase_topic: str = quantity('', doc='phase of the flight; empty for none', kind=str)
    rate: float = quantity(
        10.0, 'Hz', doc='most pictures per second of the stamps', lo=1e-3, hi=10.0
    )
    metres_per_newton: float = quantity(
        0.0, 'm/N', lo=0.0, hi=1e6,
        doc='length of an arrow over its thrust; 0: the largest thrust that any actuator can make '
        'is as long as arrow_length',
    )
    arrow_length: float = quantity(0.5, 'm', doc='see metres_per_newton', lo=1e-2, hi=1e3)
    frame: str = quantity(
        'base', kind=str, choices=('base', 'link'),
        doc='base: all in base_link; link: each in the link of its actuator, which '
        'robot_state_publisher must place',
    )
    text_position: FloatArray = quantity(
        (0.5, 0.0, 0.5), 'm', doc='where phase and propellant stand, in base_link', shape=(3,)
    )
    text_height: float = quantity(0.1, 'm', doc='of the letters', lo=1e-2, hi=1e3)

    def __post_init__(self) -> None:
        validate(self)


@dataclass(eq=False)
class _Heard:
    """The actuators of one block, and what was last heard of them.

    Attributes
    ----------
    block, layout, reader
        Which they are, and how their state is read.
    message : JointState or None
        The newest; None once it has been read.
    state : ThrustState or None
        The newest that was read.
    stamp_ns : int
        Of the state.
    is_silent : bool
        Whether nothing that can be read came since the last diagnosis.
    """

    block: DrawnBlock
    layout: ThrustLayout
    reader: ThrustStateReader
    message: JointState | None = None
    state: ThrustState | None = None
    stamp_ns: int = 0
    is_silent: bool = True


class VisualizerNode(PropulsionNode):
    """Draws what the actuators of a robot do: thrusts, limits, plumes, propellant, phase.

    Pictures are due by the stamps of the states; a wall clock only keeps them apart, and draws grey
    what has fallen silent. States are read only for a picture. It remembers nothing that it does
    not hear again, so it may be started anew at any time.

    ROS Parameters
    --------------
    Those of `VisualizerNodeParams`.

    Subscribers
    -----------
    state_topics : sensor_msgs/JointState
        Thrust as effort; angles of gimbals, fins and flaps as position.
    tank_topics : geometry_msgs/InertiaStamped
    phase_topic : std_msgs/String

    Publishers
    ----------
    ~/markers : visualization_msgs/MarkerArray
        While somebody subscribes, at most ``rate`` times per second of the stamps, and 10 times
        per second.
    """

    def __init__(self, name: str = 'visualizer', **kwargs: Any) -> None:
        super().__init__(name, **kwargs)

    def setup(self) -> None:
        """Read the description, find out what can be drawn, open the topics."""
        params = build(
            VisualizerNodeParams, self.declare_rest(parameters_of(VisualizerNodeParams))
        )
        if not params.robot_description:
            raise ConfigError('robot_description', 'is required: it says where the actuators are')
        files = [ParameterFile(path) for path in params.params_files]
        blocks = drawn_blocks(
            params.robot_description, params.base_link, lambda block: {
                key: value for file in files
                for key, value in file.of(block, self.get_namespace()).items()
            },
        )
        tanks = [(tank, capacity) for block in blocks for tank, capacity in block.tanks.items()]
        _check_count('state_topics', params.state_topics, [block.name for block in blocks])
        _check_count('tank_topics', params.tank_topics, [name for name, _ in tanks])
        self._params, self._base_link = params, blocks[0].base_link
        self._pace = Pace(period_from_rate(params.rate))
        self._phase = ''
        self._tanks: dict[str, Propellant] = {}
        self._heard: list[_Heard] = []
        self._next: float
        self._forget()
        self._output = MarkerOutput(
            self.create_lifecycle_publisher(MarkerArray, '~/markers', qos.PICTURE),
            _SHAFT * params.arrow_length,
        )
        self.entities.append(self._output.publisher)
        for block, topic in zip(blocks, params.state_topics, strict=True):
            self._follow(block, topic)
        for (tank, capacity), topic in zip(tanks, params.tank_topics, strict=True):
            on_tank = functools.partial(self._on_tank, topic, tank, capacity)
            self._subscribe(InertiaStamped, topic, on_tank, qos.LATCHED)
        self._subscribe(String, params.phase_topic, self._on_phase, qos.LATCHED)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.entities.append(self.create_timer(_SILENCE, self._on_silence, clock=steady))
        self._style = Style(scale=self._scale(), in_links=params.frame == 'link')

    def _follow(self, block: DrawnBlock, topic: str) -> None:
        if block.layout is None:
            self.get_logger().info(f'{block.name}: not drawn, its state says no thrusts')
            return
        heard = _Heard(block, block.layout, ThrustStateReader(block.layout))
        if topic:
            self._heard.append(heard)
            on_state = functools.partial(self._on_state, heard)
            self._subscribe(JointState, topic, on_state, qos.GLANCE)

    def _subscribe(self, kind: Any, topic: str, callback: Any, profile: Any) -> None:
        if topic:
            self.entities.append(self.create_subscription(kind, topic, callback, profile))

    def _scale(self) -> float:
        """Return the length of an arrow over its thrust [m/N]."""
        params = self._params
        if params.metres_per_newton:
            return float(params.metres_per_newton)
        largest = max((heard.layout.largest for heard in self._heard), default=0.0)
        if largest:
            return float(params.arrow_length / largest)
        self.get_logger().info(
            f'no thrust has a known limit: arrows of {_UNKNOWN_SCALE:g} m/N, or set '
            'metres_per_newton'
        )
        return _UNKNOWN_SCALE

    # Inputs.

    def _on_state(self, heard: _Heard, message: JointState) -> None:
        if not self.is_active:
            return
        source = heard.block.name
        stamp_ns = self.stamp_of(source, message.header.stamp)
        if stamp_ns is None:
            return
        if self._pace.hear(source, stamp_ns):
            # Simulated time began anew.
            self._forget_states()
        heard.message, heard.is_silent, self._has_news = message, False, True
        if self._pace.is_due(source) and monotonic() >= self._next and self._draw():
            self._pace.draw(source)
            self._next = monotonic() + _LEAST

    def _on_silence(self) -> None:
        """Draw what it was, once, where all have fallen silent."""
        has_news, self._has_news = self._has_news, False
        if has_news:
            self._is_grey = False
        elif self.is_active and not self._is_grey:
            self._is_grey = self._draw(is_silent=True)

    def _on_tank(self, topic: str, tank: str, capacity: float, message: InertiaStamped) -> None:
        mass = message.inertia.m
        if 0.0 <= mass <= 1e9:
            self._tanks[topic] = Propellant(tank, mass, capacity)
        else:
            self.complain('refused', f'{topic}: {mass} kg is no mass')

    def _on_phase(self, message: String) -> None:
        self._phase = message.data[:_LONGEST_PHASE]

    # Outputs.

    def started(self) -> None:
        """Begin without any earlier state."""
        self._forget()
        names = ', '.join(heard.block.name for heard in self._heard)
        self.get_logger().info(f'active, draws {names or "nothing"}')

    def stopping(self) -> None:
        """Take the picture away."""
        if self._output.is_watched:
            self._output.clear()

    def _forget(self) -> None:
        self._pace.restart()
        self._next = -math.inf
        self._has_news = self._is_grey = False
        self._forget_states()

    def _forget_states(self) -> None:
        for heard in self._heard:
            heard.message = heard.state = None

    def _draw(self, is_silent: bool = False) -> bool:
        """Publish a picture if somebody watches and there is a state; return whether."""
        now_ns = self._pace.newest_ns
        if now_ns is None or not self._output.is_watched:
            return False
        for heard in self._heard:
            self._read(heard)
        if all(heard.state is None for heard in self._heard):
            return False
        self._output.publish(self._picture(now_ns, is_silent))
        return True

    def _read(self, heard: _Heard) -> None:
        """Read the newest message of a block, unless that is done."""
        message, heard.message = heard.message, None
        if message is None:
            return
        try:
            state = heard.reader.read(message.name, message.position, message.effort)
        except CommandError as error:
            heard.is_silent = True
            self.complain('refused', f'{heard.block.name}: state refused: {error}')
            return
        heard.state, heard.stamp_ns = state, stamp_to_ns(message.header.stamp)

    def _picture(self, now_ns: int, is_silent: bool) -> Iterator[tuple[int, Shape]]:
        """Yield every shape with its stamp."""
        for heard in self._heard:
            if heard.state is not None:
                block, stamp_ns = heard.block, heard.stamp_ns
                is_stale = is_silent or self._pace.is_stale(stamp_ns)
                for shape in thrust_shapes(
                    block.name, block.base_link, heard.layout, heard.state, self._style, is_stale
                ):
                    yield stamp_ns, shape
        x, y, z = self._params.text_position.tolist()
        yield now_ns, status_shape(
            self._base_link, (x, y, z), self._params.text_height, self._phase,
            [self._tanks[topic] for topic in self._params.tank_topics if topic in self._tanks],
        )

    def health(self) -> Iterable[Health]:
        """Yield which blocks are silent, and what was refused."""
        silent = [heard.block.name for heard in self._heard if heard.is_silent]
        for heard in self._heard:
            heard.is_silent = True
        level, text = (WARN, f'no state of {", ".join(silent)}') if silent else (OK, 'ok')
        yield 'markers', level, text, {
            'watched': self._output.is_watched, 'refused': self.counts['refused'],
        }


def _check_count(key: str, topics: Sequence[str], names: Sequence[str]) -> None:
    if len(topics) != len(names):
        raise ConfigError(
            key, f'expected one for each of {", ".join(names) or "nothing"}, got {len(topics)}'
        )


def main(args: Sequence[str] | None = None) -> None:
    """Run one visualizer."""
    sys.exit(run(lambda options: [VisualizerNode()], args))


if __name__ == '__main__':
    main()
