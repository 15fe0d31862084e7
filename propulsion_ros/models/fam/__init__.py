"""Astrobee's force allocation module, its inverse and the propulsion modules.

It imports `models.common` and `settings`.
"""
