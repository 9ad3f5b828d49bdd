"""Run the support desk, without Hornbook and with it: `python -m examples.support_desk`."""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from email import message_from_string
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langgraph.errors import GraphRecursionError

import hornbook
from hornbook.rules import RuleLibrary
from hornbook.trace import read, verify_trace

from . import agent, agent_plain, database
from .live import choose_model
from .recorded import NotRecorded
from .story import Refunds, comparison, difference, story

NOON = 4
"""E-mails of the morning; after them a person approves the rule that the first one taught."""


def without_hornbook(model: BaseChatModel, folder: Path) -> Iterator[str]:
    """Let the ordinary agent answer the e-mails; give what it says it did."""
    database.create(folder)
    desk = agent_plain.build(model)
    for path, email in inbox():
        yield f"{path.stem}: {answer(desk, email)}"


def with_hornbook(model: BaseChatModel, folder: Path) -> Path:
    """Let the guarded agent answer the e-mails; give the folder of the record."""
    database.create(folder)
    with hornbook.run(trace=folder / "runs", namespace="support-desk") as run:
        desk = agent.build(model)
        for number, (path, email) in enumerate(inbox()):
            if number == NOON:
                [rule] = RuleLibrary.load(shutil.copy(database.DATA / "rules.jsonl", folder))
                run.note("noon", {"about": f"a rule that 1-kettle taught is approved. {rule.text}"})
                desk = agent.build(model)
            message = message_from_string(email)
            run.note(path.stem, {"about": f"{message['subject']!r} from {message['from']}"})
            answer(desk, email)
    assert run.path is not None
    return run.path


def inbox() -> Iterator[tuple[Path, str]]:
    """The e-mails, in the order in which they came in."""
    for path in sorted((database.DATA / "inbox").glob("*.eml")):
        yield path, path.read_text(encoding="utf-8")


def answer(desk: Any, email: str) -> str:
    """Let the desk answer one e-mail; a live model may fail, and the next e-mail waits."""
    try:
        return desk.invoke({"email": email})["messages"][-1].text
    except (hornbook.ContractViolation, GraphRecursionError) as error:
        return f"not answered: {error}"


def refunds() -> Refunds:
    """The refunds in the database, by order."""
    table = database.rows(
        "SELECT order_id, sum(amount) AS paid, min(verified) AS verified FROM refunds GROUP BY 1"
    )
    return {row["order_id"]: (row["paid"], bool(row["verified"])) for row in table}


def main(arguments: list[str] | None = None) -> None:
    """Run the demo and tell its story."""
    parser = argparse.ArgumentParser(prog="examples.support_desk", description=__doc__)
    parser.add_argument("--bare", action="store_true", help="only the agent without Hornbook")
    parser.add_argument("--recorded", action="store_true", help="recorded, even with an API key")
    parser.add_argument("--model", help="the live model, as `provider:name`")
    parser.add_argument("--out", type=Path, help="folder for databases and record")
    options = parser.parse_args(arguments)
    out = options.out or Path(tempfile.mkdtemp(prefix="support-desk-"))
    model, words = choose_model(recorded=options.recorded, name=options.model)
    if out.exists() and any(out.iterdir()):
        sys.exit(f"{out} is not empty: name another folder with --out.")
    began = time.perf_counter()
    print(f"Brightwell's support desk answers 7 e-mails ({words}).")
    try:
        runs = {"without Hornbook": tell_without(model, out / "without")}
        if not options.bare:
            runs["with Hornbook"] = tell_with(model, out / "with")
    except NotRecorded as error:
        sys.exit(f"The recording does not know this situation: {error}")
    print("\nWhat it came to:", *comparison(runs), sep="\n")
    print(f"\n{time.perf_counter() - began:.1f} seconds; all files are in {out}")
    if not options.bare:
        print(*how_to_read(out / "with" / "runs"), sep="\n")


def tell_without(model: BaseChatModel, folder: Path) -> Refunds:
    """Answer the e-mails without Hornbook, and tell what the agent says."""
    print("\nWithout Hornbook it says:")
    for line in without_hornbook(model, folder):
        print(f"  {line}")
    return refunds()


def tell_with(model: BaseChatModel, folder: Path) -> Refunds:
    """Answer the e-mails with Hornbook, and tell what its record says."""
    print("\nThe same agent with Hornbook; agent.py differs from agent_plain.py by")
    print(*difference(), sep="\n")
    print(*story(read(with_hornbook(model, folder))), sep="\n")
    return refunds()


def how_to_read(runs: Path) -> Iterator[str]:
    """Say whether the record is whole, and how to read it."""
    [record] = runs.iterdir()
    beside = Path(sys.executable).with_name("hornbook")
    command = "hornbook" if shutil.which("hornbook") else os.path.relpath(beside)
    yield f"The record is {verify_trace(record).status}. To read it:"
    yield from (f"  {command} trace {verb} {record}" for verb in ("show", "verify"))


if __name__ == "__main__":
    main()
