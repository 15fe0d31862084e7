"""Commands for the terminal and other hosts of the models."""
