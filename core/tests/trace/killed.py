"""Runs that are to be killed: a process that forks one for each line it reads.

`python killed.py FOLDER HOW ACKS`: HOW is `file` (a TraceFile by hand) or `run` (the public
interface); ACKS is a descriptor on which each run says its process id, then its run's id, then
the number of each step that is acknowledged, and we say when it is dead.
"""

import os
import sys
import tempfile
from itertools import count

import hornbook
from hornbook import Contract, clauses, contract
from hornbook.ids import new_run_id
from hornbook.trace.writer import TraceFile

FOLDER, HOW, ACKS = sys.argv[1], sys.argv[2], int(sys.argv[3])


def tell(what):
    os.write(ACKS, f"{what}\n".encode())


def is_long(value: str) -> bool:
    return len(value) > 9


@contract(Contract("echoed", output=str, ensures=[clauses.that("is long", is_long)]))
def echo(number: int, text: str) -> str:
    return text


def through_run(folder, steps):
    with hornbook.run(trace=folder) as run:
        tell(run.id)
        for number in steps:
            echo(number, "x" * (10 + number * 997 % 3000))
            tell(number)


def through_file(folder, steps):
    run = new_run_id()
    file = TraceFile.create(folder, run=run, header={}, strict=True)
    tell(run)
    usual = {"parent": None, "time": 1.5, "name": "echo", "contract": None, "status": None}
    for number in steps:
        step = f"{file.writer}.{number}"
        data = {"inputs": {"number": number, "text": "x" * (10 + number * 997 % 3000)}}
        file.append({"kind": "step.start", "id": step, **usual, "data": data})
        file.append({"kind": "step.end", "id": step, **usual, "data": {}})
        tell(number)


work = through_run if HOW == "run" else through_file
with tempfile.TemporaryDirectory() as warm:
    # So that the moments of death lie in the writing, not in imports.
    work(warm, range(2))
tell("ready")
for _ in sys.stdin:
    child = os.fork()
    if child == 0:
        tell(os.getpid())
        work(FOLDER, count())
    os.waitpid(child, 0)
    tell("dead")
