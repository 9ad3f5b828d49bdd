"""A factory of rules that are well formed, but for what a test changes."""

from collections.abc import Callable
from typing import Any

import pytest

from hornbook.rules import LearnedRule, Provenance, Scope, SymbolicForm

MakeRule = Callable[..., LearnedRule]


@pytest.fixture(scope="session")
def make_rule() -> MakeRule:
    def make(
        rule_id: str = "r1",
        text: str = "If the order is unknown, then look the customer up first.",
        status: str = "approved",
        created: str | None = None,
        **form: Any,
    ) -> LearnedRule:
        defaults: dict[str, Any] = {
            "domain": "ORDERS",
            "action": ("LOOK_UP_FIRST",),
            "error": "dec",
        }
        if "tools" in form:
            form["scope"] = Scope(tools=form.pop("tools"))
        if "category" in form:
            form["scope"] = Scope(category=form.pop("category"))
        return LearnedRule(
            id=rule_id,
            text=text,
            status=status,  # type: ignore[arg-type]
            symbolic=SymbolicForm(**(defaults | form)),
            provenance=Provenance(created=created),
        )

    return make
