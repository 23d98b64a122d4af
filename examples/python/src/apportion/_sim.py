"""Policies beside each other on virtual time: those of the library, and any function of Python."""

from __future__ import annotations

import dataclasses
import math
from typing import Callable, Iterable, Mapping, Union

from . import _types
from ._stream import Stream

# A policy of Python sees a State and returns Orders; a policy of the library is its name: "dorm", "drf", "fifo", "backfill".
Policy = Union[str, Callable[[_types.State], _types.Orders]]


class _Simulation(Stream):
    _subcommand, _answers = "sim", _types.SIM_OUTPUT


def simulate(scenario: _types.Scenario, policy: Policy) -> _types.Result:
    """How the jobs of a scenario fare under a policy.

    A function is called once for every instant at which jobs come or end, or at which it has asked to be asked again. The same
    scenario and policy have the same result. Raises BadInput for the scenario, ApportionError for orders that cannot be carried out,
    and whatever the function raises.
    """
    if isinstance(policy, str):
        scenario = dataclasses.replace(scenario, policy=policy)
    stream = _Simulation(dataclasses.replace(scenario, policy=None) if callable(policy) else scenario)
    try:
        [answer] = stream.first
        while isinstance(answer, _types.State):
            [answer] = stream.send(policy(answer))
        return answer
    finally:
        stream.abandon()


@dataclasses.dataclass
class Interval:
    """A mean over seeds, with half the width of its 95 % interval of confidence, by the normal distribution; None of one seed."""

    mean: float
    half: Union[float, None]

    def __str__(self) -> str:
        return f"{self.mean:.4g}" if self.half is None else f"{self.mean:.4g} +- {self.half:.2g}"


# The 97.5 % quantile of the normal distribution.
_QUANTILE = 1.959964


def _interval(values: list[float]) -> Interval:
    mean = math.fsum(values) / len(values)
    if len(values) < 2:
        return Interval(mean, None)
    variance = math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1)
    return Interval(mean, _QUANTILE * math.sqrt(variance / len(values)))


def compare(scenario: Callable[[int], _types.Scenario], policies: Mapping[str, Policy], seeds: Iterable[int]) -> dict[str, dict[str, Interval]]:
    """By policy and measure, the mean over scenarios that are drawn from seeds, the same for all policies.

    The measures are those of Result: makespan, mean_response, fairness_loss, adjusted.
    """
    measures = ("makespan", "mean_response", "fairness_loss", "adjusted")
    scenarios = [scenario(seed) for seed in seeds]
    table = {}
    for name, policy in policies.items():
        results = [simulate(s, policy) for s in scenarios]
        table[name] = {m: _interval([float(getattr(r, m)) for r in results]) for m in measures}
    return table
