"""Questions that come one after the other: each is answered at once, and what is known of the earlier ones counts."""

from __future__ import annotations

from typing import Any

from . import _types
from ._convert import decode_line, encode, encode_line
from ._errors import error_of, raise_for
from ._native import Session


class Stream:
    """A stream of lines behind a first one. A line that is at fault raises BadInput and changes nothing: the stream goes on."""

    _subcommand: str
    _answers: tuple[type, ...]

    def __init__(self, first: Any) -> None:
        self._kinds = first.kinds
        self._session = Session(self._subcommand)
        #: The answers to the first line: none but in simulations.
        self.first = self._answered(self._session.call(encode(first)))

    def send(self, line: Any) -> list[Any]:
        """The answers to a line, which may be none."""
        return self._answered(self._session.call(encode_line(line, self._kinds)))

    def close(self) -> list[Any]:
        """Ends the stream, and returns what it answers last."""
        return self._answered(self._session.close())

    def abandon(self) -> None:
        """Ends the stream, whatever it would still answer."""
        self._session.close()

    def _answered(self, answer: tuple[int, bytes]) -> list[Any]:
        raise_for(*answer)
        lines = [decode_line(text, self._answers) for text in answer[1].splitlines()]
        for line in lines:
            if isinstance(line, _types.Refusal):
                raise error_of({"error": line.error, "faults": [vars(f) for f in line.faults or []]})
        return lines

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class OASiS(Stream):
    """Which job is admitted, on which schedule of slots: a Horizon first, then jobs and what becomes of them.

    Without bounds in the Horizon they are taken from all jobs, so that all answers come with close.
    """

    _subcommand, _answers = "oasis", _types.OASIS_OUTPUT


class FlowCon(Stream):
    """Who still profits from resources on one worker: a Worker first, then a Sample of a container, an Exit, a Tick."""

    _subcommand, _answers = "flowcon", _types.FLOWCON_OUTPUT


class SpeCon(Stream):
    """Who moves to which worker: a Cluster first, then a WorkerSample of a container, an Exit, a Tick."""

    _subcommand, _answers = "specon", _types.SPECON_OUTPUT
