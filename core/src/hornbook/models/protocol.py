"""What a model is: the extension point for clients, hosts' models and doubles."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from hornbook.models.values import Completion, Request

__all__ = ["BatchModel", "Model"]


@runtime_checkable
class Model(Protocol):
    """Anything that completes requests, one attempt a call; `ask` does all the rest.

    Raises (from `complete` and `acomplete`):
        TransportError: the attempt gave no completion.
    """

    @property
    def identity(self) -> str:
        """Which model answers, with all that decides how; for records and cache keys."""
        ...

    @property
    def max_attempts(self) -> int | None:
        """Attempts that `ask` may make for one request; at least 1.

        None: the model bounds its own attempts, if anything does; `ask` makes one, and a
        program's static count of calls says `unbounded by host`.
        """
        ...

    def complete(self, request: Request, /, *, timeout: float | None = None) -> Completion:
        """Make one attempt, in at most `timeout` seconds, from any thread."""
        ...

    async def acomplete(self, request: Request, /, *, timeout: float | None = None) -> Completion:
        """Make one attempt, in at most `timeout` seconds, in any running loop."""
        ...


@runtime_checkable
class BatchModel(Model, Protocol):
    """A model for which several requests at once cost less than one after the other."""

    def complete_many(
        self, requests: Sequence[Request], /, *, timeout: float | None = None
    ) -> Sequence[Completion | Exception]:
        """Make one attempt for each; an answer or its exception for each, in order."""
        ...

    async def acomplete_many(
        self, requests: Sequence[Request], /, *, timeout: float | None = None
    ) -> Sequence[Completion | Exception]:
        """The async twin of `complete_many`."""
        ...
