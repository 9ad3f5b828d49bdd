"""What is made of an answer: a value that fits the schema, or one sentence why there is none."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook.errors import DefinitionError
from hornbook.models import Completion, Message, Request, ScriptedModel, ask
from hornbook.models.reading import compiled, read

SCHEMA = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "items": {"type": "array", "items": {"minimum": 3}}},
    "required": ["x"],
}


def form(schema: Any) -> Any:
    message = Message(role="user", content="Hello")
    return compiled(Request(messages=(message,), schema=schema))


def problem(text: str, schema: Any = SCHEMA, **more: Any) -> str | None:
    made = read(Completion(text=text, **more), form(schema))
    assert (made.problem is None) == (made.value is not None)
    return made.problem


@pytest.mark.requirement("models:schema:value")
@pytest.mark.parametrize(
    "text", ['{"x": 1}', ' \n{"x": 1}\n', '```json\n{"x": 1}\n```', '```\n{"x": 1}\n\n```  ']
)
def test_a_text_that_fits_has_a_value(text: str) -> None:
    made = read(Completion(text=text), form(SCHEMA))
    assert (made.value, made.problem, made.text) == ({"x": 1}, None, text)


@pytest.mark.requirement("models:schema:none")
def test_without_a_schema_nothing_is_parsed() -> None:
    made = Completion(text='{"x": 1}')
    assert read(made, None) is made


@pytest.mark.requirement("models:schema:problem")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "Sure, here you are!",
            "not JSON: Expecting value: line 1 column 1 (char 0); the answer is "
            "'Sure, here you are!'",
        ),
        (
            '{"x": 1',
            "not JSON: Expecting ',' delimiter: line 1 column 8 (char 7); the answer is "
            "'{\"x\": 1'",
        ),
        ("", "not JSON: the answer is empty"),
        ('{"x": NaN}', "not JSON: NaN at x is no JSON number; the answer is '{\"x\": NaN}'"),
        (
            '{"x": 1, "x": 2}',
            "not JSON: duplicate key 'x' at .; the answer is '{\"x\": 1, \"x\": 2}'",
        ),
        ('{"x": "1"}', "does not fit the schema at x: expected integer, not '1'"),
        ("[]", "does not fit the schema at .: expected object, not []"),
        (
            '{"x": 1, "items": [5, 1, 2]}',
            "does not fit the schema at items[1]: expected a number of at least 3, not 1 "
            "(and 1 more)",
        ),
    ],
)
def test_the_first_problem_is_told(text: str, message: str) -> None:
    assert problem(text) == message


@pytest.mark.requirement("models:schema:cut-off")
def test_a_text_that_was_cut_off_is_told_as_such() -> None:
    assert problem('{"x": 1, "it', finish="length") == (
        "cut off at max_tokens, before the JSON was complete"
    )
    assert problem('{"x": 1}', finish="length") is None


@pytest.mark.requirement("models:schema:huge")
def test_ten_megabytes_make_a_short_problem() -> None:
    huge = "a" * 10_000_000
    for text in (huge, json.dumps({"x": huge}), json.dumps(huge), f"```json\n{huge}"):
        told = problem(text)
        assert told is not None
        assert len(told) < 500
    assert read(Completion(text=json.dumps({"x": 1, "y": huge})), form(SCHEMA)).value["x"] == 1


@pytest.mark.requirement("models:schema:deep")
@pytest.mark.parametrize("text", ["[" * 200_000, "[" * 5_000 + "]" * 5_000, '{"a":' * 100_000])
def test_deep_nesting_is_a_problem_and_no_crash(text: str) -> None:
    told = problem(text, {})
    assert told is not None
    assert told.startswith("not JSON: nested deeper than 128 levels")
    assert len(told) < 400


@pytest.mark.requirement("models:schema:redacted")
def test_problems_do_not_tell_secrets() -> None:
    told = problem('{"x": "password=hunter2-and-more"}')
    assert told is not None
    assert "hunter2" not in told


@pytest.mark.requirement("models:schema:anything")
@given(st.text(max_size=40) | st.sampled_from('{}[]"\\,:').map(lambda c: c * 30))
def test_no_text_raises(text: str) -> None:
    read(Completion(text=text), form(SCHEMA))


@pytest.mark.requirement("models:schema:ill-formed")
def test_an_ill_formed_schema_is_refused_before_anything_is_sent(said) -> None:
    model = ScriptedModel(["{}"])
    with pytest.raises(DefinitionError) as caught:
        ask(model, said(schema={"type": "integr"}))
    assert str(caught.value).startswith("at #/type: ")
    assert model.calls == 0


@pytest.mark.requirement("models:schema:compiled-once")
def test_a_schema_is_compiled_once_and_not_kept_for_ever() -> None:
    first = form({"minimum": 0})
    assert form({"minimum": 0}) is first
    for number in range(1, 300):
        form({"minimum": number})
    assert form({"minimum": 0}) is not first


@pytest.mark.requirement("models:schema:remote")
def test_a_reference_to_another_document_is_refused(said) -> None:
    model = ScriptedModel(["{}"])
    schema = {"type": "object", "properties": {"a": {"$ref": "http://host.example/a.json"}}}
    with pytest.raises(DefinitionError) as caught:
        ask(model, said(schema=schema))
    assert str(caught.value) == (
        "at #/properties/a/$ref: a reference out of the schema, which is never fetched: put what "
        "it names under $defs"
    )
    assert model.calls == 0
