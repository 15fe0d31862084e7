# SPDX-License-Identifier: Apache-2.0
"""The shell of a page: lines taken apart into the commands that they are."""
from __future__ import annotations

import contextlib
import itertools
import os
import re
import shlex
from pathlib import Path

from markdown_pages import REPOSITORY
from page_graphs import PageError

PLACEHOLDER = re.compile(r'\.\.\.|…|/path/to/\S*|[A-Z][A-Z_]*(\.[a-z.]+)?(\.\.\.|…)?|<.*>')
"""What a reader replaces."""
_SHARE = re.compile(r'\$\(ros2 pkg prefix --share propulsion_ros\)')


def commands_of(text):
    """Yield (offset of its line, words) for each command of a piece of shell."""
    text = _SHARE.sub(str(REPOSITORY), text)
    lines = text.split('\n')
    i = 0
    while i < len(lines):
        begin, line = i, lines[i]
        while line.endswith('\\'):
            i += 1
            line = line[:-1] + lines[i]
        i += 1
        for words in _split(line):
            yield begin, words


def _split(line):
    """Yield the words of each command in a line, without redirections."""
    # A placeholder is no redirection.
    line = re.sub(r'<[a-z][a-z ]*>', 'PLACE', line)
    lexer = shlex.shlex(line, posix=True, punctuation_chars=';|&<>')
    lexer.whitespace_split = True
    words, rest = [], iter((*lexer, ';'))
    for word in rest:
        if word in (';', '&&', '||', '|', '&'):
            given = list(itertools.takewhile(re.compile(r'[A-Z_]+=').match, words))
            words = words[len(given):]
            if words:
                # To make, a variable of the environment is one of its own.
                yield words + (given if words[0] == 'make' else [])
            words = []
        elif word in ('<', '>', '>>'):
            next(rest)
        else:
            words.append(word)


def files_exist(words):
    """Raise `PageError` where a word names a file of the package that is not there."""
    for word in words:
        if word.startswith(str(REPOSITORY)) and not Path(word).exists():
            raise PageError(f'there is no {word}')


@contextlib.contextmanager
def inside(folder):
    """Be in a folder for a while."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
