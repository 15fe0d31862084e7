# SPDX-License-Identifier: Apache-2.0
"""Outputs that fire or burn: deployers and engines.

It imports `flight.events`, `flight.phases`, `timing` and `settings`.
"""
