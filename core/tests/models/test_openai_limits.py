"""What a server cannot make the client do: wait longer, read more, go elsewhere, tell secrets."""

import json
import threading
from typing import Any

import pytest

from hornbook import Budget, run
from hornbook.errors import BudgetExceeded, DefinitionError
from hornbook.models import OpenAIModel, Price, TransportError, Usage, ask
from hornbook.models.openai_secrets import Secrets

KEY = "k3y-very-secret-000"
FROM_ENVIRONMENT = {
    "OPENAI_API_KEY": "key-of-somebody-else",
    "OPENAI_ADMIN_KEY": "admin-of-somebody-else",
    "OPENAI_ORG_ID": "organization-of-somebody",
    "OPENAI_PROJECT_ID": "project-of-somebody",
    "OPENAI_CUSTOM_HEADERS": "X-Custom: header-of-somebody",
}


def ok(text: Any = "fine", **more: Any) -> dict[str, Any]:
    choice = {"finish_reason": "stop", "message": {"content": text}} | more.pop("choice", {})
    return {"choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 1}} | more


@pytest.mark.requirement("models:timeouts:attempt")
@pytest.mark.parametrize("how", ["hangs", "drips", "drips_headers", "drips_a_refusal"])
def test_the_whole_of_an_attempt_has_one_time_limit(server, make, said, both, clock, how) -> None:
    server.answers("fine")
    model = make(timeout=0.3, retries=0)
    both(make(), said())  # the client is loaded once
    server.plays(getattr(server, how))
    began = clock()
    for error in both(model, said()):
        assert str(error) == f"model 'tiny@{server.url}' did not answer within 0.3 s"
        assert error.retryable
    assert clock() - began < 3


@pytest.mark.requirement("models:timeouts:run")
@pytest.mark.parametrize("how", ["drips", "drips_headers", "drips_a_refusal"])
def test_a_run_that_has_a_time_ends_in_it(server, make, said, clock, how) -> None:
    server.plays(server.says(ok()), getattr(server, how))
    model = make(timeout=30)
    ask(model, said())
    began = clock()
    with run(None, budget=Budget(seconds=0.4)), pytest.raises((TransportError, BudgetExceeded)):
        ask(model, said())
    assert clock() - began < 3


@pytest.mark.requirement("models:openai:threads")
def test_sync_calls_of_many_threads_share_a_loop_and_do_not_wait_for_each_other(
    server, make, said, clock
) -> None:
    server.answers("fine")
    model, together, texts = make(), threading.Barrier(6), []
    ask(model, said())

    def behave(handler: Any) -> None:
        together.wait(10)  # all of them are under way at once
        server.says(ok("both"))(handler)

    server.plays(behave)
    threads = [
        threading.Thread(target=lambda: texts.append(ask(model, said()).text)) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == ["both"] * 6


@pytest.mark.requirement("models:openai:huge")
def test_a_refusal_without_end_is_read_only_so_far(server, make, said, both) -> None:
    server.plays(server.refuses_without_end)
    for error in both(make(retries=0), said()):
        assert str(error).startswith(f"model 'tiny@{server.url}' answered 400: yyyyyyyyyy")
        assert len(str(error)) < 500
    assert server.gone.wait(10)
    assert server.sent < 32 * 2**20  # what the system's buffers hold, and no more


@pytest.mark.requirement("models:openai:redirects")
def test_redirects_are_not_followed(server, make, said, both) -> None:
    place = "http://me:pass-word@elsewhere.example/steal?key=x"
    server.plays(server.says(b"", 307, location=place))
    for error in both(make(api_key=KEY), said()):
        assert str(error) == (
            f"model 'tiny@{server.url}' answered 307, a redirect to http://elsewhere.example, "
            f"which is not followed: the prompt would go along; base_url= has to name the place "
            f"itself"
        )
        assert not error.retryable
    server.bodies.clear()
    server.plays(server.says(b"", 308, location="/v1/chat/completions"), server.says(ok()))
    with pytest.raises(TransportError, match=f"a redirect to {server.url[:-3]}, which"):
        ask(make(), said())
    assert len(server.bodies) == 1


@pytest.mark.requirement("models:openai:key")
def test_what_the_environment_says_goes_to_its_own_server_only(
    server, make, said, both, monkeypatch
) -> None:
    for name, value in FROM_ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    server.plays(server.says(ok()))
    both(make(headers={"X-Gateway": "gate-way"}), said())
    for headers in server.headers:
        assert headers["authorization"] == "Bearer none"
        assert headers["x-gateway"] == "gate-way"
        assert "somebody" not in json.dumps(headers)

    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    with OpenAIModel("tiny") as model:
        ask(model, said())
    assert server.headers[-1]["authorization"] == "Bearer key-of-somebody-else"
    assert server.headers[-1]["openai-organization"] == "organization-of-somebody"


@pytest.mark.requirement("models:openai:redaction")
@pytest.mark.parametrize("pad", [170, 180, 188, 195, 199])
def test_a_secret_is_taken_out_before_a_text_is_cut(server, make, said, pad) -> None:
    texts = [b"z" * pad + KEY.encode() + b"q" * 50, b"z" * (pad + 100) + KEY.encode() + b"q" * 50]
    server.plays(server.says(texts[0], content_type="text/html"), server.says(texts[1], 400))
    for _ in range(2):
        with pytest.raises(TransportError) as caught:
            ask(make(api_key=KEY, retries=0), said())
        assert KEY[:4] not in str(caught.value)


@pytest.mark.requirement("models:openai:redaction")
def test_a_secret_is_taken_out_however_it_is_written(server, make, said, tmp_path) -> None:
    key = "k3y\"very\\\\secret'<000>"
    bodies = [
        json.dumps({"odd": key}).encode(),
        json.dumps({"error": json.dumps(json.dumps(key))}).encode(),
        b"<html>" + json.dumps(key).encode(),
        repr(key).encode(),
        b"https://host/?key=k3y%22very%5C%5csecret%27%3C000%3e",
        b"k3y&quot;very\\\\secret&#x27;&lt;000&gt;",
    ]
    server.plays(*(server.says(body, 400) for body in bodies), *map(server.says, bodies))
    model = make(api_key=key, retries=0)
    with run(tmp_path) as opened:
        for _ in range(2 * len(bodies)):
            with pytest.raises(TransportError) as caught:
                ask(model, said())
            assert "<redacted>" in str(caught.value)
            assert "secret" not in str(caught.value)
            assert caught.value.__cause__ is None
            assert caught.value.__context__ is None
    assert all("secret" not in file.read_text("utf-8") for file in opened.path.iterdir())


@pytest.mark.requirement("models:openai:redaction")
def test_a_password_in_the_address_is_taken_out(server, make, said) -> None:
    server.plays(lambda handler: server.refuses(401, str(handler.headers))(handler))
    url = server.url.replace("//", "//me:pass%2Dword@")
    with pytest.raises(TransportError) as caught:
        ask(make(base_url=url), said())
    assert server.headers[0]["authorization"] == "Basic bWU6cGFzcy13b3Jk"
    assert "bWU6" not in str(caught.value)


@pytest.mark.requirement("models:openai:redaction")
def test_a_short_key_is_taken_out_only_as_a_word() -> None:
    secrets = Secrets(["bana", "k"])
    assert secrets.out_of("bana: a banana; k") == "<redacted>: a banana; k"
    assert Secrets([]).out_of("a") == "a"
    assert repr(secrets) == "Secrets()"


@pytest.mark.requirement("models:openai:definition")
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"api_key": f"{KEY}\n"}, "api_key has a control character at 19: is it a line from a f"),
        ({"api_key": "schlüssel-geheim"}, "api_key has a character at 4 that is not ASCII"),
        ({"api_key": ""}, "api_key is empty: leave it out for a server that needs none"),
        ({"api_key": b"secret"}, "api_key is of type bytes: expected a text"),
        ({"api_key": " secret"}, "api_key begins or ends with a space"),
        ({"headers": {"X-G": "secret\r\nX: y"}}, "the header 'X-G' has a control character at 6"),
        ({"headers": {"X-G": "sécret"}}, "the header 'X-G' has a character at 1 that is not ASCII"),
        ({"headers": {"X-G": 5}}, "the header 'X-G' is of type int: expected a text"),
        ({"headers": {"X G": "secret"}}, "'X G' is no name of a header"),
        ({"headers": {5: "secret"}}, "5 is no name of a header"),
        ({"headers": ["secret"]}, "headers is of type list: expected a mapping of names to texts"),
        ({"base_url": "http://h/v1?key=secret"}, "base_url='http://h/v1' and a query: the path of"),
        ({"base_url": "http://h/v1#secret"}, "base_url='http://h/v1' and a fragment: the path of"),
        ({"base_url": "http://[me:secret@h"}, "base_url=...: expected an http or https URL"),
        ({"base_url": "me:secret@h/v1"}, "base_url=...: expected an http or https URL"),
        ({"base_url": "http://h:99999999/v1"}, "base_url=...: expected an http or https URL"),
        ({"base_url": "http://h/v1\n"}, "base_url=...: expected an http or https URL"),
        ({"base_url": ""}, "base_url=...: expected an http or https URL"),
        ({"base_url": 5}, "base_url is of type int: expected a text"),
        ({"timeout": 1e300}, "timeout=1e+300: expected seconds above 0"),
        ({"lessons": -1}, "lessons=-1: expected a whole number of at least 0"),
        ({"schema_format": ["auto"]}, "schema_format=['auto']: one of auto, json_schema, none"),
    ],
)
def test_what_cannot_be_sent_is_refused_when_it_is_written(given, message) -> None:
    with pytest.raises(DefinitionError) as caught:
        OpenAIModel("q", **({"base_url": "http://local/v1"} | given))
    assert str(caught.value).startswith(f"OpenAIModel('q'): {message}")
    assert "secret" not in str(caught.value)
    assert "geheim" not in str(caught.value)


@pytest.mark.requirement("models:openai:nonsense")
def test_a_finish_and_a_usage_of_any_kind_are_read(server, make, said, both) -> None:
    most = 10**12
    usages = {
        Usage(input_tokens=most, output_tokens=1): {
            "prompt_tokens": 10**400,
            "completion_tokens": 1,
        },
        Usage(input_tokens=12, output_tokens=3): {"prompt_tokens": 12.0, "completion_tokens": 3.0},
        Usage(input_tokens=0, output_tokens=0): {"prompt_tokens": "5", "completion_tokens": -1},
        Usage(input_tokens=most, output_tokens=0): {
            "prompt_tokens": float("inf"),
            "completion_tokens": float("nan"),
        },
    }
    model = make(price=Price(input=1, output=1))
    for read, told in usages.items():
        server.plays(server.says(ok(usage=told)))
        assert [one.usage for one in both(model, said())] == [read, read]
    for finish in (["stop"], {}, 5, None):
        server.plays(server.says(ok(choice={"finish_reason": finish})))
        assert [one.finish for one in both(model, said())] == ["stop", "stop"]
