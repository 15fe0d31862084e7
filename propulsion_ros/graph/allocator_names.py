"""How allocators are called: after the group that they command."""
from __future__ import annotations

_SUFFIX = '_allocator'


def allocator_named(group: str) -> str:
    """Return the name of the allocator of a group."""
    return group + _SUFFIX


def is_allocator(node: str) -> bool:
    """Whether a node is called after a group that it commands, or plainly ``allocator``."""
    return f'_{node}'.endswith(_SUFFIX)


def group_of(node: str) -> str:
    """Return the group that a node commands if it is an allocator, else its own name."""
    return node.removesuffix(_SUFFIX)
