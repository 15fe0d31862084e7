"""Fins and lifting surfaces in a flow.

It imports `models.thrusters` for its drives, `models.common` and `settings`.
"""
