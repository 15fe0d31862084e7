"""Underwater thrusters: dynamics of the propeller, thrust over speed.

It imports `models.common` and `settings`.
"""
