"""Labelled examples for calibration: JSON lines, each a value with what a person says of it.

```
{"value": {"answer": "..."}, "inputs": {"query": "..."}, "label": true}
```

`value` is what the step would have returned, as JSON (null where the clause is on the
inputs); `inputs` are its inputs by name; `label` is true for a value that should pass and
false for one that should not.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isinf
from pathlib import Path
from typing import Any, cast

from hornbook.judges.errors import CalibrationError

__all__ = ["Labelled", "read_labelled"]

_KEYS = ("value", "inputs", "label")
_MISSING = {
    "value": "it has no value; for a clause on the inputs write null",
    "label": "it has no label; say true for good, false for bad",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """One value, and whether it should pass."""

    value: Any
    inputs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    label: bool
    """Whether a person finds it good."""
    where: str = ""
    """File and line, for errors."""


def read_labelled(path: str | Path) -> tuple[Labelled, ...]:
    """Read a file of labelled examples; empty lines are skipped.

    Raises:
        CalibrationError: a line is no example, says which line and why; or there is none.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise CalibrationError(f"{path} cannot be read: {error}") from error
    examples = tuple(_examples(path, text.split("\n")))
    if not examples:
        raise CalibrationError(
            f"{path} holds no examples: write one a line, good ones and bad ones"
        )
    return examples


def _examples(path: Path, lines: Sequence[str]) -> Iterator[Labelled]:
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield _example(f"{path}, line {number}", line)


def _example(where: str, line: str) -> Labelled:
    fields = _object(where, line)
    for key in fields:
        if key not in _KEYS:
            raise CalibrationError(f"{where}: unknown key {key!r}; there are value, inputs, label")
    for key, missing in _MISSING.items():
        if key not in fields:
            raise CalibrationError(f"{where}: {missing}")
    label, inputs = fields["label"], fields.get("inputs", {})
    if not isinstance(label, bool):
        raise CalibrationError(f"{where}: label is true or false, not {_shown(label)}")
    if not isinstance(inputs, dict):
        raise CalibrationError(f"{where}: inputs is an object of inputs by name")
    given = cast("dict[str, Any]", inputs)
    return Labelled(value=fields["value"], inputs=given, label=label, where=where)


def _object(where: str, line: str) -> dict[str, Any]:
    try:
        read: object = json.loads(
            line, object_pairs_hook=_once, parse_constant=_no_number, parse_float=_finite
        )
    except json.JSONDecodeError as error:
        raise CalibrationError(
            f"{where}: this is no JSON: {error.msg} at column {error.colno}"
        ) from None
    except (ValueError, RecursionError) as error:
        raise CalibrationError(f"{where}: this is no JSON: {error}") from None
    if not isinstance(read, dict):
        raise CalibrationError(f"{where}: an example is an object with value, inputs and label")
    return cast("dict[str, Any]", read)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} stands there twice")
    return read


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise ValueError(f"{text if len(text) <= 40 else text[:37] + '...'} is too large a number")
    return number


def _shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
