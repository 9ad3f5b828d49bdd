"""`ask_many`: several requests to one model as one batch, each a recorded step of its own."""

from collections.abc import Generator, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias, cast

from hornbook.errors import DefinitionError
from hornbook.models.asking import Asking, aask, ask, in_place_of
from hornbook.models.attempts import Attempt, Wait
from hornbook.models.protocol import BatchModel, Model
from hornbook.models.values import Completion, Request
from hornbook.step.effects import Call, Effect, adrive, drive

__all__ = ["aask_many", "ask_many"]

Answer: TypeAlias = Completion | Exception
Living: TypeAlias = Generator[Effect, Any, Any]


def ask_many(
    model: Model,
    requests: Sequence[Request],
    /,
    *,
    steps: Sequence[str | None] | None = None,
    contexts: Sequence[Context | None] | None = None,
    reserved: int = 0,
    timeout: float | None = None,
) -> list[Answer]:
    """Ask a model several requests: one batch where it is a `BatchModel`, else one by one.

    Each request is metered, recorded and checked as by `ask`. What failed and may be tried
    again is sent again together, until each has an answer or its error.

    Args:
        model: whom to ask.
        requests: what to ask, in the order of the answers.
        steps: what each step is called.
        contexts: where each step stands: it is recorded under the step that runs there. No
            context may be entered elsewhere meanwhile. None stands for the caller's own.
        reserved: calls that the caller has taken out of the budget already, for each request.
        timeout: seconds for everything together.

    Returns:
        A completion for each request, or the exception that `ask` would have raised.

    Raises:
        DefinitionError: `steps` or `contexts` are not as many as the requests.
    """
    places, model = _places(requests, steps, contexts), in_place_of(model)
    if isinstance(model, BatchModel):
        return drive(_batch(model, places, reserved, timeout))
    answers: list[Answer] = []
    for place in places:
        asking = partial(ask, step=place.step, reserved=reserved, timeout=timeout)
        try:
            answers.append(place.context.run(asking, model, place.request))
        except Exception as error:  # noqa: BLE001 - it is the answer to this one request
            answers.append(error)
    return answers


async def aask_many(
    model: Model,
    requests: Sequence[Request],
    /,
    *,
    steps: Sequence[str | None] | None = None,
    contexts: Sequence[Context | None] | None = None,
    reserved: int = 0,
    timeout: float | None = None,
) -> list[Answer]:
    """The async twin of `ask_many`; a model that takes no batch is asked all at once."""
    from asyncio import TaskGroup

    places, model = _places(requests, steps, contexts), in_place_of(model)
    if isinstance(model, BatchModel):
        return await adrive(_batch(model, places, reserved, timeout))

    async def one(place: _Place) -> Answer:
        try:
            return await aask(
                model, place.request, step=place.step, reserved=reserved, timeout=timeout
            )
        except Exception as error:  # noqa: BLE001 - it is the answer to this one request
            return error

    async with TaskGroup() as group:
        tasks = [group.create_task(one(place), context=place.context) for place in places]
    return [task.result() for task in tasks]


@dataclass(frozen=True, slots=True)
class _Place:
    """A request, what its step is called, and where the step stands."""

    request: Request
    step: str | None
    context: Context


def _places(
    requests: Sequence[Request],
    steps: Sequence[str | None] | None,
    contexts: Sequence[Context | None] | None,
) -> list[_Place]:
    requests = list(requests)  # one may be given as it is made
    many = len(requests)
    for what, given in (("steps", steps), ("contexts", contexts)):
        if given is not None and len(given) != many:
            raise DefinitionError(f"ask_many: {len(given)} {what} for {many} requests")
    names = steps or [None] * many
    around = contexts or [None] * many
    return [
        _Place(request, name, copy_context() if context is None else context)
        for request, name, context in zip(requests, names, around, strict=True)
    ]


def _batch(
    model: BatchModel, places: Sequence[_Place], reserved: int, timeout: float | None
) -> Generator[Effect, Any, list[Answer]]:
    """Rounds: all attempts that are due as one effect, then one wait for those that failed."""
    items = [_Item(model, place, reserved, timeout) for place in places]
    try:
        while waiting := [item for item in items if item.answer is None]:
            effects = [item.effect for item in waiting]
            others = [item for item in waiting if not isinstance(item.effect, Attempt | Wait)]
            attempts = [item for item in waiting if isinstance(item.effect, Attempt)]
            if others:
                yield from _one(others[0])
            elif attempts:
                yield from _together(model, attempts)
            else:
                yield Wait(max(cast("Wait", effect).seconds for effect in effects))
                for item in waiting:
                    item.go_on(None)
    except BaseException as error:
        for item in items:
            item.stop(error)
        raise
    return [cast("Answer", item.answer) for item in items]


def _one(item: "_Item") -> Living:
    assert item.effect is not None
    try:
        given = yield item.effect
    except Exception as error:  # noqa: BLE001 - the recovery decides about it
        item.fail(error)
    else:
        item.go_on(given)


def _together(model: BatchModel, items: Sequence["_Item"]) -> Living:
    attempts = [cast("Attempt", item.effect) for item in items]
    try:
        answers: Sequence[Any] = yield _Many(model, attempts)
    except Exception as error:  # noqa: BLE001 - each recovery decides about it
        answers = [error] * len(items)
    for item, answer in zip(items, answers, strict=True):
        if isinstance(answer, Exception):
            item.fail(answer)
        else:
            item.go_on(answer)


@dataclass(frozen=True, slots=True)
class _Many:
    """Send several attempts as one batch."""

    model: BatchModel
    attempts: Sequence[Attempt]

    def run(self) -> Sequence[Any]:
        """Send them, from sync code."""
        requests = [attempt.request for attempt in self.attempts]
        return self._checked(self.model.complete_many(requests, timeout=self._timeout()))

    async def arun(self) -> Sequence[Any]:
        """Send them, from async code."""
        requests = [attempt.request for attempt in self.attempts]
        return self._checked(await self.model.acomplete_many(requests, timeout=self._timeout()))

    def _timeout(self) -> float | None:
        given = [attempt.timeout for attempt in self.attempts]
        return min((seconds for seconds in given if seconds is not None), default=None)

    def _checked(self, answers: object) -> Sequence[Any]:
        if not isinstance(answers, Sequence):
            raise DefinitionError(
                f"model {self.model.identity!r} gave {type(answers).__name__} to a batch: expected "
                f"a list of answers"
            )
        answers = cast("Sequence[Any]", answers)
        if len(answers) != len(self.attempts):
            raise DefinitionError(
                f"model {self.model.identity!r} gave {len(answers)} answers to a batch of "
                f"{len(self.attempts)} requests"
            )
        return answers


@dataclass(slots=True)
class _Item:
    """One request of a batch: its step, stepped in its own context up to the next effect."""

    model: Model
    place: _Place
    reserved: int
    timeout: float | None
    effect: Effect | None = field(default=None, init=False)
    """What it waits for."""
    answer: Answer | None = field(default=None, init=False)
    _asking: Asking | None = field(default=None, init=False)
    _living: list[Living] = field(default_factory=list[Living], init=False)
    """The step's life, and its attempts while they are made."""

    def __post_init__(self) -> None:
        self.place.context.run(self._start)

    def go_on(self, given: Any) -> None:
        """Give what the effect gave."""
        self.place.context.run(self._advance, given, None)

    def fail(self, error: BaseException) -> None:
        """Raise what the effect raised."""
        self.place.context.run(self._advance, None, error)

    def stop(self, error: BaseException) -> None:
        """End the step, which is under way, because all are stopped."""
        if self.answer is None:
            self.place.context.run(self._advance, None, error)

    def _start(self) -> None:
        place = self.place
        try:
            self._asking = Asking(
                self.model,
                place.request,
                step=place.step,
                reserved=self.reserved,
                timeout=self.timeout,
            )
            self._living = [self._asking.life(self._asking.send).live()]
        except Exception as error:  # noqa: BLE001 - it is the answer to this one request
            self.answer = error
            return
        self._advance(None, None)

    def _advance(self, given: Any, error: BaseException | None) -> None:
        assert self._asking is not None
        while self._living:
            top = self._living[-1]
            try:
                effect = top.send(given) if error is None else top.throw(error)
            except StopIteration as stop:
                self._living.pop()
                given, error = stop.value, None
                continue
            except BaseException as raised:  # noqa: BLE001 - the life around decides about it
                self._living.pop()
                given, error = None, raised
                continue
            if isinstance(effect, Call) and effect.function == self._asking.send:
                self._living.append(cast("Living", self._asking.attempts.trying(*effect.args)))
                given, error = None, None
                continue
            self.effect = effect
            return
        self._end(given, error)

    def _end(self, outcome: Any, error: BaseException | None) -> None:
        assert self._asking is not None
        try:
            if error is not None:
                raise error
            self.answer = self._asking.told(outcome)
        except Exception as raised:  # noqa: BLE001 - it is the answer to this one request
            self.answer = raised
        except BaseException:  # noqa: BLE001 - all are stopped, and whoever did that knows
            self.answer = InterruptedError("stopped")
