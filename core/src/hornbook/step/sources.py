"""Where the arguments of a guarded call come from: recorded for each value (INV-L)."""

from hornbook.contracts.report import ContractReport
from hornbook.trace.frame import RUN, Frame

__all__ = ["note_sources"]


def note_sources(frame: Frame | None, report: ContractReport) -> None:
    """Record the evidence of a call that passed its guard, by clause, if there is any."""
    run = None if frame is None else frame[RUN]
    if frame is None or run is None:
        return
    found = {v.clause: v.evidence for v in report.verdicts if v.evidence is not None}
    if found:
        run.log.mark("note", frame, "sources", data=found)
