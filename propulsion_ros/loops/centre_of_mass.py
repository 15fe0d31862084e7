# SPDX-License-Identifier: Apache-2.0
"""The centre of mass that a loop has received or was given."""
from __future__ import annotations

from collections.abc import Callable, Collection

from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.timing.agenda import NEVER, Place


class CentreOfMass:
    """The newest one [m], (3,), received or set: it holds until the next, resets included.

    ``use`` passes it to the family, where that needs one.
    """

    def __init__(self, use: Callable[[FloatArray], None] | None) -> None:
        self._use = use
        self.value: FloatArray | None = None
        self._newest_ns = NEVER

    def set(self, value: FloatArray) -> None:
        """Take one at once."""
        self.value = value
        self.use_again()

    def receive(self, stamp_ns: int, value: FloatArray) -> None:
        """Take one from a stamp on; what is older than what is known is nothing new."""
        if stamp_ns >= self._newest_ns:
            self._newest_ns = stamp_ns
            self.set(value)

    def use_again(self) -> None:
        """Pass it to a family that has been reset or retuned."""
        if self.value is not None and self._use is not None:
            self._use(self.value)

    def forget_time(self) -> None:
        """Let one of any stamp be the next."""
        self._newest_ns = NEVER

    def retune(
        self, changed: Collection[str], apply: Callable[[], None], place: Place | None
    ) -> None:
        """Apply live settings, whose keys have changed: one among them wins over this one.

        It also wins over what comes later and is not of a later stamp.
        """
        if 'com' in changed:
            self.value = None
            if place is not None:
                self._newest_ns = max(self._newest_ns, place.stamp_ns + 1)
        apply()
        self.use_again()
