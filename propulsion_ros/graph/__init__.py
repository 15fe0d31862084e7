# SPDX-License-Identifier: Apache-2.0
"""Nodes that a robot needs: their configuration and connections.

It imports `loops`, `urdf`, `models` and `settings`; launch and ament_index lazily.
"""
