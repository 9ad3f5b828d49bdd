"""What OpenAI-compatible servers are sent and what they answer, as pure functions.

Servers differ (vLLM, Ollama, llama.cpp, gateways, hosted APIs), and any of them may answer
nonsense; none of it is an exception of a parser here.
"""

import json
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, cast

from hornbook.models.failures import TransportError
from hornbook.models.openai_dialect import Dialect
from hornbook.models.values import Completion, Finish, Request, Usage

__all__ = [
    "completion_of",
    "error_text",
    "payload",
    "retry_after",
]

_SHOWN = 200
_LOOKED_AT = 64 * 1024
"""Bytes of an answer of which those that are shown are taken."""
_MOST = 10**12
"""Tokens that are believed; more is nonsense, and would not fit what counts them."""
_FINISHES: Mapping[str, Finish] = {"length": "length", "content_filter": "filter"}


def payload(name: str, request: Request, dialect: Dialect, schema: str | None) -> dict[str, Any]:
    """The body of a chat completion; `schema` is the digest of a schema to constrain by."""
    sampling = request.sampling
    body: dict[str, Any] = {
        "model": name,
        "messages": [{"role": m.role, "content": m.content} for m in request.messages],
    }
    optional = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        dialect.tokens: sampling.max_tokens,
        "seed": sampling.seed,
        "stop": list(request.stop) or None,
    }
    taken = {key: value for key, value in optional.items() if key not in dialect.left_out}
    body |= {key: value for key, value in taken.items() if value is not None}
    if schema is not None and request.schema is not None:
        form: dict[str, Any] = {"name": "answer", "schema": request.schema}
        if _is_strict(request.schema):
            form["strict"] = True
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    return body


def _is_strict(schema: object, depth: int = 0) -> bool:
    """Whether a hosted API's strict mode takes the schema: closed objects, all required."""
    if isinstance(schema, list):
        return all(_is_strict(item, depth + 1) for item in cast("list[object]", schema))
    if not isinstance(schema, dict) or depth > 64:
        return depth <= 64
    named = cast("dict[str, Any]", schema)
    if named.get("type") == "object" or "properties" in named:
        properties = cast("dict[str, Any]", named.get("properties", {}))
        if named.get("additionalProperties") is not False:
            return False
        if set(cast("list[str]", named.get("required", []))) != set(properties):
            return False
    return all(_is_strict(item, depth + 1) for item in named.values())


def completion_of(
    body: bytes, content_type: str, identity: str, bare: Callable[[str], str]
) -> tuple[Completion, bool]:
    """The completion in an answer, and whether the server told its usage.

    `bare` takes secrets out of what an error shows of the answer.

    Raises:
        TransportError: it is no chat completion.
    """
    answer = _parsed(body, content_type, identity, bare)
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        said = error_text(answer) or _shown(body, bare)
        raise TransportError(f"model {identity!r} gave no choice: {said}", retryable=False)
    choice = cast("dict[str, Any]", choices[0])
    message: object = choice.get("message")
    named = cast("dict[str, Any]", message) if isinstance(message, dict) else {}
    text, refusal = _text(named.get("content")), named.get("refusal")
    reason = choice.get("finish_reason")
    finish = _FINISHES.get(reason, "stop") if isinstance(reason, str) else "stop"
    if text is None and isinstance(refusal, str):
        text, finish = refusal, "filter"
    usage = _usage(answer.get("usage"))
    made = Completion(text=text or "", usage=usage or Usage(), model=identity, finish=finish)
    return made, usage is not None


def _parsed(
    body: bytes, content_type: str, identity: str, bare: Callable[[str], str]
) -> dict[str, Any]:
    try:
        answer: object = json.loads(body)
    except (ValueError, RecursionError):
        cut = "json" in content_type
        why = "broken JSON" if cut else f"{content_type or 'no content type'}, not JSON"
        hint = "" if cut else "; is base_url right?"
        raise TransportError(
            f"model {identity!r} answered {why}: {_shown(body, bare)}{hint}", retryable=cut
        ) from None
    if not isinstance(answer, dict):
        raise TransportError(f"model {identity!r} answered no object: {_shown(body, bare)}")
    return cast("dict[str, Any]", answer)


def _text(content: object) -> str | None:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    texts: list[str] = []
    for part in cast("list[object]", content):
        match part:
            case {"text": str(text)}:
                texts.append(text)
            case _:
                pass
    return "".join(texts)


def _usage(given: object) -> Usage | None:
    if not isinstance(given, dict):
        return None
    named = cast("dict[str, object]", given)
    read, written = _count(named.get("prompt_tokens")), _count(named.get("completion_tokens"))
    if read is None and written is None:
        return None
    return Usage(input_tokens=read or 0, output_tokens=written or 0)


def _count(given: object) -> int | None:
    """A number of tokens; None for what is none. Some servers count in floats."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    return int(min(given, _MOST)) if given > 0 else 0  # NaN is not above 0


def error_text(body: object) -> str:
    """What an error body says, in the forms that servers give it; empty where it says nothing."""
    match body:
        case {"error": {"message": str(message)}} | {"error": str(message)}:
            return message
        case {"message": str(message)} | {"detail": str(message)}:
            return message
        case None:
            return ""
        case _:
            return str(body)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """The seconds that a server asks to wait; None where it says nothing that can be read."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        given = headers.get(name)
        if given is None:
            continue
        try:
            seconds = float(given) / unit
        except ValueError:
            seconds = _until(given, now)
        if seconds > 0:  # not NaN either
            return seconds
    return None


def _until(date: str, now: float) -> float:
    try:
        return parsedate_to_datetime(date).timestamp() - now
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _shown(body: bytes, bare: Callable[[str], str]) -> str:
    # Cut last: half a secret is not found.
    text = bare(body[:_LOOKED_AT].decode("utf-8", "replace"))
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")
