import random
import string
import sys
import time

import pytest

from hornbook.trace import secrets
from hornbook.trace.secrets import environment_secrets, key_test, without_credentials

pytestmark = pytest.mark.requirement("redact:patterns:bounded")

ALNUM = string.ascii_letters + string.digits


def drawn(count, alphabet=ALNUM, seed=1):
    return "".join(random.Random(seed).choices(alphabet, k=count))


@pytest.fixture(params=["re2", "re"])
def engine(request, monkeypatch):
    if request.param == "re2":
        pytest.importorskip("re2")
    else:
        monkeypatch.setitem(sys.modules, "re2", None)
    secrets._compiled.cache_clear()
    yield request.param
    secrets._compiled.cache_clear()


DENIED = """
password PASSWORD Passwd db_password passwordHash password_hint passphrase pwd secret
client_secret clientSecret secret_name SECRETS token access_token accessToken x-auth-token
api_key apiKey API-KEY x-api-key openai_api_key apikeys authorization Proxy-Authorization
cookie Set-Cookie cookie_jar private_key privateKeyPem aws_secret_access_key credentials
auth bearer jwt otp
"""
ORDINARY = """
name tokens token_count max_tokens token_budget total_tokens tokenizer key keys keyword
secretary author authority monkey order_id pin cook status passenger compass primary_key $
"""


@pytest.mark.requirement("redact:point:one")
@pytest.mark.parametrize("key", DENIED.split())
def test_keys_that_name_a_secret_are_denied(key):
    assert key_test()(key)


@pytest.mark.requirement("redact:point:one")
@pytest.mark.parametrize("key", ["", *ORDINARY.split()])
def test_ordinary_keys_are_not(key):
    assert not key_test()(key)


@pytest.mark.requirement("redact:point:one")
def test_further_keys_are_denied_in_any_spelling():
    denied = key_test(["customer-email", "IBAN", "!"])
    assert [key for key in ("customerEmail", "the_iban", "iban", "email", "") if denied(key)] == [
        "customerEmail",
        "the_iban",
        "iban",
    ]


PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----"
JWT = f"eyJ{drawn(17)}.eyJ{drawn(40)}.{drawn(43)}"
CREDENTIALS = {
    "openai": f"sk-{drawn(48)}",
    "openai project": f"sk-proj-{drawn(20)}_{drawn(20)}",
    "anthropic": f"sk-ant-api03-{drawn(40)}-{drawn(20)}",
    "stripe": f"sk_live_{drawn(24)}",
    "aws": f"AKIA{drawn(16, string.ascii_uppercase + string.digits)}",
    "aws session": f"ASIA{drawn(16, string.ascii_uppercase + string.digits)}",
    "github": f"ghp_{drawn(36)}",
    "github fine": f"github_pat_{drawn(22)}_{drawn(59)}",
    "gitlab": f"glpat-{drawn(20)}",
    "slack": f"xoxb-{drawn(12, string.digits)}-{drawn(24)}",
    "slack app": f"xapp-1-{drawn(20)}",
    "google": f"AIza{drawn(35)}",
    "hugging face": f"hf_{drawn(34)}",
    "npm": f"npm_{drawn(36)}",
    "pypi": f"pypi-AgEI{drawn(60)}",
    "jwt": JWT,
    "pem": PEM,
}


@pytest.mark.parametrize("name", CREDENTIALS)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("the key is ", ", use it"),
        ("'", "'"),
        ('{"x": "', '"}'),
        ("line one\n", "\nline three"),
        ("line one\\n", "\\nline three"),
        ("Fehler für: ", " — schlüssel"),
        ("curl https://example.com/?q=", "&page=2"),
        ("\ud800 ", " \udfff"),
    ],
    ids=["alone", "prose", "quoted", "json", "lines", "escaped", "umlauts", "query", "surrogates"],
)
def test_a_known_credential_is_taken_out_wherever_it_stands(engine, name, before, after):
    assert without_credentials(before + CREDENTIALS[name] + after) == f"{before}<redacted>{after}"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"Authorization: Bearer {drawn(30)}", "Authorization: Bearer <redacted>"),
        ("bearer  abc.def-ghi_123=", "bearer  <redacted>"),
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: <redacted>"),
        ('{"authorization": "Basic dXNlcjpwYXNz"}', '{"authorization": <redacted>}'),
        ("Cookie: sid=31d4; theme=dark\r\nHost: x", "Cookie: <redacted>\r\nHost: x"),
        ("postgres://bob:p@ss:w@db:5432/x", "postgres://bob:<redacted>@db:5432/x"),
        ("https://0123456789abcdef0123@git.example/x", "https://<redacted>@git.example/x"),
        ("password=hunter2", "password=<redacted>"),
        ("PASSWORD = hunter2;", "PASSWORD = <redacted>;"),
        ("api_key='my secret phrase' is wrong", "api_key=<redacted> is wrong"),
        ('{"password": "hun\\"ter2", "x": 1}', '{"password": <redacted>, "x": 1}'),
        ('{\\"password\\": \\"hunter2\\"}', '{\\"password\\": <redacted>\\"}'),
        ("https://x.example/?access_token=abc123&y=1", "https://x.example/?access_token=<redacted>&y=1"),
        ("{'client_secret': 's3cr3t'}", "{'client_secret': <redacted>}"),
        ("password='never closed", "password=<redacted>"),
        ("-----BEGIN PRIVATE KEY-----\nnever closed", "<redacted>"),
        (f"two: {CREDENTIALS['aws']} {CREDENTIALS['github']}", "two: <redacted> <redacted>"),
    ],
)  # fmt: skip
def test_secrets_in_the_usual_phrases_are_taken_out(engine, text, kept):
    assert without_credentials(text) == kept
    assert without_credentials(kept) == kept


@pytest.mark.parametrize(
    "text",
    [
        "Please refund order A17 of 12.50 EUR to bob@example.com today.",
        "task-management-of-many-things-all-day-long",
        "risk-adjusted-return-of-the-portfolio",
        "max_tokens: 512, token_count=17, tokens used: 20",
        "The Secretary: Mrs. Smith. The author: Bob.",
        "see https://example.com/a/b?page=2#top and ssh://git@github.com/x/y.git",
        "sha256:ba2df4903a2c14e86dc3bcca58911b44ac1d2514b7227bf6eb08cfb978f55a1b",
        "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        "the bearer of this letter",
        "eyJust a word",
        "Asia and AKIA are words; xox too, and ghost_writer",
        'def f(key): return {"key": key, "keys": [1, 2]}',
        "SELECT * FROM tokens WHERE id = 7",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        "Ein Schlüssel: A17",
    ],
)
def test_ordinary_text_is_left_alone(engine, text):
    assert without_credentials(text) is text


@pytest.mark.parametrize(
    "part",
    [
        "eyJ",
        "eyJ-",
        "eyJabcdef.",
        "eyJabcdef.abcdef.",
        "sk-",
        "sk-a ",
        "\\nsk-",
        "ghp_",
        "xox",
        "://",
        "://a:",
        "://a:b",
        "://a@",
        "password=",
        "password='",
        'password="\\',
        "password\\\\\\",
        "password: \\'",
        "authorization: a ",
        "cookie:",
        "bearer ",
        "bearer",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN ",
        "AKIA",
        "AIza",
        "secret" + " " * 50,
        "a",
        "-",
        " ",
        '"',
        "\\",
    ],
)
def test_no_text_takes_long(monkeypatch, part):
    """With the backtracking engine, on four times as much text as is ever looked at."""
    monkeypatch.setitem(sys.modules, "re2", None)
    secrets._compiled.cache_clear()
    anchors = " ".join(pattern.anchors[0] for pattern in secrets._PATTERNS) + " -_@:.=\t"
    text = part * (32_768 // len(part)) + anchors
    begin = time.process_time()
    without_credentials(text)
    assert time.process_time() - begin < 1
    secrets._compiled.cache_clear()


@pytest.mark.requirement("redact:point:one")
def test_the_values_of_secret_variables_are_secrets():
    environ = {
        "OPENAI_API_KEY": "longest-value-of-all",
        "my_token": 'quote " and\nline',
        "DB_PASSWORD": "p@ss/word",
        "SHORT_KEY": "short",
        "KEYBOARD": "qwertyuiop",
        "HOME": "~somebody",
    }
    assert environment_secrets(environ) == (
        "quote%20%22%20and%0Aline",
        "longest-value-of-all",
        'quote \\" and\\nline',
        'quote " and\nline',
        "p%40ss%2Fword",
        "p@ss/word",
    )
