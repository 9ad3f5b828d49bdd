"""What travels in DSPy's settings, which reach its worker threads where contextvars do not."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hornbook.errors import DefinitionError
from hornbook.hosting import AmbientRun, ModelSteps
from hornbook.trace.frame import Frame, current
from hornbook_dspy.compat import dspy, settings
from hornbook_dspy.scope import Scope

if TYPE_CHECKING:
    from hornbook_dspy.asked import Asked
    from hornbook_dspy.model import Answer

__all__ = [
    "KEY",
    "Again",
    "Carried",
    "at_step",
    "carried",
    "carrying",
    "joined",
    "refuse_no_model",
]

KEY = "hornbook"
"""The key in DSPy's settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """A further attempt of a contracted module: another rollout, told what was wrong."""

    attempt: int
    told: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """Where in a run a DSPy call stands, and what was attached to it."""

    frame: Frame | None = None
    """The step around, for threads that do not see it otherwise."""
    scope: Scope | None = None
    """The guarded or contracted call around."""
    models: "ModelSteps[Asked, Answer] | None" = None
    """What stands around model calls: it knows where rules come from."""
    ambient: AmbientRun | None = None
    """The run of `configure(trace=...)`."""
    again: Again | None = None
    in_tool: bool = False
    """A tool of an agent is running: what it passes on, the model wrote."""

    def __deepcopy__(self, memo: object) -> "Carried":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # Saved settings hold nothing of the process they were saved in.
        return Carried, ()


_NOTHING = Carried()


def carried() -> Carried:
    """What the settings hold here and now."""
    return settings.get(KEY) or _NOTHING


@contextmanager
def carrying(held: Carried, **more: Any) -> Generator[None]:
    """Let what is called inside see this; `more` are other settings of DSPy."""
    with settings.context(**{KEY: held}, **more):
        yield


@contextmanager
def joined(held: Carried) -> Generator[None]:
    """Let the steps inside stand where the settings say, in a thread that does not know."""
    if current.get() is not None:
        yield
    elif held.frame is not None:
        token = current.set(held.frame)
        try:
            yield
        finally:
            current.reset(token)
    elif held.ambient is not None:
        with held.ambient.around():
            yield
    else:
        yield


def at_step(held: Carried) -> Carried:
    """The same, as seen from the step that is running here."""
    return replace(held, frame=current.get())


def refuse_no_model(lm: object) -> None:
    """Refuse what is no model, with what to write instead.

    Raises:
        DefinitionError: it is the name of one, or something else altogether.
    """
    if isinstance(lm, str):
        raise DefinitionError(f"lm={lm!r} is the name of a model: give dspy.LM({lm!r})")
    if not isinstance(lm, dspy.BaseLM):
        raise DefinitionError(f"lm={lm!r:.80} is no language model of DSPy: give a dspy.LM")
