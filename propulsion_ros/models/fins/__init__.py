# SPDX-License-Identifier: Apache-2.0
"""Fins and lifting surfaces in a flow.

It imports `models.thrusters` for its drives, `models.common` and `settings`.
"""
