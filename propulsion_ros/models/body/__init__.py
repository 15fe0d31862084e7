# SPDX-License-Identifier: Apache-2.0
"""The simulated rigid body and its parachutes.

It imports `models.common` and `settings`.
"""
