"""A verification as JUnit XML, as CI systems read it."""

from collections.abc import Iterable
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from hornbook.verify.values import Finding, ScenarioResult

if TYPE_CHECKING:
    from hornbook.verify.verification import Verification

__all__ = ["junit_of"]

_CHECKED = (
    "types",
    "bounds",
    "calls",
    "unreachable",
    "unchecked-output",
    "non-exhaustive",
    "effects-in-parallel",
    "not-portable",
    "accuracy",
    "idle-clause",
    "not-run",
    "mutants-cut",
)


def junit_of(*verifications: "Verification") -> str:
    """For each program one suite of checks and one of scenarios; a case for each."""
    root = ET.Element("testsuites", name="hornbook verify")
    suites = [suite for found in verifications for suite in _suites(found)]
    root.extend(suites)
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in suites)))
    root.set("time", f"{sum(float(suite.get('time', '0')) for suite in suites):.6f}")
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _suites(found: "Verification") -> list[ET.Element]:
    return [
        _suite(f"{found.program}.checks", [_check(found, code) for code in _CHECKED]),
        _suite(f"{found.program}.scenarios", [_scenario(found, one) for one in found.scenarios]),
    ]


def _suite(name: str, cases: Iterable[ET.Element]) -> ET.Element:
    held = list(cases)
    suite = ET.Element("testsuite", name=name, tests=str(len(held)))
    suite.set("failures", str(sum(case.find("failure") is not None for case in held)))
    suite.set("errors", str(sum(case.find("error") is not None for case in held)))
    suite.set("skipped", "0")
    suite.set("time", f"{sum(float(case.get('time', '0')) for case in held):.6f}")
    suite.extend(held)
    return suite


def _check(found: "Verification", code: str) -> ET.Element:
    case = ET.Element("testcase", classname=f"{found.program}.checks", name=code, time="0")
    told = [finding for finding in found.findings if finding.code == code]
    failing = [finding for finding in told if found.fails(finding)]
    if failing:
        _failure(case, failing[0].message, _lines(failing), kind=code)
    elif told:
        ET.SubElement(case, "system-out").text = _clean(_lines(told))
    return case


def _lines(findings: Iterable[Finding]) -> str:
    return "\n".join(map(str, findings))


def _scenario(found: "Verification", result: ScenarioResult) -> ET.Element:
    scenario = result.scenario
    seconds = 0.0 if result.played is None else result.played.microseconds / 1e6
    case = ET.Element(
        "testcase",
        classname=f"{found.program}.scenarios",
        name=_clean(scenario.name),
        time=f"{seconds:.6f}",
    )
    if scenario.file is not None:
        case.set("file", str(scenario.file))
    if scenario.line is not None:
        case.set("line", str(scenario.line))
    if result.played is None:
        _failure(case, result.problem, result.problem, tag="error", kind="not-run")
    elif not result.ok:
        failures = result.failures
        _failure(case, failures[0], "\n".join(failures), kind="scenario")
    return case


def _failure(case: ET.Element, message: str, text: str, *, kind: str, tag: str = "failure") -> None:
    made = ET.SubElement(case, tag, message=_clean(message), type=kind)
    made.text = _clean(text)


def _clean(text: str) -> str:
    """A text without what XML cannot hold: control characters and lone surrogates."""
    return "".join(one if _may_stand(ord(one)) else f"\\x{ord(one):02x}" for one in text)


def _may_stand(code: int) -> bool:
    return (
        code in (9, 10, 13) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code > 0xFFFF
    )
