"""What is raised."""

from __future__ import annotations

import json

from ._convert import decode_value
from ._types import Fault


class ApportionError(Exception):
    """There is no answer."""


class BadInput(ApportionError, ValueError):
    """The input is at fault: faults has each with its item, its field and the sort of fault."""

    def __init__(self, message: str, faults: list[Fault]) -> None:
        lines = [f"{f.item} {f.field}: {f.problem} {f.detail}".strip() for f in faults]
        super().__init__("\n".join([message, *lines]))
        self.faults = faults


def error_of(failure: dict) -> ApportionError:
    """The exception for an error of the library."""
    faults = [decode_value(f, Fault) for f in failure.get("faults", [])]
    return BadInput(failure["error"], faults) if faults else ApportionError(failure["error"])


def raise_for(code: int, text: bytes) -> None:
    """Raises what an answer with an exit code other than 0 says."""
    if code:
        raise error_of(json.loads(text))
