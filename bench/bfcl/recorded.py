"""The same detection on recorded runs of real models: failed against passed.

The recordings hold no tool schemas, so that only what the guard knows of the conversation is
asked here; agent-airlock and pydantic have nothing to validate against.
"""

import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hornbook.kernel import ToolRegistry, ToolSpec

from .detectors import Complaint, Guard, Session
from .material import Call, MaterialMissing
from .profiles import data_folder
from .shares import Share
from .world import Event

__all__ = ["Half", "Run", "compare", "runs"]

_OPEN: Mapping[str, Any] = {"type": "object", "additionalProperties": True}
_READS = (
    "get_",
    "list_",
    "search_",
    "find_",
    "calculate",
    "think",
    "check_",
    "can_",
    "run_",
    "transfer_",
)
_GOOD = 0.999


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One recorded conversation."""

    source: str
    task: str
    passed: bool
    messages: Sequence[Mapping[str, Any]]
    trusted: Sequence[str]


@dataclass(slots=True)
class Half:
    """The passed or the failed runs of one source, as one detector sees them."""

    runs: int = 0
    flagged_runs: int = 0
    calls: int = 0
    flagged_calls: int = 0
    ends: int = 0
    flagged_ends: int = 0
    reasons: Counter[str] = field(default_factory=Counter[str])

    @property
    def data(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "runs": Share(self.flagged_runs, self.runs).data,
            "calls": Share(self.flagged_calls, self.calls).data,
            "ends": Share(self.flagged_ends, self.ends).data,
            "reasons": dict(self.reasons.most_common()),
        }


def runs(sample: int | None = None) -> Iterator[Run]:
    """Yield the recorded runs, or so many of each file.

    Raises:
        MaterialMissing: when they are not there.
    """
    folder = data_folder()
    files = sorted(folder.glob("tau2/*.json.gz"))
    other = folder / "taubench" / "gpt-4o-airline.json.gz"
    if not files or not other.exists():
        raise MaterialMissing(f"no recorded runs in {folder}: tau2/*.json.gz and taubench/ there")
    for path in files:
        yield from list(_tau2(path))[:sample]
    yield from list(_taubench(other))[:sample]


def _read(path: Path) -> Any:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def _tau2(path: Path) -> Iterator[Run]:
    data = _read(path)
    policy = str(data["info"]["environment_info"].get("policy") or "")
    tickets = {task["id"]: task.get("ticket") for task in data["tasks"]}
    for simulation in data["simulations"]:
        ticket = tickets.get(simulation["task_id"]) if "solo" in path.name else None
        first = [{"role": "user", "content": ticket}] if ticket else []
        yield Run(
            source=path.name.removesuffix(".json.gz"),
            task=str(simulation["task_id"]),
            passed=((simulation["reward_info"] or {}).get("reward") or 0) > _GOOD,
            messages=[*first, *simulation["messages"]],
            trusted=(policy,),
        )


def _taubench(path: Path) -> Iterator[Run]:
    for row in _read(path):
        said = row["traj"]
        yield Run(
            source="taubench-gpt-4o-airline",
            task=str(row["task_id"]),
            passed=row["reward"] > _GOOD,
            messages=[message for message in said if message["role"] != "system"],
            trusted=[message["content"] for message in said if message["role"] == "system"],
        )


def compare(guard: Guard, recorded: Sequence[Run]) -> dict[str, dict[str, Half]]:
    """Return by source, and in all, how many failed and passed runs, calls and ends are flagged."""
    table: dict[str, dict[str, Half]] = {}
    sources = dict.fromkeys(run.source for run in recorded)
    tools = {source: _registry(recorded, source) for source in sources}
    whole = {"passed": Half(), "failed": Half()}
    for run in recorded:
        half = _heard(guard.on(tools[run.source], run.trusted), run)
        row = table.setdefault(run.source, {"passed": Half(), "failed": Half()})
        for rows in (row, whole):
            _add(rows["passed" if run.passed else "failed"], half)
    return {**table, "all": whole}


def _registry(recorded: Sequence[Run], source: str) -> ToolRegistry:
    names = {
        name
        for run in recorded
        if run.source == source
        for message in run.messages
        for name, _, _ in _calls(message)
    }
    return ToolRegistry(
        ToolSpec(name=name, parameters=_OPEN, read_only=name.startswith(_READS))
        for name in sorted(names)
    )


def _add(whole: Half, part: Half) -> None:
    for name in Half.__slots__:
        setattr(whole, name, getattr(whole, name) + getattr(part, name))


def _heard(session: Session, run: Run) -> Half:
    """Go through a run: each call before it is made, each answer before the user has it."""
    half = Half(runs=1)
    results = {_id(message): message for message in run.messages if message["role"] == "tool"}
    for message in run.messages:
        text = message.get("content")
        if message["role"] == "user" and text:
            session.turn(str(text))
        elif message["role"] == "assistant":
            for name, given, number in _calls(message):
                half.calls += 1
                call = Call(name, given)
                half.flagged_calls += _noted(half, session.call(call))
                if number in results:
                    session.result(_event(call, results[number]))
            if text and not message.get("tool_calls"):
                half.ends += 1
                half.flagged_ends += _noted(half, session.finish(str(text)))
    half.flagged_runs = int(half.flagged_calls + half.flagged_ends > 0)
    return half


def _noted(half: Half, complaint: Complaint | None) -> bool:
    if complaint is not None:
        half.reasons[complaint.reason] += 1
    return complaint is not None


def _id(message: Mapping[str, Any]) -> str:
    return str(message.get("id") or message.get("tool_call_id"))


def _calls(message: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield an agent's calls; the simulated user of telecom has tools of its own."""
    if message["role"] != "assistant":
        return
    for call in message.get("tool_calls") or ():
        if call.get("requestor", "assistant") != "assistant":
            continue
        inner = call.get("function") or call
        given = inner["arguments"]
        read = json.loads(given) if isinstance(given, str) else given
        yield inner["name"], dict(read), str(call["id"])


def _event(call: Call, message: Mapping[str, Any]) -> Event:
    text = str(message.get("content") or "")
    return Event(call, text, error=bool(message.get("error")) or text.startswith("Error"))
