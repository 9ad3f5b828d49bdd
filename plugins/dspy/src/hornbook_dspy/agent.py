"""What was attached to one agent, and stands around its model's calls."""

from collections.abc import Sequence
from typing import Any

from hornbook.contracts.contract import Contract
from hornbook.hosting import ModelSteps, Rules
from hornbook.step.recover import Recover
from hornbook_dspy.asked import Asked
from hornbook_dspy.model import PLAIN, Answer, DspyModel

__all__ = ["Agent"]


class Agent:
    """An agent under guard. Immutable but for what it keeps at hand: copies share it.

    Args:
        tools: the names of its tools.
        final: the contract on its final answers.
    """

    __slots__ = ("_final", "_kept", "tools")

    def __init__(
        self, tools: Sequence[str], final: tuple[Contract[Any], Recover] | None = None
    ) -> None:
        self.tools = tuple(tools)
        self._final = final
        # Made once at least, so that a contract that does not fit is told when it is attached.
        self._kept = (PLAIN, self._steps(PLAIN.rules))

    def __reduce__(self) -> tuple[Any, ...]:
        return Agent, (self.tools, self._final)

    @property
    def needs_final(self) -> bool:
        """Whether there is a contract on its final answers."""
        return self._final is not None

    def models(self, around: ModelSteps[Asked, Answer]) -> ModelSteps[Asked, Answer]:
        """What stands around its model's calls; the rules are those of the context around."""
        if self._final is None:
            return around
        kept = self._kept
        if kept[0] is not around:
            kept = self._kept = (around, self._steps(around.rules))
        return kept[1]

    def _steps(self, rules: Rules) -> ModelSteps[Asked, Answer]:
        return ModelSteps(DspyModel(), final=self._final, rules=rules)
