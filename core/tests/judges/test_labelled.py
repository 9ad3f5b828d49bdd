"""Labelled examples: a file of JSON lines, and one sentence for each thing wrong with it."""

from pathlib import Path

import pytest

from hornbook.judges import CalibrationError, Labelled, read_labelled


def written(folder: Path, text: str) -> Path:
    path = folder / "labelled.jsonl"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.requirement("judges:labelled:read")
def test_each_line_is_an_example_with_its_place(tmp_path: Path):
    path = written(
        tmp_path,
        '\ufeff{"value": "a", "inputs": {"q": "b"}, "label": true}\n'
        "\n"
        '{"label": false, "value": {"x": [1, null]}}',
    )
    assert read_labelled(path) == (
        Labelled(value="a", inputs={"q": "b"}, label=True, where=f"{path}, line 1"),
        Labelled(value={"x": [1, None]}, inputs={}, label=False, where=f"{path}, line 3"),
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            '{"value": 1, "label": true, "lable": 1}',
            "unknown key 'lable'; there are value, inputs, label",
        ),
        ('{"value": 1}', "it has no label; say true for good, false for bad"),
        ('{"label": true}', "it has no value; for a clause on the inputs write null"),
        ('{"value": 1, "label": "yes"}', 'label is true or false, not "yes"'),
        ('{"value": 1, "label": 1}', "label is true or false, not 1"),
        (
            '{"value": 1, "label": "' + "x" * 99 + '"}',
            f'label is true or false, not "{"x" * 36}...',
        ),
        (
            '{"value": 1, "label": true, "inputs": ["q"]}',
            "inputs is an object of inputs by name",
        ),
        ('["value"]', "an example is an object with value, inputs and label"),
        (
            '{"value": 1,',
            "this is no JSON: Expecting property name enclosed in double quotes at column 13",
        ),
        (
            '{"value": 1, "value": 2, "label": true}',
            "this is no JSON: the key 'value' stands there twice",
        ),
        ('{"value": NaN, "label": true}', "this is no JSON: NaN is no JSON number"),
        ('{"value": -Infinity, "label": true}', "this is no JSON: -Infinity is no JSON number"),
        ('{"value": [1e999], "label": true}', "this is no JSON: 1e999 is too large a number"),
        (
            '{"value": -' + "9" * 999 + '.0, "label": true}',
            f"this is no JSON: -{'9' * 36}... is too large a number",
        ),
    ],
)
@pytest.mark.requirement("judges:labelled:refused")
def test_a_line_that_is_no_example_is_one_sentence_with_its_place(
    tmp_path: Path, line: str, message: str
):
    path = written(tmp_path, f'{{"value": 1, "label": true}}\n{line}\n')
    with pytest.raises(CalibrationError) as caught:
        read_labelled(path)
    assert str(caught.value) == f"{path}, line 2: {message}"


@pytest.mark.requirement("judges:labelled:refused")
def test_runaway_nesting_is_one_sentence(tmp_path: Path):
    path = written(tmp_path, "[" * 200_000)
    with pytest.raises(CalibrationError, match=r"line 1: this is no JSON"):
        read_labelled(path)


@pytest.mark.requirement("judges:labelled:refused")
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path):
    missing = tmp_path / "none.jsonl"
    with pytest.raises(CalibrationError) as caught:
        read_labelled(missing)
    assert str(caught.value) == (
        f"{missing} cannot be read: [Errno 2] No such file or directory: '{missing}'"
    )
    binary = tmp_path / "binary.jsonl"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CalibrationError, match="cannot be read"):
        read_labelled(binary)


@pytest.mark.parametrize("text", ["", "\n \n"])
@pytest.mark.requirement("judges:labelled:refused")
def test_a_file_without_examples_is_named(tmp_path: Path, text: str):
    path = written(tmp_path, text)
    with pytest.raises(CalibrationError) as caught:
        read_labelled(path)
    assert (
        str(caught.value) == f"{path} holds no examples: write one a line, good ones and bad ones"
    )
