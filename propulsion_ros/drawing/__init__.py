"""What a picture of a robot is: shapes, and where its actuators push.

It imports `urdf`, `models` and `settings`.
"""
