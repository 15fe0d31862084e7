# SPDX-License-Identifier: Apache-2.0
"""Controllers: PID loops from a flight variable to an engine, run in flight."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from propulsion_ros.flight.events.variables import VARIABLES, Variables


@dataclass(frozen=True)
class PidSpec:
    """One configured PID controller.

    Attributes
    ----------
    id, name : int, str
        Its place in the list, and its name in the JointState.
    kp, ki, kd : float
        Gains: output per unit of the input, per unit and second, per unit a second.
    setpoint : float
        What the input should be, in the units of the configuration.
    interval_ns : int
        Least time between two steps [ns].
    engine : int
        Id of the engine that gets the output.
    variable, component : str, int
        The input; position east, as in the flown software.
    """

    id: int
    name: str
    kp: float
    ki: float
    kd: float
    setpoint: float
    interval_ns: int
    engine: int
    variable: str = 'Position'
    component: int = 1


@dataclass(frozen=True)
class ControlOutput:
    """One step of a controller: its input, and its output, NaN where it does not run."""

    id: int
    engine: int
    measured: float
    output: float


class Pid:
    """output = kp e + ki int(e dt) + kd de/dt with e = setpoint - input.

    The integral is by the trapezoidal rule; the first step has no derivative. An unknown input
    gives an unknown output and breaks the error's history, so that no step spans a silence.

    Parameters
    ----------
    spec : PidSpec
        What is configured.
    is_running : bool
        Whether it takes steps; else input and output are NaN.
    """

    def __init__(self, spec: PidSpec, is_running: bool = True) -> None:
        self.spec, self.is_running = spec, is_running
        self._integral = 0.0
        self._error = math.nan
        self._stepped_ns: int | None = None

    def update(self, variables: Variables) -> ControlOutput | None:
        """Return the output where a step is due, else None."""
        spec, now_ns = self.spec, variables.clock_ns
        if not self.is_running:
            return ControlOutput(spec.id, spec.engine, math.nan, math.nan)
        then_ns = self._stepped_ns
        if then_ns is not None and now_ns - then_ns < spec.interval_ns:
            return None
        self._stepped_ns = now_ns
        measured = VARIABLES[spec.variable].read(variables, spec.component)
        error, last = spec.setpoint - measured, self._error
        self._error = error
        if not math.isfinite(error):
            return ControlOutput(spec.id, spec.engine, measured, math.nan)
        rate = 0.0
        dt = 0.0 if then_ns is None else (now_ns - then_ns) * 1e-9
        if math.isfinite(last) and dt > 0.0:
            self._integral += 0.5 * (error + last) * dt
            rate = (error - last) / dt
        output = spec.kp * error + spec.ki * self._integral + spec.kd * rate
        return ControlOutput(spec.id, spec.engine, measured, output)


class ControllerBank:
    """All controllers: they run in flight, and events start and stop them."""

    def __init__(self, specs: Sequence[PidSpec]) -> None:
        self._specs = tuple(specs)
        self.reset()

    def reset(self) -> None:
        """Begin a flight: all run, with nothing remembered."""
        self._controllers = [Pid(spec) for spec in self._specs]

    def execute(self, controller_id: int, param: float) -> None:
        """Run (1) or stop (0) a controller; one that runs again begins anew."""
        if self._controllers[controller_id].is_running != bool(param):
            self._controllers[controller_id] = Pid(self._specs[controller_id], bool(param))

    def update(self, variables: Variables) -> tuple[ControlOutput, ...]:
        """Return the outputs of the steps that are due; NaN of those that do not run."""
        return tuple(filter(None, (item.update(variables) for item in self._controllers)))
