# SPDX-License-Identifier: Apache-2.0
"""Underwater thrusters: dynamics of the propeller, thrust over speed.

It imports `models.common`, `models.supply` and `settings`.
"""
