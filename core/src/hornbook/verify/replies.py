"""What models reply while a program is verified: a scenario's script, or what they said before.

No real model is asked twice for one scenario: what it says in the first run is what it says in
all the others, so that the runs with mutants cost nothing and differ in the mutant alone.
"""

import json
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from hornbook.models import Completion, Request, TransportError, Usage
from hornbook.trace.frame import META, PARENT, current
from hornbook.verify.errors import ScenarioError

if TYPE_CHECKING:
    from hornbook.models import Model

__all__ = ["Mode", "Replies", "ReplyingModel"]

Mode: TypeAlias = Literal["first", "again", "mutated"]
"""`first`: models without a script are asked. `again`: they repeat what they said. `mutated`: a
script that is spent repeats its last reply, too, since a mutant may lead to more calls."""


_ERROR = "$error"
"""The one key of a reply that is no reply: the model cannot be reached."""


class Replies:
    """The replies of one scenario."""

    def __init__(self, scripts: Mapping[str, Any]) -> None:
        self._scripts = scripts
        self._said: dict[str, list[Completion | Exception]] = {}
        self._lock = threading.Lock()

    @property
    def listed(self) -> Mapping[str, int]:
        """How many replies are listed one by one, by what they are scripted for."""
        scripts = self._scripts.items()
        return {key: len(cast("list[Any]", one)) for key, one in scripts if isinstance(one, list)}

    def begin(self, mode: Mode) -> "Session":
        """The replies of one run, from the first on."""
        return Session(self, mode)

    def script(self, step: str, place: str | None) -> tuple[str, Any] | None:
        """What is scripted for a step: by its place before its name."""
        for key in (place, step):
            if key is not None and key in self._scripts:
                return key, self._scripts[key]
        return None

    def said(self, key: str) -> list[Completion | Exception]:
        """What a model said, or raised, in the first run."""
        return self._said.get(key, [])

    def keep(self, key: str, said: Completion | Exception) -> None:
        """Remember what a model said, or raised."""
        with self._lock:
            self._said.setdefault(key, []).append(said)


class Session:
    """The replies of one run."""

    def __init__(self, replies: Replies, mode: Mode) -> None:
        self.replies = replies
        self.mode = mode
        self.problems: list[str] = []
        """What the script lacks: a program may catch what is raised for it."""
        self._next: dict[str, int] = {}
        self._lock = threading.Lock()

    @property
    def left_over(self) -> str:
        """Which of the replies that are listed one by one no model gave; empty when all were."""
        told: list[str] = []
        for key, listed in self.replies.listed.items():
            left = listed - self._next.get(key, 0)
            if left > 0:
                told.append(f"{left} of the {listed} replies for {key!r}")
        return f"no model was asked for {' and '.join(told)}: take them out" if told else ""

    def reply(self, step: str, model: "Model", request: Request) -> Completion | None:
        """The reply to a request; None where the model itself is to be asked.

        Raises:
            ScenarioError: the script is spent.
            TransportError: the script says so, as `{"$error": "the server is down"}`.
            Exception: what the model itself raised in the first run.
        """
        place = _place()
        found = self.replies.script(step, place)
        key = place or step
        if found is not None:
            key, script = found
            given = cast("list[Any]", script) if isinstance(script, list) else [script]
            steady = not isinstance(script, list)
            return _completion(self._taken(key, step, given, steady=steady), request, model)
        if self.mode == "first":
            return None
        said = self._taken(key, step, self.replies.said(key), steady=False)
        if isinstance(said, Exception):
            raise said
        return said

    def keep(self, step: str, said: Completion | Exception) -> None:
        """Remember what the model itself said, or raised."""
        self.replies.keep(_place() or step, said)

    def _taken(self, key: str, step: str, given: list[Any], *, steady: bool) -> Any:
        with self._lock:
            at = self._next.get(key, 0)
            self._next[key] = at + 1
        if steady or (self.mode == "mutated" and given):
            at = min(at, len(given) - 1)
        if at < len(given):
            return given[at]
        told = f"{len(given)} replies" if len(given) != 1 else "1 reply"
        problem = f"the model of {step!r} is asked once more than the scenario's {told} for {key!r}"
        self.problems.append(problem)
        raise ScenarioError([problem])


class ReplyingModel:
    """Stands in place of a primitive's model while its program is verified."""

    def __init__(self, step: str, model: "Model") -> None:
        self.step = step
        self.model = model
        self.identity = model.identity
        self.max_attempts = model.max_attempts
        self.session: Session | None = None
        """Set before each run."""

    def complete(self, request: Request, /, *, timeout: float | None = None) -> Completion:
        """Reply as the run's session says."""
        assert self.session is not None
        reply = self.session.reply(self.step, self.model, request)
        if reply is not None:
            return reply
        try:
            reply = self.model.complete(request, timeout=timeout)
        except Exception as error:
            self.session.keep(self.step, error)
            raise
        self.session.keep(self.step, reply)
        return reply

    async def acomplete(self, request: Request, /, *, timeout: float | None = None) -> Completion:
        """The async twin of `complete`; no model is asked: a first run is a sync one."""
        assert self.session is not None
        reply = self.session.reply(self.step, self.model, request)
        assert reply is not None
        return reply


def _completion(given: Any, request: Request, model: "Model") -> Completion:
    if isinstance(given, dict) and list(cast("dict[str, Any]", given)) == [_ERROR]:
        raise TransportError(str(cast("dict[str, Any]", given)[_ERROR]))
    text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, default=str)
    asked = sum(len(message.content.split()) for message in request.messages)
    usage = Usage(input_tokens=asked, output_tokens=len(text.split()))
    return Completion(text=text, usage=usage, model=model.identity)


def _place() -> str | None:
    """Where in the program the step stands that asks here."""
    frame = current.get()
    while frame is not None:
        meta = frame[META]
        if meta and "place" in meta:
            return str(meta["place"])
        frame = frame[PARENT]
    return None
