# SPDX-License-Identifier: Apache-2.0
"""The command line: one thin file a command.

It imports every room below.
"""
