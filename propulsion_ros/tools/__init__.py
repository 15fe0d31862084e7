"""The command line: one thin file a command.

It imports every room below.
"""
