"""The source of a function, as a syntax tree that formatting does not change, and its digest."""

import ast
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from inspect import unwrap
from types import CodeType, MethodType
from typing import Any, TypeAlias, cast

__all__ = ["digest_of", "source_of"]

Node: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_NOT_MEANT = frozenset({"ctx", "kind", "type_comment"})
"""Fields of syntax trees that say nothing about what is done."""


def source_of(fn: Callable[..., Any]) -> str | None:
    """The function's own source text, without what stands around it; None if unknown."""
    found = _located(fn)
    return None if found is None else ast.get_source_segment(*found)


def digest_of(fn: Callable[..., Any]) -> str:
    """A digest of the function's syntax tree, else of its bytecode, else of its name."""
    from hashlib import sha256

    return f"sha256:{sha256(_meaning(fn).encode('utf-8', 'surrogatepass')).hexdigest()}"


def _meaning(fn: Callable[..., Any]) -> str:
    if isinstance(fn, partial):
        bound = cast("partial[Any]", fn)
        return f"partial {_meaning(bound.func)} {bound.args!r} {sorted(bound.keywords.items())!r}"
    found = _located(fn)
    if found is not None:
        return f"tree {_normalised(found[1], top=True)}"
    code = _code_of(fn)
    if code is not None:
        return f"code {_bytecode(code)}"
    return f"name {_named(fn)}"


def _named(fn: Any) -> str:
    """What tells a function apart that is not written in Python: `operator.itemgetter(1)`."""
    text = repr(fn)
    if " at 0x" not in text:
        return text
    kind = fn if hasattr(fn, "__qualname__") else cast(Any, type(fn))
    return f"{getattr(kind, '__module__', '')}:{kind.__qualname__}"


def _located(fn: Callable[..., Any]) -> tuple[str, Node] | None:
    import linecache

    code = _code_of(fn)
    if code is None:
        return None
    lines = linecache.getlines(code.co_filename, getattr(unwrap(fn), "__globals__", None))
    source = "".join(lines)
    nodes = [node for node in _functions(source).get(code.co_firstlineno, ()) if _is(node, code)]
    return (source, nodes[0]) if len(nodes) == 1 else None


def _code_of(fn: Callable[..., Any]) -> CodeType | None:
    inner: Any = unwrap(fn)
    if isinstance(inner, MethodType):
        inner = unwrap(inner.__func__)
    if not hasattr(inner, "__code__") and not isinstance(inner, type):
        inner = cast(Any, type(inner)).__call__
    code = getattr(inner, "__code__", None)
    return code if isinstance(code, CodeType) else None


@lru_cache(maxsize=4)
def _functions(source: str) -> dict[int, list[Node]]:
    """The functions of a module by the line in which they begin, decorators included."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):  # no source of this Python, or none at all
        return {}
    found: dict[int, list[Node]] = {}
    for node in ast.walk(tree):
        if isinstance(node, Node):
            decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
            first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
            found.setdefault(first, []).append(node)
    return found


def _is(node: Node, code: CodeType) -> bool:
    if not isinstance(node, ast.Lambda):
        return node.name == code.co_name
    if code.co_name != "<lambda>" or [a.arg for a in _arguments(node)] != _argument_names(code):
        return False
    body = node.body
    start = (body.lineno, body.col_offset)
    end = (body.end_lineno, body.end_col_offset)
    # Several lambdas may stand in one line: the code knows the columns it was compiled from.
    return all(start <= first and last <= end for first, last in _positions(code))


def _positions(code: CodeType) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    for line, end_line, column, end_column in code.co_positions():
        if line and end_line and column is not None and end_column:
            yield (line, column), (end_line, end_column)


def _arguments(node: ast.Lambda) -> list[ast.arg]:
    given = node.args
    rest = [arg for arg in (given.vararg, given.kwarg) if arg is not None]
    return [*given.posonlyargs, *given.args, *given.kwonlyargs, *rest]


def _argument_names(code: CodeType) -> list[str]:
    flags = bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    return list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + flags])


def _normalised(node: Any, *, top: bool = False) -> str:
    if isinstance(node, list):
        return f"[{','.join(map(_normalised, cast('list[Any]', node)))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    parts = [
        f"{name}={_normalised(value)}"
        for name, value in _fields(node)
        if not (top and name == "name")
    ]
    return f"{type(node).__name__}({','.join(parts)})"


def _fields(node: ast.AST) -> Iterator[tuple[str, Any]]:
    documented = _has_docstring(node)
    for name, value in ast.iter_fields(node):
        if documented and name == "body":
            value = value[1:]
        # What is empty is left out: later versions of Python add such fields.
        if name not in _NOT_MEANT and value is not None and value != []:
            yield name, value


def _has_docstring(node: ast.AST) -> bool:
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return False
    return ast.get_docstring(node, clean=False) is not None


def _bytecode(code: CodeType) -> str:
    constants = [
        _bytecode(value) if isinstance(value, CodeType) else repr(value) for value in code.co_consts
    ]
    return f"{code.co_code.hex()} {constants} {code.co_names} {code.co_varnames}"
