# SPDX-License-Identifier: Apache-2.0
"""Recordings as input and output: bags, tables, CDR, and the loops run on them offline.

It imports the bag readers and every room below.
"""
