"""On which line of a scenario file a field stands, so that an error can say it.

A file has been read by its own parser when this looks at it: what is written here need not
refuse anything, and a place that it does not find is told by the nearest one above.
"""

import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

__all__ = ["Field", "Lines", "json_lines", "line_of", "toml_lines"]

Field: TypeAlias = tuple[str | int, ...]
"""Names and positions that lead to a field: `("scenario", 2, "expect", "status")`."""

Lines: TypeAlias = Mapping[Field, int]

_HEADER = re.compile(r"^\s*(\[\[?)([^\[\]]+)\]\]?\s*(?:#.*)?$")
_KEY = re.compile(
    r"""^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*="""
)
_NAME = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")
_TEXTS = re.compile(r'"""|\'\'\'|"(?:\\.|[^"\\])*"|\'[^\']*\'|#.*')
_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[{}\[\],:]|[^\s{}\[\],:"]+|\n')


def line_of(lines: Lines, field: Field) -> int | None:
    """The line of a field, or of the nearest one around it that has a line."""
    while field:
        if field in lines:
            return lines[field]
        field = field[:-1]
    return None


def toml_lines(text: str) -> Lines:
    """The line of each table and key of a TOML text."""
    found: dict[Field, int] = {}
    counts: dict[Field, int] = {}
    table: Field = ()
    for number, line in _statements(text):
        header, key = _HEADER.match(line), _KEY.match(line)
        if header is not None:
            table = _table(header, counts)
            found.setdefault(table, number)
        elif key is not None:
            names = _names(key[1])
            for upto in range(len(names)):
                found.setdefault((*table, *names[: upto + 1]), number)
    return found


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """The lines that begin something: not those inside a long text or a list."""
    quote, depth = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if not quote and depth <= 0:
            depth = 0
            yield number, line
        begins = not quote and depth == 0 and _HEADER.match(line) is not None
        quote, rest = _outside(line, quote)
        depth += 0 if begins else len(re.findall(r"[\[{]", rest)) - len(re.findall(r"[\]}]", rest))


def _outside(line: str, quote: str) -> tuple[str, str]:
    """The long quote that is open after a line, and what of the line is no text."""
    if quote:
        _, closed, line = line.partition(quote)
        if not closed:
            return quote, ""
    for text in _TEXTS.finditer(line):
        if text[0] in ('"""', "'''"):
            open_, rest = _outside(line[text.end() :], text[0])
            return open_, line[: text.start()] + rest
    return "", _TEXTS.sub("", line)


def _table(header: re.Match[str], counts: dict[Field, int]) -> Field:
    names = _names(header[2])
    field: Field = ()
    for at, name in enumerate(names):
        field = (*field, name)
        if header[1] == "[[" and at == len(names) - 1:
            counts[field] = counts.get(field, -1) + 1
        if field in counts:
            field = (*field, counts[field])
    return field


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip("\"'") for name in _NAME.findall(text))


def json_lines(text: str) -> Lines:
    """The line of each key and item of a JSON text."""
    import json

    found: dict[Field, int] = {}
    stack: list[str | int] = []
    number, key = 1, ""
    for part in _TOKEN.findall(text):
        match part:
            case "\n":
                number += 1
            case "{" | "[":
                found.setdefault(tuple(stack), number)
                stack.append("" if part == "{" else 0)
            case "}" | "]":
                stack.pop()
            case "," if stack and isinstance(stack[-1], int):
                stack[-1] += 1
            case ":":
                stack[-1] = key
                found.setdefault(tuple(stack), number)
            case _:
                key = str(json.loads(part)) if part.startswith('"') else ""
                if stack and isinstance(stack[-1], int):
                    found.setdefault(tuple(stack), number)
    return found
