"""The demo's output: what the record says was blocked and repaired, and what it came to."""

import csv
import difflib
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hornbook.trace import Event

from .database import DATA

__all__ = ["Refunds", "comparison", "difference", "story"]

Refunds = Mapping[str, tuple[float, bool]]
"""By order: the amount that was paid, and whether the customer was verified before."""


def difference() -> Iterator[str]:
    """Show the lines in which the guarded agent differs from the plain one."""
    plain, guarded = (
        Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
        for name in ("agent_plain.py", "agent.py")
    )
    return (line for line in difflib.ndiff(plain, guarded) if line[0] in "+-")


def story(events: Iterable[Event]) -> Iterator[str]:
    """Tell a record e-mail by e-mail; all that is said here was read from it."""
    inputs: dict[str, Mapping[str, Any]] = {}
    told: set[str] = set()  # rules injected and tools blocked in this e-mail
    for event in events:
        data = event.data
        match event.kind:
            case "note":
                told.clear()
                yield from ("", *_wrapped(f"{event.name}: {data['about']}", ""))
            case "step.start":
                inputs[event.id] = data["inputs"]
            case "rule" if event.name not in told:
                told.add(event.name)
                yield from _line("rule", f"{event.name} is injected into the prompt")
            case "attempt" if event.status == "violated":
                yield from _line("REJECTED", f"{event.name}, attempt {data['attempt']}")
                yield from (line for text in data["violations"] for line in _line("", text))
            case "decision" if event.name in ("retry", "fallback"):
                how = data.get("to", "the model is asked again, with this as feedback")
                yield from _line(event.name, how)
            case "step.end" if event.name == "model":
                yield from _line("answer", (data["output"] or {}).get("content", ""))
            case "step.end" if event.name == "triage":
                request = (data["output"] or {}).get("request")
                label = "ok" if data["attempts"] == 1 else "repaired"
                yield from _line(label, f"triage: {request}")
            case "step.end":
                yield from _tool(event, inputs[event.id], told)
            case _:
                pass


def _tool(event: Event, inputs: Mapping[str, Any], told: set[str]) -> Iterator[str]:
    values = ", ".join(f"{name}={_cut(str(value))}" for name, value in inputs.items())
    violations = event.data.get("report", {}).get("violations", ())
    output = event.data["output"]
    label = "repaired" if event.name in told else "ok"
    if violations:
        told.add(event.name)
        label = "BLOCKED"
    elif isinstance(output, dict) and "error" in output:
        label = "error"
    yield from _line(label, f"{event.name}({values})")
    for violation in violations:
        # What a clause about the whole call observed stands in the line above.
        observed = "" if violation["path"] == "." else f"; got {violation['observed'] or 'nothing'}"
        where = "the call" if violation["path"] == "." else violation["path"]
        why = f"expected {violation['expected']}{observed}"
        yield from _line("", f"clause {violation['clause']!r} on {where}: {why}")


def _cut(text: str) -> str:
    return text if len(text) <= 32 else f"{text[:29]}..."


def _line(label: str, text: str) -> Iterator[str]:
    return _wrapped(text, f"  {label:<10}") if text else iter(())


def _wrapped(text: str, head: str) -> Iterator[str]:
    yield from textwrap.wrap(text, 100, initial_indent=head, subsequent_indent=" " * len(head))


def comparison(runs: Mapping[str, Refunds]) -> Iterator[str]:
    """Put the refunds of each run beside what they should have been."""
    with (DATA / "expected.csv").open(encoding="utf-8", newline="") as file:
        expected = {row["order_id"]: float(row["refund"]) for row in csv.DictReader(file)}
    orders = sorted({*expected, *(order for refunds in runs.values() for order in refunds)})
    names = "".join(f"{name:<28}" for name in runs)
    yield f"  {'refunds':<10}{'right':>8}   {names}".rstrip()
    for order in orders:
        right = expected.get(order, 0.0)
        cells = (_cell(right, *refunds.get(order, (0.0, True))) for refunds in runs.values())
        yield f"  {order:<10}{right:>8.2f}   {''.join(cells)}".rstrip()
    lost = (
        f"{sum(max(paid - expected.get(order, 0.0), 0) for order, (paid, _) in run.items()):.2f}"
        for run in runs.values()
    )
    yield f"  {'paid wrongly':<21}" + "".join(f"{amount + ' EUR':<28}" for amount in lost).rstrip()


def _cell(right: float, paid: float, verified: bool) -> str:
    faults = [*(["WRONG"] if paid != right else []), *([] if verified else ["UNVERIFIED"])]
    return f"{paid:>6.2f} {', '.join(faults):<21}"
