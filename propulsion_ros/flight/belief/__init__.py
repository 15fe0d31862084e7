# SPDX-License-Identifier: Apache-2.0
"""What the vehicle is doing, by all its sensors together: whether something holds it."""
