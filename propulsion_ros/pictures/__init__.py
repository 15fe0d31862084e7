# SPDX-License-Identifier: Apache-2.0
"""Pictures of recordings and flights.

It imports matplotlib and every room below.
"""
