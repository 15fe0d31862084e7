"""Outputs that fire or burn: deployers and engines.

It imports `flight.events`, `flight.phases`, `timing` and `settings`.
"""
