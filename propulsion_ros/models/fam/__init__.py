# SPDX-License-Identifier: Apache-2.0
"""Astrobee's force allocation module, its inverse and the propulsion modules.

It imports `models.common` and `settings`.
"""
