"""What must hold before a tool is called (Forethought 4, Check-Prerequisites, equation 1)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

from hornbook.errors import DefinitionError
from hornbook.schema import compile_schema

if TYPE_CHECKING:
    from hornbook.program import Program

__all__ = ["EXTENSION", "PREREQUISITE", "Prerequisite", "Status", "check", "declared", "is_neural"]

Status = Literal["Met", "NotMet", "Absent"]

PREREQUISITE = "prerequisite-met"
"""The clause of a guard's report."""
EXTENSION = "x-hornbook"
"""The name beside a tool's parameters under which JSON declares what follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prerequisite:
    """One key of the scratchpad that a tool needs.

    Raises:
        DefinitionError: for an empty key, or a threshold outside of [0, 1].
    """

    key: str
    sat: "Callable[[Any], object] | Program | None" = field(default=None, compare=False)
    """What its value must satisfy: a function or a program; None asks that it is not null."""
    setup: str | None = None
    """The tool that sets it up."""
    message: str = ""
    """What to tell when it is not met."""
    threshold: float = 0.5
    """From this score on, a program's answer that is a number holds."""

    def __post_init__(self) -> None:
        if not self.key:
            raise DefinitionError("a prerequisite needs a key")
        if not 0.0 <= self.threshold <= 1.0:
            raise DefinitionError(f"threshold={self.threshold!r} is not in [0, 1]")

    def holds(self, value: Any) -> bool:
        """Whether a value satisfies it; a predicate that raises is not satisfied."""
        if self.sat is None:
            return value is not None
        try:
            if is_neural(self):
                answer: Any = cast("Any", self.sat).run(value)
            else:
                answer = cast("Callable[[Any], object]", self.sat)(value)
        except Exception:  # noqa: BLE001 - a user's predicate may raise anything: it fails closed
            return False
        if isinstance(answer, bool):
            return answer
        return isinstance(answer, int | float) and answer >= self.threshold


def check(prerequisite: Prerequisite, scratchpad: Mapping[str, Any]) -> Status:
    """Return `Met`, `NotMet` or, for a key that the scratchpad does not have, `Absent`."""
    if prerequisite.key not in scratchpad:
        return "Absent"
    return "Met" if prerequisite.holds(scratchpad[prerequisite.key]) else "NotMet"


def is_neural(prerequisite: Prerequisite) -> bool:
    """Whether a program decides it, which may ask a model."""
    return hasattr(prerequisite.sat, "arun")


def declared(tool: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a tool in JSON declares under `x-hornbook`, as fields of a `ToolSpec`.

    Raises:
        DefinitionError: naming the tool and the field that cannot be read.
    """
    own: Any = data.get(EXTENSION)
    if own is None:
        return {}
    if not isinstance(own, Mapping):
        raise DefinitionError(f"tool {tool!r}: {EXTENSION} is no object: {own!r:.80}")
    fields = cast("Mapping[str, Any]", own)
    known = {"prerequisites", "effects", "result_key", "read_only"}
    if unknown := [name for name in fields if name not in known]:
        raise DefinitionError(f"tool {tool!r}: {EXTENSION} has no {unknown[0]!r}")
    return {
        "prerequisites": tuple(_read(tool, one) for one in _items(tool, fields, "prerequisites")),
        "effects": tuple(map(str, _items(tool, fields, "effects"))),
        "result_key": dict(fields.get("result_key") or {}),
    }


def _items(tool: str, fields: Mapping[str, Any], name: str) -> Iterator[Any]:
    items: Any = fields.get(name) or []
    if not isinstance(items, list | tuple):
        raise DefinitionError(f"tool {tool!r}: {EXTENSION}.{name} is no list: {items!r:.80}")
    yield from cast("list[Any]", items)


def _read(tool: str, one: Any) -> Prerequisite:
    if isinstance(one, str):
        return Prerequisite(key=one)
    if not isinstance(one, Mapping) or not isinstance(cast("Any", one).get("key"), str):
        raise DefinitionError(f"tool {tool!r}: a prerequisite has no key: {one!r:.80}")
    data = cast("Mapping[str, Any]", one)
    return Prerequisite(
        key=data["key"],
        sat=_schema_test(data["sat"]) if data.get("sat") is not None else None,
        setup=data.get("setup"),
        message=str(data.get("message") or ""),
    )


def _schema_test(schema: Any) -> Callable[[Any], bool]:
    """Return the predicate of a JSON schema."""
    compiled = compile_schema(schema)
    return lambda value: not any(True for _ in compiled.problems(value))
