"""The client for OpenAI-compatible servers, against a real server that behaves badly."""

import asyncio
import logging
from typing import Any

import pytest

from hornbook import Budget, run
from hornbook.errors import BudgetExceeded, DefinitionError, MissingExtra
from hornbook.models import OpenAIModel, Price, Sampling, TransportError, aask, ask
from hornbook.models.openai_wire import retry_after

SCHEMA = {
    "type": "object",
    "properties": {"x": {"type": "integer"}},
    "required": ["x"],
    "additionalProperties": False,
}


@pytest.mark.requirement("models:openai:asks")
def test_the_request_is_sent_as_it_is_and_the_answer_is_read(server, make, said, both) -> None:
    server.answers('{"x": 1}')
    sampling = Sampling(temperature=0.5, top_p=0.9, max_tokens=20, seed=3)
    request = said(schema=SCHEMA, sampling=sampling, stop=("END",))

    sync, other = both(make(price=Price(input=1_000_000, output=2_000_000)), request)

    assert sync == other
    assert (sync.text, sync.value, sync.problem, sync.cost) == ('{"x": 1}', {"x": 1}, None, 25.0)
    assert (sync.usage.input_tokens, sync.usage.output_tokens, sync.usage.total) == (11, 7, 18)
    assert sync.model == f"tiny@{server.url}"
    assert server.bodies[0] == server.bodies[1]
    assert server.bodies[0] == {
        "model": "tiny",
        "messages": [{"role": "user", "content": "Hello"}],
        "temperature": 0.5,
        "top_p": 0.9,
        "max_tokens": 20,
        "seed": 3,
        "stop": ["END"],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True},
        },
    }


@pytest.mark.requirement("models:openai:strict-schemas")
def test_the_strict_mode_is_asked_only_for_schemas_that_it_takes(server, make, said) -> None:
    server.answers("{}")
    ask(make(), said(schema={"type": "object", "properties": {"x": {"type": "integer"}}}))
    assert "strict" not in server.bodies[0]["response_format"]["json_schema"]


@pytest.mark.requirement("models:retries:counted")
def test_each_attempt_is_a_call_of_the_run(server, make, said, waits) -> None:
    server.plays(server.refuses(500, "boom"), server.refuses(503, "busy"), server.says(_ok()))
    with run(None, budget=Budget(calls=3)) as opened:
        assert ask(make(), said(), step="names").text == "fine"
    assert (opened.meter.spent.calls, opened.meter.spent.tokens) == (3, 18)
    marks = [e for e in opened.events if e.kind == "attempt"]
    assert [e.data["error"] for e in marks] == [
        f"TransportError: model 'tiny@{server.url}' answered 500: boom",
        f"TransportError: model 'tiny@{server.url}' answered 503: busy",
    ]
    (end,) = [e for e in opened.events if e.kind == "step.end"]
    assert (end.name, end.data["attempts"], end.data["output"]) == ("names", 3, "fine")


@pytest.mark.requirement("models:retries:budget")
def test_a_retry_that_the_budget_does_not_allow_is_not_made(server, make, said, waits) -> None:
    server.plays(server.refuses(500, "boom"))
    with run(None, budget=Budget(calls=2)), pytest.raises(BudgetExceeded):
        ask(make(retries=5), said())
    assert len(server.bodies) == 2


@pytest.mark.requirement("models:retries:bounded")
def test_retries_end_and_the_clients_own_are_off(server, make, said, waits, both) -> None:
    server.plays(server.refuses(500, "boom"))
    for error in both(make(retries=1), said()):
        assert str(error) == f"model 'tiny@{server.url}' answered 500: boom"
        assert (error.retryable, error.attempts) == (True, 2)
    assert len(server.bodies) == 4


@pytest.mark.requirement("models:retries:only-passing")
@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_will_not_pass_is_not_sent_again(server, make, said, waits, status) -> None:
    server.plays(server.refuses(status, "no"))
    with pytest.raises(TransportError) as caught:
        ask(make(), said())
    assert str(caught.value) == f"model 'tiny@{server.url}' answered {status}: no"
    assert not caught.value.retryable
    assert len(server.bodies) == 1


@pytest.mark.requirement("models:retries:only-passing")
def test_a_spent_quota_does_not_pass(server, make, said, waits) -> None:
    body = {"error": {"message": "quota", "code": "insufficient_quota"}}
    server.plays(server.says(body, 429, retry_after="1"))
    with pytest.raises(TransportError) as caught:
        ask(make(), said())
    assert (caught.value.retryable, caught.value.retry_after) == (False, None)
    assert len(server.bodies) == 1


@pytest.mark.requirement("models:retries:retry-after")
def test_retry_after_is_honoured_and_capped(server, make, said, waits) -> None:
    server.plays(
        server.refuses(429, "slow down", retry_after="3"),
        server.refuses(429, "slow down", retry_after="86400"),
        server.says(_ok()),
    )
    assert ask(make(), said()).text == "fine"
    first, second = waits
    assert 3 <= first <= 3.5
    assert 60 <= second <= 61


@pytest.mark.requirement("models:retries:retry-after")
def test_retry_after_is_seconds_milliseconds_or_a_date() -> None:
    date = "Wed, 21 Oct 2026 07:28:00 GMT"
    assert retry_after({"retry-after": "2.5"}, 0) == 2.5
    assert retry_after({"retry-after-ms": "250", "retry-after": "9"}, 0) == 0.25
    assert retry_after({"retry-after": date}, 1792567680 - 30) == 30
    for nonsense in ("soon", "nan", "-1", "0", "Wed, 99 Foo 2026"):
        assert retry_after({"retry-after": nonsense}, 0) is None
    assert retry_after({}, 0) is None


@pytest.mark.requirement("models:retries:remaining")
def test_a_wait_beyond_the_runs_time_is_not_begun(server, make, said, clock) -> None:
    server.plays(server.refuses(429, "slow down", retry_after="30"))
    with run(None, budget=Budget(seconds=5)), pytest.raises(TransportError) as caught:
        ask(make(), said())
    assert clock() < 4
    (note,) = caught.value.__notes__
    assert note.startswith("not sent again: ")
    assert note.endswith(" s are left, and the wait is 30 s")


@pytest.mark.requirement("models:timeouts:attempt")
@pytest.mark.parametrize("how", ["hangs", "drips"])
def test_an_attempt_ends_when_its_time_is_up(server, make, said, waits, clock, how, both) -> None:
    server.plays(getattr(server, how), server.says(_ok()), getattr(server, how))
    model = make(timeout=0.4)
    assert ask(model, said()).text == "fine"
    for error in both(make(timeout=0.3, retries=0), said()):
        assert str(error) == f"model 'tiny@{server.url}' did not answer within 0.3 s"
    assert clock() < 5


@pytest.mark.requirement("models:timeouts:run")
def test_an_attempt_has_no_more_time_than_the_run(server, make, said, clock) -> None:
    server.plays(server.hangs)
    with run(None, budget=Budget(seconds=0.4)), pytest.raises((TransportError, BudgetExceeded)):
        ask(make(timeout=30), said())
    assert clock() < 4


@pytest.mark.requirement("models:timeouts:cancelled")
async def test_a_cancelled_call_stops_at_once(server, make, said, clock) -> None:
    server.plays(server.hangs)
    async with make() as model:
        task = asyncio.ensure_future(aask(model, said()))
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert clock() < 4


@pytest.mark.requirement("models:openai:dropped")
def test_a_dropped_connection_is_tried_again(server, make, said, waits, both) -> None:
    server.plays(server.drops, server.says(_ok()), server.drops)
    assert ask(make(), said()).text == "fine"
    for error in both(make(retries=0), said()):
        assert str(error).startswith(f"the connection to model 'tiny@{server.url}' failed: ")
        assert error.retryable


@pytest.mark.requirement("models:openai:dropped")
def test_no_server_at_all(make, said, waits) -> None:
    model = OpenAIModel("tiny", base_url="http://127.0.0.1:9/v1", retries=0)
    with model, pytest.raises(TransportError) as caught:
        ask(model, said())
    told = "the connection to model 'tiny@http://127.0.0.1:9/v1' failed: ConnectError: "
    assert str(caught.value).startswith(told)


@pytest.mark.requirement("models:openai:nonsense")
def test_answers_that_are_no_completion_are_clear_errors(server, make, said, waits, both) -> None:
    name = f"model 'tiny@{server.url}'"
    html = b"<html>" + b"a login page " * 100
    expected = {
        server.says(b'{"choices": [{"mess'): f'{name} answered broken JSON: \'{{"choices": '
        "[{\"mess'",
        server.says(html, content_type="text/html"): f"{name} answered text/html, not JSON: "
        f"{(html[:200] + b'...').decode()!r}; is base_url right?",
        server.says([1]): f"{name} answered no object: '[1]'",
        server.says({"choices": []}): f"{name} gave no choice: {{'choices': []}}",
        server.says({"error": {"message": "overloaded"}}): f"{name} gave no choice: overloaded",
        server.says(b"[" * 100_000): f"{name} answered broken JSON: '{'[' * 200}...'",
    }
    for behaviour, message in expected.items():
        server.bodies.clear()
        server.plays(behaviour)
        assert [str(error) for error in both(make(retries=0), said())] == [message, message]


@pytest.mark.requirement("models:openai:huge")
def test_ten_megabytes_are_read_and_more_than_the_limit_is_not(
    server, make, said, monkeypatch, both
) -> None:
    server.answers("a" * 10_000_000)
    with run(None) as opened:
        made = ask(make(), said(schema=SCHEMA))
    assert len(made.text) == 10_000_000
    assert made.problem is not None
    assert len(made.problem) < 400
    assert sum(len(str(event.data)) for event in opened.events) < 20_000

    monkeypatch.setattr("hornbook.models.openai_http._LONGEST", 2**20)
    for error in both(make(), said()):
        assert str(error) == f"model 'tiny@{server.url}' answered more than 1 MiB"


@pytest.mark.requirement("models:openai:content-type")
def test_json_is_read_whatever_it_is_called(server, make, said, both) -> None:
    server.plays(server.says(_ok(), content_type="text/plain"))
    assert [one.text for one in both(make(), said())] == ["fine", "fine"]


@pytest.mark.requirement("models:openai:usage-missing")
def test_an_answer_without_usage_counts_as_nothing_and_says_so_once(
    server, make, said, caplog
) -> None:
    body = _ok()
    del body["usage"]
    server.plays(server.says(body))
    model = make(price=Price(input=5, output=5))
    with caplog.at_level(logging.WARNING, "hornbook"), run(None) as opened:
        assert [ask(model, said()).usage.total for _ in range(2)] == [0, 0]
    assert opened.meter.spent.tokens == 0
    assert [record.getMessage() for record in caplog.records] == [
        f"model 'tiny@{server.url}' tells no usage: its tokens and cost count as 0"
    ]


@pytest.mark.requirement("models:openai:nonsense")
def test_what_utf8_cannot_say_is_not_sent(server, make, said, both) -> None:
    for error in both(make(), said("a \ud800")):
        assert str(error) == (
            f"model 'tiny@{server.url}': the request holds a lone surrogate, which UTF-8 cannot say"
        )
    assert server.bodies == []


@pytest.mark.requirement("models:openai:finish")
def test_how_an_answer_ended_is_told(server, make, said) -> None:
    refusal = _ok(None)
    refusal["choices"][0]["message"]["refusal"] = "I will not"
    parts = _ok([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, 3])
    cut, withheld = _ok('{"x": ', finish="length"), _ok("", finish="content_filter")
    server.plays(*(server.says(body) for body in (refusal, parts, cut, withheld)))
    model = make()
    made = [ask(model, said(schema=SCHEMA)) for _ in range(4)]
    assert [(one.text, one.finish) for one in made] == [
        ("I will not", "filter"),
        ("ab", "stop"),
        ('{"x": ', "length"),
        ("", "filter"),
    ]
    assert made[2].problem == "cut off at max_tokens, before the JSON was complete"
    assert made[3].problem == "withheld by the server's content filter"


@pytest.mark.requirement("models:openai:key")
def test_the_key_goes_to_its_server_and_nowhere_else(
    server, make, said, waits, monkeypatch, tmp_path
) -> None:
    key = "k-0123456789abcdef"
    echo = f"key {key} is wrong"
    server.plays(server.says(_ok()), server.refuses(401, echo), server.says({"error": echo}))
    model = make(api_key=key, headers={"x-gateway": "gate-way-secret"})
    with run(tmp_path) as opened:
        ask(model, said())
        for _ in range(2):
            with pytest.raises(TransportError) as caught:
                ask(model, said())
            assert "<redacted> is wrong" in str(caught.value)
            assert key not in str(caught.value)
            assert caught.value.__cause__ is None
    assert server.headers[0]["authorization"] == f"Bearer {key}"
    assert server.headers[0]["x-gateway"] == "gate-way-secret"
    written = "".join(file.read_text(encoding="utf-8") for file in opened.path.iterdir())
    assert key not in written
    assert "gate-way-secret" not in written
    assert key not in repr(model)

    monkeypatch.setenv("OPENAI_API_KEY", "k-of-somebody-else")
    server.answers("fine")
    ask(make(), said())
    assert server.headers[-1]["authorization"] == "Bearer none"


@pytest.mark.requirement("models:openai:identity")
def test_the_identity_is_name_and_place_without_credentials(monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k-0123456789abcdef")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert OpenAIModel("gpt").identity == "gpt@https://api.openai.com/v1"
    url = "https://me:pass-word@host.example:81/v1/"
    model = OpenAIModel("q", base_url=url)
    assert repr(model) == "OpenAIModel('q@https://host.example:81/v1')"
    other = OpenAIModel("q", base_url=url, extra_body={"reasoning": "low"})
    assert other.identity.startswith("q@https://host.example:81/v1+")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://local/v1")
    assert OpenAIModel("gpt").identity == "gpt@http://local/v1"


@pytest.mark.requirement("models:openai:definition")
def test_what_cannot_work_is_refused_when_it_is_written(monkeypatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    url = "http://local/v1"
    expected = {
        "OpenAIModel: no API key: set OPENAI_API_KEY, or pass api_key=; a server that needs none "
        "is named by base_url=": {"name": "gpt"},
        "OpenAIModel(name=''): expected the model's name": {"name": "", "base_url": url},
        "OpenAIModel('q'): base_url='ftp://host/v1': expected an http or https URL": {
            "name": "q",
            "base_url": "ftp://me:pass-word@host/v1",
        },
        "OpenAIModel('q'): timeout=0: expected seconds above 0": {
            "name": "q",
            "base_url": url,
            "timeout": 0,
        },
        "OpenAIModel('q'): retries=-1: expected a whole number of at least 0": {
            "name": "q",
            "base_url": url,
            "retries": -1,
        },
        "OpenAIModel('q'): schema_format='xml': one of auto, json_schema, none": {
            "name": "q",
            "base_url": url,
            "schema_format": "xml",
        },
    }
    for message, arguments in expected.items():
        with pytest.raises(DefinitionError) as caught:
            OpenAIModel(**arguments)
        assert str(caught.value) == message


@pytest.mark.requirement("models:openai:extra")
def test_without_the_client_the_extra_is_named(monkeypatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "openai", None)
    with pytest.raises(MissingExtra) as caught:
        OpenAIModel("q", base_url="http://local/v1")
    told = "OpenAIModel needs the package 'openai': pip install 'hornbook[openai]'"
    assert str(caught.value) == told


def _ok(text: Any = "fine", **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "finish_reason": more.get("finish", "stop"), "message": message}
    return {"choices": [choice], "usage": {"prompt_tokens": 11, "completion_tokens": 7}}
