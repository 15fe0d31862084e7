# SPDX-License-Identifier: Apache-2.0
"""Nodes under load and faults, and a judge of all they say: ``python -m benchmarks.soak``."""
