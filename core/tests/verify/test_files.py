"""Scenario files: what they may say, and one sentence with file and line for what they may not."""

import sys
from pathlib import Path

import pytest

from hornbook.errors import MissingExtra
from hornbook.verify import (
    Expectation,
    ExpectedStep,
    ExpectedViolation,
    Scenario,
    ScenarioError,
    read_scenarios,
)

WHOLE = """\
# Comments, and texts that look like headers, do not shift the lines.
program = "desk:triage"

[[scenario]]
name = "a late parcel"
about = \"\"\"
It says
[[scenario]]
name = "not this one"
\"\"\"
input = { text = "Where is A-17?", limit = 3 }
[scenario.replies]
classify = ["Well, ...", { queue = "parcels" }]
[scenario.expect]
output = "parcels"
status = "recovered"
calls = 2
violation = { step = "classify", clause = "output" }
[scenario.expect.steps.classify]
output = { queue = "parcels" }
attempts = 2
[scenario.expect.steps."triage[2]"]
ran = false

[[scenario]]
name = "nothing is expected"
program = "desk:other"
input = []
"""


def written(folder: Path, text: str, name: str = "desk.scenarios.toml") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def refused(*places: str | Path) -> tuple[str, ...]:
    with pytest.raises(ScenarioError) as caught:
        read_scenarios(*places)
    return caught.value.problems


@pytest.mark.requirement("scenarios:format:whole")
def test_a_file_says_all_that_a_scenario_is(tmp_path: Path) -> None:
    file = written(tmp_path, WHOLE)
    first, second = read_scenarios(file)
    assert first == Scenario(
        name="a late parcel",
        about='It says\n[[scenario]]\nname = "not this one"\n',
        program="desk:triage",
        input={"text": "Where is A-17?", "limit": 3},
        replies={"classify": ["Well, ...", {"queue": "parcels"}]},
        expect=Expectation(
            output="parcels",
            status="recovered",
            calls=2,
            violation=ExpectedViolation(step="classify", clause="output"),
            steps={
                "classify": ExpectedStep(output={"queue": "parcels"}, attempts=2),
                "triage[2]": ExpectedStep(ran=False),
            },
        ),
        file=file,
        line=4,
    )
    assert (second.program, second.line, second.expect) == ("desk:other", 25, Expectation())


@pytest.mark.requirement("scenarios:format:json-yaml")
def test_json_and_yaml_say_the_same(tmp_path: Path) -> None:
    import json
    import tomllib

    data = tomllib.loads(WHOLE)
    toml = read_scenarios(written(tmp_path, WHOLE))
    as_json = read_scenarios(written(tmp_path, json.dumps(data, indent=1), "desk.scenarios.json"))
    as_yaml = read_scenarios(written(tmp_path, json.dumps(data, indent=1), "desk.scenarios.yaml"))
    for one, two, three in zip(toml, as_json, as_yaml, strict=True):
        assert (one.name, one.input, one.expect) == (two.name, two.input, two.expect)
        assert (one.name, one.input, one.expect) == (three.name, three.input, three.expect)
    assert [one.line for one in as_json] == [one.line for one in as_yaml] == [4, 40]


@pytest.mark.requirement("scenarios:format:yaml-extra")
def test_yaml_without_its_extra_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path, "scenario: []", "desk.scenarios.yaml")
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(MissingExtra) as caught:
        read_scenarios(file)
    assert str(caught.value) == (
        f"{file}: a YAML scenario file needs PyYAML: pip install 'hornbook[yaml]'"
    )


@pytest.mark.requirement("scenarios:format:refused")
@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ('[[scenario]]\nname = "a"\ninput = 1\nexpects = 2\n',
         ["4: scenario 'a': unknown key 'expects'; the nearest is 'expect'"]),
        ('[[scenario]]\nname = "a"\ninput = 1\n[scenario.expect]\nzzz = 2\n',
         ["5: scenario 'a', expect: unknown key 'zzz'; there are output, status, violation, "
          "steps, calls"]),
        ('[[scenario]]\nname = "a"\ninput = 1\nexpect.steps.draft.ouput = 2\n',
         ["4: scenario 'a', expect, step 'draft': unknown key 'ouput'; the nearest is "
          "'output'"]),
        ('programm = "x:y"\n[[scenario]]\nname = "a"\ninput = 1\n',
         ["1: the file: unknown key 'programm'; the nearest is 'program'"]),
        ('[[scenario]]\nname = 3\ninput = 1\n',
         ["2: scenario 1: 'name' is a text, not a whole number"]),
        ('[[scenario]]\nname = "a"\n', ["1: scenario 'a': 'input' is missing"]),
        ('[[scenario]]\ninput = 1\n', ["1: scenario 1: 'name' is missing"]),
        ('[[scenario]]\nname = " "\ninput = 1\n', ["2: scenario ' ': 'name' is empty"]),
        ('[[scenario]]\nname = "a"\ninput = 1\nexpect.status = "satisfactory"\n',
         ["4: scenario 'a', expect: 'status' is satisfied, recovered, waived, violated, error, "
          "not 'satisfactory'; the nearest is 'satisfied'"]),
        ('[[scenario]]\nname = "a"\ninput = 1\nexpect.calls = -1\n',
         ["4: scenario 'a', expect: 'calls' is a number of at least 0, not -1"]),
        ('[[scenario]]\nname = "a"\ninput = 1\nexpect.calls = true\n',
         ["4: scenario 'a', expect: 'calls' is a whole number, not true or false"]),
        ('[[scenario]]\nname = "a"\ninput = 1\nreplies.classify = 3\n',
         ["4: scenario 'a': 'replies' of 'classify' is a text, a table (replied as JSON), or a "
          "list of them, one a call"]),
        ('[[scenario]]\nname = "a"\ninput = 1\n\n[[scenario]]\nname = "a"\ninput = 2\n',
         ["6: two scenarios are called 'a', first on line 1"]),
        ('kind = "kernels"\n',
         ["1: the file: 'kind' is program, kernel, not 'kernels'; the nearest is 'kernel'"]),
        ('scenario = [1]\n', ["1: scenario 1 is a table, not 1"]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_sentence(
    tmp_path: Path, text: str, problems: list[str]
) -> None:
    file = written(tmp_path, text)
    assert refused(file) == tuple(f"{file}:{problem}" for problem in problems)


@pytest.mark.requirement("scenarios:format:refused")
def test_all_problems_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    one = written(tmp_path, '[[scenario]]\nnmae = "a"\n', "a.scenarios.toml")
    two = written(tmp_path, '{"scenario":\n  [{"name": 3, "input": 1}]}', "b.scenarios.json")
    assert refused(tmp_path) == (
        f"{one}:1: scenario 1: 'name' is missing",
        f"{one}:1: scenario 1: 'input' is missing",
        f"{one}:2: scenario 1: unknown key 'nmae'; the nearest is 'name'",
        f"{two}:2: scenario 1: 'name' is a text, not a whole number",
    )


@pytest.mark.requirement("scenarios:files:refused")
def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    assert refused(missing) == (f"{missing}: there is no such file or folder",)
    assert refused(tmp_path) == (
        f"{tmp_path}: there is no scenario file, no *.scenarios.toml, *.scenarios.json, "
        f"*.scenarios.yaml, *.scenarios.yml",
    )
    file = written(tmp_path, "x", "a.txt")
    assert refused(file) == (f"{file}: a scenario file is TOML, JSON or YAML, not 'txt'",)
    empty = written(tmp_path, "")
    assert refused(empty) == (f"{empty}: the file has no [[scenario]]",)
    listed = written(tmp_path, "[]", "a.json")
    assert refused(listed) == (f"{listed}: the top of a scenario file is a table",)


@pytest.mark.requirement("scenarios:files:refused")
@pytest.mark.parametrize(
    ("name", "text", "start"),
    [
        ("a.toml", "name = ", "this is no TOML: Invalid value (at end of document)"),
        ("a.json", "{", "this is no JSON: Expecting property name"),
        ("a.json", '{"a": 1, "a": 2}', "this is no JSON: the key 'a' stands twice in one table"),
        ("a.yaml", "b:\n  a: 1\n  a: 2", "this is no YAML: line 2: the key 'a' stands twice"),
        ("a.yaml", "a: [", "this is no YAML: while parsing a flow node"),
        ("a.json", "[" * 100_000, "this is no JSON: "),
        ("a.toml", 'x = "\udcff"', "this is no TOML: "),
    ],
)
def test_a_file_of_another_form_says_where(
    tmp_path: Path, name: str, text: str, start: str
) -> None:
    file = tmp_path / name
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    (problem,) = refused(file)
    assert problem.startswith(f"{file}: {start}")


@pytest.mark.requirement("scenarios:format:refused")
def test_many_problems_are_summed_up_and_kept_by_a_copy(tmp_path: Path) -> None:
    import pickle

    lines = "\n".join(f"key{at} = {at}" for at in range(7))
    with pytest.raises(ScenarioError) as caught:
        read_scenarios(written(tmp_path, lines))
    assert len(caught.value.problems) == 7
    assert str(caught.value).endswith("; and 2 more")
    assert pickle.loads(pickle.dumps(caught.value)).problems == caught.value.problems


@pytest.mark.requirement("scenarios:files:folder")
def test_a_folder_is_read_with_all_below_it(tmp_path: Path) -> None:
    below = tmp_path / "deep" / "er"
    below.mkdir(parents=True)
    written(below, WHOLE)
    written(tmp_path, "not = 'one of them'", "pyproject.toml")
    hidden = tmp_path / ".venv"
    hidden.mkdir()
    written(hidden, "nor this")
    written(tmp_path, '{"scenario": [{"name": "z", "input": null}]}', "a.scenarios.json")
    assert [one.name for one in read_scenarios(tmp_path)] == [
        "z",
        "a late parcel",
        "nothing is expected",
    ]
