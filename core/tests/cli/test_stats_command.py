"""`hornbook trace stats`, on records that runs have left."""

import contextlib
import json
from pathlib import Path

import pytest

import hornbook
from hornbook import Contract, ContractViolation, Recover, clauses, cli, config, contract

Capture = pytest.CaptureFixture[str]
AMOUNT = Contract("amount", output=int, ensures=[clauses.in_range(".", low=1)])


@contract(AMOUNT, recover=Recover(retry=1), name="guess")
def guess(answers: list[int]) -> int:
    return answers.pop(0)


@contract(AMOUNT, name="know")
def know(answer: int) -> int:
    return answer


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HORNBOOK_TRACE", raising=False)
    config._of_process.cache_clear()
    return tmp_path


@pytest.fixture
def runs(folder: Path) -> list[Path]:
    """Two runs in the default folder."""
    paths: list[Path] = []
    for answers in ([0, 1], [0, 0]):
        with hornbook.run("runs") as run:
            know(1)
            with contextlib.suppress(ContractViolation):
                guess(answers)
        assert run.path is not None
        paths.append(run.path)
    return sorted(paths)


def run(capsys: Capture, *arguments: str) -> str:
    assert cli.main(["trace", "stats", *arguments]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


@pytest.mark.requirement("trace:command:stats")
def test_the_steps_of_all_runs_are_listed_the_least_reliable_first(
    runs: list[Path], capsys: Capture
):
    heading, guessed, known, summary = run(capsys).splitlines()
    assert heading.split()[:4] == ["STEP", "KIND", "CALLS", "VIOLATED"]
    assert guessed.split()[:6] == ["guess", "node", "2", "2", "(100%,", "34%-100%)"]
    assert known.split()[:4] == ["know", "node", "2", "-"]
    assert summary == "2 runs; the least reliable step first"
    assert run(capsys, "runs").splitlines()[-1] == summary


@pytest.mark.requirement("trace:command:stats")
def test_one_run_is_counted_by_its_id_or_folder(runs: list[Path], capsys: Capture):
    for named in (runs[0].name, str(runs[0])):
        out = run(capsys, named)
        assert out.splitlines()[1].split()[:4] == ["guess", "node", "1", "1"]
        assert out.splitlines()[-1] == "1 run; the least reliable step first"


@pytest.mark.requirement("trace:command:stats")
def test_rates_are_written_as_json_with_their_intervals(runs: list[Path], capsys: Capture):
    document = json.loads(run(capsys, "--json"))
    assert (document["runs"], document["incomplete"], document["broken"]) == (2, 0, [])
    guessed = document["steps"][0]
    assert (guessed["name"], guessed["calls"], guessed["retried"], guessed["halted"]) == (
        "guess",
        2,
        2,
        1,
    )
    rate = guessed["rates"]["violated"]
    assert (rate["value"], rate["low"], rate["high"]) == (1.0, pytest.approx(0.342, abs=0.001), 1.0)


@pytest.mark.requirement("trace:command:stats")
def test_a_run_that_was_killed_counts_and_a_broken_one_is_named(runs: list[Path], capsys: Capture):
    killed, broken = (next(path.glob("*.jsonl")) for path in runs)
    killed.write_bytes(b"".join(killed.read_bytes().splitlines(keepends=True)[:-1]))
    broken.write_bytes(b"nonsense\n" + broken.read_bytes())
    *_, summary, left_out = run(capsys).splitlines()
    assert summary == "1 run, 1 of them incomplete; the least reliable step first"
    assert left_out.startswith("left out: ")
    assert json.loads(run(capsys, "--json"))["incomplete"] == 1


@pytest.mark.requirement("trace:command:stats")
def test_a_folder_that_is_not_there_is_an_error(capsys: Capture):
    assert cli.main(["trace", "stats", "nowhere"]) == 1
    assert capsys.readouterr().err == (
        "hornbook: there is no record 'nowhere': no such file or folder, and no run whose id "
        "begins so in runs\n"
    )
