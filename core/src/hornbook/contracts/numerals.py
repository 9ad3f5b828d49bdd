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

from hornbook.contracts.normalized import NormalText, is_word, joins

__all__ = ["Numeral", "find_numeral", "numeral_of", "read_numeral"]

_SYMBOLS = "$\u20ac\u00a3\u00a5\u20b9\u20bd\u20a9\u20ba\u20aa\u0e3f"
_CODES = {"us$": "$", "usd": "$", "eur": "\u20ac", "gbp": "\u00a3", "jpy": "\u00a5"} | {
    code: code for code in ("aud", "cad", "chf", "cny", "dkk", "inr", "nok", "nzd", "pln", "sek")
}
_CURRENCY = rf"(?:us\$|[{_SYMBOLS}]|(?:{'|'.join(_CODES)})(?![a-z]))"
_SCALES = {"k": 3, "thousand": 3, "m": 6, "mn": 6, "million": 6} | {
    "b": 9,
    "bn": 9,
    "billion": 9,
    "trillion": 12,
}
_POWERS_OF_TEN = frozenset("\u5341\u767e\u5343\u4e07\u842c\u4ebf\u5104\u5146")
"""Chinese characters that multiply the number they follow."""
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
    rf"(?:\s?(?P<currency>{_CURRENCY})(?!\w|\s?[-+]?[0-9]))?"
)
_UNIT = re.compile(rf"(?:{_UNITS})(?!\w)")
_IDENTIFIER = re.compile(r"\W*0[0-9]")
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
    return Numeral(keys=(_key("-" if sign else "", "".join(map(str, digits)), exponent),))


def read_numeral(text: str) -> Numeral | None:
    """The numeral that a normal text is; None where it is not just a number.

    Digits behind a leading zero are an identifier.
    """
    found = list(_numerals(text))
    if len(found) != 1 or (found[0].start, found[0].end) != (0, len(text)):
        return None
    return None if _IDENTIFIER.match(text) else found[0]


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
        hyphen = bool(found["sign"]) and _follows_word(text, found.start())
        start = found.start() + hyphen
        if not _begins(text, start):
            continue
        after = _AFTER.match(text, found.end())
        assert after is not None
        currency = _currency(found["before"] or after["currency"])
        # Without a currency 5m is five metres, and 5b no number.
        scaled = after["short"] not in ("m", "b") or bool(currency)
        if not scaled or _goes_on(text, after.end()):
            after = None
        if after is None and not _UNIT.match(text, found.end()):
            continue
        negative = (found["sign"] == "-" and not hyphen) != (found["inner"] == "-")
        yield from _readings(found, after, start, currency, "-" if negative else "")


def _readings(
    found: re.Match[str], after: re.Match[str] | None, start: int, currency: str, sign: str
) -> Iterator[Numeral]:
    """The numerals in a run of digits: several, where commas only list them."""
    pieces = list(_pieces(found["digits"]))
    for at, (offset, text, whole, fraction) in enumerate(pieces):
        first, last = at == 0, at == len(pieces) - 1
        power = int(found["power"][1:]) if last and found["power"] else 0
        percent = bool(last and after and after["percent"])
        if last and after:
            power += _SCALES.get(after["short"] or after["scale"], 0)
        exponents = (power, power - 2) if percent else (power,)
        begin = found.start("digits") + offset
        yield Numeral(
            keys=tuple(
                _key(sign if first else "", whole + fraction, exponent - len(fraction))
                for exponent in exponents
            ),
            start=start if first else begin,
            end=(after or found).end() if last else begin + len(text),
            currency=currency if first or last else "",
            percent=percent,
        )


def _pieces(digits: str) -> Iterator[tuple[int, str, str, str]]:
    """Offset, text, whole part and fraction of each number in a run of digits."""
    one = _whole_and_fraction(digits)
    if one is not None:
        yield 0, digits, *one
        return
    for part in re.finditer(r"[^,']+", digits):
        one = _whole_and_fraction(part.group())
        if one is not None:
            yield part.start(), part.group(), *one


def _whole_and_fraction(digits: str) -> tuple[str, str] | None:
    if digits.isdigit():
        # Two digits may be padded, as in a date; what is longer is an identifier.
        return None if digits.startswith("0") and len(digits) > 2 else (digits, "")
    if _groups(digits, _ENGLISH) or _groups(digits, _QUOTED):
        return _joined(digits), ""
    mark = "." if digits.rfind(".") > digits.rfind(",") else ","
    whole, _, fraction = digits.rpartition(mark)
    if not fraction.isdigit():
        return None
    if whole.isdigit() or not whole:
        return (whole, fraction) if mark == "." or _decimal_comma(whole, fraction) else None
    grouped = _ENGLISH if mark == "." else _EUROPEAN
    if _groups(whole, grouped) or _groups(whole, _QUOTED):
        return _joined(whole), fraction
    return (_joined(digits), "") if _groups(digits, _EUROPEAN) else None


def _groups(digits: str, pattern: re.Pattern[str]) -> bool:
    return not digits.startswith("0") and pattern.fullmatch(digits) is not None


def _decimal_comma(whole: str, fraction: str) -> bool:
    """Whether a lone comma is a decimal comma, as it neither groups nor lists."""
    return len(fraction) < 3 or len(whole) <= 3


def _joined(digits: str) -> str:
    return re.sub(r"[.,'_]", "", digits)


def _begins(text: str, start: int) -> bool:
    """Whether a number may begin here, and not in the midst of a word or an identifier."""
    before = text[start - 1 : start]
    if before == "-":
        left = re.search(r"[\w-]*$", text[max(0, start - 64) : start])
        return left is None or not any(map(str.isalpha, left.group()))
    return not before or not joins(before, text[start]) or text[start] in _SYMBOLS


def _goes_on(text: str, end: int) -> bool:
    following = text[end : end + 1]
    return following in _POWERS_OF_TEN or (bool(following) and joins(text[end - 1], following))


def _follows_word(text: str, at: int) -> bool:
    return at > 0 and (is_word(text[at - 1]) or text[at - 1] in ")]}%")


def _currency(text: str | None) -> str:
    return _CODES.get(text, text) if text else ""


def _decimal_of(value: Any) -> Decimal | None:
    match value:
        case Decimal() | int():
            return Decimal(value)
        case float():
            return Decimal(float.__repr__(value))
        case Integral():
            return Decimal(int(value))
        case Real():
            return Decimal(str(value))
        case _:
            return None


def _key(sign: str, digits: str, exponent: int) -> str:
    """One text for all the ways to write a number: digits without outer zeros, and a power."""
    leading = digits.lstrip("0")
    plain = leading.rstrip("0")
    return f"{sign}{plain}e{exponent + len(leading) - len(plain)}" if plain else "0"
