"""How a neural primitive asks its model: the request it makes, and how the answer is read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from hornbook.contracts.clause import Clause
from hornbook.contracts.finding import Answer
from hornbook.errors import DefinitionError, told
from hornbook.program.template import Template
from hornbook.step.binding import Parameters

if TYPE_CHECKING:
    from hornbook.models import Completion, Message, Model, Request, Sampling
    from hornbook.step.attempts import Feedback

__all__ = ["Asking", "Prompt", "Unreadable", "readable_clause", "reader_of", "schema_of"]

Prompt: TypeAlias = "str | Callable[[Mapping[str, Any]], str | Sequence[Message]]"
"""A template, or a function of the inputs that gives a text or messages."""

_KEPT = 2_000
"""Characters of an answer that cannot be read that are kept, for the record."""
_TOLD = 400
"""Characters of what a type's own validators say."""


class Unreadable:
    """An answer that is not what was asked, with why; it is of no type that a contract asks."""

    __slots__ = ("problem", "text")

    def __init__(self, text: str, problem: str) -> None:
        self.text = text if len(text) <= _KEPT else f"{text[:_KEPT]}..."
        self.problem = problem

    def __repr__(self) -> str:
        """What stands in a violation as observed."""
        return self.problem


def _read(value: Any, inputs: Mapping[str, Any]) -> Answer:
    if not isinstance(value, Unreadable):
        return Answer(status="Satisfied")
    return Answer(status="Violated", hint=value.problem)


readable_clause = Clause(
    kind="readable",
    name="the answer can be read",
    expected="JSON as the schema asks",
    test=_read,
)
"""Refuses an answer that cannot be read where the output's type would take anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """The neural half of a primitive."""

    model: "Model"
    prompt: Prompt
    template: Template | None
    schema: Mapping[str, Any] | None
    sampling: "Sampling"
    stop: tuple[str, ...]
    read: "Callable[[Completion], Any]"
    parameters: Parameters
    """Fill in what is not given."""
    caller: Callable[..., Any]
    """Has the signature by which the primitive is called; it is never called itself."""
    input: Any
    """The input's type, as it was given."""
    step: str

    def request(self, inputs: Mapping[str, Any], feedback: "Feedback | None") -> "Request":
        """What the model is asked; a retry is told what was wrong, in constant size."""
        from hornbook.models import Message, Request

        messages = [*self._messages(self.parameters.bind((), inputs))]
        if feedback is not None:
            messages.append(Message(role="user", content=str(feedback)))
        return Request(
            messages=tuple(messages), schema=self.schema, sampling=self.sampling, stop=self.stop
        )

    def _messages(self, inputs: Mapping[str, Any]) -> "Sequence[Message]":
        from hornbook.models import Message

        if self.template is not None:
            given: object = self.template.fill(inputs)
        else:
            given = cast("Callable[[Mapping[str, Any]], object]", self.prompt)(inputs)
        if isinstance(given, str):
            return [Message(role="user", content=given)]
        messages, kind = list[object](), type(given).__name__
        if isinstance(given, Sequence):
            messages = list(cast("Sequence[object]", given))
        if not messages or not all(isinstance(one, Message) for one in messages):
            raise DefinitionError(
                f"neural {self.step!r}: its prompt function gave {kind}, not a "
                f"text or a list of Messages"
            )
        return cast("list[Message]", messages)


def schema_of(output: Any, step: str) -> Mapping[str, Any] | None:
    """The JSON schema of an output type; None for plain text.

    Raises:
        DefinitionError: the type has none.
    """
    if output is str:
        return None
    from pydantic import TypeAdapter

    from hornbook.contracts.typed_dicts import modernised

    try:
        return TypeAdapter(modernised(output)).json_schema(mode="validation")
    # The type's own code is run to make its schema, and may raise anything.
    except Exception as error:  # noqa: BLE001
        first = told(error).partition("\n")[0]
        raise DefinitionError(
            f"neural {step!r}: its output type has no JSON schema: {first}"
        ) from None


def reader_of(output: Any) -> "Callable[[Completion], Any]":
    """Reads a completion as a value of a type; what cannot be read stays text."""
    if output is str:
        return lambda completion: completion.text
    from pydantic import TypeAdapter, ValidationError

    from hornbook import canon
    from hornbook.contracts.typed_dicts import modernised

    adapter: TypeAdapter[Any] = TypeAdapter(modernised(output))

    def read(completion: "Completion") -> Any:
        if completion.problem is not None:
            return Unreadable(completion.text, completion.problem)
        try:
            return adapter.validate_json(canon.serialise(completion.value), strict=True)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"]) or "the top"
            return Unreadable(completion.text, f"at {where}: {first['msg']}")
        # A type's validators are somebody's code; what they raise is an answer not accepted.
        except Exception as error:  # noqa: BLE001
            return Unreadable(completion.text, told(error)[:_TOLD])

    return read
