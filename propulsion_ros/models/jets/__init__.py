# SPDX-License-Identifier: Apache-2.0
"""Reaction control jets with on/off valves, and the tanks that feed them.

It imports `models.common`, `models.supply` and `settings`.
"""
