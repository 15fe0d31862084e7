# SPDX-License-Identifier: Apache-2.0
"""Random flights and faulty logs before the apogee's detector."""
