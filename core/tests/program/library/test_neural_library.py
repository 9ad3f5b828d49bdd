"""The neural primitives: what their contracts guarantee, whatever a model says."""

from typing import Any

import pytest

from hornbook import ContractViolation, Recover
from hornbook import program as p
from hornbook.contracts.judge import Judgement, Question
from hornbook.errors import DefinitionError
from hornbook.models import Request, ScriptedModel
from hornbook.program.library import (
    Decomposition,
    Entailment,
    Entities,
    Entity,
    Relation,
    classify_relation,
    decompose,
    entails,
    extract_entities,
)
from hornbook.program.library.marks import marks_of, unmentioned

TEXT = "Ada Lovelace met Babbage in London."


def violated(caught: pytest.ExceptionInfo[ContractViolation]) -> list[str]:
    return [one.clause for one in caught.value.report.violations]


@pytest.mark.requirement("library:extract-entities:grounded")
def test_entities_stand_in_the_text():
    answers = [
        {"entities": [{"kind": "person", "text": "Charles Babbage"}]},
        {"entities": [{"kind": "person", "text": "Babbage"}, {"kind": "place", "text": "London"}]},
    ]
    names = extract_entities(ScriptedModel(answers), recover=Recover(retry=1))
    assert names.run(TEXT) == Entities(
        entities=(Entity(kind="person", text="Babbage"), Entity(kind="place", text="London"))
    )
    with pytest.raises(ContractViolation) as caught:
        extract_entities(ScriptedModel(answers[:1])).run(TEXT)
    assert violated(caught) == ["entities stand in the text"]


@pytest.mark.requirement("library:extract-entities:grounded")
def test_a_text_that_names_nothing_has_no_entities_and_none_stands_there_twice():
    assert extract_entities(ScriptedModel([{"entities": []}])).run("it rained").entities == ()
    twice = {"entities": [{"kind": "place", "text": "London"}] * 2}
    with pytest.raises(ContractViolation) as caught:
        extract_entities(ScriptedModel([twice])).run(TEXT)
    assert violated(caught) == ["no entity occurs twice"]


@pytest.mark.requirement("library:extract-entities:kinds")
def test_kinds_are_closed_and_the_model_is_told_of_them():
    asked: list[Request] = []

    def answer(request: Request) -> Any:
        asked.append(request)
        return {"entities": [{"kind": "ship", "text": "London"}]}

    names = extract_entities(ScriptedModel(answer), kinds=("person", "{city}"))
    with pytest.raises(ContractViolation) as caught:
        names.run("To London {text}")
    assert violated(caught)[0] == "output"
    (request,) = asked
    assert '"person" or "{city}"' in request.messages[0].content
    assert "<text>\nTo London {text}\n</text>" in request.messages[0].content
    assert "'enum': ['person', '{city}']" in str(request.schema)


@pytest.mark.requirement("library:neural:closed")
@pytest.mark.parametrize("kinds", [(), "person", ("a", "a"), ("a", " ")])
def test_kinds_and_labels_are_a_few_distinct_texts(kinds: Any):
    with pytest.raises(DefinitionError) as caught:
        extract_entities(ScriptedModel([]), kinds=kinds)
    assert str(caught.value) == (
        f"extract_entities(kinds={kinds!r}): they are distinct texts, not empty"
    )
    with pytest.raises(DefinitionError, match=r"^classify_relation"):
        classify_relation(ScriptedModel([]), labels=kinds)


@pytest.mark.requirement("library:classify-relation:closed")
def test_a_relation_has_one_of_the_labels():
    answers = [{"label": "married"}, {"label": "met"}]
    relation = classify_relation(ScriptedModel(answers), labels=("met", "none"))
    given = {"text": TEXT, "head": "Ada Lovelace", "tail": "Babbage"}
    with pytest.raises(ContractViolation):
        relation.run(given)
    assert relation.run(given) == Relation(label="met")


@pytest.mark.requirement("library:entails:three-valued")
def test_entailment_is_entailed_contradicted_or_unknown():
    for verdict in ("entailed", "contradicted", "unknown"):
        judged = entails(ScriptedModel([{"verdict": verdict}]))
        assert judged(premise=TEXT, hypothesis="They met.") == Entailment(verdict=verdict)
    with pytest.raises(ContractViolation):
        entails(ScriptedModel([{"verdict": "true"}]))(premise=TEXT, hypothesis="They met.")


QUERY = 'Move order A-17 to 5 May, then tell Ada "it is late" and ask IBM for the 2nd price.'


@pytest.mark.requirement("library:decompose:covers")
def test_parts_name_all_that_the_query_names():
    parts = ["Move order A-17 to 5 May", 'Tell Ada "it is late"', "Ask IBM for the 2nd price"]
    divided = decompose(ScriptedModel([{"parts": parts}]))
    assert divided.run(QUERY) == Decomposition(parts=tuple(parts))
    with pytest.raises(ContractViolation) as caught:
        decompose(ScriptedModel([{"parts": parts[:2]}])).run(QUERY)
    assert violated(caught) == ["names, numbers and quotes of the query stand in the parts"]


@pytest.mark.requirement("library:decompose:covers")
@pytest.mark.parametrize("parts", [[], ["  "], ["A", "A"]])
def test_there_are_parts_none_is_blank_and_none_stands_there_twice(parts: list[str]):
    with pytest.raises(ContractViolation):
        decompose(ScriptedModel([{"parts": parts}])).run("do a and b")


@pytest.mark.requirement("library:decompose:marks")
@pytest.mark.parametrize(
    ("text", "marks"),
    [
        (QUERY, ("it is late", "A-17", "5", "May", "Ada", "IBM", "2nd")),
        ("Please call. Then I wait.", ()),
        ("NASA pays. McKay pays 3,50 EUR.", ("NASA", "McKay", "3,50", "EUR")),
        ("rename it to 'old one' (don't ask)", ("old one",)),
        ("- Ada: first\n- Bob", ()),
    ],
)
def test_the_marks_of_a_text_are_its_names_numbers_and_quotes(text: str, marks: tuple[str, ...]):
    assert marks_of(text) == marks
    assert unmentioned(text, [text]) == ()
    assert unmentioned(text, ["nothing of it"]) == marks


class Half:
    """A judge that gives everything one half."""

    identity = "half"
    max_calls = 0

    def judge(self, questions: Any) -> list[Judgement]:
        assert all(isinstance(one, Question) for one in questions)
        return [Judgement(score=0.5) for _ in questions]


@pytest.mark.requirement("library:decompose:judged")
def test_with_a_judge_it_is_measured_that_the_parts_cover_the_query():
    model = ScriptedModel([{"parts": ["all of it"]}, {"parts": ["all of it"]}])
    assert decompose(model, Half()).run(QUERY).parts == ("all of it",)
    divided = decompose(model, Half(), threshold=0.6)
    (measured,) = [one for one in divided.contract.ensures if one.assurance == "measured"]
    assert measured.name == "the parts cover the query"
    with pytest.raises(ContractViolation) as caught:
        divided.run(QUERY)
    assert violated(caught) == ["the parts cover the query"]


@pytest.mark.requirement("library:neural:settings")
def test_name_version_and_prompt_are_ones_own():
    asked: list[Request] = []

    def answer(request: Request) -> Any:
        asked.append(request)
        return {"verdict": "unknown"}

    judged = entails(
        ScriptedModel(answer), name="nli", version="2", prompt="{premise}? {hypothesis}!"
    )
    assert (judged.name, judged.version) == ("nli", "2")
    judged(premise="a", hypothesis="b")
    assert asked[0].messages[0].content == "a? b!"


@pytest.mark.requirement("library:neural:composed")
def test_library_primitives_compose_by_their_types():
    model = ScriptedModel([{"entities": [{"kind": "place", "text": "London"}]}], identity="small")
    program = p.Sequence(extract_entities(model), places, p.Parallel(first=first, all=several))
    assert program.run(TEXT) == {"first": "London", "all": 1}
    assert dict(program.max_calls()) == {"small": 1}


@pytest.mark.requirement("library:neural:composed")
@pytest.mark.parametrize("factory", [decompose, entails])
def test_library_primitives_are_written_as_json_and_read_again(factory: Any):
    model = ScriptedModel([], identity="small")
    made = factory(model)
    again = p.Program.from_json(made.to_json(), models={"small": model})
    assert again.digest == made.digest


def places(found: Entities[Any]) -> list[str]:
    return [one.text for one in found.entities if one.kind == "place"]


def first(names: list[str]) -> str:
    return names[0]


def several(names: list[str]) -> int:
    return len(names)
