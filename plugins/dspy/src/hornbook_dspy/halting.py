"""The halt: what ends an agent whose loop takes every Exception for an observation.

ReAct, Parallel, Evaluate and the optimizers swallow every `Exception`, so inside a guarded
or contracted module a halt is none. The outermost of these turns it back into the error
that it carries, so that an evaluation or an optimizer loses one example and no more.
"""

from hornbook.step.control_flow import register_control_flow

__all__ = ["Halt"]


class Halt(BaseException):
    """An error on its way to the outermost module that Hornbook stands around."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error
        """What is raised there: a `ContractViolation`, a spent budget, a broken plugin."""

    def __reduce__(self) -> tuple[type["Halt"], tuple[Exception]]:
        return Halt, (self.error,)


# Whoever halts comes by here; a step that a halt passes through is recorded as interrupted.
register_control_flow(Halt)
