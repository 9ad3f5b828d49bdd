"""`check_type` and `check_format`: a misfit is an answer, with where and why."""

from dataclasses import dataclass
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook import ContractViolation, HornbookError
from hornbook import program as p
from hornbook.engine import Engine
from hornbook.errors import DefinitionError
from hornbook.program.library import (
    FORMATS,
    FormatCheck,
    Misfit,
    ProblemError,
    TypeCheck,
    check_format,
    check_type,
)


@dataclass(frozen=True, kw_only=True)
class Line:
    sku: str
    count: int


@pytest.mark.requirement("library:check-type:fits")
@pytest.mark.parametrize(
    ("value", "against"),
    [
        ([1, 2], list[int]),
        ({"lines": [Line(sku="a", count=1)]}, dict[str, list[Line]]),
        ("red", Literal["red", "green"]),
        (None, int | None),
        ({"id": 7}, {"type": "object", "properties": {"id": {"type": "integer"}}}),
    ],
)
def test_a_value_that_fits_fits(value: Any, against: Any):
    assert check_type(value, against) == TypeCheck(fits=True)


@pytest.mark.requirement("library:check-type:misfits")
def test_every_place_that_does_not_fit_is_named():
    found = check_type([{"sku": "a", "count": "2"}, {"sku": 3}], list[dict[str, str]])
    assert found == TypeCheck(
        fits=False,
        misfits=(Misfit(path="[1].sku", expected="a valid string", observed="3"),),
    )
    schema = {"type": "object", "required": ["id"], "properties": {"n": {"type": "integer"}}}
    found = check_type({"n": "x"}, schema)
    assert {one.path for one in found.misfits} == {"n", "id"}


@pytest.mark.requirement("library:check-type:misfits")
def test_nothing_is_converted_on_the_way():
    assert not check_type("7", int).fits
    assert not check_type(True, int).fits


@pytest.mark.requirement("library:check-type:malformed")
def test_what_is_no_type_is_refused():
    with pytest.raises(DefinitionError, match="values cannot be checked against the type"):
        check_type(1, "no type at all")
    with pytest.raises(DefinitionError, match="at #/type"):
        check_type(1, {"type": "whole number"})


@pytest.mark.requirement("library:check-type:composed")
def test_in_a_program_the_type_is_bound_and_the_verdict_branches():
    program = p.Sequence(check_type.bind(against=list[int]), describe)
    assert program.run([1, 2]) == "fits"
    assert program.run([1, "2"]) == "[1]: expected a valid integer"


def describe(found: TypeCheck) -> str:
    return (
        "fits" if found.fits else f"{found.misfits[0].path}: expected {found.misfits[0].expected}"
    )


FITTING = {
    "date_time": [("2024-02-29T23:59:59Z", "2024-02-29T23:59:59+00:00")],
    "e164": [("+47 22 12 34 56", "+4722123456")],
    "email": [
        ("a@b\xfccher.de", "a@xn--bcher-kva.de"),
        ("Ada.L+x@Mail.Example.COM", "Ada.L+x@mail.example.com"),
    ],
    "iata": [("OSL", "OSL")],
    "iban": [
        ("de89 3704 0044 0532 0130 00", "DE89370400440532013000"),
        ("GB82WEST12345698765432", "GB82WEST12345698765432"),
        ("NO9386011117947", "NO9386011117947"),
    ],
    "ipv4": [("10.0.0.255", "10.0.0.255")],
    "ipv6": [("2001:DB8::0:1", "2001:db8::1")],
    "iso_date": [("2024-02-29", "2024-02-29")],
    "iso_time": [("07:30", "07:30:00"), ("07:30:05.5+02:00", "07:30:05.500000+02:00")],
    "luhn": [("4111 1111 1111 1111", "4111111111111111")],
    "url": [
        ("HTTPS://Example.com/A?b=c#d", "https://example.com/A?b=c#d"),
        ("http://[2001:db8::1]:8080/", "http://[2001:db8::1]:8080/"),
        ("http://10.0.0.1/", "http://10.0.0.1/"),
    ],
    "uuid": [("6BA7B810-9dad-11d1-80b4-00c04fd430c8", "6ba7b810-9dad-11d1-80b4-00c04fd430c8")],
}


@pytest.mark.requirement("library:check-format:fits")
def test_each_format_knows_its_texts_and_their_canonical_form():
    assert set(FITTING) == set(FORMATS)
    for name, texts in FITTING.items():
        for text, canonical in texts:
            assert check_format(text, name) == FormatCheck(fits=True, canonical=canonical)
            assert check_format(canonical, name) == FormatCheck(fits=True, canonical=canonical)


CHECK_DIGITS = "its check digits are none that ISO 7064 gives: those are 02 to 98"


@pytest.mark.requirement("library:check-format:reason")
@pytest.mark.parametrize("text", ["http://[::1]evil.example/", "http://[v1.a]/", "http://[::g]/"])
def test_what_stands_in_brackets_of_a_url_is_an_address_and_nothing_else(text: str):
    found = check_format(text, "url")
    assert (found.fits, bool(found.reason)) == (False, True)


@pytest.mark.requirement("library:check-format:reason")
@pytest.mark.parametrize(
    ("format_", "text", "reason"),
    [
        ("iso_date", "2024-02-30", "there is no such day"),
        ("iso_date", "20240229", "it is not written YYYY-MM-DD"),
        ("iso_date", "\uff12\uff10\uff12\uff14-02-29", "it has characters outside of ASCII"),
        ("iso_time", "24:61", "there is no such time"),
        (
            "date_time",
            "2024-02-29 10:00",
            "it is not written YYYY-MM-DDTHH:MM[:SS], with Z or an offset",
        ),
        ("email", "ada", "it has no @"),
        ("email", "a..b@example.com", "what stands before the @ is no mailbox"),
        ("email", "ada@localhost", "what stands after the @ is no host name with a domain"),
        ("email", "ada@ex ample.com", "what stands after the @ is no host name with a domain"),
        (
            "uuid",
            "6ba7b8109dad11d180b400c04fd430c8",
            "it is not written as 8-4-4-4-12 hexadecimal digits",
        ),
        ("iban", "DE88 3704 0044 0532 0130 00", "its check digits are wrong"),
        ("iban", "DE89 3704", "one of DE has 22 characters, not 8"),
        ("iban", "US89 3704 0044", "no country US issues IBANs"),
        ("iata", "osl", "it is not three capital letters"),
        ("e164", "22 12 34 56", "it is not a + with 7 to 15 digits, the country's first"),
        ("url", "ftp://example.com", "it does not begin with http:// or https://"),
        ("url", "https://", "it has no host"),
        ("url", "https://exa mple.com", "it has characters that no URL has"),
        ("url", "https://example.com:99999/", "Port out of range 0-65535"),
        ("email", "a@fa\xdf.de", "what stands after the @ is no host name"),
        ("email", "a@1.2.3.4", "what stands after the @ is no host name with a domain"),
        ("email", "a@b.123", "what stands after the @ is no host name with a domain"),
        ("iban", "GB01BARC20714583608387", CHECK_DIGITS),
        ("url", "http://256.1.1.1", "'256.1.1.1' is no IPv4 address"),
        ("url", "http://example.123/", "'example.123' ends in a number, as no domain does"),
        ("ipv4", "10.0.0.256", "it is not four numbers from 0 to 255"),
        ("luhn", "4111 1111 1111 1112", "its check digit is wrong"),
        ("url", "https://example.com/" + "a" * 3000, "it has 3020 characters, more than 2048"),
    ],
)
def test_why_a_text_does_not_fit_is_said(format_: Any, text: str, reason: str):
    assert check_format(text, format_) == FormatCheck(fits=False, reason=reason)


@pytest.mark.requirement("library:check-format:total")
@given(st.sampled_from(FORMATS), st.text(max_size=60))
def test_no_text_makes_a_format_raise(format_: Any, text: str):
    found = check_format(text, format_)
    assert found.fits is not bool(found.reason)


@pytest.mark.requirement("library:check-format:pattern")
def test_a_pattern_must_match_all_of_the_text_in_linear_time():
    assert check_format("A-17", pattern=r"[A-Z]-\d+").fits
    assert check_format("A-17 ", pattern=r"[A-Z]-\d+") == FormatCheck(
        fits=False, reason=r"it does not match '[A-Z]-\\d+'"
    )
    assert not check_format("a" * 50_000, pattern="(a*)*b").fits


@pytest.mark.requirement("library:check-format:malformed")
def test_a_format_or_a_pattern_is_asked_for_and_must_exist():
    with pytest.raises(ProblemError) as caught:
        check_format("x")
    assert str(caught.value) == "check_format takes a format or a pattern: give one of the two"
    assert caught.value.code == "problem"
    with pytest.raises(HornbookError, match="there is no format 'isbn'; there are date_time, "):
        check_format("x", "isbn")  # type: ignore[arg-type]
    with pytest.raises(DefinitionError, match="is not a pattern"):
        check_format("x", pattern="(")


@pytest.mark.requirement("library:check-type:contract", "library:check-format:contract")
@pytest.mark.parametrize(
    ("program", "value", "wrong"),
    [
        (check_type.bind(against=int), "x", TypeCheck(fits=True)),
        (check_type.bind(against=int), 7, TypeCheck(fits=False)),
        (check_format.bind(format="iata"), "osl", FormatCheck(fits=True, canonical="OSL")),
        (check_format.bind(format="iata"), "OSL", FormatCheck(fits=False, reason="no")),
    ],
)
def test_a_wrong_verdict_does_not_pass_the_contract(program: Any, value: Any, wrong: Any):
    with pytest.raises(ContractViolation):
        program.run(value, engine=Engine(substitutes={program.name: wrong}))
