# SPDX-License-Identifier: Apache-2.0
"""Studies: many cases of one thing, drawn or on a grid, on cores or on a cluster.

It imports `replay`, `identify`, `demos` and every room below.
"""
