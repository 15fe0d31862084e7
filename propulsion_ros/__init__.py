"""Actuator physics and flight logic for robots that push against something."""
