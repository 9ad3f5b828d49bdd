"""Finds installed plugins by their entry points, and survives whatever is broken there."""

import importlib.metadata
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hornbook.log import logger

__all__ = ["GROUP", "Candidate", "installed"]

GROUP = "hornbook"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An installed plugin that has not been imported yet."""

    name: str
    """Name of its entry point."""
    load: Callable[[], object]
    distribution: str | None = None
    version: str | None = None


def installed() -> list[Candidate]:
    """Return what is installed, by name, so that the order does not depend on the machine.

    Of two installations of one distribution, the first on `sys.path` counts.
    """
    found: dict[str, list[Candidate]] = {}
    for distribution in _distributions():
        candidates = _candidates(distribution)
        if candidates:
            found.setdefault(_normalised(candidates[0].distribution), candidates)
    return sorted(
        (candidate for candidates in found.values() for candidate in candidates),
        key=lambda candidate: (candidate.name, candidate.distribution or ""),
    )


def _distributions() -> Iterator[importlib.metadata.Distribution]:
    try:
        yield from importlib.metadata.distributions()
    except Exception as error:  # noqa: BLE001 - a finder on sys.path is foreign code
        logger("plugins").warning("installed distributions cannot all be listed: %s", error)


def _candidates(distribution: importlib.metadata.Distribution) -> list[Candidate]:
    try:
        return [
            Candidate(
                name=entry.name,
                load=entry.load,
                distribution=distribution.metadata["Name"],
                version=distribution.version,
            )
            for entry in distribution.entry_points
            if entry.group == GROUP
        ]
    except Exception as error:  # noqa: BLE001 - one that cannot be read must not hide the others
        logger("plugins").warning("metadata of a distribution cannot be read: %s", error)
        return []


def _normalised(name: str | None) -> str:
    return re.sub(r"[-_.]+", "-", name or "").lower()
