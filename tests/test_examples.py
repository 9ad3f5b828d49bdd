"""The examples run, and leave the facts they promise: in the shop's database and in the record."""

import difflib
import os
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hornbook.rules import RuleLibrary
from hornbook.trace import Event, read, verify_trace
from workspace import ROOT

DESK = ROOT / "examples" / "support_desk"
FIRST = ROOT / "examples" / "langgraph_first.py"
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")

NO_NETWORK = """
import runpy, socket, sys
def refuse(*args, **kwargs):
    raise AssertionError("the network was asked")
socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = refuse
sys.argv = ["demo", *sys.argv[1:]]
runpy.run_module("examples.support_desk", run_name="__main__", alter_sys=True)
"""

FAKE_OPENAI = """
import sys
from examples.support_desk.database import DATA
from examples.support_desk.recorded import RecordedModel

def ChatOpenAI(model, **settings):
    print("asked for", model, file=sys.stderr)
    return RecordedModel.load(DATA / "decisions.jsonl")
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One tool call as the record has it."""

    tool: str
    inputs: dict[str, Any]
    clauses: tuple[str, ...]
    """What it violated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """What one run of the demo left."""

    out: Path
    printed: str
    seconds: float

    @property
    def record(self) -> Path:
        [run] = (self.out / "with" / "runs").iterdir()
        return run

    def rows(self, run: str, query: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.out / run / "desk.db")) as db:
            return db.execute(query).fetchall()

    def mails(self) -> dict[str, list[Event]]:
        """The events of each e-mail, by the note that begins it."""
        found: dict[str, list[Event]] = {"": []}
        for event in read(self.record):
            if event.kind == "note":
                found[event.name] = []
            found[[*found][-1]].append(event)
        return found

    def calls(self, mail: str) -> list[Call]:
        events = self.mails()[mail]
        inputs = {event.id: event.data for event in events if event.kind == "step.start"}
        return [
            Call(
                tool=event.name,
                inputs=inputs[event.id]["inputs"],
                clauses=tuple(v["clause"] for v in _violations(event)),
            )
            for event in events
            if event.kind == "step.end" and inputs[event.id]["step"] == "tool"
        ]


def run(
    *arguments: str, cwd: Path = ROOT, path: Sequence[Path] = (ROOT,), key: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run Python apart, with no API key but the one named."""
    own = {name: value for name, value in os.environ.items() if name not in KEYS}
    places = [*map(str, path), *filter(None, [own.get("PYTHONPATH")])]
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={**own, "PYTHONPATH": os.pathsep.join(places)} | ({key: "a-key"} if key else {}),
        text=True,
        capture_output=True,
        check=False,
        timeout=120,
    )


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    out = tmp_path_factory.mktemp("demo")
    began = time.monotonic()
    done = run("-c", NO_NETWORK, "--out", str(out))
    assert done.returncode == 0, done.stderr
    return Demo(out=out, printed=done.stdout, seconds=time.monotonic() - began)


@pytest.mark.requirement("demo:agent:offline")
def test_the_demo_runs_offline_in_under_a_minute(demo: Demo) -> None:
    assert demo.seconds < 60


@pytest.mark.requirement("demo:agent:offline")
def test_a_wrong_tool_a_missing_and_an_ill_typed_argument_are_blocked_then_the_right_call_made(
    demo: Demo,
) -> None:
    calls = [(call.tool, call.clauses) for call in demo.calls("4-desk")]
    assert calls == [
        ("book_courier", ("known-tool",)),
        ("schedule_pickup", ("arguments-complete",)),
        ("schedule_pickup", ("arguments-typed",)),
        ("pickup_slots", ()),
        ("schedule_pickup", ()),
        ("send_reply", ()),
    ]
    assert demo.rows("with", "SELECT * FROM pickups") == [("BW-10425", "2026-03-20")]


@pytest.mark.requirement("demo:agent:offline")
def test_an_invented_order_is_blocked_and_looked_up_instead(demo: Demo) -> None:
    refunds = [call for call in demo.calls("2-blender") if call.tool == "issue_refund"]
    assert [(call.inputs["order_id"], call.clauses) for call in refunds] == [
        ("BW-10407", ("grounded order_id",)),
        ("BW-10431", ()),
    ]


@pytest.mark.requirement("demo:agent:offline")
def test_a_refund_before_verification_is_blocked_until_the_customer_is_verified(
    demo: Demo,
) -> None:
    calls = [(call.tool, call.clauses) for call in demo.calls("1-kettle")]
    assert calls[2:5] == [
        ("issue_refund", ("verified",)),
        ("verify_identity", ()),
        ("issue_refund", ()),
    ]


@pytest.mark.requirement("demo:agent:offline")
def test_an_impostor_gets_nothing_and_is_told_why(demo: Demo) -> None:
    assert demo.rows("with", "SELECT * FROM refunds WHERE order_id = 'BW-10388'") == []
    [(body,)] = demo.rows("with", "SELECT body FROM outbox WHERE recipient LIKE 'lukas.%'")
    assert "the code does not match" in body


@pytest.mark.requirement("demo:agent:offline")
def test_triage_is_repaired_by_feedback_and_where_that_fails_by_the_fallback(demo: Demo) -> None:
    ends = {
        mail: [(e.status, e.data["attempts"]) for e in events if _ends(e, "triage")]
        for mail, events in demo.mails().items()
    }
    assert (ends["1-kettle"], ends["4-desk"], ends["6-chair"]) == (
        [("satisfied", 1)],
        [("recovered", 2)],
        [("recovered", 3)],
    )
    [end] = [event for event in demo.mails()["6-chair"] if _ends(event, "triage")]
    assert end.data["output"]["request"] == {"intent": "refund", "order_id": "BW-10416"}


@pytest.mark.requirement("demo:agent:offline")
def test_too_high_a_refund_and_an_untrue_reply_are_blocked_and_corrected(demo: Demo) -> None:
    calls = [(call.tool, call.clauses) for call in demo.calls("6-chair")]
    assert calls[2:] == [
        ("issue_refund", ("within policy",)),
        ("check_refund_policy", ()),
        ("issue_refund", ()),
        ("send_reply", ("true amounts",)),
        ("send_reply", ()),
    ]


@pytest.mark.requirement("demo:agent:offline")
def test_an_e_mail_in_which_nothing_is_wrong_is_left_alone(demo: Demo) -> None:
    calls = demo.calls("7-parcel")
    assert sorted(call.tool for call in calls) == ["find_customer", "get_order", "send_reply"]
    assert not any(call.clauses for call in calls)


@pytest.mark.requirement("demo:agent:offline")
def test_without_hornbook_the_same_decisions_do_harm(demo: Demo) -> None:
    query = "SELECT order_id, amount, verified FROM refunds ORDER BY order_id"
    assert demo.rows("without", query) == [
        ("BW-10388", 188.0, 0),
        ("BW-10407", 89.0, 0),
        ("BW-10412", 64.9, 0),
        ("BW-10416", 240.0, 0),
        ("BW-10419", 98.0, 0),
    ]
    assert demo.rows("with", query) == [
        ("BW-10412", 64.9, 1),
        ("BW-10416", 204.0, 1),
        ("BW-10419", 98.0, 1),
        ("BW-10431", 89.0, 1),
    ]


@pytest.mark.requirement("demo:agent:offline")
def test_the_recorded_model_refuses_a_situation_that_it_was_not_recorded_in() -> None:
    program = (
        "from examples.support_desk.recorded import RecordedModel\n"
        "RecordedModel(decisions=()).invoke('Where is my parcel?')"
    )
    done = run("-c", program)
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith(
        "NotRecorded: no recorded decision after 'e-mail', told 'Where is my parcel?'"
    )


@pytest.mark.requirement("demo:agent:offline")
def test_bare_runs_the_agent_without_hornbook_alone(tmp_path: Path) -> None:
    done = run("-m", "examples.support_desk", "--bare", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert [folder.name for folder in tmp_path.iterdir()] == ["without"]
    assert done.stdout.count("UNVERIFIED") == 5


@pytest.mark.requirement("demo:agent:offline")
def test_a_folder_that_is_not_empty_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("", encoding="utf-8")
    done = run("-m", "examples.support_desk", "--out", str(tmp_path))
    assert done.returncode == 1
    assert done.stderr == f"{tmp_path} is not empty: name another folder with --out.\n"


@pytest.mark.requirement("demo:agent:three-lines")
def test_the_guarded_agent_is_the_plain_one_and_three_lines() -> None:
    plain, guarded = (
        (DESK / name).read_text(encoding="utf-8").splitlines()
        for name in ("agent_plain.py", "agent.py")
    )
    changed = [line for line in difflib.ndiff(plain, guarded) if line[0] in "+-"]
    assert changed == [
        "+ from .contracts import guard, sound_triage",
        "+     @sound_triage",
        "+         middleware=[guard()],",
    ]
    assert not any("hornbook" in line.lower() for line in plain)


@pytest.mark.requirement("demo:agent:tools")
def test_nine_tools_work_on_a_shop_of_real_size(demo: Demo) -> None:
    used = {call.tool for mail in demo.mails() for call in demo.calls(mail) if not call.clauses}
    assert used == {
        "find_customer",
        "list_orders",
        "get_order",
        "check_refund_policy",
        "verify_identity",
        "issue_refund",
        "pickup_slots",
        "schedule_pickup",
        "send_reply",
    }
    for table, at_least in (("customers", 20), ("orders", 40), ("items", 80), ("policies", 5)):
        [(count,)] = demo.rows("with", f"SELECT count(*) FROM {table}")
        assert count >= at_least
    assert len(list((DESK / "data" / "inbox").glob("*.eml"))) >= 6


@pytest.mark.requirement("demo:agent:tools")
def test_the_tools_change_the_shop_and_raise_where_they_cannot(demo: Demo) -> None:
    for table, count in (("verifications", 4), ("refunds", 4), ("pickups", 1), ("outbox", 7)):
        assert demo.rows("with", f"SELECT count(*) FROM {table}") == [(count,)]
    errors = [
        event.data["output"]["error"]
        for event in demo.mails()["3-new-address"]
        if _ends(event, "find_customer") or _ends(event, "verify_identity")
    ]
    assert errors == [
        "no customer has the address lukas.steiner.privat@freemailer.example",
        "the code does not match: C-209 is not verified",
    ]


@pytest.mark.requirement("demo:agent:output")
def test_it_prints_each_call_that_was_blocked_and_why(demo: Demo) -> None:
    blocked = [c for mail in demo.mails() for c in demo.calls(mail) if c.clauses]
    assert len(re.findall(r"^  BLOCKED ", demo.printed, re.MULTILINE)) == len(blocked) == 8
    for clause in (clause for call in blocked for clause in call.clauses):
        assert f"clause {clause!r} on " in demo.printed
    assert "'grounded order_id' on order_id: expected a value that the user gave" in demo.printed
    assert "got 'BW-10407'" in demo.printed


@pytest.mark.requirement("demo:agent:output")
def test_it_prints_what_was_repaired_and_what_the_runs_came_to(demo: Demo) -> None:
    repaired = re.findall(r"^  repaired  (\w+)", demo.printed, re.MULTILINE)
    assert repaired == [
        "issue_refund",
        "issue_refund",
        "triage",
        "schedule_pickup",
        "triage",
        "issue_refund",
        "send_reply",
    ]
    assert re.search(r"paid wrongly +313\.00 EUR +0\.00 EUR\n", demo.printed)


@pytest.mark.requirement("demo:agent:output")
def test_the_approved_rule_is_injected_in_the_afternoon_and_followed(demo: Demo) -> None:
    rules = {
        mail: {event.name for event in events if event.kind == "rule"}
        for mail, events in demo.mails().items()
    }
    [rule] = RuleLibrary.load(DESK / "data" / "rules.jsonl")
    assert (rule.id, rule.status) == ("verify-before-refund", "approved")
    morning = ("1-kettle", "2-blender", "3-new-address", "4-desk")
    assert [rules[mail] for mail in morning] == [set(), set(), set(), set()]
    assert rules["5-duvet"] == rules["6-chair"] == {rule.id}
    for mail in ("5-duvet", "6-chair"):
        tools = [call.tool for call in demo.calls(mail)]
        assert tools.index("verify_identity") < tools.index("issue_refund")
        assert not any("verified" in call.clauses for call in demo.calls(mail))
    assert rule.text in " ".join(demo.printed.split())


@pytest.mark.requirement("demo:agent:output")
def test_it_writes_a_complete_record_and_prints_commands_that_read_it(demo: Demo) -> None:
    assert verify_trace(demo.record).ok
    commands = re.findall(r"^  \S*hornbook (trace \w+) (\S+)$", demo.printed, re.MULTILINE)
    assert commands == [("trace show", str(demo.record)), ("trace verify", str(demo.record))]
    shown, verified = (run("-m", "hornbook.cli", *how.split(), where) for how, where in commands)
    assert (shown.returncode, verified.returncode) == (0, 0)
    assert f"run {demo.record.name} (support-desk), completed" in shown.stdout
    assert verified.stdout.startswith("complete: ")


@pytest.mark.requirement("demo:agent:live")
@pytest.mark.parametrize(
    ("key", "package"),
    [("OPENAI_API_KEY", "langchain-openai"), ("ANTHROPIC_API_KEY", "langchain-anthropic")],
)
def test_a_key_without_its_package_is_one_sentence_that_says_what_to_install(
    key: str, package: str, tmp_path: Path
) -> None:
    # A package of that name that cannot be imported, whatever is installed.
    missing = f"raise ModuleNotFoundError('No module', name={package.replace('-', '_')!r})"
    (tmp_path / f"{package.replace('-', '_')}.py").write_text(missing, encoding="utf-8")
    done = run("-m", "examples.support_desk", path=(ROOT, tmp_path), key=key)
    assert done.returncode == 1
    assert done.stderr == (
        f"{key} is set, and {package} is not installed: run `pip install {package}`, "
        f"or add --recorded.\n"
    )


@pytest.mark.requirement("demo:agent:live")
def test_with_a_key_the_same_code_asks_the_live_model(tmp_path: Path) -> None:
    (tmp_path / "langchain_openai.py").write_text(FAKE_OPENAI, encoding="utf-8")
    demo = ("-m", "examples.support_desk", "--out", str(tmp_path / "out"))
    done = run(*demo, path=(ROOT, tmp_path), key="OPENAI_API_KEY")
    assert (done.returncode, done.stderr) == (0, "asked for gpt-5-mini\n")
    assert "(live decisions of openai:gpt-5-mini)" in done.stdout
    assert re.search(r"paid wrongly +313\.00 EUR +0\.00 EUR\n", done.stdout)


@pytest.mark.requirement("demo:agent:live")
def test_recorded_decides_offline_even_with_a_key(tmp_path: Path) -> None:
    demo = ("-m", "examples.support_desk", "--recorded", "--bare", "--out", str(tmp_path))
    done = run(*demo, key="OPENAI_API_KEY")
    assert done.returncode == 0, done.stderr
    assert "(recorded decisions)" in done.stdout


@pytest.fixture
def first(tmp_path: Path) -> list[Event]:
    done = run(str(FIRST), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("The airport says DY620: 16:40, on time.")
    [record] = (tmp_path / "runs").iterdir()
    assert verify_trace(record).ok
    return list(read(record))


@pytest.mark.requirement("agents:middleware:guard")
def test_the_first_agent_is_kept_from_a_flight_that_nobody_named(first: list[Event]) -> None:
    ends = [event for event in first if _ends(event, "get_arrival")]
    assert [end.status for end in ends] == ["blocked", "satisfied"]
    [violation] = _violations(ends[0])
    assert (violation["clause"], violation["observed"]) == ("grounded flight", "'SK620'")


@pytest.mark.requirement("demo:agent:three-lines")
def test_the_first_agent_without_its_marked_lines_is_ordinary_and_wrong(tmp_path: Path) -> None:
    lines = FIRST.read_text(encoding="utf-8").splitlines()
    marked = [line for line in lines if line.endswith("# hornbook")]
    assert 1 <= len(marked) <= 3
    plain = tmp_path / "plain.py"
    plain.write_text("\n".join(line for line in lines if line not in marked), encoding="utf-8")
    done = run(str(plain), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("The airport says SK620: 11:05, landed.")
    assert not (tmp_path / "runs").exists()


def _ends(event: Event, name: str) -> bool:
    return event.kind == "step.end" and event.name == name


def _violations(event: Event) -> Sequence[dict[str, Any]]:
    return event.data.get("report", {}).get("violations", ())
