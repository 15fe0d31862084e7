# SPDX-License-Identifier: Apache-2.0
"""Everything that events may move, armed and disarmed by the phase, and its circuits."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

from propulsion_ros.flight.events.events import Action
from propulsion_ros.flight.phases.phases import DUTIES, Duty, Phase
from propulsion_ros.flight.pyros.deployers import DeployerBank, DeployerSpec
from propulsion_ros.flight.pyros.engines import EngineBank, EngineSpec
from propulsion_ros.settings.errors import CommandError

_LONGEST_AGE_NS = 2_000_000_000  # for so long a measured circuit counts [ns]


class Actuators:
    """Deployers and engines of one vehicle.

    Time is any one count of nanoseconds: message stamps in simulation, a steady clock on a
    robot.

    Parameters
    ----------
    deployers, engines : sequence
        As configured; the place of each is its id.

    Attributes
    ----------
    deployers, engines : DeployerBank, EngineBank
        What to publish.
    """

    def __init__(self, deployers: Sequence[DeployerSpec], engines: Sequence[EngineSpec]) -> None:
        self.deployers = DeployerBank(deployers)
        self.engines = EngineBank(engines)
        self._phase = Phase.SETUP

    def enter(self, phase: Phase, now_ns: int, *, arms_deployers: bool) -> None:
        """Follow the phase: what it arms, disarms and shuts down on entry.

        Every phase must be followed, also those that commands lead through between two samples.

        Parameters
        ----------
        phase : Phase
            Present phase; setup is a stop.
        now_ns : int
            Now [ns].
        arms_deployers : bool
            Whether an armed phase arms deployers too: after a liftoff.
        """
        self.deployers.arm(phase.is_armed and arms_deployers)
        if phase is self._phase:
            return
        self._phase = phase
        if phase is Phase.SETUP:
            self.engines.stop(now_ns)
            return
        self.engines.arm(phase.is_armed, now_ns, is_down=phase is Phase.RECOVERY)
        if Duty.SHUT_ENGINES_DOWN in DUTIES[phase].entry:
            self.engines.shut_all_down(now_ns)

    def act(self, action: Action, now_ns: int) -> None:
        """Carry out an action on a deployer or an engine; ignore others.

        Raises
        ------
        CommandError
            Where it is refused.
        """
        if action.kind == 'engine':
            self.engines.execute(action.target, action.param, now_ns)
        elif action.kind == 'deployment':
            self.deployers.execute(action.target, action.param, now_ns)

    def resume(self, now_ns: int) -> None:
        """Continue a flight of before a restart."""
        self.engines.resume()
        if Duty.SHUT_ENGINES_DOWN in DUTIES[self._phase].entry:
            self.engines.shut_all_down(now_ns)


class Circuits:
    """Remembers which circuits are closed, for as long as that is recent.

    Parameters
    ----------
    deployers, engines : sequence
        As configured, of which local pyros and igniters have names and channels.
    """

    def __init__(self, deployers: Sequence[DeployerSpec], engines: Sequence[EngineSpec]) -> None:
        self._channels = {
            deployer.name: deployer.channel
            for deployer in deployers
            if deployer.type == 'local_pyro' and deployer.channel is not None
        } | {
            f'{engine.name}/igniter': engine.igniter.channel
            for engine in engines
            if engine.igniter.channel is not None
        }
        self.reset()

    def reset(self) -> None:
        """Forget all of them."""
        self._measured: dict[int, tuple[int, bool]] = {}

    def read(self, names: Sequence[str], positions: Sequence[float]) -> dict[int, bool]:
        """Return whether circuits are closed (1) or open (0), by the channels of their names.

        Raises
        ------
        CommandError
            For a name that is no local pyro's, and any other position.
        """
        if len(names) != len(positions):
            raise CommandError(f'continuity: {len(names)} names, {len(positions)} positions')
        measured = {}
        for name, position in zip(names, positions, strict=True):
            if name not in self._channels:
                known = ', '.join(self._channels) or 'none'
                raise CommandError(f'continuity: unknown name {name!r}, known: {known}')
            if position not in (0.0, 1.0):
                raise CommandError(f'continuity: {name}: expected 0 or 1, got {position:g}')
            # Files give numpy numbers, which do not compare to a bool.
            measured[self._channels[name]] = bool(position == 1.0)
        return measured

    def take(self, stamp_ns: int, measured: Mapping[int, bool]) -> None:
        """Remember what was read from a message, as measured at a stamp."""
        self._measured.update(
            {channel: (stamp_ns, is_closed) for channel, is_closed in measured.items()}
        )

    def known(self, stamp_ns: int) -> tuple[tuple[int, bool], ...]:
        """Return (channel, whether it is closed) of each recent measurement."""
        return tuple(
            (channel, is_closed)
            for channel, (measured_ns, is_closed) in self._measured.items()
            if abs(stamp_ns - measured_ns) < _LONGEST_AGE_NS
        )
