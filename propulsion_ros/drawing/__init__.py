# SPDX-License-Identifier: Apache-2.0
"""Contents of pictures: shapes of a robot and of thrusts, and the layout and style of plots.

It imports `urdf`, `models` and `settings`.
"""
