"""The apogee detector: fits of the altitude, and the votes on them.

It imports `flight.events`, `flight.phases`, `models.common`, `timing` and `settings`.
"""
