# SPDX-License-Identifier: Apache-2.0
"""Install propulsion_ros as an ament_python package, with colcon or with pip."""
import re
from glob import glob
from os.path import isdir
from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = 'propulsion_ros'
HERE = Path(__file__).parent
# A link of a page: to a file of the repository, neither to an address nor within the page.
LINK = re.compile(r'(!?)(\[[^]]*\])\((?![a-z]+:|#)([^)\s]+)\)')


def lines(name):
    """Return the lines of a file in env/ without comments."""
    text = HERE.joinpath('env', name).read_text(encoding='utf-8')
    return [line for line in text.splitlines() if line and not line.startswith('#')]


def needs(*names):
    """Return the requirements of these names as env/tools.txt has them: ranges, not pins."""
    ranges = {re.match(r'[\w-]+', line)[0]: line for line in lines('tools.txt')}
    return [ranges[name] for name in names]


def version():
    """Return the version that the package states: it may need more than is installed here."""
    text = HERE.joinpath(PACKAGE, '__init__.py').read_text(encoding='utf-8')
    return re.search(r"^__version__ = '(.+)'$", text, re.MULTILINE)[1]


def addresses():
    """Return the addresses of the package by name, none while env/urls.txt is not filled in."""
    pairs = (line.partition('=') for line in lines('urls.txt'))
    return {name.strip(): value.strip() for name, _, value in pairs if value.strip()}


def long_description(repository):
    """Return the README with links that work on a package index, which has no files beside it."""
    text = HERE.joinpath('README.md').read_text(encoding='utf-8')
    if not repository:
        return text

    def link(found):
        kind = 'raw' if found[1] else 'blob'
        return f'{found[1]}{found[2]}({repository}/{kind}/{version()}/{found[3]})'
    return LINK.sub(link, text)


def about(urls):
    """Return what an index has of author and addresses: nothing while there is none."""
    if not urls:
        return {}
    return {
        'author': urls['author'], 'maintainer': urls['author'], 'maintainer_email': urls['email'],
        'url': urls['repository'],
        'project_urls': {
            'Documentation': urls['docs'], 'Issues': urls['issues'], 'Security': urls['security'],
            'Changelog': f'{urls["repository"]}/blob/{version()}/CHANGELOG.rst',
        },
    }


URLS = addresses()

setup(
    name=PACKAGE,
    version=version(),
    packages=find_packages(include=[PACKAGE, f'{PACKAGE}.*']),
    package_data={PACKAGE: ['py.typed', 'view/page.*', 'view/*.js']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (f'share/{PACKAGE}', ['package.xml']),
        (f'share/{PACKAGE}/launch', glob('launch/*.launch.py')),
        (f'share/{PACKAGE}/config', glob('config/*')),
        (f'share/{PACKAGE}/urdf', glob('urdf/*')),
        (f'share/{PACKAGE}/qos', glob('qos/*')),
        (f'share/{PACKAGE}/worlds', glob('worlds/*')),
        (f'share/{PACKAGE}/policies', glob('policies/*')),
        (f'share/{PACKAGE}/studies', glob('studies/*')),
        (f'share/{PACKAGE}/rviz', glob('rviz/*')),
        (f'share/{PACKAGE}/plotjuggler', glob('plotjuggler/*')),
        (f'share/{PACKAGE}/examples', glob('examples/*.*')),
        *((f'share/{PACKAGE}/{folder}', glob(f'{folder}/*.*')) for folder in glob('examples/*')
          if isdir(folder)),
        # pip ignores install_scripts, so what `ros2 run` and launch look for is shipped as data.
        (f'lib/{PACKAGE}', glob('scripts/*')),
    ],
    install_requires=needs('numpy', 'scipy', 'json5', 'defusedxml', 'PyYAML'),
    extras_require={
        'bag': needs('rosbags'), 'plot': needs('matplotlib'), 'xacro': needs('xacro'),
        'learn': needs('gymnasium'), 'px4': needs('pyulog', 'rosbags'),
        'study': needs('distributed'),
        'view': needs('plotly', 'pycollada', 'rosbags', 'trimesh'),
        # Not needed beside a sourced ROS 2. Vehicles are written in xacro, recordings are bags.
        'ros': [*lines('kilted.txt'), *needs('xacro', 'rosbags')],
    },
    entry_points={'console_scripts': [f'{PACKAGE} = {PACKAGE}.tools.cli:main']},
    python_requires='>=3.10',
    zip_safe=False,
    **about(URLS),
    description='Actuator physics and flight logic for robots that push against something.',
    long_description=long_description(URLS.get('repository')),
    long_description_content_type='text/markdown',
    license='Apache-2.0',
    license_files=['LICENSE', 'NOTICE'],
    keywords=[
        'ROS 2', 'robotics', 'simulation', 'actuators', 'propulsion', 'rocket', 'drone', 'AUV',
        'ROV', 'satellite', 'thruster', 'rotor', 'flight computer', 'apogee', 'Gazebo', 'URDF',
    ],
    classifiers=[
        'Development Status :: 4 - Beta',
        'Intended Audience :: Developers',
        'Intended Audience :: Science/Research',
        'Operating System :: POSIX :: Linux',
        'Programming Language :: Python :: 3',
        *(f'Programming Language :: Python :: 3.{minor}' for minor in range(10, 15)),
        'Topic :: Scientific/Engineering :: Physics',
        'Typing :: Typed',
    ],
)
