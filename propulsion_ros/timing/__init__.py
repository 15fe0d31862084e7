# SPDX-License-Identifier: Apache-2.0
"""Time as integer stamps: order of inputs, grid of ticks, dwell times, values that repeat.

It imports `settings`. Nothing here reads a clock.
"""
