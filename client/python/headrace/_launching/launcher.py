"""The interface of a launcher: the part of a service that differs between engines."""

from __future__ import annotations

import abc

from .server import ServerPlan


class Launcher(abc.ABC):
    """Places of an engine, by name. A place owns the process of one server, which ends with the place. The engine
    decides where the places are, which resources they may use, and whether they are started again after a loss.
    """

    @abc.abstractmethod
    def start(self, place: str, plan: ServerPlan) -> None:
        """Requests the engine to start a server in a new place. Does not wait for it."""

    @abc.abstractmethod
    def address(self, place: str, timeout: float) -> str:
        """The ``host:port`` of the server in that place, when it listens. Raises ``OpError`` if it does not listen
        within `timeout` seconds.
        """

    @abc.abstractmethod
    def stop(self, place: str) -> None:
        """Ends the server in that place and returns the place to the engine. Does nothing if there is no such place."""

    @abc.abstractmethod
    def places(self) -> list[str]:
        """The names of the existing places."""

    def why_missing(self) -> str:
        """A sentence with the reason why a place may not have been started, for an error; may be empty."""
        return ""
