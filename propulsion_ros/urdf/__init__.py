# SPDX-License-Identifier: Apache-2.0
"""A robot description to actuator specifications: tag, translate, expand, place, build.

It imports `models`, `settings` and defusedxml.
"""
