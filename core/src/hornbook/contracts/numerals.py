"""Numbers as they are written in text, compared by what they mean.

`1,200.50`, `1.200,50`, `$1,200.5` and `1200.5` are one number; the 12 inside `A12` or
`12.5` is none. One comma before three digits groups thousands, as in English; where it
cannot, it is a decimal comma.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from numbers import Integral, Real
from typing import Any

from hornbook.contracts.normalized import NormalText, is_word

__all__ = ["Numeral", "find_numeral", "numeral_of", "read_numeral"]

_SYMBOLS = "$\u20ac\u00a3\u00a5\u20b9\u20bd\u20a9\u20ba\u20aa\u0e3f"
_CODES = {"us$": "$", "usd": "$", "eur": "\u20ac", "gbp": "\u00a3", "jpy": "\u00a5"} | {
    code: code for code in ("aud", "cad", "chf", "cny", "dkk", "inr", "nok", "nzd", "pln", "sek")
}
_CURRENCY = rf"(?:us\$|[{_SYMBOLS}]|(?:{'|'.join(_CODES)})(?![a-z]))"
_SCALES = {"k": 3, "thousand": 3, "m": 6, "mn": 6, "million": 6} | {
    "b": 9, "bn": 9, "billion": 9, "trillion": 12
}
_UNITS = (
    "am|c|cm|d|f|fps|ft|g|gb|h|hr|hrs|hz|kb|kg|kw|kwh|l|lb|lbs|m|mb|mg|mi|min|mins|ml|mm|nd|oz|pm"
    "|pt|px|rd|s|sec|secs|st|tb|th|v|w|x|y|yr|yrs"
)

_NUMBER = re.compile(
    rf"(?P<sign>[-+])?(?:(?P<before>{_CURRENCY})\s?)?(?P<inner>[-+])?"
    r"(?P<digits>(?:[0-9]+|(?<![\w.])\.[0-9]+)(?:[.,'_][0-9]+)*)(?P<power>e[-+]?[0-9]{1,4})?"
)
_AFTER = re.compile(
    r"(?P<percent>\s?%|\s(?:percent|per\scent)\b)?"
    r"(?:(?P<short>k|mn|bn|m|b)(?!\w)|\s(?P<scale>thousand|million|billion|trillion)\b)?"
    rf"(?:\s?(?P<currency>{_CURRENCY})(?!\w))?"
)
_UNIT = re.compile(rf"(?:{_UNITS})(?!\w)")
_NO_BREAK_GROUP = re.compile(r"(?<=[0-9])\s(?=[0-9]{3}(?![0-9]))")

_ENGLISH = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}")
_EUROPEAN = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3})+")
_QUOTED = re.compile(r"[0-9]{1,3}(?:'[0-9]{3})+|[0-9]{1,3}(?:_[0-9]{3})+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Numeral:
    """A number as it was written."""

    keys: tuple[str, ...]
    """What it may mean, in canonical form: a percentage is 15 and 0.15."""
    start: int = 0
    end: int = 0
    currency: str = ""
    percent: bool = False

    def fits(self, token: "Numeral") -> bool:
        """Whether `token` in a text agrees with this value in what stands around the digits."""
        if self.currency and token.currency and self.currency != token.currency:
            return False
        return token.percent or not self.percent


def numeral_of(value: Any) -> Numeral | None:
    """The numeral of a number; None when it is not finite, or no number at all."""
    try:
        number = _decimal_of(value)
    except (InvalidOperation, OverflowError, ValueError):
        return None
    if number is None or not number.is_finite():
        return None
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    return Numeral(keys=(_key(sign == 1, "".join(map(str, digits)), exponent),))


def read_numeral(text: str) -> Numeral | None:
    """The numeral that a normal text is; None where it is not just a number.

    Digits behind a leading zero are an identifier.
    """
    if not any(character in "0123456789" for character in text[-6:]) and "%" not in text:
        return None
    found = list(_numerals(text))
    if len(found) != 1 or (found[0].start, found[0].end) != (0, len(text)):
        return None
    return None if re.match(r"\W*0[0-9]", text) else found[0]


def find_numeral(value: Numeral, text: NormalText) -> tuple[int, int] | None:
    """Where in `text` the number stands."""
    known = text.derived(_index)
    for key in value.keys[:1]:
        for token in known.get(key, ()):
            if value.fits(token):
                return token.start, token.end
    return None


def _index(text: NormalText) -> Mapping[str, list[Numeral]]:
    index: dict[str, list[Numeral]] = {}
    for numeral in _numerals(_with_groups_joined(text)):
        for key in numeral.keys:
            index.setdefault(key, []).append(numeral)
    return index


def _with_groups_joined(text: NormalText) -> str:
    """The text with an underscore for each no-break space that groups thousands."""
    if text.original.isascii():
        return text.text
    characters = list(text.text)
    for gap in _NO_BREAK_GROUP.finditer(text.text):
        if not text.span(*gap.span()).text.isascii():
            characters[gap.start()] = "_"
    return "".join(characters)


def _numerals(text: str) -> Iterator[Numeral]:
    for found in _NUMBER.finditer(text):
        sign = found["sign"] and not _is_hyphen(text, found.start())
        start = found.start() if sign or not found["sign"] else found.start() + 1
        if not _begins(text, start, bool(found["before"] and not found["before"][0].isalpha())):
            continue
        after = _AFTER.match(text, found.end())
        assert after is not None
        if after.end() < len(text) and is_word(text[after.end()]):
            after = None
            if not _UNIT.match(text, found.end()):
                continue
        negative = (found["sign"] == "-" and bool(sign)) != (found["inner"] == "-")
        yield from _readings(found, after, start, negative)
