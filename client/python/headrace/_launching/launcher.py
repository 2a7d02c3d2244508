"""What a launcher does for a service: the part that each engine has of its own."""

from __future__ import annotations

import abc

from .server import ServerPlan


class Launcher(abc.ABC):
    """Places of an engine, by name. A place owns one server's process, which does not outlive it. Where they are, what they
    may use, and whether they come again after a loss is the engine's.
    """

    @abc.abstractmethod
    def start(self, place: str, plan: ServerPlan) -> None:
        """Has the engine start a server in a new place. Does not wait for it."""

    @abc.abstractmethod
    def address(self, place: str, timeout: float) -> str:
        """``host:port`` of the server in that place, once it listens. Raises ``OpError`` if it does not within `timeout`
        seconds.
        """

    @abc.abstractmethod
    def stop(self, place: str) -> None:
        """Ends the server in that place and gives the place back to the engine. Nothing if there is no such place."""

    @abc.abstractmethod
    def places(self) -> list[str]:
        """The names of the places that there are."""

    def why_missing(self) -> str:
        """A sentence on why a place may not come, for an error; may be empty."""
        return ""
