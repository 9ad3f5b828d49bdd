"""A state schema read as the type of what a node may write: each key by itself, each optional.

LangGraph merges a node's update into the state key by key, so a contract's `output=` is not
the type of a whole state but of its keys. A key with a reducer is checked as what the
reducer takes, which need not be what the state holds.
"""

# pyright: reportMissingTypeStubs=false
# The host has types in its sources and does not say so.

import inspect
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from typing import Annotated, Any, NotRequired, Required, cast, get_args, get_origin

from langchain_core.messages import BaseMessage
from langgraph.channels.any_value import AnyValue
from langgraph.channels.base import BaseChannel
from langgraph.channels.ephemeral_value import EphemeralValue
from langgraph.channels.last_value import LastValue
from langgraph.channels.untracked_value import UntrackedValue
from langgraph.graph.message import add_messages
from langgraph.types import Overwrite
from pydantic import AfterValidator, BaseModel, ValidatorFunctionWrapHandler, WrapValidator
from typing_extensions import ReadOnly, TypedDict, get_type_hints, is_typeddict

__all__ = ["input_names", "is_record", "update_type"]

_PLAIN_CHANNELS = (LastValue, EphemeralValue, UntrackedValue, AnyValue)
_QUALIFIERS = (NotRequired, Required, ReadOnly)


def is_record(tp: Any) -> bool:
    """Whether a type has named keys: a TypedDict, a model or a dataclass."""
    kind = cast("type[Any]", tp) if isinstance(tp, type) else None
    return is_typeddict(tp) or (
        kind is not None and (issubclass(kind, BaseModel) or is_dataclass(kind))
    )


def input_names(schema: Any) -> tuple[str, ...] | None:
    """The keys of a state, as far as its type tells; None when it does not."""
    return tuple(_hints(schema)) if is_record(schema) else None


def update_type(schema: Any) -> Any:
    """The type of an update to a state: none of its keys has to be there."""
    keys = {name: NotRequired[_written(hint)] for name, hint in _hints(schema).items()}
    make: Any = TypedDict
    return make(schema.__name__, keys)


def _hints(schema: Any) -> Mapping[str, Any]:
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        # pydantic has resolved them, and taken the metadata apart.
        return {
            name: Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation
            for name, info in schema.model_fields.items()
        }
    return get_type_hints(schema, include_extras=True)


def _written(hint: Any) -> Any:
    """What may be written to a key of this type."""
    while get_origin(hint) in _QUALIFIERS:
        hint = get_args(hint)[0]
    if get_origin(hint) is not Annotated:
        return hint
    held, *metadata = get_args(hint)
    last = metadata[-1]
    if _is_channel(last):
        return held if _is_plain(last) else Any
    if not _is_reducer(last):
        return hint
    rest = metadata[:-1]
    inner = Annotated[held, *rest] if rest else held
    return Annotated[_taken(last, inner), WrapValidator(_through_overwrite)]


def _taken(reducer: Callable[..., Any], held: Any) -> Any:
    if reducer is add_messages or getattr(reducer, "func", None) is add_messages:
        return Annotated[Any, AfterValidator(_like_messages)]
    declared = _second_parameter(reducer)
    if declared is not None:
        return declared
    kind = get_origin(held)
    if isinstance(kind, type) and issubclass(kind, list) and not _of_operator(reducer):
        (item,) = get_args(held)
        return held | item
    return held


def _second_parameter(reducer: Callable[..., Any]) -> Any:
    """What a reducer says it takes, when that can be told."""
    try:
        parameters = list(inspect.signature(reducer).parameters.values())
        hint = get_type_hints(reducer, include_extras=True).get(parameters[1].name)
    # Resolving runs the text of annotations, which may raise anything; builtins have none.
    except Exception:  # noqa: BLE001
        return None
    return None if getattr(hint, "__parameters__", ()) else hint


def _of_operator(reducer: Callable[..., Any]) -> bool:
    return getattr(reducer, "__module__", None) == "_operator"


def _is_reducer(metadata: Any) -> bool:
    """As LangGraph decides: a callable that takes two values."""
    if not callable(metadata) or isinstance(metadata, type):
        return False
    try:
        parameters = inspect.signature(metadata).parameters.values()
    except ValueError:
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(parameter.kind in positional for parameter in parameters) == 2


def _is_channel(metadata: Any) -> bool:
    return isinstance(metadata, BaseChannel) or (
        isinstance(metadata, type) and issubclass(metadata, BaseChannel)
    )


def _is_plain(channel: Any) -> bool:
    kind = channel if isinstance(channel, type) else type(channel)
    return issubclass(cast("type[Any]", kind), _PLAIN_CHANNELS)


def _through_overwrite(value: Any, check: ValidatorFunctionWrapHandler) -> Any:
    """An `Overwrite` goes past the reducer, so that what it holds is not for it to take."""
    return value if isinstance(value, Overwrite) else check(value)


def _like_messages(value: Any) -> Any:
    """What `add_messages` takes: messages, or what can be read as one."""
    several = cast("list[object]", value) if isinstance(value, list) else [cast("object", value)]
    for one in several:
        if not isinstance(one, BaseMessage | dict | str | tuple | list):
            raise ValueError(f"{type(one).__name__} is no message")
    return cast("Any", value)
