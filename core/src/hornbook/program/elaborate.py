"""A program with its types: what comes to each node, what it gives, and who needs whom."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from hornbook.program.binding import INPUT, Plan, Ref, Resolved, plan_of
from hornbook.program.demand import demand_of, free_refs, resolves_here
from hornbook.program.errors import ProgramError
from hornbook.program.literals import type_of
from hornbook.program.node import Placed, Program
from hornbook.program.operators import (
    Conditional,
    Constant,
    Fallback,
    Holds,
    Iterate,
    Parallel,
    Passing,
    Sequence,
)
from hornbook.program.ports import ports_of, ports_type, type_name
from hornbook.program.primitives import Primitive
from hornbook.program.types import mismatch
from hornbook.program.types_forms import joined, labels_of

__all__ = ["Scope", "Typed", "elaborated", "refuse_open", "walked"]

_WIDENINGS = 3
"""How often what an Iterate carries from round to round may become a wider type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """A node as it stands in a program."""

    node: Program
    input: Any
    output: Any
    parts: tuple[tuple[str, "Typed"], ...] = ()
    """By what their places end with."""
    plan: Plan | None = None
    """Of a primitive: where its arguments come from."""
    both: bool = False
    """Of an `until`: it is given `before` and `after`."""
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Of a Parallel: the branches that each branch refers to."""

    def part(self, suffix: str) -> "Typed":
        """The part whose place ends with `suffix`."""
        return dict(self.parts)[suffix]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What references inside a branch of a Parallel can lead to."""

    place: str
    names: tuple[str, ...]
    types: Mapping[str, Any]
    """The branches that are typed already, and the input."""
    outer: "Scope | None"


def elaborated(node: Program) -> Typed:
    """Type a program by itself: it is given what it asks.

    Raises:
        ProgramError: a part does not take what comes to it; the message says where.
    """
    return _typed(node, demand_of(node, node.name).type, None, node.name)


def refuse_open(node: Program) -> None:
    """Refuse to use a part of a program as a whole one.

    Raises:
        ProgramError: it refers to branches of a Parallel that is not there.
    """
    found = next(iter(free_refs(node)), None)
    if found is not None:
        raise ProgramError(
            f"{node.name}: {found.ref} leads nowhere: it names a branch of a Parallel around, and "
            f"this part of a program stands in none that has it"
        )


def walked(node: Program) -> Iterator[Placed]:
    """Every node with its place, the root first."""
    return _walked(node._typed, node.name, 0)  # pyright: ignore[reportPrivateUsage]


def _walked(typed: Typed, place: str, depth: int) -> Iterator[Placed]:
    yield Placed(place=place, node=typed.node, input=typed.input, output=typed.output, depth=depth)
    for suffix, part in typed.parts:
        yield from _walked(part, f"{place}{suffix}", depth + 1)


def _typed(node: Program, source: Any, scope: Scope | None, place: str) -> Typed:
    known: Typed | None = getattr(node, "_typed", None)
    # What it was typed as by itself holds here too, when it is given the same and refers to
    # nothing around: so composing does not type all that is below once more.
    if known is not None and not free_refs(node) and _same_type(known.input, source):
        return known
    return _typed_anew(node, source, scope, place)


def _same_type(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and one == other)


def _typed_anew(node: Program, source: Any, scope: Scope | None, place: str) -> Typed:
    match node:
        case Primitive():
            return _primitive(cast("Primitive[..., Any]", node), source, scope, place)
        case Sequence():
            return _sequence(node, source, scope, place)
        case Parallel():
            return _parallel(node, source, scope, place)
        case Conditional():
            return _conditional(node, source, scope, place)
        case Iterate():
            return _iterate(node, source, scope, place)
        case Fallback():
            return _fallback(node, source, scope, place)
        case _:
            return _leaf(node, source, place)


def _leaf(node: Program, source: Any, place: str) -> Typed:
    match node:
        case Constant():
            return Typed(node=node, input=source, output=type_of(node.value))
        case Holds():
            if source is not Any:
                node.contract.refuse_unknown_inputs(tuple(ports_of(source) or ()), place)
            return Typed(node=node, input=source, output=bool)
        case Passing():
            return Typed(node=node, input=source, output=source)
        case _:
            raise ProgramError(f"{place}: {type(node).__name__} is no kind of program known here")


def _primitive(node: Primitive[..., Any], source: Any, scope: Scope | None, place: str) -> Typed:
    refs = {
        name: _resolved(one, scope, place)
        for name, one in node.bindings.items()
        if isinstance(one, Ref)
    }
    signature = node.definition.signature
    plan, output = plan_of(signature, node.bindings, refs, source, place)
    parts = tuple(
        (suffix, _typed(part, demand_of(part, f"{place}{suffix}").type, None, f"{place}{suffix}"))
        for suffix, part in node.parts.items()
    )
    return Typed(node=node, input=source, output=output, plan=plan, parts=parts)


def _resolved(ref: Ref, scope: Scope | None, place: str) -> Resolved:
    if scope is None:
        return Resolved(depth=-1, name=ref.name, type=Any)
    depth, here = 0, scope
    if ref.outer:
        depth, here = 1, scope.outer
    while here is not None:
        if ref.name in here.types:
            return Resolved(depth=depth, name=ref.name, type=here.types[ref.name])
        if not ref.outer:
            raise ProgramError(
                f"{place}: {ref} names no branch of the Parallel at {here.place}; there are "
                f"{', '.join(here.names)} and {INPUT!r} (a branch of a Parallel further out is "
                f"ref({ref.name!r}, outer=True))"
            )
        depth, here = depth + 1, here.outer
    return Resolved(depth=-1, name=ref.name, type=Any)


def _sequence(node: Sequence, source: Any, scope: Scope | None, place: str) -> Typed:
    parts: list[tuple[str, Typed]] = []
    flowing = source
    for suffix, step in node.parts.items():
        typed = _typed(step, flowing, scope, f"{place}{suffix}")
        parts.append((suffix, typed))
        flowing = typed.output
    return Typed(node=node, input=source, output=flowing, parts=tuple(parts))


def _parallel(node: Parallel, source: Any, scope: Scope | None, place: str) -> Typed:
    needs = {
        name: tuple(
            dict.fromkeys(
                free.ref.name
                for free in free_refs(branch)
                if free.ref.name != INPUT and resolves_here(free, node)
            )
        )
        for name, branch in node.branches.items()
    }
    types: dict[str, Any] = {INPUT: source}
    done: dict[str, Typed] = {}
    for name in _in_order(needs, place):
        within = Scope(place=place, names=tuple(node.branches), types=dict(types), outer=scope)
        done[name] = _typed(node.branches[name], source, within, f"{place}.{name}")
        types[name] = done[name].output
    output = ports_type({name: types[name] for name in node.branches})
    parts = tuple((f".{name}", done[name]) for name in node.branches)
    return Typed(node=node, input=source, output=output, parts=parts, needs=needs)


def _in_order(needs: Mapping[str, tuple[str, ...]], place: str) -> list[str]:
    """The branches so that each comes after those it needs.

    Raises:
        ProgramError: they need each other in a circle; it is named.
    """
    order: dict[str, None] = {}
    for name in needs:
        _visit(name, needs, order, (), place)
    return list(order)


def _visit(
    name: str,
    needs: Mapping[str, tuple[str, ...]],
    order: dict[str, None],
    way: tuple[str, ...],
    place: str,
) -> None:
    if name in way:
        circle = " -> ".join((*way[way.index(name) :], name))
        raise ProgramError(f"{place}: its branches wait for each other in a circle: {circle}")
    if name in order:
        return
    for other in needs.get(name, ()):
        _visit(other, needs, order, (*way, name), place)
    order[name] = None


def _conditional(node: Conditional, source: Any, scope: Scope | None, place: str) -> Typed:
    parts = {
        suffix: _typed(part, source, scope, f"{place}{suffix}")
        for suffix, part in node.parts.items()
    }
    given = parts[".test"].output
    labels = labels_of(given)
    if labels is None or (node.simple and not all(isinstance(one, bool) for one in labels)):
        asked = "a bool" if node.simple else "a bool, or a label of a Literal or Enum"
        raise ProgramError(
            f"{place}.test: {node.test.name!r} gives {type_name(given)}, and the test of a "
            f"Conditional gives {asked}"
        )
    reached = [_reached(node, parts, label) for label in labels]
    outputs = [typed.output for typed in reached if typed is not None]
    if not outputs:
        known = ", ".join(repr(label) for label, _ in node.branches)
        raise ProgramError(
            f"{place}: no branch can be taken: the test gives {type_name(given)}, and the branches "
            f"are for {known}"
        )
    output = joined(*outputs)
    return Typed(node=node, input=source, output=output, parts=tuple(parts.items()))


def _reached(node: Conditional, parts: Mapping[str, Typed], label: Any) -> Typed | None:
    branch = node.branch(label)
    found = [one for suffix, one in parts.items() if suffix != ".test" and one.node is branch]
    return found[0] if found else None


def _iterate(node: Iterate, source: Any, scope: Scope | None, place: str) -> Typed:
    carried = source
    first = body = _typed(node.body, carried, scope, f"{place}#1")
    why = mismatch(body.output, carried)
    for _ in range(_WIDENINGS):
        if why is None:
            break
        carried = joined(carried, body.output)
        body = _typed(node.body, carried, scope, f"{place}#1")
        why = mismatch(body.output, carried)
    if why is not None:
        raise ProgramError(
            f"{place}#1: the body of an Iterate is given what it gave, and it gives "
            f"{type_name(first.output)} where it was given {type_name(source)}: its type grows "
            f"with each round"
        )
    parts: list[tuple[str, Typed]] = [("#1", body)]
    if node.until is not None:
        parts.append(("#1.until", _until(node.until, body, scope, f"{place}#1.until")))
    return Typed(node=node, input=source, output=body.output, parts=tuple(parts))


def _until(until: Program, body: Typed, scope: Scope | None, place: str) -> Typed:
    both = _takes_both(until)
    ports = {"before": body.input, "after": body.output}
    source = ports_type(ports) if both else body.output
    typed = _typed(until, source, scope, place)
    if mismatch(typed.output, bool) is not None:
        raise ProgramError(
            f"{place}: {until.name!r} gives {type_name(typed.output)}, and `until` gives a bool"
        )
    return replace(typed, both=both)


def _takes_both(until: Program) -> bool:
    """Whether `until` asks for `before` and `after` and not for the value."""
    ports = demand_of(until, until.name).ports
    return ports is not None and "before" in ports and set(ports) <= {"before", "after"}


def _fallback(node: Fallback, source: Any, scope: Scope | None, place: str) -> Typed:
    parts = tuple(
        (suffix, _typed(part, source, scope, f"{place}{suffix}"))
        for suffix, part in node.parts.items()
    )
    output = joined(*(typed.output for _, typed in parts))
    return Typed(node=node, input=source, output=output, parts=parts)
