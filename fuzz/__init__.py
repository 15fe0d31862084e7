"""Fuzzing of everything that reads foreign bytes."""
