"""The files that belong to no distribution: pins, pages, and what no file may say."""

import importlib
import importlib.metadata
import pkgutil
import re
from collections.abc import Iterator
from types import ModuleType

import pytest

import hornbook
from hornbook.errors import HornbookError
from workspace import DISTRIBUTIONS, ROOT, sources

TEXT = ("*", ".ci/*", "docs/**/*", *(f"*/**/*.{kind}" for kind in ("py", "md", "toml", "json")))


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    exact = [re.fullmatch(r"([A-Za-z0-9._-]+)==([0-9][A-Za-z0-9.+!]*)", line) for line in lines]
    assert all(exact[i] or lines[i].startswith("#") for i in range(len(lines)))
    return {normal(pin[1]): pin[2] for pin in exact if pin}


def installed_by_default() -> set[str]:
    """Everything that the distributions need, with the extras that the set-up installs."""
    todo = [(dist.name, "all agents") for dist in DISTRIBUTIONS]
    done: set[tuple[str, str]] = set()
    while todo:
        name, extras = todo.pop()
        done.add((name, extras))
        for line in importlib.metadata.requires(name) or []:
            if wanted := _requirement(line, extras):
                todo += [wanted] if wanted not in done else []
    return {name for name, _ in done}


def _requirement(line: str, extras: str) -> tuple[str, str] | None:
    from packaging.requirements import Requirement

    requirement = Requirement(line)
    marker = requirement.marker
    if marker and not any(marker.evaluate({"extra": extra}) for extra in ["", *extras.split()]):
        return None
    return normal(requirement.name), " ".join(sorted(requirement.extras))


@pytest.mark.requirement("workspace:constraints:portable", "workspace:commands:no-torch")
def test_the_set_up_is_pinned_and_never_pulls_torch():
    needed = installed_by_default() - {dist.name for dist in DISTRIBUTIONS}
    assert len(needed) > 50
    assert needed <= pins().keys()
    assert not {name for name in {*needed, *pins()} if re.match(r"torch|nvidia|triton", name)}


@pytest.mark.requirement("workspace:text:portable")
def test_no_file_names_an_index_host_or_a_path_of_one_machine():
    hosts = ["pypi" + ".org", "python" + "hosted.org", "npm" + "js.org", "npm" + "js.com"]
    places = [f"/{top}/" for top in ("home", "root", "opt", "work", "Users")]
    found = [
        f"{file.relative_to(ROOT)}: {word}"
        for file in sources(*TEXT)
        for word in [*hosts, *places]
        if re.search(rf"(?<![\w.*}}]){re.escape(word)}", file.read_text("utf-8", errors="ignore"))
    ]
    assert not found


@pytest.mark.requirement("workspace:docs:present")
@pytest.mark.parametrize(
    ("page", "says"),
    [
        ("README.md", "make demo"),
        ("CONTRIBUTING.md", "make test"),
        ("VERSIONING.md", "__all__"),
        ("CHANGELOG.md", "## 0.1.0"),
        ("LICENSE", "Apache License"),
        ("docs/architecture.md", "Life of a step"),
        ("docs/glossary.md", "learned rule"),
    ],
)
def test_the_pages_are_there(page: str, says: str):
    assert says in (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.requirement("workspace:docs:present")
def test_the_architecture_fits_two_screens():
    lines = (ROOT / "docs/architecture.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 110


def modules(package: ModuleType) -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def all_errors(base: type[HornbookError]) -> Iterator[type[HornbookError]]:
    yield base
    for child in base.__subclasses__():
        yield from all_errors(child)


@pytest.mark.requirement("workspace:docs:errors")
def test_every_error_code_is_documented():
    list(modules(hornbook))
    page = (ROOT / "docs/errors.md").read_text(encoding="utf-8")
    documented = dict(re.findall(r"^\| `([a-z-]+)` \| `(\w+)` \|", page, flags=re.MULTILINE))
    public = {
        error.code: error.__name__
        for error in all_errors(HornbookError)
        if error.__module__.startswith("hornbook.") and not error.__name__.startswith("_")
    }
    assert documented == public
