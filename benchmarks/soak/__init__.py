"""Nodes under load and faults, and a judge of all they say: ``python -m benchmarks.soak``."""
