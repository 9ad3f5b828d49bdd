"""Settings from `hornbook.toml` or `[tool.hornbook]`, then from `HORNBOOK_` variables.

Nothing is read at import: a part calls `load()` when it first needs a setting.
"""

import functools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hornbook.errors import ConfigError

__all__ = ["OTHER_VARIABLES", "Config", "Settings", "load", "masked", "read_settings", "reload"]

OTHER_VARIABLES = frozenset({"HORNBOOK_KILLS"})
"""Variables with our prefix that are no settings: how often the kill test kills."""

_PREFIX = "HORNBOOK_"
_FLAGS: Mapping[str, bool] = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("", "0", "false", "no", "off"), False),
}
_SECRETS = re.compile(
    r"(?i)(?<=://)\S*@|(\b\w*(?:pass|pwd|secret|token|key)\w*\s*=\s*)(?:'[^']*'|[^\s&#]+)"
)

_Flag = Annotated[bool, Field(strict=True)]
_Name = Annotated[str, Field(min_length=1)]
_Names = tuple[_Name, ...]


class Config(BaseModel):
    """The settings of one process: each is a key in the file and a `HORNBOOK_` variable.

    In a file, relative paths start at the file's folder; in a variable, at the working
    directory. Lists are separated by commas in a variable. An empty text is as good as
    leaving the setting out, and so takes back what a file says.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", frozen=True, use_attribute_docstrings=True
    )

    trace: Path | None = None
    """Folder of records, for runs that name none and for `hornbook trace`."""
    store: _Name | None = Field(default=None, repr=False)
    """Where learned rules live: a file, or the address of a database."""
    namespace: _Name | None = None
    """Namespace of runs that name none; without one, no stored rules are used."""
    strict_plugins: _Flag = False
    """A plugin that fails to load is fatal, instead of reported."""
    load_plugins: _Names | None = None
    """Names of the installed plugins to load: absent for all, empty for none."""
    strict_trace: _Flag = False
    """A record that cannot be written stops the step before its side effect."""
    trace_sinks: _Names = ()
    """Names of registered trace sinks that get every event, such as `logging`."""
    redact_keys: _Names = ()
    """Further keys whose values never reach a record."""
    calibrations: Path | None = None
    """File of the error rates that `hornbook calibrate` measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """A configuration, and where each of its values comes from."""

    config: Config
    origins: Mapping[str, str]
    """By key: `default`, the path of the file, or the name of the variable."""
    file: Path | None = None
    """The configuration file that was found."""
    unknown_variables: tuple[str, ...] = ()
    """A sentence for each variable that has our prefix and is no setting."""


def load(start: Path | None = None, environ: Mapping[str, str] | None = None) -> Config:
    """Return the configuration; with no arguments, what this process read first.

    A variable with our prefix that is no setting is logged, not fatal: it may belong to
    another process. `hornbook config` refuses it.

    Args:
        start: folder to search upwards from; by default the working directory.
        environ: variables that override the file; by default those of the process.

    Raises:
        ConfigError: a file or a variable cannot be used; says which, where and why.
    """
    if start is None and environ is None:
        return _of_process()
    return _load(start, environ)


def reload() -> Config:
    """Read the configuration of this process again, and keep it for `load()`."""
    _of_process.cache_clear()
    return _of_process()


def read_settings(start: Path | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """Read the configuration with the origin of each value; see `load`."""
    environ = os.environ if environ is None else environ
    start = _working_directory() if start is None else start.absolute()
    file = _find(start)
    values = {} if file is None else _from_file(file)
    origins = dict.fromkeys(Config.model_fields, "default")
    origins |= dict.fromkeys(values, "" if file is None else str(file.path))
    variables = {key: name for key, name in _variables().items() if name in environ}
    values |= _from_environ({key: environ[name] for key, name in variables.items()}, start)
    return Settings(
        config=Config.model_validate(values),
        origins=origins | variables,
        file=None if file is None else file.path,
        unknown_variables=tuple(_unknown_variables(environ)),
    )


def masked(value: object) -> str:
    """Write a setting for people to read, without the password of a database address."""
    return _SECRETS.sub(lambda found: f"{found[1] or ''}***{'' if found[1] else '@'}", str(value))


@functools.cache
def _of_process() -> Config:
    return _load(None, None)


def _load(start: Path | None, environ: Mapping[str, str] | None) -> Config:
    settings = read_settings(start, environ)
    if settings.unknown_variables:
        from hornbook.log import logger

        for sentence in settings.unknown_variables:
            logger("config").warning("%s", sentence)
    return settings.config


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    path: Path
    text: str
    table: str
    """Name of the table that holds the settings; empty for the top of the file."""
    values: dict[str, Any]

    def place(self, key: str) -> str:
        """Say where `key` stands, with its line where a plain scan finds it."""
        line = _line_of(self.text, self.table, key)
        return str(self.path) if line is None else f"{self.path}, line {line}"


def _working_directory() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:  # removed under the process, which may well go on
        return Path(os.sep).absolute()


def _find(start: Path) -> _File | None:
    for folder in (start, *start.parents):
        for name, table in (("hornbook.toml", ""), ("pyproject.toml", "tool.hornbook")):
            file = _read(folder / name, table)
            if file is not None:
                return file
    return None


def _read(path: Path, table: str) -> _File | None:
    """Read the settings of one file; None where there is no such file or table."""
    import tomllib

    try:
        text = path.read_text(encoding="utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        # A folder above that is closed to us holds no settings of ours.
        if isinstance(error, PermissionError) and not os.access(path.parent, os.X_OK):
            return None
        raise ConfigError(f"{path} cannot be read: {error}") from error
    try:
        values = cast("object", tomllib.loads(text))
    # tomllib recurses, so deep nesting ends in RecursionError.
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from error
    for name in table.split(".") if table else ():
        values = cast("dict[str, object]", values).get(name) if isinstance(values, dict) else None
    if values is None:
        return None
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: [{table}] must be a table, not {_shown(values)}")
    return _File(path=path, text=text, table=table, values=cast("dict[str, Any]", values))


def _line_of(text: str, table: str, key: str) -> int | None:
    current = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := re.match(r"\s*\[([^\[\]]+)\]", line):
            current = header[1].replace(" ", "").replace('"', "")
        elif current == table and re.match(rf"""\s*["']?{re.escape(key)}["']?\s*[=.]""", line):
            return number
    return None


def _from_file(file: _File) -> dict[str, Any]:
    values = {
        key: _anchored(key, value, file.path.parent) if isinstance(value, str) else value
        for key, value in file.values.items()
    }
    return _checked(values, file.values, file.place, Config.model_fields)


def _anchored(key: str, value: str, folder: Path) -> str | None:
    """Make an empty text None, and a relative path start at `folder`."""
    if key not in _optional_texts():
        return value
    if not value:
        return None
    is_file = key == "store" and not re.search(r"://|=|^:memory:$", value)
    is_path = is_file or key in ("trace", "calibrations")
    return str(folder / _at_home(Path(value))) if is_path else value


def _at_home(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:  # no such user: then the tilde is part of a name
        return path


def _optional_texts() -> tuple[str, ...]:
    return ("trace", "store", "namespace", "calibrations")


def _variables() -> dict[str, str]:
    return {key: _PREFIX + key.upper() for key in Config.model_fields}


def _from_environ(texts: Mapping[str, str], folder: Path) -> dict[str, Any]:
    values = {key: _parsed(key, text, folder) for key, text in texts.items()}
    return _checked(values, texts, _variables().__getitem__, _variables().values())


def _parsed(key: str, text: str, folder: Path) -> object:
    if Config.model_fields[key].annotation is bool:
        return _FLAGS.get(text.strip().lower(), text)
    if key in _optional_texts():
        return _anchored(key, text, folder)
    return tuple(name for part in text.split(",") if (name := part.strip()))


def _unknown_variables(environ: Mapping[str, str]) -> Iterator[str]:
    known = {*_variables().values(), *OTHER_VARIABLES}
    for name in sorted(environ):
        if name.startswith(_PREFIX) and name not in known:
            yield f"the variable {name} is no setting of Hornbook{_nearest(name, known)}"


def _checked(
    values: dict[str, Any],
    given: Mapping[str, Any],
    place: Callable[[str], str],
    known: Iterable[str],
) -> dict[str, Any]:
    """Return `values` when they fit `Config`; else raise one error that lists all problems."""
    try:
        Config.model_validate(values)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
        raise ConfigError("; ".join(_sentences(problems, given, place, known))) from None
    return values


def _sentences(
    problems: Iterable[Any],
    given: Mapping[str, Any],
    place: Callable[[str], str],
    known: Iterable[str],
) -> Iterator[str]:
    keys: set[str] = set()
    for problem in problems:
        key = str(problem["loc"][0])
        if key in keys:
            continue
        keys.add(key)
        if problem["type"] == "extra_forbidden":
            yield f"{place(key)}: unknown key {key!r}{_nearest(key, known)}"
        else:
            yield f"{place(key)}: {key!r} {_expected(key)}, not {_shown(given[key], key)}"


def _expected(key: str) -> str:
    match Config.model_fields[key].annotation:
        case annotation if annotation is bool:
            return "must be true or false"
        case _ if key in _optional_texts():
            return "must be a text"
        case _:
            return "must be a list of names"


def _shown(value: object, key: str = "") -> str:
    if key == "store" and not isinstance(value, str):
        return f"a {type(value).__name__}"
    text = masked(repr(value))
    return text if len(text) <= 80 else text[:77] + "..."


def _nearest(name: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    known = sorted(known)
    near = get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(known)}"
