"""`hornbook config`: each setting, its value and where that comes from."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TextIO, cast

from hornbook.cli.terminal import table, write
from hornbook.config import Settings, masked, read_settings
from hornbook.errors import ConfigError

__all__ = ["configure"]


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `hornbook config`."""
    parser.add_argument("--json", action="store_true", help="write JSON")
    parser.set_defaults(act=show)


def show(arguments: Namespace, out: TextIO) -> int:
    """Show the settings; a variable with our prefix that is none of them is an error here."""
    settings = read_settings()
    if settings.unknown_variables:
        raise ConfigError("; ".join(settings.unknown_variables))
    (_write_json if arguments.json else _write_table)(settings, out)
    return 0


def _write_json(settings: Settings, out: TextIO) -> None:
    import json

    document = {
        key: {"value": _json_value(getattr(settings.config, key)), "origin": origin}
        for key, origin in settings.origins.items()
    }
    write(out, json.dumps(document, indent=2))


def _write_table(settings: Settings, out: TextIO) -> None:
    rows = [
        (key, _text(getattr(settings.config, key)), origin)
        for key, origin in settings.origins.items()
    ]
    table(out, ("SETTING", "VALUE", "ORIGIN"), rows)


def _json_value(value: object) -> object:
    return masked(value) if isinstance(value, str | Path) else value


def _text(value: object) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return str(value).lower()
        case tuple():
            return ", ".join(cast("tuple[str, ...]", value)) or "none"
        case _:
            return masked(value)
