# SPDX-License-Identifier: Apache-2.0
import pytest

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.yaml_file import (
    SIZE_LIMIT,
    ParameterFile,
    YamlBudget,
    write_parameters,
)
from refusals import refusal


def parameters(name, values):
    return f'{name}:\n  ros__parameters:\n' + ''.join(f'    {line}\n' for line in values)


@pytest.mark.parametrize(('pattern', 'node', 'namespace', 'is_meant'), [
    pytest.param('fam', 'fam', '/', True, id='name'),
    pytest.param('/fam', 'fam', '/', True, id='absolute name'),
    pytest.param('/**/fam', 'fam', '/', True, id='any namespace, none'),
    pytest.param('/**/fam', 'fam', '/a/b', True, id='any namespace, two'),
    pytest.param('/**', 'fam', '/a', True, id='any node'),
    pytest.param('/*/fam', 'fam', '/a', True, id='one token'),
    pytest.param('/*/fam', 'fam', '/', False, id='one token, none'),
    pytest.param('/*/fam', 'fam', '/a/b', False, id='one token, two'),
    pytest.param('/a/fam', 'fam', '/a', True, id='namespace'),
    pytest.param('/a/fam', 'fam', '/b', False, id='another namespace'),
    pytest.param('/**/fam', 'inverse_fam', '/', False, id='a part of the name'),
])
def test_names_match_as_in_ros(written, pattern, node, namespace, is_meant):
    file = ParameterFile(written(parameters(pattern, ['x: 1'])))
    assert file.of(node, namespace) == ({'x': 1} if is_meant else {})


def test_groups_are_flattened_and_later_entries_win(written):
    text = parameters('/**', ['a: 1', 'b: {c: 2, d.e: [3, 4]}']) + parameters('fam', ['b.c: 5'])
    file = ParameterFile(written(text))
    assert file.of('fam') == {'a': 1, 'b.c': 5, 'b.d.e': [3, 4]}
    assert file.nodes == ['fam']


def test_namespaces_may_be_nested(written):
    file = ParameterFile(written('a:\n  b:\n    fam:\n      ros__parameters: {x: 1}\n'))
    assert file.of('fam', '/a/b') == {'x': 1}
    assert file.of('fam') == {}


@pytest.mark.parametrize(('text', 'said'), [
    pytest.param('a: [', 'is not YAML', id='no YAML'),
    pytest.param('- a', "document: expected node names, got ['a']"
                 '; expected NODE, ros__parameters and KEY', id='a list'),
    pytest.param('', 'document: expected node names, got None', id='empty'),
    pytest.param('n:\n  ros__parameters:\n    a: {x: [1.0, true]}\n', 'n/a.x: expected values of '
                 'one type', id='two types in a group'),
    pytest.param('[' * 5000, 'is nested too deeply', id='depth'),
])
def test_what_is_no_parameter_file_is_said_in_one_line(written, text, said):
    path = written(text)
    line = refusal(ParameterFile, path)
    assert said in line
    assert str(path) in line


@pytest.mark.parametrize('text', [
    pytest.param('a: [1, {b: c}, "d"]\n# ' + 'x' * 100_000, id='plain'),
    pytest.param('a: &a [1, 2]\nb: [*a, *a]\n', id='a few aliases'),
    pytest.param('a: [', id='no YAML'),
    pytest.param('[' * 60 + ']' * 60, id='as deep as may be'),
    pytest.param('x' * 400_000, id='long'),
])
def test_budget_is_enough_for(text):
    budget = YamlBudget('bag')
    budget.take(text)
    with pytest.raises(SourceError):
        budget.take('x' * 1_000_000)  # it is for all texts together


@pytest.mark.parametrize(('text', 'problem'), [
    pytest.param('a: &a [1, 1, 1, 1]\n' + ''.join(
        f'{"a" * i}: &{"a" * i} [{", ".join(["*" + "a" * (i - 1)] * 9)}]\n' for i in range(2, 12)
    ), 'bag: has more YAML than any bag', id='aliases that expand'),
    pytest.param('a: &a [*a]', 'bag: has more YAML than any bag', id='an alias of itself'),
    pytest.param('[' + '1,' * 60_000 + ']', 'bag: has more YAML than any bag', id='dense'),
    pytest.param('x' * 2_000_000, 'bag: has more YAML than any bag', id='long'),
    pytest.param('[' * 100_000, 'bag: is nested too deeply', id='deep'),
])
def test_budget_is_not_enough_for(text, problem):
    assert refusal(YamlBudget('bag').take, text) == problem


@pytest.mark.parametrize('number', ['1' * 1001, '0x' + 'f' * 1000])
def test_numbers_that_no_error_could_show(written, number):
    with pytest.raises(SourceError, match='a number of'):
        ParameterFile(written(parameters('n', [f'x: {number}'])))


def test_lines_of_keys(written):
    file = ParameterFile(written(
        'n:\n  ros__parameters:\n    a: 1\n    g:\n      b: 2\n      c.d: 3\n    a: 4\n'
    ))
    lines = {key: file.place_of('n', key).rpartition(':')[2] for key in ('a', 'g.b', 'g.c.d', 'z')}
    assert lines == {'a': '7', 'g.b': '5', 'g.c.d': '6', 'z': '1'}
    (doubt,) = file.doubts()
    assert doubt[0].endswith('.yaml:7')
    assert doubt[1] == '/n/a: is given again, and line 3 has no effect; remove one'
    assert file.of('n')['a'] == 4


def test_file_of_the_largest_size(written):
    text = parameters('n', ['x: [' + '1.5, ' * 50_000 + '2.5]'])
    assert len(ParameterFile(written(text)).of('n')['x']) == 50_001
    with pytest.raises(SourceError, match='is larger than 262144 bytes'):
        ParameterFile(written(text + '#' * SIZE_LIMIT))


def test_what_is_written_wins_over_every_entry_of_the_old_file(tmp_path):
    """An entry for all nodes behind that of the group took its place."""
    old, path = tmp_path / 'old.yaml', tmp_path / 'fitted.yaml'
    old.write_text(
        '/rotors: {ros__parameters: {max_thrust: 1.0, seed: 7}}\n'
        '/**: {ros__parameters: {max_thrust: 123456.789}}\n'
    )
    write_parameters(path, ParameterFile(old), {'rotors': {'max_thrust': 3.0}}, ['Fitted.'])
    assert path.read_text().startswith('# Fitted.\n')
    written = ParameterFile(path)
    assert written.entries == [
        ('/**', {'max_thrust': 123456.789}), ('/rotors', {'max_thrust': 3.0, 'seed': 7}),
    ]
    assert written.of('rotors') == {'max_thrust': 3.0, 'seed': 7}
