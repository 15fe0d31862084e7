"""Pictures of recordings and flights.

It imports matplotlib and every room below.
"""
