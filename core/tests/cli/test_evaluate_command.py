"""`hornbook evaluate` and `hornbook sft export`."""

import json
from pathlib import Path

import pytest

import hornbook
from hornbook import cli, config
from hornbook.evaluation import Evaluation

Capture = pytest.CaptureFixture[str]

MODULE = """
from hornbook import program as p
from hornbook.models import ScriptedModel
from hornbook.program.library import entails

def answer(request):
    verdict = "entailed" if "met" in request.messages[0].content else "perhaps"
    return {"verdict": verdict}

judged = entails(ScriptedModel(answer, identity="small"))
program = p.Sequence(judged)
"""
EXAMPLES = [
    {"input": {"premise": "They met.", "hypothesis": "a"}, "output": {"verdict": "entailed"}},
    {"input": {"premise": "They met.", "hypothesis": "b"}, "output": {"verdict": "unknown"}},
    {"input": {"premise": "It rained.", "hypothesis": "c"}, "output": {"verdict": "unknown"}},
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HORNBOOK_TRACE", raising=False)
    config._of_process.cache_clear()
    (tmp_path / "library_user.py").write_text(MODULE, encoding="utf-8")
    lines = "".join(f"{json.dumps(one)}\n" for one in EXAMPLES)
    (tmp_path / "examples.jsonl").write_text(lines, encoding="utf-8")
    return tmp_path


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test imports the module anew, from its own folder."""
    import sys

    monkeypatch.delitem(sys.modules, "library_user", raising=False)


def run(capsys: Capture, *arguments: str) -> str:
    code = cli.main(arguments)
    captured = capsys.readouterr()
    assert (code, captured.err) == (0, "")
    return captured.out


def refusal(capsys: Capture, *arguments: str) -> str:
    assert cli.main(arguments) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err.removeprefix("hornbook: ").strip()


@pytest.mark.requirement("evaluation:command:evaluate")
def test_a_primitive_is_evaluated_and_the_result_is_kept(folder: Path, capsys: Capture):
    arguments = ("evaluate", "library_user:judged", "examples.jsonl")
    assert run(capsys, *arguments, "--json", "before.json").splitlines() == [
        "entails version 1, small, first attempts",
        "exact match     0.333 [0.061, 0.792], n=3",
        "contract        satisfied: 1 right, 1 wrong; violated: 0 right, 1 wrong",
        "wrong | satisfied  0.500 [0.095, 0.905]",
    ]
    stored = Evaluation.from_json((folder / "before.json").read_text("utf-8"))
    assert stored.judged[2].where == "examples.jsonl, line 3"
    assert Evaluation.from_json(run(capsys, *arguments, "--json", "-")) == stored
    compared = run(capsys, *arguments, "--before", "before.json").splitlines()[-1]
    assert compared.endswith("(+0.0%), n=3, 0 gained, 0 lost, p=1")


@pytest.mark.requirement("evaluation:command:evaluate")
def test_what_cannot_be_evaluated_is_one_sentence(folder: Path, capsys: Capture):
    assert refusal(capsys, "evaluate", "library_user:program", "examples.jsonl") == (
        "'library_user:program' is a Sequence and no primitive: evaluate those in it one by one"
    )
    (folder / "bad.jsonl").write_text('{"input": {"premise": "a"}, "output": 1}', encoding="utf-8")
    assert refusal(capsys, "evaluate", "library_user:judged", "bad.jsonl") == (
        "bad.jsonl, line 1: its input does not fit the primitive at hypothesis: Field required"
    )
    assert refusal(
        capsys, "evaluate", "library_user:judged", "examples.jsonl", "--calls", "2"
    ).startswith("the budget of 2 calls is spent")


@pytest.mark.requirement("evaluation:command:sft")
def test_training_examples_are_exported_from_runs(folder: Path, capsys: Capture):
    import importlib
    import sys

    sys.path.insert(0, str(folder))
    try:
        judged = importlib.import_module("library_user").judged
    finally:
        sys.path.remove(str(folder))
    for at in range(3):
        with hornbook.run("runs", tags={"scenario": f"s{at}"}):
            judged(premise="They met.", hypothesis=str(at))
    arguments = ("sft", "export", "runs", "--primitive", "entails")
    assert run(capsys, *arguments, "--out", "sft").strip() == (
        "entails: 3 examples, 3 train, 0 validation, 3 scenarios; left out: none"
    )
    manifest = json.loads(run(capsys, *arguments, "--out", "half", "--validation", "0.5", "--json"))
    assert (manifest["train"], manifest["validation"]) in ((1, 2), (2, 1))
    assert refusal(capsys, *arguments, "--out", "sft") == (
        "sft holds an export already: name another folder"
    )
    missing = ("sft", "export", "runs", "--primitive", "other", "--out", "new")
    assert refusal(capsys, *missing) == "the record has no step called 'other'"
