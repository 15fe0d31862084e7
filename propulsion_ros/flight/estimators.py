# SPDX-License-Identifier: Apache-2.0
"""The estimators, and the one place that chooses among them."""
from __future__ import annotations

from propulsion_ros.flight.estimation.estimator import Estimator
from propulsion_ros.flight.estimation.mounting import Mounting
from propulsion_ros.flight.estimation.params import EstimatorParams
from propulsion_ros.flight.legacy.estimator import LegacyFeed


def make_estimator(
    params: EstimatorParams,
    mounting: Mounting,
    magnetometer_mounting: Mounting | None = None,
) -> Estimator | LegacyFeed | None:
    """Return the estimator that ``params.method`` names, None where it comes from outside."""
    if params.method == 'external':
        return None
    kind = LegacyFeed if params.method == 'legacy' else Estimator
    return kind(params, mounting, magnetometer_mounting)
