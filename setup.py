# SPDX-License-Identifier: Apache-2.0
"""Install propulsion_ros as an ament_python package, with colcon or with pip."""
import re
from glob import glob
from os.path import isdir
from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = 'propulsion_ros'


def wheels(distro):
    """Return the requirements of a ROS 2 that comes as wheels."""
    lines = Path(__file__).with_name('env').joinpath(f'{distro}.txt').read_text().splitlines()
    return [line for line in lines if line and not line.startswith('#')]


def version():
    """Return the version that the package states: it may need more than is installed here."""
    text = Path(__file__).with_name(PACKAGE).joinpath('__init__.py').read_text(encoding='utf-8')
    return re.search(r"^__version__ = '(.+)'$", text, re.MULTILINE)[1]


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
        (f'share/{PACKAGE}/rviz', glob('rviz/*')),
        (f'share/{PACKAGE}/plotjuggler', glob('plotjuggler/*')),
        (f'share/{PACKAGE}/examples', glob('examples/*.*')),
        *((f'share/{PACKAGE}/{folder}', glob(f'{folder}/*.*')) for folder in glob('examples/*')
          if isdir(folder)),
        # pip ignores install_scripts, so what `ros2 run` and launch look for is shipped as data.
        (f'lib/{PACKAGE}', glob('scripts/*')),
    ],
    install_requires=['setuptools', 'numpy', 'scipy', 'json5', 'defusedxml', 'PyYAML'],
    extras_require={
        'bag': ['rosbags'], 'plot': ['matplotlib'], 'xacro': ['xacro'],
        'learn': ['gymnasium'],
        'view': ['meshcat', 'plotly', 'pycollada', 'rosbags', 'trimesh'],
        # Beside a sourced ROS 2 it is not needed; the vehicles of the package are written in xacro.
        'ros': [*wheels('kilted'), 'xacro'],
    },
    entry_points={'console_scripts': [f'{PACKAGE} = {PACKAGE}.tools.cli:main']},
    python_requires='>=3.10',
    zip_safe=False,
    author='propulsion_ros maintainers',
    maintainer='propulsion_ros maintainers',
    maintainer_email='propulsion-ros@users.noreply.github.com',
    description='Actuator physics and flight logic for robots that push against something.',
    license='Apache-2.0',
)
