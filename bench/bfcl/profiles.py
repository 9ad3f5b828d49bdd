"""Conversations of a responder that errs as a real model did: any number of faults in one."""

import json
import os
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .cases import Case, grade
from .faults import KINDS, Fault, Maker, Place, unparsed
from .material import MaterialMissing, Task
from .world import Event, played

__all__ = ["PROFILES", "Profile", "data_folder", "profile", "profile_cases"]

PROFILES = (
    "gpt-4o-2024-08-06-FC",
    "gpt-3.5-turbo-0125-FC",
    "Salesforce_xLAM-1b-fc-r",
    "meta-llama_Meta-Llama-3-8B-Instruct",
)
_SHARES: Mapping[str, Mapping[str, float]] = {
    "wrong_value": {"wrong_value_taken": 0.4, "wrong_value_invented": 0.4, "wrong_choice": 0.2},
    "wrong_call_count": {"drop_call": 0.6, "duplicate_call": 0.2, "extra_call": 0.2},
    "wrong_type": {"wrong_type": 1.0},
    "missing_optional_param": {"missing_optional": 1.0},
    "missing_required_param": {"missing_required": 1.0},
    "wrong_tool": {"wrong_tool_fitted": 0.5, "wrong_tool": 0.5},
    "hallucinated_param_name": {"invented_name": 1.0},
    "unparseable": {"unparsed": 1.0},
}
"""Of what kinds the counted classes are made; how a class is split is our assumption."""

_MAKERS: Mapping[str, Maker] = {**KINDS, "unparsed": unparsed}


@dataclass(frozen=True, slots=True)
class Profile:
    """How often a call of a model is wrong, and in what way."""

    name: str
    rate: float
    kinds: Mapping[str, float]


def data_folder() -> Path:
    """Return the folder of recorded runs and counted faults.

    Raises:
        MaterialMissing: when it is not there.
    """
    own = os.environ.get("HORNBOOK_BENCH_DATA")
    folder = Path(own) if own else Path(__file__).parents[3] / "shared" / "data"
    if not folder.is_dir():
        raise MaterialMissing(
            f"no folder {folder} with recorded runs: set HORNBOOK_BENCH_DATA to where it is"
        )
    return folder


def profile(name: str) -> Profile:
    """Return what was counted of a model.

    Raises:
        MaterialMissing: when the counts are not there.
    """
    path = data_folder() / "fault_profiles_bfcl2024.json"
    if not path.is_file():
        raise MaterialMissing(f"no file {path} with what was counted of models")
    counted = json.loads(path.read_text(encoding="utf-8"))[name]
    kinds: dict[str, float] = {}
    for found, number in counted["classes"].items():
        for kind, share in _SHARES.get(found, {}).items():
            kinds[kind] = kinds.get(kind, 0.0) + share * number
    return Profile(name, counted["fail"] / counted["n"], kinds)


def profile_cases(tasks: Sequence[Task], of: Profile, seeds: int) -> Iterator[Case]:
    """Yield conversations in which at least one call came out wrong."""
    for task in tasks:
        gold, events = played(task, task.gold)
        errors = sum(event.error for turn in events for event in turn)
        for seed in range(seeds):
            drawn = _draw(task, of, events, seed)
            if drawn is not None:
                yield grade(task, gold, drawn, of.name, seed, errors)


def _draw(task: Task, of: Profile, events: Sequence[Sequence[Event]], seed: int) -> Fault | None:
    """Return the trace with each call wrong at the model's rate; from the last to the first."""
    rng = random.Random(f"{task.id} {of.name} {seed}")
    current, places, what = task, list[Place](), list[str]()
    for turn in reversed(range(len(task.gold))):
        for at in reversed(range(len(task.gold[turn]))):
            if rng.random() >= of.rate:
                continue
            (kind,) = rng.choices(list(of.kinds), list(of.kinds.values()))
            fault = _MAKERS[kind](current, events, (turn, at), rng)
            if fault is not None:
                current = replace(current, gold=fault.trace)
                places.append(fault.at)
                what.append(f"{kind}: {fault.what}")
    if current.gold == task.gold:
        return None
    return Fault(current.gold, min(places), "; ".join(reversed(what)))
