# SPDX-License-Identifier: Apache-2.0
"""Situations of a flight computer on the ground and in the air, and verdicts on what it does."""
