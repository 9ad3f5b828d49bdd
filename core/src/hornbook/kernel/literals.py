"""What a request states to the letter: quoted text, names of files, identifiers, tags, numbers."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

__all__ = ["Kind", "Mention", "literals", "plain"]

Kind = Literal["quoted", "file", "tag", "identifier", "number"]

_QUOTED = re.compile(
    r"(?<![\w])'(?=\S)([^\n]{1,400}?)(?<=\S)'(?![\w])|\"([^\"\n]{1,400})\"|`([^`\n]{1,400})`"
    r"|\u201c([^\u201d\n]{1,400})\u201d|(?<!\w)\u2018([^\n]{1,400}?)\u2019(?!\w)"
)
_FILE = re.compile(
    r"(?<![\w/.-])[\w-]+(?:\.[\w-]+)*\.(?:txt|md|rst|docx?|xlsx?|pptx?|csv|tsv|json|jsonl|ya?ml|xml|html?|"
    r"pdf|png|jpe?g|gif|svg|mp[34]|wav|zip|tar|gz|py|ipynb|js|ts|java|cpp|hpp|rs|go|rb|sh|sql|log|ini|"
    r"cfg|toml|db|bak)(?!\w)",
    re.IGNORECASE,
)
_TAG = re.compile(r"(?<!\w)[#@][A-Za-z_]\w+")
_IDENTIFIER = re.compile(
    r"(?<![\w.@#-])(?:(?=\w*\d)(?=\w*[A-Za-z])[A-Za-z0-9]\w{4,}(?:-\w+)*|[A-Z]{1,6}-\d{3,}(?:-\w+)*)(?!\w)"
)
_ORDINAL = re.compile(r"\d+(st|nd|rd|th|s|k|m|am|pm|h|km|mi|psi|l|gb|mb|kb|x|hrs?)", re.IGNORECASE)
_NUMBER = re.compile(
    r"(?<![\w.,#-])\$?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\w)|(?<![\w.,#-])\$?\d+(?:\.\d+)?(?![\w]|[.,]\d)"
)
_SPACE = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Mention:
    """One literal of a request."""

    kind: Kind
    text: str
    start: int
    end: int


def literals(text: str) -> list[Mention]:
    """Return the literals of a text in order; what stands within another is not told twice."""
    found: list[Mention] = []
    for mention in (*_quoted(text), *_plain(text)):
        if not any(m.start < mention.end and mention.start < m.end for m in found):
            found.append(mention)
    return sorted(found, key=lambda mention: mention.start)


def _quoted(text: str) -> Iterator[Mention]:
    for match in _QUOTED.finditer(text):
        inner = next(group for group in match.groups() if group is not None)
        if inner.strip():
            yield Mention("quoted", inner, match.start(), match.end())


def _plain(text: str) -> Iterator[Mention]:
    kinds: tuple[tuple[Kind, re.Pattern[str]], ...] = (
        ("tag", _TAG),
        ("file", _FILE),
        ("identifier", _IDENTIFIER),
        ("number", _NUMBER),
    )
    for kind, pattern in kinds:
        for match in pattern.finditer(text):
            if kind != "identifier" or not _ORDINAL.fullmatch(match.group()):
                yield Mention(kind, match.group(), match.start(), match.end())


def plain(text: str) -> str:
    """Return a text as it is compared: without case, marks and runs of space."""
    return _SPACE.sub(" ", text.casefold()).strip()
