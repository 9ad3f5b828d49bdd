"""One static HTML file from panels: no server, no fetch, nothing that runs but our own script.

The markup is complete as written, so that the page reads without JavaScript; scripts only
sort, filter and show one thing at a time. A content security policy names every style and
script by its hash and forbids all else. The same data stands in the page as JSON, for
programs.
"""

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import chain
from typing import Any, Protocol

from hornbook.errors import DefinitionError
from hornbook.report.markup import Markup, tag

__all__ = ["Asset", "Panel", "Setting", "asset", "page"]

_POLICY = (
    "default-src 'none'; style-src {styles}; script-src {scripts}; base-uri 'none';"
    " form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
_UNSAFE_IN_JSON = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\x7f": "\\u007f"}
# What could end the element or change how the browser reads it.
_UNSAFE_IN_ASSET = re.compile(r"</(?:script|style)|<!--|<script|\r", re.IGNORECASE)
_ROUND = re.compile(r"#\d+")


@dataclass(frozen=True, slots=True)
class Asset:
    """A style sheet or script that a panel needs, `name.css` or `name.js`, and its text."""

    name: str
    text: str

    def __post_init__(self) -> None:
        if not self.name.endswith((".css", ".js")):
            raise DefinitionError(f"asset {self.name!r} is neither .css nor .js")
        if found := _UNSAFE_IN_ASSET.search(self.text):
            raise DefinitionError(
                f"asset {self.name!r} contains {found[0]!r}, which ends its element"
            )

    @property
    def source(self) -> str:
        """How the policy names it: the hash of its text."""
        digest = hashlib.sha256(self.text.encode()).digest()
        return f"'sha256-{base64.b64encode(digest).decode()}'"


@cache
def asset(name: str) -> Asset:
    """Read one of this package's own assets."""
    file = resources.files("hornbook.report") / "assets" / name
    return Asset(name, file.read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a panel stands: what its ids start with, and which places the page has."""

    number: int
    anchors: Mapping[str, str]

    def id_of(self, nth: int) -> str:
        """Give the element id of this panel's nth place."""
        return f"place-{self.number}-{nth}"

    def link(self, place: str) -> Markup:
        """Show a place, as a link if some panel of the page shows what stands there.

        All rounds of a loop are one place: the one that is shown, the first, or none named.
        """
        for each in (place, _ROUND.sub("#1", place), _ROUND.sub("", place)):
            if each in self.anchors:
                return tag("a", place, class_="place", href=f"#{self.anchors[each]}")
        return tag("span", place, class_="place")


class Panel(Protocol):
    """A part of a page: its markup, the data behind it and the assets it needs."""

    @property
    def title(self) -> str:
        """The panel's heading."""
        ...

    def assets(self) -> Sequence[Asset]:
        """The style sheets and scripts it needs; panels that need the same one share it."""
        ...

    def places(self) -> Sequence[str]:
        """The places it shows; the nth is the element with the id `setting.id_of(n)`."""
        ...

    def render(self, setting: Setting) -> Markup:
        """The markup below its heading, complete without any script."""
        ...

    def data(self) -> Any:
        """What it shows, as JSON values."""
        ...


def page(title: str, panels: Sequence[Panel], *, subtitle: str | None = None) -> str:
    """Make one HTML file of the panels, in order.

    The text holds no lone surrogate, whatever the data, so it can be written as UTF-8;
    equal input gives equal text.

    Raises:
        DefinitionError: an asset could break out of its element.
    """
    assets = _assets(panels)
    styles = [each for each in assets if each.name.endswith(".css")]
    scripts = [each for each in assets if each.name.endswith(".js")]
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(styles, scripts)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        *(tag("style", Markup(each.text)) for each in styles),
    )
    body = tag(
        "body",
        *_content(title, subtitle, panels),
        _data_block({"title": title, "subtitle": subtitle, "panels": _data_of(panels)}),
        *(tag("script", Markup(each.text)) for each in scripts),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en').text}\n"


def _assets(panels: Sequence[Panel]) -> list[Asset]:
    own = (asset("page.css"), asset("page.js"))
    wanted = chain(own, chain.from_iterable(panel.assets() for panel in panels))
    return list(dict.fromkeys(wanted))


def _policy(styles: Sequence[Asset], scripts: Sequence[Asset]) -> str:
    return _POLICY.format(
        styles=" ".join(each.source for each in styles),
        scripts=" ".join(each.source for each in scripts),
    )


def _content(title: str, subtitle: str | None, panels: Sequence[Panel]) -> tuple[Markup, ...]:
    return (
        tag("a", "Skip to the report", class_="skip", href="#report"),
        tag("header", tag("h1", title), tag("p", subtitle) if subtitle else "", _contents(panels)),
        tag("main", *_sections(panels), id="report", tabindex=-1),
        tag("footer", tag("p", "Written by Hornbook. This file loads nothing and sends nothing.")),
    )


def _contents(panels: Sequence[Panel]) -> Markup:
    if len(panels) < 2:
        return Markup("")
    links = (tag("a", each.title, href=f"#panel-{n}") for n, each in enumerate(panels))
    return tag("nav", tag("ul", *(tag("li", link) for link in links)), aria_label="Parts")


def _sections(panels: Sequence[Panel]) -> list[Markup]:
    anchors: dict[str, str] = {}
    settings = [Setting(number, anchors) for number in range(len(panels))]
    for setting, panel in zip(settings, panels, strict=True):
        for nth, place in enumerate(panel.places()):
            anchors.setdefault(place, setting.id_of(nth))
    return [_section(*pair) for pair in zip(settings, panels, strict=True)]


def _section(setting: Setting, panel: Panel) -> Markup:
    number = f"panel-{setting.number}"
    heading = tag("h2", panel.title, id=f"{number}-title")
    return tag(
        "section", heading, panel.render(setting), id=number, aria_labelledby=f"{number}-title"
    )


def _data_of(panels: Sequence[Panel]) -> list[Any]:
    return [
        {"panel": type(panel).__name__, "title": panel.title, "data": panel.data()}
        for panel in panels
    ]


def _data_block(data: Any) -> Markup:
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for unsafe, escape in _UNSAFE_IN_JSON.items():
        text = text.replace(unsafe, escape)
    return tag("script", Markup(text), type="application/json", id="data")
