"""What a program asks of the value that it is given, read from its parts."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from hornbook.program.binding import INPUT, Ref
from hornbook.program.errors import ProgramError
from hornbook.program.node import Program
from hornbook.program.operators import Conditional, Fallback, Iterate, Parallel, Sequence
from hornbook.program.ports import ports_type, type_name
from hornbook.program.primitives import Primitive
from hornbook.program.signature import Signature
from hornbook.program.types import assignable

__all__ = ["Demand", "Free", "demand_of", "free_refs"]

_NOTHING: Any = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """A value is asked whole, or by ports, or either way will do."""

    whole: Any = _NOTHING
    ports: Mapping[str, Any] | None = None

    @property
    def type(self) -> Any:
        """The type that a program with this demand says it takes."""
        return self.whole if self.whole is not _NOTHING else ports_type(self.ports or {})


_ANYTHING = Demand(whole=Any)


@dataclass(frozen=True, slots=True, kw_only=True)
class Free:
    """A reference that nothing below resolves."""

    ref: Ref
    asked: Any
    """The type of the parameter that is bound to it."""
    passed: bool = False
    """It has passed over the nearest Parallel, as an `outer` one does."""


def free_refs(node: Program) -> tuple[Free, ...]:
    """The references in a program that a Parallel around it has to resolve."""
    known = node._free  # pyright: ignore[reportPrivateUsage]
    if known is None:
        # A node never changes, so this is read once and not by each composition around it.
        known = tuple(_free_refs(node))
        node._set(_free=known)  # pyright: ignore[reportPrivateUsage]
    return known


def _free_refs(node: Program) -> Iterator[Free]:
    if isinstance(node, Primitive):
        made = cast("Primitive[..., Any]", node)
        for name, one in made.bindings.items():
            if isinstance(one, Ref):
                yield Free(ref=one, asked=made.definition.signature.parameter(name).type)
    for part in node.parts.values():
        for free in free_refs(part):
            if not isinstance(node, Parallel):
                yield free
            elif not free.passed:
                if free.ref.outer:
                    yield Free(ref=free.ref, asked=free.asked, passed=True)
            elif not resolves_here(free, node):
                yield free


def resolves_here(free: Free, node: Parallel) -> bool:
    """Whether a reference from inside a branch leads to a branch or the input of `node`."""
    if free.ref.outer and not free.passed:
        return False
    return free.ref.name in node.branches or free.ref.name == INPUT


def demand_of(node: Program, place: str) -> Demand:
    """What `node` asks of the value it is given.

    Raises:
        ProgramError: two of its parts ask what no value can be at once.
    """
    known = node._demand  # pyright: ignore[reportPrivateUsage]
    if known is None:
        known = _demand_of(node, place)
        node._set(_demand=known)  # pyright: ignore[reportPrivateUsage]
    return known


def _demand_of(node: Program, place: str) -> Demand:
    match node:
        case Primitive():
            return _of_primitive(cast("Primitive[..., Any]", node))
        case Sequence():
            return demand_of(node.steps[0], f"{place}[0]")
        case Iterate():
            return demand_of(node.body, f"{place}#1")
        case Parallel():
            return _all(place, [*_of_parts(node, place), *_of_input(node, place)])
        case Conditional() | Fallback():
            return _all(place, _of_parts(node, place))
        case _:
            return _ANYTHING


def _of_parts(node: Program, place: str) -> list[tuple[str, Demand]]:
    return [
        (f"{place}{suffix}", demand_of(part, f"{place}{suffix}"))
        for suffix, part in node.parts.items()
    ]


def _of_input(node: Parallel, place: str) -> list[tuple[str, Demand]]:
    """What branches ask of the input by referring to it."""
    return [
        (f"{place}.{name}", Demand(whole=_plain(free.asked)))
        for name, branch in node.branches.items()
        for free in free_refs(branch)
        if free.ref.name == INPUT and resolves_here(free, node)
    ]


def _of_primitive(node: Primitive[..., Any]) -> Demand:
    signature: Signature = node.definition.signature
    asked = {
        one.name: _plain(one.type)
        for one in signature.parameters
        if one.required and one.name not in node.bindings
    }
    if signature.record is not None and not node.bindings:
        return Demand(whole=signature.record, ports=asked)
    if not asked:
        return _ANYTHING
    return Demand(whole=next(iter(asked.values())) if len(asked) == 1 else _NOTHING, ports=asked)


def _plain(tp: Any) -> Any:
    """A type without variables: at the start of a program nothing solves them."""
    return Signature(step="", parameters=(), output=tp).output_for({})


def _all(place: str, demands: Iterable[tuple[str, Demand]]) -> Demand:
    """What meets all of several demands on one value."""
    met, before = _Met(), list[tuple[str, Demand]]()
    for at, demand in _distinct(demands):
        if not met.add(demand):
            raise _conflict(place, [*before, (at, demand)])
        before.append((at, demand))
    return met.demand or _ANYTHING


def _distinct(demands: Iterable[tuple[str, Demand]]) -> Iterator[tuple[str, Demand]]:
    """Each demand once: most parts of a wide composition ask the same."""
    seen = set[Hashable]()
    for at, demand in demands:
        if demand.whole is Any:
            continue
        ports = None if demand.ports is None else tuple(demand.ports.items())
        key = (demand.whole, ports)
        try:
            if key in seen:
                continue
            seen.add(key)
        except TypeError:  # a type with metadata that has no hash
            pass
        yield at, demand


class _Met:
    """What meets the demands added so far: one of their types, or the record of all their ports."""

    def __init__(self) -> None:
        self._added: list[Demand] = []
        self._meeting: list[Any] = []
        """The types asked that meet every demand, in the order in which they were asked."""
        self._tried: list[Any] = []
        self._ports: dict[str, Any] | None = {}
        self._by_ports = False

    def add(self, demand: Demand) -> bool:
        """Take one more in; whether something still meets them all."""
        self._meeting = [tp for tp in self._meeting if _meets(tp, demand)]
        whole = demand.whole
        if whole is _NOTHING:
            self._by_ports = True
        elif whole not in self._tried:
            self._tried.append(whole)
            if all(_meets(whole, each) for each in self._added):
                self._meeting.append(whole)
        self._ports = _both_ports(self._ports, demand.ports)
        self._added.append(demand)
        return self.demand is not None

    @property
    def demand(self) -> Demand | None:
        """The one that stands for all of them; None where there is none."""
        if self._meeting:
            return Demand(whole=self._meeting[0], ports=self._ports)
        return Demand(ports=self._ports) if self._by_ports and self._ports is not None else None


def _meeting(one: Demand, other: Demand) -> bool:
    met = _Met()
    return met.add(one) and met.add(other)


def _meets(tp: Any, demand: Demand) -> bool:
    if demand.whole is not _NOTHING and assignable(tp, demand.whole):
        return True
    return demand.ports is not None and assignable(tp, ports_type(demand.ports))


def _conflict(place: str, asked: list[tuple[str, Demand]]) -> ProgramError:
    """The last of the demands is met by nothing that meets those before."""
    at, last = asked[-1]
    before = [(other, one) for other, one in asked[:-1] if not _meeting(one, last)]
    other, one = before[0] if before else asked[-2]
    return ProgramError(
        f"{place}: all its parts are given the same value, and {other} asks {type_name(one.type)} "
        f"where {at} asks {type_name(last.type)}"
    )


def _narrower(one: Any, other: Any) -> Any:
    if assignable(one, other):
        return one
    return other if assignable(other, one) else _NOTHING


def _both_ports(
    one: dict[str, Any] | None, other: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    """`one` with the ports of the other as well, in place: it grows with each demand."""
    if one is None or other is None:
        return None
    for name, tp in other.items():
        found = _narrower(one[name], tp) if name in one else tp
        if found is _NOTHING:
            return None
        one[name] = found
    return one
