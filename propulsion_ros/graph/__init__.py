# SPDX-License-Identifier: Apache-2.0
"""Which nodes a robot needs: the configuration of nodes, and their wiring.

It imports `loops`, `urdf`, `models` and `settings`; launch and ament_index lazily.
"""
