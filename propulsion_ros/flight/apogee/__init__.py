# SPDX-License-Identifier: Apache-2.0
"""The apogee detector: fits of the altitude, and the votes on them.

It imports `flight.{belief,events,phases}`, `models.common`, `timing` and `settings`.
"""
