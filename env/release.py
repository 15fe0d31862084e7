# SPDX-License-Identifier: Apache-2.0
"""Make a release: write its version where versions stand, or build and try what is uploaded.

`make version VERSION=1.0.0` and `make addresses` write, `make release` builds, and
`make release-check` builds what is forthcoming; nothing here uploads or pushes.
"""
from __future__ import annotations

import hashlib
import html
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION = r'\d+\.\d+\.\d+'
EXTRAS = 'ros,plot,view,learn'
"""What the commands and the first pages need."""
# Where the version stands: the line, with the version as its one group.
PLACES = {
    'propulsion_ros/__init__.py': rf"^__version__ = '({VERSION})'$",
    'package.xml': rf'^  <version>({VERSION})</version>$',
    'CITATION.cff': rf'^version: ({VERSION})$',
    'CHANGELOG.rst': rf'^({VERSION}) \(\d{{4}}-\d\d-\d\d\)$',
}
STATED = r"^__version__ = '(.+)'$"
STAND_IN = ('propulsion_ros maintainers', 'maintainer@example.invalid')
"""Author and mailbox in package.xml, which must have them, as long as there are none."""
PLACEHOLDERS = re.compile(
    rb'OWNER[/@]|<(?:this repository|your [a-z ]+)>|example\.invalid|\b(?:TODO|FIXME|XXX)\b'
)
"""What no file that is published may have, but for the stand-in in package.xml."""


def main() -> None:
    """Run one of the commands."""
    words = sys.argv[1:]
    if words[:1] == ['version']:
        write_version(words[1] if words[1:] else '', date.today().isoformat())
    elif words == ['addresses']:
        write_addresses()
    else:
        build(is_release='--check' not in words, is_quick='--quick' in words)


# The version and the addresses.


def write_version(version: str, today: str) -> None:
    """Write version, date and addresses into every file that has them."""
    if not re.fullmatch(VERSION, version):
        fail(f'VERSION: expected three numbers such as 1.0.0, came {version!r}')
    forthcoming, title = r'^(Forthcoming\n-+)$', f'{version} ({today})'
    if found('CHANGELOG.rst', forthcoming) == 'none':
        fail('CHANGELOG.rst: expected a section Forthcoming, which becomes that of the version')
    if numbers(version) <= numbers(checked_version()):
        fail(f'VERSION: expected one above {checked_version()}, came {version}')
    texts = with_addresses()
    for name, pattern, new in (
        ('CHANGELOG.rst', forthcoming, f'{title}\n{"-" * len(title)}'),
        *((name, PLACES[name], version) for name in PLACES if name != 'CHANGELOG.rst'),
        ('CITATION.cff', r'^date-released: (.*)$', today),
    ):
        texts[name] = replaced(name, texts.get(name) or text_of(name), pattern, new)
    # Only now: where one file is wrong, none is written.
    write(texts)
    print(f'version: {version}, {today}; read the changelog and commit')


def write_addresses() -> None:
    """Write the addresses of env/urls.txt into every file that repeats them."""
    texts = with_addresses()
    write(texts)
    print(f'addresses: {", ".join(texts)} have those of env/urls.txt')


def with_addresses() -> dict[str, str]:
    """Return the texts of the files that repeat addresses, with those of env/urls.txt."""
    given = addresses()
    author, email = (given['author'], given['email']) if given else STAND_IN
    manifest = re.sub(r'  <url .*\n', '', text_of('package.xml'))
    manifest = replaced(
        'package.xml', manifest, r'^  (<maintainer .*</maintainer>)$',
        f'<maintainer email="{html.escape(email)}">{html.escape(author)}</maintainer>',
    )
    kinds = (('website', 'docs'), ('bugtracker', 'issues'), ('repository', 'repository'))
    urls = ''.join(
        f'\n  <url type="{kind}">{html.escape(given[key])}</url>' for kind, key in kinds if given
    )
    manifest = replaced('package.xml', manifest, r'^  <license .*</license>()$', urls)
    citation = re.sub(r'repository-code: .*\n', '', text_of('CITATION.cff'))
    if given:
        citation = replaced('CITATION.cff', citation, r'^  - name: (.*)$', author)
        citation += f'repository-code: {given["repository"]}\n'
    return {'package.xml': manifest, 'CITATION.cff': citation}


def addresses() -> dict[str, str]:
    """Return the addresses of env/urls.txt by name: all of them, or none while none is given."""
    given = {}
    for line in text_of('env/urls.txt').splitlines():
        if line and not line.startswith('#'):
            name, _, value = line.partition('=')
            given[name.strip()] = value.strip()
    if not any(given.values()):
        return {}
    for name, value in given.items():
        form = {'email': r'[^@\s]+@[^@\s]+\.\w+', 'author': '.+'}.get(name, r'https://\S+/\S+')
        if not re.fullmatch(form, value) or PLACEHOLDERS.search(value.encode()):
            fail(f'env/urls.txt: {name}: expected the real one, as others are filled in, '
                 f'came {value!r}')
    return given


def check_addresses(is_release: bool) -> None:
    """Refuse copies that differ from env/urls.txt; a release needs addresses."""
    for name, text in with_addresses().items():
        if text != text_of(name):
            fail(f'{name}: expected author and addresses of env/urls.txt: run make addresses')
    if is_release and not addresses():
        fail(f'package.xml: the maintainer is the stand-in {" ".join(STAND_IN)}: fill in '
             'env/urls.txt, then run make addresses')


def checked_version() -> str:
    """Return the version, which is the same everywhere and the newest of the changelog."""
    versions = {name: found(name, pattern) for name, pattern in PLACES.items()}
    if len(set(versions.values())) != 1:
        fail(f'versions differ: {", ".join(f"{name} {each}" for name, each in versions.items())}')
    return versions['package.xml']


def built_version(is_release: bool) -> str:
    """Return what is built: the version; the next one's .devN of what is forthcoming.

    To be checked, a version without a tag is a candidate, rcN. N counts the commits, so that it
    grows.
    """
    version = checked_version()
    is_forthcoming = re.search('^Forthcoming$', text_of('CHANGELOG.rst'), re.MULTILINE)
    if is_release and is_forthcoming:
        fail('CHANGELOG.rst: Forthcoming has no version; run make version VERSION=1.0.0')
    if is_release or (not is_forthcoming and version in output('git', 'tag').split()):
        return version
    commits = output('git', 'rev-list', '--count', 'HEAD').strip()
    first, second, _ = numbers(version)
    return f'{first}.{second + 1}.0.dev{commits}' if is_forthcoming else f'{version}rc{commits}'


def numbers(version: str) -> tuple[int, ...]:
    """Return the three numbers of a version."""
    return tuple(int(word) for word in version.split('.'))


def text_of(name: str) -> str:
    """Return the text of a file of the tree."""
    return (ROOT / name).read_text(encoding='utf-8')


def write(texts: Mapping[str, str]) -> None:
    """Write files of the tree."""
    for name, text in texts.items():
        (ROOT / name).write_text(text, encoding='utf-8')


def replaced(name: str, text: str, pattern: str, new: str) -> str:
    """Return the text of a file with the group of the first line that fits replaced."""
    match = re.search(pattern, text, re.MULTILINE)
    if match is None:
        fail(f'{name}: expected a line that fits {pattern}')
    return text[:match.start(1)] + new + text[match.end(1):]


def found(name: str, pattern: str) -> str:
    """Return the group of the first line that fits."""
    match = re.search(pattern, text_of(name), re.MULTILINE)
    return match[1] if match else 'none'


# What is uploaded.


def build(is_release: bool, is_quick: bool = False) -> None:
    """Build, try and list what is uploaded, in a folder of its own."""
    check_addresses(is_release)
    version = built_version(is_release)
    # What is committed, or, to be checked, what stands in the tree.
    commit = output('git', 'stash', 'create').strip()
    if is_release and (commit or output('git', 'status', '--porcelain')):
        fail('the tree has changes, expected all of it committed')
    if is_release and version in output('git', 'tag').split():
        fail(f'{version}: there is such a tag already, expected a new version')
    step(f'{version}: versions and addresses')
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        tools = made_tools(work)
        files = built_twice(work, tools, version, commit or 'HEAD')
        run(tools / 'twine', 'check', '--strict', *files)
        step('the metadata are as an index takes them')
        run(tools / 'python', ROOT / 'env' / 'manifest.py')
        step('package.xml and CHANGELOG.rst are as bloom reads them')
        if not is_quick:
            files.append(tried(work, tools, files[0]))
        if is_release:
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


def built_twice(work: Path, tools: Path, version: str, commit: str = 'HEAD') -> list[Path]:
    """Return wheel and sdist of a commit; the sdist must build the same wheel."""
    # The sdist has no write permission of groups either.
    archive = output('git', '-c', 'tar.umask=0022', 'archive', commit, text=False)
    (work / 'tree').mkdir()
    run('tar', '-x', '-C', work / 'tree', given=archive)
    module = work / 'tree' / 'propulsion_ros' / '__init__.py'
    module.write_text(
        replaced(module.name, module.read_text('utf-8'), STATED, version), encoding='utf-8'
    )
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
    faults = [fault for path in (wheel, sdist) for fault in placeholders(path)]
    if faults:
        fail('; '.join(faults))
    step('no file of them has a placeholder')
    return [wheel, sdist]


def placeholders(path: Path) -> Iterator[str]:
    """Yield the placeholders in the files of a wheel or an sdist, with their places."""
    for name, content in contents(path):
        # Text alone: a picture has any bytes.
        for match in PLACEHOLDERS.finditer(content) if b'\0' not in content else ():
            is_stand_in = name.endswith('package.xml') and match[0].decode() in STAND_IN[1]
            if not is_stand_in:
                line = content.count(b'\n', 0, match.start()) + 1
                yield f'{path.name}: {name}:{line}: the placeholder {match[0].decode()}'


def contents(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a wheel or an sdist."""
    if path.suffix == '.whl':
        with zipfile.ZipFile(path) as wheel:
            yield from ((name, wheel.read(name)) for name in wheel.namelist())
    else:
        with tarfile.open(path) as sdist:
            yield from ((each.name, sdist.extractfile(each).read())
                        for each in sdist if each.isfile())


def tried(work: Path, tools: Path, wheel: Path) -> Path:
    """Return the bill of materials of an empty environment in which everything has run."""
    (work / 'home').mkdir()
    run(sys.executable, '-m', 'venv', work / 'empty')
    python = work / 'empty' / 'bin' / 'python'
    run(python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check',
        f'{wheel}[{EXTRAS}]', env={**os.environ, 'HOME': str(work / 'home')})
    step(f'{wheel.name}[{EXTRAS}] installed into an empty environment')
    run(sys.executable, ROOT / 'env' / 'every_command.py', work / 'empty', shown=True)
    step('every command has run')
    run(sys.executable, ROOT / 'env' / 'first_pages.py', work / 'empty', shown=True)
    step('the first pages have run')
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
