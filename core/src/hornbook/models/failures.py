"""The errors of models: an attempt that gave no completion, and a replay that went astray."""

from hornbook.errors import HornbookError

__all__ = ["ReplayError", "TransportError"]


class TransportError(HornbookError, ConnectionError):
    """An attempt to reach a model that gave no completion.

    Attributes:
        retryable: whether the same request may succeed when it is sent again.
        retry_after: the seconds that the server asks to wait before that; None if it does not,
            and 0.0 where it can be sent again at once.
        attempts: attempts made when `ask` gave up; 1 from a client.
    """

    code = "transport"

    def __init__(
        self,
        message: str,
        *,
        retryable: bool = False,
        retry_after: float | None = None,
        attempts: int = 1,
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after = retry_after
        self.attempts = attempts

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (str(self), self.retryable, self.retry_after, self.attempts)


class ReplayError(HornbookError):
    """A record does not hold the answer to a request: what is replayed has changed.

    Attributes:
        step: the step that asked.
    """

    code = "replay"

    def __init__(self, message: str, *, step: str = "") -> None:
        super().__init__(message)
        self.step = step

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild_replay, (str(self), self.step)


def _rebuild(
    message: str, retryable: bool, retry_after: float | None, attempts: int
) -> TransportError:
    return TransportError(message, retryable=retryable, retry_after=retry_after, attempts=attempts)


def _rebuild_replay(message: str, step: str) -> ReplayError:
    return ReplayError(message, step=step)
