# SPDX-License-Identifier: Apache-2.0
"""Run the first pages of a newcomer with what is installed: their commands and programs, in order.

usage: first_pages.py [--sourced] PREFIX [PAGE...]

Each page has a folder of its own, with the files that it gives and those that are installed. What
needs ROS 2's own command, a clone, or a file of the reader's is named and not run.
"""
from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / 'test')]

from env.every_command import environment_of  # noqa: E402
from markdown_pages import Block, Page  # noqa: E402

PAGES = ('README.md', 'docs/quick_start.md', 'docs/your_robot.md', 'docs/learning.md')
"""The README, and the first page of who has ROS, a robot, or numpy alone."""
RUN = ('propulsion_ros', 'python', 'cut')
LIMIT = 900.0


def main() -> None:
    """Run the pages; end with 1 after the first fault."""
    words = sys.argv[1:]
    is_sourced = words[:1] == ['--sourced']
    prefix, *pages = words[is_sourced:]
    share = Path(prefix).resolve() / 'share' / 'propulsion_ros'
    done: list[list[str]] = []
    for name in pages or PAGES:
        page = Page(ROOT / name)
        with tempfile.TemporaryDirectory() as folder:
            for each in ('config', 'urdf', 'examples', 'studies'):
                Path(folder, each).symlink_to(share / each)
            for file, text in page.files.items():
                Path(folder, file).write_text(text, encoding='utf-8')
            environment = environment_of(prefix, folder, is_sourced)
            for place, command, expected in programs(page):
                # The demo takes minutes, and more than one page begins with it.
                if command not in done:
                    run(place, command, expected, folder, environment)
                done += [command] * (command[1:2] == ['demo'])
        print(f'{name}: all that can run without ROS 2 has run', flush=True)


def programs(page: Page) -> Iterator[tuple[str, list[str], str | None]]:
    """Yield place, words and expected output of what can run."""
    python = ''
    for block in page.blocks:
        if block.language == 'python' and not block.file:
            # What one block defines the next one uses.
            python += block.text
            yield block.place, ['python', '-c', python], None
        elif block.language == 'sh':
            yield from ((block.place, words, block.shows) for words in lines_of(block))


def lines_of(block: Block) -> Iterator[list[str]]:
    """Yield the words of each line of a block that can run."""
    for line in block.text.splitlines():
        words = shlex.split(line, comments=True)
        is_of_reader = any(word.isupper() or word.startswith('/path') for word in words)
        if words and words[0] in RUN and not is_of_reader:
            yield words
        elif words:
            print(f'{block.place}: not run: {line}', flush=True)


def run(
    place: str, words: list[str], expected: str | None, folder: str, environment: dict[str, str]
) -> None:
    """Run one command: it succeeds, or prints what the page shows."""
    line = shlex.join(words) if words[:2] != ['python', '-c'] else 'a program'
    try:
        done = subprocess.run(
            words, cwd=folder, env=environment, text=True, timeout=LIMIT,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )
    except subprocess.TimeoutExpired:
        sys.exit(f'{place}: {line}: not done after {LIMIT:g} s')
    # A page may show a fault; the last number of a line may differ.
    shown = (expected or '').splitlines()[:1]
    is_shown = bool(shown) and any(text.startswith(shown[0][:40]) for text in
                                   done.stdout.splitlines())
    if 'Traceback' in done.stdout or (done.returncode and not is_shown):
        sys.exit(f'{place}: {line}\nexit code {done.returncode}:\n{done.stdout}')
    print(f'{place}: {line}: exit code {done.returncode}', flush=True)


if __name__ == '__main__':
    main()
