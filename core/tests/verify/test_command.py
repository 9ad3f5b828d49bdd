"""`hornbook verify`, as it is typed."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from hornbook.cli import main

DESK = """
from hornbook import Contract, clauses
from hornbook.models import ScriptedModel
from hornbook.program import neural, primitive, Sequence
from pydantic import BaseModel

class Mail(BaseModel):
    text: str

class Order(BaseModel):
    order: str

read = neural(
    "read", ScriptedModel([], identity="small"), prompt="{text}", input=Mail, output=Order,
    contract=Contract("order", output=Order, ensures=[clauses.grounded("order", source="text")]),
)
careless = neural(
    "careless", ScriptedModel([], identity="small"), prompt="{text}", input=Mail, output=Order,
)

@primitive
def told(order: str) -> str:
    return order

desk = Sequence(read, told).named("desk")
other = Sequence(careless, told).named("other")
"""
SCENARIOS = """
program = "command_desk:desk"
[[scenario]]
name = "an order"
input.text = "Where is A-17?"
replies.read.order = "A-17"
expect.output = "A-17"
"""
OTHER = """
program = "command_desk:other"
[[scenario]]
name = "anything"
input.text = "Where is A-17?"
replies.careless.order = "B-22"
expect.output = "B-22"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "command_desk.py").write_text(DESK, encoding="utf-8")
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios/a.scenarios.toml").write_text(SCENARIOS, encoding="utf-8")
    return tmp_path


def hornbook(
    capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0
) -> tuple[list[str], str]:
    assert main(arguments) == code
    written = capsys.readouterr()
    return written.out.splitlines(), written.err


@pytest.mark.requirement("verify:command:program")
def test_a_program_alone_is_checked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = hornbook(capsys, "verify", "command_desk:desk")
    assert out[0] == "desk: ok (no scenarios)"
    assert "ASSURANCE TABLE" in out[5]


@pytest.mark.requirement("verify:command:scenarios")
def test_scenarios_name_their_programs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "scenarios/b.scenarios.toml").write_text(OTHER, encoding="utf-8")
    out, _ = hornbook(capsys, "verify", "--scenarios", "scenarios")
    assert out[0] == "desk: ok (1 of 1 scenario passed)"
    assert "other: ok (1 warning, 1 of 1 scenario passed)" in out
    out, _ = hornbook(capsys, "verify", "--scenarios", "scenarios", "--strict", code=1)
    assert "other: FAILED (1 warning, 1 of 1 scenario passed)" in out


@pytest.mark.requirement("verify:command:scenarios")
def test_with_a_program_its_own_scenarios_are_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "scenarios/b.scenarios.toml").write_text(OTHER, encoding="utf-8")
    out, _ = hornbook(capsys, "verify", "command_desk:desk", "--scenarios", "scenarios")
    assert out[0] == "desk: ok (1 of 1 scenario passed)"
    assert not any(line.startswith("other") for line in out)


@pytest.mark.requirement("verify:command:scenarios")
def test_where_the_files_name_others_only_they_are_run_on_the_program_given(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, _ = hornbook(capsys, "verify", "command_desk:other", "--scenarios", "scenarios", code=1)
    assert out[0] == "other: FAILED (1 warning, 0 of 1 scenario passed)"
    assert out[-1] == (
        "    'replies' has 'read', which is no neural step of the program; it has careless"
    )


@pytest.mark.requirement("verify:command:failed")
def test_a_scenario_that_fails_makes_it_exit_with_1(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "scenarios/a.scenarios.toml"
    file.write_text(SCENARIOS.replace('output = "A-17"', 'output = "B-22"'), encoding="utf-8")
    out, _ = hornbook(capsys, "verify", "--scenarios", "scenarios", code=1)
    assert out[0] == "desk: FAILED (0 of 1 scenario passed)"
    assert out[-2:] == [
        "  an order (scenarios/a.scenarios.toml:3)",
        "    output: expected 'B-22', got 'A-17'",
    ]


@pytest.mark.requirement("verify:command:files")
def test_it_writes_json_junit_and_html_beside_the_report(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["--json", "v.json", "--junit", "v.xml", "--html", "v.html"]
    out, _ = hornbook(capsys, "verify", "--scenarios", "scenarios", *files)
    assert out[0] == "desk: ok (1 of 1 scenario passed)"
    data = json.loads((folder / "v.json").read_text(encoding="utf-8"))
    assert (data["format"], data["ok"]) == ("hornbook-verifications", True)
    assert [one["program"] for one in data["programs"]] == ["desk"]
    assert ET.parse(folder / "v.xml").getroot().attrib["failures"] == "0"
    assert "Every check and every scenario holds" in (folder / "v.html").read_text("utf-8")


@pytest.mark.requirement("verify:command:files")
def test_several_programs_have_a_page_each(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "scenarios/b.scenarios.toml").write_text(OTHER, encoding="utf-8")
    hornbook(capsys, "verify", "--scenarios", "scenarios", "--html", "v.html", "--text", "v.txt")
    assert {file.name for file in folder.glob("v*")} == {
        "v-desk.html",
        "v-other.html",
        "v-desk.txt",
        "v-other.txt",
    }


@pytest.mark.requirement("verify:command:files")
@pytest.mark.parametrize(
    ("form", "start"),
    [
        ("json", "{"),
        ("junit", "<?xml version"),
        ("html", "<!DOCTYPE html>"),
        ("text", "desk: "),
        ("mermaid", "flowchart "),
    ],
)
def test_a_dash_writes_one_form_in_place_of_the_report(
    folder: Path, capsys: pytest.CaptureFixture[str], form: str, start: str
) -> None:
    out, _ = hornbook(capsys, "verify", "command_desk:desk", f"--{form}", "-")
    assert out[0].startswith(start)
    assert not any("ASSURANCE TABLE" in line for line in out)


@pytest.mark.requirement("verify:command:evaluations")
def test_evaluations_are_read_from_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from hornbook.evaluation import Example, evaluate_primitive
    from hornbook.verify import load_program

    told: Any = load_program("command_desk:told")
    evaluation = evaluate_primitive(told, [Example(input="a", output="a")])
    (folder / "told.json").write_text(evaluation.to_json(), encoding="utf-8")
    out, _ = hornbook(capsys, "verify", "command_desk:desk", "--evaluations", "told.json")
    assert "exact" in "".join(out)


@pytest.mark.requirement("verify:command:refused")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            [],
            "name a program, as `hornbook verify module:program`, or the scenarios of programs "
            "with --scenarios",
        ),
        (["command_desk"], "'command_desk' names no program: write module:attribute"),
        (
            ["command_desk:dekk"],
            "'command_desk:dekk': command_desk has no 'dekk'; did you mean 'desk'?",
        ),
        (["--scenarios", "nowhere"], "nowhere: there is no such file or folder"),
        (
            ["--scenarios", "unnamed.toml"],
            "unnamed.toml:1: scenario 'a': it names no program",
        ),
        (
            ["--scenarios", "bad.toml"],
            "bad.toml:1: scenario 1: 'name' is missing; bad.toml:1: scenario 1: 'input' is missing",
        ),
    ],
)
def test_what_cannot_be_verified_is_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: Sequence[str], message: str
) -> None:
    unnamed = '[[scenario]]\nname = "a"\ninput = 1\n'
    (folder / "unnamed.toml").write_text(unnamed, encoding="utf-8")
    (folder / "bad.toml").write_text("[[scenario]]\n", encoding="utf-8")
    out, err = hornbook(capsys, "verify", *arguments, code=1)
    assert (out, err) == ([], f"hornbook: {message}\n")


@pytest.mark.requirement("verify:command:safe")
def test_what_a_scenario_says_cannot_control_the_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "scenarios/a.scenarios.toml"
    text = SCENARIOS.replace("an order", "\\u001b[31m").replace('output = "A-17"', "output = 1")
    file.write_text(text, encoding="utf-8")
    out, _ = hornbook(capsys, "verify", "--scenarios", "scenarios", code=1)
    assert "  \\x1b[31m (scenarios/a.scenarios.toml:3)" in out
