# SPDX-License-Identifier: Apache-2.0
"""Formats of text as trees: XML, YAML, JSON, and tables of words."""
from __future__ import annotations

import functools
import json
from html import escape
from typing import Any
from xml.parsers.expat import ParserCreate

import yaml

from fuzz.mutation import RAW, Format, Node
from propulsion_ros.settings.json_node import parse_jsonc


def _xml(data: bytes) -> Node:
    root = Node('document', below=[Node('prolog', value='')])
    stack = [root]

    def start(name: str, attributes: dict[str, str]) -> None:
        node = Node('element', name, below=[
            Node('attribute', key, value) for key, value in attributes.items()
        ])
        stack[-1].below.append(node)
        stack.append(node)

    def text(value: str) -> None:
        if value.strip():
            stack[-1].below.append(Node('text', '', value))

    parser = ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda name: stack.pop()
    parser.CharacterDataHandler = text
    parser.Parse(data, True)
    return root


def _as_xml(node: Node) -> str:
    value = '' if node.value is None else str(node.value)
    below = ''.join(_as_xml(other) for other in node.below if other.kind != 'attribute')
    if node.kind == 'element':
        head = ''.join(
            f' {other.name}="{escape(str(other.value or ""))}"'
            for other in node.below if other.kind == 'attribute'
        )
        return f'<{node.name}{head}>{value}{below}</{node.name}>'
    return (escape(value) if node.kind in ('text', 'attribute') else value) + below


_PROLOGS = (
    '<?xml version="1.0" encoding="UTF-16"?>', '<?xml version="9.9"?>', '<!DOCTYPE robot>',
    '<?xml version="1.0" encoding="nothing"?>', '\ufeff', '\n\n', '<?xml version="1.0"?>' * 2,
    '<!DOCTYPE robot [<!ENTITY a "' + 'a' * 99 + '"><!ENTITY b "' + '&a;' * 99 + '">]>',
    '<!DOCTYPE robot [<!ENTITY a SYSTEM "file:///dev/zero">]>', '<?a b?>', '<!-- -- -->',
    '<!-- -->',
)
_XML_SNIPPETS = (
    '&a;', '&b;', '&#0;', '&#x110000;', '&#xd800;', '&lt;', '<![CDATA[1 2 3]]>', '<![CDATA[',
    '<!-- a -->', '<!--', '<?a b?>', '<a:b/>', '<a xmlns="x"/>', '<a xmlns:x="y"><x:a/></a>',
    '</a>',
    '<', '>', '<a a="1" a="2"/>', '1e400', ' nan ', '<a>' * 3000 + '</a>' * 3000, '<a/>' * 3000,
)
XML = Format(
    _xml, lambda root: _as_xml(root).encode('utf-8', 'surrogatepass'),
    {'prolog': _PROLOGS, RAW: _XML_SNIPPETS, '': ()}, _XML_SNIPPETS,
    ('text', RAW, 'element', 'attribute'),
)
_XACRO_SNIPPETS = (
    '${1 + 1}', '${', '${}', '${a}', '${1/0}', "${'a' * 10**9}", '${9**9**9}', '${[0] * 10**8}',
    '${[x for x in [1] * 10**7]}', '$(arg a)', '$(find nowhere)', '$(find propulsion_ros)',
    '$(eval 1)',
    '$(env HOME)', '$(', "${xacro.load_yaml('robot.urdf.xacro')}", '${pi.__class__}',
    '${xacro.arg("a")}', '<xacro:arg name="a" default="$(arg a)"/>',
    '<xacro:property name="a" value="${b}"/><xacro:property name="b" value="${a}"/>${a}',
    '<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>',
    '<xacro:macro name="m" params="a:=1 *b **c d:=^|2">${a}</xacro:macro><xacro:m><b/></xacro:m>',
    '<xacro:include filename="robot.urdf.xacro"/>', '<xacro:include filename="/dev/zero"/>',
    '<xacro:include filename="a&#10;b.xacro"/>', '<xacro:include filename="*"/>',
    '<xacro:if value="a"/>',
    '<xacro:if value="${1}"><a/></xacro:if>', '<xacro:unless/>', '<xacro:insert_block name="a"/>',
    '<xacro:element xacro:name="a b"/>', '<xacro:attribute name="a b" value="1"/>',
    '<xacro:call macro="m"/>',
    '<xacro:nothing/>', '<xacro:property name="a"><b/></xacro:property>',
)
XACRO = Format(XML.parse, XML.write, {
    'prolog': _PROLOGS, '': _XACRO_SNIPPETS,
}, (*_XML_SNIPPETS, *_XACRO_SNIPPETS, *_XACRO_SNIPPETS), XML.kinds)


def _yaml(data: bytes) -> Node:
    text = data.decode()
    root = yaml.compose(text, yaml.CSafeLoader)
    return Node('document', below=[_yaml_node('', root, text)])


def _yaml_node(name: str, node: Any, text: str) -> Node:
    if isinstance(node, yaml.MappingNode):
        return Node('mapping', name, None, [
            _yaml_node(_source(key, text), value, text) for key, value in node.value
        ])
    if isinstance(node, yaml.SequenceNode):
        return Node('sequence', name, None, [_yaml_node('', value, text) for value in node.value])
    return Node('scalar', name, _source(node, text))


def _source(node: Any, text: str) -> str:
    """Return a scalar as it is written; one over several lines in quotes."""
    source = text[node.start_mark.index:node.end_mark.index]
    return json.dumps(node.value) if '\n' in source or not source else source


def _as_yaml(node: Node, indent: int, is_flow: bool) -> str:
    if node.kind == 'mapping' and not (is_flow or node.value == '{'):
        lines = [
            f'{" " * indent}{other.name}: {_as_yaml(other, indent + 2, False)}'
            for other in node.below
        ]
        return '\n' + '\n'.join(lines) if lines else '{}'
    below = [_as_yaml(other, indent, True) for other in node.below]
    if node.kind == 'mapping':
        names = (other.name for other in node.below)
        pairs = zip(names, below, strict=True)
        return '{' + ', '.join(f'{name}: {text}' for name, text in pairs) + '}'
    if node.kind == 'sequence':
        return '[' + ', '.join(below) + ']'
    return ('' if node.value is None else str(node.value)) + ''.join(below)


def _yaml_text(root: Node) -> bytes:
    lines = (_as_yaml(node, 0, False).removeprefix('\n') for node in root.below)
    return ('\n'.join(lines) + '\n').encode('utf-8', 'surrogatepass')


_YAML_SNIPPETS = (
    '&a [1]', '*a', '&a {a: *a}', '<<: {a: 1}', '!!binary aGk=', '!!str 1', '!!int "1"',
    '!!float 1',
    '!!bool yes', '!!null x', '!!timestamp 2001-12-14', '!!set {a}', '!!omap [a: 1]', '!a b', '!',
    '!!python/object/apply:os.system [ls]', '|\n  a', '>-\n a', '"a\\\n b"', '"\\x00"',
    '"\\ud800"', "''",
    '"1"', '{', '}', '[', ']', '[1, 2.5]', '[1, [2]]', '[a, 1]', '[true, 1]', '[[1]]', '[null]',
    '[{a: 1}]',
    '{a: {b: {c: 1}}}', '{}', '[]', '? a', '- a', '- - 1', '%YAML 9.9', '---', '...', '# a', '\t',
    ': ',
    '@a', '`a', '[1, ]', '[,]', '{a, b}', '{a: , b}', '0x', '0xg', '1__0', '._', '.', '-', '+.inf',
    '0x' + 'f' * 20, '1' * 20, '1e99999', '=', '<<', '012', '08', '0o8', '-0x10', '+0x1', '1.e3',
    '1e3.0',
)
YAML = Format(
    _yaml, _yaml_text, {'mapping': ('{',), 'sequence': ('[',), '': _YAML_SNIPPETS}, _YAML_SNIPPETS,
    ('mapping', 'sequence', 'scalar'),
)


def _json(data: bytes) -> Node:
    return Node('document', below=[_json_node('', parse_jsonc(data.decode()))])


def _json_node(name: str, value: Any) -> Node:
    if isinstance(value, dict):
        return Node('object', name, None, [_json_node(key, below) for key, below in value.items()])
    if isinstance(value, list):
        return Node('array', name, None, [_json_node('', below) for below in value])
    return Node('leaf', name, json.dumps(value))


def _as_json(node: Node) -> str:
    below = [_as_json(other) for other in node.below]
    if node.kind == 'object':
        names = map(_json_key, node.below)
        return '{' + ', '.join(name + text for name, text in zip(names, below, strict=True)) + '}'
    if node.kind == 'array':
        return '[' + ', '.join(below) + ']'
    return _json_value(node) + ''.join(below)


def _json_key(node: Node) -> str:
    """Return what stands before a value: comments and pairs need nothing."""
    is_whole = node.kind == RAW and any(sign in str(node.value) for sign in ':/,')
    return '' if is_whole else f'{json.dumps(node.name)}: '


def _json_value(node: Node) -> str:
    value = '' if node.value is None else str(node.value)
    if node.kind == 'leaf':
        try:
            json.loads(value)
        except (ValueError, RecursionError):
            return json.dumps(value)
    return value


_JSON_SNIPPETS = (
    'null', 'true', 'false', '""', '"\\ud800"', '"\\u0000"', '"a\\nb"', '"\t"', "'a'", '{}', '[]',
    '[[]]',
    'NaN', '-Infinity', '1e999', '-0', '1.0', '0x10', '.5', '5.', '+1', '1' * 30, '1' * 2000,
    '// a\n',
    '/* a */', '/*', ',', ',,', '"a": 1', '"a": 1, "a": 2', 'a: 1', '"',
    '\\', '\u2028', '"' + 'a' * 3000 + '"',
    '[' * 900 + ']' * 900, '{"a":' * 900 + '1' + '}' * 900,
)
JSON = Format(
    _json, lambda root: _as_json(root).encode('utf-8', 'surrogatepass'), {'': _JSON_SNIPPETS},
    _JSON_SNIPPETS,
    ('object', 'array', 'leaf', RAW),
)


def _table(between: str, data: bytes) -> Node:
    """Return rows of words."""
    return Node('document', below=[
        Node('row', below=[Node('word', value=word) for word in line.split(between)])
        for line in data.decode().split('\n')
    ])


def _as_table(between: str, node: Node) -> str:
    below = [_as_table(between, other) for other in node.below]
    if node.kind == 'document':
        return '\n'.join(below)
    if node.kind == 'row':
        return (between if node.value is None else str(node.value)).join(below)
    return ('' if node.value is None else str(node.value)) + ''.join(below)


def _tables(between: str, snippets: tuple[str, ...]) -> Format:
    return Format(
        functools.partial(_table, between),
        lambda root: _as_table(between, root).encode('utf-8', 'surrogatepass'),
        {'row': (';', '\t', ' ', '', ',', ', ', '\n', between * 2), '': snippets}, snippets,
        ('row', 'word'),
    )


CSV = _tables(',', (
    '"', '""', '"a"', '"a', 'a"b', '"a\nb"', '"1"', '\r', '\r\n', '\n', '\n' * 3000, ',' * 3000,
    ' 1 ', '1;2',
    "'1'", '=1+1', '#', '1' * 5000, 'nan', '-inf', 'NULL', 'None', 'true', '1e-400', '٣', '1 000',
    '½',
    '9' * 30 + '.5', '-0.0', '1e9', '9e9', '-1e9',
))
WORDS = _tables(' ', (
    ';', '; a', '#', '//', '1/2/3', '1//3', '-1', '99999999999', '0/0/0', '\\', '\r', '\n', '\t',
))
