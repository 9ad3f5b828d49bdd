"""`hornbook plugins`: what is loaded, what is not, and why."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import asdict
from typing import TextIO, TypeAlias

from hornbook import config, plugins
from hornbook.cli.terminal import clean, table, write

__all__ = ["configure"]

Report: TypeAlias = tuple[plugins.PluginInfo, ...]
Owners: TypeAlias = Mapping[str, Mapping[str, str]]
"""By kind and name, the plugin that registered it."""


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `hornbook plugins`."""
    parser.add_argument("--json", action="store_true", help="write JSON")
    parser.set_defaults(act=show)


def show(arguments: Namespace, out: TextIO) -> int:
    """List the plugins; 1 when one is broken and the settings are strict about that."""
    report = plugins.report()
    broken = any(info.status in ("failed", "missing") for info in report)
    fatal = broken and config.load().strict_plugins
    registered: Owners = {} if fatal else _registered()
    (_write_json if arguments.json else _write_table)(report, registered, out)
    return 1 if fatal else 0


def _write_json(report: Report, registered: Owners, out: TextIO) -> None:
    import json

    document = {"plugins": [asdict(info) for info in report], "registered": registered}
    write(out, json.dumps(document, indent=2))


def _write_table(report: Report, registered: Owners, out: TextIO) -> None:
    rows = [(info.name, info.version or "-", info.status, _hooks(info)) for info in report]
    table(out, ("PLUGIN", "VERSION", "STATUS", "HOOKS"), rows)
    for info in report:
        if info.error is not None:
            write(out, f"{info.status}: {clean(info.error)}")
    for name in config.load().trace_sinks:
        if registered and name not in registered["trace_sinks"]:
            write(out, f"missing: no plugin registers the trace sink {clean(repr(name))}")


def _hooks(info: plugins.PluginInfo) -> str:
    return ", ".join(hook.removeprefix("hornbook_") for hook in info.hooks) or "-"


def _registered() -> Owners:
    kinds = {
        "clauses": plugins.clause_kinds(),
        "models": plugins.models(),
        "trace_sinks": plugins.trace_sinks(),
    }
    return {
        kind: {name: entry.plugin for name, entry in sorted(entries.items())}
        for kind, entries in kinds.items()
    }
