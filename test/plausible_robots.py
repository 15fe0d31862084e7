# SPDX-License-Identifier: Apache-2.0
"""Robots drawn from what products have, not from what is usual for `check`: none has a mistake.

Sizes, masses, propellers and thrusts are those of multirotors of 30 g to 30 kg, underwater vehicles
with four to eight thrusters, boats with azimuth pods, rockets of one and two stages, and cubesats.
"""
from __future__ import annotations

import math
import random

GRAVITY, AIR, INCH = 9.80665, 1.225, 0.0254
LEVEL, UP = (0.0, 0.0, 0.0), (0.0, -math.pi / 2, 0.0)

# Mass [kg], diameter [in], thrust to weight, spacing over diameter.
MULTIROTORS = (
    (0.03, 1.8, 1.9, 2.05), (0.08, 3, 2, 1.2), (0.25, 4.7, 2.2, 1.3), (0.6, 5, 6, 1.15),
    (0.9, 8.7, 2.2, 1.1), (1.5, 10, 2, 1.15), (3, 15, 2.2, 1.1), (6.3, 21, 2, 1.05),
    (9, 22, 2, 1.05), (15, 26, 2, 1.05), (28, 32, 1.9, 1.05),
)
# Diameter [m], thrust forwards and backwards [N], speed [rad/s].
THRUSTERS = (
    (0.045, 8, 6, 600), (0.076, 50, 40, 377), (0.086, 25, 22, 420), (0.09, 75, 55, 390),
    (0.13, 155, 103, 300), (0.24, 500, 420, 160),
)
# Mass [kg], length, width, height [m], diameter [m], thrust [N], turns a minute.
BOATS = (
    (5, 0.38, 0.18, 0.12, 0.045, 6, 3000), (16, 1.2, 0.35, 0.3, 0.08, 20, 2500),
    (62, 2.0, 0.8, 0.4, 0.16, 110, 1300), (900, 5.0, 2.0, 0.9, 0.35, 1800, 1100),
)
CUBESATS = ((0.1, 0.1, 0.1135, 1.3), (0.1, 0.1, 0.34, 4), (0.226, 0.226, 0.366, 20))


def box(mass, x, y, z):
    """Return the moments of inertia of a solid box of this mass [kg m^2]."""
    return tuple(mass / 12.0 * sum(b * b for b in others) for others in ((y, z), (x, z), (x, y)))


def values(numbers):
    return ' '.join(f'{number:.6g}' for number in numbers)


def tags(**pairs):
    return ''.join(
        f'<{key}>{value if isinstance(value, str) else f"{value:.5g}"}</{key}>'
        for key, value in pairs.items()
    )


class Robot:
    """Links, blocks and parameters of the body."""

    def __init__(self, random_, rate):
        self.random, self.rate, self.parts, self.body = random_, rate, [], {}

    def base(self, mass, inertia, com=LEVEL, size=()):
        """Add the root link, and a box of a size."""
        ixx, iyy, izz = (f'{each:.6g}' for each in inertia)
        shape = ''
        if size:
            shape = f'<visual><geometry><box size="{values(size)}"/></geometry></visual>'
        self.parts.append(
            f'<link name="base_link"><inertial><origin xyz="{values(com)}"/>'
            f'<mass value="{mass:.6g}"/><inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="0" '
            f'ixz="0" iyz="0"/></inertial>{shape}</link>'
        )

    def link(self, name, xyz=LEVEL, rpy=LEVEL, axis='', parent='base_link'):
        """Add a link, on a joint that turns about an axis where there is one."""
        kind, inside = ('continuous', f'<axis xyz="{axis}"/>') if axis else ('fixed', '')
        self.parts.append(
            f'<link name="{name}"/><joint name="{name}_joint" type="{kind}"><parent '
            f'link="{parent}"/><child link="{name}"/><origin xyz="{values(xyz)}" '
            f'rpy="{values(rpy)}"/>{inside}</joint>'
        )

    def block(self, name, text):
        self.parts.append(
            f'<gazebo><plugin filename="propulsion_ros" name="{name}">'
            f'<update_rate>{self.rate}</update_rate>{text}</plugin></gazebo>'
        )

    @property
    def urdf(self):
        return f'<robot name="drawn">{"".join(self.parts)}</robot>'

    @property
    def yaml(self):
        own = ('parachutes', 'deployer')
        lines = [f'    {key if key.startswith(own) else f"body.{key}"}: {value}'
                 for key, value in self.body.items()]
        head = ['vehicle:', '  ros__parameters:', f'    update_rate: {self.rate}.0']
        return '\n'.join([*head, *lines])


def multirotor(random_, is_coaxial):
    """Return a quadrotor, or an octocopter of four pairs."""
    u, (mass, inches, ratio, spacing) = random_.uniform, random_.choice(MULTIROTORS)
    robot = Robot(random_, 400 if mass < 3.0 else 100)
    diameter, mass, ratio = inches * INCH * u(0.95, 1.05), mass * u(0.9, 1.2), ratio * u(0.9, 1.2)
    arm = diameter * spacing * u(1.0, 1.2) / math.sqrt(2.0)
    roll = mass * (u(0.32, 0.5) * arm)**2
    pitch = roll * u(0.95, 1.5)
    hub = arm * u(0.7, 1.1)
    robot.base(mass, (roll, pitch, (roll + pitch) * u(0.85, 0.98)), (
        u(-0.03, 0.03) * arm, u(-0.02, 0.02) * arm, u(-0.1, 0.1) * arm,
    ), random_.choice([(), (hub, 0.8 * hub, 0.3 * hub)]))
    # Good rotors have a figure of merit of 0.7, small ones of 0.4.
    merit, load = u(0.4, 0.7), u(0.085, 0.13)
    moment = load**0.5 * diameter / (math.sqrt(2.0 * math.pi) * math.pi * merit)
    kinds, text = (('upper', 1, 0.08), ('lower', -1, -0.08)) if is_coaxial else (('', 1, 0.0),), ''
    for i, side in enumerate(('front_left', 'rear_left', 'rear_right', 'front_right')):
        for kind, sense, height in kinds:
            name, turn = f'{side}_{kind}'.rstrip('_'), math.pi * (0.25 + 0.5 * i)
            robot.link(name, (arm * math.cos(turn), arm * math.sin(turn), height * diameter))
            text += f'<rotor name="{name}">' + tags(
                link=name, direction=str(sense * (-1)**i),
                max_thrust=ratio * mass * GRAVITY / (4 * len(kinds)), moment_constant=moment,
                motor_constant=load * AIR * diameter**4 / (4.0 * math.pi**2),
                time_constant_up=u(0.6, 1.2) * 0.02 * (diameter / 0.127)**0.6,
            ) + '</rotor>'
    robot.block('rotors', text)
    return robot


def thruster(random_, name, diameter, forth, back, speed, joint=''):
    """Return the element of a thruster by its curve or by its propeller."""
    limits = tags(min_command=-speed, max_command=speed)
    curve = random_.choice([
        tags(rotor_constant=forth / speed**2) + limits,
        tags(conversion='propeller', thrust_coefficient=forth / (1000.0 * speed**2 * diameter**4),
             propeller_diameter=diameter, fluid_density=1000.0) + limits,
        tags(conversion='linear_interp', input_values=values((-speed, -0.05 * speed, 0.05 * speed,
                                                              speed)),
             output_values=values((-back, 0.0, 0.0, forth))) + limits,
    ])
    lag = tags(dynamics='first_order', time_constant=0.12 * math.sqrt(diameter / 0.076))
    return f'<thruster name="{name}">{tags(joint=joint or f"{name}_joint")}{lag}{curve}</thruster>'


def underwater(random_, count):
    """Return a vehicle with four to eight thrusters."""
    u, (diameter, forth, back, speed) = random_.uniform, random_.choice(THRUSTERS)
    robot, mass = Robot(random_, 100), u(0.15, 0.4) * forth * count / 6.0
    long = 1.15 * (2.2 * mass / u(350.0, 600.0))**(1.0 / 3.0)
    wide, tall = long * u(0.65, 0.85), long * u(0.45, 0.7)
    com = (u(-0.02, 0.02) * long, 0.0, -u(0.03, 0.08) * tall)
    inertia = box(mass * u(0.65, 1.05), long, wide, tall)
    robot.base(mass, inertia, com, random_.choice([(), (long, wide, tall)]))
    x, y, slant = 0.36 * long, 0.36 * wide, 0.25 * math.pi
    level = {
        'front_left': ((x, y, com[2]), (0.0, 0.0, -slant)),
        'front_right': ((x, -y, com[2]), (0.0, 0.0, slant)),
        'rear_left': ((-x, y, com[2]), (0.0, 0.0, slant)),
        'rear_right': ((-x, -y, com[2]), (0.0, 0.0, -slant)),
    }
    places = {
        4: {'left': ((-x, y, com[2]), LEVEL), 'right': ((-x, -y, com[2]), LEVEL),
            'up_left': ((com[0], y, 0.0), UP), 'up_right': ((com[0], -y, 0.0), UP)},
        5: {**level, 'vertical': ((com[0], 0.0, 0.2 * tall), UP)},
        6: {**level, 'up_left': ((com[0], y, 0.0), UP), 'up_right': ((com[0], -y, 0.0), UP)},
        # Those to the side are symmetric by half a turn.
        7: {**level, 'front_side': ((0.8 * x, 0.2 * y, com[2]), (0.0, 0.0, 0.5 * math.pi)),
            'rear_side': ((-0.8 * x, -0.2 * y, com[2]), (0.0, 0.0, 0.5 * math.pi)),
            'vertical': ((com[0], 0.0, 0.2 * tall), UP)},
        8: {**level, **{f'up_{name}': (((0.8 * place[0][0]), 1.2 * place[0][1], 0.0), UP)
                        for name, place in level.items()}},
    }[count]
    state = random_.getstate()
    text = ''
    for name, (xyz, rpy) in places.items():
        robot.link(name, xyz, rpy, '1 0 0')
        # All are of one kind.
        random_.setstate(state)
        text += thruster(random_, name, diameter, forth, back, speed)
    robot.block('thrusters', text)
    robot.body = {
        'fluid_density': 1025.0, 'ground': 'false', 'displaced_volume': 1.01 * mass / 1025.0,
        'centre_of_buoyancy': [com[0], 0.0, com[2] + u(0.05, 0.2) * tall],
        'drag_area': [0.8 * wide * tall, long * tall, long * wide],
        'angular_drag': [0.02 * tall * wide**4, 0.02 * wide * long**4, 0.02 * tall * long**4],
    }
    return robot


def boat(random_, count):
    """Return a boat with so many azimuth pods."""
    u, (mass, long, wide, tall, diameter, forth, turns) = random_.uniform, random_.choice(BOATS)
    robot, mass = Robot(random_, 50), mass * u(0.85, 1.2)
    inertia = box(mass * u(0.6, 0.95), long, wide, tall)
    robot.base(mass, inertia, (0.0, 0.0, u(-0.15, 0.05) * tall), (long, wide, tall))
    above = 0.5 * tall - mass / (1000.0 * long * wide)
    places = {1: [(-0.42, 0.0)], 2: [(0.4, 0.0), (-0.4, 0.0)],
              4: [(x, y) for x in (-0.42, 0.4) for y in (0.3, -0.3)]}[count]
    state, text = random_.getstate(), ''
    for i, (x, y) in enumerate(places):
        robot.link(f'pod_{i}', (x * long, y * wide, -above - 0.4 * diameter), axis='0 0 1')
        robot.link(f'screw_{i}', (0.0, 0.0, -0.7 * diameter), LEVEL, '1 0 0', f'pod_{i}')
        random_.setstate(state)
        speed = turns * 2.0 * math.pi / 60.0
        text += thruster(random_, f'screw_{i}', diameter, forth, 0.5 * forth, speed)
    steering = ''.join(f'<steering name="pod_{i}_joint"><mode>servo</mode></steering>'
                       for i in range(count))
    robot.block('thrusters', text + steering)
    robot.body = {
        'fluid_density': 1000.0, 'ground': 'false', 'hulls.names': ['hull'],
        'hulls.size': [float(long), float(wide), float(tall)], 'start_position': [0.0, 0.0, above],
    }
    return robot


def rocket(random_, stages):
    """Return a rocket on a rail, with a motor for each stage and parachutes."""
    u, mass = random_.uniform, math.exp(random_.uniform(math.log(0.3), math.log(60.0)))
    robot, width = Robot(random_, 100), 0.041 * (mass / 0.5)**(1.0 / 3.0) * u(0.85, 1.25)
    long, share, text = width * u(12.0, 19.0), u(0.1, 0.35), ''
    dry = mass * (1.0 - share)
    across, along = dry * long**2 / 12.0 * u(0.75, 1.05), dry * width**2 * u(0.12, 0.2)
    robot.base(dry, (across, across, along), (0.0, 0.0, long * u(0.5, 0.58)))
    for i in range(stages):
        propellant, above = mass * share / stages, mass * (1.0 - 0.5 * i)
        thrust = above * GRAVITY * u(5.0, 12.0)
        robot.link(f'motor_{i}', (0.0, 0.0, (0.02 + 0.42 * i) * long))
        robot.link(f'grain_{i}', (0.0, 0.0, (0.12 + 0.42 * i) * long))
        text += f'<tank name="grain_{i}">{tags(link=f"grain_{i}", capacity=propellant)}</tank>'
        text += f'<booster name="motor_{i}">' + tags(
            link=f'motor_{i}', tank=f'grain_{i}', max_thrust=thrust,
            specific_impulse=u(170.0, 220.0), reignitable='false',
        ) + '</booster>'
    robot.block('boosters', text)
    areas = [2.0 * dry * GRAVITY / (AIR * speed**2) for speed in (u(16.0, 32.0), u(4.5, 8.0))]
    robot.body = {'rail_length': u(1.5, 6.0), 'drag_area': [0.9 * long * width] * 2 + [
        0.4 * width**2], 'centre_of_pressure': [0.0, 0.0, 0.3 * long]}
    chutes = {'names': ['drogue', 'main'], 'drag_area': areas, 'attachment': [0.0, 0.0, 0.9 * long]}
    robot.body.update({f'parachutes.{key}': value for key, value in chutes.items()})
    robot.body['deployer_topic'] = 'pyros'
    return robot


def cubesat(random_):
    """Return a cubesat with twelve jets of cold gas in couples."""
    u, (x, y, z, mass) = random_.uniform, random_.choice(CUBESATS)
    robot, mass = Robot(random_, 100), mass * u(0.8, 1.1)
    inertia = box(mass * u(0.8, 1.1), x, y, z)
    robot.base(mass, inertia, [u(-0.02, 0.02) * each for each in (x, y, z)], (x, y, z))
    thrust, text = math.exp(u(math.log(0.001), math.log(0.1))), '<tank name="gas">' + tags(
        link='base_link', capacity=mass * u(0.01, 0.05), propellant='gas', pressure=u(2e5, 3e7)
    ) + '</tank>'
    half = 0.5 * math.pi
    for k, (side, ways) in enumerate((
        ((0, y, 0), ((0, half, 0), (0, -half, 0))), ((0, 0, z), (LEVEL, (0, 0, math.pi))),
        ((x, 0, 0), ((0, 0, half), (0, 0, -half))),
    )):
        for i, (sign, rpy) in enumerate((sign, rpy) for sign in (0.5, -0.5) for rpy in ways):
            robot.link(f'jet_{k}{i}', [sign * each for each in side], rpy)
            text += f'<jet name="jet_{k}{i}">' + tags(
                link=f'jet_{k}{i}', axis='1 0 0', tank='gas', max_thrust=thrust,
                specific_impulse=u(40.0, 70.0), min_on_time=0.02,
            ) + '</jet>'
    robot.block('jets', text)
    robot.body = {'gravity': 0.0, 'ground': 'false', 'site_altitude': 86000.0}
    return robot


KINDS = {
    'quadrotor': lambda r: multirotor(r, is_coaxial=False),
    'octocopter': lambda r: multirotor(r, is_coaxial=True),
    'underwater vehicle': lambda r: underwater(r, r.choice([4, 5, 6, 8])),
    'underwater vehicle of half a turn': lambda r: underwater(r, 7),
    'boat': lambda r: boat(r, r.choice([1, 2, 4])),
    'rocket': lambda r: rocket(r, r.choice([1, 2])),
    'cubesat': cubesat,
}


def drawn(kind, seed):
    """Return one robot of a kind."""
    return KINDS[kind](random.Random(f'{kind} {seed}'))
