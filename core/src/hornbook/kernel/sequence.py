"""The checks that need the calls made so far, behind one door: loaded when first asked for."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hornbook.contracts import Verdict, Violation
from hornbook.kernel.context import GuardContext
from hornbook.kernel.registry import ToolRegistry, ToolSpec
from hornbook.kernel.thresholds import Thresholds

if TYPE_CHECKING:
    from hornbook.kernel.toolwords import ToolWords

__all__ = ["Doing"]


class Doing:
    """What a guard asks of the calls of a conversation, for one registry."""

    __slots__ = ("_registry", "_thresholds", "_words")

    def __init__(self, registry: ToolRegistry, thresholds: Thresholds) -> None:
        self._registry = registry
        self._thresholds = thresholds
        self._words: ToolWords | None = None

    def _wording(self) -> "ToolWords":
        if self._words is None:
            from hornbook.kernel.toolwords import ToolWords

            self._words = ToolWords(self._registry)
        return self._words

    def before(
        self, spec: ToolSpec, arguments: Mapping[str, Any], context: GuardContext
    ) -> tuple[tuple[Verdict, ...], tuple[Violation, ...]]:
        """Return what is wrong with a call after those made."""
        from hornbook.kernel.order import unmet
        from hornbook.kernel.prerequisites import PREREQUISITE
        from hornbook.kernel.repeats import REPEATED, VARIED, repeats

        clauses = (PREREQUISITE,) if spec.prerequisites else ()
        found = list(unmet(spec, self._registry, context))
        if context.calls:
            clauses = (*clauses, REPEATED, VARIED)
            found += repeats(spec, arguments, context, self._wording())
        return tuple(_verdict(clause, found) for clause in clauses), tuple(found)

    def after(
        self, answer: str, context: GuardContext
    ) -> tuple[tuple[Verdict, ...], tuple[Violation, ...]]:
        """Return the verdicts of the end's clauses, and what is wrong."""
        from hornbook.kernel.doing import turn_of
        from hornbook.kernel.finish import CLAUSES, violations

        turn = turn_of(answer, context)
        found = tuple(violations(turn, self._registry, self._wording(), self._thresholds))
        return tuple(_verdict(clause, found) for clause in CLAUSES), found


def _verdict(clause: str, found: Sequence[Violation]) -> Verdict:
    own = next((one for one in found if one.clause == clause), None)
    if own is None:
        return Verdict(clause=clause, status="Satisfied")
    return Verdict(
        clause=clause,
        status="Violated",
        reason=f"{own.observed}: expected {own.expected}",
        evidence=own.evidence,
    )
