"""The transport attempts of one request: metered, timed, retried; written once for both colours.

DESIGN section 5: "our model clients retry nothing by themselves: a transport retry is a call
and counted".
"""

import random
import time
from collections.abc import Awaitable, Generator
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, cast

from hornbook.budget import Meter
from hornbook.errors import BudgetExceeded, DefinitionError, told
from hornbook.models.failures import TransportError
from hornbook.models.protocol import Model
from hornbook.models.reading import compiled, read
from hornbook.models.values import Completion, Request
from hornbook.trace.frame import RUN, Frame, current

__all__ = ["Attempt", "Attempts", "Trying", "Wait"]

_FIRST_WAIT = 0.5
"""Seconds that the first wait is at most; each further wait may be twice as long."""
_LONGEST_WAIT = 20.0
_LONGEST_ASKED = 60.0
"""Seconds of a server's Retry-After that are waited; longer ones are cut."""

_random = random.Random()  # noqa: S311 - spreads retries, and keeps no secret


@dataclass(frozen=True, slots=True)
class Attempt:
    """Send the request once."""

    model: Model
    request: Request
    timeout: float | None

    def run(self) -> Completion:
        """Send it, from sync code."""
        return self.model.complete(self.request, timeout=self.timeout)

    async def arun(self) -> Completion:
        """Send it, from async code."""
        giving = cast("object", self.model.acomplete(self.request, timeout=self.timeout))
        if not isinstance(giving, Awaitable):
            raise DefinitionError(
                f"model {self.model.identity!r}: its acomplete() is not async: it gave "
                f"{type(giving).__name__}"
            )
        return await cast("Awaitable[Completion]", giving)


@dataclass(frozen=True, slots=True)
class Wait:
    """Let some time pass before the next attempt; both forms can be interrupted."""

    seconds: float

    def run(self) -> None:
        """Wait, from sync code."""
        time.sleep(self.seconds)

    async def arun(self) -> None:
        """Wait, from async code."""
        from asyncio import sleep

        await sleep(self.seconds)


Trying: TypeAlias = Generator[Attempt | Wait, Any, Completion]


@dataclass(slots=True, kw_only=True)
class Attempts:
    """All attempts for one request of one step."""

    model: Model
    step: str
    reserved: int = 0
    """Calls that the caller has taken out of the budget already."""
    until: float | None = None
    """When it must be done, on the monotonic clock, whatever the run's budget says."""
    made: int = field(default=0, init=False)
    lessons: int = field(default=0, init=False)
    """Of those made, the ones that only taught the model what its server does not take."""
    sent: Request | None = field(default=None, init=False)
    """What was sent, which plugins may have changed."""
    completion: Completion | None = field(default=None, init=False)
    """What the model gave, whatever plugins make of it."""

    def trying(self, request: Request) -> Trying:
        """Attempts and waits until there is a completion, or an error to raise."""
        frame = current.get()
        run = None if frame is None else frame[RUN]
        meter: Meter | None = None if run is None else run.meter
        limit = _limit(self.model)
        self.sent = request
        self._reserve(meter)
        while True:
            self.made += 1
            timeout = self._left(meter)
            try:
                completion: Completion = yield Attempt(self.model, request, timeout)
            except TransportError as error:
                self._note(frame, error)
                yield Wait(self._pause(error, meter, limit))
                if meter is not None:
                    meter.check_time(self.step)
                continue
            except BudgetExceeded as error:  # a replay's: the run of the record had no more left
                if isinstance(error.__cause__, TransportError):
                    self._note(frame, error.__cause__)
                raise
            self.completion = self._settled(request, completion, meter)
            return self.completion

    def _reserve(self, meter: Meter | None) -> None:
        if meter is None:
            return
        if self.made < self.reserved:
            meter.check_time(self.step)
        else:
            meter.reserve(self.step)

    def _settled(self, request: Request, completion: object, meter: Meter | None) -> Completion:
        identity = self.model.identity
        if not isinstance(completion, Completion):
            raise DefinitionError(
                f"model {identity!r} gave {type(completion).__name__} to step {self.step!r}: its "
                f"complete() and acomplete() give a hornbook.models.Completion"
            )
        if meter is not None:
            usage = completion.usage
            meter.settle(self.step, tokens=usage.total, cost=completion.cost)
        named = completion if completion.model else replace(completion, model=identity)
        return read(named, compiled(request))

    def _pause(self, error: TransportError, meter: Meter | None, limit: int) -> float:
        """Seconds to wait before the next attempt; raises the error where there is none."""
        error.attempts = self.made
        at_once = error.retry_after == 0
        self.lessons += at_once and self.lessons < _lessons(self.model)
        if not error.retryable or self.made >= limit + self.lessons:
            raise error
        pause = 0.0 if at_once else self._drawn(error, meter)
        self._reserve_again(error, meter)
        return pause

    def _reserve_again(self, error: TransportError, meter: Meter | None) -> None:
        """Take the next call out of the budget before it is waited for: the wait is not in vain."""
        try:
            self._reserve(meter)
        except BudgetExceeded as spent:
            raise spent from error

    def _drawn(self, error: TransportError, meter: Meter | None) -> float:
        asked = min(error.retry_after or 0.0, _LONGEST_ASKED)
        left = self._left(meter)
        if left is not None and asked >= left:
            error.add_note(f"not sent again: {left:.3f} s are left, and the wait is {asked:g} s")
            raise error
        longest = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** (self.made - 1))
        if left is not None:  # time must be left for the attempt itself
            longest = min(longest, (left - asked) / 2)
        # Full jitter, on top of what the server asks for: or all clients come back at once.
        return asked + _random.uniform(0.0, longest)

    def _left(self, meter: Meter | None) -> float | None:
        own = None if self.until is None else max(0.0, self.until - time.monotonic())
        runs = None if meter is None else meter.remaining_seconds()
        return min((left for left in (own, runs) if left is not None), default=None)

    def _note(self, frame: Frame | None, error: TransportError) -> None:
        if frame is not None and frame[RUN] is not None:
            data = {"attempt": self.made, "error": told(error), "retryable": error.retryable}
            frame[RUN].log.mark("attempt", frame, self.step, status="error", data=data)


def _limit(model: Model) -> int:
    """Attempts for one request besides those that teach."""
    limit: object = model.max_attempts
    if limit is None:
        return 1
    if type(limit) is not int:
        raise DefinitionError(
            f"model {model.identity!r} has max_attempts={limit!r:.60}: expected a whole number of "
            f"at least 1, or None"
        )
    return max(1, limit - _lessons(model))


def _lessons(model: Model) -> int:
    """Attempts, among `max_attempts`, that go into learning what a server does not take."""
    given: object = getattr(model, "lessons", 0)
    return given if type(given) is int else 0
