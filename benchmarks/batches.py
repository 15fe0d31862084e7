# SPDX-License-Identifier: Apache-2.0
"""How many environments advance a second, for each family and for a whole vehicle."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import propulsion_ros
from benchmarks import cases
from benchmarks.node_peer import FAMILIES, Work
from benchmarks.rows import Row
from benchmarks.timing import cpu_medians
from propulsion_ros.graph.node_config import build_family
from propulsion_ros.models.common.family import BodyState, Command

SIZES = (1, 64, 4096, 65536)
UNIT = 'M/s'
_DT = 0.004
_BLOCKS = {1: 31, 64: 31, 4096: 15, 65536: 5}
_HOPPER = ('examples/hopper/hopper.urdf', 'examples/hopper/hopper.yaml')
_ROOT = Path(__file__).parents[1]


def measure() -> Iterator[Row]:
    """Yield the rows."""
    yield from cases.missing('isaaclab', 'rotorpy')
    for family in FAMILIES:
        for size in SIZES:
            peers = _isaac_lab(size) if family == 'rotors' else {}
            yield from _rows(family, size, _family_step(family, size), peers)
    for size in SIZES:
        yield from _rows('hopper, whole vehicle', size, _hopper_step(size), {})
    yield from _multirotors()


def _rows(
    work: str, size: int, ours: Callable[[], object], peers: dict[str, Callable[[], object]]
) -> Iterator[Row]:
    """Yield the rate of a step of many environments, beside each original in turns."""
    label, blocks = f'{work}: {size}', _BLOCKS[size]
    for name, theirs in peers.items():
        times = cpu_medians({'ours': ours, 'theirs': theirs}, blocks)
        yield Row(
            label, 1e-6 * size / times['ours'], UNIT, name, 1e-6 * size / times['theirs']
        )
    if not peers:
        seconds = cpu_medians({'ours': ours}, blocks)['ours']
        yield Row(label, 1e-6 * size / seconds, UNIT)


def _family_step(name: str, size: int) -> Callable[[], object]:
    """Return a step of a family with the actuators that its node has in its measurement."""
    work = Work(name)
    family, _ = build_family(name, work.parameters(), None, (size,))
    command = _as_command(family, work)
    body = BodyState(velocity=np.tile([20.0, -1.0, 0.5], (size, 1)))
    tick = 0

    def step() -> object:
        nonlocal tick
        tick += 1
        return family.step(command(size), body, _DT, tick)

    return step


def _as_command(family: Any, work: Work) -> Callable[[int], Command]:
    """Return the command of a node's measurement for many environments."""
    message = work.command()
    if hasattr(message, 'wrench'):
        force = message.wrench.force.x
        values = {'effort': np.array([force, 0.0, 0.0, 0.0, 0.0, 0.0])}
    else:
        given = {
            field: np.array(getattr(message, field))
            for field in ('position', 'velocity', 'effort')
        }
        values = {field: row for field, row in given.items() if row.size}
    kept: dict[int, Command] = {}

    def command(size: int) -> Command:
        if size not in kept:
            kept[size] = Command(**{key: np.tile(row, (size, 1)) for key, row in values.items()})
        return kept[size]

    return command


def _isaac_lab(size: int) -> dict[str, Callable[[], object]]:
    """Return Isaac Lab's arithmetic of eight rotors in torch, float32."""
    torch = cases.torch_of_one_thread()
    if torch is None:
        return {}
    shape = (size, 8)
    constants = [torch.full(shape, value) for value in (1e-5, 0.05, 0.05)]
    thruster = cases.optional('isaaclab').Thruster(*constants, (0.0, 10.0), 1e5, _DT, 'rk4')
    command = torch.full(shape, 0.5)
    return {'torch float32 rk4, thrust alone': lambda: thruster.compute(command)}


def _hopper_step(size: int) -> Callable[[], object]:
    """Return a step of the hopper of the examples: engine, gimbal, tank and body."""
    vehicles = propulsion_ros.load_vehicles(*(_ROOT / path for path in _HOPPER), size)
    vehicles.reset(state={'position': [0.0, 0.0, 1e4]})
    nan = np.nan
    command = {'boosters': Command(
        effort=np.tile([700.0, nan, nan], (size, 1)),
        position=np.tile([nan, 0.01, -0.01], (size, 1)),
    )}
    return lambda: vehicles.step(command, _DT)


def _multirotors() -> Iterator[Row]:
    """Yield the rates of whole multirotors beside RotorPy's."""
    torch, peer = cases.torch_of_one_thread(), cases.optional('rotorpy')
    if torch is not None and peer is not None:
        print(f'multirotor: apart by {peer.difference(_DT):.1e} of the way after 50 steps')
    for size in SIZES:
        if torch is None or peer is None:
            yield from _rows('quadrotor, whole vehicle', size, _quadrotor_step(size), {})
            continue
        yield from _rows(
            'quadrotor, whole vehicle', size, peer.ours_step(peer.ours(size), _DT), {
                f'RotorPy {kind}': peer.their_step(peer.theirs(size, kind), _DT)
                for kind in ('rk4', 'dopri5')
            },
        )


def _quadrotor_step(size: int) -> Callable[[], object]:
    vehicles = propulsion_ros.load_vehicles(
        _ROOT / 'urdf/quadrotor.urdf.xacro', _ROOT / 'config/quadrotor.yaml', size
    )
    command = {'rotors': Command(effort=np.full((size, 4), 3.7))}
    return lambda: vehicles.step(command, _DT)
