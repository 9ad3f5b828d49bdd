"""The transport attempts of one request: metered, timed, retried; written once for both colours.

DESIGN section 5: "our model clients retry nothing by themselves: a transport retry is a call
and counted".
"""

import random
import time
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from hornbook.budget import Meter
from hornbook.errors import DefinitionError, told
from hornbook.models.failures import TransportError
from hornbook.models.protocol import Model
from hornbook.models.reading import read
from hornbook.models.values import Completion, Request
from hornbook.schema import CompiledSchema
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
        return await self.model.acomplete(self.request, timeout=self.timeout)


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
    schema: CompiledSchema | None
    reserved: int = 0
    """Calls that the caller has taken out of the budget already."""
    until: float | None = None
    """When it must be done, on the monotonic clock, whatever the run's budget says."""
    made: int = field(default=0, init=False)

    def trying(self, request: Request) -> Trying:
        """Attempts and waits until there is a completion, or an error to raise."""
        frame = current.get()
        run = None if frame is None else frame[RUN]
        meter: Meter | None = None if run is None else run.meter
        limit = _limit(self.model)
        while True:
            self._reserve(meter)
            self.made += 1
            timeout = self._left(meter)
            try:
                completion: Completion = yield Attempt(self.model, request, timeout)
            except TransportError as error:
                self._note(frame, error)
                yield Wait(self._pause(error, meter, limit))
                continue
            return self._settled(completion, meter)

    def _reserve(self, meter: Meter | None) -> None:
        if meter is None:
            return
        if self.made < self.reserved:
            meter.check_time(self.step)
        else:
            meter.reserve(self.step)

    def _settled(self, completion: object, meter: Meter | None) -> Completion:
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
        return read(named, self.schema)

    def _pause(self, error: TransportError, meter: Meter | None, limit: int) -> float:
        """Seconds to wait before the next attempt; raises the error where there is none."""
        error.attempts = self.made
        if not error.retryable or self.made >= limit:
            raise error
        if error.retry_after == 0:
            return 0.0
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
    limit = model.max_attempts
    return 1 if limit is None else max(1, limit)
