"""Which versions of the SDK this adapter knows; asked before the SDK is imported."""

import importlib.metadata
import re

from hornbook.errors import MissingExtra

__all__ = ["BELOW", "FROM", "refuse_others"]

HOST = "openai-agents"
FROM = (0, 24)
BELOW = (0, 30)
"""The range in `pyproject.toml`, for environments that were put together without it."""


def refuse_others() -> None:
    """Refuse an SDK that is not there, or whose version is outside the range.

    Raises:
        MissingExtra: naming the version and what to install.
    """
    wanted = f"{HOST}>={_written(FROM)},<{_written(BELOW)}"
    try:
        installed = importlib.metadata.version(HOST)
    except importlib.metadata.PackageNotFoundError:
        raise MissingExtra(
            f"hornbook-openai-agents needs {wanted}, and it is not installed: "
            f"pip install '{wanted}'"
        ) from None
    numbers = tuple(int(number) for number in re.findall(r"\d+", installed)[:2])
    if not FROM <= numbers < BELOW:
        raise MissingExtra(
            f"hornbook-openai-agents needs {wanted}, and {installed} is installed: "
            f"pip install '{wanted}'"
        )


def _written(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))
