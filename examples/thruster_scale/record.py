"""Write scale.csv: what a scale records of the thruster of true.yaml, with noise."""
import csv

import numpy as np

from propulsion_ros import load

DT, EVERY = 0.002, 5
"""Step of the simulation [s], and steps from row to row."""
REST, HELD, SWEEP = 1.0, 0.5, 8.0
"""How long it rests, how long each step is held, and how long the sweep takes [s]."""


def speed_at(time):
    """Return the speed that is commanded [rad/s]: steps from full astern to full ahead, a sweep."""
    steps = np.array([-340.0, -250.0, -150.0, -80.0, 80.0, 150.0, 250.0, 340.0, 0.0, 330.0, -330.0])
    if time < REST:
        return 0.0
    k = int((time - REST) / HELD)
    if k < len(steps):
        return steps[k]
    return 350.0 * np.sin(2.0 * np.pi * (time - REST - HELD * len(steps)) / SWEEP)


def main():
    """Drive the thruster, from one that stands still."""
    rng = np.random.default_rng(1)
    thruster = load('thruster.urdf', 'true.yaml')['thrusters']
    before = 0.0
    with open('scale.csv', 'w', newline='') as file:
        writer = csv.writer(file, lineterminator='\n')
        writer.writerow(['stamp', 'speed', 'scale'])
        for tick in range(round((REST + 11 * HELD + SWEEP) / DT)):
            time = tick - tick % EVERY
            speed = speed_at(time * DT)
            thrust = thruster.step([speed], dt=DT).wrench[0]
            if tick == time:
                # A thrust is the mean of its step; a scale is read between two of them.
                scale = 0.5 * (before + thrust) + rng.normal(0.0, 0.3)
                writer.writerow([f'{tick * DT:.2f}', f'{speed:.1f}', f'{scale:.2f}'])
            before = thrust


if __name__ == '__main__':
    main()
