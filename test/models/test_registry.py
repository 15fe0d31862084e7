# SPDX-License-Identifier: Apache-2.0
"""The registry of families: what installed packages add, and what of them is refused."""
import importlib.metadata
import sys

import pytest
from fake_packages import FakePackages

from propulsion_ros.models import registry as families
from propulsion_ros.models.registry import FAMILIES, REGISTRY
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.tools.check import check_file
from propulsion_ros.urdf import reader
from propulsion_ros.urdf.reader import actuators_from_urdf

WHOLE = """
from propulsion_ros.models.common.facts import FamilyFacts
from propulsion_ros.models.rotors.rotors import Rotors


class Props(Rotors):
    facts = FamilyFacts(tag='prop')
"""
PARAMS = """
from dataclasses import dataclass

from propulsion_ros.settings.quantity import names, quantity


@dataclass(frozen=True)
class Params:
    names: tuple = names('names')
"""
ROBOT = (
    '<robot name="r"><link name="l"/><gazebo><plugin filename="propulsion_ros" name="outside">'
    '<family>props</family><prop name="a"><link>l</link><max_thrust>5</max_thrust>'
    '<motor_constant>1e-5</motor_constant></prop></plugin></gazebo></robot>'
)


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return what puts a package with one module and its entry points where Python finds it."""
    packages = FakePackages(tmp_path, monkeypatch)

    def put(package, entries, source=WHOLE, folder=''):
        packages(package, entries, source, folder)
        # What a process has read of a description is not read again.
        reader._specs.cache_clear()

    yield put
    packages.close()
    reader._specs.cache_clear()


def test_families_of_this_package_are_found_without_a_look_at_others(monkeypatch):
    def fail(**kwargs):
        raise RuntimeError('somebody looks')

    families._found_on.cache_clear()
    monkeypatch.setattr(importlib.metadata, 'entry_points', fail)
    for name, family in FAMILIES.items():
        assert name in REGISTRY
        assert REGISTRY[name] is REGISTRY.require(name) is family
    with pytest.raises(ConfigError, match='RuntimeError: somebody looks'):
        REGISTRY.require('props')


def test_installed_family_is_imported_when_it_is_asked_for(install):
    assert 'props' not in REGISTRY
    install('my_props', {'props': 'my_props:Props'})
    assert 'props' in REGISTRY
    assert set(REGISTRY) == {*FAMILIES, 'props'}
    assert len(REGISTRY) == len(FAMILIES) + 1
    assert 'my_props' not in sys.modules
    assert REGISTRY['props'].__module__ == 'my_props'


def test_others_stay_unimported(install):
    install('my_props', {'props': 'my_props:Props'})
    install('broken', {'wrecks': 'broken:Wrecks'}, 'raise RuntimeError')
    (spec,) = actuators_from_urdf(ROBOT)
    assert (spec.family, spec.values['names']) == ('props', ['a'])
    assert 'broken' not in sys.modules


@pytest.mark.parametrize(('value', 'source', 'said'), [
    pytest.param('nowhere:Props', '', "ModuleNotFoundError: No module named 'nowhere'",
                 id='no module'),
    pytest.param('outside:Props', '', "AttributeError: module 'outside' has no attribute 'Props'",
                 id='no class'),
    pytest.param('outside:Props', 'raise RuntimeError("no\\nluck")', 'RuntimeError: no\\nluck',
                 id='raises in two lines'),
    pytest.param('outside:Props', 'class Props: pass',
                 "AttributeError: type object 'Props' has no attribute 'Params'", id='no Params'),
    pytest.param('outside:Props', 'class Props: Params = dict',
                 'TypeError: must be called with a dataclass type or instance',
                 id='Params no dataclass'),
    pytest.param('outside:Props', PARAMS + '    size: int = 1\nclass Props: Params = Params',
                 "TypeError: field 'size' is not made by quantity, names or group",
                 id='field without meaning'),
])
def test_family_that_cannot_be_used_is_one_line(install, value, source, said):
    install('outside', {'props': value}, source)
    with pytest.raises(ConfigError) as error:
        REGISTRY.require('props')
    assert str(error.value) == (
        f"parameter 'family': 'props' of package outside ({value}) cannot be used: {said}"
    )


def test_what_a_family_lacks_is_named(install):
    source = PARAMS + 'class Props:\n    Params = Params\n    def step(self): pass\n'
    install('outside', {'props': 'outside:Props'}, source)
    with pytest.raises(
        ConfigError, match=r'no family: lacks check_command, reset, rest, link_wrenches, facts$'
    ):
        REGISTRY.require('props')


def test_a_family_without_a_tag_is_refused(install):
    install('outside', {'props': 'outside:Props'}, WHOLE.replace("tag='prop'", ''))
    with pytest.raises(ConfigError, match=r'no family: its facts have no tag for its names'):
        REGISTRY.require('props')


def test_plugin_block_says_where_it_asks_for_it(install):
    install('outside', {'props': 'nowhere:Props'})
    with pytest.raises(ConfigError) as error:
        actuators_from_urdf(ROBOT)
    assert str(error.value).startswith(
        "gazebo/plugin[name=outside]/family: 'props' of package outside (nowhere:Props) cannot be"
    )


def test_unknown_family_is_compared_with_installed_ones(install):
    install('my_props', {'props': 'my_props:Props'})
    with pytest.raises(ConfigError, match=r"'prop', did you mean 'props'\?; known: .*, props, "):
        REGISTRY.require('prop')


@pytest.mark.parametrize(('packages', 'said'), [
    pytest.param({'mine': 'rotors'},
                 "'rotors' is one of propulsion_ros itself and one of package mine (mine:Props)",
                 id='of this package'),
    pytest.param({'mine': 'props', 'yours': 'props'},
                 "'props' is one of package yours (yours:Props) and one of package mine "
                 '(mine:Props)', id='of another'),
])
def test_name_that_is_taken_is_one_line(install, tmp_path, packages, said):
    for package, name in packages.items():
        install(package, {name: f'{package}:Props'})
    with pytest.raises(ConfigError) as error:
        REGISTRY.require('props')
    assert str(error.value) == f"parameter 'family': {said}"
    # What does not ask for any other family is told by a check alone.
    (tmp_path / 'a.yaml').write_text(
        'rotors:\n  ros__parameters: {names: [a], max_thrust: [5.0], motor_constant: [1e-5]}\n'
    )
    assert check_file(tmp_path / 'a.yaml').faults == [
        f"{tmp_path / 'a.yaml'}: parameter 'family': {said}"
    ]
    assert REGISTRY['rotors'] is FAMILIES['rotors']


def test_packages_whose_metadata_is_broken_are_one_line(install, tmp_path):
    install('broken', {})
    (info,) = tmp_path.glob('broken/*.dist-info')
    (info / 'entry_points.txt').write_bytes(b'[console_scripts]\n\xff = a:b\n')
    with pytest.raises(ConfigError, match='installed packages cannot be read: UnicodeDecodeError'):
        REGISTRY.check()


def test_an_overlay_hides_the_same_package_beneath(install):
    install('my_props', {'props': 'nowhere:Props'}, folder='underlay')
    install('my_props', {'props': 'my_props:Props'}, folder='overlay')
    assert REGISTRY['props'].__module__ == 'my_props'
