# SPDX-License-Identifier: Apache-2.0
"""Circuits of local pyros, as their driver reports them."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

from propulsion_ros.flight.pyros.deployers import DeployerSpec
from propulsion_ros.flight.pyros.engines import EngineSpec
from propulsion_ros.settings.errors import CommandError

_LONGEST_AGE_NS = 2_000_000_000


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
            # Files give numbers of numpy, whose comparisons are no bool.
            measured[self._channels[name]] = bool(position == 1.0)
        return measured

    def take(self, stamp_ns: int, measured: Mapping[int, bool]) -> None:
        """Remember what was read from a message, as measured at a stamp."""
        self._measured.update(
            {channel: (stamp_ns, is_closed) for channel, is_closed in measured.items()}
        )

    def known(self, stamp_ns: int) -> tuple[tuple[int, bool], ...]:
        """Return channel and whether it is closed, of what was measured recently."""
        return tuple(
            (channel, is_closed)
            for channel, (measured_ns, is_closed) in self._measured.items()
            if abs(stamp_ns - measured_ns) < _LONGEST_AGE_NS
        )
