"""What a server does not understand is learnt from how it refuses, and left out."""

import logging
from typing import Any

import pytest

from hornbook import Budget, run
from hornbook.models import Sampling, TransportError, ask

SCHEMA = {
    "type": "object",
    "properties": {"x": {"type": "integer"}},
    "required": ["x"],
    "additionalProperties": False,
}


def _ok(text: Any = "fine") -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 11, "completion_tokens": 7}
    return {"choices": [{"finish_reason": "stop", "message": message}], "usage": usage}


@pytest.mark.requirement("models:openai:refused-form")
def test_a_server_without_schemas_is_remembered(server, make, said, waits) -> None:
    refusal = server.refuses(400, "Unknown field: response_format")
    server.plays(refusal, server.says(_ok('{"x": 2}')))
    model = make(retries=1)
    with run(None) as opened:
        assert ask(model, said(schema=SCHEMA)).value == {"x": 2}
        assert opened.meter.spent.calls == 2
        assert ask(model, said(schema=SCHEMA)).value == {"x": 2}
        assert opened.meter.spent.calls == 3
    assert ["response_format" in body for body in server.bodies] == [True, False, False]
    assert waits == [0.0]


@pytest.mark.requirement("models:openai:refused-form")
def test_one_schema_that_is_refused_leaves_the_others(server, make, said, waits) -> None:
    refusal = server.refuses(400, "Invalid schema for response_format 'answer'")
    server.plays(refusal, server.says(_ok('{"x": 2}')))
    model = make()
    ask(model, said(schema=SCHEMA))
    ask(model, said(schema=SCHEMA))
    ask(model, said(schema={"type": "object"}))
    sent = ["response_format" in body for body in server.bodies]
    assert sent == [True, False, False, True]


@pytest.mark.requirement("models:openai:refused-form")
def test_the_form_can_be_insisted_on_or_left_out(server, make, said, waits) -> None:
    server.plays(server.refuses(400, "Unknown field: response_format"))
    with pytest.raises(TransportError, match="answered 400: Unknown field: response_format"):
        ask(make(schema_format="json_schema"), said(schema=SCHEMA))
    server.answers("{}")
    ask(make(schema_format="none"), said(schema=SCHEMA))
    assert "response_format" not in server.bodies[-1]


@pytest.mark.requirement("models:openai:refused-form")
def test_the_newer_name_of_the_token_limit_is_learnt(server, make, said, waits) -> None:
    refusal = server.refuses(400, "Use 'max_completion_tokens' instead of 'max_tokens'")
    server.plays(refusal, server.says(_ok()))
    ask(make(), said(sampling=Sampling(max_tokens=5)))
    assert [body.get("max_completion_tokens") for body in server.bodies] == [None, 5]
    assert "max_tokens" not in server.bodies[1]


@pytest.mark.requirement("models:openai:refused-form")
def test_sampling_that_a_model_does_not_take_is_left_out(server, make, said, waits, caplog) -> None:
    error = {"message": "Only the default (1) is supported", "param": "temperature"}
    server.plays(server.says({"error": error}, 400), server.says(_ok()))
    model = make()
    with caplog.at_level(logging.WARNING, "hornbook"):
        ask(model, said(sampling=Sampling(temperature=0.2, seed=1)))
    assert [body.get("temperature") for body in server.bodies] == [0.2, None]
    assert server.bodies[1]["seed"] == 1
    assert [record.getMessage() for record in caplog.records] == [
        f"model 'tiny@{server.url}' refuses temperature: it is left out from now on, and the "
        f"model's own applies"
    ]


@pytest.mark.requirement("models:openai:refused-form")
@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "Unknown parameter: response_format"),
        (400, "json_schema is not supported"),
        (400, "Invalid parameter: 'response_format' of type 'json_schema' is not supported with"),
        (422, "Extra inputs are not permitted: response_format"),
        (400, "This model does not support structured outputs"),
        (400, "This response_format type is unavailable now"),
        (501, "response_format not implemented"),
        (400, "'response_format.type' must be 'json_object' or 'text'"),
        (400, "'json_object' or 'text' expected"),
        (404, "No endpoints found that support structured outputs"),
    ],
)
def test_servers_say_in_many_words_that_they_take_no_schemas(
    server, make, said, waits, status, message
) -> None:
    server.plays(server.refuses(status, message), server.says(_ok('{"x": 1}')))
    model = make(retries=0)
    for title in ("one", "other"):
        assert ask(model, said(schema={**SCHEMA, "title": title})).value == {"x": 1}
    assert ["response_format" in body for body in server.bodies] == [True, False, False]


@pytest.mark.requirement("models:openai:refused-form")
@pytest.mark.parametrize("message", ["unsupported grammar", "Failed to parse grammar"])
def test_one_grammar_that_is_refused_leaves_the_others(server, make, said, waits, message) -> None:
    refusal = server.refuses(500, message)
    server.plays(refusal, server.says(_ok('{"x": 1}')))
    model = make(retries=0)
    for title in ("one", "other"):
        ask(model, said(schema={**SCHEMA, "title": title}))
    assert ["response_format" in body for body in server.bodies] == [True, False, True]


@pytest.mark.requirement("models:openai:nothing-learnt")
@pytest.mark.parametrize(
    ("status", "error"),
    [
        (404, {"message": "The model `sql-schema-7b` does not exist"}),
        (404, {"message": "model 'schema' is not supported: not found"}),
        (404, {"message": "unknown schema", "code": "model_not_found"}),
        (400, {"message": "context length exceeded: reduce the schema of your prompt"}),
        (400, {"message": "unsupported schema", "param": "messages[0].content"}),
        (400, {"message": "temperature is above the maximum of 2", "param": "temperature"}),
        (400, {"message": "unknown field"}),
        (401, {"message": "response_format is not supported"}),
    ],
)
def test_nothing_is_learnt_from_what_refuses_something_else(
    server, make, said, waits, status, error
) -> None:
    server.plays(server.says({"error": error}, status), server.says(_ok('{"x": 1}')))
    model = make()
    with pytest.raises(TransportError) as caught:
        ask(model, said(schema=SCHEMA))
    assert str(caught.value).endswith(f"answered {status}: {error['message']}")
    ask(model, said(schema=SCHEMA))
    assert "response_format" in server.bodies[1]
    assert "temperature" in server.bodies[1]


@pytest.mark.requirement("models:openai:lessons")
def test_lessons_do_not_use_up_the_retries(server, make, said, waits) -> None:
    def picky(handler: Any) -> None:
        for name in ("max_tokens", "response_format", "temperature"):
            if name in server.bodies[-1]:
                hint = " Use 'max_completion_tokens' instead." if name == "max_tokens" else ""
                error = {"message": f"Unsupported parameter: '{name}'.{hint}", "param": name}
                return server.says({"error": error}, 400)(handler)
        if len(server.bodies) < 6:
            return server.refuses(503, "busy")(handler)
        return server.says(_ok('{"x": 1}'))(handler)

    server.plays(picky)
    model = make(retries=2, lessons=3)
    assert (model.max_attempts, model.lessons) == (6, 3)
    assert make(retries=2).max_attempts == 4
    request = said(schema=SCHEMA, sampling=Sampling(max_tokens=5))
    with run(None, budget=Budget(calls=6)) as opened:
        assert ask(model, request).value == {"x": 1}
    assert opened.meter.spent.calls == len(server.bodies) == 6
    assert (len(waits), waits[:3]) == (5, [0.0] * 3)


@pytest.mark.requirement("models:openai:lessons")
def test_all_that_one_error_names_is_learnt_at_once(server, make, said, waits) -> None:
    named = "Unknown parameters: temperature, top_p, response_format"
    server.plays(server.refuses(400, named), server.says(_ok('{"x": 1}')))
    model = make(retries=0, lessons=1)
    request = said(schema=SCHEMA, sampling=Sampling(top_p=0.5, seed=3))
    assert ask(model, request).value == {"x": 1}
    assert set(server.bodies[1]) == {"model", "messages", "seed"}


@pytest.mark.requirement("models:openai:lessons")
def test_lessons_are_bounded_and_what_they_taught_stays(server, make, said, waits) -> None:
    server.plays(server.refuses(400, "Unknown parameter: response_format"))
    model = make(retries=0, lessons=0)
    assert model.max_attempts == 1
    with pytest.raises(TransportError, match=r"refuses response_format, which is left out"):
        ask(model, said(schema=SCHEMA))
    server.answers('{"x": 1}')
    ask(model, said(schema=SCHEMA))
    assert "response_format" not in server.bodies[-1]
