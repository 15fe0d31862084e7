# SPDX-License-Identifier: Apache-2.0
"""Settings of the visualizer, as its node and the checks of files take them."""
from __future__ import annotations

from dataclasses import dataclass

from propulsion_ros.settings.quantity import FloatArray, quantity, validate


@dataclass(frozen=True, kw_only=True, eq=False)
class VisualizerParams:
    """What a visualizer is made from."""

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
