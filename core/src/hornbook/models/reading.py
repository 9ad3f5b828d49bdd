"""From the text of an answer to a value that fits the schema, or to what is wrong with it.

A model may answer anything: prose, half a document, ten megabytes, a thousand brackets.
None of it is an exception here.
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hornbook.canon import JSON, CanonError, loads
from hornbook.contracts.shown import shown
from hornbook.errors import DefinitionError
from hornbook.models.values import Completion, Request
from hornbook.schema import CompiledSchema, compile_schema

__all__ = ["compiled", "read"]

_KEPT = 256
"""Compiled schemas that are kept; a program has few, and a server of many users has many."""
_EXPECTED = 200
"""Characters of what was expected that a problem shows."""
_FENCED = re.compile(r"```(?:json)?[ \t]*\r?\n(.*)\n[ \t]*```", re.DOTALL)


class _Compiled:
    """Schemas compiled once for each digest; the least recently used goes first."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, CompiledSchema] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, key: str, schema: Mapping[str, Any]) -> CompiledSchema:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = compile_schema(schema)
        for where in made.unchecked:
            if where.endswith("/$ref"):
                raise DefinitionError(
                    f"at {where}: a reference out of the schema, which is never fetched: put what "
                    f"it names under $defs"
                )
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return made


_schemas = _Compiled()


def compiled(request: Request) -> CompiledSchema | None:
    """The schema of a request, ready to check; None where it has none.

    Raises:
        DefinitionError: the schema is not well formed, or refers to another document.
    """
    schema, key = request.schema, request.schema_digest
    return None if schema is None or key is None else _schemas.of(key, schema)


def read(completion: Completion, schema: CompiledSchema | None) -> Completion:
    """The completion with its value, or with the problem why there is none."""
    if schema is None:
        return completion
    if completion.finish == "filter":
        return replace(completion, value=None, problem="withheld by the server's content filter")
    try:
        value = loads(_bare(completion.text))
    except CanonError as error:
        return replace(completion, value=None, problem=_no_json(completion, error))
    problem = _misfit(schema, value)
    return replace(completion, value=value if problem is None else None, problem=problem)


def _bare(text: str) -> str:
    """The text without white space and code fence around all of it."""
    stripped = text.strip()
    fenced = _FENCED.fullmatch(stripped) if stripped.startswith("```") else None
    return stripped if fenced is None else fenced[1].strip()


def _no_json(completion: Completion, error: CanonError) -> str:
    if completion.finish == "length":
        return "cut off at max_tokens, before the JSON was complete"
    if not completion.text.strip():
        return "not JSON: the answer is empty"
    why = str(error).removeprefix("not JSON: ")[:_EXPECTED]
    return f"not JSON: {why}; the answer is {shown(completion.text)}"


def _misfit(schema: CompiledSchema, value: JSON) -> str | None:
    found = schema.problems(value)
    if not found:
        return None
    first = found[0]
    observed = shown(first.observed, first.path)
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    expected = first.expected
    if len(expected) > _EXPECTED:
        expected = f"{expected[: _EXPECTED - 3]}..."
    return f"does not fit the schema at {first.path}: expected {expected}, not {observed}{more}"
