"""One primitive as the engine sees it, and the life that a program's node is.

A life is a generator: it yields effects, is sent what they give, and returns a value or
raises. Lives are composed with `yield from`.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from hornbook.engine.controls import Controls
    from hornbook.models import Completion, Model, Request
    from hornbook.step.attempts import Feedback
    from hornbook.step.operation import Operation

__all__ = ["ASK_HERE", "Life", "Lived", "Settings", "Work", "settings"]

Life: TypeAlias = Generator[Any, Any, Any]
"""A generator of effects; its result is the value of the node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A primitive: symbolic with `function`, or neural with `model`, `request` and `read`."""

    name: str
    version: str
    digest: str
    """Of all that the primitive says; with the version, its identity in cache and record."""
    operation: "Operation"
    """Contract, recovery and binding; a neural one says `counts_attempts=False`, because its
    calls are metered where the model is asked."""
    function: Callable[..., Any] | None = None
    """Called with the inputs by keyword; a plain or a coroutine function."""
    model: "Model | None" = None
    request: "Callable[[Mapping[str, Any], Feedback | None], Request] | None" = None
    read: "Callable[[Completion], Any] | None" = None
    """The output in a completion; the raw text where it cannot be read, for the contract to
    refuse."""
    pure: bool = True
    """Equal inputs give equal outputs and no side effect: it may be cached."""
    blocking: bool = False
    """A plain function that waits: it gets a thread where something else is under way."""
    timeout: float | None = None
    """Seconds that one attempt may take."""
    output: Any = Any
    """The output's type, as the disk cache writes and reads it."""


class Lived(Protocol):
    """A fallback that is a primitive itself: the engine lives it through, as a step of its own.

    Any callable in `Recover(fallback=...)` that has this method is not called but lived.
    """

    def life(self, inputs: Mapping[str, Any], *, place: str) -> Life:
        """The life of the fallback with these inputs, which are the step's own."""
        ...


class Settings(Protocol):
    """What a life may ask of the engine that runs it."""

    @property
    def pruning(self) -> bool:
        """Whether branches that cannot be taken are left out."""
        ...

    @property
    def concurrency(self) -> bool:
        """Whether branches run at the same time."""
        ...

    @property
    def controls(self) -> "Controls":
        """Which parts of the control layer are on."""
        ...

    @property
    def substitutes(self) -> Mapping[str, Any]:
        """The value that the step at a place gives, whatever it would do."""
        ...


class _AskHere:
    """The effect that gives the scheduler of this life."""

    __slots__ = ()


ASK_HERE = _AskHere()


def settings() -> Generator[Any, Any, Settings]:
    """Ask what the engine that runs this life is set to, with `yield from`."""
    return (yield ASK_HERE).engine
