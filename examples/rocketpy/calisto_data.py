# SPDX-License-Identifier: Apache-2.0
"""Numbers of Calisto, the rocket of RocketPy's documentation (Projeto Jupiter, MIT).

Masses, moments and grains are theirs, the drag is theirs in 13 points over the Mach number; the
points of the motor, Cesaroni's M1670, are those that the maker published [s], [N].
"""
CURVE = [
    (0.0, 0.0), (0.055, 100.0), (0.092, 1500.0), (0.1, 2000.0), (0.15, 2200.0), (0.2, 1800.0),
    (0.5, 1950.0), (1.0, 2034.0), (1.5, 2000.0), (2.0, 1900.0), (2.5, 1760.0), (2.9, 1700.0),
    (3.0, 1650.0), (3.3, 530.0), (3.4, 350.0), (3.9, 0.0),
]
DRAG = [
    (0.04, 0.411), (0.21, 0.387), (0.37, 0.380), (0.54, 0.383), (0.7, 0.406), (0.8, 0.401),
    (0.91, 0.460), (0.92, 0.469), (1.05, 0.728), (1.42, 0.620), (1.59, 0.578), (1.79, 0.541),
    (2.0, 0.512),
]
RADIUS, MASS, INERTIA = 0.0635, 14.426, (6.321, 6.321, 0.034)
DRY_MOTOR, DRY_MOTOR_INERTIA = 1.815, (0.125, 0.125, 0.002)
NOZZLE, NOZZLE_AT, GRAINS_AT, DRY_MOTOR_AT = 0.033, -1.255, 0.397, 0.317
"""Radius of the nozzle, its place in the rocket, and places from it on."""
GRAINS = (5, 1815.0, 0.033, 0.015, 0.12, 0.005)
"""How many, density, outer and inner radius, length, and distance."""
RAIL, SITE, PLACE = 5.2, 1400.0, (32.990254, -106.974998)
