# SPDX-License-Identifier: Apache-2.0
"""What the families share: the step protocol, lags, noise, curves, allocation, the atmosphere.

It imports `settings`.
"""
