"""What a credential looks like: keys that name one, and fixed patterns in text.

Every pattern is linear by construction (no part that can match in two ways is repeated), so
the standard engine is safe on capped text; RE2 is used when it is installed, and is faster on
text that does look suspicious. Encoded forms (base64, split over values) are not found.
"""

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hornbook.canon import WITHHELD, has_surrogate

__all__ = ["SHORTEST", "environment_secrets", "key_test", "sources", "without_credentials"]

SHORTEST = 8
"""Characters below which a text is not looked at, and an environment value is no secret."""

_LONGEST_KEY = 128

# --- keys -------------------------------------------------------------------------------

_DENIED_ENDINGS = (
    *("pwd", "secret", "secrets", "token", "cookie", "cookies", "credential"),
    *("credentials", "apikeys", "secretkey", "accesskey"),
)
_DENIED_PARTS = ("password", "passwd", "passphrase", "apikey", "privatekey", "authorization")
_DENIED_WORDS = frozenset(("secret", "secrets", "cookie", "cookies", "credential", "credentials"))
_DENIED_NAMES = frozenset(("auth", "bearer", "jwt", "otp"))
_WORD = r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+"
_NO_LETTER = r"[^a-z0-9]+"
_NAMES_SECRET = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD")


def key_test(further: Iterable[str] = ()) -> Callable[[str], bool]:
    """Return a test of whether a key names something to withhold; `further` names count too."""
    added = [bare for bare in map(_bare, further) if bare]
    endings = tuple({*_DENIED_ENDINGS, *added})

    @functools.lru_cache(maxsize=4096)
    def denied(key: str) -> bool:
        bare = _bare(key)
        if bare.endswith(endings) or bare in _DENIED_NAMES:
            return True
        if any(part in bare for part in _DENIED_PARTS):
            return True
        return any(word.lower() in _DENIED_WORDS for word in re.findall(_WORD, key))

    return lambda key: denied(key[-_LONGEST_KEY:])


def environment_secrets(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of the variables that are named like a secret, longest first.

    Each comes also as JSON and as a URL would write it, where that differs.
    """
    from urllib.parse import quote

    found: set[str] = set()
    for name, value in environ.items():
        if len(value) >= SHORTEST and name.upper().removesuffix("S").endswith(_NAMES_SECRET):
            escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            found |= {value, escaped, quote(value, safe="", errors="replace")}
    return tuple(sorted(found, key=lambda value: (-len(value), value)))


def _bare(key: str) -> str:
    return re.sub(_NO_LETTER, "", key.lower())


# --- text -------------------------------------------------------------------------------

_LEFT = r"(\\[a-z]|\b)"
_SEPARATOR = r"""\\*["']?[ \t]*[:=][ \t]*"""
_QUOTED = r"""(?s:"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|\\+["'][^"'\\]*)"""
_BARE = r"""[^ \t\r\n"'\\,;&<>(){}\[\]]"""
_KEYWORD = (
    r"pass(?:word|wd|phrase)|pwd|secret|token|credential|(?:api|private|secret|access)[_-]?key"
)
_KEYWORD_ANCHORS = ("passw", "passphrase", "pwd", "secret", "token", "credential", "key")


@dataclass(frozen=True, slots=True)
class _Pattern:
    """One shape of credential; what its groups match is kept."""

    source: str
    anchors: tuple[str, ...]
    """In lower case; one of them stands in every text that matches."""
    gate: str = ""
    """Characters one of which stands in every text that matches: a cheaper test still."""
    needs: str = ""
    """What a match must contain to count; so that a failed match can still be consumed."""
    keeps: str = ""
    """What ends a match and is kept."""


_PATTERNS = (
    _Pattern(
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----"
        r"(?s:.*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----|.*)",
        ("private key",),
        "-",
    ),
    _Pattern(r"(://[^ \t\r\n/?#:@]*:)[^ \t\r\n/?#]+@", ("://",), "@", keeps="@"),
    _Pattern(r"(://)[^ \t\r\n/?#:@]{20,}@", ("://",), "@", keeps="@"),
    _Pattern(
        _LEFT + r"(?:(?:sk|rk)[-_][A-Za-z0-9_-]{16,}|(?:hf|npm)_[A-Za-z0-9]{20,})",
        ("sk-", "sk_", "rk-", "rk_", "hf_", "npm_"),
        "-_",
    ),
    _Pattern(
        r"gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}|glpat-[A-Za-z0-9_-]{16,}"
        r"|xox[a-z]-[A-Za-z0-9-]{8,}|xapp-[A-Za-z0-9-]{8,}|pypi-AgEI[A-Za-z0-9_-]{16,}",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "xapp-", "pypi-"),
        "-_",
    ),
    _Pattern(r"(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[A-Za-z0-9_-]{30,}", ("akia", "asia", "aiza")),
    _Pattern(
        r"eyJ[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*)+)?", ("eyj",), ".", "."
    ),
    _Pattern(r"((?i:bearer)[ \t]+)[A-Za-z0-9._~+/=-]{10,}", ("bearer",), " \t"),
    _Pattern(
        rf"((?i:authorization){_SEPARATOR})(?:{_QUOTED}|(?:[A-Za-z0-9-]+ )?{_BARE}{{8,}})",
        ("authorization",),
        ":=",
    ),
    _Pattern(
        rf"((?i:cookie){_SEPARATOR})(?:{_QUOTED}|[^\r\n\"']{{4,}})",
        ("cookie",),
        ":=",
    ),
    _Pattern(
        rf"((?i:{_KEYWORD}){_SEPARATOR})(?:{_QUOTED}|{_BARE}{{3,}})",
        _KEYWORD_ANCHORS,
        ":=",
    ),
)


def sources() -> list[str]:
    """Return what the patterns are made of, for the id of a redaction policy."""
    return [pattern.source for pattern in _PATTERNS]


def without_credentials(text: str) -> str:
    """Return `text` with every credential replaced by the mark; `text` itself without one."""
    suspects = list(_suspects(text))
    if not suspects:
        return text
    compiled = _compiled(fast=not has_surrogate(text))
    for number in suspects:
        text = compiled[number].sub(_mark_of(_PATTERNS[number]), text)
    return text


def _suspects(text: str) -> Iterator[int]:
    low = text.lower()
    for number, pattern in enumerate(_PATTERNS):
        for char in pattern.gate:
            if char in low:
                break
        else:
            if pattern.gate:
                continue
        for anchor in pattern.anchors:
            if anchor in low:
                yield number
                break


def _mark_of(pattern: _Pattern) -> Callable[[Any], str]:
    def mark(found: Any) -> str:
        whole: str = found.group(0)
        if pattern.needs not in whole:
            return whole
        groups: tuple[str | None, ...] = found.groups()
        kept = next((group for group in groups if group), "")
        return kept + WITHHELD + pattern.keeps

    return mark


@functools.cache
def _compiled(*, fast: bool) -> tuple[Any, ...]:
    """Compile with RE2 when it is there; it takes no text that UTF-8 cannot say."""
    from importlib import import_module

    try:
        engine: Any = import_module("re2") if fast else None
    except ImportError:
        engine = None
    if engine is None:
        return tuple(re.compile(pattern.source, re.ASCII) for pattern in _PATTERNS)
    return tuple(engine.compile(pattern.source) for pattern in _PATTERNS)
