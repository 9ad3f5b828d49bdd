"""The guard on the Berkeley multi-turn tasks and on recorded runs of real models.

    python -m bench.bfcl [gold] [faults] [profiles] [recorded] [--sample N] [--seeds N]
                         [--tuned] [--json FOLDER]

gold      every ground-truth trajectory through the guard: false alarms, each explained
faults    one fault a conversation, by kind, the official checker as oracle: detection,
          changes before it, precision, recovery; figures are of one half of the task ids,
          thresholds are tuned on the other (`--tuned`; the guard's own were)
profiles  the same with a responder that errs as often, and in the way, a real model did
recorded  the same detection on recorded runs: failed against passed

Needs `pip install --no-deps bfcl-eval mpmath`; profiles and recorded need the folder that
HORNBOOK_BENCH_DATA names. Faulty conversations are kept in HORNBOOK_BENCH_CACHE (or the
user's cache folder) between runs.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from .material import MaterialMissing, release
from .tables import Options, faults, gold, profiles, recorded

PARTS: dict[str, Callable[[Options], None]] = {
    "gold": gold,
    "faults": faults,
    "profiles": profiles,
    "recorded": recorded,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is asked for; what is not there is skipped and said."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.bfcl",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="all without any")
    parser.add_argument("--sample", type=int, help="so many tasks, spread over the file")
    parser.add_argument("--seeds", type=int, default=1, help="faults of each kind and task")
    parser.add_argument("--tuned", action="store_true", help="tune thresholds first: minutes")
    parser.add_argument("--json", type=Path, help="a folder for the tables")
    given = parser.parse_args(arguments)
    options = Options(sample=given.sample, seeds=given.seeds, folder=given.json, tuned=given.tuned)
    for part in given.parts or PARTS:
        try:
            if part != "recorded":
                release()
            PARTS[part](options)
        except MaterialMissing as missing:
            print(f"\n{part}: skipped: {missing}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
