"""Fair and full clusters: who deserves how much, who gets how many containers on which server, who is admitted.

>>> import apportion
>>> d = apportion.decide(apportion.Problem(
...     kinds=["gpu"], servers=[apportion.Server("s1", [4]), apportion.Server("s2", [4])],
...     applications=[apportion.Application("a", demand=[1], max=8), apportion.Application("b", demand=[2], max=2)],
...     theta1=0.1, theta2=0.1))
>>> d.status, d.allocation["b"]
('decided', {'s1': 2})

All functions are pure: the same input has the same answer, to the last bit, unless a timeout ends the search.
"""

from __future__ import annotations

import math
from typing import Any, Optional

from . import _types
from ._convert import decode, encode
from ._errors import ApportionError, BadInput, raise_for
from ._native import Session, version
from ._sim import Interval, Policy, compare, simulate
from ._stream import Decisions, FlowCon, OASiS, SpeCon, Stream
from ._trace import BadTrace, TraceJob, read_trace, trace_jobs
from ._types import *  # noqa: F403

__all__ = [*_types.__all__, "ApportionError", "BadInput", "BadTrace", "Decisions", "FlowCon", "Interval", "OASiS", "Policy", "SpeCon", "Stream",
           "TraceJob", "compare", "decide", "fill", "read_trace", "simulate", "trace_jobs", "verify", "version", "why"]


def _ask(args: list[str], question: Any, answer: Any) -> Any:
    code, text = Session(*args).call(encode(question))
    raise_for(code, text)
    return decode(text, answer)


def fill(pool: _types.Pool) -> _types.Filling:
    """How far each claim on a pool of resources is filled: dominant resource fairness. Raises BadInput."""
    return _ask(["drf"], pool, _types.Filling)


def decide(problem: _types.Problem, *, effort: Optional[int] = None, timeout: Optional[float] = None,
           record: Optional[str] = None) -> _types.Decision:
    """Who gets how many containers on which server, with the steps to get there from problem.previous, a bound and reasons.

    effort: how much work the search may do: 20 is quick, 100 the default, 1000 thorough.
    timeout: seconds after which the best answer so far is taken: without it the same problem has the same answer.
    record: the path of a file for problem and decision, which verify and "apportion replay" read.
    Raises BadInput, which names every item and field at fault.
    """
    args = ["dorm"]
    if effort is not None:
        args += ["-effort", str(effort)]
    if timeout is not None:
        if not 0 < timeout < math.inf:
            raise ValueError(f"timeout is {timeout}, and must be positive and finite")
        args += ["-timeout", f"{timeout:.9f}s"]
    if record is not None:
        args += ["-record", record]
    return _ask(args, problem, _types.Decision)


def why(problem: _types.Problem, job: str, *, effort: int = 20) -> _types.Why:
    """What keeps an application from more containers, and which single change would give it some: each is a decision of its own.

    effort: how much work each decision may do, see decide. Raises BadInput, also where the problem has no such application.
    """
    return _ask(["why", "-job", job, "-effort", str(effort)], problem, _types.Why)


def verify(record: str) -> _types.Proof:
    """What the record at a path proves, found without a solver. Raises ApportionError where the decision does not hold."""
    with open(record, encoding="utf-8") as file:
        code, text = Session("verify").call(file.read())
    raise_for(code, text)
    return decode(text, _types.Proof)
