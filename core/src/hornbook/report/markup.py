"""Markup that cannot be broken out of: every text is escaped where it becomes markup.

Characters that a reader cannot see (controls, direction overrides, lone surrogates, zero
widths) are shown by their code point, because a report must not look other than it is.
"""

import html
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hornbook.report.data import Lines, Tone

__all__ = ["Markup", "badge", "clip", "definitions", "join", "tag", "visible", "width_of"]

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
)
_WIDE = re.compile(
    "[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60\U0001f000-\U0003fffd]"
)
# HTML elements that have no end tag; everything else here is closed.
_VOID = frozenset({"br", "link", "meta", "input"})


@dataclass(frozen=True, slots=True)
class Markup:
    """HTML or SVG that is already safe. Only `tag`, `join` and this package's assets make it."""

    text: str


def visible(text: str) -> str:
    """Give the text with each character that cannot be seen as its code point, `[U+202E]`."""
    return _UNSEEN.sub(lambda found: f"[U+{ord(found[0]):04X}]", text)


def width_of(text: str) -> int:
    """Tell how many narrow characters the text is wide, about."""
    return len(text) + len(_WIDE.findall(text))


def clip(text: str, width: int) -> str:
    """Give one line of at most `width` narrow characters; what was cut off ends in an ellipsis."""
    # Four times is enough for the longest form of a hidden character; a megabyte is not walked.
    line = visible(" ".join(text[: 4 * width].split()))
    if len(text) <= 4 * width and width_of(line) <= width:
        return line
    while width_of(line) >= width:
        line = line[:-1]
    return line + "…"


def _escaped(child: "str | Markup") -> str:
    return child.text if isinstance(child, Markup) else html.escape(visible(child))


def _attribute(name: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = name.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{html.escape(visible(str(value)))}"'


def tag(name: str, /, *children: str | Markup, **attributes: str | float | bool | None) -> Markup:
    """Make an element.

    Args:
        name: the element's name.
        children: texts, which are escaped, and markup, which is not.
        attributes: `class_` and `aria_label` stand for `class` and `aria-label`; None and
            False leave the attribute out, True gives it no value.
    """
    start = name + "".join(_attribute(*item) for item in attributes.items())
    if name in _VOID:
        return Markup(f"<{start}>")
    return Markup(f"<{start}>{''.join(map(_escaped, children))}</{name}>")


def join(children: Iterable[str | Markup]) -> Markup:
    """Put texts and markup one after another."""
    return Markup("".join(map(_escaped, children)))


def badge(text: str, tone: Tone = "plain") -> Markup:
    """Make a short word that stands out by its tone; the word alone must say it too."""
    return tag("span", text, class_=f"badge {tone}")


def definitions(*details: Mapping[str, Lines | tuple[Markup, ...]]) -> Markup:
    """Make a list of terms and what they are; nothing where there are none."""
    items = [item for detail in details for item in detail.items()]
    rows = (tag("div", tag("dt", term), tag("dd", _lines(told))) for term, told in items)
    return tag("dl", *rows) if items else Markup("")


def _lines(told: Lines | tuple[Markup, ...]) -> Markup:
    if isinstance(told, str):
        return tag("span", told, class_="value")
    return tag("ul", *(tag("li", line, class_="value") for line in told))
