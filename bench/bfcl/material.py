"""The tasks of `multi_turn_base` as the package `bfcl-eval` ships them; nothing is copied.

The package asks for the libraries of every vendor it can grade; what is used here needs none:

    pip install --no-deps bfcl-eval mpmath
"""

import ast
import hashlib
import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from hornbook import canon
from hornbook.kernel import ToolRegistry

__all__ = [
    "MUTATING",
    "Call",
    "MaterialMissing",
    "Task",
    "Trace",
    "half",
    "registry",
    "release",
    "simulator",
    "tasks",
]

CATEGORY = "multi_turn_base"
_CHANGES = """
cd cp echo mkdir mv rm rmdir touch
add_contact delete_message message_login send_message
authenticate_twitter comment follow_user mention post_tweet retweet unfollow_user
close_ticket create_ticket edit_ticket logout resolve_ticket ticket_login
add_to_watchlist cancel_order fund_account place_order remove_stock_from_watchlist
trading_login trading_logout withdraw_funds
authenticate_travel book_flight cancel_booking purchase_insurance register_credit_card
set_budget_limit
activateParkingBrake adjustClimateControl fillFuelTank lockDoors pressBrakePedal
releaseBrakePedal setCruiseControl setHeadlights set_navigation startEngine
"""
MUTATING = frozenset(_CHANGES.split())
"""The tools that change what their simulator holds; a test compares this with what they do."""

_JSON_TYPES = {"dict": "object", "float": "number", "tuple": "array"}


class MaterialMissing(Exception):
    """What a benchmark reads is not there; the message says how to get it."""


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of a trace."""

    tool: str
    arguments: Mapping[str, Any]
    fate: Literal["run", "timeout", "unparsed"] = "run"
    """A call that times out is made and brings nothing; one unparsed is no call at all."""

    @property
    def text(self) -> str:
        """As the official checker reads it."""
        given = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{self.tool}({given})"

    @property
    def key(self) -> str:
        """The same for calls that are the same."""
        return f"{self.tool} {canon.dumps(dict(self.arguments))}"

    @property
    def mutates(self) -> bool:
        """Whether it may change something."""
        return self.tool in MUTATING


Trace = tuple[tuple[Call, ...], ...]
"""The calls of each turn."""


@dataclass(frozen=True, slots=True)
class Task:
    """One conversation."""

    id: str
    turns: tuple[str, ...]
    gold: Trace = field(hash=False)
    """What a perfect responder does here: the reference, or that with look-ups."""
    reference: Trace = field(hash=False)
    """What the official checker compares with."""
    entry: Mapping[str, Any] = field(repr=False, hash=False)
    docs: tuple[Mapping[str, Any], ...] = field(repr=False, hash=False)
    """The tools at hand, as the data describes them."""
    inserted: frozenset[tuple[int, int]] = frozenset()
    """Which calls of `gold` are no part of the reference: a turn and a position each."""

    @property
    def tools(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(doc["name"] for doc in self.docs)


def release() -> str:
    """Return the version of the package.

    Raises:
        MaterialMissing: when it is not installed.
    """
    _folder()
    return version("bfcl-eval")


def _folder() -> Path:
    found = find_spec("bfcl_eval")
    if found is None or find_spec("mpmath") is None:
        raise MaterialMissing(
            "bfcl-eval is not installed: pip install --no-deps bfcl-eval mpmath "
            "(with its dependencies it would replace this environment's)"
        )
    return Path(str(found.origin)).parent


def tasks(sample: int | None = None) -> list[Task]:
    """Return all tasks, or so many of them, spread over the file.

    Raises:
        MaterialMissing: when the package is not installed.
    """
    data = _folder() / "data"
    name = f"BFCL_v4_{CATEGORY}.json"
    gold = {row["id"]: row["ground_truth"] for row in _rows(data / "possible_answer" / name)}
    entries = _rows(data / name)
    if sample is not None and sample < len(entries):
        step = len(entries) / sample
        entries = [entries[int(at * step)] for at in range(sample)]
    return [_task(entry, gold[entry["id"]]) for entry in entries]


def half(task_id: str) -> Literal["tune", "test"]:
    """Return which half a task is in: thresholds are tuned on one, figures are the other's."""
    return "tune" if hashlib.sha256(task_id.encode()).digest()[0] % 2 else "test"


def registry(task: Task) -> ToolRegistry:
    """Return the tools of a task as the guard takes them."""
    return ToolRegistry.from_json_schema(
        {
            "name": doc["name"],
            "description": doc["description"],
            "parameters": _json_schema(doc["parameters"]),
            "read_only": doc["name"] not in MUTATING,
        }
        for doc in task.docs
    )


@cache
def simulator(class_name: str) -> Any:
    """Return the class of that name."""
    config = import_module("bfcl_eval.constants.executable_backend_config")
    return getattr(import_module(config.CLASS_FILE_PATH_MAPPING[class_name]), class_name)


@cache
def _docs(class_name: str) -> tuple[Mapping[str, Any], ...]:
    config = import_module("bfcl_eval.constants.executable_backend_config")
    file = config.MULTI_TURN_FUNC_DOC_FILE_MAPPING[class_name]
    return tuple(_rows(_folder() / "data" / "multi_turn_func_doc" / file))


def _rows(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def _task(entry: Mapping[str, Any], gold: Sequence[Sequence[str]]) -> Task:
    classes = entry["involved_classes"]
    excluded = entry.get("excluded_function", ())
    docs = [doc for name in classes for doc in _docs(name) if doc["name"] not in excluded]
    reference = tuple(tuple(_call(text, classes) for text in turn) for turn in gold)
    return Task(
        id=entry["id"],
        turns=tuple("\n".join(said["content"] for said in turn) for turn in entry["question"]),
        gold=reference,
        reference=reference,
        entry=entry,
        docs=tuple(docs),
    )


def _call(text: str, classes: Sequence[str]) -> Call:
    """Read a call of the gold; arguments by position get their names from the simulator."""
    node: Any = ast.parse(text, mode="eval").body
    given = {word.arg: ast.literal_eval(word.value) for word in node.keywords}
    if node.args:
        owner = next(c for c in map(simulator, classes) if hasattr(c, node.func.id))
        names = list(inspect.signature(getattr(owner, node.func.id)).parameters)[1:]
        first = dict(zip(names, map(ast.literal_eval, node.args), strict=False))
        given = first | given
    return Call(node.func.id, given)


def _json_schema(schema: Any) -> Any:
    """Return a schema in JSON's words, without defaults that are the text None."""
    if isinstance(schema, list):
        return [_json_schema(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    read = {key: _json_schema(value) for key, value in schema.items()}
    kind = read.get("type")
    if isinstance(kind, str):
        read["type"] = _JSON_TYPES.get(kind, kind)
    if read.get("default") == "None":
        del read["default"]
    return read
