"""What an `OpenAIModel` keeps to itself: servers and proxies echo what they are sent."""

import base64
import html
import re
from collections.abc import Iterable
from urllib.parse import SplitResult, unquote

__all__ = ["Secrets", "of_url"]

_WITHHELD = "<redacted>"
_LONG = 8
"""Characters from which a secret is withheld wherever it stands; a shorter one, such as the
`none` that servers without keys are sent, is withheld where it is a word of its own."""
_SHORTEST = 4


class Secrets:
    """Takes secrets out of texts, also as JSON, repr, URLs and HTML write them."""

    def __init__(self, secrets: Iterable[str]) -> None:
        longest_first = sorted({s for s in secrets if len(s) >= _SHORTEST}, key=len, reverse=True)
        patterns = "|".join(_pattern(secret) for secret in longest_first)
        self._pattern = re.compile(patterns) if patterns else None

    def out_of(self, text: str) -> str:
        """The text without them; to be cut afterwards, for half a secret is not found."""
        return text if self._pattern is None else self._pattern.sub(_WITHHELD, text)

    def __repr__(self) -> str:
        return "Secrets()"


def of_url(parts: SplitResult) -> tuple[str, ...]:
    """The password in a URL, and what is sent for it."""
    if not parts.password:
        return ()
    password = unquote(parts.password)
    both = f"{unquote(parts.username or '')}:{password}".encode()
    return parts.password, password, base64.b64encode(both).decode()


def _pattern(secret: str) -> str:
    # How many backslashes there are depends on who wrote it: any number stands for any.
    written = "".join(_written(one) for one in re.sub(r"\\+", r"\\", secret))
    if len(secret) >= _LONG:
        return written
    return rf"(?<![\w-]){written}(?![\w-])"


def _written(character: str) -> str:
    """A character as any of these forms writes it; possessive, so that no text is slow."""
    code = f"{ord(character):02x}"
    forms = {re.escape(character), re.escape(html.escape(character))}
    coded = rf"(?i:u00{code}|x{code}|%{code}|&\#x{code};|&\#{ord(character)};)"
    if character == "\\":
        return r"(?:\\(?:u005[cC])?|%5[cC])++"
    return rf"\\*+(?:{'|'.join(sorted(forms))}|{coded})"
