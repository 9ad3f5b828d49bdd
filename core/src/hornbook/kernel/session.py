"""One run of the kernel: what it was set up with, and what it has come to so far."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from hornbook.engine import Controls, Life, settings
from hornbook.errors import told
from hornbook.kernel.context import GuardContext, ToolResult
from hornbook.kernel.execute import ErrorOf, Tool
from hornbook.kernel.failures import is_failure
from hornbook.kernel.guard import ToolGuard
from hornbook.kernel.invariants import Monitor
from hornbook.kernel.registry import ToolSpec
from hornbook.kernel.result import KernelResult, Report
from hornbook.kernel.scratchpad import BOTTOM, Scratchpad, WriteSource
from hornbook.kernel.seen import SeenCall
from hornbook.kernel.shortlist import Shortlist
from hornbook.kernel.subprocesses import Subprocesses
from hornbook.kernel.tasks import Call, Decision, Task
from hornbook.program import Program
from hornbook.program.life import live

__all__ = ["Mode", "Session", "Setup", "Unanswered", "about", "shown"]

Mode = Literal["execute", "advise"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What all runs of a kernel share."""

    guard: ToolGuard
    tools: Mapping[str, Tool]
    subprocesses: Subprocesses
    shortlist: Shortlist
    mode: Mode
    config: Mapping[str, Any]
    error_of: ErrorOf
    max_result: int
    max_tool_calls: int


@dataclass(frozen=True, slots=True)
class Unanswered:
    """Why a primitive gave no answer that can be used."""

    why: str


class Session:
    """The state of one run; only `write` changes the scratchpad."""

    def __init__(
        self, setup: Setup, turn: str, state: Mapping[str, Any], history: Sequence[str]
    ) -> None:
        self.setup = setup
        self.turn = turn
        self.history = tuple(history)
        self.monitor = Monitor()
        self.controls = Controls()
        self.calls: list[Call] = []
        self.reports: list[Report] = []
        self.decisions: list[Decision] = []
        self.looked: set[str] = set()
        """Keys that were looked for in this turn: none is looked for twice."""
        self.asked: set[tuple[str, str]] = set()
        """Tasks and parameters that TaskToGet was asked for."""
        self.order: tuple[str, ...] = ()
        self.tasks: dict[str, str] = {}
        self.scratchpad = Scratchpad.of(state)
        self.monitor.scratchpad(self.scratchpad)

    def begun(self) -> Life:
        """Ask which parts of the control layer are on."""
        self.controls = (yield from settings()).controls

    def write(self, key: str, value: Any, source: WriteSource) -> None:
        """S <- S + {key -> value}, watched (INV-S)."""
        step = self.monitor.tick()
        self.scratchpad = self.scratchpad.write(key, value, step=step, source=source)
        self.monitor.scratchpad(self.scratchpad)
        if value is BOTTOM:
            self.looked.add(key)

    def absent(self, key: str) -> bool:
        """Whether a key may still be looked for: it is not there, or was in vain last turn."""
        held = self.scratchpad.get(key, BOTTOM)
        return held is BOTTOM and key not in self.looked

    def decide(
        self, process: str, task: str | None, what: str, outcome: str, why: str = ""
    ) -> None:
        """Note a decision."""
        step = self.monitor.tick()
        self.decisions.append(
            Decision(step=step, process=process, task=task, what=what, outcome=outcome, why=why)
        )

    def ask(self, program: Program, request: Any, place: str) -> Life:
        """Run a sub-process; gives its answer, or `Unanswered` where it failed."""
        typed = program._typed  # pyright: ignore[reportPrivateUsage]
        try:
            answer: Any = yield from live(typed, request, None, f"kernel.{place}")
        except Exception as error:
            if not is_failure(error):
                raise
            return Unanswered(" ".join(told(error).split())[:400])
        return answer

    def known(self) -> dict[str, Any]:
        """What the scratchpad holds, for a primitive to see."""
        return self.scratchpad.known()

    def context(self) -> GuardContext:
        """Where the guard may ground a call of this run."""
        return GuardContext(
            turns=(*self.history, self.turn),
            results=tuple(self._results()),
            state={key: one for key, one in self.known().items() if not key.endswith("()")},
            trusted=self.setup.config,
            calls=tuple(
                SeenCall(
                    tool=one.tool,
                    arguments=one.arguments,
                    value=one.value,
                    error=one.error,
                    turn=len(self.history) + 1,
                )
                for one in self.calls
                if one.executed
            ),
        )

    def _results(self) -> Iterator[ToolResult]:
        """All that tools returned, in earlier turns too: what a call may take its values from."""
        for one in self.scratchpad.writes:
            if one.key.endswith("()") and one.source == "state":
                yield ToolResult(name=one.key[:-2], value=one.value)
        for call in self.calls:
            if call.ok:
                yield ToolResult(name=call.tool, value=call.value, arguments=call.arguments)

    def show(
        self, text: str, always: Sequence[str] = (), *, only: Sequence[str] | None = None
    ) -> tuple[dict[str, Any], ...]:
        """The tools that a primitive is shown for a text."""
        specs = self.setup.shortlist.of(text, always)
        return tuple(shown(one) for one in specs if only is None or one.name in only)

    def retrieving(self, setup: str | None = None) -> tuple[str, ...]:
        """Tools that a retrieval task may call: those that only read, and the named one."""
        registry = self.setup.guard.registry
        return tuple(one.name for one in registry.values() if one.read_only or one.name == setup)

    def spec(self, name: str | None) -> ToolSpec | None:
        """A tool by its name."""
        return None if name is None else self.setup.guard.registry.get(name)

    def result(self) -> KernelResult:
        """What the run came to."""
        return KernelResult(
            turn=self.turn,
            calls=tuple(self.calls),
            scratchpad=self.scratchpad,
            reports=tuple(self.reports),
            decisions=tuple(self.decisions),
            order=self.order,
            tasks=dict(self.tasks),
        )


def shown(spec: ToolSpec) -> dict[str, Any]:
    """A tool as a primitive sees it."""
    return {
        "name": spec.name,
        "description": spec.description,
        "parameters": cast("Any", spec.parameters),
    }


def about(task: Task) -> str:
    """What a shortlist is made by."""
    return " ".join([task.text, task.tool or "", *task.parameters])
