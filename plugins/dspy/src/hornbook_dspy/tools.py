"""A guarded tool: guard, contract, recovery and record around each call of a `dspy.Tool`."""

import functools
import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, cast

from pydantic import PrivateAttr

from hornbook.contracts.report import ContractReport, ContractViolation
from hornbook.errors import DefinitionError
from hornbook.hosting import Contracts, ToolHost, ToolSteps
from hornbook.kernel.guard import ToolGuard
from hornbook.kernel.registry import ToolRegistry
from hornbook_dspy.carried import at_step, carried, carrying, joined
from hornbook_dspy.compat import dspy
from hornbook_dspy.identity import step_identity
from hornbook_dspy.lm import escaping
from hornbook_dspy.scope import Blocked, plain
from hornbook_dspy.toolspec import spec_of

__all__ = ["GuardedTool", "ToolUse", "Tooling"]


_FRAMES_AROUND = ("hornbook", "hornbook_dspy", "dspy")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """One call of a tool, as DSPy makes it."""

    name: str
    arguments: Mapping[str, Any]


class Tooling(ToolHost[ToolUse, Any]):
    """What stands around the tools of one module. Immutable: copies of the module share it.

    Args:
        tools: the module's tools.
        contracts: by the tool's name, those that are held.
        guard: a guard of the user's own; None for one of these tools, False for none.

    Raises:
        DefinitionError: a tool has no schema, or a contract does not fit its tool.
    """

    name = "dspy"

    def __init__(
        self, tools: Iterable[Any], contracts: Contracts | None, guard: ToolGuard | bool | None
    ) -> None:
        listed = list(tools)
        self._given = (listed, contracts, guard)
        registry = ToolRegistry(map(spec_of, listed))
        self._guard = _guard(guard, registry)
        self.names = registry.names
        self.made = [(tool, self.guarded(tool)) for tool in listed]
        """Each tool, and the tool under guard."""
        self._steps = ToolSteps(self, contracts)
        self._steps.refuse_misfits(registry)
        self._steps.keep(registry.names)

    def guarded(self, tool: Any) -> "GuardedTool":
        """The tool under guard."""
        known = {**tool.__dict__, "func": _guarded_function(self, tool)}
        made = GuardedTool.model_construct(**known)
        made._tool, made._tooling = tool, self
        return made

    def unknown(self, name: str) -> "GuardedTool":
        """What stands in for a tool that is not there: calling it tells what is near."""
        return self.guarded(dspy.Tool(_nothing, name=str(name), desc="", args={}, arg_types={}))

    def use(self, tool: Any, arguments: dict[str, Any]) -> Any:
        """Call a tool, from sync code."""
        held = carried()
        with escaping(held.scope), joined(held):

            def run(use: ToolUse) -> Any:
                with carrying(replace(at_step(held), in_tool=True)):
                    return tool(**use.arguments)

            use = ToolUse(name=tool.name, arguments=arguments)
            return self._heard(use, self._steps.call(use, run))

    async def ause(self, tool: Any, arguments: dict[str, Any]) -> Any:
        """Call a tool, from async code."""
        held = carried()
        with escaping(held.scope), joined(held):

            async def run(use: ToolUse) -> Any:
                with carrying(replace(at_step(held), in_tool=True)):
                    return await tool.acall(**use.arguments)

            use = ToolUse(name=tool.name, arguments=arguments)
            return self._heard(use, await self._steps.acall(use, run))

    def tool(self, call: ToolUse) -> str:
        """The name of the tool that is called."""
        return call.name

    def arguments(self, call: ToolUse) -> Mapping[str, Any]:
        """The arguments by name."""
        return call.arguments

    def changed(self, call: ToolUse, arguments: Mapping[str, Any]) -> ToolUse:
        """The call with other values for these arguments."""
        return replace(call, arguments={**call.arguments, **arguments})

    def check(self, call: ToolUse) -> ContractReport | None:
        """What the guard says of the call; None where there is no guard."""
        if self._guard is None:
            return None
        scope = carried().scope
        context = None if scope is None else scope.context()
        return self._guard.check(call.name, call.arguments, context)

    def recorded(self, answer: Any) -> Any:
        """What the record holds of an answer."""
        return plain(answer)

    def error(self, text: str, call: ToolUse) -> Any:
        """An observation that the model can act on."""
        return Blocked(text)

    def halt(self, violation: ContractViolation, call: ToolUse) -> Any:
        """End the agent's turn; a tool that is used without an agent can only say so."""
        scope = carried().scope
        if scope is None:
            return Blocked(f"The call of {call.name!r} was not made good: {violation}")
        raise scope.halt(violation)

    def meta(self, call: ToolUse) -> Mapping[str, Any]:
        """DSPy's own ids for the call."""
        return step_identity()

    def __deepcopy__(self, memo: object) -> "Tooling":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Tooling, self._given

    def _heard(self, use: ToolUse, answer: Any) -> Any:
        scope = carried().scope
        if scope is not None and not isinstance(answer, Blocked):
            scope.returned(use.name, use.arguments, answer)
        return answer


class GuardedTool(dspy.Tool):
    """A `dspy.Tool` whose calls are guarded, held to contracts, and recorded."""

    _tool: Any = PrivateAttr(default=None)
    _tooling: Any = PrivateAttr(default=None)

    def __call__(self, /, **kwargs: Any) -> Any:
        """Call the tool; what is wrong with the call is said in place of an answer."""
        try:
            return self.tooling.use(self._tool, kwargs)
        except Exception as error:  # noqa: BLE001 - it is raised again
            raise error.with_traceback(_of_the_tool(error)) from error.__cause__

    @property
    def tooling(self) -> Tooling:
        """What stands around the tools of its module."""
        return cast("Tooling", self._tooling)

    async def acall(self, /, **kwargs: Any) -> Any:
        """Call the tool from async code."""
        try:
            return await self.tooling.ause(self._tool, kwargs)
        except Exception as error:  # noqa: BLE001 - it is raised again
            raise error.with_traceback(_of_the_tool(error)) from error.__cause__


class _GuardedFunction:
    """The function of a guarded tool: `ToolCall.execute` calls it past the tool."""

    def __init__(self, tooling: Tooling, tool: Any) -> None:
        self._tooling = tooling
        self._tool = tool
        functools.update_wrapper(self, tool.func)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._tooling.use(self._tool, self._by_name(args, kwargs))

    def _by_name(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        return {**dict(zip(self._tool.args, args, strict=False)), **kwargs}


class _GuardedCoroutineFunction(_GuardedFunction):
    async def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return await self._tooling.ause(self._tool, self._by_name(args, kwargs))


def _guarded_function(tooling: Tooling, tool: Any) -> _GuardedFunction:
    asynchronous = inspect.iscoroutinefunction(tool.func) or inspect.iscoroutinefunction(
        getattr(tool.func, "__call__", None)  # noqa: B004 - an object has the colour of that method
    )
    return (_GuardedCoroutineFunction if asynchronous else _GuardedFunction)(tooling, tool)


def _of_the_tool(error: Exception) -> TracebackType | None:
    """Where the tool failed. ReAct shows the model the first five frames, and ours tell nothing."""
    frame = error.__traceback__
    while frame is not None:
        module = str(frame.tb_frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] not in _FRAMES_AROUND:
            return frame
        frame = frame.tb_next
    return error.__traceback__


def _guard(given: object, registry: ToolRegistry) -> ToolGuard | None:
    match given:
        case None | True:
            return ToolGuard(registry)
        case False:
            return None
        case ToolGuard():
            return given
        case _:
            raise DefinitionError(f"tools={given!r:.80}: give a ToolGuard, or False for no guard")


def _nothing() -> None:
    raise DefinitionError("there is no such tool")
