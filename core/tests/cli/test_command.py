"""The command itself: help, version, and errors that are one sentence."""

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hornbook import __version__, cli
from hornbook.cli.commands import COMMANDS
from hornbook.errors import HornbookError

Capture = pytest.CaptureFixture[str]


def run(capsys: Capture, *arguments: str) -> tuple[int, str, str]:
    code = cli.main(arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def raising(error: BaseException) -> Any:
    def run_(arguments: object) -> int:
        raise error

    return run_


@pytest.mark.requirement("cli:plain:works")
def test_the_version_is_printed(capsys: Capture) -> None:
    assert run(capsys, "--version") == (0, f"hornbook {__version__}\n", "")


@pytest.mark.requirement("cli:plain:works")
def test_the_help_lists_every_command_with_its_summary(capsys: Capture) -> None:
    code, out, err = run(capsys, "--help")
    assert (code, err) == (0, "")
    for command in COMMANDS:
        assert command.name in out
        assert command.summary in " ".join(out.split())


@pytest.mark.requirement("cli:plain:works")
@pytest.mark.parametrize("name", [command.name for command in COMMANDS])
def test_every_command_has_help(capsys: Capture, name: str) -> None:
    code, out, err = run(capsys, name, "--help")
    assert (code, err) == (0, "")
    assert out.startswith(f"usage: hornbook {name} ")


@pytest.mark.requirement("cli:errors:sentence")
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "the following arguments are required: COMMAND; see hornbook --help"),
        (
            ("plugin",),
            "argument COMMAND: invalid choice: 'plugin' (choose from "
            f"{', '.join(repr(command.name) for command in COMMANDS)}); see hornbook --help",
        ),
        (("config", "--jsn"), "unrecognized arguments: --jsn; see hornbook --help"),
        (
            ("trace", "show"),
            "the following arguments are required: RUN; see hornbook trace show --help",
        ),
    ],
)
def test_a_command_line_that_is_not_understood_is_one_sentence(
    capsys: Capture, arguments: tuple[str, ...], sentence: str
) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (1, "")
    # Python 3.12 and later write the choices without quotes.
    assert err.replace("'", "") == f"hornbook: {sentence}\n".replace("'", "")


@pytest.mark.requirement("cli:errors:sentence")
@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (HornbookError("two\nlines \x1b[31m"), 1, r"two\nlines \x1b[31m"),
        (
            PermissionError(13, "Permission denied", "runs"),
            1,
            "[Errno 13] Permission denied: 'runs'",
        ),
        (KeyboardInterrupt(), 130, "interrupted"),
        (SystemExit(0), 1, "the code that was run called exit(0)"),
    ],
)
def test_an_error_is_one_sentence_and_no_traceback(
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    code: int,
    sentence: str,
) -> None:
    monkeypatch.setattr(cli, "_run", raising(error))
    assert run(capsys, "config") == (code, "", f"hornbook: {sentence}\n")


@pytest.mark.requirement("cli:errors:sentence")
def test_a_reader_that_goes_away_is_no_error_to_speak_of(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "_run", raising(BrokenPipeError()))
    assert run(capsys, "config") == (1, "", "")


@pytest.mark.requirement("cli:errors:sentence")
def test_a_closed_pipe_leaves_nothing_on_stderr(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "hornbook.cli", "config"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(60) == 1
    process.stderr.close()


@pytest.mark.requirement("cli:errors:sentence")
def test_an_ascii_terminal_gets_escapes_and_no_error(tmp_path: Path) -> None:
    (tmp_path / "hornbook.toml").write_text('namespace = "größe"', encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "hornbook.cli", "config"],
        cwd=tmp_path,
        env={**__import__("os").environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert r"gr\xf6\xdfe" in done.stdout


@pytest.mark.requirement("cli:start:quick")
def test_a_command_imports_only_its_own_module(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from hornbook.cli import main\n"
        "main(['--version'])\n"
        "unwanted = {'pluggy', 'asyncio', 'importlib.metadata', 'hornbook.cli.trace',\n"
        "    'hornbook.plugins', 'pydantic', 'rich'} & set(sys.modules)\n"
        "print(sorted(unwanted))\n"
        "main(['config'])\n"
        "print(sorted({'pluggy', 'asyncio', 'hornbook.contracts'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    lines = done.stdout.splitlines()
    assert (lines[1], lines[-1], done.stderr) == ("[]", "[]", "")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.requirement("cli:plain:works")
def test_a_table_is_plain_without_rich_and_a_table_of_rich_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from hornbook.cli.terminal import table

    plain, terminal = io.StringIO(), Terminal()
    rows = [("a", "[red]x[/red]"), ("long", "y")]
    table(plain, ("NAME", "VALUE"), rows)
    assert plain.getvalue() == "NAME  VALUE\na     [red]x[/red]\nlong  y\n"
    monkeypatch.setitem(sys.modules, "rich.console", None)
    table(terminal, ("NAME", "VALUE"), rows)
    assert terminal.getvalue() == plain.getvalue()


@pytest.mark.requirement("cli:plain:works")
def test_rich_makes_the_table_when_it_is_there() -> None:
    pytest.importorskip("rich")
    from hornbook.cli.terminal import table

    terminal = Terminal()
    table(terminal, ("NAME", "VALUE"), [("a", "[red]x[/red]")])
    assert "[red]x[/red]" in terminal.getvalue()
    assert "\x1b[1m" in terminal.getvalue() or "NAME" in terminal.getvalue()


@pytest.mark.requirement("cli:output:safe")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J\x07", r"\x1b[2J\x07"),
        ("a\nb\tc\r", r"a\nb\tc\r"),
        ("\x9b31m", r"\x9b31m"),
        ("\u202etxt.exe", r"\u202etxt.exe"),
        ("\u2066a\u2069", r"\u2066a\u2069"),
        ("zero\u200bwidth\ufeff", r"zero\u200bwidth\ufeff"),
        ("\U000e0041", r"\U000e0041"),
        ("größe 漢字", "größe 漢字"),
    ],
)
def test_control_characters_are_spelt_out(text: str, shown: str) -> None:
    from hornbook.cli.terminal import clean

    assert clean(text) == shown


@pytest.mark.requirement("cli:output:safe")
def test_long_text_is_cut() -> None:
    from hornbook.cli.terminal import clean

    assert clean("x" * 50, 10) == "xxxxxxx..."


@pytest.mark.requirement("trace:command:show")
@pytest.mark.parametrize(
    ("microseconds", "shown"),
    [(4, "4 us"), (12_345, "12.3 ms"), (3_141_590, "3.14 s"), ("x", "?"), (True, "?")],
)
def test_a_duration_has_the_unit_that_suits_it(microseconds: object, shown: str) -> None:
    from hornbook.cli.terminal import duration

    assert duration(microseconds) == shown
