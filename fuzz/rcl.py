# SPDX-License-Identifier: Apache-2.0
"""Parameter files as ROS 2 itself reads them: its own parser, out of the wheel of rclpy."""
from __future__ import annotations

import ctypes
import functools
from pathlib import Path
from typing import Any


class _Allocator(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in (
        'allocate', 'deallocate', 'reallocate', 'zero_allocate', 'state')]


def _array(kind: Any) -> Any:
    """Return a pointer to a structure of values and their number."""
    fields = [('values', ctypes.POINTER(kind)), ('size', ctypes.c_size_t)]
    return ctypes.POINTER(type(f'_{kind.__name__}s', (ctypes.Structure,), {'_fields_': fields}))


class _Strings(ctypes.Structure):
    _fields_ = [('size', ctypes.c_size_t), ('values', ctypes.POINTER(ctypes.c_char_p))]


class _Variant(ctypes.Structure):
    _fields_ = [
        ('bool', ctypes.POINTER(ctypes.c_bool)), ('int', ctypes.POINTER(ctypes.c_int64)),
        ('double', ctypes.POINTER(ctypes.c_double)), ('string', ctypes.c_char_p),
        ('bytes', _array(ctypes.c_uint8)), ('bools', _array(ctypes.c_bool)),
        ('ints', _array(ctypes.c_int64)), ('doubles', _array(ctypes.c_double)),
        ('strings', ctypes.POINTER(_Strings)),
    ]


class _Node(ctypes.Structure):
    _fields_ = [
        ('names', ctypes.POINTER(ctypes.c_char_p)), ('values', ctypes.POINTER(_Variant)),
        ('count', ctypes.c_size_t), ('capacity', ctypes.c_size_t),
    ]


class _Params(ctypes.Structure):
    _fields_ = [
        ('names', ctypes.POINTER(ctypes.c_char_p)), ('nodes', ctypes.POINTER(_Node)),
        ('count', ctypes.c_size_t), ('capacity', ctypes.c_size_t), ('allocator', _Allocator),
    ]


class _Reason(ctypes.Structure):
    _fields_ = [('text', ctypes.c_char * 1024)]


@functools.cache
def _parser() -> tuple[Any, _Allocator]:
    # It loads the libraries, which lie in a folder that only it knows.
    from rclpy.impl.implementation_singleton import rclpy_implementation  # noqa: F401

    parser, tools = (ctypes.CDLL(f'lib{name}.so') for name in ('rcl_yaml_param_parser', 'rcutils'))
    tools.rcutils_get_default_allocator.restype = _Allocator
    parser.rcl_yaml_node_struct_init.argtypes = [_Allocator]
    parser.rcl_yaml_node_struct_init.restype = ctypes.POINTER(_Params)
    parser.rcl_parse_yaml_file.argtypes = [ctypes.c_char_p, ctypes.POINTER(_Params)]
    parser.rcl_parse_yaml_file.restype = ctypes.c_bool
    parser.rcl_yaml_node_struct_fini.argtypes = [ctypes.POINTER(_Params)]
    parser.reason = tools.rcutils_get_error_string
    parser.reason.restype = _Reason
    parser.reset = tools.rcutils_reset_error
    return parser, tools.rcutils_get_default_allocator()


def read(path: Path) -> dict[str, dict[str, Any]]:
    """Return the parameters of each node of a file; raise `ValueError` where ROS refuses it."""
    parser, allocator = _parser()
    params = parser.rcl_yaml_node_struct_init(allocator)
    try:
        if not parser.rcl_parse_yaml_file(bytes(path), params):
            reason = parser.reason().text.decode('utf-8', 'replace')
            parser.reset()
            raise ValueError(reason)
        found = params.contents
        return {
            _text(found.names[i]): {
                _text(node.names[k]): _value(node.values[k]) for k in range(node.count)
            } for i in range(found.count) for node in (found.nodes[i],)
        }
    finally:
        parser.rcl_yaml_node_struct_fini(params)


def _text(value: bytes) -> str:
    return value.decode('utf-8', 'replace')


def _value(variant: _Variant) -> Any:
    for name, _ in _Variant._fields_:
        pointer = getattr(variant, name)
        if name == 'string' and pointer is not None:
            return _text(pointer)
        if not pointer:
            continue
        if not name.endswith('s'):
            return pointer.contents.value
        values = [pointer.contents.values[i] for i in range(pointer.contents.size)]
        return [_text(value) if isinstance(value, bytes) else value for value in values]
    return None
