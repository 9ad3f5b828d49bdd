"""Headline: notes become a headline, which is made shorter until it fits.

Two models work side by side on the same notes; the loop is bounded, so that the program ends
whatever the model does; and where no headline comes out at all, the first words of the notes
must do.

    hornbook verify examples.headline:program --scenarios examples/scenarios
"""

from pydantic import BaseModel

from hornbook import Contract, clauses
from hornbook import program as p
from hornbook.models import ScriptedModel
from hornbook.program import neural, primitive

LONGEST = 40

model = ScriptedModel([], identity="small-model")


class Notes(BaseModel):
    text: str


class Draft(BaseModel):
    headline: str


class Place(BaseModel):
    place: str


draft = neural(
    "draft",
    model,
    prompt="Write a headline for these notes:\n{text}",
    input=Notes,
    output=Draft,
    contract=Contract("draft", output=Draft, ensures=[clauses.matches("headline", r"\S.*")]),
)

where = neural(
    "where",
    model,
    prompt="Where did this happen?\n{text}",
    input=Notes,
    output=Place,
    contract=Contract("place", output=Place, ensures=[clauses.grounded("place", source="text")]),
)


@primitive
def dated(draft: Draft, where: Place) -> Draft:
    """Put the place in front, as newspapers do."""
    return Draft(headline=f"{where.place}: {draft.headline}")


shorten = neural(
    "shorten",
    model,
    prompt="Make this headline shorter:\n{headline}",
    input=Draft,
    output=Draft,
    contract=Contract("shorter", output=Draft, ensures=[clauses.matches("headline", r"\S.*")]),
)


def fits(draft: Draft) -> bool:
    return len(draft.headline) <= LONGEST


def cut(draft: Draft) -> str:
    return draft.headline[:LONGEST].rstrip()


def first_words(notes: Notes) -> str:
    return notes.text[:LONGEST].rstrip()


program = p.Fallback(
    p.Sequence(
        p.Parallel(draft, where),
        dated,
        p.Conditional(fits, cut, p.Sequence(p.Iterate(shorten, until=fits, at_most=3), cut)),
    ),
    first_words,
).named("headline")
