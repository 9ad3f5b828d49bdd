"""What looks at a conversation as it goes: the guard and its peers behind one interface."""

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, get_type_hints

from hornbook import kernel
from hornbook.contracts import ContractReport
from hornbook.kernel import GuardContext, ToolGuard, ToolRegistry, ToolResult

from .material import Call, Task, registry, simulator
from .world import Event

__all__ = [
    "Airlock",
    "Complaint",
    "Detector",
    "Guard",
    "Pydantic",
    "Session",
    "ToolErrors",
    "can_finish",
]


@dataclass(frozen=True, slots=True)
class Complaint:
    """What a detector says is wrong."""

    reason: str
    """Its class, such as the name of the clause."""
    detail: str


class Session(Protocol):
    """A detector on one conversation; it hears everything in order."""

    def turn(self, text: str) -> None:
        """The user speaks."""

    def call(self, call: Call) -> Complaint | None:
        """A call is about to be made."""

    def result(self, event: Event) -> Complaint | None:
        """The call was made."""

    def finish(self, answer: str) -> Complaint | None:
        """The turn is about to end with an answer."""


_Functions: TypeAlias = dict[tuple[str, str], Callable[..., Any]]
"""The functions that a peer has wrapped, by class and tool."""


class Detector(Protocol):
    """One row of the tables."""

    name: str

    def begin(self, task: Task) -> Session:
        """Start on a conversation about a task."""
        ...


class _Deaf:
    """A session that hears nothing and never complains."""

    def turn(self, text: str) -> None:
        del text

    def call(self, call: Call) -> Complaint | None:
        del call
        return None

    def result(self, event: Event) -> Complaint | None:
        del event
        return None

    def finish(self, answer: str) -> Complaint | None:
        del answer
        return None


class ToolErrors:
    """No guard at all: a fault is known by the error that a tool returns."""

    name = "the tools' own errors"

    def begin(self, task: Task) -> Session:
        """Start on a conversation."""
        del task
        return _ErrorSession()


class _ErrorSession(_Deaf):
    def result(self, event: Event) -> Complaint | None:
        return Complaint("tool error", event.text[:120]) if event.error else None


class Pydantic:
    """`validate_call` on functions with the tools' own signatures."""

    name = "pydantic validate_call"

    def __init__(self) -> None:
        self._functions: _Functions = {}

    def begin(self, task: Task) -> Session:
        """Start on a conversation."""
        from pydantic import validate_call

        return _SignatureSession(task, validate_call, self._functions)


class Airlock:
    """agent-airlock at its strictest on arguments: no coercion, unknown names are refused."""

    name = "agent-airlock"

    def __init__(self) -> None:
        import logging

        from agent_airlock import Airlock as Wrap
        from agent_airlock import AirlockConfig, UnknownArgsMode

        for name in [name for name in logging.root.manager.loggerDict if "airlock" in name]:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        config = AirlockConfig(enable_audit_log=False, unknown_args=UnknownArgsMode.BLOCK)
        self._wrap = Wrap(config=config)
        self._functions: _Functions = {}

    def begin(self, task: Task) -> Session:
        """Start on a conversation."""
        return _SignatureSession(task, self._wrap, self._functions)


class _SignatureSession(_Deaf):
    """A peer that decorates functions; the functions do nothing."""

    def __init__(self, task: Task, wrap: Callable[..., Any], functions: _Functions) -> None:
        self._functions = functions
        self._owners = [simulator(name) for name in task.entry["involved_classes"]]
        self._tools = frozenset(task.tools)
        self._wrap = wrap

    def call(self, call: Call) -> Complaint | None:
        if call.fate == "unparsed":
            return Complaint("unreadable", "the host cannot read the call")
        if call.tool not in self._tools:
            # Neither peer knows the other tools; the host that looks the function up does.
            return Complaint("no such tool", call.tool)
        try:
            answer = self._function(call.tool)(**call.arguments)
        except (TypeError, ValueError) as error:
            return Complaint("validation", str(error)[:160])
        if isinstance(answer, Mapping) and answer.get("status") == "blocked":
            return Complaint("validation", str(answer.get("error"))[:160])
        return None

    def _function(self, tool: str) -> Callable[..., Any]:
        owner = next(owner for owner in self._owners if hasattr(owner, tool))
        key = (owner.__name__, tool)
        if key not in self._functions:
            self._functions[key] = self._wrap(stub(getattr(owner, tool)))
        return self._functions[key]


def stub(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with a method's name, parameters and types that does nothing."""
    parameters = list(inspect.signature(method).parameters.values())[1:]
    names = ", ".join(parameter.name for parameter in parameters)
    made: dict[str, Any] = {}
    exec(f"def {method.__name__}({names}): return 'done'", made)
    function = made[method.__name__]
    hints = get_type_hints(method)
    hints.pop("return", None)
    empty = inspect.Parameter.empty
    function.__annotations__ = hints
    function.__defaults__ = tuple(p.default for p in parameters if p.default is not empty)
    return function


def can_finish() -> bool:
    """Whether the guard has its check at the end of a turn."""
    return hasattr(ToolGuard, "finish")


class Guard:
    """The guard on the tools as the data describes them, without a model.

    Args:
        finish: whether turns are checked at their end too.
        settings: what `ToolGuard` takes beyond the registry, thresholds say.
        name: the row's name.
    """

    def __init__(
        self,
        *,
        finish: bool = False,
        settings: Mapping[str, Any] | None = None,
        name: str | None = None,
    ) -> None:
        self.name = name or ("guard.check and finish" if finish else "guard.check")
        self._finish = finish
        self._settings = dict(settings or {})
        self._guards: dict[tuple[str, ...], ToolGuard] = {}

    def begin(self, task: Task) -> Session:
        """Start on a conversation; tasks with the same tools share a guard."""
        if task.tools not in self._guards:
            self._guards[task.tools] = ToolGuard(registry(task), **self._settings)
        return GuardSession(self._guards[task.tools], finish=self._finish)

    def on(self, tools: ToolRegistry, trusted: Sequence[Any]) -> Session:
        """Start on a conversation that is no task of the package."""
        key = tools.names
        if key not in self._guards:
            self._guards[key] = ToolGuard(tools, **self._settings)
        return GuardSession(self._guards[key], finish=self._finish, trusted=trusted)


class GuardSession:
    """Keeps the guard's context as an adapter would."""

    def __init__(
        self,
        guard: ToolGuard,
        *,
        finish: bool,
        trusted: Sequence[Any] = (),
    ) -> None:
        self._guard = guard
        self._finish = finish and can_finish()
        self._trusted = trusted
        self._turns: list[str] = []
        self._results: list[ToolResult] = []
        self._calls: list[Any] = []

    def turn(self, text: str) -> None:
        """The user speaks."""
        self._turns.append(text)

    def call(self, call: Call) -> Complaint | None:
        """A call is about to be made."""
        arguments: Any = '{"' if call.fate == "unparsed" else dict(call.arguments)
        return _complaint(self._guard.check(call.tool, arguments, self._context()))

    def result(self, event: Event) -> Complaint | None:
        """The call was made."""
        self._results.append(
            ToolResult(
                name=event.call.tool,
                value=event.text,
                arguments=event.call.arguments,
                error=event.error,
            )
        )
        seen = _seen_call(event, len(self._turns))
        if seen is not None:
            self._calls.append(seen)
        return None

    def finish(self, answer: str) -> Complaint | None:
        """The turn is about to end."""
        if not self._finish:
            return None
        guard: Any = self._guard
        return _complaint(guard.finish(answer, context=self._context()))

    def _context(self) -> GuardContext:
        kind: Any = GuardContext
        more = {"calls": tuple(self._calls)} if "calls" in _CONTEXT_FIELDS else {}
        return kind(
            turns=tuple(self._turns), results=tuple(self._results), trusted=self._trusted, **more
        )


_CONTEXT_FIELDS = frozenset(field.name for field in dataclasses.fields(GuardContext))


def _seen_call(event: Event, turn: int) -> Any:
    kind: Any = getattr(kernel, "SeenCall", None)
    if kind is None:
        return None
    given = {
        "tool": event.call.tool,
        "arguments": event.call.arguments,
        "value": None if event.error else event.text,
        "error": event.text if event.error else None,
        "turn": turn,
    }
    known = {field.name for field in dataclasses.fields(kind)}
    return kind(**{name: value for name, value in given.items() if name in known})


def _complaint(report: ContractReport) -> Complaint | None:
    if report.ok:
        return None
    first = report.violations[0] if report.violations else None
    if first is None:
        return Complaint("refused", "")
    reason = "grounded" if first.clause.startswith("grounded") else first.clause
    return Complaint(reason, f"{first.path}: {first.observed}")
