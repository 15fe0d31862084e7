# SPDX-License-Identifier: Apache-2.0
"""Flight logic: samples and commands in; phase, apogee, events and deployments out.

Time is an argument. It imports `models.common`, `timing` and `settings`.
"""
