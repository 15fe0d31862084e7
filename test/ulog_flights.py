# SPDX-License-Identifier: Apache-2.0
"""Logs in PX4's format, of a simulated flight whose truth is known.

The format is that of https://docs.px4.io/main/en/dev_log/ulog_file_format, the messages are those
of PX4 1.16; nothing here is of PX4 itself.
"""
from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from propulsion_ros.identify.robot import read_robot
from propulsion_ros.models.common.family import Command
from propulsion_ros.models.common.motion import Motion
from propulsion_ros.models.common.rotation import matrix_of, quaternion_of

SIZES = {'uint8_t': 'u1', 'uint16_t': '<u2', 'int32_t': '<i4', 'uint64_t': '<u8', 'float': '<f4'}
FORMATS = {
    'actuator_motors': 'uint64_t timestamp;uint64_t timestamp_sample;uint16_t reversible_flags;'
                       'float[12] control;',
    'actuator_servos': 'uint64_t timestamp;uint64_t timestamp_sample;float[8] control;',
    'actuator_outputs': 'uint64_t timestamp;uint8_t noutputs;float[16] output;',
    'battery_status': 'uint64_t timestamp;float voltage_v;float current_a;float remaining;',
    'cpuload': 'uint64_t timestamp;float load;',
    'esc_report': 'uint64_t timestamp;int32_t esc_rpm;uint8_t actuator_function;',
    'esc_status': 'uint64_t timestamp;uint8_t esc_count;esc_report[8] esc;',
    'sensor_combined': 'uint64_t timestamp;float[3] gyro_rad;uint64_t gyro_integral_dt;'
                       'float[3] accelerometer_m_s2;',
    'vehicle_air_data': 'uint64_t timestamp;float baro_pressure_pa;',
    'vehicle_angular_velocity': 'uint64_t timestamp;float[3] xyz;',
    'vehicle_attitude': 'uint64_t timestamp;float[4] q;',
    'vehicle_local_position': 'uint64_t timestamp;float x;float y;float z;float vx;float vy;'
                              'float vz;',
}
ORDER = (('front_right', 103), ('rear_left', 101), ('front_left', 102), ('rear_right', 104))
"""What is on the outputs 1 to 4: a rotor, and the motor that it is for PX4."""
MAP = ','.join(f'motor_{function - 100}=rotors/{name}' for name, function in ORDER)
PARAMETERS = {
    **{f'PWM_MAIN_FUNC{i + 1}': function for i, (_, function) in enumerate(ORDER)},
    **{f'PWM_MAIN_MIN{i + 1}': 1075 for i in range(4)},
    **{f'PWM_MAIN_MAX{i + 1}': 1950 for i in range(4)},
    **{f'PWM_MAIN_DIS{i + 1}': 900 for i in range(4)},
    'THR_MDL_FAC': 0.3, 'BAT1_CAPACITY': 5000.0, 'SYS_AUTOSTART': 4001,
}
BOOT_US = 12_345_678


def record(kind, payload):
    """Return a message of a log."""
    return struct.pack('<HB', len(payload), ord(kind)) + payload


def dtype_of(name, formats=FORMATS):
    """Return the packed type of the messages of a format."""
    parts = []
    for part in filter(None, formats[name].split(';')):
        kind, _, key = part.partition(' ')
        kind, _, count = kind.removesuffix(']').partition('[')
        inner = SIZES[kind] if kind in SIZES else dtype_of(kind, formats)
        parts.append((key, inner, (int(count),)) if count else (key, inner))
    return np.dtype(parts)


def rows(name, stamps, **values):
    """Return the messages of a name at stamps [us]; what has no value is 0."""
    made = np.zeros(len(stamps), dtype_of(name))
    made['timestamp'] = stamps
    for key, value in values.items():
        target = made[key]
        given = np.asarray(value)
        if given.ndim == 2:
            target[:, :given.shape[1]] = given
        else:
            target[:] = given
    return made


def ulog(messages, parameters=PARAMETERS, formats=FORMATS, dropouts=(), about=True):
    """Return a log as bytes: messages by (name, instance), merged by their stamps."""
    data = [b'ULog\x01\x12\x35\x01' + struct.pack('<Q', BOOT_US), record('B', bytes(40))]
    if about:
        data += [
            record('I', b'\x10char[3] sys_namePX4'), record('I', b'\x0echar[4] ver_hwTEST'),
            record('I', b'\x17uint32_t ver_sw_release' + struct.pack('<I', 0x011001FF)),
        ]
    data += [record('F', f'{name}:{text}'.encode()) for name, text in formats.items()]
    for key, value in parameters.items():
        kind, form = ('float', '<f') if isinstance(value, float) else ('int32_t', '<i')
        text = f'{kind} {key}'.encode()
        data.append(record('P', bytes([len(text)]) + text + struct.pack(form, value)))
    parts = []
    for i, ((name, instance), given) in enumerate(messages.items()):
        data.append(record('A', struct.pack('<BH', instance, i) + name.encode()))
        head = struct.pack('<HBH', given.dtype.itemsize + 2, ord('D'), i)
        parts += [(int(row['timestamp']), head + row.tobytes()) for row in given]
    parts += [(stamp, record('O', struct.pack('<H', lost))) for stamp, lost in dropouts]
    data += [part for _, part in sorted(parts, key=lambda each: each[0])]
    return b''.join(data)


@dataclass(frozen=True)
class Flight:
    """A simulated quadrotor that stands, climbs, and punches its throttle; axes as in messages."""

    time: np.ndarray
    command: np.ndarray
    """Throttle of each rotor in the order of ORDER, (t, 4)."""
    speed: np.ndarray
    """[rad/s], (t, 4)."""
    force: np.ndarray
    rate: np.ndarray
    """Specific force and rate of turn in forward, left, up, (t, 3)."""
    position: np.ndarray
    velocity: np.ndarray
    """East, north, up, (t, 3)."""
    quaternion: np.ndarray
    """From forward, left, up to east, north, up; x, y, z, w, (t, 4)."""
    mass: float = 0.0
    max_thrust: float = 0.0


def robot(tmp_path: Path, lag=0.05):
    """Return a model and its parameter file: the quadrotor of the package, by throttle."""
    path = tmp_path / 'px4.yaml'
    path.write_text(
        '/**/rotors:\n  ros__parameters:\n    command_interface: throttle\n'
        f'    time_constant_up: [{lag}]\n    time_constant_down: [{lag}]\n'
    )
    return Path(__file__).resolve().parents[1] / 'urdf/quadrotor.urdf.xacro', path


def flown(tmp_path: Path, lag=0.07, seconds=24.0, dt=0.004, seed=1, punches=True):
    """Return a flight with this lag of its rotors [s], and noise as an IMU has it."""
    rng = np.random.default_rng(seed)
    description, params = robot(tmp_path, lag)
    model = read_robot(description, [params], ['rotors.time_constant_up'])
    family, mass = model.setting.build_family(), model.body.mass
    columns = [family.command_names.index(name) for name, _ in ORDER]
    time = np.arange(0.0, seconds, dt)
    hover = mass * 9.80665 / (4.0 * float(model.values['max_thrust'][0]))
    steps = np.searchsorted(np.cumsum(rng.uniform(0.2, 0.7, 400)), time)
    level = hover + (rng.uniform(-0.16, 0.2, 401)[steps] if punches else 0.0)
    level = np.where(time < 2.5, 0.0, level)
    jitter = rng.normal(0.0, 0.01, (len(time), 4)) * (level[:, None] > 0.0)
    command = np.clip(level[:, None] + jitter, 0.0, 1.0)
    still = Motion(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3), np.zeros(3))
    thrust, speed = np.zeros(len(time)), np.zeros((len(time), 4))
    for i, row in enumerate(command):
        given = np.zeros(4)
        given[columns] = row
        output = family.step(Command(position=given), still, dt, i)
        thrust[i] = output.wrench[2]
        speed[i] = np.sqrt(np.maximum(output.thrusts[columns], 0.0) / 1e-5)
    # A sensor measures at a stamp, between two steps.
    thrust = 0.5 * (thrust + np.concatenate((thrust[:1], thrust[:-1])))
    up = np.where(time < 2.5, 9.80665, thrust / mass)
    force = np.column_stack((0.0 * up, 0.0 * up, up)) + rng.normal(0.0, 0.15, (len(time), 3))
    yaw = 0.3 + 0.2 * np.maximum(time - 2.5, 0.0)
    rate = np.zeros((len(time), 3))
    rate[:, 2] = np.gradient(yaw, dt)
    turned = np.column_stack((0.0 * yaw, 0.0 * yaw, np.sin(yaw / 2), np.cos(yaw / 2)))
    velocity = np.column_stack((
        0.4 * np.ones_like(up), -0.2 * np.ones_like(up), np.cumsum(up - 9.80665) * dt,
    ))
    return Flight(
        time, command, speed, force, rate + rng.normal(0.0, 0.002, rate.shape),
        np.cumsum(velocity, axis=0) * dt, velocity, turned, mass,
        float(model.values['max_thrust'][0]),
    )


def messages_of(flight: Flight, every=1, slow=5):
    """Return the messages of a flight: motors every so many steps, estimates so many slower."""
    us = BOOT_US + np.round(flight.time * 1e6).astype(np.int64)
    flip = np.array([1.0, -1.0, -1.0])
    motors = np.full((len(us), 12), np.nan)
    pulses = np.zeros((len(us), 16))
    for i, (_, function) in enumerate(ORDER):
        signal = flight.command[:, i]
        off = flight.time < 1.0
        # The thrust of a signal; see FunctionMotors.hpp of PX4.
        motors[:, function - 101] = np.where(off, np.nan, 0.3 * signal**2 + 0.7 * signal)
        pulses[:, i] = np.where(off, 900.0, np.round(1075.0 + 875.0 * signal))
    ned = flight.position[:, [1, 0, 2]] * [1, 1, -1], flight.velocity[:, [1, 0, 2]] * [1, 1, -1]
    to_ned = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
    matrix = to_ned @ matrix_of(flight.quaternion) @ np.diag(flip)
    x, y, z, w = quaternion_of(matrix).T
    fast, rare = slice(None, None, every), slice(None, None, slow)
    esc = np.zeros(len(us[rare]), dtype_of('esc_status'))
    esc['timestamp'] = us[rare]
    for i, (_, function) in enumerate(ORDER):
        esc['esc']['esc_rpm'][:, i] = flight.speed[rare, i] * 30.0 / np.pi
        esc['esc']['actuator_function'][:, i] = function
    pressure = 101325.0 - 12.0 * flight.position[:, 2]
    return {
        ('actuator_motors', 0): rows('actuator_motors', us[fast], control=motors[fast]),
        # The first instance is another driver's.
        ('actuator_outputs', 0): rows('actuator_outputs', us[:1], output=np.full((1, 16), 1500.0)),
        ('actuator_outputs', 1): rows('actuator_outputs', us[fast], output=pulses[fast]),
        ('esc_status', 0): esc,
        ('sensor_combined', 0): rows(
            'sensor_combined', us, gyro_rad=flight.rate * flip,
            accelerometer_m_s2=flight.force * flip,
        ),
        ('vehicle_attitude', 0): rows(
            'vehicle_attitude', us[::2], q=np.column_stack((w, x, y, z))[::2]
        ),
        ('vehicle_angular_velocity', 0): rows(
            'vehicle_angular_velocity', us[::2], xyz=(flight.rate * flip)[::2]
        ),
        ('vehicle_local_position', 0): rows(
            'vehicle_local_position', us[rare],
            **dict(zip(('x', 'y', 'z'), ned[0][rare].T, strict=True)),
            **dict(zip(('vx', 'vy', 'vz'), ned[1][rare].T, strict=True)),
        ),
        ('vehicle_air_data', 0): rows(
            'vehicle_air_data', us[rare], baro_pressure_pa=pressure[rare]
        ),
        ('battery_status', 0): rows(
            'battery_status', us[::50], voltage_v=15.2, current_a=12.0, remaining=0.8
        ),
        ('cpuload', 0): rows('cpuload', us[::250], load=0.4),
    }


def written(path: Path, flight: Flight, **options):
    """Write the log of a flight; return its path."""
    path.write_bytes(ulog(messages_of(flight, **options)))
    return path


def short(flight: Flight, count: int):
    """Return the first steps of a flight."""
    cut = {key: value[:count] for key, value in vars(flight).items()
           if isinstance(value, np.ndarray)}
    return replace(flight, **cut)
