"""Public traces of clusters, in the table that examples/internal/trace reads: one submitted job a row."""

from __future__ import annotations

import csv
import dataclasses
import gzip
import io
import math
import os
from typing import Optional, Sequence, Union

from ._errors import ApportionError
from ._types import SimJob


class BadTrace(ApportionError, ValueError):
    """A file that is no trace: the message names file, line and column."""


@dataclasses.dataclass
class TraceJob:
    """One job that was submitted to a cluster. None is unknown, which is not zero.

    submit: When, in seconds from the first job of the trace on.

    duration: How long it ran, in seconds.

    gpus: How many it had together; one that is shared counts in parts.
    """

    id: str
    submit: float
    duration: Optional[float] = None
    gpus: Optional[float] = None
    cpus: Optional[float] = None
    mem_gb: Optional[float] = None
    user: str = ""
    group: str = ""
    status: str = ""
    kind: str = ""


# The column of each field, and whether it holds a number.
_COLUMNS = {"id": ("job_id", False), "submit": ("submit_s", True), "duration": ("duration_s", True), "gpus": ("gpus", True), "cpus": ("cpus", True),
            "mem_gb": ("mem_gb", True), "user": ("user", False), "group": ("group", False), "status": ("status", False), "kind": ("kind", False)}


def _number(text: str, place: str) -> Optional[float]:
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        raise BadTrace(f"{place}: {text!r} is no number") from None
    if not math.isfinite(value) or value < 0:
        raise BadTrace(f"{place}: {text!r} is out of range")
    return value


def read_trace(path: Union[str, os.PathLike]) -> list[TraceJob]:
    """The jobs of a file of CSV, plain or packed by gzip, in its order. Raises BadTrace, which names line and column.

    Columns are found by name, in any order: job_id and submit_s; duration_s, gpus, cpus, mem_gb, user, group, status and kind where
    they are there. Others are left out, and an empty field is unknown.
    """
    with open(path, "rb") as file:
        data = file.read()
    name = os.fspath(path)
    try:
        text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise BadTrace(f"{name}: {error}") from None
    rows = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    jobs = []
    try:
        missing = {"job_id", "submit_s"} - set(rows.fieldnames or ())
        if missing:
            raise BadTrace(f"{name}:1: there is no column {min(missing)}")
        for row in rows:
            if None in row or None in row.values():
                raise BadTrace(f"{name}:{rows.line_num}: it has another number of fields than the first line")
            values = {}
            for field, (column, numeric) in _COLUMNS.items():
                said, place = row.get(column, ""), f"{name}:{rows.line_num}: {column}"
                if not said and column in ("job_id", "submit_s"):
                    raise BadTrace(f"{place}: it is empty")
                values[field] = _number(said, place) if numeric else said
            jobs.append(TraceJob(**values))
    except csv.Error as error:
        raise BadTrace(f"{name}:{rows.line_num}: {error}") from None
    return jobs


def trace_jobs(rows: Sequence[TraceJob], *, grow: float = 1) -> list[SimJob]:
    """Jobs for a Scenario whose one kind is GPUs: each has the work that it did on its GPUs, and may use up to grow times as many.

    Rows without a duration or without a whole GPU are left out. They begin when the first of them does.
    """
    known = [row for row in rows if row.duration and row.gpus and row.gpus >= 1]
    begin = min((row.submit for row in known), default=0.0)
    return [SimJob(row.id, demand=[1], fixed=int(row.gpus or 0), max=max(1, int(grow * int(row.gpus or 0))), arrival=row.submit - begin,
                   work=(row.duration or 0) * int(row.gpus or 0)) for row in sorted(known, key=lambda row: row.submit)]
