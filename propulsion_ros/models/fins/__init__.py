"""Fins and lifting surfaces in a flow.

It imports `models.common` and `settings`.
"""
