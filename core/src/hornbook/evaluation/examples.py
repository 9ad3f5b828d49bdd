"""Labelled examples: JSON lines, each an input with the output that is right.

```
{"input": {"premise": "...", "hypothesis": "..."}, "output": {"verdict": "unknown"}}
{"input": "Ada wrote", "output": {"entities": []}, "scenario": "letters"}
```
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, cast

from hornbook import canon
from hornbook.canon import CanonError
from hornbook.evaluation.errors import EvaluationError

__all__ = ["Example", "Examples", "examples_of", "read_examples"]

Examples: TypeAlias = "str | Path | Iterable[Example | Mapping[str, Any]]"
"""Examples, or mappings that say the same as a line of a file, or a file's path."""

_KEYS = ("input", "output", "scenario")


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One input, and what is right for it; both as JSON data."""

    input: Any
    output: Any
    scenario: str = ""
    """What kind of example it is; results are told for each apart."""
    where: str = ""
    """File and line, for errors."""

    @property
    def key(self) -> str:
        """Equal for equal examples, in any file: what before and after are paired by."""
        return canon.digest([self.input, self.output])


def read_examples(path: str | Path) -> tuple[Example, ...]:
    """Read a file of labelled examples; empty lines are skipped.

    Raises:
        EvaluationError: a line is no example, or there is none; says which line and why.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise EvaluationError(f"{path} cannot be read: {error}") from error
    found = tuple(_examples(path, text.split("\n")))
    if not found:
        raise EvaluationError(f"{path} has no examples: write one JSON object a line")
    return found


def examples_of(given: Examples) -> tuple[Example, ...]:
    """Examples, however they are given.

    Raises:
        EvaluationError: one is none; says which and why.
    """
    if isinstance(given, str | Path):
        return read_examples(given)
    return tuple(
        one if isinstance(one, Example) else _checked(f"example {at}", one)
        for at, one in enumerate(given)
    )


def _examples(path: Path, lines: Sequence[str]) -> Iterator[Example]:
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield _example(f"{path}, line {number}", line)


def _example(where: str, line: str) -> Example:
    try:
        return _checked(where, canon.loads(line))
    except CanonError as error:
        raise EvaluationError(f"{where}: this is no JSON: {error}") from None


def _checked(where: str, given: object) -> Example:
    if not isinstance(given, Mapping):
        raise EvaluationError(f"{where}: an example is an object with input and output")
    fields = cast("Mapping[str, Any]", given)
    for key in fields:
        if key not in _KEYS:
            raise EvaluationError(f"{where}: unknown key {key!r}; there are {', '.join(_KEYS)}")
    for key in ("input", "output"):
        if key not in fields:
            raise EvaluationError(f"{where}: it has no {key}")
    scenario = fields.get("scenario", "")
    if not isinstance(scenario, str):
        raise EvaluationError(f"{where}: scenario is a text, not {scenario!r:.40}")
    return Example(input=fields["input"], output=fields["output"], scenario=scenario, where=where)
