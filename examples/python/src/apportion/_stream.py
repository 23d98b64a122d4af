"""Questions that come one after the other: each is answered at once, and what is known of the earlier ones counts."""

from __future__ import annotations

from typing import Any, Optional

from . import _types
from ._convert import decode_line, encode, encode_line
from ._errors import error_of, raise_for
from ._native import Session


class Stream:
    """A stream of lines behind a first one. A line that is at fault raises BadInput and changes nothing: the stream goes on."""

    _subcommand: str
    _answers: tuple[type, ...]

    def __init__(self, first: Any, *flags: str) -> None:
        self._kinds = first.kinds
        self._session = Session(self._subcommand, *flags)
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


class Decisions(Stream):
    """The decisions of one scheduler, each from where the last one ended: a Problem first, then what changes in it.

    >>> import apportion
    >>> d = apportion.Decisions(apportion.Problem(kinds=["gpu"], servers=[apportion.Server("s1", [4])],
    ...     applications=[apportion.Application("a", demand=[1], max=8)], theta1=1, theta2=1))
    >>> d.change(apportion.Change(join=apportion.Server("s2", [4]))).allocation
    {'a': {'s1': 4, 's2': 4}}

    first holds the Decision on the problem alone. BadInput leaves all as it was. effort: see decide.
    """

    _subcommand, _answers = "session", _types.SESSION_OUTPUT

    def __init__(self, problem: _types.Problem, *, effort: Optional[int] = None) -> None:
        super().__init__(problem, *([] if effort is None else ["-effort", str(effort)]))

    def change(self, *changes: _types.Change) -> _types.News:
        """What is new by changes that have happened, all decided at once; without one the cluster is decided again."""
        return self._ask(changes=list(changes))

    def whole(self, *changes: _types.Change) -> _types.Decision:
        """As change, with all of the decision: shares, explanation, prices."""
        return self._ask(changes=list(changes), whole=True)

    def why(self, job: str) -> _types.Why:
        """What keeps an application from more containers, see why."""
        return self._ask(why=job)

    def what_if(self, *changes: _types.Change) -> _types.WhatIf:
        """The next decision beside that with changes, which have not happened: nothing changes by it."""
        return self._ask(what_if=list(changes))

    def problem(self) -> _types.Problem:
        """What the next decision begins from: Decisions of it go on alike."""
        return self._ask(show="problem")

    def _ask(self, **question: Any) -> Any:
        [answer] = self.send(_types.Question(**question))
        return answer


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
