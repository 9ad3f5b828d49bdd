"""The kernel's invariants, checked while it runs and apart from what they watch (Forethought 4).

The monitor keeps its own account: it trusts neither the lookup, nor the scratchpad, nor the
loop over the tasks, and raises at the first step that violates one.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from hornbook.contracts.paths import parse
from hornbook.kernel.registry import ToolSpec
from hornbook.kernel.result import InvariantViolation
from hornbook.kernel.scratchpad import BOTTOM
from hornbook.kernel.tasks import Binding

__all__ = ["Monitor", "params_of"]


def params_of(spec: ToolSpec, stated: Iterable[str]) -> frozenset[str]:
    """Params(f): the required parameters, and those optional ones that the request states."""
    required: Any = spec.parameters.get("required", ())
    names = cast("Sequence[Any]", required) if isinstance(required, list | tuple) else ()
    return frozenset([*(str(name) for name in names), *stated])


class Monitor:
    """Watches one run."""

    def __init__(self) -> None:
        self.step = 0
        """Of the run; each thing that is watched is one."""
        self._keys: frozenset[str] = frozenset()
        self._asked: set[tuple[str, str]] = set()
        self._order: tuple[str, ...] | None = None
        self._needs: Mapping[str, tuple[str, ...]] = {}
        self._begun: list[str] = []
        self._ended: set[str] = set()

    def tick(self) -> int:
        """The next step."""
        self.step += 1
        return self.step

    def scratchpad(self, scratchpad: Mapping[str, Any]) -> None:
        """INV-S: no key that was there is gone."""
        keys = frozenset(scratchpad)
        gone = sorted(self._keys - keys)
        if gone:
            self._broken("INV-S", f"the scratchpad lost {', '.join(map(repr, gone))}")
        self._keys = keys

    def fires(self, what: str, key: str) -> None:
        """INV-T: a key fires Absent, or a retrieval, at most once in a turn."""
        if (what, key) in self._asked:
            self._broken("INV-T", f"{what} fires for {key!r} a second time")
        self._asked.add((what, key))

    def ordered(self, order: Sequence[str], needs: Mapping[str, tuple[str, ...]]) -> None:
        """INV-T: the tasks are finitely many, and each follows what it needs."""
        position = {task: at for at, task in enumerate(order)}
        if len(position) != len(order) or position.keys() != needs.keys():
            self._broken("INV-T", f"the order {list(order)} does not have every task once")
        for task, before in needs.items():
            for one in before:
                if position[one] >= position[task]:
                    self._broken("INV-T", f"{task!r} stands before {one!r}, which it needs")
        self._order = tuple(order)

    def begins(self, task: str) -> None:
        """INV-T: tasks begin in their order, each once."""
        at = len(self._begun)
        if self._order is None or at >= len(self._order) or self._order[at] != task:
            self._broken("INV-T", f"task {task!r} begins out of its order, or again")
        self._begun.append(task)

    def ends(self, task: str) -> None:
        """A task was done, or abandoned with a report."""
        self._ended.add(task)

    def executes(
        self,
        spec: ToolSpec,
        arguments: Mapping[str, Any],
        bindings: Sequence[Binding],
        stated: Mapping[str, Any],
    ) -> None:
        """INV-E: dom(B) = Params(f), and nothing in it is bottom; INV-L: the turn came first."""
        wanted = params_of(spec, stated)
        bound = frozenset(_root(one.parameter) for one in bindings)
        if frozenset(arguments) != wanted or bound != wanted:
            lacking = sorted(wanted - (frozenset(arguments) & bound))
            extra = sorted((frozenset(arguments) | bound) - wanted)
            self._broken(
                "INV-E", f"{spec.name!r} is called partially: lacking {lacking}, beyond {extra}"
            )
        if any(_holds_bottom(value) for value in arguments.values()):
            self._broken("INV-E", f"{spec.name!r} is called with a value that was not found")
        for one in bindings:
            self._looked(spec, one, stated)

    def finishes(self) -> None:
        """INV-R: every task of the order was done or abandoned, whatever became of the others."""
        left = [task for task in self._order or () if task not in self._ended]
        if left:
            self._broken("INV-R", f"the run ends and {', '.join(map(repr, left))} never came up")

    def _looked(self, spec: ToolSpec, one: Binding, stated: Mapping[str, Any]) -> None:
        if one.consulted[:1] != ("turn",):
            self._broken(
                "INV-L", f"{spec.name}.{one.parameter} was not looked up in the turn first"
            )
        if one.source != "turn" and _states(stated, one.parameter):
            self._broken(
                "INV-L", f"{spec.name}.{one.parameter} is from {one.source}, but the turn states it"
            )

    def _broken(self, invariant: str, why: str) -> None:
        raise InvariantViolation(invariant, self.step, why)


def _root(path: str) -> str:
    return str(parse(path).segments[0])


def _states(stated: Mapping[str, Any], path: str) -> bool:
    """Whether the turn states a leaf, or what lies around it as a whole."""
    here: Any = stated
    for segment in parse(path).segments:
        if isinstance(here, Mapping) and segment in here:
            here = cast("Mapping[Any, Any]", here)[segment]
        elif isinstance(here, list | tuple) and isinstance(segment, int):
            within = cast("Sequence[Any]", here)
            if segment >= len(within):
                return False
            here = within[segment]
        else:
            return False
    return True


def _holds_bottom(value: Any) -> bool:
    waiting, seen = [value], set[int]()
    while waiting:
        item = waiting.pop()
        if item is BOTTOM:
            return True
        if isinstance(item, Mapping | list | tuple) and id(cast("object", item)) not in seen:
            seen.add(id(cast("object", item)))
            mapped = isinstance(item, Mapping)
            waiting.extend(cast("Any", item).values() if mapped else cast("Any", item))
    return False
