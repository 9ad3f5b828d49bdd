"""`ask`: the one way to call a model, as one recorded step of kind `model`.

The step's inputs are the request, its output is the text; its ending tells usage, cost and
attempts (Forethought 3.3: "model identity" is part of every trace).
"""

import time
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import replace
from functools import lru_cache
from time import perf_counter
from typing import Any, cast

from hornbook.errors import DefinitionError, told
from hornbook.models.attempts import Attempts
from hornbook.models.protocol import Model
from hornbook.models.reading import compiled, read
from hornbook.models.values import Completion, Message, Request, Sampling
from hornbook.step.effects import adrive, drive
from hornbook.step.operation import Operation, Outcome
from hornbook.step.recovery import Recovery
from hornbook.step.sources import ending
from hornbook.trace.frame import ENDED, OUTCOME, VALUE

__all__ = ["MODEL", "Asking", "Sending", "aask", "ask", "in_place_of", "stand_in"]

MODEL = "model"
"""What a model step is called that nobody named."""

stand_in: ContextVar[Callable[[Model], Model] | None] = ContextVar(
    "hornbook_stand_in", default=None
)
"""Gives the model that answers in place of another: in a replay no model is called, not even
one that a judge or a plain function asks."""


def in_place_of(model: Model) -> Model:
    """The model that is asked here when `model` is: itself, but in a replay."""
    given = stand_in.get()
    return model if given is None else given(model)


def ask(
    model: Model,
    request: Request,
    /,
    *,
    step: str | None = None,
    reserved: int = 0,
    timeout: float | None = None,
) -> Completion:
    """Ask a model, as one recorded step, within the budget of the run around.

    Each attempt takes one call out of the run's budget. A `TransportError` that may pass is
    tried again, after a wait with full jitter that honours the server's Retry-After, within
    the model's `max_attempts` and the run's remaining seconds. A schema is always checked.

    Args:
        model: whom to ask.
        request: what to ask.
        step: what the step is called in the record and the budget.
        reserved: calls that the caller has taken out of the budget already.
        timeout: seconds for all attempts and waits together; None for what the run has left.

    Raises:
        TransportError: no attempt gave a completion.
        BudgetExceeded: the run has no call, no token, no time or no money left.
        DefinitionError: the request's schema is not well formed.
        ContractViolation: a plugin's hook refuses the step or its answer.
    """
    asking = Asking(model, request, step=step, reserved=reserved, timeout=timeout)
    return asking.told(drive(asking.life(asking.send).live()))


async def aask(
    model: Model,
    request: Request,
    /,
    *,
    step: str | None = None,
    reserved: int = 0,
    timeout: float | None = None,
) -> Completion:
    """The async twin of `ask`."""
    asking = Asking(model, request, step=step, reserved=reserved, timeout=timeout)
    return asking.told(await adrive(asking.life(asking.asend).live()))


class Asking:
    """One request on its way to one model: the step, its attempts, and what comes of them."""

    def __init__(
        self,
        model: Model,
        request: Request,
        *,
        step: str | None = None,
        reserved: int = 0,
        timeout: float | None = None,
    ) -> None:
        _identity(model)
        model = in_place_of(model)
        compiled(request)  # an ill-formed schema opens no step
        self.request = request
        self.identity = _identity(model)
        self.attempts = Attempts(
            model=model,
            step=step or MODEL,
            reserved=reserved,
            until=None if timeout is None else time.monotonic() + timeout,
        )

    def send(self, request: Request) -> Completion:
        """All attempts, from sync code."""
        return drive(self.attempts.trying(request))

    async def asend(self, request: Request) -> Completion:
        """All attempts, from async code."""
        return await adrive(self.attempts.trying(request))

    def life(self, send: "Sending") -> "_Life":
        """The step of this request, under the step that is running here."""
        return _Life(self, send)

    def told(self, outcome: Outcome) -> Completion:
        """What the caller gets.

        Raises:
            ContractViolation: a hook ended the step.
        """
        decision = outcome.decision
        if outcome.status == "blocked" and decision is not None and decision.value is not None:
            return self.completion(decision.value)
        return self.completion(outcome.settled())

    def completion(self, raw: object) -> Completion:
        """A completion; plugins may give a text in its place."""
        if raw is self.attempts.completion and isinstance(raw, Completion):
            return raw
        schema = compiled(self.attempts.sent or self.request)
        if isinstance(raw, Completion):
            return read(raw if raw.model else replace(raw, model=self.identity), schema)
        if isinstance(raw, str):
            return read(Completion(text=raw, model=self.identity), schema)
        raise DefinitionError(
            f"step {self.attempts.step!r}: a plugin gave {type(raw).__name__} in place of a "
            f"model's answer: expected a text or a Completion"
        )


@lru_cache(maxsize=1024)
def _operation(step: str, identity: str) -> Operation:
    """What the record and the hooks see of a step."""
    return Operation(
        name=step,
        kind="model",
        bind=lambda args, kwargs: args[0].as_dict(),
        rebuild=lambda args, kwargs, changed: ((_changed(args[0], changed),), {}),
        view=_text_of,
        meta=lambda args, kwargs: {"model": identity, "request": args[0].digest},
    )


Sending = Callable[[Request], Completion] | Callable[[Request], Awaitable[Completion]]


class _Life(Recovery):
    """A step whose attempts are metered one by one, and whose ending tells what they used."""

    def __init__(self, asking: Asking, send: Sending) -> None:
        operation = _operation(asking.attempts.step, asking.identity)
        super().__init__(operation, send, (asking.request,), {})
        self._attempts_of = asking.attempts
        self._asked = asking.request
        self._meter = None  # `Attempts` reserves and settles by itself

    def _close(self, outcome: Outcome) -> None:
        frame, run = self._frame, self._run
        if run is None or frame is None:
            return
        frame[VALUE] = outcome.raw if outcome.ok else None
        ended = ending(outcome, self._passed)
        frame[OUTCOME] = _Ended(outcome, ended, self._attempts_of, self._asked)
        frame[ENDED] = perf_counter()
        run.log.end(frame)


class _Ended:
    """How a model step ended, with what its attempts used; read with the record."""

    __slots__ = ("_asked", "_attempts", "_ended", "_outcome")

    def __init__(self, outcome: Outcome, ended: Any, attempts: Attempts, asked: Request) -> None:
        self._outcome = outcome
        self._asked = asked
        self._ended = ended
        self._attempts = attempts

    @property
    def status(self) -> str:
        """As the recovery tells it."""
        return self._outcome.status

    @property
    def ok(self) -> bool:
        """Whether there is a completion."""
        return self._outcome.ok

    def as_record(self) -> Mapping[str, Any]:
        """Attempts, usage, cost and finish; the problem, where the text does not fit.

        What plugins changed is told as well, since a replay needs what was sent and answered:
        `request` is the digest of what was sent, `answer` what the model said.
        """
        data = {} if self._ended is None else dict(self._ended.as_record())
        attempts, raw = self._attempts, self._outcome.raw
        data["attempts"] = attempts.made
        answered = attempts.completion if attempts.made else raw
        if isinstance(answered, Completion):
            data |= _used(answered)
        if attempts.sent is not None and attempts.sent is not self._asked:
            data["request"] = attempts.sent.digest
        told = self.ok and raw is attempts.completion  # as the step's output, that is
        if attempts.completion is not None and not told:
            data["answer"] = attempts.completion.text
        return data


def _identity(model: object) -> str:
    identity = getattr(model, "identity", None)
    if isinstance(identity, str):
        return identity
    raise DefinitionError(
        f"{model!r:.60} is no model: it has no identity; hornbook.models.model(name) gives one "
        f"that a plugin registered"
    )


def _used(completion: Completion) -> dict[str, Any]:
    from hornbook.canon import digest

    usage = completion.usage
    told: dict[str, Any] = {
        "model": completion.model,
        "usage": {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens},
        "finish": completion.finish,
        "digest": digest(completion.text),
    }
    if completion.cost:
        told["cost"] = completion.cost
    if completion.problem is not None:
        told["problem"] = completion.problem
    return told


def _text_of(raw: Any) -> Any:
    return raw.text if isinstance(raw, Completion) else raw


def _changed(request: Request, changed: Mapping[str, Any]) -> Request:
    """The request with what a plugin changes of it."""
    known = ("messages", "sampling", "schema", "stop")
    unknown = [name for name in changed if name not in known]
    if unknown:
        raise DefinitionError(
            f"a model step has no input {unknown[0]!r:.60}; a plugin can change {', '.join(known)}"
        )
    given = dict(changed)
    try:
        if "messages" in given:
            given["messages"] = [_message(one) for one in given["messages"]]
        if isinstance(given.get("sampling"), Mapping):
            given["sampling"] = Sampling(**given["sampling"])
    except (KeyError, TypeError) as error:
        raise DefinitionError(
            f"a plugin changes a model step's {', '.join(given)} to what is none: {told(error)}"
        ) from error
    made = replace(request, **given)
    compiled(made)
    return made


def _message(given: object) -> Any:
    if not isinstance(given, Mapping):
        return given
    named = cast("Mapping[str, Any]", given)
    return Message(role=named["role"], content=named["content"])
