"""Neural primitives: what the model is asked, and what is made of whatever it answers."""

import json
import re
from typing import Any, Literal, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from hornbook import Contract, ContractViolation, Recover, clauses
from hornbook.errors import DefinitionError
from hornbook.models import Message, Sampling, ScriptedModel, TransportError
from hornbook.program import Fallback, Parallel, Sequence, constant, neural
from hornbook.program.template import Template

from .parts import Found, Query, Span, Wish, ask_politely, count, words


class Pair(NamedTuple):
    left: str
    right: str = "r"


class Made(BaseModel):
    text: str
    tags: list[str] = Field(default_factory=lambda: ["x"])


def answering(*answers: Any, **settings: Any) -> ScriptedModel:
    return ScriptedModel(list(answers), **settings)


def refused(message: str) -> Any:
    return pytest.raises(DefinitionError, match=f"^{re.escape(message)}$")


@pytest.mark.requirement("program:neural:asked")
def test_the_model_is_asked_with_the_inputs_and_the_schema():
    model = answering('{"names": ["Ann"]}')
    find = neural(
        "find", model, prompt="Names in: {text} ({limit})", input=Query, output=Found,
        sampling=Sampling(max_tokens=9), stop=["END"],
    )  # fmt: skip
    assert find.run(Query(text="Ann sat.")) == Found(names=["Ann"])
    (request,) = model.requests
    assert request.messages == (Message(role="user", content="Names in: Ann sat. (3)"),)
    assert request.schema == Found.model_json_schema()
    assert (request.sampling, request.stop) == (Sampling(max_tokens=9), ("END",))
    assert find.input is Query
    assert (find.neural, find.model, find.requires_accuracy) == (True, model, None)


@pytest.mark.requirement("program:neural:inputs")
@pytest.mark.parametrize(
    ("asked", "prompt", "value", "sent"),
    [
        (str, "{input}", "a", "a"),
        (int, "{input}", 3, "3"),
        (list[str], "{input}", ["a", "b"], '["a","b"]'),
        (set[str], "{input}", {"b", "a"}, '["a","b"]'),
        (Query, "{text}{limit}", Query(text="q"), "q3"),
        (Wish, "{text}{note}", {"text": "w"}, "wnull"),
        (Wish, "{text}{note}", {"text": "w", "note": "n"}, "wn"),
        (Span, "{start}-{end}", Span(1), "1-9"),
        (Pair, "{left}{right}", Pair("l"), "lr"),
        (Made, "{text}{tags}", Made(text="m"), 'm["x"]'),
        ({"a": str, "b": int}, "{a}{b}", {"a": "x", "b": 1}, "x1"),
        ({"a": Query}, "{a}", Query(text="q"), '{"text":"q","limit":3}'),
        ({"a": float}, "{a}", float("inf"), "Infinity"),
        (dict[str, set[int]], "{input}", {"k": {2, 1}}, '{"k":[1,2]}'),
    ],
    ids=str,
)
def test_inputs_are_the_fields_of_a_record_or_one_value(
    asked: Any, prompt: str, value: Any, sent: str
):
    model = answering("ok", "ok")
    step = neural("n", model, prompt=prompt, input=asked, output=str)
    assert step.run(value) == "ok"
    assert model.requests[0].messages[0].content == sent
    step(value)
    assert model.requests[1].messages[0].content == sent


@pytest.mark.requirement("program:neural:inputs", "program:binding:ports")
def test_inputs_are_taken_from_ports_and_bound():
    model = answering("one", "two", "three")
    step = neural("n", model, prompt="{text}/{limit}", input=Query, output=str)
    assert Sequence(Parallel(text=constant("t"), limit=count), step).run("four") == "one"
    assert step.bind(limit=7).run("u") == "two"
    assert Sequence(constant(None), step.bind(text="v")).run(0) == "three"
    sent = [request.messages[0].content for request in model.requests]
    assert sent == ["t/4", "u/7", "v/3"]


@pytest.mark.requirement("program:neural:inputs")
def test_a_value_of_no_known_type_is_taken_apart_as_it_comes():
    def anything(text: str) -> Any:
        return {"text": text}

    step = neural("n", answering("a"), prompt="{text}{note}", input=Wish, output=str)
    assert Sequence(anything, step).run("x") == "a"


@pytest.mark.requirement("program:neural:calls")
async def test_it_is_called_by_position_name_or_record():
    model = ScriptedModel(lambda request: request.messages[0].content)
    step = neural("n", model, prompt="{text}/{limit}", input=Query, output=str)
    assert step("a", 1) == "a/1"
    assert step(text="a") == "a/3"
    assert step(Query(text="b")) == "b/3"
    assert await step.acall(Query(text="c", limit=1)) == "c/1"
    wish = neural("w", model, prompt="{text}{note}", input=Wish, output=str)
    assert wish({"text": "a"}) == "anull"
    assert step.__doc__ is None


@pytest.mark.requirement("program:neural:template")
@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        ("{nmae}", "neural 'n': {nmae} in its prompt is no input; its inputs are text (a brace "
         "that is meant is written twice)"),
        ("{text.real}", "neural 'n': {text.real} in its prompt is no input; its inputs are text "
         "(a brace that is meant is written twice)"),
        ("{}", "neural 'n': {} in its prompt is no input; its inputs are text (a brace that is "
         "meant is written twice)"),
        ("Hello", "neural 'n': its prompt never mentions the input 'text', so that the model "
         "would not see it: write {text}, or give a function as the prompt"),
        ("{text", "neural 'n': a brace '{' stands alone in its prompt, at character 0; a brace "
         "that is meant is written twice"),
        ("{text} }", "neural 'n': a brace '}' stands alone in its prompt, at character 7; a brace "
         "that is meant is written twice"),
    ],
    ids=str,
)  # fmt: skip
def test_a_template_that_cannot_work_is_refused(prompt: str, message: str):
    with refused(message):
        neural("n", answering(), prompt=prompt, input={"text": str}, output=str)


@pytest.mark.requirement("program:neural:template", "program:neural:data")
@given(st.text("{}ab$", max_size=8), st.text("{}ab$", max_size=8))
def test_values_are_data_and_never_expanded_again(a: str, b: str):
    template = Template("{{{a}}}|{b}|{a}", names=("a", "b"), step="n")
    assert template.fill({"a": a, "b": b}) == f"{{{a}}}|{b}|{a}"


@pytest.mark.requirement("program:neural:prompt-function")
def test_a_function_of_the_inputs_may_give_messages_or_a_text():
    model = answering("a", "b", "c")
    polite = neural("n", model, prompt=ask_politely, input=Query, output=str)
    polite.run(Query(text="x"))
    assert [m.content for m in model.requests[0].messages] == ["Be brief.", "Please: x"]
    neural("n", model, prompt=lambda inputs: str(inputs), output=str).run("x")
    assert model.requests[1].messages[0].content == "{'input': 'x'}"
    with pytest.raises(DefinitionError, match="its prompt function gave dict, not a text or a"):
        neural("n", model, prompt=lambda inputs: inputs, output=str).run("x")  # type: ignore[arg-type,return-value]
    with pytest.raises(DefinitionError, match="its prompt function gave list, not a text or a"):
        neural("n", model, prompt=lambda inputs: [], output=str).run("x")


@pytest.mark.requirement("program:neural:bad-answers")
@pytest.mark.parametrize(
    ("answer", "observed"),
    [
        ("I would say Ann.", "not JSON: Expecting value: line 1 column 1 (char 0); the answer is "
         "'I would say Ann.'"),
        ('{"names": ["An', "not JSON: "),
        ("", "not JSON: "),
        ('{"names": "Ann"}', "does not fit the schema"),
        ('{"nmaes": []}', "does not fit the schema"),
        ("x" * 10_000_000, "not JSON: "),
        ("[" * 100_000, "not JSON: "),
    ],
    ids=range(7),
)  # fmt: skip
def test_an_answer_that_cannot_be_read_is_a_violation_with_a_cut_report(answer: str, observed: str):
    find = neural("find", answering(answer), prompt="{input}", output=Found)
    with pytest.raises(ContractViolation) as caught:
        find.run("Ann")
    report = caught.value.report
    assert report.violations[0].clause == "output"
    assert report.violations[0].observed.startswith(observed)
    assert len(str(report)) < 1_000
    assert len(report.to_json()) < 5_000


@pytest.mark.requirement("program:neural:bad-answers")
def test_even_where_any_type_will_do_an_answer_has_to_be_json():
    step = neural("n", answering("prose", "[1]"), prompt="{input}", output=Any)
    with pytest.raises(ContractViolation, match="the answer can be read: expected JSON as the"):
        step.run("a")
    assert step.run("b") == [1]


class Even(BaseModel):
    number: int

    def model_post_init(self, context: Any) -> None:
        if self.number % 2:
            raise ValueError("it is odd")
        if self.number > 99:
            raise RuntimeError("too large")


@pytest.mark.requirement("program:neural:bad-answers")
def test_what_the_types_own_validators_say_is_a_violation_too():
    step = neural("n", answering('{"number": 3}', '{"number": 100}'), prompt="{input}", output=Even)
    for said in ("ValueError: it is odd", "RuntimeError: too large"):
        with pytest.raises(ContractViolation) as caught:
            step.run(said)
        assert said.partition(": ")[2] in str(caught.value)


@pytest.mark.requirement("program:neural:bad-answers")
@given(st.text(max_size=20))
def test_no_text_makes_the_reading_raise_anything_else(text: str):
    step = neural("n", answering(text), prompt="{input}", output=list[int] | None)
    try:
        value = step.run("a")
    except ContractViolation:
        return
    assert value == json.loads(text)


@pytest.mark.requirement("program:neural:outputs")
@pytest.mark.parametrize(
    ("output", "answer", "value"),
    [
        (int, "3", 3),
        (float, "3", 3.0),
        (bool, "true", True),
        (list[str], '["a"]', ["a"]),
        (Literal["a", "b"], '"a"', "a"),
        (int | None, "null", None),
        (tuple[int, int], "[1, 2]", (1, 2)),
        (Found, '{"names": []}', Found(names=[])),
        (Wish, '{"text": "t"}', {"text": "t"}),
        (Span, '{"start": 1}', Span(1)),
        (str, '"as it is"', '"as it is"'),
    ],
    ids=str,
)
def test_answers_are_read_as_the_output_type(output: Any, answer: str, value: Any):
    model = answering(answer)
    assert neural("n", model, prompt="{input}", output=output).run("x") == value
    assert (model.requests[0].schema is None) is (output is str)


@pytest.mark.requirement("program:neural:feedback")
def test_a_retry_is_told_what_was_wrong_in_constant_size():
    model = answering("prose " * 1_000, '{"names": ["Bob"]}', '{"names": ["Ann"]}')
    named = Contract("grounded", ensures=[clauses.grounded("names", source="text")])
    find = neural(
        "find", model, prompt="{text}", input={"text": str}, output=Found, contract=named,
        recover=Recover(retry=2),
    )  # fmt: skip
    assert find.run("Ann sat.") == Found(names=["Ann"])
    first, second, third = (request.messages for request in model.requests)
    assert len(first) == 1
    assert len(second) == len(third) == 2
    assert second[1].content.startswith("The previous answer was rejected. output: expected ")
    assert "; got not JSON: " in second[1].content
    assert len(second[1].content) <= 400
    assert third[1].content == (
        "The previous answer was rejected. grounded names at names: expected a value that stands "
        "in 'text'; got ['Bob']"
    )


@pytest.mark.requirement("program:neural:contract")
def test_its_contract_gets_the_output_type_and_keeps_its_own_clauses():
    named = Contract("grounded", version="4", ensures=[clauses.grounded("names", source="text")])
    find = neural(
        "find", answering(), prompt="{text}", input={"text": str}, output=Found, contract=named
    )
    assert (find.contract.name, find.contract.version, find.contract.output) == (
        "grounded",
        "4",
        Found,
    )
    assert [one.name for one in find.contract.ensures] == [
        "the answer can be read",
        "grounded names",
    ]
    assert find.given_contract is named
    with refused(
        "contract 'grounded', clause 'grounded names': 'text' is no parameter of 'find'; its "
        "parameters are input"
    ):
        neural("find", answering(), prompt="{input}", output=Found, contract=named)


@pytest.mark.requirement("program:neural:failures")
def test_a_transport_error_may_be_recovered_from_or_fall_back():
    def error() -> TransportError:
        return TransportError("dropped", retryable=False)

    step = neural(
        "n", answering(error(), '"a"'), prompt="{input}", output=str,
        recover=Recover(retry=1, on=[TransportError]),
    )  # fmt: skip
    assert step.run("x") == '"a"'
    with pytest.raises(TransportError):
        neural("n", answering(error()), prompt="{input}", output=str).run("x")
    other = neural("n", answering(error()), prompt="{input}", output=list[str])
    assert Fallback(other, words).run("a b") == ["a", "b"]


@pytest.mark.requirement("program:neural:settings")
def test_what_cannot_be_asked_is_refused():
    model = answering()
    with refused("neural 'n': 3 is no model: it has no 'identity'"):
        neural("n", 3, prompt="{input}", output=str)  # type: ignore[arg-type]
    with refused(
        "neural 'n': 'gpt-4o' is the name of a model: give the model itself, such as "
        "OpenAIModel('gpt-4o')"
    ):
        neural("n", "gpt-4o", prompt="{input}", output=str)  # type: ignore[arg-type]
    with refused(
        "neural 'n': ScriptedModel is a class: give a model that is made of it, ScriptedModel(...)"
    ):
        neural("n", ScriptedModel, prompt="{input}", output=str)  # type: ignore[arg-type]
    with refused("neural(' '): its name is a text that is not empty"):
        neural(" ", model, prompt="{input}", output=str)
    with refused("neural 'n': its prompt is a text or a function: 3"):
        neural("n", model, prompt=3, output=str)  # type: ignore[call-overload]
    with refused("neural 'n': input={'a b': <class 'str'>} maps names to types"):
        neural("n", model, prompt="", input={"a b": str}, output=str)
    with pytest.raises(DefinitionError, match="its output type has no JSON schema"):
        neural("n", model, prompt="{input}", output=object.__new__)
    with refused(
        "primitive 'n' takes (input) and its fallback 'words' takes (text): a fallback is called "
        "with the same arguments"
    ):
        neural("n", model, prompt="{input}", output=str, recover=Recover(fallback=[words]))
