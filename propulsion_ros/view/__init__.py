# SPDX-License-Identifier: Apache-2.0
"""Pages for a browser: a robot in 3D with its plots.

It imports plotly and trimesh only to read their files, and every room below `demos`.
"""
