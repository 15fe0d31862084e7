# SPDX-License-Identifier: Apache-2.0
"""What a picture of a robot is: shapes, and where its actuators push; the style of plots.

It imports `urdf`, `models` and `settings`.
"""
