"""What the engine raises on its own account."""

from hornbook.errors import HornbookError

__all__ = ["CacheError", "StepTimeout"]


class StepTimeout(HornbookError, TimeoutError):
    """One attempt of a step took longer than its `timeout`; it was cancelled or left behind.

    A `Recover(on=[StepTimeout])` makes it a violation, which is then retried.
    """

    code = "step-timeout"

    def __init__(self, step: str, place: str, seconds: float) -> None:
        super().__init__(
            f"step {step!r} at {place} took longer than its timeout of {seconds:g} seconds: it was "
            f"stopped; allow it more with timeout=, or recover with Recover(on=[StepTimeout])"
        )
        self.step = step
        self.place = place
        self.seconds = seconds

    def __reduce__(self) -> tuple[type["StepTimeout"], tuple[str, str, float]]:
        return StepTimeout, (self.step, self.place, self.seconds)


class CacheError(HornbookError):
    """A file that cannot be used as a cache."""

    code = "cache"
