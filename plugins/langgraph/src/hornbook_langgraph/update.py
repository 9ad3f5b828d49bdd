"""What a node's return value writes to the state, whatever form it has.

A node may return a dict, a `Command`, a list that holds commands, an instance of the state's
class, or nothing. A contract sees one mapping: the keys that are written. Where a command
says where to go next, that stands under the reserved key `__goto__`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, cast

from langgraph.types import Command, Send
from pydantic import BaseModel

from hornbook_langgraph.routes import GOTO

__all__ = ["update_of"]


def update_of(value: Any) -> Any:
    """The merged update; a value that is none, such as the whole of a root state, as it is.

    A command to the parent graph writes nothing here, but where it goes counts. A key that
    several members of a list write to is a reducer's: their lists are put together.
    """
    if type(value) is dict:
        return cast("dict[str, Any]", value)
    if value is None:
        return {}
    if isinstance(value, Command):
        return _of_command(cast("Command[Any]", value))
    if isinstance(value, list | tuple):
        members = cast("Sequence[Any]", value)
        if any(isinstance(member, Command) for member in members):
            return _merged([update_of(member) for member in members])
        return cast("Any", value)
    return _of_instance(value)


def _of_command(command: "Command[Any]") -> Any:
    update: Any = {} if command.graph == Command.PARENT else _of_pairs(command.update)
    goto = _targets(command.goto)
    if not goto or not isinstance(update, Mapping):
        return update
    return {**cast("Mapping[str, Any]", update), GOTO: goto}


def _of_pairs(update: Any) -> Any:
    """A command's update may also be a list of keys with their values."""
    if isinstance(update, list | tuple):
        pairs = cast("Sequence[Any]", update)
        if all(isinstance(pair, tuple) and len(cast("Any", pair)) == 2 for pair in pairs):
            return _merged([{name: value} for name, value in pairs])
    return update_of(update)


def _targets(goto: Any) -> list[str]:
    if isinstance(goto, str | Send):
        goto = [goto]
    return [target.node if isinstance(target, Send) else str(target) for target in goto]


def _merged(updates: Sequence[Any]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for update in updates:
        if not isinstance(update, Mapping):
            continue
        for name, value in cast("Mapping[str, Any]", update).items():
            earlier = merged.get(name)
            both = isinstance(earlier, list) and isinstance(value, list)
            merged[name] = [*cast("list[Any]", earlier), *value] if both else value
    return merged


def _of_instance(value: Any) -> Any:
    """What LangGraph writes for an instance of a model or dataclass."""
    if isinstance(value, BaseModel):
        kind = type(value)
        return {
            name: written
            for name, info in kind.model_fields.items()
            if (written := getattr(value, name)) is not None
            or info.default is not None
            or name in value.model_fields_set
        }
    if is_dataclass(value) and not isinstance(value, type):
        found = {field.name: getattr(value, field.name, None) for field in fields(value)}
        return {name: written for name, written in found.items() if written is not None}
    return value
