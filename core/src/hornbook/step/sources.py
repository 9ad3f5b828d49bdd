"""Where the arguments of a guarded call come from: recorded for each value (INV-L)."""

from collections.abc import Mapping
from typing import Any

from hornbook.contracts.report import ContractReport
from hornbook.step.operation import Outcome
from hornbook.step.reports import says_more
from hornbook.trace.frame import Ended

__all__ = ["Sourced", "ending"]


class Sourced:
    """How a step ended, with what its guard found about its arguments.

    It is made for every guarded step, so it only holds the report; it is read with the record.
    """

    __slots__ = ("_ended", "report")

    def __init__(self, ended: Ended | None, report: ContractReport) -> None:
        self._ended = ended
        self.report = report

    @property
    def status(self) -> str:
        """As if there were no guard."""
        return "satisfied" if self._ended is None else self._ended.status

    @property
    def ok(self) -> bool:
        """As if there were no guard."""
        return self._ended is None or self._ended.ok

    def as_record(self) -> Mapping[str, Any]:
        """What the step's own ending says, and the source of each argument by its clause."""
        data = {} if self._ended is None else dict(self._ended.as_record())
        found = {v.clause: v.evidence for v in self.report.verdicts if v.evidence is not None}
        return {**data, "sources": found} if found else data


def ending(outcome: Outcome, passed: ContractReport | None) -> Ended | None:
    """What the record says of an outcome; None where it is plainly satisfied.

    `passed` is the report of the guard that let the step run.
    """
    plain = outcome.status == "satisfied" and outcome.attempts == 1
    plain = plain and not (outcome.report and says_more(outcome.report))
    ended = None if plain else outcome
    return ended if passed is None else Sourced(ended, passed)
