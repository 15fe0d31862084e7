# SPDX-License-Identifier: Apache-2.0
"""Arguments of the launch files, read from the source: launch itself is not a wheel."""
from __future__ import annotations

import ast

from markdown_pages import REPOSITORY
from page_graphs import PageError


def launch_arguments(name):
    """Return the arguments of a launch file with their choices, () for any value.

    They are literals in `propulsion_ros/graph/launch_actions.py`: `ARGUMENTS`, and ``arguments``
    of the function that the file calls; or the file declares them itself, some by their names in
    `ARGUMENTS`.
    """
    path = REPOSITORY / 'launch' / name
    if not path.is_file():
        raise PageError(f'no launch file {name}')
    calls = [node for node in ast.walk(_parse(path)) if isinstance(node, ast.Call)]
    shared = _parse(REPOSITORY / 'propulsion_ros/graph/launch_actions.py').body
    functions = {ast.unparse(call.func) for call in calls}
    tables = [
        node.value for function in shared
        if isinstance(function, ast.FunctionDef) and function.name in functions
        for node in function.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        and ast.unparse(node.target if isinstance(node, ast.AnnAssign) else node.targets[0])
        == 'arguments'
    ]
    common = next(
        node.value for node in shared
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == 'ARGUMENTS'
    )
    found = {}
    chosen = {
        name for node in ast.walk(_parse(path)) if isinstance(node, ast.GeneratorExp)
        for name in ast.literal_eval(node.generators[0].iter)
    }
    # A function that has arguments of its own alone does not name the common ones.
    is_common = chosen or any(None in table.keys for table in tables)
    for table in (*([common] if is_common else ()), *tables):
        for key, value in zip(table.keys, table.values, strict=True):
            if isinstance(key, ast.Constant) and (not chosen or key.value in chosen):
                keys = [None if each is None else ast.literal_eval(each) for each in value.keys]
                options = dict(zip(keys, value.values, strict=True))
                # A launch file that changes a default keeps the choices.
                found[key.value] = _choices(options.get('choices'), found.get(key.value, ()))
    for call in calls:
        if ast.unparse(call.func) == 'DeclareLaunchArgument' and call.keywords[0].arg:
            options = {keyword.arg: keyword.value for keyword in call.keywords}
            found[ast.literal_eval(call.args[0])] = _choices(options.get('choices'), ())
    return found


def _parse(path):
    return ast.parse(path.read_text(encoding='utf-8'))


def _choices(node, otherwise):
    if isinstance(node, ast.Name):
        shared = _parse(REPOSITORY / 'propulsion_ros/graph/launch_actions.py').body
        node = next(
            each.value for each in shared
            if isinstance(each, ast.Assign) and each.targets[0].id == node.id
        )
    return otherwise if node is None else tuple(ast.literal_eval(node))
