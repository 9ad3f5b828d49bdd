"""The one point where secrets are taken out, before anything is serialised.

Records, errors and reports pass here. It fails closed: where redaction itself fails, the
value is withheld. It also bounds what one record can hold.
"""

import functools
import os
from collections.abc import Iterable, Mapping
from time import monotonic
from typing import Any

from hornbook.canon import JSON, WITHHELD, Rules, cut_of, digest, encode

__all__ = ["FAILED", "Redactor", "default", "recordable", "redact", "redact_text"]

FAILED = "<redaction failed>"
"""What stands where redaction itself failed."""

_MARGIN = 4096
"""Characters looked at beyond what is kept, so that the cut never splits a secret."""
_FRESH_SECONDS = 1.0
"""How long what was read from the environment counts."""


class Redactor(Rules):
    """Takes secrets out of values, and bounds them.

    Withheld are what stands under a key that names a secret, text shaped like a known
    credential, and the values of environment variables named `*_KEY`, `*_TOKEN`, `*_SECRET`
    or `*PASSWORD`. A pydantic SecretStr says nothing by itself.
    """

    def __init__(
        self,
        *,
        keys: Iterable[str] = (),
        environ: Mapping[str, str] | None = None,
        max_text: int = 4096,
        max_items: int = 256,
        max_nodes: int = 10_000,
    ) -> None:
        """Make one.

        Args:
            keys: names of keys to withhold besides the usual ones.
            environ: where secret variables are; the process's environment, by default.
            max_text: characters of one text that are kept.
            max_items: items of one collection that are kept.
            max_nodes: items in all.
        """
        from hornbook.trace import secrets

        super().__init__()
        self._shortest = secrets.SHORTEST
        self.max_items = max_items
        self.max_nodes = max_nodes
        self._max_text = max_text
        self._keys = tuple(sorted(keys))
        self._denied = secrets.key_test(self._keys)
        self._without_credentials = secrets.without_credentials
        self._shapes = secrets.sources()
        self._environ = os.environ if environ is None else environ
        self._secrets: tuple[str, ...] = ()
        self._due = 0.0

    @functools.cached_property
    def policy(self) -> str:
        """An id of what is taken out: equal exactly for equal rules."""
        limits = [self._max_text, self.max_items, self.max_nodes]
        return f"hornbook-1/{digest([self._keys, limits, self._shapes])[7:19]}"

    def redact(self, value: object) -> JSON:
        """Return `value` as plain JSON without its secrets; never raises."""
        try:
            if monotonic() >= self._due:
                self._refresh()
            return encode(value, self)
        # Whatever goes wrong here, the value must neither get out nor harm the step.
        except Exception:  # noqa: BLE001
            return FAILED

    def record(self, data: Mapping[str, Any]) -> dict[str, JSON]:
        """Return the data of an event as a record holds it."""
        kept = self.redact(data)
        return kept if isinstance(kept, dict) else {"data": kept}

    def redact_text(self, text: str, limit: int | None = None) -> str:
        """Return `text` without its secrets, cut to `limit` characters; never raises."""
        try:
            if monotonic() >= self._due:
                self._refresh()
        # As in `redact`.
        except Exception:  # noqa: BLE001
            return FAILED
        kept = self.text(text)
        if limit is None or len(kept) <= limit or kept is FAILED:
            return kept
        return cut_of(kept[:limit], len(text))

    def text(self, text: str) -> str:
        """Return what is written in place of `text`."""
        if len(text) < self._shortest or text in self.known:
            return text
        try:
            looked_at = text[: self._max_text + _MARGIN]
            for secret in self._secrets:
                looked_at = looked_at.replace(secret, WITHHELD)
            kept = self._without_credentials(looked_at)
            if len(text) <= self._max_text:
                return kept
            return cut_of(kept[: self._max_text], len(text))
        # As in `redact`.
        except Exception:  # noqa: BLE001
            return FAILED

    def denies(self, key: str) -> bool:
        """Whether what stands under `key` is withheld."""
        try:
            return key not in self.plain_keys and self._denied(key)
        # As in `redact`.
        except Exception:  # noqa: BLE001
            return True

    def _refresh(self) -> None:
        """Read the environment again now and then: a program may set its keys late."""
        from hornbook.trace.secrets import environment_secrets

        secrets = environment_secrets(self._environ)
        if secrets != self._secrets:
            self._secrets = secrets
            self.known.clear()
            self.plain_keys.clear()
        self._due = monotonic() + _FRESH_SECONDS


def default() -> Redactor:
    """Return the redactor of this process, with the keys that the configuration adds.

    Raises:
        ConfigError: the configuration cannot be used.
    """
    from hornbook.config import load

    return _of_keys(load().redact_keys)


def redact(value: object) -> JSON:
    """Return `value` as plain JSON without its secrets; never raises."""
    try:
        return default().redact(value)
    # As in `Redactor.redact`; a configuration that cannot be read withholds as well.
    except Exception:  # noqa: BLE001
        return FAILED


def redact_text(text: str, limit: int | None = None) -> str:
    """Return `text` without its secrets, cut to `limit` characters; never raises."""
    try:
        return default().redact_text(text, limit)
    # As above.
    except Exception:  # noqa: BLE001
        return FAILED


def recordable(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of an event as a record holds it."""
    try:
        return default().record(data)
    # As above.
    except Exception:  # noqa: BLE001
        return {"data": FAILED}


@functools.lru_cache(maxsize=8)
def _of_keys(keys: tuple[str, ...]) -> Redactor:
    return Redactor(keys=keys)
