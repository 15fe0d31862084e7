# SPDX-License-Identifier: Apache-2.0
"""Numbers by which `doubts` judges the rows of a block: actuators, tanks, batteries, surfaces."""
from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from propulsion_ros.graph.robot_layout import Group, RobotLayout
from propulsion_ros.models.body.rigid_body import LIQUID
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY, density
from propulsion_ros.models.common.facts import THRUST_AND_TORQUE
from propulsion_ros.models.common.family import Allocatable, BodyState, Command, Family
from propulsion_ros.models.common.start import Restartable
from propulsion_ros.models.common.thrust_curve import parse_curve
from propulsion_ros.models.steering.steered import without_joints
from propulsion_ros.settings.quantity import FloatArray

NO_LIMIT = 1e9
"""A larger number stands for no limit."""
SETTLING = 1e6
"""Time of a step that is longer than any lag [s]."""
_SPINNING = 1.0
"""Time of a step after which rotors draw their steady current [s]."""
LEAST = 1e-12
"""Least divisor, which keeps a quotient finite."""
FEW = 3
"""Number of actuators that suffices for a comparison with one more."""


@dataclass(frozen=True)
class Number:
    """One number of a robot."""

    key: str
    """Parameter that makes it, or XML path in the description; ' or ' between several."""
    value: float
    who: str = ''
    """Subject that has the number, in words."""
    of: float = 1.0
    """Reference by which it is divided."""
    index: int | None = None
    """Index of its element."""
    block: str = ''
    """Block to which it belongs, '' for the robot."""
    remedy: str = ''
    """Advice in place of that of its rule."""
    usual: float = math.nan
    """Number that others have in its place."""


class Rows:
    """Numbers of the rows of a configuration, (n,), as attributes: NaN for one it does not have.

    Parameters
    ----------
    **more : array_like
        Additional numbers.
    """

    def __init__(self, names: Sequence[str], params: Any, **more: ArrayLike) -> None:
        self.names, self._params = names, params
        self._more = {key: np.asarray(value, dtype=float) for key, value in more.items()}

    def __getattr__(self, key: str) -> FloatArray:
        """Return a number of each row."""
        values = np.asarray(self._more.get(key, getattr(self._params, key, np.nan)))
        fits = values.dtype.kind in 'fi' and values.shape in ((), (len(self.names),))
        return np.array(np.broadcast_to(values if fits else np.nan, len(self.names)), dtype=float)


Of = str | Callable[[Rows], ArrayLike]
"""An attribute of rows, or a function of them."""


def of_rows(
    rows_of: Callable[[RobotLayout, Group], Rows], keys: str, value: Of,
    of: Of = lambda rows: 1.0,
) -> Callable[[RobotLayout], Iterator[Number]]:
    """Return a function that yields a number of each row of each group.

    Parameters
    ----------
    rows_of : callable
        Returns the rows of a group.
    keys : str
        Parameters that make the number, with ' or ' between them.
    value, of : str or callable
        The numbers, and the references by which they are divided.
    """
    columns = [attrgetter(each) if isinstance(each, str) else each for each in (value, of)]

    def find(robot: RobotLayout) -> Iterator[Number]:
        for group in robot.groups:
            rows = rows_of(robot, group)
            with np.errstate(divide='ignore', invalid='ignore'):
                pair = np.broadcast_arrays(*(column(rows) for column in columns))
            for i, name in enumerate(rows.names):
                yield Number(keys, float(pair[0][i]), f'{name} ', float(pair[1][i]), i, group.name)

    return find


@functools.lru_cache(maxsize=8)
def actuators(robot: RobotLayout, group: Group) -> Rows:
    """Return the numbers of the actuators of a group."""
    params, layout = group.params, group.layout
    stored, burns, lasts = np.full((3, len(layout.names)), np.nan)
    drawn = np.array([bool(name) for name in getattr(params, 'battery', ())], dtype=float)
    rates, curves = _rates(group), getattr(params, 'thrust_curve', ())
    for i, _, tanks, served in stores_of(group, 'tank') if len(rates) else ():
        held = tanks.capacity[i] * tanks.starting_fuel_ratio[i]
        lasts[served] = held / max(rates[served].sum(), LEAST)
        for k in (k for k in served if curves and curves[k]):
            times, thrusts = parse_curve(curves[k])
            impulse = float((0.5 * (thrusts[1:] + thrusts[:-1]) * np.diff(times)).sum())
            burns[k] = impulse * float(rates[k] / params.max_thrust[k])
            stored[k], lasts[k] = held / len(served), times[-1]
    is_pulsed = getattr(params, 'modulation', '') == 'pulse_width'
    impulses = np.asarray(getattr(params, 'specific_impulse', 0.0))
    made = 0.5 * STANDARD_GRAVITY * impulses * np.nan_to_num(layout.highest)  # Of a jet [W].
    ends = group.family.thrust_limits if isinstance(group.family, Allocatable) else np.zeros(2)
    return Rows(
        layout.names, params, speed=group.speeds,
        rate=rates if len(rates) else np.nan, burns=burns, stored=stored, lasts=lasts,
        pulse=np.minimum(params.pulse_period, 1.0) if is_pulsed else 1.0,
        batteries=drawn if drawn.any() else np.nan, blades=_blades(robot, group),
        robot=robot.body.mass or np.nan, power=np.where(impulses > 545.0, made, np.nan),
        lowest=np.where(ends[1] < NO_LIMIT, ends[0], 0.0),
    )


def _blades(robot: RobotLayout, group: Group) -> FloatArray:
    """Return thrust over density, speed squared and the fourth power of the largest radius.

    NaN if the radius is given: `physical_numbers.spinning` judges that.
    """
    params, places, axes = group.params, group.layout.position, group.layout.axis
    ways = places[:, None] - places
    across = ways - (ways * axes).sum(axis=2, keepdims=True) * axes
    apart = np.linalg.norm(across, axis=2)
    # Coaxial rotors, one above the other, are no neighbours.
    spaces = np.where(apart > 0.1 * apart.max(initial=0.0), apart, np.inf)
    # In a small group rotors are seldom side by side.
    is_meant = len(places) > FEW and is_spun(group)
    spaces = np.full(len(places), np.median(spaces.min(axis=1)) / 2.0 if is_meant else np.nan)
    given = np.asarray(getattr(params, 'rotor_radius', 0.0))
    radii = np.where(given > 0.0, np.nan, spaces)
    fluid = fluid_of(robot)
    constants = np.asarray(getattr(params, 'motor_constant', np.nan))
    return np.asarray(constants / np.maximum(fluid * radii**4, LEAST))


def surfaces(robot: RobotLayout, group: Group) -> Rows:
    """Return the numbers of the lifting surfaces of a group."""
    params: Any = getattr(group.params, 'lifting_surface', None)
    return Rows(params.fin if params else (), params)


@functools.lru_cache(maxsize=8)
def tanks(robot: RobotLayout, group: Group) -> Rows:
    """Return the numbers of the tanks of a group."""
    stores, rates = list(stores_of(group, 'tank')), _rates(group)
    if not stores:
        return Rows((), None)
    params, dry = stores[0][2], robot.body.mass - robot.propellant
    kinds = getattr(params, 'propellant', ('',) * len(stores))
    return Rows(
        [f'tank {name!r}' for name in params.names], params,
        # A group without a fuel rate has tanks only for their weight.
        users=[len(served) if len(rates) else np.nan for *_, served in stores],
        held=params.capacity * params.starting_fuel_ratio,
        rate=[rates[served].sum() if len(rates) and served else np.nan for *_, served in stores],
        dry=dry if dry > 0.0 else np.nan,
        # A gas weighs less than its vessel; tanks of rockets hold up to 20 times the dry mass.
        most=[1.0 if kind == 'gas' else 25.0 for kind in kinds],
    )


@functools.lru_cache(maxsize=8)
def batteries(robot: RobotLayout, group: Group) -> Rows:
    """Return the numbers of the batteries of a group."""
    stores = list(stores_of(group, 'battery'))
    if not stores:
        return Rows((), None)
    params, made = stores[0][2], _at_most(group.family, _SPINNING)
    drawn = made.batteries if made is not None else None
    wanted = [np.nansum(group.layout.highest[k]) if k else np.nan for *_, k in stores]
    # Voltages may be left out.
    volts = {key: np.where(given > 0.0, given, np.nan) for key in (
        'nominal_voltage', 'cut_off_voltage') for given in [getattr(params, key)]}
    return Rows(
        [f'battery {name!r}' for name in params.names], params, **volts,
        users=[len(served) for *_, served in stores], wanted=wanted,
        full=[params.curve(i)[1][-1] for i, *_ in stores], robot=robot.body.mass or np.nan,
        current=np.maximum(drawn.current, LEAST) if drawn is not None else np.nan,
        made=[made.thrusts[served].sum() for *_, served in stores] if drawn is not None else np.nan,
    )


def _rates(group: Group) -> FloatArray:
    """Return the fuel rates at the largest thrusts [kg/s], (n,); an empty array without fuel."""
    params = group.params
    rates: FloatArray = getattr(params, 'max_fuel_rate', np.zeros(0))
    if hasattr(params, 'specific_impulse') and not len(rates):
        rates = params.max_thrust / (params.specific_impulse * STANDARD_GRAVITY)
    return rates


def stores_of(group: Group, kind: str) -> Iterator[tuple[int, str, Any, list[int]]]:
    """Yield each tank or battery of a group: index, name, its configuration, rows it serves."""
    stores = getattr(group.params, {'tank': 'tanks', 'battery': 'batteries'}[kind], None)
    for i, name in enumerate(stores.names if stores else ()):
        named = getattr(group.params, kind)
        yield i, name, stores, [k for k, each in enumerate(named) if each == name]


def largest_speeds(family: Family) -> FloatArray:
    """Return the speed of each actuator at its largest thrust [rad/s], (n,), NaN where unknown."""
    unknown = np.full(len(family.actuator_names), np.nan)
    if not isinstance(family, Restartable) or 'rotor_speed' not in family.start_states:
        return unknown
    output = _at_most(family)
    return unknown if output is None or output.velocity is None else np.abs(output.velocity)


def _at_most(family: Family, settling: float = SETTLING) -> Any:
    """Return the output of a family at its largest thrusts, None if they are unknown."""
    family = without_joints(family)
    if not isinstance(family, Allocatable) or not np.all(family.thrust_limits[1] < NO_LIMIT):
        return None
    wanted = family.command_for(family.thrust_limits[1])
    output = family.step(Command(**{family.command_fields[0]: wanted}), BodyState(), settling, 0)
    family.reset()
    return output


def fluid_of(robot: RobotLayout) -> float:
    """Return the density of the fluid around the robot [kg/m^3]; above floating hulls it is air."""
    fluid = 0.0 if robot.params.hulls.names else robot.params.fluid_density
    return fluid or float(density(robot.params.site_altitude))


def is_spun(group: Group) -> bool:
    """Whether its actuators are rotors or propellers."""
    return group.family.facts.force == THRUST_AND_TORQUE


def is_in_liquid(group: Group) -> bool:
    """Whether its actuators are given the density of a liquid."""
    return bool(np.any(getattr(group.params, 'fluid_density', 0.0) > LIQUID))


def is_in_air(group: Group) -> bool:
    """Whether its actuators are rotors in air."""
    return is_spun(group) and not is_in_liquid(group)
