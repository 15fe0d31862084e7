# SPDX-License-Identifier: Apache-2.0
"""Joints that turn the links of actuators, of any family.

It imports `models.common` and `settings`.
"""
