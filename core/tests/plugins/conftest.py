"""A plugin set of its own for each test, with nothing installed unless the test says so."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import pytest

from hornbook.config import Config
from hornbook.plugins import PluginSet
from hornbook.plugins.discovery import Candidate
from hornbook.step.hookset import HookSet


@dataclass
class Made:
    """A plugin set and what it published."""

    plugins: PluginSet
    published: list[HookSet] = field(default_factory=list)

    @property
    def hooks(self) -> HookSet:
        return self.published[-1]


@pytest.fixture
def make() -> Callable[..., Made]:
    def make(
        config: Config | None = None, candidates: Iterable[Candidate] = (), **plugins: object
    ) -> Made:
        published: list[HookSet] = []
        installed = [
            Candidate(name=name, load=lambda plugin=plugin: plugin, distribution=f"dist-{name}")
            for name, plugin in plugins.items()
        ]
        made = PluginSet(
            config=lambda: config or Config(),
            candidates=lambda: [*candidates, *installed],
            publish=published.append,
        )
        return Made(plugins=made, published=published)

    return make
