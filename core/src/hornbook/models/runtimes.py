"""The two bindings of llama.cpp, behind one interface; imported where a model is loaded."""

import json
import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, cast

from hornbook.errors import MissingExtra
from hornbook.models.values import Finish, Request

__all__ = ["Generated", "Load", "Runtime", "TooLong", "found_runtime"]

Stopped = Callable[[], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """What a runtime gave."""

    text: str
    finish: Finish
    input_tokens: int
    output_tokens: int


class TooLong(Exception):
    """The prompt does not fit the context."""

    def __init__(self, tokens: int | str) -> None:
        super().__init__(f"{tokens} tokens")
        self.tokens = tokens


class Runtime(Protocol):
    """A loaded model."""

    def generate(self, request: Request, stopped: Stopped) -> Generated:
        """Answer; `stopped` is asked at each token, and ends the answer early."""
        ...

    def close(self) -> None:
        """Free the memory."""
        ...


Load = Callable[[Path, int, int], Runtime]
"""Loads a file, with so many threads and so many tokens of context."""


def found_runtime() -> Load:
    """What loads models here.

    Raises:
        MissingExtra: no runtime is installed.
    """
    if find_spec("xllamacpp") is not None:
        return _Xllamacpp
    if find_spec("llama_cpp") is not None:
        return _LlamaCppPython
    raise MissingExtra(
        "LocalModel needs the package 'xllamacpp' (or 'llama-cpp-python'): "
        "pip install 'hornbook[local]'"
    )


class _Xllamacpp:
    """`xllamacpp`: llama.cpp's own server, called in the process."""

    def __init__(self, path: Path, threads: int, context: int) -> None:
        xllamacpp: Any = import_module("xllamacpp")
        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
        # Waiting threads that spin take the processor from those that compute.
        params.cpuparams.poll = params.cpuparams_batch.poll = 0
        params.n_ctx = context
        params.n_parallel = 1
        params.warmup = False
        params.verbosity = -1
        # It opens a port on the loopback interface in any case: nobody has the key to it.
        params.api_keys = [secrets.token_hex(32)]
        params.endpoint_slots = params.endpoint_props = params.endpoint_metrics = False
        params.n_threads_http = 1
        self._server: Any = xllamacpp.Server(params)

    def generate(self, request: Request, stopped: Stopped) -> Generated:
        """Answer, as a stream, since only that can be stopped."""
        taken = _Stream(stopped)
        body = {
            **_body(request),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.schema is not None:
            form = {"name": "answer", "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        refused = self._server.handle_chat_completions(body, taken)
        taken.take_error(refused)
        return taken.generated()

    def close(self) -> None:
        """Free the memory."""
        self._server = None


class _Stream:
    """The pieces of a streamed answer."""

    def __init__(self, stopped: Stopped) -> None:
        self._stopped = stopped
        self._texts: list[str] = []
        self._finish: Finish = "stop"
        self._usage: Mapping[str, Any] = {}
        self._error: Mapping[str, Any] | None = None
        self._raised: Exception | None = None

    def __call__(self, chunk: Any) -> bool:
        # What a callback raises is lost in the runtime.
        try:
            self._take(json.loads(chunk) if isinstance(chunk, str | bytes) else chunk)
        except Exception as error:  # noqa: BLE001 - raised in `generated`
            self._raised = error
        return self._raised is not None or self._stopped()

    def _take(self, chunk: Mapping[str, Any]) -> None:
        self.take_error(chunk)
        self._usage = chunk.get("usage") or self._usage
        for choice in cast("list[dict[str, Any]]", chunk.get("choices") or []):
            text = cast("dict[str, Any]", choice.get("delta") or {}).get("content")
            if isinstance(text, str):
                self._texts.append(text)
            if choice.get("finish_reason") == "length":
                self._finish = "length"

    def take_error(self, given: Any) -> None:
        """Note the error in an answer, if it is one."""
        if isinstance(given, Mapping) and "error" in given:
            self._error = cast("Mapping[str, Any]", given)["error"]

    def generated(self) -> Generated:
        """All of it."""
        if self._raised is not None:
            raise self._raised
        if self._error is not None:
            if self._error.get("type") == "exceed_context_size_error":
                raise TooLong(self._error.get("n_prompt_tokens", "too many"))
            raise RuntimeError(str(self._error.get("message", self._error)))
        return Generated(
            text="".join(self._texts),
            finish=self._finish,
            input_tokens=int(self._usage.get("prompt_tokens", 0)),
            output_tokens=int(self._usage.get("completion_tokens", 0)),
        )


class _LlamaCppPython:
    """`llama-cpp-python`; it serves one thread at a time."""

    def __init__(self, path: Path, threads: int, context: int) -> None:
        llama_cpp: Any = import_module("llama_cpp")
        self._lock = threading.Lock()
        self._processors: Callable[[list[Any]], Any] = llama_cpp.LogitsProcessorList
        self._llama: Any = llama_cpp.Llama(
            model_path=str(path),
            n_ctx=context,
            n_threads=threads,
            n_threads_batch=threads,
            verbose=False,
        )

    def generate(self, request: Request, stopped: Stopped) -> Generated:
        """Answer; the sampler asks at each token whether to go on."""
        body = _body(request)
        if request.schema is not None:
            body["response_format"] = {"type": "json_object", "schema": request.schema}

        def look(tokens: object, scores: Any) -> Any:
            if stopped():
                raise _Stopped
            return scores

        with self._lock:
            try:
                answer = self._llama.create_chat_completion(
                    **body, logits_processor=self._processors([look])
                )
            except _Stopped:
                return Generated(text="", finish="stop", input_tokens=0, output_tokens=0)
            except ValueError as error:
                if "context window" in str(error):
                    raise TooLong(_first_number(str(error))) from error
                raise
        choice, usage = answer["choices"][0], answer["usage"]
        return Generated(
            text=choice["message"]["content"] or "",
            finish="length" if choice["finish_reason"] == "length" else "stop",
            input_tokens=usage["prompt_tokens"],
            output_tokens=usage["completion_tokens"],
        )

    def close(self) -> None:
        """Free the memory."""
        with self._lock:
            self._llama.close()


class _Stopped(Exception):
    """Nobody waits for the answer any more."""


def _body(request: Request) -> dict[str, Any]:
    sampling = request.sampling
    optional = {
        "top_p": sampling.top_p,
        "max_tokens": sampling.max_tokens,
        "seed": sampling.seed,
        "stop": list(request.stop) or None,
    }
    return {
        "messages": [{"role": m.role, "content": m.content} for m in request.messages],
        "temperature": sampling.temperature,
        **{name: value for name, value in optional.items() if value is not None},
    }


def _first_number(text: str) -> str:
    return next((word.strip("()") for word in text.split() if word.strip("()").isdigit()), "many")
