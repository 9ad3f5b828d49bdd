"""The pytest plugin: `pytest --hornbook-adapter=module:factory` holds an adapter to the kit.

It adds one test for each scenario and mode to those that are collected anyway; what the
adapter declares not to support is skipped. Without the option it does nothing, and loads
nothing: pytest imports this module wherever Hornbook is installed.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from hornbook.testing.conformance.adapters import Factory
    from hornbook.testing.conformance.case import Case

__all__ = ["pytest_addoption", "pytest_collection", "pytest_collection_modifyitems"]

_OPTION = "--hornbook-adapter"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.getgroup("hornbook").addoption(
        _OPTION,
        metavar="MODULE:FACTORY",
        help="hold this Hornbook adapter to the conformance kit",
    )


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
