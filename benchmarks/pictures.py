# SPDX-License-Identifier: Apache-2.0
"""Draw the step responses of docs/models.md: ``python -m benchmarks.pictures [FOLDER]``."""
from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.body.rigid_body import BodyParams, RigidBody
from propulsion_ros.models.boosters.boosters import Boosters, BoostersParams
from propulsion_ros.models.boosters.params import GimbalsParams, gimbals_of
from propulsion_ros.models.common.allocation import Allocator, allocation_matrix
from propulsion_ros.models.common.atmosphere import density, speed_of_sound
from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.fins.fins import Fins, FinsParams
from propulsion_ros.models.fins.lift_drag import QuadraticParams, TwoLinesParams
from propulsion_ros.models.fins.lifting_surface import LiftingSurface, LiftingSurfaceParams
from propulsion_ros.models.jets.jets import Jets, JetsParams
from propulsion_ros.models.jets.supply import SupplyParams
from propulsion_ros.models.rotors.rotors import Rotors, RotorsParams
from propulsion_ros.models.supply.batteries import BatteriesParams
from propulsion_ros.models.supply.tanks import Tanks, TanksParams
from propulsion_ros.models.thrusters.thrusters import Thrusters, ThrustersParams

mpl.use('Agg')
from matplotlib import pyplot as plt

_DT = 0.002
_STILL = BodyState()
_SHORT = 28  # letters from which on a name in a legend has a line of its own


def boosters(axes: Any) -> None:
    """Draw a throttled booster that is cut and relit, a solid motor, a tank and a gimbal."""
    model: Any = Boosters(BoostersParams(
        names=['throttled', 'solid'], max_thrust=[100.0, 80.0], min_thrust=30.0,
        max_fuel_rate=[0.5, 0.4], time_constant=0.08, tank=['main', ''],
        thrust_curve=['', '0 0 0.1 80 0.4 60 1.2 55 1.5 0'],
        tanks=TanksParams(names=['main'], capacity=0.55),
        gimbals=GimbalsParams(booster=['throttled'], time_constant=0.08, rate_limit=0.5),
    ))
    times, demands, outputs = _times(2.4), [], []
    for tick, time in enumerate(times):
        asked = 0.0 if time < 0.2 or 1.0 < time < 1.2 else (100.0 if time < 0.7 else 10.0)
        asked = 100.0 if time >= 1.2 else asked
        tilt = 0.08 if 0.2 < time < 1.2 else 0.0
        demands.append((asked, tilt))
        outputs.append(model.step(Command(
            effort=np.array([asked, float(time > 0.4), np.nan, np.nan]),
            position=np.array([np.nan, np.nan, tilt, 0.0]),
        ), _STILL, _DT, tick))
    thrust = np.array([output.applied for output in outputs])
    axes[0].plot(times, [asked for asked, _ in demands], 'k:', label='demand')
    axes[0].plot(times, thrust[:, 0], label='throttled')
    axes[0].plot(times, thrust[:, 1], label='solid, lit at 0.4 s')
    axes[0].set_ylabel('thrust [N]')
    axes[1].plot(times, [tilt for _, tilt in demands], 'k:', label='gimbal demand')
    axes[1].plot(times, [output.position[2] for output in outputs], label='gimbal angle')
    axes[1].set_ylabel('gimbal [rad]')
    # What has another unit has an axis of its own.
    share = axes[1].twinx()
    share.plot(times, [output.position[-1] for output in outputs], 'C2')
    share.set_ylabel('propellant, of capacity')
    axes[1].plot([], [], 'C2', label='propellant (right)')


def rotors(axes: Any) -> None:
    """Draw the lag of rotor speed and of thrust, and both slew limits."""
    kinds: dict[str, dict[str, Any]] = {
        'lag of the rotor speed': {}, 'lag_on thrust': {'lag_on': 'thrust'},
        'max_rotor_acceleration 5000 rad/s²': {'max_rotor_acceleration': 5000.0},
        'max_thrust_rate 40 N/s': {'max_thrust_rate': 40.0},
    }
    times = _times(0.47) - 10 * _DT
    asked = np.where(np.arange(times.size) < 10, 1.0, 8.0)
    axes[0].step([times[0], 0.0, times[-1]], [1.0, 8.0, 8.0], 'k:', where='post', label='demand')
    for label, settings in kinds.items():
        model: Any = Rotors(RotorsParams(
            names=['r'], max_thrust=10.0, motor_constant=1.4e-5, time_constant_up=0.06,
            time_constant_down=0.03, initial_rotor_speed=np.sqrt(1.0 / 1.4e-5), **settings,
        ))
        outputs = [
            model.step(Command(effort=np.array([effort])), _STILL, _DT, 0) for effort in asked
        ]
        axes[0].plot(times, [output.applied[0] for output in outputs], label=label)
        axes[1].plot(times, [output.velocity[0] for output in outputs], label=label)
    for axis, label in zip(axes, ('thrust [N]', 'rotor speed [rad/s]'), strict=True):
        axis.set_ylabel(label)
        axis.set_xlabel('time after the step [s]')
        axis.set_xlim(times[0], times[-1])


def thrusters(axes: Any) -> None:
    """Draw the four rotor models, and the four curves of thrust."""
    model: Any = Thrusters(ThrustersParams(
        names=['zero order', 'first order', 'yoerger', 'bessa'],
        dynamics=['zero_order', 'first_order', 'yoerger', 'bessa'], time_constant=0.1,
        alpha=0.1, beta=1000.0, rotor_inertia=0.47, linear_damping=0.29, quadratic_damping=0.011,
        torque_constant=0.353, winding_resistance=0.3, rotor_constant=3e-4,
    ))
    times = _times(2.0)
    speeds = []
    for time in times:
        on = 0.1 < time < 1.0
        asked = np.array([100.0, 100.0, 1.0, 100.0]) if on else np.zeros(4)
        speeds.append(model.step(Command(velocity=asked), _STILL, _DT, 0).velocity)
    for column, label in zip(np.array(speeds).T, model.state_names, strict=True):
        axes[0].plot(times, column, label=label)
    axes[0].set_ylabel('rotor speed [rad/s]')
    curves = Thrusters(ThrustersParams(
        names=['basic', 'dead zone', 'table', 'propeller at 1 m/s'],
        conversion=['basic', 'dead_zone', 'linear_interp', 'propeller'], rotor_constant=3e-4,
        rotor_constant_left=2e-4, rotor_constant_right=4e-4, delta_left=-3000.0,
        delta_right=3000.0, input_values='-200 -100 0 100 200', output_values='-8 -2 0 3 11',
        thrust_coefficient=0.003, propeller_diameter=0.1, advance_coefficient=-0.02,
    ))
    body = BodyState(velocity=np.array([1.0, 0.0, 0.0]))
    inputs = np.linspace(-200.0, 200.0, 201)
    forces = [
        curves.step(Command(velocity=np.full(4, speed)), body, _DT, 0).applied for speed in inputs
    ]
    for column, label in zip(np.array(forces).T, curves.state_names, strict=True):
        axes[1].plot(inputs, column, label=label)
    axes[1].set_ylabel('thrust [N]')
    axes[1].set_xlabel('rotor speed [rad/s]')


def fins(axes: Any) -> None:
    """Draw the lift of the three models as the deflection follows its steps."""
    models: Any = Fins(FinsParams(
        names=['quadratic', 'two lines', 'lifting surface'], time_constant=0.05,
        min_deflection=-0.6, max_deflection=0.6, span=[0.0, 0.0, 1.0],
        quadratic=QuadraticParams(fin=['quadratic'], lift_constant=19.0, drag_constant=10.0),
        two_lines=TwoLinesParams(
            fin=['two lines'], area=0.01, stall_angle=0.35, lift_slope=4.0,
            stalled_lift_slope=-1.5, drag_slope=0.8, stalled_drag_slope=0.9,
        ),
        lifting_surface=LiftingSurfaceParams(
            fin=['lifting surface'], chord_length=0.1, span_length=0.1, fluid_density=1028.0,
        ),
    ))
    body, times = BodyState(velocity=np.array([3.0, 0.0, 0.0])), _times(1.2)
    steps = np.select([times < 0.1, times < 0.5, times < 0.9], [0.0, 0.25, 0.5], -0.25)
    outputs = [
        models.step(Command(position=np.full(3, angle)), body, _DT, 0) for angle in steps
    ]
    axes[0].plot(times, steps, 'k:', label='demand')
    axes[0].plot(times, [output.position[0] for output in outputs], label='deflection')
    axes[0].set_ylabel('angle [rad]')
    for i, name in enumerate(models.state_names):
        axes[1].plot(times, [output.effort[i] for output in outputs], label=name)
    axes[1].set_ylabel('force along the normal [N]')


def stall(axes: Any) -> None:
    """Draw the force on a flapped surface, and the power that it takes from the fluid."""
    deflection = np.radians(80.0)
    alpha = np.radians(np.linspace(-180.0, 180.0, 721))
    flow = 20.0 * np.exp(-1j * alpha)
    for label, compat, width in (('original', 'pyflyt', 2.5), ('here', 'none', 1.2)):
        force, _ = LiftingSurface(LiftingSurfaceParams(
            fin=['flap'], chord_length=0.1, span_length=1.0, max_stall_angle=1.2,
            min_stall_angle=-1.2,
        ), compat).coefficients(flow[:, None], np.full((alpha.size, 1), deflection)).loads(
            flow[:, None]
        )
        coefficient = np.abs(force[:, 0]) / (0.5 * 1.225 * 0.1 * 20.0**2)
        power = (force[:, 0] * flow.conj()).real
        axes[0].plot(np.degrees(alpha), coefficient, label=label, linewidth=width)
        axes[1].plot(np.degrees(alpha), power / 1e3, label=label, linewidth=width)
    for axis, name in zip(axes, ('force coefficient', 'power into the body [kW]'), strict=True):
        axis.set_xlabel('angle of attack [degrees], flap at 80')
        axis.set_ylabel(name)
        axis.set_yscale('symlog', linthresh=1.0)


def allocation(axes: Any) -> None:
    """Draw what a vehicle with one weak thruster gets of a surge, with a constant yaw."""
    corners = np.array([[1.0, 1.0, 0.0], [1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [-1.0, -1.0, 0.0]])
    along = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [1.0, -1.0, 0.0]])
    matrix = allocation_matrix(0.5 * corners, along / np.sqrt(2.0))
    surges = np.linspace(0.0, 60.0, 121)
    demand = np.zeros((surges.size, 6))
    limits = np.array([12.0, 12.0, 12.0, 5.0])
    demand[:, 0], demand[:, 5] = surges, 8.0
    for axis, component, label in ((axes[0], 0, 'surge [N]'), (axes[1], 5, 'yaw [N m]')):
        axis.plot(surges, demand[:, component], 'k:', label='demand')
        for method in ('bounded', 'scaled', 'clipped'):
            got = Allocator(matrix, -limits, limits, method).allocate(demand).wrench
            axis.plot(surges, got[:, component], label=method)
        axis.set_ylabel(label)
        axis.set_xlabel('demanded surge [N]')


def battery(axes: Any) -> None:
    """Draw the discharge of a battery by four rotors, at a thrust each and at a throttle."""
    dt, curve = 0.2, '0 10.5 0.05 13.2 0.15 14.2 0.8 15.6 1 16.8'
    for label, settings, value in (
        ('thrust of 4 N', {}, 4.0),
        ('thrust of 3 N, 12 N for 5 s each minute', {}, 12.0),
        ('throttle 0.5', {'command_interface': 'throttle'}, 0.5),
    ):
        model: Any = Rotors(RotorsParams(
            names=['a', 'b', 'c', 'd'], max_thrust=12.0, motor_constant=1.2e-5,
            moment_constant=0.016, drive_efficiency=0.75, battery='main', time_constant_up=0.05,
            time_constant_down=0.05, batteries=BatteriesParams(
                names=['main'], capacity=3.0, open_circuit_voltage=curve,
                internal_resistance=0.03, cut_off_voltage=13.0,
            ), **settings,
        ))
        times, outputs = np.arange(0.0, 960.0, dt), []
        for time in times:
            wanted = 3.0 if value == 12.0 and time % 60.0 < 55.0 else value
            field = model.command_fields[0]
            outputs.append(model.step(Command(**{field: np.full(4, wanted)}), _STILL, dt, 0))
        minutes = times / 60.0
        axes[0].plot(minutes, [output.batteries.voltage[0] for output in outputs], label=label)
        axes[1].plot(minutes, [output.applied[0] for output in outputs], label=label)
    axes[0].axhline(13.0, color='k', linestyle=':', label='cut-off')
    for axis, name in zip(axes, ('voltage [V]', 'thrust of each rotor [N]'), strict=True):
        axis.set_xlabel('time [min]')
        axis.set_ylabel(name)


def step_value(axes: Any) -> None:
    """Draw the thrust of a rising rotor by the mean and the end of its steps, and the impulse."""
    def thrusts(value: str, steps: int) -> np.ndarray:
        model: Any = Rotors(RotorsParams(
            names=['r'], max_thrust=10.0, motor_constant=1.4e-5, time_constant_up=0.06,
            step_value=value,
        ))
        command = Command(effort=np.array([10.0]))
        return np.array([
            model.step(command, _STILL, 0.3 / steps, 0).applied[0] for _ in range(steps)
        ])

    times = np.linspace(0.0, 0.3, 301)
    axes[0].plot(times, 10.0 * np.expm1(-times / 0.06) ** 2, 'k:', label='thrust')
    rates = np.array([10, 20, 30, 50, 100, 200, 400])
    exact = thrusts('mean', 1)[0]
    for value in ('end', 'mean'):
        axes[0].stairs(thrusts(value, 6), np.linspace(0.0, 0.3, 7), label=value)
        means = np.array([thrusts(value, round(0.3 * rate)).mean() for rate in rates])
        axes[1].plot(rates, 100.0 * (means / exact - 1.0), '.-', label=value)
    axes[0].set_ylabel('thrust [N]')
    axes[1].set_xscale('log')
    axes[1].set_xlabel('steps per second')
    axes[1].set_ylabel('impulse too large by [%]')


def rotor_start(axes: Any) -> None:
    """Draw how a rotor with a smallest thrust starts, in Isaac Lab's scheme and here."""
    times = _times(0.4)
    asked = np.where(times < 0.2, 0.0, 4.0)
    for label, settings, width in (
        ('original', {'integrator': 'isaaclab_euler'}, 2.5), ('here', {}, 1.2),
    ):
        model: Any = Rotors(RotorsParams(
            names=['r'], max_thrust=10.0, min_thrust=1.0, motor_constant=1.4e-5,
            time_constant_up=0.1, **settings,
        ))
        outputs = [
            model.step(Command(effort=np.array([effort])), _STILL, _DT, 0) for effort in asked
        ]
        axes[0].plot(times, [output.applied[0] for output in outputs], label=label, lw=width)
        axes[1].plot(times, [output.velocity[0] for output in outputs], label=label, lw=width)
    axes[0].set_ylabel('thrust [N]')
    axes[1].set_ylabel('rotor speed [rad/s]')


def jets(axes: Any) -> None:
    """Draw a demand as pulses of two kinds, and tanks that two jets drain."""
    times = _times(1.2)
    asked = np.where(times < 0.6, 1.2 * times, 0.72 - 0.9 * (times - 0.6))
    axes[0].plot(times, asked, 'k:', label='demand')
    for i, modulation in enumerate(('pulse_width', 'pulse_frequency')):
        model: Any = Jets(JetsParams(
            names=['j'], max_thrust=1.0, modulation=modulation, open_delay=0.004, close_delay=0.006,
            min_on_time=0.012,
        ))
        thrust = [model.step(
            Command(effort=np.array([demand])), _STILL, _DT, 0
        ).applied[0] for demand in asked]
        axes[0].plot(times, np.array(thrust) - 1.2 * (i + 1), label=modulation, lw=1.0)
    axes[0].set_ylabel('thrust [N], one below the other')
    axes[0].set_yticks([0.0, 1.0, -1.2, -0.2, -2.4, -1.4], ['0', '1'] * 3)
    kinds: dict[str, dict[str, Any]] = {
        'gas, isothermal': {'propellant': 'gas'},
        'gas, no heat gets in': {'propellant': 'gas', 'polytropic_exponent': 1.4},
        'gas, regulated': {'propellant': 'gas', 'regulated_pressure': 4e5},
        'liquid, blow-down': {'propellant': 'liquid'},
    }
    for label, given in kinds.items():
        model = Jets(JetsParams(
            names=['j'], max_thrust=1.0, specific_impulse=100.0, tank='t',
            tanks=SupplyParams(names=['t'], capacity=0.02, min_pressure=5e4, **given),
        ))
        outputs = [model.step(
            Command(effort=np.ones(1)), _STILL, 0.1, 0
        ) for _ in range(400)]
        axes[1].plot(
            np.arange(400) * 0.1, [output.applied[0] for output in outputs], label=label
        )
    axes[1].set_ylabel('thrust [N], valve open')


def rotor_air(axes: Any) -> None:
    """Draw what a stream from the front and the ground do to a hovering quadrotor."""
    settings: dict[str, Any] = {
        'names': ['a', 'b', 'c', 'd'], 'max_thrust': 10.0, 'motor_constant': 5.57e-6,
        'position': [[0.12, 0.12, 0], [0.12, -0.12, 0], [-0.12, -0.12, 0], [-0.12, 0.12, 0]],
        'rotor_drag_coefficient': 1.19e-4, 'flapping_moment_coefficient': -3e-5,
        'inflow_coefficient': 2.32e-4, 'translational_lift_coefficient': 3.39e-3,
        'rotor_radius': 0.1,
    }
    model: Any = Rotors(RotorsParams(**settings))
    speeds, hover = np.linspace(0.0, 12.0, 60), Command(effort=np.full(4, 1.23))

    def wrench(**body: Any) -> np.ndarray:
        return np.asarray(model.step(hover, BodyState(**body), _DT, 0).wrench)

    still = wrench()[2]
    forward = np.array([wrench(velocity=[v, 0.0, 0.0]) for v in speeds])
    climb = np.array([wrench(velocity=[0.0, 0.0, v])[2] for v in speeds])
    axes[0].plot(speeds, -forward[:, 0], label='drag, flying forward')
    axes[0].plot(speeds, forward[:, 2] - still, label='thrust gained, flying forward')
    axes[0].plot(speeds, climb - still, label='thrust gained, climbing')
    axes[0].plot(speeds, -10.0 * forward[:, 4], label='nose-up moment, flying forward')
    axes[0].set_ylabel('force [N], moment [0.1 N m]')
    axes[0].set_xlabel('speed through the air [m/s]')
    heights = np.linspace(0.02, 0.6, 80)
    up = np.array([0.0, 0.0, 1.0])
    gain = [wrench(height=np.array(z), up=up)[2] / still for z in heights]
    axes[1].plot(heights, gain, label='rotors with a radius of 0.1 m')
    axes[1].set_ylabel('thrust over that far up')
    axes[1].set_xlabel('height of the rotors [m]')


def nozzle_and_grains(axes: Any) -> None:
    """Draw thrust over the height for nozzles, and the inertia of grains as they burn."""
    heights = np.linspace(0.0, 30e3, 120)
    for area in (0.0, 0.005, 0.01):
        model: Any = Boosters(BoostersParams(
            names=['b'], max_thrust=5000.0, max_fuel_rate=2.0, exit_area=area,
        ))
        thrust = [
            model.step(Command(effort=[5000.0]), BodyState(height=np.array(z)), _DT, 0).applied[0]
            for z in heights
        ]
        axes[0].plot(heights / 1000.0, thrust, label=f'exit area {area:g} m²')
    axes[0].set_ylabel('thrust [N]')
    axes[0].set_xlabel('height [km]')
    tanks: Any = Tanks(TanksParams(
        names=['grains'], capacity=3.0, grain_outer_radius=0.033, grain_inner_radius=0.015,
        grain_length=0.12, grain_count=5, grain_separation=0.005,
    ))
    ratios = np.linspace(0.0, 1.0, 100)
    moments = []
    for ratio in ratios:
        tanks.reset(ratio=np.array([ratio]))
        moments.append(np.diag(tanks.state().inertia[0]))
    whole = np.array(moments)
    axes[1].plot(ratios, whole[:, 0] / whole[-1, 0], label='across the axis')
    axes[1].plot(ratios, whole[:, 2] / whole[-1, 2], label='along it')
    axes[1].plot(ratios, ratios, 'k:', label='in proportion to the mass')
    axes[1].set_xlabel('propellant over that at the start')
    axes[1].set_ylabel('inertia over that at the start')


def four_quadrant(axes: Any) -> None:
    """Draw what a propeller does in a stream at any advance angle, and near the surface."""
    diameter = 0.1
    settings: dict[str, Any] = {
        'names': ['p'], 'conversion': 'four_quadrant', 'propeller_diameter': diameter,
        'wake_fraction': 0.0,
    }
    model: Any = Thrusters(ThrustersParams(**settings, surface_loss=True))
    angles, found = np.linspace(-np.pi, np.pi, 361), []
    for angle in angles:
        body = BodyState(velocity=[np.sin(angle), 0.0, 0.0])
        speed = np.cos(angle) / (0.35 * diameter)
        wrench = model.step(Command(velocity=[speed]), body, _DT, 0).wrench
        found.append((wrench[0], -10.0 * wrench[3] / diameter))
    pressure = 0.5 * 1000.0 * np.pi / 4.0 * diameter**2
    names = 'thrust coefficient', 'torque coefficient times 10'
    for values, label in zip(np.array(found).T / pressure, names, strict=True):
        axes[0].plot(np.degrees(angles), values, label=label)
    axes[0].axvline(90.0, color='k', linestyle=':', label='stopped, dragged either way')
    axes[0].axvline(-90.0, color='k', linestyle=':')
    axes[0].set_xticks(range(-180, 181, 90))
    axes[0].set_xlabel('advance angle [degrees], 0: ahead at rest in the water')
    axes[0].set_ylabel('coefficient')
    heights = np.linspace(-0.1, 0.05, 100)
    turns, up = Command(velocity=[150.0]), np.array([0.0, 0.0, 1.0])
    thrust = [
        model.step(turns, BodyState(height=np.array(z), up=up), _DT, 0).applied[0] for z in heights
    ]
    left = np.array(thrust) / thrust[0]
    axes[1].plot(-2.0 * heights / diameter, left, label='propeller near the surface')
    axes[1].set_ylabel('thrust over that of deep water')
    axes[1].set_xlabel('depth of the hub over the radius')


def servo(axes: Any) -> None:
    """Draw servos with and without limits after a step, and play."""
    second = {'natural_frequency': 50.0, 'damping_ratio': 0.6}
    kinds: dict[str, dict[str, float]] = {
        'first order': {'time_constant': 0.03}, 'second order': second,
        'rate_limit 2': {**second, 'rate_limit': 2.0},
        'acceleration_limit 100 too': {
            **second, 'rate_limit': 2.0, 'acceleration_limit': 100.0
        },
    }
    times = np.arange(0.0, 0.5, 0.005)
    steps = np.where((times > 0.02) & (times < 0.25), 0.2, 0.0)

    def angles(demand: np.ndarray, **values: float) -> list[float]:
        model, found = gimbals_of(GimbalsParams(booster=['b'], range=0.5, **values)), []
        for angle in demand:
            model.step(np.array([[angle, 0.0]]), 0.005)
            found.append(float(model.angles[0, 0]))
        return found

    axes[0].plot(times, steps, 'k:', label='demand')
    for label, values in kinds.items():
        axes[0].plot(times, angles(steps, **values), label=label)
    axes[0].set_ylabel('angle [rad]')
    demand = 0.2 * np.sin(np.arange(0.0, 4.5 * np.pi, 0.02))
    for backlash in (0.0, 0.04):
        joint = angles(demand, backlash=backlash)
        axes[1].plot(demand, joint, label=f'backlash {backlash:g} rad')
    axes[1].set_xlabel('demanded angle [rad]')
    axes[1].locator_params(axis='x', nbins=5)
    axes[1].set_ylabel('angle [rad]')


def body_air(axes: Any) -> None:
    """Draw the drag of a rocket over its speed on three days, and the density over the height."""
    table = '0 0.4 0.7 0.4 0.8 0.42 0.92 0.5 1.05 0.75 1.4 0.65 2 0.52'
    speeds, heights = np.linspace(5.0, 550.0, 110), np.linspace(0.0, 20e3, 100)
    shell = MassProperties(20.0, np.zeros(3), np.eye(3))

    def drag(speed: float, **values: Any) -> float:
        body = RigidBody(BodyParams(
            gravity=0.0, ground=False, start_velocity=[0.0, 0.0, speed], drag_area=0.0127, **values,
        ))
        body.step(np.zeros(6), shell, shell, 1e-4)
        return float(speed - body.velocity[2]) * shell.mass / 1e-4

    for warmer in (-30.0, 0.0, 30.0):
        values = {'drag_over_mach': table, 'temperature_offset': warmer}
        label = f'temperature_offset {warmer:g} K'
        axes[0].plot(speeds, [drag(v, **values) for v in speeds], label=label)
        axes[1].plot(heights / 1e3, density(heights, warmer) / density(heights), label=label)
    constant = [0.4 * drag(v) for v in speeds]
    axes[0].plot(speeds, constant, 'k:', label='coefficient of 0.4 at any speed')
    axes[0].axvline(float(speed_of_sound(0.0)), color='k', lw=0.5)
    axes[0].set_xlabel('speed at sea level [m/s]')
    axes[0].set_ylabel('drag [N]')
    axes[1].set_xlabel('height [km]')
    axes[1].set_ylabel('density over the standard')


def body_rail(axes: Any) -> None:
    """Draw how a rocket turns into the wind behind three rails, and bodies in a current."""
    rocket = MassProperties(5.0, np.zeros(3), np.diag([2.0, 2.0, 0.02]))
    push, times = np.array([0.0, 0.0, 200.0, 0.0, 0.0, 0.0]), np.arange(0.0, 1.5, 0.005)
    for length in (0.0, 1.5, 5.0):
        body = RigidBody(BodyParams(
            drag_area=[0.1, 0.1, 0.01], centre_of_pressure=[0.0, 0.0, -0.3], angular_drag=0.1,
            current=[6.0, 0.0, 0.0], rail_length=length,
        ))
        tilts = []
        for _ in times:
            tilts.append(np.degrees(np.arcsin(body.motion.rotation[0, 2])))
            body.step(push, rocket, rocket, 0.005)
        axes[0].plot(times, tilts, label=f'rail_length {length:g} m')
    axes[0].set_ylabel('tilt along a wind of 6 m/s [degrees]')
    vehicle, times = MassProperties(24.0, np.zeros(3), np.eye(3)), np.arange(0.0, 30.0, 0.1)
    for area in (0.02, 0.1):
        body = RigidBody(BodyParams(
            gravity=0.0, ground=False, fluid_density=1028.0, drag_area=area,
            current=[0.5, 0.0, 0.0],
        ))
        speeds = []
        for _ in times:
            speeds.append(body.velocity[0])
            body.step(np.zeros(6), vehicle, vehicle, 0.1)
        axes[1].plot(times, speeds, label=f'drag_area {area:g} m²')
    axes[1].axhline(0.5, color='k', linestyle=':', label='current')
    axes[1].set_ylabel('speed of 24 kg in water [m/s]')


PICTURES: dict[str, Callable[[Any], None]] = {
    'boosters': boosters, 'rotors': rotors, 'thrusters': thrusters, 'fins': fins,
    'allocation': allocation, 'rotor_start': rotor_start, 'stall': stall,
    'step_value': step_value, 'jets': jets, 'battery': battery,
    'rotor_air': rotor_air, 'nozzle_and_grains': nozzle_and_grains, 'body_air': body_air,
    'body_rail': body_rail, 'four_quadrant': four_quadrant, 'servo': servo,
}


def main(folder: Path) -> None:
    """Write all pictures."""
    for name, draw in PICTURES.items():
        figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.6), layout='constrained')
        draw(axes)
        for axis in axes:
            axis.set_xlabel(axis.get_xlabel() or 'time [s]')
            axis.grid(alpha=0.3)
            # Above, where they cover no line.
            is_short = max(map(len, axis.get_legend_handles_labels()[1])) < _SHORT
            axis.legend(fontsize=8, frameon=False, ncols=1 + is_short, loc='lower left',
                        bbox_to_anchor=(0.0, 1.0), borderaxespad=0.0)
        path = folder / f'{name}.png'
        figure.savefig(path, dpi=80, metadata={'Software': None})
        plt.close(figure)
        print(f'{path}: {path.stat().st_size / 1000:.0f} kB')


def _times(duration: float) -> np.ndarray:
    return np.arange(0.0, duration, _DT)


if __name__ == '__main__':
    main(Path(sys.argv[1] if len(sys.argv) > 1 else 'docs'))
