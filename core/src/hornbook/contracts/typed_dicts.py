"""The TypedDicts of `typing`, which pydantic refuses before Python 3.12, made anew.

They do not tell there which keys a base class requires, so that pydantic asks for those of
typing_extensions instead. Where a type is only checked against, as here, the difference can
be made up for: the keys and what each requires are read from the hints.
"""

from types import UnionType
from typing import Annotated, Any, Literal, NotRequired, Required, Union, cast, get_args, get_origin

from typing_extensions import TypedDict, is_typeddict

from hornbook.contracts.fields import field_types

__all__ = ["modernised"]


def modernised(tp: Any) -> Any:
    """`tp` with its TypedDicts, at any depth, made anew with typing_extensions."""
    return _made(tp, {})


def _made(tp: Any, made: dict[Any, Any]) -> Any:
    origin, args = get_origin(tp), get_args(tp)
    if is_typeddict(origin or tp):
        known = made.get(tp)
        return _anew(tp, made) if known is None else known
    if not args or origin is Literal:
        return tp
    if origin is Annotated:
        return Annotated[_made(args[0], made), *args[1:]]
    parts = tuple(_made(part, made) for part in args)
    if parts == args:
        return tp
    if origin is Union or origin is UnionType:
        return Union[parts]  # noqa: UP007 - the parts are known only now
    return origin[parts] if not hasattr(tp, "copy_with") else tp.copy_with(parts)


def _anew(tp: Any, made: dict[Any, Any]) -> Any:
    kind = get_origin(tp) or tp
    fields = field_types(tp)
    wrappers: dict[str, Any] = {
        name: NotRequired if field.optional else Required for name, field in fields.items()
    }
    empty = {name: wrapper[Any] for name, wrapper in wrappers.items()}
    new: Any = TypedDict(kind.__name__, cast("Any", empty))  # pyright: ignore[reportGeneralTypeIssues, reportArgumentType]
    # Known before its keys are, since they may lead back to it.
    made[tp] = new
    new.__annotations__ = {
        name: wrapper[_made(fields[name].type, made)] for name, wrapper in wrappers.items()
    }
    for attribute in ("__module__", "__qualname__", "__doc__", "__pydantic_config__"):
        if hasattr(kind, attribute):
            setattr(new, attribute, getattr(kind, attribute))
    return new
