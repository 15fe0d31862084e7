# SPDX-License-Identifier: Apache-2.0
"""Make a release: write its version where versions stand, or build and try what is uploaded.

`make version VERSION=1.0.0` writes, `make release` builds; nothing here uploads or pushes.
"""
from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION = r'\d+\.\d+\.\d+'
# Where the version stands: the line, with the version as its one group.
PLACES = {
    'propulsion_ros/__init__.py': rf"^__version__ = '({VERSION})'$",
    'package.xml': rf'^  <version>({VERSION})</version>$',
    'CITATION.cff': rf'^version: ({VERSION})$',
    'CHANGELOG.rst': rf'^({VERSION}) \(\d{{4}}-\d\d-\d\d\)$',
}
COPIES = {
    'package.xml': {
        'docs': r'<url type="website">(.*)</url>', 'issues': r'<url type="bugtracker">(.*)</url>',
        'repository': r'<url type="repository">(.*)</url>', 'email': r'<maintainer email="(.*?)">',
    },
    'CITATION.cff': {'repository': r'^repository-code: (.*)$'},
}


def main() -> None:
    """Run one of the two commands."""
    words = sys.argv[1:]
    if words[:1] == ['version']:
        write_version(words[1] if words[1:] else '', date.today().isoformat())
    else:
        build(placeholders='--placeholders' in words)


# The version and the addresses.


def write_version(version: str, today: str) -> None:
    """Write version, date and addresses into every file that has them."""
    if not re.fullmatch(VERSION, version):
        fail(f'VERSION: expected three numbers such as 1.0.0, came {version!r}')
    forthcoming, title = r'^(Forthcoming\n-+)$', f'{version} ({today})'
    if found('CHANGELOG.rst', forthcoming) == 'none':
        fail('CHANGELOG.rst: expected a section Forthcoming, which becomes that of the version')
    changes = [
        ('CHANGELOG.rst', forthcoming, f'{title}\n{"-" * len(title)}'),
        *((name, PLACES[name], version) for name in PLACES if name != 'CHANGELOG.rst'),
        ('CITATION.cff', r'^date-released: (.*)$', today),
        *((name, pattern, addresses()[key])
          for name, patterns in COPIES.items() for key, pattern in patterns.items()),
    ]
    texts = {name: text_of(name) for name, _, _ in changes}
    for name, pattern, new in changes:
        match = re.search(pattern, texts[name], re.MULTILINE)
        if match is None:
            fail(f'{name}: expected a line that fits {pattern}')
        texts[name] = texts[name][:match.start(1)] + new + texts[name][match.end(1):]
    # Only now: where one file is wrong, none is written.
    for name, text in texts.items():
        (ROOT / name).write_text(text, encoding='utf-8')
    print(f'version: {version}, {today}; read the changelog and commit')


def addresses() -> dict[str, str]:
    """Return the addresses of env/urls.txt by name."""
    lines = text_of('env/urls.txt').splitlines()
    return dict(line.split(' = ') for line in lines if line and not line.startswith('#'))


def check_addresses(placeholders: bool) -> None:
    """Refuse placeholders, and copies that differ from env/urls.txt."""
    for name, value in addresses().items():
        if 'OWNER' in value and not placeholders:
            fail(f'env/urls.txt: {name} is the placeholder {value}, expected the real one')
    for name, patterns in COPIES.items():
        for key, pattern in patterns.items():
            if found(name, pattern) != addresses()[key]:
                fail(f'{name}: {key}: expected that of env/urls.txt, {addresses()[key]}')


def checked_version() -> str:
    """Return the version, which is the same everywhere and has its section in the changelog."""
    versions = {name: found(name, pattern) for name, pattern in PLACES.items()}
    if len(set(versions.values())) != 1:
        fail(f'versions differ: {", ".join(f"{name} {each}" for name, each in versions.items())}')
    if re.search('^Forthcoming$', text_of('CHANGELOG.rst'), re.MULTILINE):
        fail('CHANGELOG.rst: Forthcoming has no version; run make version VERSION=1.0.0')
    return versions['package.xml']


def text_of(name: str) -> str:
    """Return the text of a file of the tree."""
    return (ROOT / name).read_text(encoding='utf-8')


def found(name: str, pattern: str) -> str:
    """Return the group of the first line that fits."""
    match = re.search(pattern, text_of(name), re.MULTILINE)
    return match[1] if match else 'none'


# What is uploaded.


def build(placeholders: bool) -> None:
    """Build, try and list what is uploaded, in a folder of its own."""
    check_addresses(placeholders)
    version = checked_version()
    if output('git', 'status', '--porcelain'):
        fail('the tree has changes, expected all of it committed')
    if version in output('git', 'tag').split():
        fail(f'{version}: there is such a tag already, expected a new version')
    step(f'{version}: versions, addresses and a clean tree')
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        tools = made_tools(work)
        files = built_twice(work, tools)
        run(tools / 'twine', 'check', '--strict', *files)
        step('the metadata are as an index takes them')
        run(tools / 'python', ROOT / 'env' / 'manifest.py')
        step('package.xml and CHANGELOG.rst are as bloom reads them')
        files.append(tried(work, tools, files[0]))
        publish(version, files)


def made_tools(work: Path) -> Path:
    """Return the programs of an environment with the locked tools of a release."""
    run(sys.executable, '-m', 'venv', work / 'tools')
    tools = work / 'tools' / 'bin'
    for lock in ('build', 'release'):
        run(tools / 'python', '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check',
            '--require-hashes', '--no-deps', '--only-binary', ':all:',
            '-r', ROOT / 'env' / f'{lock}.lock')
    step('tools installed by hash, in an environment of their own')
    return tools


def built_twice(work: Path, tools: Path) -> list[Path]:
    """Return wheel and sdist of what is committed; the sdist must build the same wheel."""
    # The sdist has no write permission of groups either.
    archive = output('git', '-c', 'tar.umask=0022', 'archive', 'HEAD', text=False)
    (work / 'tree').mkdir()
    run('tar', '-x', '-C', work / 'tree', given=archive)
    stamp = {**os.environ, 'SOURCE_DATE_EPOCH': output('git', 'log', '-1', '--format=%ct').strip()}
    make = [tools / 'python', '-m', 'build', '--no-isolation']
    run(*make, '--sdist', '--wheel', '--outdir', work / 'dist', work / 'tree', env=stamp)
    wheel, = (work / 'dist').glob('*.whl')
    sdist, = (work / 'dist').glob('*.tar.gz')
    (work / 'second').mkdir()
    run('tar', '-x', '-z', '-C', work / 'second', '-f', sdist)
    source, = (work / 'second').iterdir()
    run(*make, '--wheel', '--outdir', work / 'second', source, env=stamp)
    second = work / 'second' / wheel.name
    if second.read_bytes() != wheel.read_bytes():
        fail(f'{sdist.name} builds another wheel, sha256 {sha256(second)}, not {sha256(wheel)}')
    step(f'{wheel.name}, {sdist.name}; the sdist builds the same wheel')
    return [wheel, sdist]


def tried(work: Path, tools: Path, wheel: Path) -> Path:
    """Return the bill of materials of an empty environment in which every command has run."""
    (work / 'home').mkdir()
    run(sys.executable, '-m', 'venv', work / 'empty')
    python = work / 'empty' / 'bin' / 'python'
    run(python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check',
        f'{wheel}[ros,plot]', env={**os.environ, 'HOME': str(work / 'home')})
    step(f'{wheel.name}[ros,plot] installed into an empty environment')
    run(sys.executable, ROOT / 'env' / 'every_command.py', work / 'empty', shown=True)
    step('every command has run')
    bill = wheel.parent / f'{wheel.name.removesuffix("-py3-none-any.whl")}.cdx.json'
    run(tools / 'cyclonedx-py', 'environment', '--output-reproducible', '--output-format', 'JSON',
        '--output-file', bill, python)
    step(f'{bill.name}: what was installed beside it')
    return bill


def publish(version: str, files: list[Path]) -> None:
    """Put the files into dist/ and print what is left to do by hand."""
    shutil.rmtree(ROOT / 'dist', ignore_errors=True)
    (ROOT / 'dist').mkdir()
    for path in files:
        shutil.copy(path, ROOT / 'dist')
        print(f'{sha256(path)}  dist/{path.name}')
    print(f"""release: {version} is ready. What is left, by hand:
  git tag -a {version} -m {version} && git push origin {version}
  twine upload dist/*.whl dist/*.tar.gz
  a release {version} on the code host, with its section of CHANGELOG.rst and the files of dist/
  bloom-release --rosdistro kilted propulsion_ros    (and jazzy)""")


# Small things.


def output(*command: object, text: bool = True) -> str:
    """Return what a command in the tree prints."""
    return subprocess.run(
        [str(word) for word in command], cwd=ROOT, capture_output=True, text=text, check=True,
    ).stdout


def run(*command: object, given: object = None, shown: bool = False, **options: object) -> None:
    """Run a command, and print what it printed only where it failed."""
    where = {} if shown else {'stdout': subprocess.PIPE, 'stderr': subprocess.STDOUT}
    done = subprocess.run(
        [str(word) for word in command], input=given, check=False, **where, **options,
    )
    if done.returncode:
        print((done.stdout or b'').decode(), file=sys.stderr)
        fail(f'{" ".join(str(word) for word in command)[:200]}: exit code {done.returncode}')


def sha256(path: Path) -> str:
    """Return the checksum of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def step(text: str) -> None:
    """Print what holds now."""
    print(f'release: {text}', flush=True)


def fail(text: str) -> None:
    """End with one line."""
    sys.exit(f'release: {text}')


if __name__ == '__main__':
    main()
