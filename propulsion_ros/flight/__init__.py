"""Flight logic: phases, apogee, events; time is an argument."""
