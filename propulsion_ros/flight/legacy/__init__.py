# SPDX-License-Identifier: Apache-2.0
"""The flown algorithms as they were, for comparison: apogee, estimator, events.

It imports the other rooms of `flight`; only the factories of `flight` import it.
"""
