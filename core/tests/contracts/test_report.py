"""Reports: what they hold, how they read, and the forms they take."""

import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr

from hornbook import Contract, ContractReport, ContractViolation, HornbookError, Violation, clauses
from hornbook.budget import Spent
from hornbook.contracts import Verdict


class Account(BaseModel):
    owner: str
    password: str
    token: SecretStr
    amount: int


def report_of(value: Any, *failing: str, **options: Any) -> ContractReport:
    ensures = [clauses.that(name, lambda given: False) for name in failing]
    return Contract("c", ensures=ensures).check(value, **options)


@pytest.mark.requirement("report:fields:all")
def test_a_report_has_the_fields_of_the_design() -> None:
    report = Contract("refund", ensures=[clauses.in_range("n", low=0)]).check({"n": -1}, step="s")
    assert (report.contract, report.step, report.ok) == ("refund", "s", False)
    assert (report.attempts, report.cost) == (1, Spent())
    assert report.verdicts == (
        Verdict(
            clause="in_range n",
            status="Violated",
            reason="at n: expected at least 0; got -1",
        ),
    )
    assert report.violations == (
        Violation(clause="in_range n", path="n", expected="at least 0", observed="-1"),
    )
    (violation,) = report.violations
    assert (violation.evidence, violation.hint) == (None, "")


@pytest.mark.requirement("report:fields:all")
def test_the_step_is_the_contract_when_it_is_checked_by_hand() -> None:
    assert report_of(1, "a").step == "c"


@pytest.mark.requirement("report:fields:all")
def test_a_verdict_is_found_by_its_clause() -> None:
    report = report_of(1, "a", "b")
    assert report.verdict("b").clause == "b"
    with pytest.raises(KeyError) as missing:
        report.verdict("z")
    assert missing.value.args == ("no clause 'z' in contract 'c'; it has 'a', 'b'",)


@pytest.mark.requirement("report:fields:all")
@pytest.mark.parametrize("field", ["ok", "violations", "contract"])
def test_reports_are_values(field: str) -> None:
    report = report_of(1, "a")
    with pytest.raises(AttributeError):
        setattr(report, field, "other")
    assert report == report_of(1, "a")
    assert report != report_of(2, "a")


@pytest.mark.requirement("report:text:ten-lines")
def test_a_report_reads_in_a_few_lines() -> None:
    assert str(report_of(1)) == "c: contract 'c' satisfied"
    assert str(report_of(1, *"abcdefg", step="draft")) == (
        "draft: contract 'c' violated\n"
        "  - a: expected a; got 1\n"
        "  - b: expected b; got 1\n"
        "  - c: expected c; got 1\n"
        "  - d: expected d; got 1\n"
        "  ... and 3 more"
    )


@pytest.mark.requirement("report:text:ten-lines")
@given(
    st.lists(st.text(min_size=1).filter(str.strip), max_size=15, unique=True),
    st.text(),
    st.text(min_size=1),
)
def test_a_report_never_has_more_than_ten_lines(names: list[str], value: str, step: str) -> None:
    report = report_of(value, *names, step=step)
    assert len(str(report).splitlines()) <= 10


@pytest.mark.requirement("report:forms:json")
def test_a_report_goes_to_json() -> None:
    report = Contract("c", ensures=[clauses.in_range("n", low=0)]).check({"n": -1})
    data = json.loads(report.to_json())
    assert data == {
        "attempts": 1,
        "contract": "c",
        "cost": {"calls": 0, "cost": 0.0, "seconds": 0.0, "tokens": 0},
        "digest": report.digest,
        "ok": False,
        "step": "c",
        "verdicts": [
            {
                "assurance": "guaranteed",
                "calibration": None,
                "clause": "in_range n",
                "evidence": None,
                "reason": "at n: expected at least 0; got -1",
                "score": None,
                "status": "Violated",
                "waived": False,
            }
        ],
        "violations": [
            {
                "clause": "in_range n",
                "evidence": None,
                "expected": "at least 0",
                "hint": "",
                "observed": "-1",
                "path": "n",
            }
        ],
    }


@pytest.mark.requirement("report:forms:json")
@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists))
def test_every_evidence_goes_to_strict_json(evidence: Any) -> None:
    violation = Violation(clause="c", path=".", expected="", observed="", evidence=evidence)
    report = ContractReport(
        contract="c", digest="", step="s", ok=False, verdicts=(), violations=(violation,)
    )
    assert json.loads(report.to_json(), parse_constant=pytest.fail)["violations"]


@pytest.mark.requirement("report:forms:json", "report:observed:cut")
def test_secrets_in_evidence_stay_out_of_json() -> None:
    violation = Violation(
        clause="c", path=".", expected="", observed="", evidence={"password": "hunter2"}
    )
    report = ContractReport(
        contract="c", digest="", step="s", ok=False, verdicts=(), violations=(violation,)
    )
    assert "hunter2" not in report.to_json()


@pytest.mark.requirement("report:forms:json")
def test_a_report_shows_in_a_notebook_with_everything_escaped() -> None:
    html = report_of("<script>alert(1)</script>", "<b>bold</b>")._repr_html_()
    assert "<script>" not in html
    assert "<b>" not in html
    assert "&lt;b&gt;bold&lt;/b&gt;" in html
    assert "Violated" in html


@pytest.mark.requirement("report:forms:pickle")
def test_reports_and_violations_pickle() -> None:
    report = report_of({"n": 1}, "a", "b")
    assert pickle.loads(pickle.dumps(report)) == report
    error = pickle.loads(pickle.dumps(ContractViolation(report)))
    assert (type(error), error.report, str(error)) == (ContractViolation, report, str(report))


@pytest.mark.requirement("violation:type:runtime-error")
def test_a_violation_is_a_runtime_error_and_no_value_error() -> None:
    error = ContractViolation(report_of(1, "a"))
    assert isinstance(error, HornbookError)
    assert isinstance(error, RuntimeError)
    assert not isinstance(error, ValueError)
    assert error.code == "contract-violation"
    assert str(error) == str(error.report)


def observed(value: Any) -> str:
    return report_of(value, "a").violations[0].observed


@pytest.mark.requirement("report:observed:cut")
@pytest.mark.parametrize("value", ["x" * 10_000, list(range(10_000)), {"k": "v" * 9_000}], ids=type)
def test_observed_values_are_cut(value: Any) -> None:
    assert len(observed(value)) < 200


SHOWN: dict[str, tuple[Any, str]] = {
    "text": ("it's", '"it\'s"'),
    "number": (-5, "-5"),
    "tuple": ((1, "a"), "(1, 'a')"),
    "one in a tuple": ((1,), "(1,)"),
    "set": ({2, 1}, "{1, 2}"),
    "bytes": (b"ab", "b'ab'"),
    "keys": ({1: "a"}, "{1: 'a'}"),
    "large": (2**70, "1180591620717411303424"),
    "nan": (float("nan"), "nan"),
    "none": (None, "None"),
}


@pytest.mark.requirement("report:observed:cut")
@pytest.mark.parametrize(("value", "text"), SHOWN.values(), ids=SHOWN)
def test_observed_values_read_as_python_writes_them(value: Any, text: str) -> None:
    assert observed(value) == text


@pytest.mark.requirement("report:observed:cut")
def test_observed_values_are_redacted_inside_models_too() -> None:
    account = Account(owner="Ann", password="hunter2", token=SecretStr("s3cr3t"), amount=-1)
    assert observed(account) == (
        "Account(owner='Ann', password=<redacted>, token=<redacted>, amount=-1)"
    )
    contract = Contract("c", output=Account, ensures=[clauses.matches("password", "[a-z]+")])
    (violation,) = contract.check(account).violations
    assert violation.observed == "<redacted>"


@pytest.mark.requirement("report:observed:cut")
@pytest.mark.parametrize("path", ["password", "users[].password", "user.password[0]"])
def test_what_stands_under_the_name_of_a_secret_is_withheld(path: str) -> None:
    value = {
        "password": "hunter2",
        "users": [{"password": "hunter2"}],
        "user": {"password": ["hunter2"]},
    }
    contract = Contract("c", ensures=[clauses.one_of(path, ["swordfish"])])
    (violation,) = contract.check(value).violations
    assert "hunter2" not in str(violation)


def raises(self: object) -> str:
    raise RuntimeError("no")


@pytest.mark.requirement("report:observed:cut", "trace:write:bad-value")
@pytest.mark.parametrize("method", ["__repr__", "__str__", "__eq__", "__hash__", "__len__"])
def test_a_value_that_cannot_be_shown_is_reported_all_the_same(method: str) -> None:
    value = type("Odd", (), {method: raises})()
    assert "Odd" in observed(value)


KEYS: dict[str, Callable[[], Any]] = {
    "dollar": lambda: {"$tuple": -1},
    "surrogate": lambda: {"\ud800": -1},
    "dots": lambda: {"a.b": -1},
    "number": lambda: {3: -1},
    "tuple": lambda: {(1, 2): -1},
    "quotes": lambda: {'a"b': -1},
}


@pytest.mark.requirement("report:observed:cut")
@pytest.mark.parametrize("make", KEYS.values(), ids=KEYS)
def test_whatever_the_keys_are_a_place_can_be_told(make: Callable[[], Any]) -> None:
    report = Contract("c", ensures=[clauses.in_range("[]", low=0)]).check(make())
    assert [(v.expected, v.observed) for v in report.violations] == [("at least 0", "-1")]


@pytest.mark.requirement("report:text:ten-lines")
@given(st.dictionaries(st.text(), st.integers(max_value=-1), min_size=1, max_size=3))
def test_a_report_about_any_keys_can_be_read(value: dict[str, int]) -> None:
    report = Contract("c", ensures=[clauses.in_range("[]", low=0)]).check(value)
    assert len(report.violations) == len(value)
    assert len(str(report).splitlines()) <= 10
    json.loads(report.to_json())


@pytest.mark.requirement("report:observed:cut")
def test_evidence_quotes_no_secret():
    made = Contract(
        "c",
        output=Any,
        ensures=[
            clauses.grounded("password", source="q"),
            clauses.unique("password", name="u"),
            clauses.unique("users", key="password", name="by"),
        ],
    )
    value = {"password": ["hunter2pw"] * 2, "users": [{"password": "hunter2pw"}] * 2}
    report = made.check(value, {"q": "x"})
    assert len(report.violations) == 3
    assert "hunter2pw" not in report.to_json()
