"""The Ricardo Markup Language of Pickle Rick, block by block; `flight_config` joins them."""
