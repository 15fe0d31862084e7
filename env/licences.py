# SPDX-License-Identifier: Apache-2.0
"""Write the page of the licences of all that the package and its extras install.

usage: licences.py PAGE
"""
from __future__ import annotations

import re
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from defusedxml import ElementTree
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PACKAGE = 'propulsion_ros'
LONGEST = 60
"""Characters of a field that is the name of a licence and not its text."""
TEXT = re.compile(r'(?i)(un)?licen[cs]e|copying|notice')
"""Names of files that have the text of a licence."""
PAGE = """\
# Licences of what is installed

For those who ship a robot or an image with `propulsion_ros` in it: what pip installs beside the package, which is under
Apache-2.0, and the licences that these wheels declare. `make licences` writes this page from what is installed, and
`env/kilted.lock` has the versions. A wheel may hold libraries of others; the texts are in its folder `.dist-info`.
Packages of ROS 2 that apt installs have theirs in `/usr/share/doc/*/copyright`.

Of {count} wheels {without} declare no licence by name. {words}

| Wheels | Licence | Brought by |
| --- | --- | --- |
{rows}

Next: [what is stable](stability.md).
"""  # noqa: E501


def closure() -> dict[str, tuple[Distribution | None, set[str]]]:
    """Return what is installed with each extra, by name, and which extras bring it."""
    found: dict[str, tuple[Distribution | None, set[str]]] = {}
    extras = distribution(PACKAGE).metadata.get_all('Provides-Extra') or []
    for extra in ('', *extras):
        todo, seen = [(PACKAGE, extra)], set()
        while todo:
            name, wanted = todo.pop()
            if (name, wanted) in seen:
                continue
            seen.add((name, wanted))
            try:
                given = distribution(name)
            except PackageNotFoundError:
                given = None
            if name != PACKAGE:
                found.setdefault(name, (given, set()))[1].add(extra)
            for line in (given.requires if given else None) or ():
                need = Requirement(line)
                if need.marker is None or need.marker.evaluate({'extra': wanted}):
                    known = canonicalize_name(need.name)
                    todo += [(known, each) for each in ('', *need.extras)]
    return found


def declared(given: Distribution) -> str:
    """Return the name of the licence that the metadata of a wheel declare, '' for none."""
    metadata = given.metadata
    kinds = [line.split(' :: ')[-1] for line in metadata.get_all('Classifier') or ()
             if line.startswith('License :: ') and line != 'License :: OSI Approved']
    fields = [(metadata.get(name) or '').strip() for name in ('License-Expression', 'License')]
    # Some have the whole text there, which names none.
    named = [field for field in fields if field and field.upper() != 'UNKNOWN']
    short = [field for field in named if '\n' not in field and len(field) <= LONGEST]
    return short[0] if short else ', '.join(kinds)


def hinted(given: Distribution) -> str:
    """Return what else a wheel has that names its licence."""
    manifests = [path for path in given.files or () if path.name == 'package.xml']
    for path in manifests:
        root = ElementTree.fromstring(path.read_text(encoding='utf-8'))
        found = [' '.join((each.text or '').split()) for each in root.iter('license')]
        if any(found):
            return f'package.xml: {", ".join(found)}'
    texts = [path for path in given.files or () if TEXT.match(path.name)]
    return f'only the text, {texts[0].name}' if texts else 'nothing'


def row(name: str, given: Distribution | None, extras: set[str]) -> tuple[str, ...]:
    """Return a row of the page: wheel, licence, and which extras bring it."""
    brought = 'always' if '' in extras else ', '.join(f'`{extra}`' for extra in sorted(extras))
    if given is None:
        return name, 'not installed here', brought
    return name, declared(given) or f'**none declared**; {hinted(given)}', brought


def page() -> str:
    """Return the page."""
    rows = [row(name, *found) for name, found in sorted(closure().items())]
    without = [name for name, licence, _ in rows if licence.startswith('**none')]
    silent = [name for name, licence, _ in rows if licence.endswith('; nothing')]
    same: dict[tuple[str, ...], list[str]] = {}
    for name, *cells in rows:
        same.setdefault(tuple(cells), []).append(name)
    lines = [f'| {", ".join(names)} | {" | ".join(cells)} |' for cells, names in same.items()]
    return PAGE.format(
        count=len(rows), without=len(without), words=words(silent), rows='\n'.join(lines),
    )


def words(silent: list[str]) -> str:
    """Return which wheels have nothing at all."""
    if not silent:
        return 'Each of these has it elsewhere, as its row shows.'
    return f'Nothing at all names that of {", ".join(silent)}; the others have it elsewhere.'


if __name__ == '__main__':
    Path(sys.argv[1]).write_text(page(), encoding='utf-8')
