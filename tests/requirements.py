"""The requirements manifest: every promise Hornbook makes, where it comes from, and its part.

The entries are data, in `promises/part-NN.toml` or `part-NN-area.toml`; `test_requirements.py`
holds them and the tests to each other. A later part's entries are added when that part begins,
since an entry needs a test. A source is a section of the design, a point of a part, or what was
seen of a host (`hosts`). Ids are `area:feature:variant`, and tests name the ones they prove:
`@pytest.mark.requirement("trace:file:header")`.
"""

import ast
import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["REQUIREMENTS", "MarkedTest", "Requirement", "load", "marked_tests", "problems"]

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One promise."""

    source: str
    promise: str
    part: int
    where: str
    """The line that states it, as `file:line`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedTest:
    """One test function and the entries it names."""

    name: str
    ids: frozenset[str]
    where: str


def load(root: Path) -> dict[str, Requirement]:
    """All entries of the manifest below `root`."""
    found: dict[str, Requirement] = {}
    for file in sorted((root / "tests/promises").glob("part-*.toml")):
        for key, requirement in _entries(file, file.relative_to(root).as_posix()):
            if not re.fullmatch(r"[a-z0-9-]+(:[a-z0-9-]+){2}", key):
                raise ValueError(f"{requirement.where}: {key!r} is not area:feature:variant")
            if key in found:
                raise ValueError(f"{requirement.where}: {key!r} stands in {found[key].where} too")
            found[key] = requirement
    return found


def _entries(file: Path, shown: str) -> Iterator[tuple[str, Requirement]]:
    text = file.read_text(encoding="utf-8")
    lines = [line.partition('" = ')[0].removeprefix('"') for line in text.splitlines()]
    part = int(file.stem.split("-")[1])
    for source, promises in tomllib.loads(text).items():
        for key, promise in promises.items():
            where = f"{shown}:{lines.index(key) + 1}"
            yield key, Requirement(source=source, promise=promise, part=part, where=where)


REQUIREMENTS = load(ROOT)


def marked_tests(root: Path) -> Iterator[MarkedTest]:
    """Every test function below `root`, read from the source: nothing is imported or run."""
    folders = (folder for folder in sorted(root.iterdir()) if not folder.name.startswith("."))
    for file in (file for folder in folders for file in sorted(folder.rglob("test_*.py"))):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        yield from _in_body(tree.body, frozenset(), file.relative_to(root).as_posix())


def _in_body(body: list[ast.stmt], outer: frozenset[str], shown: str) -> Iterator[MarkedTest]:
    assigned = (node for node in body if isinstance(node, ast.Assign))
    ids = outer | _ids(n.value for n in assigned if ast.unparse(n.targets[0]) == "pytestmark")
    for node in body:
        match node:
            case ast.ClassDef(name=name) if name.startswith("Test"):
                yield from _in_body(node.body, ids | _ids(node.decorator_list), shown)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name.startswith(
                "test"
            ):
                own = ids | _ids(node.decorator_list)
                yield MarkedTest(name=name, ids=own, where=f"{shown}:{node.lineno}")
            case _:
                pass


def _ids(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """The ids of all `requirement` marks in there, those inside `pytest.param` too."""
    calls = (call for node in nodes for call in ast.walk(node) if isinstance(call, ast.Call))
    marks = (call for call in calls if ast.unparse(call.func).endswith("mark.requirement"))
    return frozenset(_id(argument) for mark in marks for argument in mark.args)


def _id(argument: ast.expr) -> str:
    """A literal's text; anything else as it is written, which is then no entry."""
    match argument:
        case ast.Constant(value=str(text)):
            return text
        case _:
            return ast.unparse(argument)


def problems(entries: Mapping[str, Requirement], tests: Collection[MarkedTest]) -> list[str]:
    """Each entry without a test, each test without an entry and each id that is no entry."""
    found: list[str] = []
    for test in tests:
        if not test.ids:
            found.append(f"{test.where}: {test.name} names no requirement")
        unknown = sorted(test.ids - entries.keys())
        found += [f"{test.where}: {test.name} names {key!r}, which is no entry" for key in unknown]
    proved = frozenset().union(*(test.ids for test in tests))
    found += [f"{r.where}: {key!r} has no test" for key, r in entries.items() if key not in proved]
    return found
