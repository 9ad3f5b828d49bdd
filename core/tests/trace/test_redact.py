import enum

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, SecretBytes, SecretStr

from hornbook import config
from hornbook.canon import loads, serialise
from hornbook.trace import redact as module
from hornbook.trace.redact import FAILED, Redactor, recordable, redact, redact_text

pytestmark = pytest.mark.requirement("redact:point:one")

KEY = "sk-" + "a1b2c3d4" * 4


@pytest.fixture
def redactor():
    return Redactor(environ={"SHOP_API_KEY": "crown jewels", "SHORT_KEY": "abc"})


class Name(enum.Enum):
    PASSWORD = "password"


class Login(BaseModel):
    user: str
    password: str
    session: SecretStr


def test_what_stands_under_a_denied_key_is_withheld(redactor):
    assert redactor.redact(
        {
            "user": "bob",
            "password": "hunter2",
            "nested": [{"apiKey": {"a": 1}, "cookies": ["x"]}],
            "pin": 7,
        }
    ) == {
        "user": "bob",
        "password": "<redacted>",
        "nested": [{"apiKey": "<redacted>", "cookies": "<redacted>"}],
        "pin": 7,
    }


def test_that_a_secret_is_absent_or_a_mere_flag_is_told(redactor):
    assert redactor.redact({"token": None, "secret": False, "cookie": ""}) == {
        "token": None,
        "secret": False,
        "cookie": "<redacted>",
    }


def test_pairs_and_odd_keys_are_looked_at_too(redactor):
    assert redactor.redact([("Authorization", "x"), ["cookie", "y"], ("a", "b")]) == [
        {"$tuple": ["Authorization", "<redacted>"]},
        ["cookie", "<redacted>"],
        {"$tuple": ["a", "b"]},
    ]
    written = serialise(redactor.redact({b"password": "hunter2", Name.PASSWORD: "hunter3", 1: 2}))
    assert b"hunter" not in written
    assert serialise(redactor.redact({"$password": "hunter2"})).count(b"<redacted>") == 1


def test_objects_are_looked_into(redactor):
    login = Login(user="bob", password="hunter2", session=SecretStr("hunter3"))
    written = serialise(redactor.redact({"login": login, "raw": SecretBytes(b"hunter4")}))
    assert b"hunter" not in written
    assert b'"user":"bob"' in written


def test_credentials_are_taken_out_of_texts_keys_bytes_and_reprs(redactor):
    class Client:
        def __repr__(self):
            return f"Client(key={KEY!r}, url='https://u:{KEY}@x')"

    value = {"text": f"use {KEY}", KEY: 1, "bytes": KEY.encode(), "client": Client()}
    written = serialise(redactor.redact(value))
    assert KEY.encode() not in written
    assert KEY[:12].encode() not in written
    assert b"use <redacted>" in written


def test_errors_are_redacted_as_anything_is(redactor):
    error = ValueError(f"401 for key {KEY}")
    assert redactor.redact_text(str(error)) == "401 for key <redacted>"
    assert redactor.redact(error) == {
        "$repr": "ValueError('401 for key <redacted>')",
        "$type": "ValueError",
    }


def test_the_values_of_secret_variables_are_taken_out(redactor):
    assert redactor.redact(["the crown jewels!", "crown%20jewels", "abc"]) == [
        "the <redacted>!",
        "<redacted>",
        "abc",
    ]


def test_a_variable_that_is_set_later_counts_soon(monkeypatch):
    now = 100.0
    monkeypatch.setattr(module, "monotonic", lambda: now)
    environ = {}
    redactor = Redactor(environ=environ)
    assert redactor.redact(["open sesame"]) == ["open sesame"]
    environ["DOOR_TOKEN"] = "open sesame"
    now += 2
    assert redactor.redact(["open sesame", {"open sesame": 1}]) == [
        "<redacted>",
        {"$dict": [["<redacted>", 1]]},
    ]


@given(
    st.lists(st.text(max_size=30), max_size=3),
    st.sampled_from([KEY, "ghp_" + "Z9" * 20, "crown jewels", "eyJhbGciOi.eyJzdWIiOi.c2ln"]),
    st.recursive(
        st.just("HERE"),
        lambda inner: st.one_of(
            st.lists(inner, min_size=1, max_size=3),
            st.tuples(inner),
            st.dictionaries(st.text(max_size=5), inner, min_size=1, max_size=3),
            st.builds(lambda item: {("k", "HERE"): item}, inner),
        ),
        max_leaves=6,
    ),
)
def test_a_planted_secret_never_comes_out(texts, secret, shape):
    redactor = Redactor(environ={"SHOP_API_KEY": "crown jewels"})

    def plant(value):
        if isinstance(value, str):
            return value.replace("HERE", f"{texts[0] if texts else ''} {secret} {texts[-1:]}")
        if isinstance(value, dict):
            return {plant(key): plant(item) for key, item in value.items()}
        return type(value)(map(plant, value))

    assert secret.encode() not in serialise(redactor.redact(plant(shape)))


@pytest.mark.requirement("redact:patterns:bounded")
def test_a_long_text_is_cut_and_says_how_long_it_was():
    redactor = Redactor(environ={}, max_text=100)
    assert redactor.redact("ab" * 5000) == "ab" * 50 + "... [cut, 10000 characters in all]"
    assert redactor.redact("a" * 100) == "a" * 100
    assert (
        redactor.redact_text("a" * 100, limit=10) == "a" * 10 + "... [cut, 100 characters in all]"
    )
    assert redactor.redact_text("a" * 10, limit=10) == "a" * 10


@pytest.mark.requirement("redact:patterns:bounded")
@pytest.mark.parametrize("at", range(60, 101, 4))
def test_a_cut_never_splits_a_secret(at):
    redactor = Redactor(environ={"A_KEY": "crown jewels of all"}, max_text=100)
    for secret in ("crown jewels of all", KEY):
        kept = redactor.redact("-" * at + " " + secret + " " + "-" * 9000)
        assert isinstance(kept, str)
        assert secret[:6] not in kept
        assert kept.endswith(
            "... [cut, " + str(at + 2 + len(secret) + 9000) + " characters in all]"
        )


@pytest.mark.requirement("redact:patterns:bounded")
def test_collections_are_bounded_and_say_what_is_missing():
    redactor = Redactor(environ={}, max_items=20, max_nodes=100)
    assert redactor.redact(list(range(25))) == [*range(20), {"$cut": 5}]
    assert redactor.redact({str(n): n for n in range(25)}) == {
        "$cut": 5,
        "items": {str(n): n for n in range(20)},
    }
    assert redactor.redact(tuple(range(25))) == {"$tuple": [*range(20), {"$cut": 5}]}
    wide = serialise(redactor.redact([[[n] * 18 for n in range(18)] for _ in range(18)]))
    assert len(wide) < 5000
    assert b"too large" in wide


@pytest.mark.requirement("redact:fails:closed")
def test_where_redaction_fails_the_value_is_withheld(redactor):
    def broken(_):
        raise ZeroDivisionError

    redactor._without_credentials = broken
    assert redactor.redact({"a": ["a longer text", 1]}) == {"a": [FAILED, 1]}
    assert redactor.redact_text("a longer text", limit=5) == FAILED
    assert redactor.redact(object())["$repr"] == FAILED
    redactor._denied = broken
    assert redactor.redact({"fresh key": "x"}) == {"$dict": [[FAILED, FAILED]]}


@pytest.mark.requirement("redact:fails:closed")
def test_where_the_environment_cannot_be_read_all_is_withheld():
    class Broken(dict):
        def items(self):
            raise OSError("gone")

    redactor = Redactor(environ=Broken())
    assert redactor.redact({"a": 1}) == FAILED
    assert redactor.record({"a": 1}) == {"data": FAILED}
    assert redactor.redact_text("a longer text") == FAILED


@pytest.fixture
def configured(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text):
        (tmp_path / "hornbook.toml").write_text(text, encoding="utf-8")
        config.reload()

    yield write
    monkeypatch.undo()
    config.reload()


def test_the_configuration_adds_keys(configured):
    configured('redact_keys = ["customer-email"]')
    assert redact({"customerEmail": "x", "name": "y"}) == {
        "customerEmail": "<redacted>",
        "name": "y",
    }
    assert recordable({"customer_email": "x"}) == {"customer_email": "<redacted>"}


@pytest.mark.requirement("redact:fails:closed")
def test_a_configuration_that_cannot_be_read_withholds_all(configured, tmp_path):
    (tmp_path / "hornbook.toml").write_text("redact_keys = 7", encoding="utf-8")
    config._of_process.cache_clear()
    assert redact({"a": 1}) == FAILED
    assert recordable({"a": 1}) == {"data": FAILED}
    assert redact_text("a longer text") == FAILED


@pytest.mark.requirement("trace:file:header")
def test_the_policy_names_the_rules():
    assert Redactor().policy == Redactor(environ={"A_KEY": "crown jewels"}).policy
    assert Redactor().policy != Redactor(keys=["iban"]).policy
    assert Redactor().policy != Redactor(max_items=7).policy
    assert Redactor().policy.startswith("hornbook-1/")


def test_what_is_redacted_is_plain_json(redactor):
    value = {"a": (1, 2.5e300), "b": {1, 2}, "c": float("nan"), "d": "\ud800", "$e": 2**80}
    kept = redactor.redact(value)
    assert loads(serialise(kept)) == kept
