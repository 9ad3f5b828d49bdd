"""Small tools with state: files, travel, a telephone line, music and a shop.

The worked scenarios beside this file play turns over them:

    hornbook verify --scenarios examples/worked
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hornbook.kernel import Prerequisite, ToolSpec
from hornbook.kernel.worked import worked

Made = tuple[Sequence[ToolSpec], Mapping[str, Callable[..., Any]]]


class Files:
    """A small file system."""

    def __init__(self) -> None:
        self.here = ""
        self.files = {
            "archive/report.txt": "revenue grew in spring",
            "release_notes.txt": "version 2",
        }

    def _path(self, name: str) -> str:
        return f"{self.here}/{name}" if self.here else name

    def cd(self, folder: str) -> dict[str, str]:
        """Go into a folder."""
        self.here = self._path(folder)
        return {"current": self.here}

    def cp(self, source: str, destination: str) -> str:
        """Copy a file into a folder."""
        self.files[self._path(f"{destination}/{source}")] = self.files[self._path(source)]
        return "copied"

    def mv(self, source: str, destination: str) -> str:
        """Rename a file."""
        self.files[self._path(destination)] = self.files.pop(self._path(source))
        return "renamed"

    def grep(self, file_name: str, pattern: str) -> list[str]:
        """Find the lines of a file that have a pattern."""
        return [line for line in self.files[self._path(file_name)].splitlines() if pattern in line]


class Travel:
    """Flights, reservations and a navigation system."""

    def __init__(self) -> None:
        born = {"first_name": "Ethan", "last_name": "Nguyen", "dob": "1998-08-02"}
        self.reservations = {"G2LTC4": [born]}
        self.destination = ""

    def get_nearest_airport_by_city(self, city: str) -> dict[str, str]:
        """Find the airport nearest to a city."""
        return {"nearest_airport": {"Miami": "MIA", "New York": "JFK"}[city]}

    def get_reservation_details(self, reservation_id: str) -> dict[str, Any]:
        """Look a reservation up."""
        return {"passengers": self.reservations[reservation_id]}

    def update_reservation_passengers(
        self, reservation_id: str, passengers: list[dict[str, str]]
    ) -> dict[str, Any]:
        """Change the passengers of a reservation."""
        self.reservations[reservation_id] = passengers
        return {"updated": True}

    def set_navigation(self, destination: str) -> str:
        """Set where the car goes to."""
        self.destination = destination
        return destination

    def navigate(self) -> str:
        """Begin to navigate."""
        return f"on the way to {self.destination}"


class Services:
    """A telephone line, music and a shop."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def enable_roaming(self, line: str) -> str:
        """Enable roaming on a line."""
        return f"roaming on {line}"

    def refuel_data(self, line: str, gigabytes: int) -> str:
        """Add mobile data to a line."""
        return f"{gigabytes} GB on {line}"

    def toggle_airplane_mode(self) -> str:
        """Switch airplane mode."""
        return "switched"

    def play(self, artist: str, duration: int) -> str:
        """Play an artist for some minutes."""
        return f"{artist} for {duration} minutes"

    def exchange_items(self, item_ids: list[str], new_item_ids: list[str]) -> str:
        """Exchange delivered items for others."""
        return f"{item_ids} for {new_item_ids}"


def files() -> Made:
    """Tools over a fresh file system."""
    disk = Files()
    found = [
        ToolSpec.of(
            disk.cd,
            prerequisites=[Prerequisite(key="archive", message="the folder was made")],
            effects=["folder"],
        ),
        ToolSpec.of(disk.cp),
        ToolSpec.of(disk.mv),
        ToolSpec.of(disk.grep, read_only=True),
    ]
    return found, {spec.name: getattr(disk, spec.name) for spec in found}


def travel() -> Made:
    """Tools over fresh reservations."""
    desk = Travel()
    signed_in = Prerequisite(key="authenticated", sat=_is_true)
    loaded = Prerequisite(key="passengers", message="the reservation was looked up")
    there = Prerequisite(key="destination_set", setup="set_navigation")
    found = [
        ToolSpec.of(desk.get_nearest_airport_by_city, read_only=True, prerequisites=[signed_in]),
        ToolSpec.of(desk.get_reservation_details, read_only=True, effects=["passengers"]),
        ToolSpec.of(desk.update_reservation_passengers, prerequisites=[loaded]),
        ToolSpec.of(desk.set_navigation, effects=["destination_set"]),
        ToolSpec.of(desk.navigate, prerequisites=[there]),
    ]
    return found, {spec.name: getattr(desk, spec.name) for spec in found}


def services() -> Made:
    """The other tools."""
    one = Services()
    names = ("enable_roaming", "refuel_data", "toggle_airplane_mode", "play", "exchange_items")
    return [ToolSpec.of(getattr(one, name)) for name in names], {
        name: getattr(one, name) for name in names
    }


def _is_true(value: object) -> bool:
    return value is True


on_files = worked(files, name="files")
on_travel = worked(travel, name="travel")
on_services = worked(services, name="services")
