"""The JSONL form of a rule library: a header line, then one rule a line, by id."""

import os
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, cast

from pydantic import TypeAdapter

from hornbook import canon
from hornbook.errors import HornbookError, RuleError
from hornbook.rules.library import RuleLibrary
from hornbook.rules.rule import LearnedRule, read
from hornbook.rules.symbolic import DEFAULT_SCHEMA, RuleSchema
from hornbook.rules.vocabulary import ToolCategories, Vocabulary

__all__ = ["FORMAT", "VERSION", "read_library", "write"]

FORMAT = "hornbook.rules"
VERSION = 1
_MAX_LINE = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Header:
    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    format: str
    version: int
    rules: int
    """How many follow: a file cut at a line's end is found out too."""
    vocabulary: Vocabulary
    namespace: str | None = None
    schema: RuleSchema = DEFAULT_SCHEMA
    categories: Mapping[str, str] = field(default_factory=dict[str, str])


def write(library: RuleLibrary, path: Path) -> None:
    """Write to a new file beside the path, then put it in place: readers see old or new."""
    data = library.to_json()
    rules = data.pop("rules")
    header = {"format": FORMAT, "version": VERSION, "rules": len(rules), **data}
    content = b"".join(canon.dumps(item) + b"\n" for item in (header, *rules))
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise RuleError(f"{path}: cannot be written: {error.strerror}") from None


def read_library(path: Path) -> RuleLibrary:
    """Read a library; whatever cannot be used is one RuleError with file and line."""
    lines = _lines(path)
    header = _header(path, lines)
    rules: dict[str, LearnedRule] = {}
    for number, data in lines:
        try:
            rule = LearnedRule.from_json(data)
            header.vocabulary.check(rule.symbolic, schema=header.schema)
        except RuleError as error:
            raise RuleError(f"{path}:{number}: {error}") from None
        if rule.id in rules:
            raise RuleError(f"{path}:{number}: id: {rule.id!r} stands twice in the file")
        rules[rule.id] = rule
    if len(rules) != header.rules:
        raise RuleError(
            f"{path}: the header says {header.rules} rules and the file holds {len(rules)}: "
            f"it was cut, or edited without its header"
        )
    return _library(path, header, rules)


def _library(path: Path, header: _Header, rules: Mapping[str, LearnedRule]) -> RuleLibrary:
    try:
        return RuleLibrary(
            rules.values(),
            schema=header.schema,
            vocabulary=header.vocabulary,
            categories=ToolCategories(header.categories),
            namespace=header.namespace,
        )
    except RuleError as error:
        raise RuleError(f"{path}:1: {error}") from None


def _header(path: Path, lines: Iterator[tuple[int, Mapping[str, Any]]]) -> _Header:
    nothing: tuple[int, Mapping[str, Any]] = (1, {})
    number, data = next(lines, nothing)
    kind, version = data.get("format"), data.get("version")
    if kind != FORMAT:
        raise RuleError(f"{path}: not a rule library: no first line with format {FORMAT!r}")
    if isinstance(version, int) and version > VERSION:
        raise RuleError(
            f"{path}:{number}: format version {version} is newer than {VERSION}, "
            f"the newest this Hornbook reads"
        )
    try:
        return read(_adapter(), data)
    except RuleError as error:
        raise RuleError(f"{path}:{number}: {error}") from None


def _lines(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, text in _text_lines(path):
        if not text.strip():
            continue
        try:
            data = canon.loads(text)
        except HornbookError as error:
            what = str(error) if text.endswith("\n") else "the last line is cut short"
            raise RuleError(f"{path}:{number}: {what}") from None
        if not isinstance(data, dict):
            raise RuleError(f"{path}:{number}: not a JSON object")
        yield number, cast("Mapping[str, Any]", data)


def _text_lines(path: Path) -> Iterator[tuple[int, str]]:
    number = 1
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            while text := file.readline(_MAX_LINE + 1):
                if len(text) > _MAX_LINE:
                    raise RuleError(f"{path}:{number}: the line is longer than {_MAX_LINE}")
                yield number, text
                number += 1
    except UnicodeDecodeError:
        raise RuleError(f"{path}:{number}: not UTF-8 text") from None
    except OSError as error:
        raise RuleError(f"{path}: cannot be read: {error.strerror}") from None


@cache
def _adapter() -> TypeAdapter[_Header]:
    return TypeAdapter(_Header)
