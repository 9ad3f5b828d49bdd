"""`hornbook trace list | show | verify`, on records that runs have left."""

import json
from pathlib import Path

import pytest

import hornbook
from hornbook import Contract, ContractViolation, Recover, clauses, cli, config, contract

Capture = pytest.CaptureFixture[str]


def positive(value: int) -> bool:
    return value > 0


AMOUNT = Contract("amount", output=int, ensures=[clauses.that("is positive", positive)])


@contract(AMOUNT, recover=Recover(retry=1), name="guess")
def guess(answers: list[int]) -> int:
    return answers.pop(0)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HORNBOOK_TRACE", raising=False)
    config._of_process.cache_clear()
    return tmp_path


@pytest.fixture
def record(folder: Path) -> Path:
    """A run in the default folder: one step recovered, one violated."""
    with hornbook.run(trace="runs", namespace="desk", tags={"case": "7"}) as run:
        assert guess([-1, 2]) == 2
        with pytest.raises(ContractViolation):
            guess([-1, -2])
    assert run.path is not None
    return run.path


def run(capsys: Capture, *arguments: str) -> tuple[int, str]:
    code = cli.main(["trace", *arguments])
    captured = capsys.readouterr()
    assert captured.err == ""
    return code, captured.out


def refusal(capsys: Capture, *arguments: str) -> str:
    assert cli.main(["trace", *arguments]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("hornbook: ")
    assert captured.err.count("\n") == 1
    return captured.err.removeprefix("hornbook: ").strip()


def the_file(record: Path) -> Path:
    (file,) = record.glob("*.jsonl")
    return file


@pytest.mark.requirement("trace:command:list")
def test_the_runs_of_a_folder_are_listed(record: Path, capsys: Capture) -> None:
    code, out = run(capsys, "list")
    heading, row = out.splitlines()
    assert code == 0
    assert heading.split() == ["RUN", "STARTED", "STATUS", "STEPS", "NAMESPACE", "TAGS"]
    fields = row.split()
    assert (fields[0], fields[4:]) == (record.name, ["complete", "2", "desk", "case=7"])
    assert run(capsys, "list", "runs") == (code, out)


@pytest.mark.requirement("trace:command:list")
def test_the_runs_are_listed_as_json(record: Path, capsys: Capture) -> None:
    code, out = run(capsys, "list", "--json")
    (shown,) = json.loads(out)
    assert code == 0
    assert (shown["run"], shown["status"], shown["steps"]) == (record.name, "complete", 2)
    assert (shown["namespace"], shown["tags"]) == ("desk", {"case": "7"})


@pytest.mark.requirement("trace:command:list")
def test_the_folder_is_that_of_the_settings(
    record: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = record.parent.rename(record.parents[1] / "elsewhere")
    monkeypatch.setenv("HORNBOOK_TRACE", str(elsewhere))
    config._of_process.cache_clear()
    assert record.name in run(capsys, "list")[1]
    assert run(capsys, "verify", record.name)[0] == 0
    monkeypatch.undo()
    config._of_process.cache_clear()


@pytest.mark.requirement("trace:command:list", "cli:errors:sentence")
def test_a_folder_that_is_none_is_one_sentence(folder: Path, capsys: Capture) -> None:
    assert refusal(capsys, "list") == "runs does not exist"


@pytest.mark.requirement("trace:command:list")
def test_a_run_that_cannot_be_read_is_listed_as_broken(record: Path, capsys: Capture) -> None:
    the_file(record).write_text('{"other": "format"}\n', encoding="utf-8")
    code, out = run(capsys, "list")
    assert code == 0
    assert "broken" in out.splitlines()[1]
    assert out.splitlines()[2].startswith("broken: ")


@pytest.mark.requirement("trace:command:show")
@pytest.mark.parametrize("given", ["id", "lower-case id", "start of the id", "folder", "file"])
def test_a_run_is_shown_by_id_folder_or_file(record: Path, capsys: Capture, given: str) -> None:
    named = {
        "id": record.name,
        "lower-case id": record.name.lower(),
        "start of the id": record.name[:8],
        "folder": str(record),
        "file": str(the_file(record)),
    }
    code, out = run(capsys, "show", named[given])
    lines = out.splitlines()
    assert code == 0
    assert lines[0].startswith(f"run {record.name} (desk), completed, ")
    assert [line.split(",")[:2] for line in lines if line.startswith("  guess")] == [
        ["  guess (node)", " recovered"],
        ["  guess (node)", " violated"],
    ]
    assert "    | decision retry: attempt 2" in lines
    assert "    |   - is positive: expected is positive; got -2" in lines


@pytest.mark.requirement("trace:command:show")
def test_inputs_and_outputs_are_shown_when_asked_for(record: Path, capsys: Capture) -> None:
    assert "output 2" in run(capsys, "show", str(record), "--values")[1]
    assert "output 2" not in run(capsys, "show", str(record))[1]


@pytest.mark.requirement("trace:command:show")
def test_a_run_is_shown_as_json(record: Path, capsys: Capture) -> None:
    code, out = run(capsys, "show", str(record), "--json")
    shown = json.loads(out)
    assert code == 0
    assert [event["seq"] for event in shown] == list(range(len(shown)))
    assert (shown[0]["kind"], shown[-1]["kind"]) == ("run.start", "run.end")


@pytest.mark.requirement("trace:command:show", "cli:errors:sentence")
def test_a_run_that_is_not_there_is_one_sentence(folder: Path, capsys: Capture) -> None:
    assert refusal(capsys, "show", "01ARZ3NDEKTSV4RRFFQ69G5FAV") == (
        "there is no record '01ARZ3NDEKTSV4RRFFQ69G5FAV': no such file or folder, "
        "and no run whose id begins so in runs"
    )


@pytest.mark.requirement("trace:command:show", "cli:errors:sentence")
def test_the_start_of_several_ids_is_one_sentence(record: Path, capsys: Capture) -> None:
    other = record.name[:-1] + ("0" if record.name[-1] != "0" else "1")
    (record.parent / other).mkdir()
    assert refusal(capsys, "show", record.name[:8]) == (
        f"'{record.name[:8]}' begins the ids of 2 runs in runs"
    )


@pytest.mark.requirement("trace:command:show", "cli:errors:sentence")
def test_a_path_that_is_not_there_is_taken_for_no_id(record: Path, capsys: Capture) -> None:
    assert refusal(capsys, "show", f"elsewhere/{record.name}") == (
        f"there is no record 'elsewhere/{record.name}': no such file or folder, "
        "and no run whose id begins so in runs"
    )


@pytest.mark.requirement("trace:command:verify")
def test_a_complete_record_exits_with_0(record: Path, capsys: Capture) -> None:
    code, out = run(capsys, "verify", str(record))
    assert code == 0
    assert out.startswith("complete: ")
    assert out.endswith(" events in 1 file\n")


@pytest.mark.requirement("trace:command:verify")
def test_a_record_without_its_end_exits_with_2(record: Path, capsys: Capture) -> None:
    file = the_file(record)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:3]) + lines[3][:20])
    (record / "HEAD").unlink()
    code, out = run(capsys, "verify", str(record))
    assert code == 2
    assert out.startswith("incomplete: 2 events in 1 file\n  - ")
    code, out = run(capsys, "verify", str(record), "--json")
    shown = json.loads(out)
    assert (code, shown["status"], len(shown["open_steps"])) == (2, "incomplete", 1)


@pytest.mark.requirement("trace:command:verify")
def test_a_changed_record_exits_with_1(record: Path, capsys: Capture) -> None:
    file = the_file(record)
    file.write_bytes(file.read_bytes().replace(b"guess", b"guest", 1))
    code, out = run(capsys, "verify", str(record))
    assert code == 1
    assert out.startswith("broken: ")


@pytest.mark.requirement("trace:command:verify", "cli:errors:sentence", "bad-input:record:foreign")
def test_a_record_of_another_format_exits_with_1(folder: Path, capsys: Capture) -> None:
    (folder / "other.jsonl").write_text('{"other": "format"}\n', encoding="utf-8")
    assert "other.jsonl" in refusal(capsys, "verify", "other.jsonl")
    (folder / "empty").mkdir()
    assert "empty" in refusal(capsys, "verify", "empty")
