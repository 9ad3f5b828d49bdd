"""The tool-calling kernel: requests become checked tool calls (Forethought 4, Algorithm 2)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast, get_args

from hornbook.errors import DefinitionError
from hornbook.kernel.algorithm import live_turn
from hornbook.kernel.execute import MAX_RESULT, ErrorOf, Tool, error_of
from hornbook.kernel.guard import ToolGuard
from hornbook.kernel.neural.primitives import Primitives
from hornbook.kernel.registry import ToolRegistry, ToolSpec
from hornbook.kernel.result import KernelResult
from hornbook.kernel.session import Mode, Session, Setup
from hornbook.kernel.shortlist import SHOWN, Embed, Shortlist
from hornbook.kernel.signature import public_methods, tool_name
from hornbook.kernel.subprocesses import Subprocesses
from hornbook.program import Program

if TYPE_CHECKING:
    from hornbook.budget import Budget
    from hornbook.engine import Engine
    from hornbook.models import Model

__all__ = ["Kernel"]


class Kernel:
    """Turns requests into calls of tools. Immutable; share it freely, its tools allowing.

    Args:
        tools: a registry, or the tools as `ToolRegistry.of` takes them.
        model: answers all of the primitives, under the kernel's prompts.
        primitives: what answers each of them, in place of `model`.
        mode: `execute` calls the tools; `advise` says what to call, and calls nothing.
        calls: the functions of a registry's tools: by name, or objects whose methods they are.
        guard: what calls are held to; by default a `ToolGuard` of the tools.
        config: keys of the scratchpad that hold in every turn.
        retry: how often a primitive is asked again, told what was wrong.
        timeout: seconds that one call of a tool may take; None for no limit.
        engine: how the run is run; its `controls` switch parts of the control layer off.
        budget: what one turn may spend.
        shown: tools that a primitive is shown at most.
        embed: vectors of texts, for choosing those tools by meaning as well.
        max_result: bytes of JSON that a result may have.
        max_tool_calls: calls of tools in one turn, retrieval tasks among them.
        error_of: says of a result whether it is an error.

    Raises:
        DefinitionError: a setting that cannot work, such as a tool without a function.
    """

    __slots__ = ("_budget", "_engine", "_setup", "guard", "mode", "registry")

    def __init__(
        self,
        tools: ToolRegistry | Iterable[object],
        model: "Model | None" = None,
        *,
        primitives: Primitives | None = None,
        mode: Mode = "execute",
        calls: "Mapping[str, Callable[..., Any]] | Sequence[object]" = (),
        guard: ToolGuard | None = None,
        config: Mapping[str, Any] | None = None,
        retry: int = 1,
        timeout: float | None = 60.0,
        engine: "Engine | None" = None,
        budget: "Budget | None" = None,
        shown: int = SHOWN,
        embed: Embed | None = None,
        max_result: int = MAX_RESULT,
        max_tool_calls: int = 100,
        error_of: ErrorOf = error_of,
    ) -> None:
        if mode not in get_args(Mode):
            raise DefinitionError(f"Kernel(mode={mode!r}): 'execute' or 'advise'")
        if (model is None) == (primitives is None):
            raise DefinitionError("Kernel(): give a model or primitives, one of the two")
        given: list[object] = [] if isinstance(tools, ToolRegistry) else list(tools)
        self.registry = tools if isinstance(tools, ToolRegistry) else ToolRegistry.of(*given)
        self.guard = guard or ToolGuard(self.registry)
        self.mode: Mode = mode
        chosen = primitives if primitives is not None else Primitives.prompted(cast("Any", model))
        functions = _functions([*given, *(() if isinstance(calls, Mapping) else calls)])
        functions |= dict(calls) if isinstance(calls, Mapping) else {}
        self._setup = Setup(
            guard=self.guard,
            tools={} if mode == "advise" else _tools(self.registry, functions, timeout),
            subprocesses=Subprocesses(self.guard, chosen, retry),
            shortlist=Shortlist(self.registry, shown, embed),
            mode=mode,
            config=dict(config or {}),
            error_of=error_of,
            max_result=max_result,
            max_tool_calls=max_tool_calls,
        )
        self._engine = engine
        self._budget = budget

    def programs(self) -> Mapping[str, Program]:
        """The sub-processes as programs: to read, to verify, to train."""
        return self._setup.subprocesses.programs()

    def run(
        self, turn: str, state: Mapping[str, Any] | None = None, *, history: Sequence[str] = ()
    ) -> KernelResult:
        """Do what one turn asks.

        Args:
            turn: what the user says.
            state: the scratchpad of the turn before, or any values by key.
            history: the turns before, oldest first.

        Raises:
            InvariantViolation: one of the kernel's invariants does not hold.
            BudgetExceeded: the budget is spent; the calls that were made are in the record.
        """
        session = self._begun(turn, state, history)
        life = lambda: live_turn(session)  # noqa: E731 - one for both colours
        return self._engine_().run(life, name="kernel", value=turn, budget=self._budget)

    async def arun(
        self, turn: str, state: Mapping[str, Any] | None = None, *, history: Sequence[str] = ()
    ) -> KernelResult:
        """The async twin of `run`."""
        session = self._begun(turn, state, history)
        life = lambda: live_turn(session)  # noqa: E731 - as above
        return await self._engine_().arun(life, name="kernel", value=turn, budget=self._budget)

    def _engine_(self) -> "Engine":
        from hornbook.engine import Engine

        return self._engine or Engine()

    def _begun(self, turn: str, state: Mapping[str, Any] | None, history: Sequence[str]) -> Session:
        return Session(self._setup, turn, state or {}, history)


def _functions(given: Iterable[object]) -> dict[str, Callable[..., Any]]:
    """The functions that tools are, by name."""
    found: dict[str, Callable[..., Any]] = {}
    for one in given:
        if isinstance(one, ToolSpec):
            continue
        methods = [one] if callable(one) and not isinstance(one, type) else public_methods(one)
        found |= {tool_name(method): method for method in methods}
    return found


def _tools(
    registry: ToolRegistry, functions: Mapping[str, Callable[..., Any]], timeout: float | None
) -> dict[str, Tool]:
    found: dict[str, Tool] = {}
    for name, spec in registry.items():
        function: Any = functions.get(name, getattr(spec, "function", None))
        if not callable(function):
            raise DefinitionError(
                f"tool {name!r} has no function to call: give it in calls=, or use mode='advise'"
            )
        found[name] = Tool.of(spec, function, timeout)
    unknown = [name for name in functions if name not in registry]
    if unknown:
        raise DefinitionError(f"calls: the registry has no tool {unknown[0]!r}")
    return found
