# SPDX-License-Identifier: Apache-2.0
"""Reads actuators from a robot description: tags are translated, expanded and placed.

It imports `models`, `settings` and defusedxml.
"""
