# SPDX-License-Identifier: Apache-2.0
"""Parameters of the models from recordings of a real robot, by output error.

The models that are fitted are those that nodes run.
"""
