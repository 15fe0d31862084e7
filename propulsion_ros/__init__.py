# SPDX-License-Identifier: Apache-2.0
"""Actuator physics and flight logic for robots that push against something."""
