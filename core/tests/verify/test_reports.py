"""A verification as text, JSON, JUnit XML and HTML."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from pydantic import BaseModel

from hornbook import Contract, clauses
from hornbook import program as p
from hornbook.contracts.judge import Rate
from hornbook.models import ScriptedModel
from hornbook.program import neural, primitive
from hornbook.verify import Expectation, Scenario, Verification, junit_of, verify


class Text(BaseModel):
    text: str


class Topic(BaseModel):
    topic: str


class Measured:
    exact = Rate(value=0.9, low=0.8, high=0.95)
    wrong_given_satisfied = Rate(value=0.05, low=0.01, high=0.15)


@primitive
def loud(topic: Topic) -> str:
    return topic.topic.upper()


@primitive
def never(topic: Topic) -> str:
    return topic.topic


def short(topic: Topic) -> bool:
    return len(topic.topic) < 20


topic = neural(
    "topic",
    ScriptedModel([], identity="small"),
    prompt="What is it about? {text}",
    input=Text,
    output=Topic,
    contract=Contract("topic", output=Topic, ensures=[clauses.grounded("topic", source="text")]),
    requires_accuracy=0.85,
)
program = p.Sequence(topic, p.Conditional(short, loud, never)).named("topics")
SCENARIOS = [
    Scenario(
        name="a ferry",
        input={"text": "The ferry was late."},
        replies={"topic": {"topic": "ferry"}},
        expect=Expectation(output="FERRY"),
        file=Path("topics.scenarios.toml"),
        line=3,
    ),
    Scenario(
        name="a <tram> \x1b[31m",
        about="what it is about",
        input={"text": "The tram & the bus."},
        replies={"topic": {"topic": "tram"}},
        expect=Expectation(output="BUS"),
        file=Path("topics.scenarios.toml"),
        line=9,
    ),
    Scenario(name="ill", input=3),
]

TEXT = """\
topics: FAILED (1 error, 1 of 3 scenarios passed)
  calls: small: 1; 1 in all
  types fit at every seam, by construction: it takes Text and gives str
  every run ends, by construction: it has no loop

ASSURANCE TABLE: what holds of each step's output, and how many wrong ones were caught
  STEP                       PROPERTY                                  ASSURANCE   CAUGHT  PASSED
  topic (neural)             output type                               guaranteed       5       0
                             grounded topic                            guaranteed       4       0
                             right beyond its contract                 measured         3       0
                               P(wrong | satisfied) 0.050 [0.010, 0.150]; exact 0.900 [0.800,
                               0.950], 0.85 required
  short                      output type                               guaranteed       2       0
                             right beyond its contract                 unchecked        1       0
  loud                       output type                               guaranteed       2       0
                             right beyond its contract                 unchecked        3       0
  never                      output type                               guaranteed       -       -
                             right beyond its contract                 unchecked        -       -
"""


@pytest.fixture(scope="module")
def found() -> Verification:
    return verify(program, SCENARIOS, evaluations={"topic": Measured()})


@pytest.mark.requirement("verify:report:text")
def test_the_text_tells_verdict_table_findings_and_failures(found: Verification) -> None:
    verdict, table, findings, failed = str(found).split("\n\n")
    assert f"{verdict}\n\n{table}\n" == TEXT
    assert findings.startswith("FINDINGS\n  error at topics[0] (accuracy): 'topic' requires")
    assert failed == (
        "SCENARIOS THAT FAILED\n"
        "  a <tram> \x1b[31m (topics.scenarios.toml:9)\n"
        "    output: expected 'BUS', got 'TRAM'\n"
        "  ill\n"
        "    its input does not fit the program: input should be an object"
    )


@pytest.mark.requirement("verify:report:text")
def test_no_line_is_wider_than_a_hundred_columns(found: Verification) -> None:
    assert max(map(len, str(found).splitlines())) <= 100


@pytest.mark.requirement("verify:report:json")
def test_the_json_holds_everything(found: Verification) -> None:
    data: dict[str, Any] = json.loads(found.to_json())
    assert {key: data[key] for key in ("format", "version", "program", "ok", "strict")} == {
        "format": "hornbook-verification",
        "version": 1,
        "program": "topics",
        "ok": False,
        "strict": False,
    }
    assert [one["ok"] for one in data["scenarios"]] == [True, False, False]
    assert data["scenarios"][1]["failures"] == ["output: expected 'BUS', got 'TRAM'"]
    assert data["scenarios"][0]["run"]["steps"][0]["output"] == {"topic": "ferry"}
    assert data["scenarios"][2]["run"] is None
    assert [row["step"] for row in data["table"]] == ["topic", "short", "loud", "never"]
    assert data["table"][0]["accuracy"] == {"value": 0.9, "low": 0.8, "high": 0.95}
    assert len(data["mutants"]) == len(found.mutants)
    assert data["digest"] == program.digest


@pytest.mark.requirement("verify:report:junit")
def test_the_junit_xml_is_what_ci_systems_read(found: Verification) -> None:
    root = ET.fromstring(found.to_junit())
    assert (root.tag, root.attrib["name"]) == ("testsuites", "hornbook verify")
    assert {key: root.attrib[key] for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "15",
        "failures": "2",
        "errors": "1",
        "skipped": "0",
    }
    checks, scenarios = root
    assert [suite.attrib["name"] for suite in root] == ["topics.checks", "topics.scenarios"]
    for suite in root:
        assert suite.attrib["tests"] == str(len(suite))
        assert float(suite.attrib["time"]) >= 0
        for case in suite:
            assert case.tag == "testcase"
            assert {"classname", "name", "time"} <= case.attrib.keys()
    failing = [case.attrib["name"] for case in checks if case.find("failure") is not None]
    assert failing == ["accuracy"]
    passed, failed, not_run = scenarios
    assert list(passed) == []
    assert (passed.attrib["file"], passed.attrib["line"]) == ("topics.scenarios.toml", "3")
    failure = failed.find("failure")
    assert failure is not None
    # XML has no escape for a control character.
    assert failed.attrib["name"] == "a <tram> \\x1b[31m"
    assert failure.attrib == {
        "message": "output: expected 'BUS', got 'TRAM'",
        "type": "scenario",
    }
    assert not_run.find("error") is not None


@pytest.mark.requirement("verify:report:junit")
def test_several_verifications_make_one_junit_file(found: Verification) -> None:
    root = ET.fromstring(junit_of(found, verify(loud)))
    assert [suite.attrib["name"] for suite in root] == [
        "topics.checks",
        "topics.scenarios",
        "loud.checks",
        "loud.scenarios",
    ]


@pytest.mark.requirement("verify:report:html")
def test_the_html_is_one_static_page_with_all_of_it(found: Verification) -> None:
    page = found.to_html()
    assert page.startswith("<!DOCTYPE html>")
    assert "Content-Security-Policy" in page
    assert "a &lt;tram&gt;" in page
    assert "<tram>" not in page
    for text in ("topics[0]", "topic: grounded topic", "BUS", "accuracy", "P(wrong | satisfied)"):
        assert text in page


@pytest.mark.requirement("verify:report:light")
def test_a_program_without_scenarios_has_a_report_too() -> None:
    result = verify(loud)
    assert result.ok
    assert str(result).startswith("loud: ok (no scenarios)\n")
    assert ET.fromstring(result.to_junit()) is not None
    assert result.to_html()
