# SPDX-License-Identifier: Apache-2.0
"""Rotors that push and turn.

It imports `models.common`, `models.supply` and `settings`.
"""
