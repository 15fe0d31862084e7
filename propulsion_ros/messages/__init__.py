"""Messages as objects and bytes, made of what loops publish and read out of what arrives.

It imports `loops`, `drawing`, message packages and `rclpy.serialization`; it knows no node.
"""
