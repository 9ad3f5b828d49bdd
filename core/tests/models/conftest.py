"""A real HTTP server that behaves as it is told, and what makes requests and measures time."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from hornbook.models import Message, OpenAIModel, Request, TransportError, aask, ask, attempts

Behaviour = Callable[[BaseHTTPRequestHandler], None]


def chat(text: str | None, **more: Any) -> dict[str, Any]:
    """A chat completion as servers give it."""
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    choice = {"index": 0, "finish_reason": more.pop("finish", "stop"), "message": message}
    return {"object": "chat.completion", "choices": [choice], "usage": usage} | more


@dataclass
class Server:
    """Plays one behaviour a request, the last one again and again; keeps what it was sent."""

    url: str = ""
    behaviours: list[Behaviour] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)
    gone: threading.Event = field(default_factory=threading.Event)
    sent: int = 0

    def plays(self, *behaviours: Behaviour) -> None:
        self.behaviours = list(behaviours)

    def answers(self, *texts: str) -> None:
        self.plays(*(self.says(chat(text)) for text in texts))

    @staticmethod
    def says(body: Any, status: int = 200, **headers: str) -> Behaviour:
        """Answer a status with JSON, or bytes as they are."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}

        def behave(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(status)
            for name, value in {"content-type": "application/json", **named}.items():
                handler.send_header(name, value)
            handler.send_header("content-length", str(len(data)))
            handler.end_headers()
            handler.wfile.write(data)

        return behave

    def refuses(self, status: int, message: str, **headers: str) -> Behaviour:
        return self.says({"error": {"message": message}}, status, **headers)

    def hangs(self, handler: BaseHTTPRequestHandler) -> None:
        self.released.wait(20)

    def drips(self, handler: BaseHTTPRequestHandler) -> None:
        """A byte now and then: no single read ever takes long."""
        handler.send_response(200)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", "100000")
        handler.end_headers()
        while not self.released.wait(0.05):
            handler.wfile.write(b" ")
            handler.wfile.flush()

    def drips_headers(self, handler: BaseHTTPRequestHandler) -> None:
        """As `drips`, and there is not even a whole line."""
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nx-slow: ")
        while not self.released.wait(0.05):
            handler.wfile.write(b"x")
            handler.wfile.flush()

    def drips_a_refusal(self, handler: BaseHTTPRequestHandler) -> None:
        """As `drips`, where the status is no success."""
        handler.send_response(500)
        handler.send_header("content-length", "100000")
        handler.end_headers()
        while not self.released.wait(0.05):
            handler.wfile.write(b" ")
            handler.wfile.flush()

    def refuses_without_end(self, handler: BaseHTTPRequestHandler) -> None:
        """A refusal that is sent for as long as somebody reads it."""
        handler.send_response(400)
        handler.end_headers()
        self.sent = 0
        try:
            while not self.released.is_set():
                handler.wfile.write(b"y" * 65536)
                self.sent += 65536
        finally:
            self.gone.set()

    @staticmethod
    def drops(handler: BaseHTTPRequestHandler) -> None:
        """Half an answer, and then the connection is gone."""
        handler.send_response(200)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", "1000")
        handler.end_headers()
        handler.wfile.write(b'{"choices": [')
        handler.wfile.flush()
        handler.connection.shutdown(socket.SHUT_RDWR)
        handler.close_connection = True


@pytest.fixture
def server() -> Iterator[Server]:
    """A server on a port of its own."""
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            state.bodies.append(json.loads(self.rfile.read(length)))
            state.headers.append({name.lower(): value for name, value in self.headers.items()})
            at = min(len(state.bodies), len(state.behaviours)) - 1
            try:
                state.behaviours[at](self)
            except OSError:  # the client has gone, as it should
                self.close_connection = True

        def log_message(self, *args: Any) -> None: ...

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *args: Any) -> None: ...

    listening = Quiet(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{listening.server_port}/v1"
    thread = threading.Thread(target=listening.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield state
    state.released.set()
    listening.shutdown()
    listening.server_close()
    thread.join()


@pytest.fixture
def make(server: Server) -> Iterator[Callable[..., OpenAIModel]]:
    """Makes models of the server, and closes them."""
    made: list[OpenAIModel] = []

    def of(**more: Any) -> OpenAIModel:
        model = OpenAIModel("tiny", **({"base_url": server.url} | more))
        made.append(model)
        return model

    yield of
    for model in made:
        model.close()


@pytest.fixture
def both() -> Callable[..., list[Any]]:
    """What sync and async give: a completion, or the error."""

    def both_of(model: OpenAIModel, request: Any, **more: Any) -> list[Any]:
        given: list[Any] = []

        async def asked() -> Any:
            async with model:
                return await aask(model, request, **more)

        for ask_it in (lambda: ask(model, request, **more), lambda: asyncio.run(asked())):
            try:
                given.append(ask_it())
            except TransportError as error:
                given.append(error)
        return given

    return both_of


@pytest.fixture
def said() -> Callable[..., Request]:
    """Makes a request of one message."""

    def make(text: str = "Hello", **more: Any) -> Request:
        return Request(messages=(Message(role="user", content=text),), **more)

    return make


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """No waiting between attempts; what would have been waited."""
    waited: list[float] = []

    async def asleep(self: attempts.Wait) -> None:
        waited.append(self.seconds)

    monkeypatch.setattr(attempts.Wait, "run", lambda self: waited.append(self.seconds))
    monkeypatch.setattr(attempts.Wait, "arun", asleep)
    return waited


@pytest.fixture
def clock() -> Callable[[], float]:
    """Seconds since it was made."""
    started = time.monotonic()
    return lambda: time.monotonic() - started
