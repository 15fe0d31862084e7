# SPDX-License-Identifier: Apache-2.0
"""What a model step costs, and pictures of step responses; run from the tree, not installed."""
import os

# Before numpy is loaded: idle threads of its BLAS spin, and their time would count as ours.
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
