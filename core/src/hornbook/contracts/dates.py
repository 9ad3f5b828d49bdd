"""Dates and times as they are written in text, compared by the day and time they mean.

Known are ISO 8601, numbers parted by dots, dashes or slashes in whichever order of day and
month is possible, and English names of months. A year belongs to a date: `30 November`
alone stands for one only where a part is asked for.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import TypeAlias

from hornbook.contracts.normalized import NormalText

__all__ = ["Moment", "find_moment", "moment_of", "read_moment"]

_Place: TypeAlias = tuple[int, int]

_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_MONTH = rf"(?P<month>{'|'.join(f'{name[:3]}(?:{name[3:]})?' for name in _MONTHS)}|sept)\b\.?"
_DAY = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?(?![0-9])"
_YEAR = r"(?P<year>[0-9]{4}|'[0-9]{2})(?!\w)"
_ENDS = r"(?!\w|[-/.][0-9])"
_BEGINS = r"(?<!\w)(?<![0-9][-/.])"

_DAY_FORMS = tuple(
    re.compile(form)
    for form in (
        rf"{_BEGINS}(?P<y>[0-9]{{4}})([-/.])(?P<m>[0-9]{{1,2}})\2(?P<d>[0-9]{{1,2}})"
        r"(?:(?=t[0-9])|(?!\w|[-/.][0-9]))",
        rf"{_BEGINS}(?P<y>[0-9]{{4}})(?P<m>[0-9]{{2}})(?P<d>[0-9]{{2}})(?:(?=t[0-9])|(?!\w))",
        rf"{_BEGINS}(?P<a>[0-9]{{1,2}})([-/.])(?P<b>[0-9]{{1,2}})\2"
        rf"(?P<year>[0-9]{{4}}|[0-9]{{2}}){_ENDS}",
        rf"(?<!\w){_DAY}(?:\.?\s|[-./])?(?:of\s)?{_MONTH}(?:(?:,\s?|\s|[-/]){_YEAR})?(?!\w)",
        rf"(?<!\w){_MONTH}(?:\s|[-/])?(?:the\s)?{_DAY}(?:(?:,\s?|\s|[-/]){_YEAR})?(?!\w)",
        rf"(?<!\w){_YEAR}(?:,\s?|\s|[-/]){_MONTH}(?:\s|[-/]){_DAY}(?!\w)",
    )
)
_OFFSET = r"(?P<{}>[-+](?:[01][0-9]|2[0-3]):?[0-5][0-9])?"
_CLOCK = re.compile(
    r"(?:(?<![\w:.])|(?P<iso>(?<=[0-9]t)))(?P<hour>[0-9]{1,2})(?:[:h](?P<minute>[0-9]{2})"
    r"(?::(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,6}))?)?)?"
    r"(?:\s?(?P<half>[ap])\.?m\b\.?)?(?P<utc>\s?(?:z|utc)\b)?"
    # Elsewhere two times with a dash between are a range: 10:00-12:00.
    rf"(?(iso){_OFFSET.format('after_t')}|(?(second){_OFFSET.format('after_seconds')}))(?![\w:])"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A day, a time of day, or both."""

    day: date | None = None
    clock: time | None = None
    """Aware where a zone is known."""

    @property
    def instant(self) -> datetime | None:
        """The point in time, where day, time and zone are known."""
        if self.day is None or self.clock is None or self.clock.tzinfo is None:
            return None
        return datetime.combine(self.day, self.clock)


@dataclass(frozen=True, slots=True)
class _Dated:
    place: _Place
    days: tuple[date, ...]
    """What it may mean: two, where day and month can be told either way round."""
    has_year: bool = True


@dataclass(frozen=True, slots=True)
class _Timed:
    place: _Place
    clock: time


@dataclass(frozen=True, slots=True)
class _Moments:
    days: dict[date, _Place] = field(default_factory=dict[date, _Place])
    yearless: dict[tuple[int, int], _Place] = field(default_factory=dict[tuple[int, int], _Place])
    clocks: dict[time, _Place] = field(default_factory=dict[time, _Place])
    """Of any zone, by what the clock shows."""
    local: dict[time, _Place] = field(default_factory=dict[time, _Place])
    """Those that name no zone."""
    instants: dict[datetime, _Place] = field(default_factory=dict[datetime, _Place])


def moment_of(value: date | time) -> Moment:
    """The moment of a date, datetime or time; midnight adds nothing to a day."""
    if isinstance(value, time):
        return Moment(clock=value)
    if not isinstance(value, datetime):
        return Moment(day=value)
    clock = value.timetz()
    return Moment(day=value.date(), clock=None if clock == time() else clock)


def read_moment(text: str) -> Moment | None:
    """The moment that a normal text is; None where it is none, or more than one."""
    dated = next(_dated(text), None)
    if dated is None or dated.place[0] or not dated.has_year:
        return None
    day, *others = dated.days
    end = dated.place[1]
    if others:
        return None
    if end == len(text):
        return Moment(day=day)
    timed = next(_timed(text), None)
    if timed is None or timed.place != (end + 1, len(text)) or text[end] not in "t ":
        return None
    return Moment(day=day, clock=timed.clock)


def find_moment(moment: Moment, text: NormalText, *, partial: bool) -> tuple[_Place, ...] | None:
    """Where in `text` the day and the time stand; a day without a year only if `partial`."""
    known = text.derived(_index)
    if moment.instant is not None and moment.instant in known.instants:
        return (known.instants[moment.instant],)
    places: list[_Place | None] = []
    if moment.day is not None:
        place = known.days.get(moment.day)
        if place is None and partial:
            place = known.yearless.get((moment.day.month, moment.day.day))
        places.append(place)
    if moment.clock is not None:
        # What the text says of another zone is another time.
        clocks = known.clocks if moment.clock.tzinfo is None else known.local
        places.append(clocks.get(moment.clock.replace(tzinfo=None)))
    found = tuple(place for place in places if place is not None)
    return found if len(found) == len(places) else None


def _index(text: NormalText) -> _Moments:
    known = _Moments()
    ends: dict[int, _Dated] = {}
    for dated in _dated(text.text):
        ends[dated.place[1]] = dated
        for day in dated.days:
            if dated.has_year:
                known.days.setdefault(day, dated.place)
            known.yearless.setdefault((day.month, day.day), dated.place)
    for timed in _timed(text.text):
        clock = timed.clock.replace(tzinfo=None)
        known.clocks.setdefault(clock, timed.place)
        if timed.clock.tzinfo is None:
            known.local.setdefault(clock, timed.place)
        dated = ends.get(timed.place[0] - 1)
        if dated is not None and dated.has_year and timed.clock.tzinfo is not None:
            place = (dated.place[0], timed.place[1])
            for day in dated.days:
                known.instants.setdefault(datetime.combine(day, timed.clock), place)
    return known


def _dated(text: str) -> Iterator[_Dated]:
    for form in _DAY_FORMS:
        for found in form.finditer(text):
            named = found.groupdict()
            days = tuple(dict.fromkeys(_days(named)))
            if days:
                has_year = "y" in named or named["year"] is not None
                yield _Dated(found.span(), days, has_year)


def _days(named: dict[str, str | None]) -> Iterator[date]:
    year = _year(named.get("y") or named.get("year"))
    match named:
        case {"y": str(), "m": str(month), "d": str(day)}:
            yield from _day(year, int(month), int(day))
        case {"a": str(first), "b": str(second)}:
            yield from _day(year, int(second), int(first))
            yield from _day(year, int(first), int(second))
        case {"month": str(month), "day": str(day)}:
            number = next(at for at, name in enumerate(_MONTHS, 1) if name[:3] == month[:3])
            yield from _day(year, number, int(day))
        case _:
            pass


def _year(text: str | None) -> int:
    """The year of four digits or two; a leap year where none is told."""
    if text is None:
        return 2000
    number = int(text.removeprefix("'"))
    if len(text) == 4:
        return number
    return number + (2000 if number < 69 else 1900)


def _day(year: int, month: int, day: int) -> Iterator[date]:
    try:
        yield date(year, month, day)
    except ValueError:
        return


def _timed(text: str) -> Iterator[_Timed]:
    for found in _CLOCK.finditer(text):
        hour, half = int(found["hour"]), found["half"]
        if found["minute"] is None and half is None:
            continue
        if half is not None:
            hour = hour % 12 + (12 if half == "p" else 0)
        fraction = int((found["fraction"] or "0").ljust(6, "0"))
        try:
            clock = time(hour, int(found["minute"] or 0), int(found["second"] or 0), fraction)
        except ValueError:
            continue
        zone = UTC if found["utc"] else _zone(found["after_t"] or found["after_seconds"])
        yield _Timed(found.span(), clock.replace(tzinfo=zone))


def _zone(text: str | None) -> timezone | None:
    if text is None:
        return None
    digits = text[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if text[0] == "-" else offset)
