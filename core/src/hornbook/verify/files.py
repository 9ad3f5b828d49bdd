"""Scenario files: TOML, JSON and, with the extra `yaml`, YAML. See docs/scenarios.md."""

import json
import os
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from hornbook.errors import MissingExtra
from hornbook.verify.errors import ScenarioError
from hornbook.verify.kinds import KINDS
from hornbook.verify.lines import Lines, json_lines, toml_lines
from hornbook.verify.scenario import Scenario
from hornbook.verify.tables import Problems, Table

__all__ = ["FORMS", "SUFFIXES", "read_file", "read_scenarios", "scenario_of"]

FORMS = ("toml", "json", "yaml", "yml")
SUFFIXES = tuple(f".scenarios.{form}" for form in FORMS)
"""How the names of scenario files end, in a folder and for pytest."""


def read_scenarios(*places: str | Path) -> tuple[Scenario, ...]:
    """The scenarios of files, and of folders with all that is below them.

    In a folder, the files whose names end in `.scenarios.toml`, `.json`, `.yaml` or `.yml`
    are read; a file that is named itself may be called anything with such an ending.

    Raises:
        ScenarioError: a file cannot be read or is not well formed, or there is none; every
            problem is told, with file and line.
        MissingExtra: a YAML file, without the extra `yaml`.
    """
    found: list[Scenario] = []
    problems: list[str] = []
    for file in [file for place in places for file in _files(Path(place))]:
        try:
            found += read_file(file)
        except ScenarioError as error:
            problems += error.problems
    if problems:
        raise ScenarioError(problems)
    return tuple(found)


def scenario_of(data: Mapping[str, Any]) -> Scenario:
    """A scenario from data of the form that files have.

    Raises:
        ScenarioError: it is not well formed.
    """
    problems = Problems(file="scenarios")
    made = _scenario(dict(data), 0, "program", problems)
    if made is None or problems.found:
        raise ScenarioError(problems.found)
    return made


def _files(place: Path) -> Iterable[Path]:
    if not place.exists():
        raise ScenarioError([f"{place}: there is no such file or folder"])
    if not place.is_dir():
        return [place]
    found = sorted(_below(place))
    if not found:
        raise ScenarioError([f"{place}: there is no scenario file, no *{', *'.join(SUFFIXES)}"])
    return found


def _below(folder: Path) -> Iterable[Path]:
    """Scenario files at any depth, but for hidden folders, which hold environments and caches."""
    for here, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(here, name) for name in files if name.endswith(SUFFIXES))


def read_file(file: Path) -> tuple[Scenario, ...]:
    """The scenarios of one file.

    Raises:
        ScenarioError: it cannot be read, or is not well formed.
        MissingExtra: it is a YAML file, without the extra `yaml`.
    """
    data, lines = _parsed(file)
    problems = Problems(file=str(file), lines=lines)
    found = _scenarios(data, file, problems)
    if problems.found:
        raise ScenarioError(problems.found)
    return found


def _parsed(file: Path) -> tuple[Mapping[str, Any], Lines]:
    form = file.suffix.removeprefix(".").lower()
    if form not in _READERS:
        raise ScenarioError([f"{file}: a scenario file is TOML, JSON or YAML, not {form!r}"])
    try:
        text = file.read_text(encoding="utf-8-sig")
        data, lines = _READERS[form](text)
    except MissingExtra as error:
        raise MissingExtra(f"{file}: {error}") from error
    except OSError as error:
        raise ScenarioError([f"{file}: it cannot be read: {error.strerror or error}"]) from error
    except (ValueError, RecursionError) as error:
        raise ScenarioError([f"{file}: {_unreadable(form, error)}"]) from error
    if not isinstance(data, Mapping):
        raise ScenarioError([f"{file}: the top of a scenario file is a table"])
    return cast("Mapping[str, Any]", data), lines


def _unreadable(form: str, error: BaseException) -> str:
    told = " ".join(str(error).split()) or type(error).__name__
    return f"this is no {form.upper()}: {told}"


def _scenarios(data: Mapping[str, Any], file: Path, problems: Problems) -> tuple[Scenario, ...]:
    top = Table(data, (), "the file", problems)
    kind = top.choice("kind", tuple(KINDS)) or "program"
    program = top.text("program")
    items = top.tables("scenario")
    top.close()
    if not items and not problems.found:
        problems.add((), "the file has no [[scenario]]")
    found: dict[str, Scenario] = {}
    for at, item in items:
        scenario = _scenario(item, at, kind, problems)
        if scenario is None:
            continue
        if scenario.name in found:
            line = found[scenario.name].line
            first = "" if line is None else f", first on line {line}"
            problems.add(
                ("scenario", at, "name"), f"two scenarios are called {scenario.name!r}{first}"
            )
        found[scenario.name] = replace(
            scenario,
            program=scenario.program or program,
            file=file,
            line=problems.lines.get(("scenario", at)),
        )
    return tuple(found.values())


def _scenario(item: Any, at: int, kind: str, problems: Problems) -> Scenario | None:
    place = ("scenario", at)
    if not isinstance(item, dict):
        problems.add(place, f"scenario {at + 1} is a table, not {item!r:.60}")
        return None
    data = cast("dict[str, Any]", item)
    given = data.get("name")
    called = f"scenario {given!r}" if isinstance(given, str) else f"scenario {at + 1}"
    table = Table(data, place, called, problems)
    name = table.text("name", required=True)
    own = table.choice("kind", tuple(KINDS)) or kind
    made = KINDS[own](table, name or called)
    table.close()
    return made


def _toml(text: str) -> tuple[Any, Lines]:
    return tomllib.loads(text), toml_lines(text)


def _json(text: str) -> tuple[Any, Lines]:
    return json.loads(text, object_pairs_hook=_unique), json_lines(text)


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """A table; a key that stands there twice would hide what was written first."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} stands twice in one table")
    return found


def _yaml(text: str) -> tuple[Any, Lines]:
    from hornbook.verify.yaml_files import read_yaml

    return read_yaml(text)


_READERS: Mapping[str, Callable[[str], tuple[Any, Lines]]] = {
    "toml": _toml,
    "json": _json,
    "yaml": _yaml,
    "yml": _yaml,
}
