# SPDX-License-Identifier: Apache-2.0
"""What a flight of the rocket was, in numbers."""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from propulsion_ros.demos.recording import Recording
from propulsion_ros.settings.quantity import FloatArray

PREDICTION_LEAD = 5.0
"""How long before the apogee the prediction of the summary was made [s]."""


@dataclass(frozen=True)
class RocketSummary:
    """The numbers of a flight's table.

    Attributes
    ----------
    liftoff, burnout : float
        [s].
    max_speed, max_speed_time : float
        [m/s] and [s].
    true_apogee, true_altitude : float
        Of the vehicle [s], [m].
    apogee, altitude, detected : float
        As flight_state says: vertex [s], [m], and when it was decided [s]; NaN without one.
    predicted, predicted_altitude, predicted_at : float
        Last prediction made `PREDICTION_LEAD` before the true apogee.
    propellant_start, propellant_left : float
        [kg].
    mass_lost : float
        By the vehicle [kg].
    impulse, impulse_of_propellant : float
        Delivered, and what the propellant burnt is worth [N s].
    """

    liftoff: float
    burnout: float
    max_speed: float
    max_speed_time: float
    true_apogee: float
    true_altitude: float
    apogee: float
    altitude: float
    detected: float
    predicted: float
    predicted_altitude: float
    predicted_at: float
    propellant_start: float
    propellant_left: float
    mass_lost: float
    impulse: float
    impulse_of_propellant: float


def summarise(recording: Recording, dt: float, exhaust_velocity: float) -> RocketSummary:
    """Return the summary of a recorded flight.

    Parameters
    ----------
    recording : Recording
        Series 'motion' (time, altitude, vertical speed, speed), 'thrust' (time, force),
        'propellant' and 'mass' (time, mass), 'apogee' (vertex, altitude) and 'predicted'
        (vertex, altitude, time of the prediction).
    dt : float
        Time that each thrust acts [s].
    exhaust_velocity : float
        Thrust over mass flow [m/s].
    """
    motion, thrust = recording.series('motion'), recording.series('thrust')
    propellant, mass = recording.series('propellant'), recording.series('mass')
    flying = motion[motion[:, 1] > motion[0, 1] + 1e-3]
    burning = thrust[thrust[:, 1] > 0.0]
    has_burnt_out = len(burning) and thrust[-1, 1] == 0.0
    fastest = motion[np.argmax(motion[:, 3])]
    apogee_time, apogee_altitude = vertex(motion)
    nothing: tuple[Any, ...] = (np.nan,) * 3
    decided = recording.rows.get('apogee', [nothing])[-1]
    decided_at = [stamp for stamp, phase in recording.phases if phase == 'recovery']
    early = [
        row for row in recording.rows.get('predicted', [])
        if row[2] <= apogee_time - PREDICTION_LEAD and np.isfinite(row[0])
    ]
    predicted = early[-1] if early else nothing
    return RocketSummary(
        liftoff=float(flying[0, 0]) if len(flying) else np.nan,
        burnout=float(burning[-1, 0] + dt) if has_burnt_out else np.nan,
        max_speed=float(fastest[3]),
        max_speed_time=float(fastest[0]),
        true_apogee=apogee_time,
        true_altitude=apogee_altitude,
        apogee=decided[0],
        altitude=decided[1],
        detected=decided_at[0] if decided_at else np.nan,
        predicted=predicted[0],
        predicted_altitude=predicted[1],
        predicted_at=predicted[2],
        propellant_start=float(propellant[0, 1]),
        propellant_left=float(propellant[-1, 1]),
        mass_lost=float(np.max(mass[:, 1]) - mass[-1, 1]),
        impulse=float(np.sum(thrust[:, 1]) * dt),
        impulse_of_propellant=float((propellant[0, 1] - propellant[-1, 1]) * exhaust_velocity),
    )


def vertex(motion: FloatArray) -> tuple[float, float]:
    """Return time [s] and altitude [m] where the vertical speed passes through 0 at the top.

    NaN where it never does.

    Parameters
    ----------
    motion : FloatArray
        Rows of time, altitude, vertical speed.
    """
    top = int(np.argmax(motion[:, 1]))
    for i in (top - 1, top):
        if 0 <= i < len(motion) - 1:
            (t0, h0, v0), (t1, _, v1) = motion[i, :3], motion[i + 1, :3]
            if v0 >= 0.0 > v1:
                share = v0 / (v0 - v1)
                step = float(t1 - t0)
                return float(t0 + share * step), float(h0 + 0.5 * v0 * share * step)
    return math.nan, math.nan
