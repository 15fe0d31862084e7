# SPDX-License-Identifier: Apache-2.0
"""Fuelled boosters with tanks and gimbals.

It imports `models.common`, `models.supply`, `models.steering` and `settings`.
"""
