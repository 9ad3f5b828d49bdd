"""`hornbook calibrate`."""

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hornbook import cli, config

Capture = pytest.CaptureFixture[str]

MODULE = '''
import hornbook
from hornbook import Contract, clauses, contract
from hornbook.contracts import Judgement


class Told:
    """A judge whose scores are the texts themselves."""

    identity = "told"

    def judge(self, questions):
        return [
            Judgement(score=None if one.text == "?" else float(one.text)) for one in questions
        ]


near = clauses.similar(".", source="q", judge=Told(), threshold=0.5, name="near")
answer = Contract("answer", ensures=[near])


@contract(answer)
def step(q):
    return "0.9"


number = 7
'''
ROWS = [("0.9", True), ("0.3", True), ("?", True), ("0.6", False), ("0.1", False)]


def labelled(*rows: tuple[str, bool]) -> str:
    return "".join(
        json.dumps({"value": value, "inputs": {"q": "words"}, "label": label}) + "\n"
        for value, label in rows
    )


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    config.reload()
    (tmp_path / "calibrated_here.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "rows.jsonl").write_text(labelled(*ROWS), encoding="utf-8")
    yield tmp_path
    monkeypatch.undo()
    config.reload()


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    yield
    sys.modules.pop("calibrated_here", None)
    sys.modules.pop("breaks_here", None)


RATES = """\
contract 'answer', clause 'near'
n             5: 3 good, 2 bad
false accept  0.500 [0.095, 0.905]
false reject  0.667 [0.208, 0.939]
undetermined  1, the first at rows.jsonl, line 3: judge 'Told' could not tell
"""


@pytest.mark.parametrize("target", ["answer", "step"])
@pytest.mark.requirement("judges:command:rates", "judges:command:stored")
def test_it_shows_the_rates_and_keeps_them_with_the_clause(
    folder: Path, capsys: Capture, target: str
):
    assert cli.main(["calibrate", f"calibrated_here:{target}", "rows.jsonl"]) == 0
    assert capsys.readouterr() == (f"{RATES}\nkept in hornbook-calibrations.json\n", "")

    from hornbook.judges import calibrated

    answer = importlib.import_module("calibrated_here").answer
    verdict = calibrated(answer).check("0.9", {"q": "words"}).verdicts[0]
    assert verdict.calibration is not None
    assert verdict.calibration.n == 5


@pytest.mark.requirement("judges:command:stored")
def test_the_result_can_be_kept_elsewhere_or_only_shown(folder: Path, capsys: Capture):
    run = ["calibrate", "calibrated_here:answer", "rows.jsonl"]
    assert cli.main([*run, "--clause", "near", "--no-store"]) == 0
    assert capsys.readouterr().out == RATES
    assert cli.main([*run, "--store", "elsewhere.json"]) == 0
    assert {path.name for path in folder.glob("*.json")} == {"elsewhere.json"}


@pytest.mark.requirement("judges:command:sweep")
def test_a_sweep_is_a_table_with_the_clauses_own_threshold_marked(capsys: Capture):
    run = ["calibrate", "calibrated_here:answer", "rows.jsonl", "--threshold-sweep", "--no-store"]
    assert cli.main(run) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "\n".join(lines[:6]) == RATES
    assert lines[6:8] == [
        "THRESHOLD  FALSE ACCEPT          FALSE REJECT",
        "0.00       1.000 [0.342, 1.000]  0.333 [0.061, 0.792]",
    ]
    assert lines[17] == "0.50 *     0.500 [0.095, 0.905]  0.667 [0.208, 0.939]"
    assert lines[27] == "1.00       0.000 [0.000, 0.658]  1.000 [0.439, 1.000]"
    assert len(lines) == 28


@pytest.mark.parametrize(("own", "shown"), [(0.82, "0.82 *"), (0.5004, "0.5004 *")])
@pytest.mark.requirement("judges:command:sweep")
def test_a_sweep_shows_the_clauses_own_threshold_wherever_it_is(
    folder: Path, capsys: Capture, own: float, shown: str
):
    module = MODULE.replace("threshold=0.5", f"threshold={own}")
    (folder / "calibrated_here.py").write_text(module, encoding="utf-8")
    run = ["calibrate", "calibrated_here:answer", "rows.jsonl", "--threshold-sweep", "--no-store"]
    assert cli.main(run) == 0
    lines = capsys.readouterr().out.splitlines()[7:]
    assert len(lines) == 22
    assert [line.split("  ")[0] for line in lines if "*" in line] == [shown]


@pytest.mark.requirement("judges:command:json")
def test_all_of_it_as_json(capsys: Capture):
    run = ["calibrate", "calibrated_here:answer", "rows.jsonl", "--threshold-sweep", "--json"]
    assert cli.main(run) == 0
    document = json.loads(capsys.readouterr().out)
    sweep = document.pop("sweep")
    assert document == {
        "contract": "answer",
        "clause": "near",
        "threshold": 0.5,
        "n": 5,
        "false_accept": {
            "value": 0.5,
            "low": pytest.approx(0.0945, abs=1e-4),
            "high": pytest.approx(0.9055, abs=1e-4),
        },
        "false_reject": {
            "value": pytest.approx(2 / 3),
            "low": pytest.approx(0.2077, abs=1e-4),
            "high": pytest.approx(0.9385, abs=1e-4),
        },
        "undetermined": 1,
        "kept": "hornbook-calibrations.json",
    }
    assert [at["threshold"] for at in sweep] == [at / 20 for at in range(21)]
    assert sweep[10]["false_accept"]["value"] == 0.5


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["answer", "rows.jsonl"], "'answer' names no contract: write module:attribute"),
        (
            ["nowhere:answer", "rows.jsonl"],
            "'nowhere:answer': importing nowhere raised ModuleNotFoundError: No module named "
            "'nowhere'",
        ),
        (
            ["breaks_here:answer", "rows.jsonl"],
            "'breaks_here:answer': importing breaks_here raised SystemExit: 3",
        ),
        (
            ["calibrated_here:nix", "rows.jsonl"],
            "'calibrated_here:nix': module 'calibrated_here' has no 'nix'",
        ),
        (
            ["calibrated_here:number", "rows.jsonl"],
            "'calibrated_here:number' is no contract and no step with one, but of type int",
        ),
        (
            ["calibrated_here:answer", "rows.jsonl", "--clause", "far"],
            "contract 'answer' has no clause 'far'; measured are: 'near'",
        ),
        (
            ["calibrated_here:answer", "bad.jsonl"],
            "bad.jsonl, line 2: it has no label; say true for good, false for bad",
        ),
        (
            ["calibrated_here:answer", "good.jsonl"],
            "good.jsonl: no example has the label false: a calibration needs good values and bad "
            "ones",
        ),
        (
            ["calibrated_here:answer", "rows.jsonl", "--store", "rows.jsonl"],
            "rows.jsonl holds no calibrations: JSONDecodeError: Extra data: line 2 column 1 "
            "(char 58)",
        ),
        (
            ["calibrated_here:answer", "empty.jsonl"],
            "empty.jsonl holds no examples: write one a line, good ones and bad ones",
        ),
        (
            ["calibrated_here:answer", "rows.jsonl", "--store", "none/there.json"],
            "none/there.json cannot be written: there is no folder none",
        ),
        (
            ["calibrated_here:answer", "rows.jsonl", "--store", "."],
            ". cannot be written: it is a folder",
        ),
        (
            ["calibrated_here:answer", "rows.jsonl", "--calls", "many"],
            "argument --calls: invalid int value: 'many'; see hornbook calibrate --help",
        ),
    ],
)
@pytest.mark.requirement("judges:command:refused")
def test_each_error_is_one_sentence_and_exit_code_1(
    folder: Path, capsys: Capture, arguments: list[str], sentence: str
):
    (folder / "breaks_here.py").write_text("raise SystemExit(3)", encoding="utf-8")
    (folder / "empty.jsonl").write_text("", encoding="utf-8")
    (folder / "good.jsonl").write_text(labelled(("0.9", True)), encoding="utf-8")
    (folder / "bad.jsonl").write_text(labelled(("0.9", True)) + '{"value": 1}\n', encoding="utf-8")
    assert cli.main(["calibrate", *arguments]) == 1
    assert capsys.readouterr() == ("", f"hornbook: {sentence}\n")


# What another process does in the hour that this one takes.
MEANWHILE = """
    def judge(self, questions):
        from pathlib import Path
        from hornbook.judges import store_calibration, wilson
        from hornbook.contracts import Calibration

        rate = wilson(0, 1)
        found = Calibration(n=2, false_accept=rate, false_reject=rate)
        {}
"""


def meanwhile(folder: Path, happens: str) -> None:
    module = MODULE.replace("\n    def judge(self, questions):\n", MEANWHILE.format(happens))
    (folder / "calibrated_here.py").write_text(module, encoding="utf-8")


@pytest.mark.requirement("judges:command:together")
def test_what_another_process_stored_meanwhile_is_kept(folder: Path, capsys: Capture):
    meanwhile(folder, 'store_calibration(Contract("other", ensures=[near]), near, found)')
    assert cli.main(["calibrate", "calibrated_here:answer", "rows.jsonl"]) == 0
    assert capsys.readouterr().err == ""
    stored = json.loads((folder / "hornbook-calibrations.json").read_text(encoding="utf-8"))
    assert [one["contract"] for one in stored["calibrations"]] == ["answer", "other"]


@pytest.mark.requirement("judges:command:together")
def test_a_result_that_can_no_longer_be_kept_is_shown(folder: Path, capsys: Capture):
    meanwhile(folder, 'Path("hornbook-calibrations.json").write_text("[]")')
    assert cli.main(["calibrate", "calibrated_here:answer", "rows.jsonl"]) == 1
    assert capsys.readouterr() == (
        RATES,
        "hornbook: hornbook-calibrations.json holds no calibrations: its format is another\n",
    )
    names = {path.name for path in folder.iterdir()} - {"__pycache__"}
    assert names == {"calibrated_here.py", "rows.jsonl", "hornbook-calibrations.json"}


@pytest.mark.requirement("judges:command:refused")
@pytest.mark.parametrize("store", ["none/there.json", "odd.json"])
def test_a_store_that_cannot_be_used_is_found_out_before_a_judge_is_asked(
    folder: Path, capsys: Capture, store: str
):
    (folder / "odd.json").write_text("[]", encoding="utf-8")
    meanwhile(folder, 'Path("asked").touch()')
    run = ["calibrate", "calibrated_here:answer", "rows.jsonl"]
    assert cli.main([*run, "--store", store]) == 1
    assert not (folder / "asked").exists()
    assert cli.main([*run, "--no-store", "--store", store]) == 0
    assert capsys.readouterr().out == RATES


@pytest.mark.requirement("judges:command:budget")
def test_a_limit_of_calls_stops_it_and_nothing_is_kept(folder: Path, capsys: Capture):
    run = ["calibrate", "calibrated_here:answer", "rows.jsonl", "--calls", "2"]
    assert cli.main(run) == 1
    assert "calls" in capsys.readouterr().err
    assert not list(folder.glob("*.json"))


@pytest.mark.requirement("judges:command:progress")
def test_a_long_calibration_shows_progress_beside_its_result(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
):
    clock = iter(range(0, 1000, 3))
    monkeypatch.setattr("hornbook.cli.calibrate.time.monotonic", lambda: next(clock))
    assert cli.main(["calibrate", "calibrated_here:answer", "rows.jsonl", "--no-store"]) == 0
    out, err = capsys.readouterr()
    assert out == RATES
    assert err.splitlines()[0].startswith("hornbook: ")
    assert err.splitlines()[0].endswith(" of 5 examples")
