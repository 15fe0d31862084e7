# SPDX-License-Identifier: Apache-2.0
"""Run the first pages of a newcomer with what is installed: their commands and programs, in order.

usage: first_pages.py [--sourced] PREFIX [PAGE...]

Each page has a folder of its own, with the files that it gives and those that are installed. What
needs ROS 2's own command, a clone, or a file of the reader's is named and not run; but the nodes of
a vehicle start without ROS 2's launch too, and `make demo` is a command of the package.
"""
from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / 'test')]

from env.every_command import environment_of  # noqa: E402
from markdown_pages import Block, Page  # noqa: E402

TRACKS = 'docs/README.md'
"""Its table has the tracks: the first flight of each, and the reader's own robot."""
RUN = ('propulsion_ros', 'python', 'cut')
INSTEAD = (
    (r'make demo VEHICLE=(\w+)', r'propulsion_ros demo --vehicle \1'),
    ('make demo', 'propulsion_ros demo'),
    (r'ros2 launch propulsion_ros (\w+)\.launch\.py',
     r'python -m propulsion_ros.nodes.stack --vehicle \1'),
    (r'\.venv/bin/(.*)', r'\1'),
)
"""What is run in place of a whole command that needs a clone or ROS 2's own command."""
NODES, PROGRAM = 'propulsion_ros.nodes.stack', 'examples/publish_and_print.py'
ENDLESS = {NODES: 'active', PROGRAM: 'force.z'}
"""What runs until Ctrl-C, and what it prints once it works."""
LIMIT = 900.0


def main() -> None:
    """Run the pages; end with 1 after the first fault."""
    words = sys.argv[1:]
    is_sourced = words[:1] == ['--sourced']
    prefix, *names = words[is_sourced:]
    share = Path(prefix).resolve() / 'share' / 'propulsion_ros'
    done: list[list[str]] = []
    for page in map(page_of, names) if names else pages():
        with tempfile.TemporaryDirectory() as folder, ExitStack() as beside:
            for each in ('config', 'urdf', 'examples', 'studies'):
                Path(folder, each).symlink_to(share / each)
            own = share / Path(page.name).parent
            for file in own.iterdir() if own.parent.name == 'examples' else ():
                Path(folder, file.name).symlink_to(file)
            for file, text in page.files.items():
                Path(folder, file).write_text(text, encoding='utf-8')
            environment = environment_of(prefix, folder, is_sourced)
            for place, command, expected in programs(page):
                if command in done:
                    continue
                if PROGRAM not in command:
                    # Only this one talks to the nodes; all others start their own.
                    beside.close()
                if NODES in command:
                    beside.enter_context(running(place, command, folder, environment))
                elif PROGRAM in command:
                    with running(place, command, folder, environment):
                        pass
                else:
                    run(place, command, expected, folder, environment)
                # The demo takes minutes, and more than one page begins with it.
                done += [command] * ('demo' in command)
        print(f'{page.name}: all that can run without ROS 2 has run', flush=True)


def pages() -> list[Page]:
    """Return the README and the pages with which the tracks begin."""
    table = page_of(TRACKS)
    rows = [line.split('|')[2:4] for line in table.path.read_text(encoding='utf-8').splitlines()
            if line.startswith('| **')]
    if not rows:
        sys.exit(f'{TRACKS}: expected a table of tracks, each a row that begins with a bold name')
    links = (link for row in rows for link in re.findall(r'\]\(([^)#]+\.md)', ''.join(row)))
    paths = {(table.path.parent / link).resolve(): None for link in ('../README.md', *links)}
    return [Page(path) for path in paths]


def page_of(name: str) -> Page:
    """Return a page of the repository."""
    return Page(ROOT / name)


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
    for line in block.text.replace('\\\n', '').splitlines():
        command = shlex.join(shlex.split(line, comments=True))
        for old, new in INSTEAD:
            command = re.sub(f'^{old}$', new, command)
        words = shlex.split(command)
        is_of_reader = any(word.isupper() or word.startswith('/path') for word in words)
        if words and words[0] in RUN and not is_of_reader:
            yield words
        elif words:
            print(f'{block.place}: not run: {line}', flush=True)


@contextmanager
def running(
    place: str, words: list[str], folder: str, environment: dict[str, str]
) -> Iterator[None]:
    """Wait until a command works; let it run to the end of the context, and end it with Ctrl-C."""
    line, sign = shlex.join(words), next(ENDLESS[word] for word in words if word in ENDLESS)
    process = subprocess.Popen(
        words, cwd=folder, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )
    printed = ''
    for text in process.stdout:
        printed += text
        if sign in text:
            break
    else:
        sys.exit(f'{place}: {line}\nended without {sign!r}:\n{printed}')
    yield
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=LIMIT)
    if process.returncode or 'Traceback' in rest:
        sys.exit(f'{place}: {line}\nexit code {process.returncode} at Ctrl-C:\n{printed}{rest}')
    print(f'{place}: {line}: worked, exit code 0 at Ctrl-C', flush=True)


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
