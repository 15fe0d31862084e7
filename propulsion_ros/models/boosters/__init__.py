"""Fuelled boosters with tanks and gimbals.

It imports `models.common` and `settings`.
"""
