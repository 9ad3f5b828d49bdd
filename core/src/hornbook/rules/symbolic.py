"""The symbolic form of a learned rule (RIMRULE 2.1.3) and the schema it follows.

Fields draw their labels from closed vocabularies; tool names stand in `Scope` only, so
that a rule can be compared, priced and generalised without reading its sentence.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, get_args

from hornbook.errors import RuleError

__all__ = [
    "DEFAULT_SCHEMA",
    "ErrorType",
    "Field",
    "RuleSchema",
    "Scope",
    "Strength",
    "SymbolicForm",
]

Strength = Literal["MANDATORY", "RECOMMENDED", "OPTIONAL"]
ErrorType = Literal["dec", "sel", "arg"]
"""What went wrong: decomposition, tool selection, or argument construction (RIMRULE 2.1.2)."""

STRENGTHS: tuple[str, ...] = get_args(Strength)
"""Strongest first: the order in which rules are ranked and rendered."""


def text_tuple(owner: str, name: str, values: Iterable[str]) -> tuple[str, ...]:
    """Return distinct texts in canonical order, refusing a lone string and empty texts."""
    if isinstance(values, str):
        raise RuleError(f"{owner}: {name} is one string, {values!r}; give a tuple of strings")
    items: list[Any] = list(values)
    if not all(isinstance(item, str) and item for item in items):
        raise RuleError(f"{owner}: {name} holds something that is no text")
    return tuple(sorted(set(items)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Where a rule applies: named tools, one tool category, or (neither given) anywhere."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    tools: tuple[str, ...] = ()
    category: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "tools", text_tuple("scope", "tools", self.tools))
        if self.tools and self.category is not None:
            raise RuleError("scope: named tools or a category, not both")

    @property
    def anywhere(self) -> bool:
        """Whether the scope names neither tools nor a category."""
        return not self.tools and self.category is None

    def covers(self, tools: frozenset[str], categories: frozenset[str]) -> bool:
        """Whether one of the tools, or of their categories, is in scope."""
        if self.tools:
            return not tools.isdisjoint(self.tools)
        return self.category in categories

    def to_json(self) -> dict[str, Any]:
        """Return the scope as JSON values."""
        return {"tools": list(self.tools), "category": self.category}


@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolicForm:
    """A rule in closed labels. List fields are sets: kept distinct and sorted."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    domain: str
    """Broad topic."""
    qualifier: tuple[str, ...] = ()
    """Context, finer than the domain."""
    action: tuple[str, ...]
    """What the rule prescribes."""
    strength: Strength = "RECOMMENDED"
    tool_category: str | None = None
    """Abstract type of the tools it is about."""
    error: ErrorType
    scope: Scope = field(default_factory=Scope)
    more: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Labels of fields that the `RuleSchema` adds to these."""

    def __post_init__(self) -> None:
        for name in ("qualifier", "action"):
            object.__setattr__(self, name, text_tuple("symbolic", name, getattr(self, name)))
        more = {name: text_tuple("symbolic", name, self.more[name]) for name in sorted(self.more)}
        object.__setattr__(self, "more", more)
        _one_of("strength", self.strength, STRENGTHS)
        _one_of("error", self.error, get_args(ErrorType))
        if self.error != "dec" and self.scope.anywhere:
            raise RuleError(
                f"symbolic: a tool rule (error {self.error!r}) needs a scope: "
                f"named tools or a category"
            )

    def labels(self, name: str) -> tuple[str, ...]:
        """Return the labels of one field of the schema, whatever their number."""
        match name:
            case "domain":
                return (self.domain,)
            case "qualifier":
                return self.qualifier
            case "action":
                return self.action
            case "strength":
                return (self.strength,)
            case "tool_category":
                return () if self.tool_category is None else (self.tool_category,)
            case _:
                return self.more.get(name, ())

    def to_json(self) -> dict[str, Any]:
        """Return the form as JSON values."""
        return {
            "domain": self.domain,
            "qualifier": list(self.qualifier),
            "action": list(self.action),
            "strength": self.strength,
            "tool_category": self.tool_category,
            "error": self.error,
            "scope": self.scope.to_json(),
            "more": {name: list(labels) for name, labels in self.more.items()},
        }

    def __str__(self) -> str:
        """Render as RIMRULE's appendix does: `if(domain=... and qualifier=[...]) then(...)`."""
        condition = [f"domain={self.domain}"]
        if self.qualifier:
            condition.append(f"qualifier=[{', '.join(self.qualifier)}]")
        if self.tool_category is not None:
            condition.append(f"tool_category={self.tool_category}")
        return (
            f"if({' and '.join(condition)}) then(action=[{', '.join(self.action)}]) "
            f"with strength={self.strength}"
        )


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise RuleError(f"symbolic: {name} {value!r} is none of {', '.join(allowed)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of the schema: how many labels it takes, and its labels where they are fixed."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    name: str
    at_least: int = 0
    at_most: int | None = None
    labels: tuple[str, ...] = ()
    """Fixed by the schema; empty where the vocabulary decides."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(self.labels))

    def to_json(self) -> dict[str, Any]:
        """Return the field as JSON values."""
        return {
            "name": self.name,
            "at_least": self.at_least,
            "at_most": self.at_most,
            "labels": list(self.labels),
        }


_DEFAULT_FIELDS = (
    Field(name="domain", at_least=1, at_most=1),
    Field(name="qualifier"),
    Field(name="action", at_least=1),
    Field(name="strength", at_least=1, at_most=1, labels=STRENGTHS),
    Field(name="tool_category", at_most=1),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSchema:
    """The fields of the symbolic form, as data; RIMRULE's five are the default."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    fields: tuple[Field, ...] = _DEFAULT_FIELDS

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", tuple(self.fields))
        names = self.names
        if len(set(names)) != len(names):
            raise RuleError(f"schema: a field is named twice: {', '.join(names)}")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields, in order."""
        return tuple(item.name for item in self.fields)

    def check(self, form: SymbolicForm) -> None:
        """Raise RuleError for a field with too many or too few labels, or that is not declared."""
        for name in form.more:
            if name not in self.names:
                raise RuleError(
                    f"symbolic: the schema has no field {name!r}; it has {', '.join(self.names)}"
                )
        for item in self.fields:
            _check_number(item, len(form.labels(item.name)))

    def to_json(self) -> dict[str, Any]:
        """Return the schema as JSON values."""
        return {"fields": [item.to_json() for item in self.fields]}


def _check_number(item: Field, number: int) -> None:
    if number < item.at_least:
        raise RuleError(f"symbolic: {item.name} needs at least {item.at_least} label, has {number}")
    if item.at_most is not None and number > item.at_most:
        raise RuleError(f"symbolic: {item.name} takes at most {item.at_most} label, has {number}")


DEFAULT_SCHEMA = RuleSchema()
