# SPDX-License-Identifier: Apache-2.0
"""Packages of others with families, as an installation leaves them where Python finds them."""
from __future__ import annotations

import sys

from propulsion_ros.models.registry import GROUP


class FakePackages:
    """Puts packages of one module each on Python's path, until it is closed."""

    def __init__(self, folder, monkeypatch):
        self._folder, self._monkeypatch = folder, monkeypatch
        self._made = []

    def __call__(self, package, entries, source, folder=''):
        """Install a module with its entry points, from family to ``module:class``."""
        place = self._folder / (folder or package)
        info = place / f'{package}-1.0.dist-info'
        info.mkdir(parents=True)
        (info / 'METADATA').write_text(f'Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n')
        lines = ''.join(f'{name} = {value}\n' for name, value in entries.items())
        (info / 'entry_points.txt').write_text(f'[{GROUP}]\n{lines}')
        (place / f'{package}.py').write_text(source)
        self._made.append(package)
        self._monkeypatch.syspath_prepend(place)

    def close(self):
        """Forget the modules."""
        for package in self._made:
            sys.modules.pop(package, None)
