# SPDX-License-Identifier: Apache-2.0
"""Typed settings: bounded fields, flat parameters, parameter files, JSON documents, errors.

It imports numpy, yaml and json5, and nothing else of this package.
"""
