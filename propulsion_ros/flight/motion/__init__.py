# SPDX-License-Identifier: Apache-2.0
"""What sensors show of the motion: whether they are alive, what lasts, and what rests.

It imports `flight.phases`, `timing`, `models.common` and `settings`.
"""
