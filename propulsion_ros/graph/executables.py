"""What each executable of the graph runs, for every host alike."""
from __future__ import annotations

from collections.abc import Callable, Mapping

from propulsion_ros.graph.family_loops import make_actuators, make_allocator, make_estimates
from propulsion_ros.loops.ports import Host, Loop, Parameters

LoopMaker = Callable[[Parameters, Host], Loop]
"""``make(parameters, host)`` returns a loop, or raises `ConfigError`."""


def make_flight(parameters: Parameters, host: Host) -> Loop:
    """Return a flight computer as its parameters describe it; raise `ConfigError` if wrong."""
    # Most robots have none, and it takes as long to import as all the rest.
    from propulsion_ros.loops.flight.flight_loop import make_flight_loop
    from propulsion_ros.loops.flight.params import read_params

    return make_flight_loop(read_params(parameters), host)


LOOPS: Mapping[str, LoopMaker] = {
    'actuator_node': make_actuators,
    'allocator_node': make_allocator,
    'flight_state_node': make_flight,
    'inverse_fam_node': make_estimates,
}
"""What makes the loop of each executable that has one."""
