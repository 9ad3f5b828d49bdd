"""`export_sft`: training examples for a neural primitive, out of recorded runs.

Chat-format JSONL with the JSON target as the assistant's answer, split 90/10 into train and
validation as in Forethought's table 4, but by scenario, so that no scenario stands on both
sides.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast, get_args

from hornbook.errors import DefinitionError, TraceError
from hornbook.evaluation.attempts import Steps, attempts_of
from hornbook.evaluation.errors import EvaluationError
from hornbook.evaluation.examples import Examples, examples_of
from hornbook.evaluation.holding import holding
from hornbook.evaluation.targets import Lesson, Refusal, lessons
from hornbook.trace.events import Event
from hornbook.trace.reader import list_runs, read

if TYPE_CHECKING:
    from hornbook.program import Primitive

__all__ = ["Manifest", "Traces", "export_sft"]

Traces: TypeAlias = "str | Path | Iterable[str | Path] | Iterable[Event]"
"""A run's folder or file, a folder of runs, several of these, or events."""

_FILES = ("train.jsonl", "validation.jsonl", "sources.jsonl", "manifest.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What was exported, and what was not (Forethought, table 4)."""

    primitive: str
    total: int
    train: int
    validation: int
    scenarios: int
    """Scenarios (or runs, where they have no such tag) with one example at least."""
    corrected: int
    """Examples whose target is a correction's."""
    models: tuple[str, ...]
    """Who answered in the record."""
    steps: int
    """Steps of the primitive in the record."""
    without_model: int
    """Steps that asked no model: answered from a cache, or stopped before."""
    refused: Mapping[str, int]
    """Attempts that became no example, by reason: `violated`, `unheld`, `redacted`, `cut`,
    `duplicate`, `conflict`."""
    unused_corrections: int = 0
    """Corrections of inputs that no attempt had."""
    unreadable: tuple[str, ...] = ()
    """Records that could not be read, each with the reason."""

    def __str__(self) -> str:
        """As a line of table 4, and what was left out."""
        left_out = ", ".join(f"{count} {reason}" for reason, count in self.refused.items() if count)
        unused = self.unused_corrections
        return (
            f"{self.primitive}: {self.total} examples, {self.train} train, {self.validation} "
            f"validation, {self.scenarios} scenarios; left out: {left_out or 'none'}"
            f"{f'; {unused} corrections of inputs that do not occur' if unused else ''}"
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def export_sft(
    traces: Traces,
    primitive: "str | Primitive[..., Any]",
    folder: str | Path = "sft",
    *,
    gold: Examples = (),
    system: str | None = None,
    validation: float = 0.1,
    seed: str = "",
    overwrite: bool = False,
) -> Manifest:
    """Write training examples for a neural primitive from recorded runs.

    Only attempts whose contract was satisfied teach, or such as a correction speaks of. The
    split depends on the scenarios' names alone, and each scenario is on one side.

    Args:
        traces: a run's folder or file, a folder of runs, several of these, or events.
        primitive: its name, or the primitive.
        folder: where `train.jsonl`, `validation.jsonl`, `sources.jsonl` (where each example
            comes from) and `manifest.json` are written.
        gold: corrections: examples, or their file, whose outputs stand in place of what was
            answered to the same inputs.
        system: the system message of examples whose prompt has none.
        validation: share of examples that is kept for validation; met as nearly as whole
            scenarios allow.
        seed: another split, for another text.
        overwrite: replace files of an earlier export.

    Raises:
        TraceError: the one record that was given cannot be read, or there is no such folder.
        EvaluationError: there is nothing to teach, or the folder holds an earlier export.
        DefinitionError: an argument that cannot work.
    """
    if not 0 <= validation < 1:
        raise DefinitionError(f"export_sft(validation={validation!r}): a share in [0, 1)")
    name = primitive if isinstance(primitive, str) else primitive.name
    target = Path(folder)
    if not overwrite and any((target / file).exists() for file in _FILES):
        raise EvaluationError(f"{target} holds an export already: name another folder")
    corrections = examples_of(gold)
    unreadable: list[str] = []
    counted = Steps()
    used: set[str] = set()
    meets = None if isinstance(primitive, str) else holding(primitive)
    attempts = attempts_of(_events(traces, unreadable), name, counted)
    found, refused = _sorted_out(lessons(attempts, corrections, system, used, meets))
    if not found:
        raise EvaluationError(_nothing(name, counted, refused, unreadable))
    held_out = _held_out(found, validation, seed)
    unused = len({one.key for one in corrections} - used)
    manifest = _manifest(name, found, held_out, counted, refused, unused, unreadable)
    _write(target, found, held_out, manifest)
    return manifest


def _events(traces: Traces, unreadable: list[str]) -> Iterator[Event]:
    if isinstance(traces, str | Path):
        yield from _at(Path(traces), unreadable)
        return
    for one in cast("Iterable[Any]", traces):
        if isinstance(one, Event):
            yield one
        else:
            yield from _at(Path(one), unreadable)


def _at(path: Path, unreadable: list[str]) -> Iterator[Event]:
    if path.is_file() or any(path.glob("*.jsonl")):
        yield from read(path)
        return
    for run in list_runs(path):
        try:
            # As a whole or not at all: of a broken record nothing is taught.
            events = list(read(run.path))
        except TraceError as error:
            unreadable.append(str(error))
            continue
        yield from events


def _sorted_out(
    found: Iterable[Lesson | Refusal],
) -> tuple[list[Lesson], Mapping[str, int]]:
    taught: list[Lesson] = []
    refused: Counter[str] = Counter()
    for one in found:
        if isinstance(one, Lesson):
            taught.append(one)
        else:
            refused[one] += 1
    return taught, {reason: refused[reason] for reason in get_args(Refusal)}


def _nothing(
    name: str, counted: Steps, refused: Mapping[str, int], unreadable: Sequence[str]
) -> str:
    left_out = ", ".join(f"{count} {reason}" for reason, count in refused.items() if count)
    if left_out:
        return f"no attempt of {name!r} is fit to teach: {left_out}"
    if counted.steps:
        return f"no step of {name!r} in the record asked a model: there is nothing to teach"
    broken = f" ({len(unreadable)} records cannot be read)" if unreadable else ""
    return f"the record has no step called {name!r}{broken}"


def _held_out(found: Sequence[Lesson], share: float, seed: str) -> frozenset[str]:
    """The scenarios for validation: in an order of their own until the share is met.

    The order is that of hashes, so that new scenarios hardly move the old ones.
    """
    sizes = Counter(one.scenario for one in found)
    ordered = sorted(sizes, key=lambda name: sha256(f"{seed}\n{name}".encode()).hexdigest())
    wanted, taken, chosen = share * len(found), 0, set[str]()
    for scenario in ordered:
        # Each is taken where that comes nearer to what is wanted; one is always left to train.
        nearer = wanted - taken >= sizes[scenario] / 2
        if nearer and len(chosen) < len(ordered) - 1:
            chosen.add(scenario)
            taken += sizes[scenario]
    return frozenset(chosen)


def _manifest(
    name: str,
    found: Sequence[Lesson],
    held_out: frozenset[str],
    counted: Steps,
    refused: Mapping[str, int],
    unused: int,
    unreadable: Sequence[str],
) -> Manifest:
    kept = sum(one.scenario in held_out for one in found)
    return Manifest(
        primitive=name,
        total=len(found),
        train=len(found) - kept,
        validation=kept,
        scenarios=len({one.scenario for one in found}),
        corrected=sum(one.corrected for one in found),
        models=tuple(sorted({one.model for one in found})),
        steps=counted.steps,
        without_model=counted.without_model,
        refused=refused,
        unused_corrections=unused,
        unreadable=tuple(unreadable),
    )


def _write(
    folder: Path, found: Sequence[Lesson], held_out: frozenset[str], manifest: Manifest
) -> None:
    lines: dict[str, list[str]] = {"train": [], "validation": []}
    sources: list[str] = []
    for one in found:
        side = "validation" if one.scenario in held_out else "train"
        lines[side].append(_line({"messages": [dict(message) for message in one.messages]}))
        told = {name: value for name, value in asdict(one).items() if name != "messages"}
        sources.append(_line({"file": f"{side}.jsonl", "line": len(lines[side]), **told}))
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "train.jsonl": lines["train"],
        "validation.jsonl": lines["validation"],
        "sources.jsonl": sources,
        "manifest.json": [json.dumps(manifest.as_dict(), indent=2, ensure_ascii=False)],
    }
    for file, written in texts.items():
        text = "".join(f"{line}\n" for line in written)
        (folder / file).write_text(text, encoding="utf-8", newline="\n")


_LINE_ENDS = {ord(end): f"\\u{ord(end):04x}" for end in "\x85\u2028\u2029"}
"""What ends a line for some readers of text, and not for JSON: escaped, as JSON allows."""


def _line(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False).translate(_LINE_ENDS)
