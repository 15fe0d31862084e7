# SPDX-License-Identifier: Apache-2.0
"""Install propulsion_ros as an ament_python package, with colcon or with pip."""
from glob import glob
from os.path import isdir

from setuptools import find_packages, setup

PACKAGE = 'propulsion_ros'

setup(
    name=PACKAGE,
    version='0.1.0',
    packages=find_packages(include=[PACKAGE, f'{PACKAGE}.*']),
    package_data={PACKAGE: ['py.typed']},
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
    extras_require={'bag': ['rosbags'], 'plot': ['matplotlib'], 'xacro': ['xacro']},
    entry_points={'console_scripts': [f'{PACKAGE} = {PACKAGE}.tools.cli:main']},
    python_requires='>=3.10',
    zip_safe=False,
    author='propulsion_ros maintainers',
    maintainer='propulsion_ros maintainers',
    maintainer_email='propulsion-ros@users.noreply.github.com',
    description='Actuator physics and flight logic for robots that push against something.',
    license='Apache-2.0',
)
