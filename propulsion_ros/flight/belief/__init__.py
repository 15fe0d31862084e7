# SPDX-License-Identifier: Apache-2.0
"""The belief: what the vehicle is doing, from all sensors; above all whether it is held."""
