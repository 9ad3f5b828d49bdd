"""The whole kit on one adapter, and what it says of it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from hornbook.testing.conformance.adapters import adapter_of
from hornbook.testing.conformance.case import Finding, cases
from hornbook.testing.conformance.protocol import Adapter

__all__ = ["Report", "check"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What the kit found out about an adapter."""

    adapter: str
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing failed, and something passed."""
        return not self.failed and bool(self.passed)

    @property
    def passed(self) -> tuple[Finding, ...]:
        """The cases in which all was as it must be."""
        return self._of("passed")

    @property
    def failed(self) -> tuple[Finding, ...]:
        """The cases with differences."""
        return self._of("failed")

    @property
    def unsupported(self) -> tuple[Finding, ...]:
        """The cases that the adapter declares not to support: not played, and not passed."""
        return self._of("unsupported")

    def __str__(self) -> str:
        """One line that sums up, then each case that did not pass."""
        head = (
            f"{self.adapter}: {len(self.passed)} passed, {len(self.failed)} failed, "
            f"{len(self.unsupported)} declared unsupported"
        )
        return "\n".join([head, *map(str, self.failed), *map(str, self.unsupported)])

    def _of(self, status: Literal["passed", "failed", "unsupported"]) -> tuple[Finding, ...]:
        return tuple(one for one in self.findings if one.status == status)


def check(
    factory: Callable[[], Adapter], *, only: Callable[[str], bool] = lambda case: True
) -> Report:
    """Hold an adapter to every scenario, sync and async.

    Args:
        factory: makes the adapter, as its class does; called anew for each case.
        only: chooses cases by name, such as `"missing-argument[sync]"`.

    Raises:
        AdapterError: the factory cannot be called, raises, or gives no adapter.
    """
    chosen = [case for case in cases() if only(str(case))]
    name = adapter_of(factory).name

    def play() -> Report:
        findings = tuple(case.play(adapter_of(factory)) for case in chosen)
        return Report(adapter=name, findings=findings)

    if not _in_a_loop():
        return play()
    # The cases run loops of their own, which no thread with a running loop can.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(play).result()


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
