"""One scenario in one mode, played on an adapter, and what came of it that should not have."""

import asyncio
import contextvars
import difflib
import tempfile
import traceback
import unittest
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from hornbook import plugins
from hornbook.errors import told
from hornbook.testing.conformance.adapters import adapter_of
from hornbook.testing.conformance.desk import Desk
from hornbook.testing.conformance.protocol import Adapter, Capability, HostAgent, Mode, Scene
from hornbook.testing.conformance.record import normalised, unsound
from hornbook.testing.conformance.scenario import Did, Ending, Scenario, Turn
from hornbook.testing.conformance.scenarios import SCENARIOS
from hornbook.testing.script import Conversation, plain
from hornbook.trace.events import Event
from hornbook.trace.runs import Run

__all__ = ["Case", "Finding", "cases"]

_FRAMES = -6


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What came of one case."""

    case: str
    status: Literal["passed", "failed", "unsupported"]
    differences: tuple[str, ...] = ()
    """What was expected and what was seen; each may have several lines."""
    missing: tuple[Capability, ...] = ()
    """What the case needs and the adapter does not declare."""

    def __str__(self) -> str:
        """The case and its status; below it the differences."""
        if self.missing:
            return f"{self.case}: declared unsupported ({', '.join(self.missing)})"
        lines = [f"{self.case}: {self.status}"]
        lines += [f"  {line}" for one in self.differences for line in one.splitlines()]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One scenario in one mode."""

    scenario: Scenario
    mode: Mode

    def __str__(self) -> str:
        """As tests are named."""
        return f"{self.scenario.name}[{self.mode}]"

    def missing(self, adapter: Adapter) -> tuple[Capability, ...]:
        """What the case needs and the adapter does not declare."""
        before = self.scenario.before
        needs: set[Capability] = {*self.scenario.needs, self.mode}
        needs |= set() if before is None else before.needs
        return tuple(sorted(needs - set(adapter.capabilities)))

    def play(self, adapter: Adapter) -> Finding:
        """Play the scenario on an agent of the adapter's host."""
        missing = self.missing(adapter)
        if missing:
            return Finding(case=str(self), status="unsupported", missing=missing)
        # A context of its own: no run, and no setting of a host, reaches in from around.
        differences: list[str] = []
        for scenario in (self.scenario.before, self.scenario):
            if scenario is not None:
                playing = _Playing(scenario, self.mode, adapter)
                contextvars.Context().run(playing.play)
                differences += playing.differences()
        status = "failed" if differences else "passed"
        return Finding(case=str(self), status=status, differences=tuple(differences))

    def verify(self, factory: Callable[[], Adapter]) -> None:
        """Play the scenario, as the body of a test.

        Raises:
            AssertionError: with the differences.
            unittest.SkipTest: the adapter declares that it does not support this.
        """
        __tracebackhide__ = True  # the differences say it all
        finding = self.play(adapter_of(factory))
        if finding.status == "unsupported":
            raise unittest.SkipTest(str(finding))
        if finding.status == "failed":
            raise AssertionError(str(finding))


def cases() -> tuple[Case, ...]:
    """All cases of the kit; a test takes one each by `parametrize("case", ..., ids=str)`."""
    return tuple(
        Case(scenario=scenario, mode=mode) for scenario in SCENARIOS for mode in scenario.modes
    )


@dataclass(slots=True)
class _Playing:
    """One scenario as it is played, and what is seen of it."""

    scenario: Scenario
    mode: Mode
    adapter: Adapter
    desk: Desk = field(init=False)
    script: Conversation = field(init=False)
    problems: list[str] = field(default_factory=list[str])
    trace: str = ""
    host: HostAgent | None = None
    """Kept until its record is read: what `close()` does not end must not end by itself."""
    events: tuple[Event, ...] = ()

    def __post_init__(self) -> None:
        self.desk = self.scenario.desk()
        self.script = self.scenario.script.open()

    def play(self) -> None:
        scenario = self.scenario
        with ExitStack() as around:
            folder = around.enter_context(tempfile.TemporaryDirectory())
            for number, make in enumerate(scenario.plugins, 1):
                name = f"conformance-{number}"
                around.enter_context(plugins.registered(make(), name))
            if scenario.own_trace:
                self._play_all(Path(folder))
                self._read(Path(folder))
                return
            run = Run(trace=None, budget=scenario.budget, namespace=scenario.namespace)
            with run:
                self._play_all(None)
            self.events = run.events
            if scenario.usage:
                self._compare_usage(run)

    def differences(self) -> Iterator[str]:
        """All that is not as it must be, the likeliest cause first."""
        yield from self.script.problems
        yield from self.problems
        nothing: dict[str, Any] = {"calls": {}, "refunds": []}
        expected = nothing | dict(self.scenario.state)
        if self.desk.state() != expected:
            yield f"the tools: expected {expected}; they did {self.desk.state()}"
        if self.events:
            yield from (f"the record: {problem}" for problem in unsound(self.events))
        yield from self._differing_record()
        if self.trace:
            yield self.trace

    def _differing_record(self) -> Iterator[str]:
        try:
            seen = normalised(self.events, self.adapter.is_own_step)
        except Exception as error:  # noqa: BLE001 - it is the adapter's, and what is reported
            yield f"the record cannot be compared: is_own_step raised {told(error)}"
            return
        if seen != self.scenario.record:
            yield _record_difference(self.scenario.record, seen)

    def _play_all(self, folder: Path | None) -> None:
        try:
            host = self.host = self.adapter.build(self._scene(folder))
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001 - what skips a test is no success either
            self._unexpected("build(scene) raised", error)
            return
        try:
            if self.mode == "sync":
                self._play_turns(host)
            else:
                asyncio.run(self._aplay_turns(host))
        finally:
            self._close(host)

    def _close(self, host: HostAgent) -> None:
        try:
            host.close()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what is reported
            self._unexpected("close() raised", error)

    def _play_turns(self, host: HostAgent) -> None:
        for number, turn in enumerate(self.scenario.turns, 1):
            try:
                came = host.run(turn.says)
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:  # noqa: BLE001 - a private halt that got out counts
                came = error
            if not self._compare(number, turn, came):
                return

    async def _aplay_turns(self, host: HostAgent) -> None:
        for number, turn in enumerate(self.scenario.turns, 1):
            try:
                came = await host.arun(turn.says)
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:  # noqa: BLE001 - a private halt that got out counts
                came = error
            if not self._compare(number, turn, came):
                return

    def _compare(self, number: int, turn: Turn, came: object) -> bool:
        """Compare how a turn ended, and say whether the next one can be played."""
        problem = _ending_problem(turn.ends, came)
        if problem is not None:
            if isinstance(came, BaseException):
                self._unexpected(f"turn {number}: {problem}", came)
            else:
                self.problems.append(f"turn {number}: {problem}")
        wanted = sum(len(turn.replies) for turn in self.scenario.turns[:number])
        if len(self.script.asked) != wanted:
            self.problems.append(
                f"turn {number}: the model was to give {wanted} replies by now; it was asked for "
                f"{len(self.script.asked)}"
            )
            return False
        return problem is None

    def _compare_usage(self, run: Run) -> None:
        spent, script = run.meter.spent, self.script
        if (spent.calls, spent.tokens) != (script.calls, script.tokens):
            self.problems.append(
                f"usage: the model was called {script.calls} times and used {script.tokens} "
                f"tokens; the run counted {spent.calls} and {spent.tokens}"
            )

    def _scene(self, folder: Path | None) -> Scene:
        scenario, tools = self.scenario, self.desk.tools()
        return Scene(
            name=scenario.name,
            mode=self.mode,
            instructions=scenario.instructions,
            tools=tools,
            script=self.script,
            contracts=scenario.contracts,
            guard=None if scenario.guard is None else scenario.guard(tools),
            rules=scenario.rules,
            halt=scenario.halt,
            tool_errors=scenario.tool_errors,
            trace=folder,
        )

    def _read(self, folder: Path) -> None:
        from hornbook.trace import read, verify_trace

        runs = sorted(path for path in folder.iterdir() if path.is_dir())
        if len(runs) != 1:
            self.problems.append(f"its own record: expected one run in the folder, not {len(runs)}")
            return
        self.events = tuple(read(runs[0]))
        verified = verify_trace(runs[0])
        if not verified.ok:
            self.problems.append(f"its own record is {verified.status} after close()")

    def _unexpected(self, problem: str, error: BaseException) -> None:
        self.problems.append(f"{problem} {told(error)}")
        lines = traceback.format_exception(error, limit=_FRAMES)
        self.trace = "".join(lines).rstrip()


def _ending_problem(ends: Ending, came: object) -> str | None:
    """What is wrong with how a turn ended; None when it ended as it must."""
    if ends.error is not None:
        wanted = f"{ends.error} mentioning {', '.join(map(repr, ends.mentions))}"
        if not isinstance(came, BaseException):
            return f"expected {wanted}; got the final text {came!r}"
        right = any(type(one).__name__ == ends.error for one in _raised(came, ends.wrapped))
        return None if right and _mentions(str(came), ends.mentions) else f"expected {wanted}; got"
    if isinstance(came, BaseException):
        return "raised"
    if ends.text is not None:
        return None if came == ends.text else f"expected the final text {ends.text!r}; got {came!r}"
    if isinstance(came, str) and _mentions(came, ends.mentions):
        return None
    mentioned = ", ".join(map(repr, ends.mentions))
    return f"expected a closing text mentioning {mentioned}; got {came!r}"


def _raised(error: BaseException, wrapped: bool) -> Iterator[BaseException]:
    """The exception, and those that caused it where the host may wrap them."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ if wrapped else None


def _mentions(text: str, phrases: Sequence[str]) -> bool:
    return all(plain(phrase) in plain(text) for phrase in phrases)


def _record_difference(expected: Sequence[Did], seen: Sequence[Did]) -> str:
    lines: list[Any] = list(
        difflib.ndiff([str(one) for one in expected], [str(one) for one in seen])
    )
    shown = [line for line in lines if not line.startswith("?")]
    return "\n".join(["the record (- expected, + seen):", *(f"  {line}" for line in shown)])
