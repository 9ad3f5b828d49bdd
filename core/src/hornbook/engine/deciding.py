"""How a program's choices reach the record."""

from typing import Any

from hornbook.engine.work import Life
from hornbook.trace.frame import RUN, current

__all__ = ["decided"]


def decided(place: str, action: str, **data: Any) -> Life:
    """Record which branch, alternative or round was taken, as a decision of the program's step.

    Use it as `yield from decided("program[3]", "then", ...)`.
    """
    frame = current.get()
    run = None if frame is None else frame[RUN]
    if frame is not None and run is not None:
        run.log.mark("decision", frame, action, data={"place": place, **data})
    return
    yield  # a life is a generator, also one that asks for nothing
