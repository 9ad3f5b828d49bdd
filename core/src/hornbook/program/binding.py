"""Where the arguments of a primitive come from: literals, siblings, and the flowing value."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

from hornbook.contracts.fields import FieldType
from hornbook.program.errors import ProgramError
from hornbook.program.ports import is_ports, near, ports_of, type_name
from hornbook.program.signature import Parameter, Signature
from hornbook.program.types import Solved, mismatch

__all__ = ["INPUT", "Binding", "Plan", "Ref", "Resolved", "plan_of", "ref"]

INPUT = "input"
"""The name under which a Parallel's branches refer to what the Parallel was given."""


@dataclass(frozen=True, slots=True)
class Ref:
    """A sibling's result, or the input, of the Parallel around; made by `ref`."""

    name: str
    outer: bool = False

    def __str__(self) -> str:
        """As it is written."""
        return f"ref({self.name!r}{', outer=True' if self.outer else ''})"


def ref(name: str, *, outer: bool = False) -> Ref:
    """Refer to the branch `name` of the nearest Parallel around, or to its `"input"`.

    Args:
        name: the branch's name. Only this function refers: a text that looks like a
            reference is a text.
        outer: pass over the nearest Parallel, and look in those further out.

    Raises:
        ProgramError: `name` is no text.
    """
    if not isinstance(cast("object", name), str) or not name:
        raise ProgramError(f"ref({name!r}): the name of a branch of the Parallel around")
    return Ref(name, outer)


Binding: TypeAlias = Mapping[str, Any]
"""Parameters that are bound by name: each to a `Ref` or to a literal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """What a `Ref` leads to."""

    depth: int
    """How many Parallels up: 0 is the nearest."""
    name: str
    type: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a primitive at one place gets its arguments."""

    literals: Mapping[str, Any] = field(default_factory=dict[str, Any])
    refs: Mapping[str, Resolved] = field(default_factory=dict[str, Resolved])
    ports: tuple[str, ...] = ()
    """Parameters taken by name from the flowing value."""
    whole: str | None = None
    """The parameter that takes the flowing value itself."""
    loose: bool = False
    """Ports may be missing: of the flowing value it is only known that it may be a record."""


def plan_of(
    signature: Signature,
    bound: Binding,
    refs: Mapping[str, Resolved],
    source: Any,
    place: str,
) -> tuple[Plan, Any]:
    """The plan for a primitive that is given a `source`, and the type of its output.

    Raises:
        ProgramError: an argument is missing or is of another type; it says where.
    """
    planning = _Planning(signature, source, place)
    for name, value in bound.items():
        if not isinstance(value, Ref):
            planning.literal(name, value)
    for name, resolved in refs.items():
        planning.ask(name, resolved.type, f"from {bound[name]} comes")
    free = [one for one in signature.parameters if one.name not in bound]
    kind, names = planning.flow(free)
    plan = Plan(
        literals={name: value for name, value in bound.items() if not isinstance(value, Ref)},
        refs=refs,
        ports=names if kind in ("ports", "spread") else (),
        whole=names[0] if kind == "whole" else None,
        loose=kind == "spread",
    )
    return plan, signature.output_for(planning.solved)


class _Planning:
    def __init__(self, signature: Signature, source: Any, place: str) -> None:
        self._signature = signature
        self._source = source
        self._place = place
        self.solved: Solved = {}

    def literal(self, name: str, value: Any) -> None:
        from hornbook.program.literals import type_of

        self.ask(name, type_of(value), "bound is")

    def ask(self, name: str, given: Any, how: str) -> None:
        asked = self._signature.parameter(name)
        why = mismatch(given, asked.type, self.solved)
        if why is not None:
            raise ProgramError(
                f"{self._place}: {how} {type_name(given)}, and parameter {name!r} asks "
                f"{type_name(asked.type)}: {why}"
            )

    def flow(
        self, free: list[Parameter]
    ) -> tuple[Literal["none", "ports", "whole", "spread"], tuple[str, ...]]:
        """How the flowing value fills the parameters that nothing else fills."""
        required = [one for one in free if one.required]
        ports = ports_of(self._source)
        if not required and ports is None:
            return "none", ()
        if ports is not None and all(_has(ports, one) for one in required):
            named = [one for one in free if one.name in ports]
            if len(required) == 1 and self._whole_fits_better(required[0], ports):
                return "whole", (required[0].name,)
            for one in named:
                self.ask(one.name, ports[one.name].type, f"at port {one.name!r} comes")
            kind = "spread" if any(ports[one.name].optional for one in named) else "ports"
            return kind, tuple(one.name for one in named)
        if not required:
            return "none", ()
        record = self._signature.record
        if record is not None and mismatch(self._source, record) is None:
            return "spread", tuple(one.name for one in free)
        if len(required) == 1 and not self._misspelt(required[0], ports):
            self.ask(required[0].name, self._source, "here comes")
            return "whole", (required[0].name,)
        raise ProgramError(self._missing(required, ports))

    def _whole_fits_better(self, only: Parameter, ports: Mapping[str, FieldType]) -> bool:
        by_name = mismatch(ports[only.name].type, only.type, dict(self.solved))
        if by_name is None:
            return False
        if mismatch(self._source, only.type, dict(self.solved)) is not None:
            return False
        self.ask(only.name, self._source, "here comes")
        return True

    def _misspelt(self, only: Parameter, ports: Mapping[str, FieldType] | None) -> bool:
        """Whether its port is what is not there: the value as a whole does not fit."""
        if not ports or mismatch(self._source, only.type, dict(self.solved)) is None:
            return False
        return is_ports(self._source) or bool(near(only.name, ports))

    def _missing(self, required: list[Parameter], ports: Mapping[str, FieldType] | None) -> str:
        asked = ", ".join(f"{one.name}: {type_name(one.type)}" for one in required)
        step, comes = self._signature.step, type_name(self._source)
        if ports is None:
            return (
                f"{self._place}: {step!r} asks {asked}, and here comes {comes}, which has no named "
                f"ports: bind the parameters, or let a Parallel give them by name"
            )
        lacking = ", ".join(_lacking(one.name, ports) for one in required if not _has(ports, one))
        return (
            f"{self._place}: {step!r} asks {asked}, and here comes {comes}, with the ports "
            f"{', '.join(ports) or 'none'}: there is no {lacking}"
        )


def _lacking(name: str, ports: Mapping[str, FieldType]) -> str:
    found = near(name, [port for port in ports if port != name])
    return f"{name!r} (the nearest is {found!r})" if found else repr(name)


def _has(ports: Mapping[str, FieldType], parameter: Parameter) -> bool:
    found = ports.get(parameter.name)
    return found is not None and not found.optional
