"""Whether a fallback can be called at all with what it will be given."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any, cast

from hornbook.errors import DefinitionError
from hornbook.kernel.registry import ToolSpec
from hornbook.step.colour import is_coroutine, qualified

__all__ = ["refuse_misfit", "refuse_unfit"]


def refuse_misfit(fallback: Callable[..., Any], tool: ToolSpec) -> None:
    """Refuse a fallback that cannot take the arguments of its tool by name.

    The model may leave out what the tool does not require.

    Raises:
        DefinitionError: naming the fallback, the tool and its arguments.
    """
    every, required = tuple(tool.shape.properties), _required(tool)
    problem = _problem(fallback, **dict.fromkeys(every))
    if problem is None and required is not None:
        problem = _problem(fallback, **dict.fromkeys(required))
        problem = problem and f"{problem}, which the model may leave out"
    if problem is not None:
        raise DefinitionError(
            f"fallback {qualified(fallback)!r} of tool {tool.name!r} cannot take its arguments "
            f"({', '.join(every)}) by name: {problem}"
        )


def refuse_unfit(fallback: Callable[..., Any]) -> None:
    """Refuse a fallback of the model that cannot be called with the request alone.

    Raises:
        DefinitionError: naming the fallback.
    """
    named = qualified(fallback)
    if is_coroutine(fallback):
        raise DefinitionError(f"fallback {named!r} of 'model' is async: give a plain function")
    problem = _problem(fallback, None)
    if problem is not None:
        raise DefinitionError(
            f"fallback {named!r} of 'model' cannot be called with the request that the model "
            f"was asked with, its one argument: {problem}"
        )


def _problem(fallback: Callable[..., Any], *args: Any, **kwargs: Any) -> str | None:
    try:
        signature = inspect.signature(fallback)
    except (TypeError, ValueError):
        # A builtin does not say what it takes.
        return None
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        return str(error)
    return None


def _required(tool: ToolSpec) -> Sequence[str] | None:
    """What the model has to give; None where the schema does not say it in one place."""
    listed = tool.parameters.get("required", ())
    properties = tool.parameters.get("properties")
    return cast("Sequence[str]", listed) if isinstance(properties, dict) else None
