"""What is asked of a model and what it answers: immutable values with canonical digests."""

import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

from hornbook.canon import digest
from hornbook.errors import DefinitionError

__all__ = ["Completion", "Finish", "Message", "Price", "Request", "Role", "Sampling", "Usage"]

Role = Literal["system", "user", "assistant"]
Finish = Literal["stop", "length", "filter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation.

    Raises:
        DefinitionError: the role is none of the three, or the content is no text.
    """

    role: Role
    content: str

    def __post_init__(self) -> None:
        if self.role not in get_args(Role):
            roles = ", ".join(get_args(Role))
            raise DefinitionError(f"Message(role={self.role!r:.60}): one of {roles}")
        _text(self.content, "Message(content=...)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How a model chooses its words; the default is greedy.

    Raises:
        DefinitionError: a number that is none, or out of its range.
    """

    temperature: float = 0.0
    top_p: float | None = None
    max_tokens: int | None = None
    """Of the answer; None leaves it to the model."""
    seed: int | None = None

    def __post_init__(self) -> None:
        # 0, 0.0 and -0.0 are one temperature, and have one digest.
        temperature = _number(self.temperature, "temperature", 0.0) + 0.0
        object.__setattr__(self, "temperature", temperature)
        if self.top_p is not None:
            object.__setattr__(self, "top_p", _number(self.top_p, "top_p", 0.0, 1.0))
        _whole(self.max_tokens, "max_tokens", at_least=1)
        _whole(self.seed, "seed", at_least=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a model is asked: messages, and the form that the answer must have.

    Two requests are equal when their digests are: the order of keys in the schema does not
    matter, and everything else does.

    Raises:
        DefinitionError: no message, something that is no message, a schema that is no JSON
            object, or a stop that is no text.
    """

    messages: tuple[Message, ...] = field(compare=False)
    schema: Mapping[str, Any] | None = field(default=None, compare=False)
    """A JSON schema; the request holds a copy of its own."""
    sampling: Sampling = field(default_factory=Sampling, compare=False)
    stop: tuple[str, ...] = field(default=(), compare=False)
    """Texts at which the model ends its answer."""
    digest: str = field(init=False, repr=False)
    """`sha256:...` over all of the above in canonical form."""
    schema_digest: str | None = field(init=False, repr=False, compare=False)
    """The same over the schema alone."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "messages", _messages(self.messages))
        object.__setattr__(self, "stop", _stops(self.stop))
        if not isinstance(cast("object", self.sampling), Sampling):
            raise DefinitionError(f"Request(sampling={self.sampling!r:.60}): expected a Sampling")
        schema = None if self.schema is None else _schema(self.schema)
        form = None if schema is None else digest(schema)
        object.__setattr__(self, "schema", schema)
        object.__setattr__(self, "schema_digest", form)
        object.__setattr__(self, "digest", digest({**self.as_dict(), "schema": form}))

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as the record holds it."""
        sampling = self.sampling
        named = ("temperature", "top_p", "max_tokens", "seed")
        return {
            "messages": [{"role": m.role, "content": m.content} for m in self.messages],
            "schema": self.schema,
            "sampling": {name: getattr(sampling, name) for name in named},
            "stop": list(self.stop),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens, as the model counts them; zero where it does not say.

    Raises:
        DefinitionError: a number that is none, or below 0: a budget would grow by it.
    """

    input_tokens: int = 0
    output_tokens: int = 0

    def __post_init__(self) -> None:
        for name in ("input_tokens", "output_tokens"):
            value: object = getattr(self, name)
            if type(value) is not int or value < 0:
                raise DefinitionError(
                    f"Usage({name}={_brief(value)}): expected a whole number of at least 0"
                )

    @property
    def total(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What a model answered.

    A client fills in what it knows; `ask` parses the text and checks it against the schema.

    Raises:
        DefinitionError: a text that is none, a cost that is no number of at least 0, or an
            ending that is not known.
    """

    text: str
    value: Any = None
    """The parsed JSON, where a schema was asked and the text fits it."""
    problem: str | None = None
    """Why there is no value, in one sentence; None where no schema was asked."""
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    """The identity of the model that answered."""
    finish: Finish = "stop"
    """`length`: cut off at max_tokens or the context's end; `filter`: withheld by the server."""
    cost: float = 0.0
    """In the currency of the user's price table."""

    def __post_init__(self) -> None:
        _text(self.text, "Completion(text=...)")
        _text(self.model, "Completion(model=...)")
        _number(self.cost, "cost", 0.0, of="Completion")
        if not isinstance(cast("object", self.usage), Usage):
            raise DefinitionError(f"Completion(usage={_brief(self.usage)}): expected a Usage")
        if self.finish not in get_args(Finish):
            ways = ", ".join(get_args(Finish))
            raise DefinitionError(f"Completion(finish={_brief(self.finish)}): one of {ways}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What tokens cost, per million; in the user's own currency, never built in.

    Raises:
        DefinitionError: a price below 0 or that is no number.
    """

    input: float = 0.0
    output: float = 0.0

    def __post_init__(self) -> None:
        for name in ("input", "output"):
            _number(getattr(self, name), name, 0.0, of="Price")

    def of(self, usage: Usage) -> float:
        """The cost of so many tokens."""
        paid = self.input * usage.input_tokens + self.output * usage.output_tokens
        return paid / 1_000_000


def _messages(given: object) -> tuple[Message, ...]:
    messages = _listed(given)
    if not messages:
        raise DefinitionError(f"Request(messages={_brief(given)}): expected one message at least")
    for at, message in enumerate(messages):
        if not isinstance(message, Message):
            raise DefinitionError(f"Request(messages[{at}]={message!r:.60}): expected a Message")
    return messages


def _stops(given: object) -> tuple[str, ...]:
    stops = _listed(given)
    if stops is None or not all(isinstance(stop, str) and stop for stop in stops):
        raise DefinitionError(f"Request(stop={_brief(given)}): expected texts that are not empty")
    return stops


def _listed(given: object) -> tuple[Any, ...] | None:
    """The items of a collection; None where it is none."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        return None
    return tuple(cast("Iterable[Any]", given))


def _brief(value: object) -> str:
    """A value in an error; whole numbers can be too long to be written at all."""
    try:
        return f"{value!r:.60}"
    except ValueError:
        return "..."


def _schema(given: object) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise DefinitionError(f"Request(schema={given!r:.60}): expected a JSON object")
    try:
        return _plain(cast("object", given), "#")
    except RecursionError:
        raise DefinitionError("Request(schema=...): nested too deeply") from None


def _plain(value: object, where: str) -> Any:
    """A copy of JSON data, which nobody else can change."""
    match value:
        case None | bool() | int() | str():
            return value
        case float() if math.isfinite(value):
            return value
        case Mapping():
            items = cast("Mapping[object, object]", value).items()
            return {_key(name, where): _plain(item, f"{where}/{name}") for name, item in items}
        case list() | tuple():
            listed = cast("Iterable[object]", value)
            return [_plain(item, f"{where}/{at}") for at, item in enumerate(listed)]
        case _:
            raise DefinitionError(f"Request(schema=...) at {where}: {value!r:.60} is no JSON value")


def _key(name: object, where: str) -> str:
    if isinstance(name, str):
        return name
    raise DefinitionError(f"Request(schema=...) at {where}: the key {name!r:.60} is no text")


def _text(value: object, what: str) -> None:
    if not isinstance(value, str):
        raise DefinitionError(f"{what}: expected a text, not {type(value).__name__}")


def _number(
    value: object, name: str, low: float, high: float = math.inf, of: str = "Sampling"
) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        with suppress(OverflowError):  # a whole number that no float can hold
            number = float(value)
            if math.isfinite(number) and low <= number <= high:
                return number
    limits = f"of at least {low:g}" if high == math.inf else f"from {low:g} to {high:g}"
    raise DefinitionError(f"{of}({name}={_brief(value)}): expected a number {limits}")


def _whole(value: object, name: str, *, at_least: int) -> None:
    if value is None or (type(value) is int and value >= at_least):
        return
    raise DefinitionError(
        f"Sampling({name}={_brief(value)}): expected a whole number of at least {at_least}, or None"
    )
