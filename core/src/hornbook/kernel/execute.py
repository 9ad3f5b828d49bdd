"""Execute(f, B): one call of a tool as one recorded step, and what its result is good for."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from inspect import iscoroutinefunction
from typing import Any, cast

from hornbook import canon
from hornbook.engine import Life, StepTimeout, Work, invoke
from hornbook.errors import told
from hornbook.kernel.failures import is_failure
from hornbook.kernel.plain import first_unfit
from hornbook.kernel.registry import ToolSpec
from hornbook.step.operation import Operation

__all__ = ["ErrorOf", "Outcome", "Tool", "error_of", "read_result"]

MAX_RESULT = 256_000
"""Bytes of JSON; more is no result that a program can go on with."""
_TOLD = 400

ErrorOf = Callable[[Any], str | None]
"""Says of a result whether it is an error, and which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a call."""

    value: Any = None
    """Plain JSON data, the kernel's own copy."""
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool that can be called."""

    spec: ToolSpec
    work: Work

    @classmethod
    def of(cls, spec: ToolSpec, function: Callable[..., Any], timeout: float | None) -> "Tool":
        """The tool that a function is."""
        operation = Operation(name=spec.name, kind="tool", bind=_bind, rebuild=_rebuild)
        work = Work(
            name=spec.name,
            version="1",
            digest=canon.digest({"tool": spec.name, "parameters": spec.parameters}),
            operation=operation,
            function=_contained(function),
            pure=False,
            blocking=True,
            timeout=timeout,
        )
        return cls(spec=spec, work=work)

    def call(
        self, arguments: Mapping[str, Any], *, place: str, limit: int, error_of: ErrorOf
    ) -> Life:
        """Call it once; whatever it does becomes an `Outcome`."""
        try:
            value = yield from invoke(self.work, arguments, place=place)
        except StepTimeout as error:
            return Outcome(error=f"{_line(error)}; whether it had its effect is not known")
        except Exception as error:
            if not is_failure(error):
                raise
            return Outcome(error=f"it raised {_line(error)}")
        return read_result(value, limit=limit, error_of=error_of)


def error_of(value: Any) -> str | None:
    """The error that a result is: an object whose only field is `error`, with a text."""
    if isinstance(value, Mapping) and len(cast("Mapping[str, Any]", value)) == 1:
        told_so: Any = cast("Mapping[str, Any]", value).get("error")
        return told_so if isinstance(told_so, str) and told_so else None
    return None


def read_result(value: Any, *, limit: int = MAX_RESULT, error_of: ErrorOf = error_of) -> Outcome:
    """What a tool returned, as plain data; or why that is of no use."""
    if isinstance(value, BaseException):
        return Outcome(error=f"it returned an exception object: {_line(value)}")
    if isinstance(value, Iterator) or callable(value):
        return Outcome(
            error=f"it returned {type(cast('object', value)).__name__}, which is no data"
        )
    unfit = first_unfit(value)
    if unfit is not None:
        what = unfit.undecided or f"it is not {unfit.expected}"
        return Outcome(error=f"its result cannot be used at {unfit.path}: {what}")
    try:
        data, size = _plain(value)
    # What serialises is the tool's own code, where it returns objects.
    except Exception as error:  # noqa: BLE001
        return Outcome(error=f"its result is no JSON: {_line(error)}")
    if size > limit:
        return Outcome(error=f"its result has {size:,} bytes; {limit:,} can be used")
    failed = error_of(data)
    return Outcome(value=data, error=None if failed is None else failed[:_TOLD])


def _plain(value: Any) -> tuple[Any, int]:
    from pydantic_core import from_json, to_json

    text = to_json(value, inf_nan_mode="constants")
    data = from_json(text, allow_inf_nan=True)
    unfit = first_unfit(data)
    if unfit is not None:
        raise ValueError(f"{unfit.path} is not {unfit.expected}")
    return data, len(text)


def _contained(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, whose SystemExit ends the call and not the program."""
    called = function if iscoroutinefunction(function) else getattr(function, "__call__", function)  # noqa: B004
    if iscoroutinefunction(called):
        return _contained_async(function)

    def tool(**arguments: Any) -> Any:
        try:
            return function(**arguments)
        except SystemExit as error:
            raise RuntimeError(f"it called exit({error.code!r})") from error

    return tool


def _contained_async(function: Callable[..., Any]) -> Callable[..., Any]:
    async def tool(**arguments: Any) -> Any:
        try:
            return await function(**arguments)
        except SystemExit as error:
            raise RuntimeError(f"it called exit({error.code!r})") from error

    return tool


def _bind(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
    return kwargs


def _rebuild(
    args: tuple[Any, ...], kwargs: Mapping[str, Any], changed: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return args, {**kwargs, **changed}


def _line(error: BaseException) -> str:
    return " ".join(told(error).split())[:_TOLD]
