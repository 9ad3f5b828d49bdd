"""YAML scenario files, by PyYAML's safe loader; the extra `yaml`."""

from typing import Any

from hornbook.errors import MissingExtra
from hornbook.verify.lines import Field, Lines

__all__ = ["read_yaml"]


def read_yaml(text: str) -> tuple[Any, Lines]:
    """The data of a YAML text, and the line of each field.

    Raises:
        MissingExtra: PyYAML is not installed.
        ValueError: the text is no YAML.
    """
    try:
        import yaml as module
    except ImportError:
        raise MissingExtra(
            "a YAML scenario file needs PyYAML: pip install 'hornbook[yaml]'"
        ) from None
    yaml: Any = module
    try:
        node: Any = yaml.compose(text, Loader=yaml.SafeLoader)
        data: Any = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
    lines: dict[Field, int] = {}
    _note(node, (), lines, 0)
    return data, lines


def _note(node: Any, at: Field, lines: dict[Field, int], depth: int) -> None:
    # An alias may lead back to where it stands.
    if node is None or depth > 50:
        return
    lines.setdefault(at, node.start_mark.line + 1)
    if node.id == "mapping":
        for key, value in node.value:
            field = (*at, str(key.value))
            lines.setdefault(field, key.start_mark.line + 1)
            _note(value, field, lines, depth + 1)
        names = [str(key.value) for key, _ in node.value]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            line = node.start_mark.line + 1
            raise ValueError(f"line {line}: the key {twice!r} stands twice in one table")
    elif node.id == "sequence":
        for index, item in enumerate(node.value):
            _note(item, (*at, index), lines, depth + 1)
