"""What a server turns out not to understand, read from how it refuses a request.

Servers word it as they like, and some name a feature in passing ("reduce the schema of your
prompt"): a feature counts as refused where the error names it as its parameter, or right
beside a word that refuses.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

__all__ = ["Dialect", "SchemaFormat", "lesson", "of_error", "refused_in"]

SchemaFormat = Literal["auto", "json_schema", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What a server has turned out to understand; replaced whole when it refuses something."""

    schemas: bool = True
    """Whether it takes `response_format`."""
    refused: frozenset[str] = frozenset()
    """Digests of requests' schemas that it does not take."""
    tokens: str = "max_tokens"
    """What it calls the limit of an answer."""
    left_out: frozenset[str] = frozenset()
    """Sampling parameters that it does not take."""

    def without(self, features: Iterable[str], schema: str | None) -> "Dialect":
        """Without what a server refuses; `schema` is the digest of the one that was sent."""
        made = self
        for feature in features:
            match feature:
                case "response_format":
                    made = replace(made, schemas=False)
                case "schema" if schema is not None:
                    kept = made.refused if len(made.refused) < _REFUSALS else frozenset[str]()
                    made = replace(made, refused=kept | {schema})
                case "max_tokens":
                    made = replace(made, tokens="max_completion_tokens")
                case _:
                    made = replace(made, left_out=made.left_out | {feature})
        return made


_REFUSALS = 256
"""Schemas that a server refused and that are remembered."""
_REFUSING = frozenset((400, 404, 415, 422, 500, 501))
_SAMPLING = ("temperature", "top_p", "seed")
_CODES = frozenset(
    ("unsupported_parameter", "unsupported_value", "unknown_parameter", "unrecognized_parameter")
)
_NEAR = 60
"""Characters between a feature and what refuses it."""
_REFUSED = (
    r"unsupported|unknown|unrecogni[sz]ed|unexpected|unavailable|disabled|extra_forbidden|"
    r"forbidden|only the default|no endpoints? found|"
    r"(?:not|n't|cannot|can't|never) (?:be |currently |yet )*"
    r"(?:support|implement|permit|allow|recogni[sz]e|accept|enable|available|valid|use)"
)
_OF_SCHEMAS = (
    r"(?:response[_ ]format(?:\.\w+)*|json[_ ](?:schema|object|mode)|structured[_ ]outputs?|"
    r"guided[_ ]\w+|grammar|schema)"
)
_ONE_SCHEMA = (
    r"(?:invalid|malformed|failed to (?:parse|compile|convert)|unsupported)"
    r"(?: json| response)*[ _'\"]*(?:schema|grammar)",
    r"(?:schema|grammar)\b.{0,60}\b(?:is|was|are) (?:invalid|malformed|too )",
    r"(?:schema|grammar)\b.{0,30}\bcontains\b",
)
_NO_MODEL = r"\bmodel\b.{0,80}\b(?:not found|not exist|loading|not loaded|no access)"


def refused_in(
    status: int, error: Mapping[str, Any], said: str, sent: Mapping[str, Any]
) -> tuple[str, ...]:
    """What of a request's body a server says it does not take; empty for nothing.

    One of `temperature`, `top_p`, `seed`, `max_tokens` (it has the newer name), `schema`
    (this one), `response_format` (any).
    """
    words = said.lower()
    missing = status == 404 and re.search(_NO_MODEL, words, re.DOTALL)
    if status not in _REFUSING or missing or error.get("code") == "model_not_found":
        return ()
    given: object = error.get("param")
    param = re.split(r"[.\[]", given.removeprefix("body."))[0] if isinstance(given, str) else ""
    if param and param not in (*_SAMPLING, "max_tokens", "response_format", "text_format"):
        return ()  # the error is about something else, whatever its words are
    sure = error.get("code") in _CODES
    found = [name for name in _SAMPLING if name in sent and _refuses(words, name, param, sure)]
    if "max_tokens" in sent and "max_completion_tokens" in words:
        found.append("max_tokens")
    if "response_format" in sent:
        found += _of_schemas(words, param, sure)
    return tuple(found)


def _refuses(words: str, name: str, param: str, sure: bool) -> bool:
    if param == name:
        return sure or re.search(_REFUSED, words) is not None
    return _beside(words, re.escape(name))


def _of_schemas(words: str, param: str, sure: bool) -> list[str]:
    if any(re.search(one, words, re.DOTALL) for one in _ONE_SCHEMA):
        return ["schema"]
    named = param in ("response_format", "text_format")
    must = rf"{_OF_SCHEMAS}\b['\"`]*(?: or ['\"`\w]+)* (?:must be|expected)"
    refused = _beside(words, _OF_SCHEMAS) or re.search(must, words) is not None
    if refused or (named and (sure or re.search(_REFUSED, words) is not None)):
        return ["response_format"]
    return []


def _beside(words: str, feature: str) -> bool:
    """Whether a feature and a word that refuses stand next to each other."""
    named = rf"(?<![\w-]){feature}(?![\w-])"
    near = rf"[^;\n]{{0,{_NEAR}}}?"
    either = rf"(?:{named}){near}(?:{_REFUSED})|(?:{_REFUSED}){near}(?:{named})"
    return re.search(either, words) is not None


def lesson(features: Iterable[str]) -> str:
    """What was learnt, in words."""
    return "; ".join(_lesson(feature) for feature in features)


def _lesson(feature: str) -> str:
    match feature:
        case "schema":
            return "this schema, which is left out from now on"
        case "max_tokens":
            return "max_tokens, which it calls max_completion_tokens"
        case _:
            return f"{feature}, which is left out from now on"


def of_error(body: object) -> Mapping[str, Any]:
    """The error in an answer: its `param` and `code`; empty where there is none."""
    named = cast("dict[str, Any]", body) if isinstance(body, dict) else {}
    error = named.get("error")
    return cast("dict[str, Any]", error) if isinstance(error, dict) else named
