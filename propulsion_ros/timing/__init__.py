# SPDX-License-Identifier: Apache-2.0
"""Time as integer stamps: the order of inputs, the grid of ticks, what has lasted or is held.

It imports `settings`. Nothing here reads a clock.
"""
