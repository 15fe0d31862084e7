# SPDX-License-Identifier: Apache-2.0
"""Studies: many cases with drawn or gridded parameters, run on cores or on a cluster.

It imports `replay`, `identify`, `demos` and every room below.
"""
