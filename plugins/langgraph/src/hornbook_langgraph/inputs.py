"""A node's arguments by name: the keys of its state, and `state` for the whole of it."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from inspect import Parameter, signature
from typing import Any, cast

from pydantic import BaseModel
from typing_extensions import get_type_hints

from hornbook.errors import DefinitionError
from hornbook_langgraph.state import input_names

__all__ = ["INJECTED", "NodeInputs", "NodeParameters", "changed_state", "positional"]

INJECTED = ("config", "runtime", "store", "writer", "previous", "error")
"""What LangGraph passes by name to a node that asks for it; none of it is an input."""

STATE = "state"

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


class NodeInputs(Mapping[str, Any]):
    """The keys of a state. `state` is found too, and not listed: a record would hold it twice."""

    __slots__ = ("_keys", "_state")

    def __init__(self, state: Any) -> None:
        self._state = state
        self._keys = _keys_of(state)

    def __getitem__(self, name: str) -> Any:
        if name == STATE and STATE not in self._keys:
            return self._state
        return self._keys[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, name: object) -> bool:
        return name == STATE or name in self._keys


class NodeParameters:
    """How a node function takes its state."""

    __slots__ = ("_at", "_name", "names")

    def __init__(self, fn: Any, step: str) -> None:
        parameters = positional(fn)
        if not parameters:
            raise DefinitionError(f"step {step!r} is no node: it takes no state")
        receiver = parameters[0].name in ("self", "cls") and len(parameters) > 1
        self._at = 1 if receiver else 0
        self._name = parameters[self._at].name
        self.names = _declared_names(fn, self._name)
        """The inputs that a contract may name; None when the state's type does not tell."""

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
        """The inputs of one call."""
        return NodeInputs(args[self._at] if len(args) > self._at else kwargs.get(self._name))

    def rebuild(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any], changed: Mapping[str, Any]
    ) -> Arguments:
        """The arguments of a call in which some keys of the state have other values."""
        if len(args) > self._at:
            state = changed_state(args[self._at], changed)
            return (*args[: self._at], state, *args[self._at + 1 :]), dict(kwargs)
        return args, {**kwargs, self._name: changed_state(kwargs.get(self._name), changed)}


def changed_state(state: Any, changed: Mapping[str, Any]) -> Any:
    """A copy of the state with other values under some keys, or another state altogether."""
    if set(changed) == {STATE} and STATE not in _keys_of(state):
        return changed[STATE]
    match state:
        case Mapping():
            return {**cast("Mapping[str, Any]", state), **changed}
        case BaseModel():
            return state.model_copy(update=changed)
        case _ if is_dataclass(state) and not isinstance(state, type):
            return replace(state, **changed)
        case _:
            named = ", ".join(changed)
            raise DefinitionError(f"a state of type {type(state).__name__} has no keys ({named})")


def positional(fn: Any) -> list[Parameter]:
    """The parameters that LangGraph passes by position: the state, after a receiver."""
    kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD, Parameter.VAR_POSITIONAL)
    return [
        parameter
        for parameter in signature(fn).parameters.values()
        if parameter.kind in kinds and parameter.name not in INJECTED
    ]


def _declared_names(fn: Any, parameter: str) -> tuple[str, ...] | None:
    try:
        hint = get_type_hints(fn).get(parameter)
        names = input_names(hint)
    # Resolving runs the text of annotations, which may raise anything; then names are not known.
    except Exception:  # noqa: BLE001
        return None
    return None if names is None else tuple(dict.fromkeys((*names, STATE)))


def _keys_of(state: Any) -> Mapping[str, Any]:
    if isinstance(state, dict):
        return cast("Mapping[str, Any]", state)
    if isinstance(state, BaseModel):
        return {name: getattr(state, name) for name in type(state).model_fields}
    if is_dataclass(state) and not isinstance(state, type):
        return {field.name: getattr(state, field.name, None) for field in fields(state)}
    return {STATE: state}
