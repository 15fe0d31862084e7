# SPDX-License-Identifier: Apache-2.0
"""The Markdown pages of the package as a reader finds them, each part with its line."""
from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent

_FENCE = re.compile(r' {0,3}```(.*)')
_SPAN = re.compile(r'(?<!`)`([^`]+)`(?!`)')
_LINK = re.compile(r'!?\[[^\]]*\]\(([^)\s]+)\)')
_HEADING = re.compile(r'#{1,6} +(.*)')
_FILE = re.compile(r'[\w./-]+\.\w+')


@dataclass(frozen=True)
class Part:
    """A piece of text and where it is.

    Attributes
    ----------
    page : str
        Path of the page in the repository.
    line : int
        Of its first line.
    text : str
        What stands there.
    """

    page: str
    line: int
    text: str

    @property
    def place(self) -> str:
        """Page and line, as an error names them."""
        return f'{self.page}:{self.line}'


@dataclass(frozen=True)
class Block(Part):
    """A fenced block.

    Attributes
    ----------
    language : str
        What stands behind the fence.
    file : str
        Name of the file that the line before announces, as in "Save as `robot.urdf`:"; '' for
        none.
    shows : str or None
        Text of the block without a language, or in ``text``, that follows at once: what a reader
        sees.
    """

    language: str
    file: str = ''
    shows: str | None = None


class Page:
    """One page.

    Parameters
    ----------
    path : Path
        The file.
    name : str
        How errors call it.
    """

    def __init__(self, path: Path, name: str = '') -> None:
        self.path = path
        self.name = name or str(path.relative_to(REPOSITORY))
        lines = path.read_text(encoding='utf-8').splitlines()
        raw, prose = _split(lines)
        self.blocks = [
            Block(self.name, line, text, language, _announced(prose, line), _shown(raw, i, lines))
            for i, (line, language, text) in enumerate(raw)
        ]
        self._prose = prose

    def named(self, file: str) -> Block:
        """Return the block of a file."""
        found = [block for block in self.blocks if block.file == file]
        if len(found) != 1:
            raise LookupError(f'{self.name}: expected one block of `{file}`, got {len(found)}')
        return found[0]

    @property
    def files(self) -> dict[str, str]:
        """Text of every file that the page gives."""
        return {block.file: block.text for block in self.blocks if block.file}

    @property
    def spans(self) -> Iterator[Part]:
        """Yield the code within sentences; one span may run over a line's end."""
        text = '\n'.join(self._prose)
        for match in _SPAN.finditer(text):
            line = text.count('\n', 0, match.start()) + 1
            yield Part(self.name, line, ' '.join(match[1].split()))

    @property
    def sentences(self) -> Iterator[Part]:
        """Yield the lines of text, without code of any kind."""
        text = _SPAN.sub(lambda match: re.sub(r'[^\n]', '.', match[0]), '\n'.join(self._prose))
        for line, words in enumerate(text.split('\n'), 1):
            yield Part(self.name, line, words)

    @property
    def links(self) -> Iterator[Part]:
        """Yield the targets of links and pictures."""
        # Code may hold what looks like a link.
        text = _SPAN.sub(lambda match: re.sub(r'[^\n]', '.', match[0]), '\n'.join(self._prose))
        for match in _LINK.finditer(text):
            yield Part(self.name, text.count('\n', 0, match.start()) + 1, match[1])

    @property
    def anchors(self) -> set[str]:
        """What a link into the page may name, as GitHub makes it from headings."""
        found: list[str] = []
        for line in self._prose:
            heading = _HEADING.match(line)
            if heading:
                words = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', heading[1].strip()).lower()
                slug = re.sub(r'[^\w\- ]', '', words).replace(' ', '-')
                count = sum(re.fullmatch(re.escape(slug) + r'(-\d+)?', old) is not None
                            for old in found)
                found.append(f'{slug}-{count}' if count else slug)
        return set(found)


def pages() -> list[Page]:
    """Return every page of the repository."""
    folders = (REPOSITORY / 'docs', REPOSITORY / 'examples')
    paths = [*REPOSITORY.glob('*.md'), *(path for each in folders for path in each.rglob('*.md'))]
    return [Page(path) for path in sorted(paths)]


def _split(lines: list[str]) -> tuple[list[tuple[int, str, str]], list[str]]:
    """Return the fenced blocks (line, language, text), and the lines with all code blanked."""
    blocks: list[tuple[int, str, str]] = []
    prose: list[str] = []
    inside: list[str] | None = None
    for number, line in enumerate(lines, 1):
        fence = _FENCE.match(line)
        if fence and inside is None:
            inside, begin, language = [], number, fence[1].strip()
        elif fence and inside is not None:
            blocks.append((begin, language, '\n'.join(inside) + '\n'))
            inside = None
        elif inside is not None:
            inside.append(line)
        is_code = fence is not None or inside is not None or line.startswith('    ')
        prose.append('' if is_code else line)
    if inside is not None:
        raise ValueError(f'line {begin}: fence is not closed')
    return blocks, prose


def _announced(prose: list[str], line: int) -> str:
    """Return the file that the text before a fence announces, '' for none."""
    before = next((text for text in reversed(prose[: line - 1]) if text.strip()), '')
    files = [span for span in _SPAN.findall(before) if _FILE.fullmatch(span)]
    near = any(text.strip() for text in prose[max(line - 3, 0):line - 1])
    return files[-1] if near and files and before.rstrip().endswith('`:') else ''


def _shown(blocks: list[tuple[int, str, str]], i: int, lines: list[str]) -> str | None:
    """Return what the next block shows as the result of this one, None for nothing."""
    if i + 1 == len(blocks):
        return None
    end = blocks[i][0] + blocks[i][2].count('\n') + 1
    line, language, text = blocks[i + 1]
    between = ''.join(lines[end:line - 1]).strip()
    return text if language in ('', 'text') and not between else None
