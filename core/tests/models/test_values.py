"""Requests and what goes into them: refused when ill-formed, immutable, told apart by digests."""

import math
import pickle
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook.errors import DefinitionError
from hornbook.models import Completion, Message, Price, Request, Sampling, Usage

texts = st.text(max_size=12)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
schemas = st.none() | st.dictionaries(texts, json_values, max_size=4)
messages = st.builds(
    lambda role, content: Message(role=role, content=content),
    st.sampled_from(["system", "user", "assistant"]),
    texts,
)
samplings = st.builds(
    lambda temperature, top_p, most, seed: Sampling(
        temperature=temperature, top_p=top_p, max_tokens=most, seed=seed
    ),
    st.floats(0, 2),
    st.none() | st.floats(0, 1),
    st.none() | st.integers(1, 99),
    st.none() | st.integers(0, 99),
)
requests = st.builds(
    lambda said, schema, sampling, stop: Request(
        messages=tuple(said), schema=schema, sampling=sampling, stop=tuple(stop)
    ),
    st.lists(messages, min_size=1, max_size=3),
    schemas,
    samplings,
    st.lists(st.text(min_size=1, max_size=3), max_size=2),
)


def reversed_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: reversed_keys(item) for key, item in reversed(value.items())}
    return [reversed_keys(item) for item in value] if isinstance(value, list) else value


@pytest.mark.requirement("models:digest:key-order")
@given(requests)
def test_the_order_of_keys_does_not_change_the_digest(request: Request) -> None:
    other = replace(request, schema=reversed_keys(request.schema))
    assert other.digest == request.digest
    assert other == request
    assert hash(other) == hash(request)
    assert pickle.loads(pickle.dumps(request)) == request


@pytest.mark.requirement("models:digest:changes")
@given(requests, messages, st.integers(100, 200))
def test_any_change_changes_the_digest(request: Request, message: Message, number: int) -> None:
    first, *rest = request.messages
    changes: list[Request] = [
        replace(request, messages=(*request.messages, message)),
        replace(request, messages=(replace(first, content=first.content + "x"), *rest)),
        replace(request, messages=(replace(first, role=_other(first.role)), *rest)),
        replace(request, schema={**(request.schema or {}), "$comment": {"more": number}}),
        replace(request, stop=(*request.stop, "more")),
        *(
            replace(request, sampling=replace(request.sampling, **{name: changed}))
            for name, changed in (
                ("temperature", request.sampling.temperature + 1),
                ("top_p", 0.25 if request.sampling.top_p == 0.5 else 0.5),
                ("max_tokens", number),
                ("seed", number),
            )
        ),
    ]
    digests = {one.digest for one in changes}
    assert len(digests) == len(changes)
    assert request.digest not in digests


@pytest.mark.requirement("models:digest:pinned")
def test_digests_stay_the_same_from_version_to_version() -> None:
    message = Message(role="user", content="Hello")
    assert Sampling(temperature=0) == Sampling()
    assert Request(messages=(message,)).digest == (
        "sha256:c9694bc7c72741dd833107840f1505d2eaa82783f04a8879fd581303bf1cf856"
    )


@pytest.mark.requirement("models:request:immutable")
def test_what_is_asked_cannot_change() -> None:
    schema = {"type": "object", "properties": {"x": {"enum": ["a"]}}}
    said = [Message(role="user", content="Hello")]
    request = Request(messages=said, schema=schema)  # type: ignore[arg-type]
    digest = request.digest
    said.clear()
    schema["properties"]["x"]["enum"].append("b")  # type: ignore[index]
    assert request.schema == {"type": "object", "properties": {"x": {"enum": ["a"]}}}
    assert len(request.messages) == 1
    assert replace(request, stop=()).digest == digest
    for value, name in ((request, "stop"), (request.messages[0], "content"), (Usage(), "model")):
        with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
            setattr(value, name, 1)


def _deep() -> Any:
    schema: dict[str, Any] = {}
    for _ in range(100_000):
        schema = {"not": schema}
    return schema


HELLO = Message(role="user", content="Hello")


@pytest.mark.requirement("models:request:refused")
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Message(role="tool", content=""),  # type: ignore[arg-type]
            "Message(role='tool'): one of system, user, assistant",
        ),
        (
            lambda: Message(role="user", content=3),  # type: ignore[arg-type]
            "Message(content=...): expected a text, not int",
        ),
        (lambda: Request(messages=()), "Request(messages=()): expected one message at least"),
        (
            lambda: Request(messages="Hello"),  # type: ignore[arg-type]
            "Request(messages='Hello'): expected one message at least",
        ),
        (
            lambda: Request(messages=("Hello",)),  # type: ignore[arg-type]
            "Request(messages[0]='Hello'): expected a Message",
        ),
        (
            lambda: Request(messages=(HELLO,), schema=[]),  # type: ignore[arg-type]
            "Request(schema=[]): expected a JSON object",
        ),
        (
            lambda: Request(messages=(HELLO,), schema={"enum": [1, {2}]}),
            "Request(schema=...) at #/enum/1: {2} is no JSON value",
        ),
        (
            lambda: Request(messages=(HELLO,), schema={"a": {1: 2}}),
            "Request(schema=...) at #/a: the key 1 is no text",
        ),
        (
            lambda: Request(messages=(HELLO,), schema={"a": float("nan")}),
            "Request(schema=...) at #/a: nan is no JSON value",
        ),
        (
            lambda: Request(messages=(HELLO,), schema=_deep()),
            "Request(schema=...): nested too deeply",
        ),
        (
            lambda: Request(messages=(HELLO,), stop="END"),  # type: ignore[arg-type]
            "Request(stop='END'): expected texts that are not empty",
        ),
        (
            lambda: Request(messages=(HELLO,), stop=("",)),
            "Request(stop=('',)): expected texts that are not empty",
        ),
        (
            lambda: Request(messages=(HELLO,), sampling=0),  # type: ignore[arg-type]
            "Request(sampling=0): expected a Sampling",
        ),
        (
            lambda: Sampling(temperature=-1),
            "Sampling(temperature=-1): expected a number of at least 0",
        ),
        (
            lambda: Sampling(temperature=True),
            "Sampling(temperature=True): expected a number of at least 0",
        ),
        (lambda: Sampling(top_p=2), "Sampling(top_p=2): expected a number from 0 to 1"),
        (
            lambda: Sampling(max_tokens=0),
            "Sampling(max_tokens=0): expected a whole number of at least 1, or None",
        ),
        (
            lambda: Sampling(seed=1.5),  # type: ignore[arg-type]
            "Sampling(seed=1.5): expected a whole number of at least 0, or None",
        ),
        (lambda: Price(input=-1), "Price(input=-1): expected a number of at least 0"),
    ],
)
def test_what_cannot_be_asked_is_refused(make: Any, message: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        make()
    assert str(caught.value) == message


@pytest.mark.requirement("models:price:per-million")
def test_prices_are_per_million_tokens() -> None:
    usage = Usage(input_tokens=500_000, output_tokens=250_000)
    assert Price(input=2, output=8).of(usage) == 3.0
    assert Price().of(usage) == 0.0
    assert Completion(text="").cost == 0.0


def _other(role: str) -> Any:
    return "user" if role == "system" else "system"


@pytest.mark.requirement("models:completion:refused")
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Usage(input_tokens=-50),
            "Usage(input_tokens=-50): expected a whole number of at least 0",
        ),
        (
            lambda: Usage(output_tokens=True),
            "Usage(output_tokens=True): expected a whole number of at least 0",
        ),
        (
            lambda: Completion(text="x", cost=math.nan),
            "Completion(cost=nan): expected a number of at least 0",
        ),
        (
            lambda: Completion(text="x", cost=-5.0),
            "Completion(cost=-5.0): expected a number of at least 0",
        ),
        (lambda: Completion(text=5), "Completion(text=...): expected a text, not int"),
        (lambda: Completion(text="x", usage=7), "Completion(usage=7): expected a Usage"),
        (
            lambda: Completion(text="x", finish="end"),
            "Completion(finish='end'): one of stop, length, filter",
        ),
    ],
)
def test_an_answer_that_a_budget_cannot_count_is_refused(make, message) -> None:
    with pytest.raises(DefinitionError) as caught:
        make()
    assert str(caught.value) == message


@pytest.mark.requirement("models:request:refused")
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Sampling(temperature=10**400), "Sampling(temperature=1000"),
        (lambda: Sampling(temperature=10**5000), "Sampling(temperature=...): expected a number"),
        (lambda: Sampling(seed=-(10**5000)), "Sampling(seed=...): expected a whole number"),
        (lambda: Price(input=10**400), "Price(input=1000"),
        (lambda: Request(messages=None), "Request(messages=None): expected one message at least"),
        (lambda: Request(messages=5), "Request(messages=5): expected one message at least"),
        (
            lambda: Request(messages=[Message(role="user", content="a")], stop=None),
            "Request(stop=None): expected texts that are not empty",
        ),
    ],
)
def test_values_of_any_kind_are_refused_clearly(make, message) -> None:
    with pytest.raises(DefinitionError) as caught:
        make()
    assert str(caught.value).startswith(message)


@pytest.mark.requirement("models:digest:key-order")
def test_zero_is_zero() -> None:
    assert repr(Sampling(temperature=-0.0)) == repr(Sampling(temperature=0)) == repr(Sampling())
