"""`guard`: an agent whose tool calls are checked before they are made."""

import functools
import types
from collections.abc import Iterator
from typing import Any, TypeVar, cast

from hornbook.contracts.contract import Contract
from hornbook.errors import DefinitionError
from hornbook.hosting import MODEL, Contracts, by_name
from hornbook.kernel.guard import ToolGuard
from hornbook.step.recover import Recover
from hornbook_dspy.agent import Agent
from hornbook_dspy.compat import dspy, kind_of
from hornbook_dspy.lm import with_hornbook
from hornbook_dspy.module import ModuleStep, inputs_of
from hornbook_dspy.outputs import refuse_unknown_answer
from hornbook_dspy.react import ToolTable, has_finals, own_tool, reading_any_name
from hornbook_dspy.structure import copied, tools_in
from hornbook_dspy.tools import GuardedTool, Tooling

__all__ = ["guard"]

T = TypeVar("T")

Held = dict[str, tuple[Contract[Any], Recover]]


def guard(
    agent: T,
    *,
    contracts: Contracts | None = None,
    tools: ToolGuard | bool | None = None,
    name: str | None = None,
) -> T:
    """A copy of an agent whose tools are guarded: of a ReAct, a ReActV2, any module with tools.

    A call that cannot be right is not made; the model is told why, and can correct it. What
    the user said and what the tools returned are where its arguments may come from. The
    calls of its tools, and of the models that it holds or DSPy's settings hold, are recorded
    where a run is open, and count against its budget.

    Args:
        agent: the module; it stays as it is. A `dspy.Tool` or a function gives the tool under
            guard.
        contracts: by the tool's name, a contract or one with its recovery: `requires` speaks
            of the arguments, `ensures` of what the tool returns. Under `"model"` stands one
            for the agent's final answers: the only output field, or all of them by name.
        tools: the guard; by default one for the agent's own tools, False for none.
        name: the step's name in reports and records; the module's class.

    Raises:
        DefinitionError: there are no tools, a tool has no schema, or a contract does not fit.
    """
    held = by_name(contracts)
    if isinstance(agent, dspy.Module):
        return cast("T", _guarded_module(agent, held, tools, name))
    tool = _as_tool(agent)
    return cast("T", Tooling([tool], held, tools).guarded(tool))


class _Guarded:
    """What a guarded module's class has before that of the module."""

    _hornbook: ModuleStep

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the agent, as a step."""
        return self._hornbook.call(self, _called, args, kwargs)

    async def acall(self, *args: Any, **kwargs: Any) -> Any:
        """Call the agent from async code, as a step."""
        return await self._hornbook.acall(self, _acalled, args, kwargs)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _unpickled, (type(self).__bases__[1],), cast("Any", self).__getstate__()


def _called(module: Any, *args: Any, **kwargs: Any) -> Any:
    base: Any = type(module).__bases__[1]
    return base.__call__(module, *args, **kwargs)


async def _acalled(module: Any, *args: Any, **kwargs: Any) -> Any:
    base: Any = type(module).__bases__[1]
    return await base.acall(module, *args, **kwargs)


@functools.lru_cache(maxsize=256)
def _guarded_class(base: type) -> type:
    """The class of a guarded module; DSPy finds the source and the name of its base."""
    known = ("__module__", "__qualname__", "__doc__", "__firstlineno__")
    told = {name: vars(base)[name] for name in known if name in vars(base)}
    told["__qualname__"] = base.__qualname__
    return types.new_class(
        base.__name__, (_Guarded, base), exec_body=lambda body: body.update(told)
    )


def _unpickled(base: type) -> Any:
    made: type[Any] = _guarded_class(base)
    return object.__new__(made)


def _guarded_module(module: Any, held: Held, tools: Any, name: str | None) -> Any:
    _refuse_unguardable(module)
    final = held.pop(MODEL, None)
    if final is not None and not has_finals(module):
        raise DefinitionError(
            f"contracts: it is not known which replies of a {type(module).__name__} are final, so "
            f"that {MODEL!r} cannot be held: write Contracted(agent, contract)"
        )
    if final is not None:
        refuse_unknown_answer(final[0], module)
    toolings = list(_toolings(module, held, tools))
    replaced = {id(tool): made for tooling in toolings for tool, made in tooling.made}
    made = copied(
        module,
        lambda value: replaced.get(id(value)) or with_hornbook(value),
        kind=_guarded_class(kind_of(module)),
    )
    for _, one in made.named_sub_modules(dspy.Module):
        _open_to_any_name(one)
    agent = Agent([name for tooling in toolings for name in tooling.names], final)
    vars(made)["_hornbook"] = ModuleStep(
        name or type(module).__name__, inputs_of(module), agent=agent
    )
    return made


def _toolings(module: Any, held: Held, tools: Any) -> Iterator[Tooling]:
    """One for each module in there that has tools, so that no agent has another's."""
    left = dict(held)
    known: list[str] = []
    for _, one in module.named_sub_modules(dspy.Module):
        own = own_tool(one)
        ours = [tool for tool in tools_in(one) if tool.name != own]
        if ours:
            names = [tool.name for tool in ours]
            known += names
            yield Tooling(ours, {n: left.pop(n, held[n]) for n in names if n in held}, tools)
    if not known:
        raise DefinitionError(
            f"{type(module).__name__} holds no dspy.Tool, so that there is nothing to guard; "
            f"a module without tools is put under contract by Contracted"
        )
    if left:
        raise DefinitionError(
            f"contracts: there is no tool {next(iter(left))!r}; the agent's tools are "
            f"{', '.join(map(repr, known))}"
        )


def _open_to_any_name(module: Any) -> None:
    """Let a ReAct module take an unknown tool for one, which then answers what is near."""
    if own_tool(module) is None:
        return
    guarded = [tool for tool in module.tools.values() if isinstance(tool, GuardedTool)]
    if not guarded:
        return
    module.tools = ToolTable(module.tools, guarded[0].tooling.unknown)
    if isinstance(module, dspy.ReAct):
        module.react.signature = reading_any_name(module.react)


def _refuse_unguardable(module: Any) -> None:
    if isinstance(module, _Guarded):
        raise DefinitionError(f"this {type(module).__name__} is guarded already")
    for _, one in module.named_sub_modules(dspy.Module):
        if isinstance(one, dspy.CodeAct):
            raise DefinitionError(
                "CodeAct runs the source of its tools in an interpreter, where no call can be "
                "guarded: use ReAct, ReActV2 or RLM"
            )


def _as_tool(given: object) -> Any:
    if isinstance(given, GuardedTool):
        raise DefinitionError(f"tool {given.name!r} is guarded already")
    if isinstance(given, dspy.Tool):
        return given
    if isinstance(given, dspy.BaseLM):
        raise DefinitionError(
            f"guard({given!r:.80}): a model has no tools to guard; give it to "
            f"hornbook_dspy.context(lm=...) or configure(lm=...)"
        )
    if not callable(given) or isinstance(given, type):
        raise DefinitionError(
            f"guard({given!r:.80}): give a dspy.Module with tools, a dspy.Tool or a function"
        )
    try:
        return dspy.Tool(given)
    except Exception as error:
        # DSPy runs annotations and makes schemas of them, which may raise anything.
        named = getattr(given, "__name__", type(given).__name__)
        raise DefinitionError(f"tool {named!r} has no schema of its arguments: {error}") from error
