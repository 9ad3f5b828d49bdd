"""Calibrations kept in a file, and put on the clauses of a contract."""

import json
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest

from hornbook import Contract, clauses, config
from hornbook.contracts import Calibration, Judgement, Question
from hornbook.errors import DefinitionError
from hornbook.judges import (
    CalibrationError,
    Calibrations,
    calibrated,
    calibrations_file,
    clause_identity,
    judge_identity,
    store_calibration,
    wilson,
)

MEASURED = Calibration(n=40, false_accept=wilson(1, 20), false_reject=wilson(2, 20), undetermined=3)
OTHER = Calibration(n=4, false_accept=wilson(0, 2), false_reject=wilson(0, 2))


class Sure:
    """A judge that finds everything good."""

    def __init__(self, identity: str = "sure") -> None:
        self.identity = identity

    def judge(self, questions: Sequence[Question]) -> list[Judgement]:
        return [Judgement(score=1.0) for _ in questions]


class Nameless(Sure):
    """A judge without an identity."""

    def __init__(self, version: str = "") -> None:
        super().__init__("")
        self.version = version


def near(**changed: Any) -> Any:
    named: dict[str, Any] = {"source": "q", "judge": Sure(), "threshold": 0.8, "name": "near"}
    return clauses.similar(".", **{**named, **changed})


def held(*made: Any, name: str = "answer") -> Contract[Any]:
    return Contract(name, ensures=[*(made or (near(),)), clauses.that("some", bool)])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "calibrations.json"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    config.reload()
    yield
    monkeypatch.undo()
    config.reload()


def told(contract: Contract[Any]) -> str:
    return str(contract.check("text", {"q": "source"}).verdicts[0])


@pytest.mark.requirement("judges:stored:verdict")
def test_a_stored_calibration_stands_in_every_verdict(file: Path):
    contract = held()
    assert told(contract) == "near: Satisfied (measured, uncalibrated, score 1.000)"
    assert store_calibration(contract, contract.ensures[0], MEASURED, file) == file
    again = calibrated(contract, file)
    assert told(again) == (
        "near: Satisfied (measured, n=40, false accept 0.050 [0.009, 0.236], false reject "
        "0.100 [0.028, 0.301], undetermined 3, score 1.000)"
    )
    assert (again.digest, again.output) == (contract.digest, contract.output)
    assert contract.ensures[0].calibration is None
    report = again.check("text", {"q": "source"})
    assert report.as_dict()["verdicts"][0]["calibration"]["undetermined"] == 3


@pytest.mark.requirement("judges:stored:verdict")
def test_a_contract_keeps_all_its_settings(file: Path):
    contract = Contract(
        "answer",
        version="7",
        output=str,
        requires=[near(name="asked")],
        ensures=[near()],
        strict=False,
        revalidate="never",
        deadline=None,
    )
    store_calibration(contract, contract.requires[0], MEASURED, file)
    again = calibrated(contract, file)
    assert again.digest == contract.digest
    assert again.requires[0].calibration == MEASURED
    assert again.ensures[0].calibration is None


CHANGES: dict[str, Callable[[], Any]] = {
    "threshold": lambda: near(threshold=0.7),
    "source": lambda: near(source="r"),
    "path": lambda: clauses.similar("text", source="q", judge=Sure(), threshold=0.8, name="near"),
    "kind": lambda: clauses.covers(".", source="q", judge=Sure(), threshold=0.8, name="near"),
    "version": lambda: near(version="2"),
    "judge": lambda: near(judge=Sure("another")),
    "waives": lambda: near(on_undetermined="waive"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.requirement("judges:stored:stale")
def test_a_clause_or_judge_that_changed_is_uncalibrated_and_that_is_said(
    file: Path, change: Callable[[], Any], caplog: pytest.LogCaptureFixture
):
    contract = held()
    store_calibration(contract, contract.ensures[0], MEASURED, file)
    changed = held(change())
    with caplog.at_level(logging.WARNING, "hornbook.judges"):
        again = calibrated(changed, file)
    assert again.ensures[0].calibration is None
    sentence = (
        "the calibration of clause 'near' of contract 'answer' is stale: the clause or its judge "
        "has changed since, so it counts as uncalibrated; run hornbook calibrate again"
    )
    assert caplog.messages == [sentence]
    assert Calibrations.read(file).stale(changed) == (sentence,)
    assert Calibrations.read(file).stale(contract) == ()


@pytest.mark.requirement("judges:stored:stale")
def test_a_part_of_a_composed_clause_that_changed_makes_it_stale(file: Path):
    def each(threshold: float) -> Contract[Any]:
        part = clauses.similar(".", source="q", judge=Sure(), threshold=threshold)
        return held(clauses.forall("[]", part, name="each"))

    store_calibration(each(0.5), each(0.5).ensures[0], MEASURED, file)
    assert calibrated(each(0.5), file).ensures[0].calibration == MEASURED
    assert calibrated(each(0.6), file).ensures[0].calibration is None


@pytest.mark.requirement("judges:stored:explicit")
def test_what_a_clause_was_given_stays(file: Path):
    contract = held(near(calibration=OTHER))
    store_calibration(contract, contract.ensures[0], MEASURED, file)
    assert calibrated(contract, file).ensures[0].calibration == OTHER


@pytest.mark.requirement("judges:stored:file")
def test_the_file_is_for_people_too_and_keeps_what_others_stored(file: Path):
    one, two = held(), held(name="another")
    store_calibration(one, one.ensures[0], OTHER, file)
    store_calibration(two, two.ensures[0], OTHER, file)
    store_calibration(one, one.ensures[0], MEASURED, file)
    document = json.loads(file.read_text(encoding="utf-8"))
    assert (document["format"], document["version"]) == ("hornbook-calibrations", 1)
    assert [(one["contract"], one["about"]) for one in document["calibrations"]] == [
        ("another", "similar . at 0.8, judged by sure"),
        ("answer", "similar . at 0.8, judged by sure"),
    ]
    assert document["calibrations"][1]["calibration"]["n"] == 40
    assert [path.name for path in file.parent.iterdir()] == ["calibrations.json"]
    read = Calibrations.read(file)
    assert read.of(one, one.ensures[0]) == MEASURED
    assert read.of(two, two.ensures[0]) == OTHER
    assert read.of(held(name="third"), one.ensures[0]) is None


@pytest.mark.requirement("judges:stored:file")
def test_the_default_file_may_be_missing_and_a_named_one_may_not(tmp_path: Path):
    assert calibrated(held()).ensures[0].calibration is None
    assert store_calibration(held(), near(), MEASURED) == Path("hornbook-calibrations.json")
    assert calibrated(held()).ensures[0].calibration == MEASURED
    missing = tmp_path / "none.json"
    with pytest.raises(CalibrationError) as caught:
        calibrated(held(), missing)
    assert str(caught.value) == f"{missing} cannot be read: No such file or directory"


@pytest.mark.requirement("judges:stored:setting")
def test_the_setting_names_the_default_file(tmp_path: Path):
    (tmp_path / "hornbook.toml").write_text('calibrations = "measured.json"', encoding="utf-8")
    config.reload()
    assert calibrations_file() == tmp_path / "measured.json"
    store_calibration(held(), near(), MEASURED)
    assert (tmp_path / "measured.json").is_file()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[]",
            "holds no calibrations: its format is another",
        ),
        (
            "{",
            "holds no calibrations: JSONDecodeError: Expecting property name enclosed in double "
            "quotes: line 1 column 2 (char 1)",
        ),
        ("{}", "holds no calibrations: its format is another"),
        ('{"format": "x"}', "holds no calibrations: its format is another"),
        (
            '{"format": "hornbook-calibrations", "version": 2}',
            "is of version 2, and version 1 is read here: upgrade hornbook",
        ),
        (
            '{"format": "hornbook-calibrations", "version": 1, "calibrations": null}',
            "holds no calibrations: it has no list of them",
        ),
    ],
)
@pytest.mark.requirement("judges:stored:refused")
def test_a_file_that_holds_something_else_is_one_sentence(file: Path, text: str, message: str):
    file.write_text(text, encoding="utf-8")
    for read in (
        lambda: calibrated(held(), file),
        lambda: store_calibration(held(), near(), MEASURED, file),
    ):
        with pytest.raises(CalibrationError) as caught:
            read()
        assert str(caught.value) == f"{file} {message}"
    assert file.read_text(encoding="utf-8") == text


ODD: list[tuple[dict[str, Any], str]] = [
    ({"contract": None}, "contract is a text, not null"),
    ({"clause": 7}, "clause is a text, not 7"),
    ({"about": "\ud800"}, "about has half a character in it: '\\ud800'"),
    ({"note": "x"}, "it has an unknown key 'note'"),
    (
        {"calibration": []},
        "calibration is an object with n, false_accept, false_reject, undetermined, not []",
    ),
    ({"calibration": {}}, "calibration has no n"),
    ({"n": "<b>"}, 'n is a whole number from 0, not "<b>"'),
    ({"n": True}, "n is a whole number from 0, not true"),
    ({"n": 4.5}, "n is a whole number from 0, not 4.5"),
    ({"undetermined": -5}, "undetermined is a whole number from 0, not -5"),
    ({"undetermined": 41}, "undetermined is above n"),
    ({"false_accept": None}, "false_accept is an object with value, low, high, not null"),
    (
        {"false_reject": {"value": "0", "low": 0, "high": 1}},
        'false_reject: value is a number, not "0"',
    ),
    (
        {"false_reject": {"value": 2, "low": 0, "high": 1}},
        "a rate needs 0 <= low <= value <= high <= 1: 0, 2, 1",
    ),
]


@pytest.mark.parametrize(("odd", "message"), ODD)
@pytest.mark.requirement("judges:stored:refused")
def test_an_odd_entry_is_one_sentence_with_its_number(
    file: Path, odd: dict[str, Any], message: str
):
    contract = held()
    store_calibration(contract, contract.ensures[0], MEASURED, file)
    document = json.loads(file.read_text(encoding="utf-8"))
    second = json.loads(json.dumps(document["calibrations"][0]))
    inner = odd.keys() & {"n", "undetermined", "false_accept", "false_reject"}
    (second["calibration"] if inner else second).update(odd)
    document["calibrations"].append(second)
    file.write_text(json.dumps(document), encoding="utf-8")
    for read in (
        lambda: calibrated(contract, file),
        lambda: store_calibration(contract, near(), MEASURED, file),
    ):
        with pytest.raises(CalibrationError) as caught:
            read()
        assert str(caught.value) == f"{file}, entry 2: {message}"
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.requirement("judges:stored:refused")
def test_an_entry_that_is_none_is_named(file: Path):
    file.write_text(
        '{"format": "hornbook-calibrations", "version": 1, "calibrations": [7]}', encoding="utf-8"
    )
    with pytest.raises(CalibrationError) as caught:
        Calibrations.read(file)
    assert str(caught.value) == (
        f"{file}, entry 1: it is an object with contract, clause, identity, about, calibration, "
        "not 7"
    )


@pytest.mark.requirement("judges:stored:together")
def test_what_many_store_at_once_is_all_kept(file: Path):
    contract = held(*(near(name=f"near {at}") for at in range(20)))
    failed: list[Exception] = []
    start = Barrier(20)

    def store(clause: Any) -> None:
        start.wait()
        try:
            store_calibration(contract, clause, MEASURED, file)
        except Exception as error:
            failed.append(error)

    threads = [Thread(target=store, args=(clause,)) for clause in contract.ensures[:20]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(Calibrations.read(file).entries) == 20
    assert [path.name for path in file.parent.iterdir()] == [file.name]


HOLDS = """
import sys, time
from pathlib import Path
from hornbook.judges.locked import locked
with locked(Path(sys.argv[1])):
    print("locked", flush=True)
    time.sleep(600)
"""


@pytest.mark.requirement("judges:stored:together")
def test_another_process_is_waited_for_and_one_that_was_killed_is_not(
    file: Path, monkeypatch: pytest.MonkeyPatch
):
    contract = held()
    other = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(file)], stdout=subprocess.PIPE, text=True
    )
    assert other.stdout is not None
    try:
        assert other.stdout.readline() == "locked\n"
        monkeypatch.setattr("hornbook.judges.locked._PATIENCE", 0.05)
        with pytest.raises(CalibrationError) as caught:
            store_calibration(contract, contract.ensures[0], MEASURED, file)
        lock = file.with_name(".calibrations.json.lock")
        assert str(caught.value) == (f"{file} cannot be written: another process has {lock} locked")
    finally:
        other.kill()
        other.wait()
        other.stdout.close()
    store_calibration(contract, contract.ensures[0], MEASURED, file)
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.requirement("judges:stored:unwritable")
def test_a_file_that_cannot_be_written_is_one_sentence_and_nothing_is_left(tmp_path: Path):
    folder = tmp_path / "folder"
    (folder / "full").mkdir(parents=True)
    contract = held()
    with pytest.raises(CalibrationError) as caught:
        store_calibration(contract, contract.ensures[0], MEASURED, folder)
    assert str(caught.value) == f"{folder} cannot be written: it is a folder"
    with pytest.raises(CalibrationError) as caught:
        Calibrations().write(folder)
    assert str(caught.value).startswith(f"{folder} cannot be written: ")
    missing = tmp_path / "none" / "calibrations.json"
    with pytest.raises(CalibrationError) as caught:
        store_calibration(contract, contract.ensures[0], MEASURED, missing)
    assert str(caught.value) == f"{missing} cannot be written: No such file or directory"
    odd = held(name="\ud800")
    with pytest.raises(DefinitionError) as refused:
        store_calibration(odd, near(), MEASURED, tmp_path / "calibrations.json")
    assert str(refused.value) == "contract has half a character in it: '\\ud800'"
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


@pytest.mark.requirement("judges:stored:refused")
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path):
    with pytest.raises(CalibrationError, match=r"cannot be read: "):
        calibrated(held(), tmp_path)


@pytest.mark.requirement("judges:stored:identity")
def test_a_clauses_name_is_not_part_of_what_it_measures():
    assert clause_identity(near()) == clause_identity(near(name="renamed"))
    assert clause_identity(near()) == clause_identity(near(calibration=OTHER))
    assert clause_identity(near()).startswith("sha256:")


@pytest.mark.requirement("judges:stored:identity")
def test_a_judge_without_an_identity_is_known_by_its_type_and_version():
    name = f"{Nameless.__module__}:Nameless"
    assert judge_identity(Sure("me")) == "me"
    assert judge_identity(Nameless()) == name
    assert judge_identity(Nameless("2")) == f"{name} 2"
