"""Prompt templates: `{field}` stands for an input, and values are data that is never read again."""

import re
from collections.abc import Mapping, Set
from typing import Any, cast

from hornbook.errors import DefinitionError

__all__ = ["Template", "as_text"]

_TOKEN = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


class Template:
    """A text with placeholders, read once.

    Raises:
        DefinitionError: a brace that stands alone, a placeholder that is no input, or an
            input that the text never mentions.
    """

    def __init__(self, text: str, *, names: tuple[str, ...], step: str) -> None:
        self.text = text
        self._parts = _parts(text, names, step)
        """Texts and, as one-tuples, the names that stand between them."""
        mentioned = {part[0] for part in self._parts if isinstance(part, tuple)}
        missing = [name for name in names if name not in mentioned]
        if missing:
            raise DefinitionError(
                f"neural {step!r}: its prompt never mentions the input {missing[0]!r}, so that the "
                f"model would not see it: write {{{missing[0]}}}, or give a function as the prompt"
            )

    def fill(self, inputs: Mapping[str, Any]) -> str:
        """The text with the inputs in place; one pass, so that no value is expanded."""
        return "".join(
            part if isinstance(part, str) else as_text(inputs.get(part[0])) for part in self._parts
        )


def as_text(value: Any) -> str:
    """A value as it stands in a prompt: a text as it is, anything else as JSON."""
    if isinstance(value, str):
        return str.__str__(value)
    from pydantic_core import to_json

    return to_json(_ordered(value), inf_nan_mode="constants", fallback=repr).decode()


def _ordered(value: Any) -> Any:
    """The value with its sets in an order that is the same in every process."""
    if isinstance(value, Set):
        items = [_ordered(item) for item in cast("Set[Any]", value)]
        return sorted(items, key=as_text)
    if isinstance(value, Mapping):
        named = cast("Mapping[Any, Any]", value)
        return {key: _ordered(item) for key, item in named.items()}
    if type(value) in (list, tuple):
        return [_ordered(item) for item in value]
    return value


def _parts(text: str, names: tuple[str, ...], step: str) -> list[str | tuple[str]]:
    parts: list[str | tuple[str]] = []
    last = 0
    for token in _TOKEN.finditer(text):
        parts.append(text[last : token.start()])
        last = token.end()
        match token.group():
            case "{{" | "}}" as doubled:
                parts.append(doubled[0])
            case "{" | "}" as brace:
                raise DefinitionError(
                    f"neural {step!r}: a brace {brace!r} stands alone in its prompt, at character "
                    f"{token.start()}; a brace that is meant is written twice"
                )
            case _:
                parts.append((_known(token.group(1), names, step),))
    parts.append(text[last:])
    return [part for part in parts if part]


def _known(name: str, names: tuple[str, ...], step: str) -> str:
    if name in names:
        return name
    known = ", ".join(names) or "none"
    raise DefinitionError(
        f"neural {step!r}: {{{name}}} in its prompt is no input; its inputs are {known} (a brace "
        f"that is meant is written twice)"
    )
