"""`export_sft`: which recorded attempts teach, and what."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hornbook
from hornbook import Contract, ContractViolation, Recover, clauses
from hornbook import program as p
from hornbook.engine import Controls, Engine
from hornbook.errors import DefinitionError, TraceError
from hornbook.evaluation import EvaluationError, Example, export_sft
from hornbook.models import Message, ScriptedModel
from hornbook.program import neural

GROUNDED = Contract("names", output=list[str], ensures=[clauses.grounded("[]", source="text")])


def prompt(inputs: Any) -> list[Message]:
    return [
        Message(role="system", content="List the names."),
        Message(role="user", content=inputs["text"]),
    ]


def names(*replies: Any, recover: Recover | None = None) -> Any:
    model = ScriptedModel(list(replies), identity="small")
    return neural(
        "names",
        model,
        prompt=prompt,
        input={"text": str},
        output=list[str],
        contract=GROUNDED,
        recover=recover,
    )


def record(folder: Path, program: Any, *texts: str, scenario: str | None = None) -> None:
    """Run it on texts, in one recorded run."""
    tags = {} if scenario is None else {"scenario": scenario}
    with hornbook.run(folder / "runs", tags=tags):
        for text in texts:
            try:
                p.Sequence(program).run(text)
            except ContractViolation:
                continue


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def taught(folder: Path) -> list[tuple[str, str]]:
    """What the user said and what is to be answered, of both files."""
    found = [*lines(folder / "train.jsonl"), *lines(folder / "validation.jsonl")]
    return sorted((one["messages"][1]["content"], one["messages"][-1]["content"]) for one in found)


@pytest.mark.requirement("evaluation:sft:format")
def test_examples_are_chats_with_the_json_target_as_the_answer(tmp_path: Path):
    record(tmp_path, names('Sure: ["Ada"]', '[ "Bob" ]'), "Ada", "Bob")
    found = export_sft(tmp_path / "runs", "names", tmp_path / "out", validation=0)
    assert lines(tmp_path / "out/train.jsonl") == [
        {
            "messages": [
                {"role": "system", "content": "List the names."},
                {"role": "user", "content": "Bob"},
                {"role": "assistant", "content": '["Bob"]'},
            ]
        }
    ]
    assert (found.total, found.train, found.validation, found.steps) == (1, 1, 0, 2)
    assert found.refused == {
        "violated": 1, "unheld": 0, "redacted": 0, "cut": 0, "duplicate": 0, "conflict": 0
    }  # fmt: skip
    (source,) = lines(tmp_path / "out/sources.jsonl")
    assert (source["file"], source["line"], source["model"]) == ("train.jsonl", 1, "small")
    assert json.loads((tmp_path / "out/manifest.json").read_text("utf-8")) == {
        **found.as_dict(),
        "models": ["small"],
        "unreadable": [],
    }


@pytest.mark.requirement("evaluation:sft:satisfied")
def test_only_attempts_whose_contract_was_satisfied_teach(tmp_path: Path):
    record(tmp_path, names(["Bob"], ["Ada"], recover=Recover(retry=1)), "Ada")
    record(tmp_path, names(["Eve"], recover=Recover(fallback=[nobody])), "Cem")
    record(tmp_path, names(["Eve"], recover=Recover(then="waive")), "Dee")
    found = export_sft(tmp_path / "runs", "names", tmp_path / "out")
    assert taught(tmp_path / "out") == [("Ada", '["Ada"]')]
    assert found.refused["violated"] == 3
    (line,) = [*lines(tmp_path / "out/train.jsonl"), *lines(tmp_path / "out/validation.jsonl")]
    # The attempt that satisfied had been told what was wrong with the one before.
    assert line["messages"][2]["content"].startswith("The previous answer was rejected.")


@pytest.mark.requirement("evaluation:sft:satisfied")
def test_an_attempt_that_was_not_held_to_its_contract_does_not_teach(tmp_path: Path):
    unheld = Engine(controls=Controls(contracts=False))
    with hornbook.run(tmp_path / "runs"):
        names(["Eve"]).run("Ada", engine=unheld)
    with pytest.raises(EvaluationError) as caught:
        export_sft(tmp_path / "runs", "names", tmp_path / "out")
    assert str(caught.value) == "no attempt of 'names' is fit to teach: 1 unheld"
    gold = [Example(input="Ada", output=["Ada"])]
    assert export_sft(tmp_path / "runs", "names", tmp_path / "out", gold=gold).corrected == 1


@pytest.mark.requirement("evaluation:sft:satisfied")
def test_a_primitive_that_is_given_holds_the_texts_to_its_contract_again(tmp_path: Path):
    record(tmp_path, names(["Ada"], ["Bob", "Cem"]), "Ada", "Bob and Cem")
    alone = Contract("names", ensures=[clauses.that("one name", lambda found: len(found) == 1)])
    stricter = neural(
        "names", ScriptedModel([]), prompt=prompt, input={"text": str}, output=list[str],
        contract=alone,
    )  # fmt: skip
    found = export_sft(tmp_path / "runs", stricter, tmp_path / "out")
    assert taught(tmp_path / "out") == [("Ada", '["Ada"]')]
    assert found.refused["unheld"] == 1


@pytest.mark.requirement("evaluation:sft:format")
def test_every_reader_of_lines_sees_one_example_a_line(tmp_path: Path):
    record(tmp_path, names(["Ada\u2028\u2029\x85"]), "Ada\u2028\u2029\x85")
    export_sft(tmp_path / "runs", "names", tmp_path / "out", validation=0)
    for file in ("train.jsonl", "sources.jsonl"):
        assert len((tmp_path / "out" / file).read_text(encoding="utf-8").splitlines()) == 1
    (line,) = lines(tmp_path / "out/train.jsonl")
    assert line["messages"][-1]["content"] == '["Ada\u2028\u2029\x85"]'


def nobody(text: str) -> list[str]:
    return [text]


@pytest.mark.requirement("evaluation:sft:satisfied")
def test_the_model_calls_of_a_fallback_or_a_judge_are_nobodys_attempts(tmp_path: Path):
    other = neural(
        "other",
        ScriptedModel([["Ada"]]),
        prompt=prompt,
        input={"text": str},
        output=list[str],
        contract=GROUNDED,
    )
    record(tmp_path, names(["Bob"], recover=Recover(fallback=[other])), "Ada")
    with pytest.raises(EvaluationError) as caught:
        export_sft(tmp_path / "runs", "names", tmp_path / "out")
    assert str(caught.value) == "no attempt of 'names' is fit to teach: 1 violated"
    assert export_sft(tmp_path / "runs", other, tmp_path / "out").total == 1


@pytest.mark.requirement("evaluation:sft:gold")
def test_a_correction_says_what_is_right_whatever_was_answered(tmp_path: Path):
    record(tmp_path, names(["Bob"], ["Cem"]), "Ada", "Cem and Dee")
    gold = tmp_path / "gold.jsonl"
    gold.write_text(
        '{"input": "Ada", "output": ["Ada"]}\n'
        '{"input": {"text": "Cem and Dee"}, "output": ["Cem", "Dee"]}\n',
        encoding="utf-8",
    )
    found = export_sft(tmp_path / "runs", "names", tmp_path / "out", gold=gold)
    assert taught(tmp_path / "out") == [("Ada", '["Ada"]'), ("Cem and Dee", '["Cem", "Dee"]')]
    assert (found.corrected, found.refused["violated"]) == (2, 0)
    again = export_sft(
        tmp_path / "runs", "names", tmp_path / "two", gold=[Example(input="Ada", output=["Ada"])]
    )
    assert (again.total, again.corrected) == (2, 1)
    unused = [Example(input="Adam", output=["Adam"])]
    third = export_sft(tmp_path / "runs", "names", tmp_path / "three", gold=unused)
    assert third.unused_corrections == 1
    assert str(third).endswith("; 1 corrections of inputs that do not occur")


@pytest.mark.requirement("evaluation:sft:secrets")
def test_what_the_record_withholds_or_cuts_is_no_training_data(tmp_path: Path):
    secret = "Ada AKIAIOSFODNN7EXAMPLE"
    long = "Ada " + "word " * 1_000
    record(tmp_path, names(["Ada"], ["Ada"], ["Ada"]), secret, long, "Ada")
    found = export_sft(tmp_path / "runs", "names", tmp_path / "out")
    assert taught(tmp_path / "out") == [("Ada", '["Ada"]')]
    assert (found.refused["redacted"], found.refused["cut"]) == (1, 1)


@pytest.mark.requirement("evaluation:sft:duplicates")
def test_of_equal_examples_one_is_kept_and_of_contradicting_ones_the_first(tmp_path: Path):
    for reply in (["Ada"], ["Ada"], ["Ada", "Bob"]):
        record(tmp_path, names(reply), "Ada Bob")
    found = export_sft(tmp_path / "runs", "names", tmp_path / "out")
    assert taught(tmp_path / "out") == [("Ada Bob", '["Ada"]')]
    assert (found.refused["duplicate"], found.refused["conflict"]) == (1, 1)


@pytest.mark.requirement("evaluation:sft:format")
def test_keys_keep_the_order_in_which_the_model_wrote_them(tmp_path: Path):
    model = ScriptedModel(['{"why":"b","answer": 1}', '{"answer": 1, "why": "b"}'])
    judged = neural("judged", model, prompt="{input}", output=dict[str, Any])
    record(tmp_path, judged, "q", "q")
    found = export_sft(tmp_path / "runs", "judged", tmp_path / "out", validation=0)
    (line,) = lines(tmp_path / "out/train.jsonl")
    assert line["messages"][-1]["content"] == '{"why": "b", "answer": 1}'
    assert found.refused["conflict"] == 0


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Forty examples of twenty scenarios."""
    for at in range(20):
        record(tmp_path, names([f"a{at}"], [f"b{at}"]), f"a{at}", f"b{at}", scenario=f"s{at}")
    return tmp_path


def scenarios(folder: Path) -> dict[str, set[str]]:
    """The scenarios of each file."""
    found: dict[str, set[str]] = {}
    for one in lines(folder / "sources.jsonl"):
        found.setdefault(one["file"], set()).add(one["scenario"])
    return found


@pytest.mark.requirement("evaluation:sft:split")
def test_a_tenth_is_kept_for_validation_and_no_scenario_stands_on_both_sides(many: Path):
    found = export_sft(many / "runs", "names", many / "out")
    assert (found.total, found.train, found.validation, found.scenarios) == (40, 36, 4, 20)
    split = scenarios(many / "out")
    assert not split["train.jsonl"] & split["validation.jsonl"]
    export_sft(many / "runs", "names", many / "again")
    for file in ("train.jsonl", "validation.jsonl", "sources.jsonl", "manifest.json"):
        assert (many / "again" / file).read_bytes() == (many / "out" / file).read_bytes()


@pytest.mark.requirement("evaluation:sft:split")
def test_another_seed_is_another_split_and_new_scenarios_move_few(many: Path):
    export_sft(many / "runs", "names", many / "out")
    export_sft(many / "runs", "names", many / "other", seed="2")
    assert scenarios(many / "other") != scenarios(many / "out")
    record(many, names(["new"]), "new", scenario="s20")
    export_sft(many / "runs", "names", many / "grown")
    kept = scenarios(many / "out")["validation.jsonl"]
    assert kept & scenarios(many / "grown")["validation.jsonl"]


@pytest.mark.requirement("evaluation:sft:split")
def test_runs_without_a_scenario_are_scenarios_of_their_own(tmp_path: Path):
    for at in range(10):
        record(tmp_path, names([f"a{at}"]), f"a{at}")
    found = export_sft(tmp_path / "runs", "names", tmp_path / "out")
    assert (found.scenarios, found.train, found.validation) == (10, 9, 1)


@pytest.mark.requirement("evaluation:sft:sources")
def test_runs_files_and_events_are_read_and_a_broken_record_is_left_out(tmp_path: Path):
    record(tmp_path, names(["Ada"]), "Ada")
    record(tmp_path, names(["Bob"]), "Bob")
    first, second = sorted((tmp_path / "runs").iterdir())
    assert export_sft(first, "names", tmp_path / "one").total == 1
    assert export_sft([first, second], "names", tmp_path / "two").total == 2
    with hornbook.run(None) as run:
        names(["Cem"]).run("Cem")
    assert export_sft(run.events, "names", tmp_path / "three").total == 1
    (file,) = second.glob("*.jsonl")
    file.write_bytes(file.read_bytes().replace(b'"kind"', b'"kin"', 1).replace(b"\n", b"x\n", 1))
    found = export_sft(tmp_path / "runs", "names", tmp_path / "four")
    assert (found.total, len(found.unreadable)) == (1, 1)
    with pytest.raises(TraceError):
        export_sft(second, "names", tmp_path / "five")


@pytest.mark.requirement("evaluation:sft:sources")
def test_a_run_that_was_cut_off_teaches_what_had_ended(tmp_path: Path):
    with hornbook.run(None) as run:
        program = names(["Ada"], ["Bob"])
        program.run("Ada")
        program.run("Bob")
    events = run.events
    last = max(at for at, one in enumerate(events) if one.data.get("step") == "model")
    assert export_sft(events[: last + 2], "names", tmp_path / "out").total == 1


@pytest.mark.requirement("evaluation:sft:system")
def test_a_prompt_without_a_system_message_can_be_given_one(tmp_path: Path):
    model = ScriptedModel(['"x"'])
    bare = neural("bare", model, prompt="{input}", output=str)
    record(tmp_path, bare, "a")
    export_sft(tmp_path / "runs", "bare", tmp_path / "out", system="Be brief.", validation=0)
    (line,) = lines(tmp_path / "out/train.jsonl")
    assert [one["role"] for one in line["messages"]] == ["system", "user", "assistant"]
    assert line["messages"][0]["content"] == "Be brief."


def answered_from_cache(folder: Path) -> None:
    program = p.Parallel(one=names(["Ada"]), two=names(["Ada"]))
    with hornbook.run(folder / "runs"):
        program.run("Ada")


def nothing(folder: Path) -> None:
    with hornbook.run(folder / "runs"):
        names(["Ada"])


@pytest.mark.requirement("evaluation:sft:refused")
@pytest.mark.parametrize(
    ("make", "name", "message"),
    [
        (answered_from_cache, "nmaes", "the record has no step called 'nmaes'"),
        (nothing, "names", "the record has no step called 'names'"),
    ],
)
def test_where_there_is_nothing_to_teach_it_is_said(
    tmp_path: Path, make: Callable[[Path], None], name: str, message: str
):
    make(tmp_path)
    with pytest.raises(EvaluationError) as caught:
        export_sft(tmp_path / "runs", name, tmp_path / "out")
    assert str(caught.value) == message
    assert not (tmp_path / "out").exists()


@pytest.mark.requirement("evaluation:sft:refused")
def test_an_earlier_export_is_not_written_over(tmp_path: Path):
    record(tmp_path, names(["Ada"]), "Ada")
    export_sft(tmp_path / "runs", "names", tmp_path / "out")
    with pytest.raises(EvaluationError) as caught:
        export_sft(tmp_path / "runs", "names", tmp_path / "out")
    out = tmp_path / "out"
    assert str(caught.value) == f"{out} holds an export already: name another folder"
    assert export_sft(tmp_path / "runs", "names", out, overwrite=True).total == 1
    with pytest.raises(DefinitionError) as refused:
        export_sft(tmp_path / "runs", "names", out, validation=1)
    assert str(refused.value) == "export_sft(validation=1): a share in [0, 1)"
