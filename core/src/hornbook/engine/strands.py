"""One life under way, in a context of its own."""

from collections.abc import Callable
from contextvars import Context, copy_context
from typing import TYPE_CHECKING, Any

from hornbook.engine.work import Life

if TYPE_CHECKING:
    from hornbook.engine.groups import Group
    from hornbook.engine.jobs import Job

__all__ = ["Strand"]


class Strand:
    """One life under way, in a context of its own; the first one is in its caller's."""

    __slots__ = ("context", "dropped", "group", "job", "life", "name", "step")

    def __init__(
        self, life: Life | None, context: Context | None, group: "Group | None", name: str
    ) -> None:
        self.life: Any = life
        self.context = context
        self.step: Callable[..., Any] = _plainly if context is None else context.run
        self.group = group
        self.name = name
        self.job: Job | None = None
        self.dropped = False

    def copied(self) -> Context:
        """A copy of its context."""
        return copy_context() if self.context is None else self.context.copy()

    def own_context(self) -> Context:
        """Its context, for what runs while it waits; of the first one, a copy."""
        return self.context or copy_context()

    def leave_context(self) -> None:
        """Go on in a copy of its context, since something left behind still runs in it."""
        if self.context is not None:
            self.context = self.context.copy()
            self.step = self.context.run

    def within(self, group: "Group") -> bool:
        """Whether it belongs to the group, or to one below it."""
        around = self.group
        while around is not None and around is not group:
            around = around.parent.group
        return around is group


def _plainly(step: Callable[..., Any], *arguments: Any) -> Any:
    return step(*arguments)
