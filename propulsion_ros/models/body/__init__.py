"""The simulated rigid body and its parachutes.

It imports `models.common` and `settings`.
"""
