# SPDX-License-Identifier: Apache-2.0
"""What actuators draw from: propellant tanks and batteries.

It imports `models.common` and `settings`.
"""
