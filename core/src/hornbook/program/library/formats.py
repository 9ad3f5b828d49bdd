"""The named formats that `check_format` knows: each a function from a text to what it means.

A format gives the text in canonical form, or says in a few words why it is none. All of
them read a text once or twice from left to right; none backtracks.
"""

import ipaddress
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Literal, TypeAlias, get_args
from urllib.parse import urlsplit
from uuid import UUID

__all__ = ["FORMATS", "Format", "Unfit", "read_format"]

Format: TypeAlias = Literal[
    "date_time",
    "e164",
    "email",
    "iata",
    "iban",
    "ipv4",
    "ipv6",
    "iso_date",
    "iso_time",
    "luhn",
    "url",
    "uuid",
]


@dataclass(frozen=True, slots=True)
class Unfit:
    """Why a text is not of a format."""

    reason: str


def read_format(text: str, format_: Format) -> str | Unfit:
    """The text in the canonical form of a format, or why it is none."""
    if len(text) > _LONGEST:
        return Unfit(f"it has {len(text)} characters, more than {_LONGEST}")
    if not text.isascii() and format_ != "email":
        return Unfit("it has characters outside of ASCII")
    return _READERS[format_](text)


_LONGEST = 2_048


def _iso_date(text: str) -> str | Unfit:
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return Unfit("it is not written YYYY-MM-DD")
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return Unfit("there is no such day")


_CLOCK = r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?"
_ZONE = r"(Z|[+-][0-9]{2}:[0-9]{2})?"


def _iso_time(text: str) -> str | Unfit:
    if not re.fullmatch(_CLOCK + _ZONE, text):
        return Unfit("it is not written HH:MM[:SS[.ffffff]], with Z or an offset")
    try:
        return time.fromisoformat(text).isoformat()
    except ValueError:
        return Unfit("there is no such time")


def _date_time(text: str) -> str | Unfit:
    if not re.fullmatch(rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}T{_CLOCK}{_ZONE}", text):
        return Unfit("it is not written YYYY-MM-DDTHH:MM[:SS], with Z or an offset")
    try:
        return datetime.fromisoformat(text).isoformat()
    except ValueError:
        return Unfit("there is no such day or time")


_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
_LOCAL = re.compile(r"[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*")


def _host_problem(host: str) -> str:
    labels = host.removesuffix(".").split(".")
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        return f"{host[:60]!r} is no host name"
    return ""


def _domain_problem(host: str) -> str:
    # A name that ends in a number is read as an address (RFC 3696, 2; the URL standard).
    return _host_problem(host) or (
        f"{host[:60]!r} ends in a number, as no domain does"
        if host.removesuffix(".").rpartition(".")[2].isdigit()
        else ""
    )


def _ascii_domain(domain: str) -> str | None:
    """A domain as it is looked up; None where IDNA 2003 would make another name of it.

    It maps `ß` to `ss`, which is somebody else's domain; only the case of letters is free.
    """
    try:
        host = domain.encode("idna").decode("ascii")
        back = host.encode("ascii").decode("idna")
    except UnicodeError:
        return None
    same = domain.isascii() or back.lower() == domain.lower()
    return host if same else None


def _email(text: str) -> str | Unfit:
    local, at, domain = text.rpartition("@")
    if not at:
        return Unfit("it has no @")
    if len(local) > 64 or not _LOCAL.fullmatch(local):
        return Unfit("what stands before the @ is no mailbox")
    host = _ascii_domain(domain)
    if host is None:
        return Unfit("what stands after the @ is no host name")
    if _domain_problem(host) or "." not in host:
        return Unfit("what stands after the @ is no host name with a domain")
    return f"{local}@{host.lower()}"


def _uuid(text: str) -> str | Unfit:
    if not re.fullmatch(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", text):
        return Unfit("it is not written as 8-4-4-4-12 hexadecimal digits")
    return str(UUID(text))


_IBAN_LENGTHS: Mapping[str, int] = {
    **dict.fromkeys(("NO",), 15),
    **dict.fromkeys(("BE",), 16),
    **dict.fromkeys(("DK", "FI", "FK", "FO", "GL", "NL", "SD"), 18),
    **dict.fromkeys(("MK", "SI"), 19),
    **dict.fromkeys(("AT", "BA", "EE", "KZ", "LT", "LU", "MN", "XK"), 20),
    **dict.fromkeys(("CH", "HR", "LI", "LV"), 21),
    **dict.fromkeys(("BG", "BH", "CR", "DE", "GB", "GE", "IE", "ME", "RS", "VA"), 22),
    **dict.fromkeys(("AE", "GI", "IL", "IQ", "OM", "SO", "TL"), 23),
    **dict.fromkeys(("AD", "CZ", "ES", "MD", "PK", "RO", "SA", "SE", "SK", "TN", "VG"), 24),
    **dict.fromkeys(("LY", "PT", "ST"), 25),
    **dict.fromkeys(("IS", "TR"), 26),
    **dict.fromkeys(("BI", "DJ", "FR", "GR", "IT", "MC", "MR", "SM"), 27),
    **dict.fromkeys(("AL", "AZ", "BY", "CY", "DO", "GT", "HN", "HU", "LB", "NI", "PL", "SV"), 28),
    **dict.fromkeys(("BR", "EG", "PS", "QA", "UA"), 29),
    **dict.fromkeys(("JO", "KW", "MU", "YE"), 30),
    **dict.fromkeys(("MT", "SC"), 31),
    **dict.fromkeys(("LC",), 32),
    **dict.fromkeys(("RU",), 33),
}


def _iban(text: str) -> str | Unfit:
    plain = text.replace(" ", "").upper()
    if not re.fullmatch(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{1,30}", plain):
        return Unfit("it is not a country, two check digits and an account")
    expected = _IBAN_LENGTHS.get(plain[:2])
    if expected is None:
        return Unfit(f"no country {plain[:2]} issues IBANs")
    if len(plain) != expected:
        return Unfit(f"one of {plain[:2]} has {expected} characters, not {len(plain)}")
    if not 2 <= int(plain[2:4]) <= 98:
        return Unfit("its check digits are none that ISO 7064 gives: those are 02 to 98")
    digits = "".join(str(int(character, 36)) for character in plain[4:] + plain[:4])
    return plain if int(digits) % 97 == 1 else Unfit("its check digits are wrong")


def _iata(text: str) -> str | Unfit:
    fits = re.fullmatch(r"[A-Z]{3}", text)
    return text if fits else Unfit("it is not three capital letters")


def _e164(text: str) -> str | Unfit:
    plain = re.sub(r"[ ().-]", "", text)
    if not re.fullmatch(r"\+[1-9][0-9]{6,14}", plain):
        return Unfit("it is not a + with 7 to 15 digits, the country's first")
    return plain


def _url(text: str) -> str | Unfit:
    if re.search(r"[\x00-\x20\x7f<>\"\\^`{|}]", text):
        return Unfit("it has characters that no URL has")
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        return Unfit(str(error))
    if parts.scheme not in ("http", "https"):
        return Unfit("it does not begin with http:// or https://")
    at, _, place = parts.netloc.rpartition("@")
    problem = _url_host_problem(host, place)
    if problem or not host:
        return Unfit(problem or "it has no host")
    named = f"[{host}]" if ":" in host else host
    netloc = f"{at}@" * bool(at) + named + (f":{port}" if port is not None else "")
    return parts._replace(netloc=netloc).geturl()


def _url_host_problem(host: str, place: str) -> str:
    """Why the host of a URL is none; `place` is the host as written, with its port."""
    if "[" in place or "]" in place or ":" in host:
        inside = re.fullmatch(r"\[([0-9a-fA-F:.]+)\](:[0-9]*)?", place)
        fits = inside is not None and not isinstance(_ipv6(inside[1]), Unfit)
        return "" if fits else f"{place[:60]!r} is no IPv6 address in brackets"
    if re.fullmatch(r"[0-9.]*[0-9]\.?", host):
        return "" if not isinstance(_ipv4(host), Unfit) else f"{host[:60]!r} is no IPv4 address"
    return _domain_problem(host) if host else ""


def _ipv4(text: str) -> str | Unfit:
    try:
        return str(ipaddress.IPv4Address(text))
    except ValueError:
        return Unfit("it is not four numbers from 0 to 255")


def _ipv6(text: str) -> str | Unfit:
    try:
        return str(ipaddress.IPv6Address(text))
    except ValueError:
        return Unfit("it is no IPv6 address")


def _luhn(text: str) -> str | Unfit:
    plain = re.sub(r"[ -]", "", text)
    if not re.fullmatch(r"[0-9]{8,19}", plain):
        return Unfit("it is not 8 to 19 digits")
    doubled = (int(digit) * (1 + at % 2) for at, digit in enumerate(reversed(plain)))
    total = sum(number - 9 if number > 9 else number for number in doubled)
    return plain if total % 10 == 0 else Unfit("its check digit is wrong")


_READERS: Mapping[Format, Callable[[str], str | Unfit]] = {
    "date_time": _date_time,
    "e164": _e164,
    "email": _email,
    "iata": _iata,
    "iban": _iban,
    "ipv4": _ipv4,
    "ipv6": _ipv6,
    "iso_date": _iso_date,
    "iso_time": _iso_time,
    "luhn": _luhn,
    "url": _url,
    "uuid": _uuid,
}

FORMATS: tuple[Format, ...] = get_args(Format)
"""The names, in alphabetical order."""
