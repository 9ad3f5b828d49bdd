"""The tables that the command prints."""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from .alarms import LOOK_UP, Alarms, alarms, stale, with_look_ups
from .cases import Case, cached, clean, single_faults
from .detectors import Airlock, Detector, Guard, Pydantic, ToolErrors, can_finish
from .hearing import Flag, by_task
from .lookups import completed
from .material import MaterialMissing, Task, half, release, tasks
from .profiles import PROFILES, profile, profile_cases
from .recorded import compare, runs
from .scoring import Found, Oracle, by_kind, macro, precision, recovery, search, tool_errors
from .shares import Share
from .tuning import settings, tuned

sys.path.insert(0, str(Path(__file__).parents[1]))

from measure import write

__all__ = ["Options", "faults", "gold", "profiles", "recorded"]

MARKS = {"calls": 0.01, "turns": 0.02, "silent": 0.6}


@dataclass
class Options:
    """What is asked for, and what is read only once for it."""

    sample: int | None = None
    seeds: int = 1
    folder: Path | None = None
    tuned: bool = False
    """Whether thresholds are tuned here; else they are the guard's own."""

    @cached_property
    def raw(self) -> list[Task]:
        """The tasks with the gold as it is."""
        return tasks(self.sample)

    @cached_property
    def looked_up(self) -> list[Task]:
        """The tasks with the look-ups that the gold leaves out."""
        return completed(self.raw)

    @cached_property
    def singles(self) -> list[Case]:
        """One fault a conversation."""
        key = [self.sample, self.seeds]
        return cached("single", key, single_faults(self.looked_up, self.seeds))

    @cached_property
    def thresholds(self) -> Mapping[str, Any]:
        """Those tuned on half of the tasks, where they differ from the guard's own."""
        if not self.tuned:
            return {}
        own = [task for task in self.looked_up if half(task.id) == "tune"]
        ids = {task.id for task in own}
        found = tuned(own, [case for case in self.singles if case.task in ids])
        print(f"thresholds tuned on {len(own)} tasks: {dict(found) or 'the defaults'}")
        return found

    def detectors(self) -> list[Detector]:
        """The rows."""
        rows: list[Detector] = [Pydantic()]
        try:
            rows.append(Airlock())
        except ImportError:
            print("agent-airlock is not installed: its row is left out")
        rows.append(Guard())
        if can_finish():
            rows.append(Guard(finish=True, settings=settings(self.thresholds)))
        else:
            print("the guard has no finish yet: its row is left out")
        return rows


def gold(options: Options) -> None:
    """False alarms on every ground-truth trajectory."""
    print(f"\nFalse alarms on ground truth (bfcl-eval {release()}, multi_turn_base)")
    rows: list[Alarms] = []
    for detector in options.detectors():
        raw = alarms(detector, options.raw, list(map(clean, options.raw)), "as it is")[0]
        cases = list(map(clean, options.looked_up))
        looked = alarms(detector, options.looked_up, cases, "with look-ups")[0]
        rows += [with_look_ups(raw, looked), looked]
        test = [task for task in options.looked_up if half(task.id) == "test"]
        own = [case for case in cases if half(case.task) == "test"]
        rows.append(alarms(detector, test, own, "with look-ups, test half")[0])
    for row in rows:
        print(
            f"  {row.detector:<24}{row.on:<26}calls {row.calls.percent}; turns {row.turns.percent}"
        )
    for row in rows:
        if row.detector.startswith("guard") and "half" not in row.on:
            _print_alarms(row, whole=options.sample is None)
    write("bfcl false alarms", [row.data for row in rows], options.folder)


def _print_alarms(row: Alarms, *, whole: bool) -> None:
    counts = Counter(one.kind for one in row.found)
    print(f"\n  {row.detector}, gold {row.on}: {', '.join(f'{n} {k}' for k, n in counts.items())}")
    for one in row.found:
        if one.kind != LOOK_UP:
            print(f"    {one.task} turn {one.turn} {one.call[:60] or 'end of turn'}")
            print(f"      {one.reason}: {one.detail[:90]} -- {one.kind}: {one.why}")
    if whole and "finish" in row.detector:
        print(f"    explained, but raised no more: {', '.join(stale(row)) or 'none'}")


def faults(options: Options) -> None:
    """One fault a conversation."""
    test = [task for task in options.looked_up if half(task.id) == "test"]
    ids = {task.id for task in test}
    cases = [case for case in options.singles if case.task in ids]
    print(f"\nOne fault a conversation: {len(cases)} conversations, {len(test)} tasks (test half)")
    _score("bfcl single faults", options, test, cases)


def profiles(options: Options) -> None:
    """A responder that errs as a real model did."""
    test = [task for task in options.looked_up if half(task.id) == "test"]
    for name in PROFILES:
        of = profile(name)
        seeds = options.seeds * 5
        made = profile_cases(test, of, seeds)
        cases = cached("profile", [name, options.sample, seeds], made)
        print(
            f"\nA responder like {name}: {of.rate:.1%} of calls wrong; "
            f"{len(cases)} of {len(test) * seeds} conversations have a fault"
        )
        _score(f"bfcl profile {name}", options, test, cases)


def _score(title: str, options: Options, own: Sequence[Task], cases: Sequence[Case]) -> None:
    known, golden = by_task(own), list(map(clean, own))
    heard = _usual_errors(known, cases)
    oracle, data = Oracle(known), list[dict[str, Any]]()
    for detector in options.detectors():
        found_alarms, usual = alarms(detector, own, golden, "gold")
        found = search(detector, known, cases, usual)
        data.append(_row(detector.name, found, heard, oracle, found_alarms))
    data.insert(0, _row(ToolErrors.name, heard, heard, oracle, None))
    _print_kinds(data)
    _print_sums(data)
    write(title, data, options.folder)


def _usual_errors(known: Mapping[str, Task], cases: Sequence[Case]) -> list[Found]:
    usual: dict[str, list[Flag]] = {task: [] for task in known}
    return tool_errors(known, cases, usual)


def _row(
    name: str,
    found: Sequence[Found],
    heard: Sequence[Found],
    oracle: Oracle,
    on_gold: Alarms | None,
) -> dict[str, Any]:
    silent, consequential = macro(found, "silent"), macro(found, "silent", "loud")
    every = Share(
        sum(one.flag is not None for one in found if one.case.verdict == "silent"),
        sum(one.case.verdict == "silent" for one in found),
    )
    return {
        "detector": name,
        "macro_silent": silent[0],
        "macro_silent_interval": silent[1],
        "macro_consequential": consequential[0],
        "macro_consequential_interval": consequential[1],
        "silent": every.data,
        "precision": precision(found).data,
        "gold_calls": on_gold.calls.data if on_gold else None,
        "gold_turns": on_gold.turns.data if on_gold else None,
        "recovered": {str(chance): share for chance, share in recovery(found, heard, oracle)},
        "kinds": [
            kind.data
            | {
                "recovered": {
                    str(chance): share
                    for chance, share in recovery(
                        kind.found, [h for h in heard if h.case.kind == kind.name], oracle
                    )
                }
            }
            for kind in by_kind(found)
        ],
    }


def _print_kinds(data: Sequence[Mapping[str, Any]]) -> None:
    for number, kind in enumerate(data[0]["kinds"]):
        of = {name: kind[name]["n"] for name in ("silent", "loud", "harmless")}
        told = ", ".join(f"{count} {name}" for name, count in of.items())
        print(f"  {kind['kind']}: {kind['n']} ({told}; {kind['equivalent']} equivalent)")
        for row in data:
            own = row["kinds"][number]
            cells = (f"{name} {_cell(own[name])}" for name in ("silent", "loud", "harmless"))
            effects = "-" if own["effects"] is None else f"{own['effects']:.2f}"
            print(f"    {row['detector']:<24}{'  '.join(cells)}  changes before {effects}")


def _print_sums(data: Sequence[Mapping[str, Any]]) -> None:
    print("\n  recall, mean over kinds; precision; right results after retries right by .3/.6/.9")
    for row in data:
        saved = " ".join(f"{share:.2f}" for share in row["recovered"].values())
        print(
            f"    {row['detector']:<24}silent {_mean(row, 'macro_silent')}  "
            f"consequential {_mean(row, 'macro_consequential')}  "
            f"precision {_cell(row['precision'])}  recovered {saved}"
        )
    print(f"    to reach: silent >= {MARKS['silent']}")


def _mean(row: Mapping[str, Any], name: str) -> str:
    value, interval = row[name], row[f"{name}_interval"]
    if value is None:
        return "-"
    return f"{value:.2f}" + (f" [{interval[0]:.2f}, {interval[1]:.2f}]" if interval else "")


def _cell(share: Mapping[str, Any]) -> str:
    if not share["n"]:
        return f"{'-':<18}"
    return f"{share['value']:.2f} [{share['low']:.2f}, {share['high']:.2f}]"


def recorded(options: Options) -> None:
    """Recorded runs of real models."""
    found = list(runs(options.sample))
    print(f"\nRecorded runs of real models: {len(found)} runs; shares that are flagged")
    rows = [Guard()]
    if can_finish():
        rows.append(
            Guard(finish=True, settings=settings(options.thresholds if _has_package() else {}))
        )
    data: list[dict[str, Any]] = []
    for guard in rows:
        print(f"  {guard.name}")
        for source, row in compare(guard, found).items():
            shares = {name: one.data for name, one in row.items()}
            data.append({"detector": guard.name, "source": source, **shares})
            for name, one in shares.items():
                units = ("runs", "calls", "ends")
                cells = (f"{unit} {_cell(one[unit])} of {one[unit]['n']}" for unit in units)
                print(f"    {source:<26}{name:<8}{'  '.join(cells)}")
            if source == "all":
                print(
                    f"      by reason: { ({name: one['reasons'] for name, one in shares.items()}) }"
                )
    write("recorded runs", data, options.folder)


def _has_package() -> bool:
    try:
        release()
    except MaterialMissing:
        return False
    return True
