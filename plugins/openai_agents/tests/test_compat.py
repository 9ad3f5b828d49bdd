"""What the adapter relies on without the SDK's promise, on the version that is installed."""

import inspect
from typing import Any

import pytest
from agents import (
    Agent,
    FunctionTool,
    Handoff,
    RunConfig,
    RunResultStreaming,
    RunState,
    function_tool,
    handoff,
)
from agents import tool as sdk_tool
from agents.models.interface import Model
from agents.tool_context import ToolContext

from hornbook.errors import DefinitionError
from hornbook.step.control_flow import is_control_flow
from hornbook_openai_agents import compat


@function_tool
def look(what: str) -> str:
    """Look."""
    return "seen"


@pytest.mark.requirement("openai:compat:private-names")
def test_a_decorated_tool_keeps_its_function_where_the_wrap_looks():
    invoker: Any = look.on_invoke_tool
    assert type(invoker) is sdk_tool._FailureHandlingFunctionToolInvoker
    assert inspect.iscoroutinefunction(invoker._invoke_tool_impl)
    assert callable(invoker._on_handled_error)
    assert hasattr(invoker._invoke_tool_impl, compat._PREPARE)
    assert hasattr(invoker._invoke_tool_impl, compat._WRAPPED_MARK)
    assert getattr(invoker, compat._SYNC_MARK) is True
    assert not compat.is_agent_tool(look)
    assert compat.agent_of(look) is None


@pytest.mark.requirement("openai:compat:private-names")
def test_an_agents_tool_keeps_its_agent_in_a_closure():
    inner, other = Agent(name="inner"), Agent(name="other")
    given, covered = RunConfig(), RunConfig()
    tool = inner.as_tool("ask", "Ask.", run_config=given)
    assert compat.agent_of(tool) is inner
    changed = compat.with_agent(tool, other, lambda config: covered)
    run: Any = changed.on_invoke_tool
    closure = inspect.getclosurevars(run._invoke_tool_impl).nonlocals
    assert closure["run_config"] is covered
    assert compat.agent_of(changed) is other
    assert compat.agent_of(tool) is inner
    with pytest.raises(DefinitionError, match=r"guard\(agent\).as_tool"):
        compat.with_agent(compat.wrapped(tool, None), other, lambda config: config)  # type: ignore[arg-type]


@pytest.mark.requirement("openai:compat:private-names")
def test_a_handoff_keeps_its_agent_by_reference():
    inner, other = Agent(name="inner"), Agent(name="other")
    given = handoff(inner)
    assert compat.handed_to(given) is inner

    async def invoke(context: Any, arguments: str) -> Agent[Any]:
        return other

    changed = compat.with_target(given, invoke, other)
    assert compat.handed_to(changed) is other
    assert compat.handed_to(given) is inner
    by_hand = Handoff("h", "", {}, invoke, "other")
    assert compat.handed_to(by_hand) is None


@pytest.mark.requirement("openai:compat:private-names")
def test_the_private_names_of_contexts_states_and_models_are_there():
    context = ToolContext(None, tool_name="look", tool_call_id="c", tool_arguments="{}")
    assert context._function_tool_arguments is None
    names = {name for name in vars(RunState) if name.startswith("_")}
    names |= set(RunState.__annotations__)
    assert {"_current_agent", "_original_input", "_generated_items"} <= names
    assert inspect.iscoroutinefunction(Model._cleanup_on_run_end)
    assert inspect.isfunction(sdk_tool._get_function_tool_invoke_context)
    assert "_agent_instance" in FunctionTool.__dataclass_fields__
    assert RunResultStreaming.__dataclass_fields__["_cancel_mode"].default == "none"


@pytest.mark.requirement("openai:control-flow:known")
def test_the_sdks_control_flow_is_registered():
    assert len(compat.CONTROL_FLOW) == 5
    from agents import MaxTurnsExceeded

    assert is_control_flow(MaxTurnsExceeded("x"))
