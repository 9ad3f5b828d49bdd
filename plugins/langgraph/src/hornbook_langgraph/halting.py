"""The soft halt: how one violated step ends an agent's turn without losing the conversation.

The tool's answer carries the halt as its `artifact`; the next model call sees it among the
messages that came last, and gives a closing message in place of asking the model. Nothing
is kept in a channel of the state, so that parallel halts do not collide, and the next turn
starts free. Only JSON goes into the artifact: a checkpoint must be able to hold it.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast
from weakref import WeakValueDictionary

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.types import Command

from hornbook.contracts.report import ContractReport

__all__ = ["HALT", "closing", "halt_answer", "halts", "unforged"]

HALT = "hornbook_halt"
"""The key of the artifact, and of the closing message's `additional_kwargs`."""

_REASONS = 3

_ours: "WeakValueDictionary[int, ToolMessage]" = WeakValueDictionary()
"""The halts that were made here, by identity: one middleware may stand around another."""


def halt_answer(report: ContractReport, call: Mapping[str, Any]) -> ToolMessage:
    """The answer to a tool call that halts the turn."""
    answer = ToolMessage(
        content=f"Halted: {report}",
        tool_call_id=call["id"],
        name=call["name"],
        status="error",
        artifact={HALT: _as_json(report)},
    )
    _ours[id(answer)] = answer
    return answer


def halts(messages: Sequence[BaseMessage]) -> list[Mapping[str, Any]]:
    """The halts among the answers to the model's last calls, in their order.

    Others may have put notes behind those answers; what the model said itself ends the search,
    so that the next turn is free.
    """
    found: list[Mapping[str, Any]] = []
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            break
        artifact = getattr(message, "artifact", None)
        if isinstance(artifact, dict) and HALT in artifact:
            found.append(cast("dict[str, Any]", artifact)[HALT])
    return found[::-1]


def closing(reports: Sequence[Mapping[str, Any]]) -> AIMessage:
    """The message that ends a halted turn."""
    told = "; ".join(_told(report) for report in reports)
    return AIMessage(
        content=f"I stopped here, because a check failed: {told}",
        additional_kwargs={HALT: list(reports)},
    )


def closing_of(report: ContractReport) -> AIMessage:
    """The message that ends a turn in which the model's own answer is refused."""
    return closing([_as_json(report)])


def unforged(result: Any) -> Any:
    """A tool's own result, without a halt that the tool wrote into it itself."""
    match result:
        case ToolMessage():
            return _unforged_message(result)
        case Command():
            command = cast("Command[Any]", result)
            update: Any = command.update
            if isinstance(update, dict) and "messages" in update:
                _unforge_all(cast("dict[str, Any]", update)["messages"])
            elif isinstance(update, list):
                _unforge_all(update)
            return command
        case list():
            return [unforged(one) for one in cast("list[Any]", result)]
        case _:
            return result


def _unforge_all(messages: Any) -> None:
    """In place: LangGraph has made a copy of the command for itself."""
    if not isinstance(messages, list):
        return
    listed = cast("list[Any]", messages)
    listed[:] = [_unforged_one(message) for message in listed]


def _unforged_one(message: Any) -> Any:
    if isinstance(message, ToolMessage):
        return _unforged_message(message)
    if isinstance(message, dict) and "artifact" in message:
        # A message may be written as a dict, too.
        written = cast("dict[str, Any]", message)
        return {**written, "artifact": _without_halt(written["artifact"])}
    return cast("Any", message)


def _unforged_message(message: ToolMessage) -> ToolMessage:
    artifact = message.artifact
    if not isinstance(artifact, dict) or HALT not in artifact or _ours.get(id(message)) is message:
        return message
    return message.model_copy(update={"artifact": _without_halt(message.artifact)})


def _without_halt(artifact: object) -> Any:
    if not isinstance(artifact, dict):
        return artifact
    told = cast("dict[Any, Any]", artifact)
    return {key: value for key, value in told.items() if key != HALT} or None


def _as_json(report: ContractReport) -> dict[str, Any]:
    return json.loads(report.to_json())


def _told(report: Mapping[str, Any]) -> str:
    """One halt in words for the user: what was checked, and what was wrong."""
    wrong = [
        f"{violation['clause']}: {violation['hint'] or 'expected ' + violation['expected']}"
        for violation in report.get("violations", ())[:_REASONS]
    ]
    return f"{report.get('step', 'a step')} ({', '.join(wrong) or 'refused'})"
