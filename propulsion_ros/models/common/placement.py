# SPDX-License-Identifier: Apache-2.0
"""Where actuators sit: parameters that every family with links has alike."""
from __future__ import annotations

from typing import Any

from propulsion_ros.models.common.wrench import IDENTITY
from propulsion_ros.settings.quantity import quantity


def position(doc: str, default: Any = (0.0, 0.0, 0.0)) -> Any:
    """Return the quantity of points in base_link [m], (n, 3); ``doc`` names them."""
    return quantity(default, 'm', doc=f'{doc}, in base_link', shape=('n', 3), geometry='origin')


def direction(doc: str, default: Any) -> Any:
    """Return the quantity of directions in the axes of each link, (n, 3); ``doc`` names them."""
    return quantity(default, '', doc=doc, shape=('n', 3), geometry='direction')


def link(what: str = 'thrust') -> Any:
    """Return the quantity of the links that a thrust or force acts on, (n,)."""
    return quantity(
        '', doc=f'link that the {what} acts on', kind=str, shape=('n',), geometry='link'
    )


def rotation() -> Any:
    """Return the quantity of rotation matrices from the links to base_link, (n, 3, 3)."""
    return quantity(
        IDENTITY, doc='rotation matrix from the axes of the link to base_link', shape=('n', 3, 3),
        geometry='rotation',
    )
