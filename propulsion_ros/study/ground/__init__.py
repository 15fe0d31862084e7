# SPDX-License-Identifier: Apache-2.0
"""What a flight computer meets on the ground and in the air, and what it may do there."""
