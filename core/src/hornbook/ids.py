"""Ids of runs: ULIDs, which sort by time and are safe as file names."""

import os
import re
import time

__all__ = ["is_run_id", "new_run_id"]

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_RUN_ID = r"[0-7][0-9A-HJKMNP-TV-Z]{25}"


def new_run_id() -> str:
    """Return a new id: 48 bits of milliseconds, then 80 random bits."""
    number = time.time_ns() // 1_000_000 << 80 | int.from_bytes(os.urandom(10), "big")
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))


def is_run_id(text: str) -> bool:
    """Whether `text` is the id of a run; nothing else may become part of a path."""
    return re.fullmatch(_RUN_ID, text) is not None
