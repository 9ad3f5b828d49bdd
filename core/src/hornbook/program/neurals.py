"""Neural primitives: one narrow operation that a model does, its output always checked."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from pydantic import BaseModel

from hornbook.contracts.contract import Contract
from hornbook.contracts.members import class_of
from hornbook.errors import DefinitionError
from hornbook.program.asking import Asking, Prompt, readable_clause, reader_of, schema_of
from hornbook.program.definition import Definition, enforced, refuse_settings
from hornbook.program.ports import ports_of, ports_type
from hornbook.program.primitives import Primitive
from hornbook.program.signature import Parameter, Signature
from hornbook.program.template import Template
from hornbook.program.types_forms import bare
from hornbook.step.binding import Parameters
from hornbook.step.recover import Recover

if TYPE_CHECKING:
    from hornbook.models import Model, Sampling

__all__ = ["neural"]

T = TypeVar("T")

_INPUT = "input"
"""What the only input is called where its type is no record."""
_NONE: Any = inspect.Parameter.empty


@overload
def neural(
    name: str,
    model: "Model",
    *,
    prompt: Prompt,
    input: Any = ...,
    output: type[T],
    contract: Contract[Any] | None = ...,
    recover: Recover | None = ...,
    version: str = ...,
    sampling: "Sampling | None" = ...,
    stop: Sequence[str] = ...,
    timeout: float | None = ...,
    requires_accuracy: float | None = ...,
) -> Primitive[..., T]: ...
@overload
def neural(
    name: str,
    model: "Model",
    *,
    prompt: Prompt,
    input: Any = ...,
    output: Any,
    contract: Contract[Any] | None = ...,
    recover: Recover | None = ...,
    version: str = ...,
    sampling: "Sampling | None" = ...,
    stop: Sequence[str] = ...,
    timeout: float | None = ...,
    requires_accuracy: float | None = ...,
) -> Primitive[..., Any]: ...
def neural(
    name: str,
    model: "Model",
    *,
    prompt: Prompt,
    input: Any = str,  # noqa: A002 - it is what the argument is
    output: Any,
    contract: Contract[Any] | None = None,
    recover: Recover | None = None,
    version: str = "1",
    sampling: "Sampling | None" = None,
    stop: Sequence[str] = (),
    timeout: float | None = None,
    requires_accuracy: float | None = None,
) -> Primitive[..., Any]:
    """Make a primitive of a model.

    The model is asked for JSON of the output type, and what it answers is always checked:
    prose, or JSON cut off, is a violation of the contract and not an exception.

    Args:
        name: what records call it.
        model: anything with the protocol `hornbook.models.Model`.
        prompt: a text with `{field}` for each input (a brace is written twice), or a
            function of the inputs, by name, that gives a text or messages. Values are
            data: a text as it is, anything else as JSON, and neither is expanded again.
        input: a record type (TypedDict, model, dataclass), whose fields are the inputs; or
            a mapping of names to types; or any other type, whose one input is `input`.
        output: the type of the answer; `str` takes the text as it is.
        contract: clauses on inputs and output, besides the output's type.
        recover: what to do about a violation; a retry tells the model what was wrong.
        version: changes when its meaning does; part of every cache key.
        sampling: how the model chooses its words; greedy, when left out.
        stop: texts at which the model ends its answer.
        timeout: seconds that one attempt may take.
        requires_accuracy: the share of right answers that `verify` holds it to.

    Raises:
        DefinitionError: a part that cannot work, such as a placeholder that is no input.
    """
    _refuse(name, model, prompt)
    parameters, record = _inputs(input, name)
    names = tuple(one.name for one, _ in parameters)
    signature = Signature(
        step=name,
        parameters=tuple(one for one, _ in parameters),
        output=output,
        record=record,
    )
    from hornbook.models import Sampling

    caller = _caller(name, parameters, output)
    asking = Asking(
        model=model,
        prompt=prompt,
        template=Template(prompt, names=names, step=name) if isinstance(prompt, str) else None,
        schema=schema_of(output, name),
        sampling=sampling or Sampling(),
        stop=tuple(stop),
        read=reader_of(output),
        parameters=Parameters(caller),
        caller=caller,
        input=input,
        step=name,
    )
    definition = Definition(
        name=name,
        version=version,
        signature=signature,
        parameters=asking.parameters,
        contract=enforced(
            contract,
            step=name,
            version=version,
            output=output,
            names=names,
            before=() if output is str else (readable_clause,),
        ),
        given=contract,
        recover=recover or Recover(),
        asking=asking,
        timeout=timeout,
        requires_accuracy=requires_accuracy,
    )
    refuse_settings(definition)
    return Primitive[..., Any](definition)


def _refuse(name: object, model: object, prompt: object) -> None:
    if not isinstance(name, str) or not name.strip():
        raise DefinitionError(f"neural({name!r:.60}): its name is a text that is not empty")
    _refuse_model(name, model)
    if not isinstance(prompt, str) and not callable(prompt):
        raise DefinitionError(
            f"neural {name!r}: its prompt is a text or a function: {prompt!r:.60}"
        )


def _refuse_model(name: str, model: object) -> None:
    if isinstance(model, str):
        raise DefinitionError(
            f"neural {name!r}: {model!r:.60} is the name of a model: give the model itself, such "
            f"as OpenAIModel({model!r:.60})"
        )
    if isinstance(model, type):
        raise DefinitionError(
            f"neural {name!r}: {model.__name__} is a class: give a model that is made of it, "
            f"{model.__name__}(...)"
        )
    lacking = [
        what
        for what in ("identity", "max_attempts", "complete", "acomplete")
        if not hasattr(model, what)
    ]
    if lacking:
        raise DefinitionError(
            f"neural {name!r}: {model!r:.60} is no model: it has no {lacking[0]!r}"
        )


def _inputs(given: Any, step: str) -> tuple[list[tuple[Parameter, Any]], Any]:
    """The parameters with their defaults, and the record type that has them as fields."""
    if isinstance(given, Mapping):
        named = cast("Mapping[str, Any]", given)
        if not named or not all(isinstance(one, str) and one.isidentifier() for one in named):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise DefinitionError(f"neural {step!r}: input={given!r:.80} maps names to types")
        record = ports_type(named) if len(named) > 1 else None
        return [(Parameter(name=name, type=tp), _NONE) for name, tp in named.items()], record
    ports = ports_of(given)
    if not ports:
        return [(Parameter(name=_INPUT, type=given), _NONE)], None
    kind = class_of(bare(given))
    assert kind is not None
    defaults = _defaults(kind)
    taken = [name for name in ports if name in defaults or not issubclass(kind, BaseModel)]
    found: list[tuple[Parameter, Any]] = []
    for name in taken:
        default = defaults.get(name, None if ports[name].optional else _NONE)
        required = default is _NONE
        found.append((Parameter(name=name, type=ports[name].type, required=required), default))
    return sorted(found, key=lambda one: not one[0].required), given


def _defaults(kind: type[Any]) -> dict[str, Any]:
    """What each field is where it is not given; of a model every field is named."""
    if issubclass(kind, BaseModel):
        return {
            name: _NONE if info.is_required() else info.get_default(call_default_factory=True)
            for name, info in kind.model_fields.items()
            if info.is_required() or info.default_factory is None or _plain_factory(info)
        }
    if is_dataclass(kind):
        return {
            one.name: one.default_factory() if one.default_factory is not MISSING else one.default
            for one in fields(kind)
            if one.default is not MISSING or one.default_factory is not MISSING
        }
    return dict(getattr(kind, "_field_defaults", {}))


def _plain_factory(info: Any) -> bool:
    return not info.default_factory_takes_validated_data


def _caller(
    name: str, parameters: Sequence[tuple[Parameter, Any]], output: Any
) -> Callable[..., Any]:
    def caller(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("a neural primitive is asked, not called")  # pragma: no cover

    caller.__name__ = caller.__qualname__ = name
    cast("Any", caller).__signature__ = inspect.Signature(
        [
            inspect.Parameter(
                one.name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=default,
                annotation=one.type,
            )
            for one, default in parameters
        ],
        return_annotation=output,
    )
    return caller
