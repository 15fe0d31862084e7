# SPDX-License-Identifier: Apache-2.0
"""Phases of a flight, their transitions as a table, and the moments between them.

It imports `models.common` and `settings`.
"""
