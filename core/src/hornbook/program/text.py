"""A program as an indented tree."""

from collections.abc import Iterator
from typing import Any

from hornbook.program.elaborate import Typed
from hornbook.program.labels import edge_label, label_of
from hornbook.program.node import Program
from hornbook.program.ports import type_name

__all__ = ["to_text"]

_LONGEST = 80


def to_text(program: Program) -> str:
    """One node a line: how it is reached, what it is, and its type."""
    typed = program._typed  # pyright: ignore[reportPrivateUsage]
    return "\n".join([_line(program.name, typed), *_below(typed, "")])


def _below(typed: Typed, indent: str) -> Iterator[str]:
    for at, (suffix, part) in enumerate(typed.parts):
        last = at == len(typed.parts) - 1
        yield f"{indent}{'`-- ' if last else '|-- '}{_line(edge_label(suffix), part)}"
        yield from _below(part, f"{indent}{'    ' if last else '|   '}")


def _line(reached: str, typed: Typed) -> str:
    types = f"{_short(typed.input)} -> {_short(typed.output)}"
    return " ".join(f"{reached}: {label_of(typed.node)} :: {types}".split())


def _short(tp: Any) -> str:
    name = type_name(tp)
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 3]}..."
