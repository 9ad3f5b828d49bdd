"""The compiler of schemas: from keywords to one check, and what checks share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast
from urllib.parse import unquote

from hornbook.contracts.segments import joined, written
from hornbook.errors import DefinitionError

__all__ = [
    "MAX_DEPTH",
    "Build",
    "Check",
    "Compiler",
    "SchemaProblem",
    "Visit",
    "child",
    "ill_formed",
    "resolve",
]

Kind = Literal["type", "missing", "extra", "value", "depth"]

MAX_DEPTH = 128
"""Levels of value and reference followed; deeper is a problem, not a crash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaProblem:
    """One thing that is wrong with a value."""

    path: str
    """As `items[0].price`; `.` is the whole value."""
    expected: str
    observed: Any
    kind: Kind


class Visit:
    """Where a check stands in the value, and what has been found so far."""

    __slots__ = ("_above", "_step", "depth", "found")

    def __init__(
        self,
        found: list[SchemaProblem],
        depth: int = 0,
        above: "Visit | None" = None,
        step: str | int | None = None,
    ) -> None:
        self.found = found
        self.depth = depth
        self._above = above
        self._step = step

    @property
    def path(self) -> str:
        """The place, empty for the whole: put together only when there is something to report."""
        steps: list[str | int] = []
        visit: Visit | None = self
        while visit is not None:
            if visit._step is not None:
                steps.append(visit._step)
            visit = visit._above
        return joined(*reversed(steps)) if steps else ""

    def add(self, expected: str, observed: Any, kind: Kind, *, at: str | int | None = None) -> None:
        """Note a problem here, or at one of the parts."""
        path = self.path if at is None else child(self.path, at)
        self.found.append(
            SchemaProblem(path=path or ".", expected=expected, observed=observed, kind=kind)
        )

    def below(self, step: str | int) -> "Visit":
        """Return the visit of a part of the value."""
        return Visit(self.found, self.depth + 1, self, step)

    def deeper(self) -> "Visit":
        """Return a visit of the same place that counts against the depth."""
        return Visit(self.found, self.depth + 1, self)

    def aside(self) -> "Visit":
        """Return a visit of the same place whose problems are kept apart."""
        return Visit([], self.depth, self)


Check = Callable[[Any, Visit], None]
Build = Callable[["Compiler", Mapping[str, Any], str], Check | None]
"""A keyword: from the schema it stands in, and its place, to what it checks."""


def child(path: str, step: str | int) -> str:
    """Return the path of a part, in the notation of contract paths."""
    return path + written(step) if path else written(step).removeprefix(".")


class Compiler:
    """Turns a schema into a check; `$ref` is followed inside the document only."""

    def __init__(self, root: Any, keywords: Mapping[str, Build]) -> None:
        self.root: Any = root
        self.keywords = keywords
        self.unchecked: list[str] = []
        self._references: dict[str, Check] = {}

    def compile(self, schema: Any, where: str) -> Check:
        """Compile one schema of the document."""
        if isinstance(schema, bool):
            return _anything if schema else _nothing
        if not isinstance(schema, Mapping):
            raise ill_formed(where, f"a schema is an object or a boolean, not {schema!r}")
        mapping = cast("Mapping[str, Any]", schema)
        checks: list[Check] = []
        for keyword, build in self.keywords.items():
            if keyword in mapping:
                check = build(self, mapping, f"{where}/{keyword}")
                if check is not None:
                    checks.append(check)
        # The type decides whether the rest makes sense, so that one fault is one problem.
        typed = checks[0] if "type" in mapping else None
        return _combine(typed, checks[1:] if typed else checks, mapping.get("nullable") is True)

    def compile_all(self, schemas: Any, where: str) -> list[Check]:
        """Compile a non-empty array of schemas."""
        if not isinstance(schemas, list | tuple) or not schemas:
            raise ill_formed(where, f"expected a non-empty array of schemas, not {schemas!r}")
        items = cast("Sequence[Any]", schemas)
        return [self.compile(item, f"{where}/{number}") for number, item in enumerate(items)]

    def compile_map(self, schemas: Any, where: str) -> dict[str, Check]:
        """Compile an object of schemas."""
        if not isinstance(schemas, Mapping):
            raise ill_formed(where, f"expected an object of schemas, not {schemas!r}")
        items = cast("Mapping[str, Any]", schemas)
        return {name: self.compile(item, f"{where}/{name}") for name, item in items.items()}

    def compile_definitions(self) -> None:
        """Compile definitions that nothing refers to as well: ill-formed is ill-formed."""
        root: Any = self.root
        for keyword in ("$defs", "definitions"):
            if isinstance(root, Mapping) and keyword in root:
                self.compile_map(cast("Mapping[str, Any]", root)[keyword], f"#/{keyword}")

    def reference(self, reference: Any, where: str) -> Check | None:
        """Return the check of what a `$ref` names, compiled once; it may refer to itself."""
        if not isinstance(reference, str):
            raise ill_formed(where, f"expected a reference, not {reference!r}")
        if not reference.startswith("#"):
            self.unchecked.append(where)
            return None
        if reference not in self._references:
            target = resolve(self.root, reference)
            if target is None:
                raise ill_formed(where, f"{reference!r} leads nowhere in this schema")
            self._references[reference] = _nothing
            self._references[reference] = self.compile(target, reference)

        def check(value: Any, visit: Visit) -> None:
            self._references[reference](value, visit.deeper())

        return check


def resolve(root: Any, reference: str) -> Any:
    """Return the part of a document that a local reference names, or None."""
    if reference in ("#", "#/"):
        return root
    if not reference.startswith("#/"):
        return None
    part: Any = root
    for raw in reference[2:].split("/"):
        step = unquote(raw).replace("~1", "/").replace("~0", "~")
        if isinstance(part, Mapping):
            part = cast("Mapping[str, Any]", part).get(step)
        elif isinstance(part, list) and step.isdecimal() and int(step) < len(cast("Any", part)):
            part = cast("list[Any]", part)[int(step)]
        else:
            return None
    return part


def ill_formed(where: str, what: str) -> DefinitionError:
    """Return the error for a place in a schema."""
    return DefinitionError(f"at {where}: {what if len(what) <= 200 else what[:197] + '...'}")


def _combine(typed: Check | None, rest: list[Check], nullable: bool) -> Check:
    if typed is not None and not rest and not nullable:
        return typed

    def check(value: Any, visit: Visit) -> None:
        if nullable and value is None:
            return
        if visit.depth > MAX_DEPTH:
            visit.add(f"at most {MAX_DEPTH} levels of nesting", value, "depth")
            return
        if typed is not None:
            before = len(visit.found)
            typed(value, visit)
            if len(visit.found) > before:
                return
        for one in rest:
            one(value, visit)

    return check


def _anything(value: Any, visit: Visit) -> None:
    """Accept."""


def _nothing(value: Any, visit: Visit) -> None:
    visit.add("nothing: no value is allowed here", value, "value")
