"""What a step asks of the learned rules."""

from dataclasses import dataclass

from hornbook.errors import RuleError
from hornbook.rules.symbolic import text_tuple

__all__ = ["RuleRequest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRequest:
    """A request for the rules that matter to one step; the argument of the retrieval hook."""

    namespace: str | None = None
    """The tenant whose rules are asked for; None asks no plugin."""
    query: str
    tools: tuple[str, ...] = ()
    """Names of the tools at hand; a library's table gives their categories."""
    agent: str | None = None
    step: str | None = None
    token_budget: int = 400
    """Upper limit for the rendered rules, in estimated tokens."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tools", text_tuple("request", "tools", self.tools))
        if self.token_budget < 0:
            raise RuleError(f"request: token_budget {self.token_budget} is negative")
