"""Rotors that push and turn.

It imports `models.common` and `settings`.
"""
