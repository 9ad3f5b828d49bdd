"""Giving a program a value, and calling a primitive by itself."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from typing_extensions import is_protocol, is_typeddict

from hornbook.budget import Budget
from hornbook.contracts.output_type import OutputType
from hornbook.contracts.paths import Absent
from hornbook.contracts.shown import shown
from hornbook.errors import DefinitionError
from hornbook.program.binding import Ref
from hornbook.program.elaborate import refuse_open
from hornbook.program.errors import ProgramInputError
from hornbook.program.life import live
from hornbook.program.node import Program
from hornbook.program.ports import read_port, type_name
from hornbook.program.types import mismatch
from hornbook.program.types_forms import bare
from hornbook.program.work import operation_of
from hornbook.step.colour import is_coroutine

if TYPE_CHECKING:
    from hornbook.engine import Engine, Life
    from hornbook.program.primitives import Primitive

__all__ = ["acall", "arun", "call", "check_input", "checked", "run"]


def run(program: Program, value: Any, *, budget: Budget | None, engine: "Engine | None") -> Any:
    """Run a program; see `Program.run`."""
    from hornbook.engine import Engine

    _refuse(program, value)
    return (engine or Engine()).run(
        lambda: _life(program, value), name=program.name, value=value, budget=budget
    )


async def arun(
    program: Program, value: Any, *, budget: Budget | None, engine: "Engine | None"
) -> Any:
    """The async twin of `run`."""
    from hornbook.engine import Engine

    _refuse(program, value)
    return await (engine or Engine()).arun(
        lambda: _life(program, value), name=program.name, value=value, budget=budget
    )


def check_input(program: Program, value: Any) -> None:
    """Hold a value to a program's input type.

    Raises:
        ProgramInputError: it is not of that type; the message says where and what.
    """
    if program.input is Any:
        return
    problems = _validator(program).problems(value)
    if problems:
        first = problems[0]
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        absent = isinstance(first.observed, Absent)
        seen = "nothing" if absent else shown(first.observed, first.path)
        at = "" if first.path == "." else f" at {first.path}"
        again = mismatch(type(value), program.input) if _namesakes(value, program.input) else ""
        more += f": {again}" if again else ""
        raise ProgramInputError(
            f"program {program.name!r} takes {type_name(program.input)}:{at} expected "
            f"{first.expected}, got {seen}{more}"
        )


def _namesakes(value: Any, asked: Any) -> bool:
    return type(value) is not asked and type_name(type(value)) == type_name(asked)


def _validator(program: Program) -> OutputType:
    known = program._accepts  # pyright: ignore[reportPrivateUsage]
    if known is None:
        known = OutputType(program.input)
        program._set(_accepts=known)  # pyright: ignore[reportPrivateUsage]
    return known


def _refuse(program: Program, value: Any) -> None:
    refuse_open(program)
    check_input(program, value)


def _life(program: Program, value: Any) -> "Life":
    return live(program._typed, value, None, program.name)  # pyright: ignore[reportPrivateUsage]


def call(node: "Primitive[..., Any]", args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Call a primitive by itself: as a step of the run around, if there is one."""
    definition = node.definition
    inputs = _inputs(node, args, kwargs)
    if definition.asking is not None or definition.timeout is not None:
        if definition.function is not None and is_coroutine(definition.function):
            return _through_async(node, inputs)
        return _through(node, inputs)
    return node.checked(**inputs)


async def acall(
    node: "Primitive[..., Any]", args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """The async twin of `call`, for a primitive of either colour."""
    return await _through_async(node, _inputs(node, args, kwargs))


def _through(node: "Primitive[..., Any]", inputs: Mapping[str, Any]) -> Any:
    from hornbook.engine import Engine, invoke

    return Engine().run(
        lambda: invoke(node.work, inputs, place=node.name), name=node.name, value=inputs
    )


async def _through_async(node: "Primitive[..., Any]", inputs: Mapping[str, Any]) -> Any:
    from hornbook.engine import Engine, invoke

    return await Engine().arun(
        lambda: invoke(node.work, inputs, place=node.name), name=node.name, value=inputs
    )


def checked(node: "Primitive[..., Any]") -> Any:
    """The function of a symbolic primitive under its contract, of the same colour."""
    from hornbook.step.hot import async_wrapper, sync_wrapper

    function = node.definition.function
    assert function is not None
    wrap = async_wrapper if is_coroutine(function) else sync_wrapper
    return wrap(function, operation_of(node))


def _inputs(
    node: "Primitive[..., Any]", args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments by name, those that are bound among them."""
    for name, bound in node.bindings.items():
        if isinstance(bound, Ref):
            raise DefinitionError(
                f"primitive {node.name!r}: {name!r} is bound to {bound}, which leads nowhere when "
                f"it is called by itself"
            )
    if len(args) == 1 and not kwargs:
        spread = _spread(node, args[0])
        if spread is not None:
            return {**node.bindings, **spread}
    import inspect

    if len(args) == 1:
        _refuse_state(node, args[0])
    given = {**node.bindings, **kwargs}
    signature = inspect.signature(node.__wrapped__)
    free = [name for name in signature.parameters if name not in node.bindings]
    given |= dict(zip(free, args, strict=False))
    if len(args) > len(free) or kwargs.keys() & set(free[: len(args)]):
        signature.bind(*args, **kwargs)
    bound = signature.bind(**given)
    bound.apply_defaults()
    return dict(bound.arguments)


def _refuse_state(node: "Primitive[..., Any]", value: Any) -> None:
    """Refuse a mapping, as hosts pass their state, where one object of a class is asked."""
    free = [one for one in node.definition.signature.parameters if one.name not in node.bindings]
    asked: Any = bare(free[0].type) if free else Any
    if not isinstance(value, Mapping) or not isinstance(asked, type) or asked is Any:
        return
    kind = cast("type[Any]", asked)
    if is_typeddict(kind) or is_protocol(kind) or isinstance(value, kind):
        return
    raise ProgramInputError(
        f"primitive {node.name!r} asks {type_name(asked)} as {free[0].name!r}, and is called with "
        f"a {type(cast('object', value)).__name__}, {shown(value)}: take out of it what is asked, "
        f"in a function of your own"
    )


def _spread(node: "Primitive[..., Any]", value: Any) -> dict[str, Any] | None:
    """The fields of a whole input record of a neural primitive; None where it is none."""
    record = node.definition.signature.record
    if record is None or OutputType(record).problems(value):
        return None
    names = [one.name for one in node.definition.signature.parameters]
    if isinstance(value, Mapping):
        known = cast("Mapping[str, Any]", value)
        return {name: known[name] for name in names if name in known}
    return {name: read_port(value, name) for name in names}
