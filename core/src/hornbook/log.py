"""The logger `hornbook`, silent until the application configures logging.

`logging` is imported on first use: it would cost a noticeable part of our own import.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import logging

__all__ = ["logger"]


def logger(part: str) -> "logging.Logger":
    """Return the logger `hornbook.<part>`, with a NullHandler on `hornbook` itself."""
    import logging

    root = logging.getLogger("hornbook")
    if not any(isinstance(handler, logging.NullHandler) for handler in root.handlers):
        root.addHandler(logging.NullHandler())
    return logging.getLogger(f"hornbook.{part}")
