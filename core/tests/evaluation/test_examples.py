"""Files of labelled examples: what is wrong is said with file and line."""

from pathlib import Path

import pytest

from hornbook.evaluation import EvaluationError, Example, read_examples


def write(folder: Path, *lines: str) -> Path:
    path = folder / "examples.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.mark.requirement("evaluation:examples:read")
def test_examples_are_read_line_by_line(tmp_path: Path):
    path = write(
        tmp_path,
        '{"input": "a", "output": {"x": [1, 2.5, null]}}',
        "",
        '{"input": {"p": 1}, "output": "b", "scenario": "letters"}',
    )
    assert read_examples(path) == (
        Example(input="a", output={"x": [1, 2.5, None]}, where=f"{path}, line 1"),
        Example(input={"p": 1}, output="b", scenario="letters", where=f"{path}, line 3"),
    )


@pytest.mark.requirement("evaluation:examples:read")
def test_equal_examples_have_one_key_wherever_they_stand():
    one = Example(input={"a": 1, "b": 2}, output="x", where="here")
    other = Example(input={"b": 2, "a": 1}, output="x", scenario="s")
    assert one.key == other.key
    assert one.key != Example(input={"a": 1, "b": 2}, output="y").key


@pytest.mark.requirement("evaluation:examples:malformed")
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"input": 1}', "it has no output"),
        ('{"output": 1}', "it has no input"),
        ("[1]", "an example is an object with input and output"),
        (
            '{"input": 1, "output": 2, "label": 3}',
            "unknown key 'label'; there are input, output, scenario",
        ),
        ('{"input": 1, "output": 2, "scenario": 3}', "scenario is a text, not 3"),
    ],
)
def test_a_line_that_is_no_example_is_refused(tmp_path: Path, line: str, message: str):
    path = write(tmp_path, '{"input": 1, "output": 2}', line)
    with pytest.raises(EvaluationError) as caught:
        read_examples(path)
    assert str(caught.value) == f"{path}, line 2: {message}"
    assert caught.value.code == "evaluation"


@pytest.mark.requirement("evaluation:examples:malformed")
@pytest.mark.parametrize("line", ['{"input": 1, "input": 1}', '{"input": NaN', "{"])
def test_what_is_no_strict_json_is_refused(tmp_path: Path, line: str):
    path = write(tmp_path, line)
    with pytest.raises(EvaluationError) as caught:
        read_examples(path)
    assert str(caught.value).startswith(f"{path}, line 1: this is no JSON: ")


@pytest.mark.requirement("evaluation:examples:malformed")
def test_a_file_that_is_empty_or_missing_is_refused(tmp_path: Path):
    path = write(tmp_path, "", "  ")
    with pytest.raises(EvaluationError) as caught:
        read_examples(path)
    assert str(caught.value) == f"{path} has no examples: write one JSON object a line"
    with pytest.raises(EvaluationError, match="cannot be read"):
        read_examples(tmp_path / "nowhere.jsonl")
