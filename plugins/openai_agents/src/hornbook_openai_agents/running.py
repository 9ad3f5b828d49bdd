"""`run`, `run_sync` and `run_streamed`: the SDK's runners with Hornbook attached."""

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, aclosing, nullcontext
from contextvars import copy_context
from typing import Any, TypeAlias, cast

from agents import Agent, RunConfig, Runner, RunResult, RunResultStreaming, RunState, StreamEvent

from hornbook.errors import DefinitionError
from hornbook.hosting import AmbientRun, Contracts
from hornbook.trace.frame import current_run
from hornbook.trace.runs import Run
from hornbook_openai_agents.attachment import Halt, Tools
from hornbook_openai_agents.compat import current_agent, items_so_far
from hornbook_openai_agents.configuring import HornbookRunConfig
from hornbook_openai_agents.configuring import run_config as attached
from hornbook_openai_agents.conversation import Conversation, another, within
from hornbook_openai_agents.guarding import guard, is_guarded, reached, tools_of
from hornbook_openai_agents.items import items_of
from hornbook_openai_agents.recording import StreamRecord
from hornbook_openai_agents.tools import ours_behind

__all__ = ["run", "run_streamed", "run_sync"]

Trace: TypeAlias = str | os.PathLike[str] | None
Config: TypeAlias = RunConfig | Mapping[str, Any] | None


async def run(
    agent: Agent[Any],
    input: str | list[Any] | RunState[Any],  # noqa: A002 - the SDK's name
    *,
    contracts: Contracts | None = None,
    tools: Tools = None,
    rules: object = None,
    trace: Trace = None,
    halt: Halt = "soft",
    namespace: str | None = None,
    run_config: Config = None,
    **options: Any,
) -> RunResult:
    """Run an agent as `Runner.run` does, guarded, held to contracts, with rules, and recorded.

    Args:
        agent: it stays as it is; what runs is its copy by `guard`.
        input: as `Runner.run` takes it.
        contracts: as in `run_config`, and so are `tools`, `rules`, `halt` and `namespace`.
        tools: the guard of tool calls, or False for none.
        rules: learned rules for the model.
        trace: the folder to record this run in, where no `hornbook.run` is around it.
        halt: `soft` ends the run with a message; `hard` raises `ContractViolation`.
        namespace: whose rules plugins are asked for.
        run_config: the SDK's own, or one of `run_config(...)`, which then says all of the
            above but `trace`.
        options: whatever else `Runner.run` takes: `context`, `max_turns`, `session`, ...

    Raises:
        ContractViolation: a step halted hard.
        BudgetExceeded: the budget of the run around it is spent.
        DefinitionError: an argument cannot be used; one sentence says which and why.
    """
    config = _config(run_config, contracts, tools, rules, halt, namespace)
    own, conversation = _ready(agent, input, config)
    try:
        with _recorded(trace, namespace), within(conversation):
            return await Runner.run(own, input, run_config=config, **options)
    except Exception as error:
        _raise_ours(error)
        raise
    finally:
        if run_config is None:
            # The SDK closes a provider that it makes itself, and this one it did not make.
            await config.model_provider.aclose()


def run_sync(
    agent: Agent[Any],
    input: str | list[Any] | RunState[Any],  # noqa: A002 - the SDK's name
    *,
    contracts: Contracts | None = None,
    tools: Tools = None,
    rules: object = None,
    trace: Trace = None,
    halt: Halt = "soft",
    namespace: str | None = None,
    run_config: Config = None,
    **options: Any,
) -> RunResult:
    """The sync twin of `run`; it works inside a running loop too, on a thread of its own.

    There it blocks the loop until the run has ended, as any sync call does.
    """
    config = _config(run_config, contracts, tools, rules, halt, namespace)
    own, conversation = _ready(agent, input, config)

    def call() -> RunResult:
        return Runner.run_sync(own, input, run_config=config, **options)

    try:
        with _recorded(trace, namespace), within(conversation):
            if not _loop_is_running():
                return call()
            return _elsewhere(lambda: Runner.run(own, input, run_config=config, **options))
    except Exception as error:
        _raise_ours(error)
        raise


def run_streamed(
    agent: Agent[Any],
    input: str | list[Any] | RunState[Any],  # noqa: A002 - the SDK's name
    *,
    contracts: Contracts | None = None,
    tools: Tools = None,
    rules: object = None,
    trace: Trace = None,
    halt: Halt = "soft",
    namespace: str | None = None,
    run_config: Config = None,
    **options: Any,
) -> RunResultStreaming:
    """Run an agent as `Runner.run_streamed` does; see `run`.

    A final answer under contract is streamed when it is accepted, in one go. What halts hard
    is raised by `stream_events()`. A reader that leaves does not stop the run, as with the
    SDK: `cancel()` does. The record ends when the run does.
    """
    config = _config(run_config, contracts, tools, rules, halt, namespace)
    own, conversation = _ready(agent, input, config)
    # The run goes on in a task of the SDK's, which takes this context with it.
    ambient = None if trace is None else AmbientRun(str(trace), namespace)
    try:
        with nullcontext() if ambient is None else ambient.around(), within(conversation):
            result = Runner.run_streamed(own, input, run_config=config, **options)
    except Exception as error:
        if ambient is not None:
            ambient.close(error)
        raise
    record = None if ambient is None else StreamRecord(result, ambient)
    stream = result.stream_events

    async def stream_events() -> AsyncIterator[StreamEvent]:
        with nullcontext() if record is None else record.reading():
            try:
                # Closed with this one: the SDK's run waits for as long as it is open.
                async with aclosing(cast("AsyncGenerator[StreamEvent]", stream())) as events:
                    async for event in events:
                        yield event
            except Exception as error:
                _raise_ours(error)
                raise

    vars(result)["stream_events"] = stream_events
    return result


def _config(
    given: Config,
    contracts: Contracts | None,
    tools: Tools,
    rules: object,
    halt: Halt,
    namespace: str | None,
) -> HornbookRunConfig:
    if not isinstance(given, HornbookRunConfig):
        return attached(
            given, contracts=contracts, tools=tools, rules=rules, halt=halt, namespace=namespace
        )
    said = contracts is None and tools is None and rules is None and namespace is None
    if not said or halt != "soft":
        raise DefinitionError(
            "run_config= has Hornbook attached already: give contracts, tools, rules, halt and "
            "namespace to run_config(...), and not here too"
        )
    return given


def _ready(
    agent: Agent[Any], given: object, config: HornbookRunConfig
) -> tuple[Agent[Any], Conversation]:
    """The agent that runs, and what is known of the conversation so far."""
    own = guard(agent)
    attachment = config.attachment
    if attachment.tools.contracts and not any(one.mcp_servers for one in reached(own)):
        attachment.refuse_misfits(tools_of(own))
    conversation = another()
    if isinstance(given, RunState):
        state = cast("RunState[Any, Any]", given)
        going_on = current_agent(state)
        if going_on is not None and not is_guarded(going_on):
            raise DefinitionError(
                f"this RunState goes on with agent {going_on.name!r}, which is not guarded: make "
                f"it from the guarded one, RunState.from_string(guard(agent), ...)"
            )
        conversation.listen(items_of(list(items_so_far(state))))
    return own, conversation


def _recorded(trace: Trace, namespace: str | None) -> AbstractContextManager[Any]:
    if trace is None or current_run() is not None:
        return nullcontext()
    return Run(trace=str(trace), namespace=namespace)


def _raise_ours(error: Exception) -> None:
    """Raise the error of Hornbook's own that is behind one of the SDK's, if one is."""
    found = ours_behind(error)
    if found is not error:
        raise found from found.__cause__


def _loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _elsewhere(make: Callable[[], Any]) -> Any:
    """What a coroutine gives, run in a loop on a thread of its own, in this context."""

    async def work() -> Any:
        return await make()

    with ThreadPoolExecutor(1, thread_name_prefix="hornbook-run-sync") as pool:
        return pool.submit(copy_context().run, asyncio.run, work()).result()
