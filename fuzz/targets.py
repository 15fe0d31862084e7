# SPDX-License-Identifier: Apache-2.0
"""Every target, by name: one table for the tests and for the coverage-guided runs."""
from __future__ import annotations

from fuzz import descriptions, gazebo, meshes, messages, recordings, settings, tables

TARGETS = {
    target.name: target
    for module in (
        descriptions, gazebo, settings, tables, recordings, messages, meshes,
    )
    for target in module.TARGETS
}
