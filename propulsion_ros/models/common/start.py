# SPDX-License-Identifier: Apache-2.0
"""What the environments of a batch begin with, where a reset is given other states than usual."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from propulsion_ros.models.common.family import numbers_of, require_batch
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import known_hint

T = TypeVar('T', bound=NDArray[Any])

State = Mapping[str, ArrayLike]
"""Values by the names of states, for the environments that are reset; lists are accepted."""


@runtime_checkable
class Restartable(Protocol):
    """A model whose environments can be reset each to a state of its own."""

    @property
    def start_states(self) -> Sequence[str]:
        """Names of the states that `reset` takes, () where there are none."""

    def reset(self, indices: Any = None, state: State | None = None) -> None:
        """Restore the start.

        Parameters
        ----------
        indices : index, optional
            Of the leading batch axes: only these environments are reset; without it all.
        state : mapping, optional
            How they begin, by the names in `start_states`, each with one row for each
            environment or one for all; what is not named begins as usual. A later reset is not
            bound by it.

        Raises
        ------
        IndexError
            For indices where there is no batch axis.
        ConfigError
            For a state that there is not, or that cannot be; then nothing is reset.
        """


class Start:
    """The states that a reset begins with."""

    def __init__(
        self, indices: Any, batch: tuple[int, ...], state: State | None, known: Sequence[str]
    ) -> None:
        require_batch(indices, batch)
        self._at = ... if indices is None else indices
        self._state = {} if state is None else state
        if not isinstance(self._state, Mapping):
            got = type(self._state).__name__
            raise ConfigError('state', f'expected values by name ({", ".join(known)}), got {got}')
        for name in self._state:
            if name not in known:
                raise ConfigError('state', f'unknown {name!r}{known_hint(name, known)}')

    def of(
        self, name: str, usual: T, lowest: ArrayLike = -np.inf, highest: ArrayLike = np.inf,
        note: str = '', is_vector: bool = False,
    ) -> T:
        """Return how a state begins, (..., n): as given where it is reset, elsewhere as usual.

        Raises `ConfigError` for values beyond the limits, which fit (..., n), or another shape;
        ``note`` ends the line of the former. A vector is not one number for x, y and z.
        """
        if name not in self._state:
            return usual
        start: T = usual.copy()
        given = self._values(name, start[self._at], is_vector)
        low, high = (np.broadcast_to(end, start.shape)[self._at] for end in (lowest, highest))
        wrong = ~(np.isfinite(given) & (low <= given) & (given <= high))
        for at in map(tuple, np.argwhere(wrong)[:1]):
            raise ConfigError(
                f'state.{name}{list(map(int, at)) or ""}',
                f'expected {low[at]:g} to {high[at]:g}, got {given[at]:g}{note}',
            )
        start[self._at] = given
        return start

    def _values(self, name: str, usual: NDArray[Any], is_vector: bool) -> NDArray[Any]:
        error = partial(ConfigError, f'state.{name}')
        # What is true or false is read back as such.
        given = numbers_of(self._state[name], error, 'fiu' + 'b' * (usual.dtype == bool))
        with suppress(ValueError):
            # A number of each environment is none of each column.
            if given.shape[-1:] == usual.shape[-1:] or not (is_vector or given.ndim):
                return np.broadcast_to(given, usual.shape)
        raise error(f'expected a shape that fits {usual.shape}, got {given.shape}')
