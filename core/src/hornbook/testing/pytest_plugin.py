"""The pytest plugin: worked scenarios of programs as tests, and adapters held to the kit.

Files such as `desk.scenarios.toml` are collected, one test a scenario: see docs/scenarios.md.
`pytest --hornbook-adapter=module:factory` adds one test for each scenario and mode of the
conformance kit; what the adapter declares not to support is skipped. Where there is neither,
this does nothing and loads nothing: pytest imports it wherever Hornbook is installed.
"""

from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from hornbook.testing.conformance.adapters import Factory
    from hornbook.testing.conformance.case import Case
    from hornbook.verify import Scenario

__all__ = [
    "pytest_addoption",
    "pytest_collect_file",
    "pytest_collection",
    "pytest_collection_modifyitems",
]

_OPTION = "--hornbook-adapter"
_FILES = "hornbook_scenario_files"
_PATTERNS = ("*.scenarios.toml", "*.scenarios.json", "*.scenarios.yaml", "*.scenarios.yml")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option, and the setting."""
    parser.getgroup("hornbook").addoption(
        _OPTION,
        metavar="MODULE:FACTORY",
        help="hold this Hornbook adapter to the conformance kit",
    )
    parser.addini(
        _FILES,
        "patterns for the names of files with worked scenarios of Hornbook programs",
        type="args",
        default=list(_PATTERNS),
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "ScenarioFile | None":
    """Collect a file of worked scenarios."""
    patterns: list[str] = parent.config.getini(_FILES)
    if any(fnmatch(file_path.name, pattern) for pattern in patterns):
        file: Any = ScenarioFile
        return file.from_parent(parent, path=file_path)
    return None


class ScenarioFile(pytest.File):
    """A file of worked scenarios."""

    def collect(self) -> Iterator[pytest.Item]:
        """One test a scenario."""
        from hornbook.errors import HornbookError
        from hornbook.verify import read_scenarios

        try:
            scenarios = read_scenarios(self.path)
        except HornbookError as error:
            problems = getattr(error, "problems", (str(error),))
            raise self.CollectError("\n".join(problems)) from None
        for scenario in scenarios:
            yield _made(ScenarioItem, self, name=scenario.name, scenario=scenario)


class ScenarioItem(pytest.Item):
    """One worked scenario: the program is run on it, sync and async."""

    scenario: "Scenario"

    def runtest(self) -> None:
        """Run it."""
        from hornbook.verify import TargetError, load_program, play_scenario

        scenario = self.scenario
        if scenario.program is None:
            raise ScenarioFailed("the file names no program: write program = 'module:attribute'")
        try:
            program = load_program(scenario.program, folder=self.config.rootpath)
        except TargetError as error:
            raise ScenarioFailed(str(error)) from None
        result = play_scenario(program, scenario)
        if not result.ok:
            about = [scenario.about.strip()] if scenario.about.strip() else []
            raise ScenarioFailed("\n".join([*about, *result.failures]))

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """What was expected and not seen; of anything else pytest's own account."""
        if isinstance(excinfo.value, ScenarioFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> Any:
        """The scenario's line in its file."""
        line = self.scenario.line
        return self.path, None if line is None else line - 1, self.name


class ScenarioFailed(Exception):
    """A scenario did not come to what it expects; the text says how."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Refuse what is no adapter, before anything is collected."""
    option = session.config.getoption(_OPTION)
    if option is None:
        return
    from hornbook.testing.conformance.adapters import AdapterError, adapter_of, factory_of

    try:
        factory = factory_of(option)
        name = adapter_of(factory).name
    except AdapterError as error:
        raise pytest.UsageError(f"{_OPTION}: {error}") from None
    session.config.stash[_chosen] = (name, factory)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Add the kit's tests, early enough for `-k` to choose among them."""
    chosen = session.config.stash.get(_chosen, None)
    if chosen is None:
        return
    name, factory = chosen
    title = f"conformance of {name}"
    kit = _made(Kit, session, name=title, nodeid=title, factory=factory)
    items += session.genitems(kit)


_chosen: "pytest.StashKey[tuple[str, Factory]]" = pytest.StashKey()


class Kit(pytest.Collector):
    """All cases of the kit, for one adapter."""

    factory: "Factory"

    def collect(self) -> Iterator[pytest.Item]:
        """One test a case."""
        from hornbook.testing.conformance.case import cases

        for case in cases():
            yield _made(CaseItem, self, name=str(case), case=case, factory=self.factory)


class CaseItem(pytest.Item):
    """One scenario in one mode."""

    case: "Case"
    factory: "Factory"

    def runtest(self) -> None:
        """Play it."""
        from hornbook.testing.conformance.adapters import adapter_of

        finding = self.case.play(adapter_of(self.factory))
        if finding.status == "unsupported":
            pytest.skip(f"declared unsupported: {', '.join(finding.missing)}")
        if finding.status == "failed":
            raise Nonconformance(f"{self.case.scenario.about}\n{finding}")

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """The differences; of anything else pytest's own account."""
        if isinstance(excinfo.value, Nonconformance):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> Any:
        """Where it stands: in no file."""
        return self.parent.name if self.parent else "conformance", None, self.name


class Nonconformance(Exception):
    """A case failed; the text says how."""


def _made(
    node: Any, parent: pytest.Collector, *, name: str, nodeid: str | None = None, **more: Any
) -> Any:
    made = node.from_parent(parent, name=name, nodeid=nodeid)
    for key, value in more.items():
        setattr(made, key, value)
    return made
