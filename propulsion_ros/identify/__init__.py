# SPDX-License-Identifier: Apache-2.0
"""Estimates parameters of the models from recordings of a real robot, by output error.

It fits the same models that the nodes run.
"""
