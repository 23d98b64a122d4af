"""The notebooks and the loader of traces. Run by python test_notebooks.py, and by go test."""

from __future__ import annotations

import contextlib
import gzip
import io
import pathlib
import re
import runpy
import tempfile
import unittest

import apportion as ap

HERE = pathlib.Path(__file__).parent
TRACE = HERE.parent / "studies" / "dorm" / "data" / "ms_itp_cluster07.csv"


def printed(path: pathlib.Path) -> list[str]:
    """What a script prints, without blanks at the ends of lines."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        runpy.run_path(str(path))
    return [line.rstrip() for line in out.getvalue().splitlines()]


class Notebooks(unittest.TestCase):
    def test_notebooks(self) -> None:
        """Each prints what its comments say: lines that begin with "# -> "."""
        paths = sorted((HERE / "notebooks").glob("*.py"))
        self.assertEqual(len(paths), 4)
        for path in paths:
            with self.subTest(path.name):
                text = path.read_text()
                self.assertGreaterEqual(text.count("# %%"), 3)
                self.assertEqual(printed(path), [line.rstrip() for line in re.findall(r"^# -> ?(.*)$", text, re.MULTILINE)])


class Traces(unittest.TestCase):
    def test_trace(self) -> None:
        rows = ap.read_trace(TRACE)
        self.assertEqual(len(rows), len(TRACE.read_text().splitlines()) - 1)
        self.assertEqual(rows[1], ap.TraceJob("c07-1287", submit=4599, duration=6415, gpus=8, group="cluster07", kind="gpt2"))
        jobs = ap.trace_jobs(rows, grow=2)
        self.assertEqual((jobs[1].arrival, jobs[1].work, jobs[1].fixed, jobs[1].max), (4599 - 946, 8 * 6415, 8, 16))
        self.assertEqual([job.arrival for job in jobs], sorted(job.arrival or 0 for job in jobs))

    def test_packed(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            packed = pathlib.Path(folder) / "trace.csv.gz"
            packed.write_bytes(gzip.compress(TRACE.read_bytes()))
            self.assertEqual(ap.read_trace(packed), ap.read_trace(TRACE))
            packed.write_bytes(packed.read_bytes()[:-20])
            with self.assertRaisesRegex(ap.BadTrace, "trace.csv.gz: "):
                ap.read_trace(packed)

    def test_faults(self) -> None:
        for text, want in {
            "job_id\na\n": ":1: there is no column submit_s", "": ":1: there is no column job_id",
            "job_id,submit_s\na,soon\n": ":2: submit_s: 'soon' is no number", "job_id,submit_s\na,-1\n": "out of range",
            "job_id,submit_s\na,nan\n": "out of range", "job_id,submit_s\na,\n": ":2: submit_s: it is empty", "job_id,submit_s\n,1\n": ":2: job_id: it is empty",
            "job_id,submit_s\na,1,2\n": ":2: it has another number of fields", "job_id,submit_s\na\n": ":2: it has another number of fields",
            "job_id,submit_s\na,1\n\"b,1\n": ":2: unexpected end",
        }.items():
            with self.subTest(text), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "trace.csv"
                path.write_text(text)
                with self.assertRaisesRegex(ap.BadTrace, want):
                    ap.read_trace(path)

    def test_unknown_is_left_out(self) -> None:
        rows = [ap.TraceJob("a", 5), ap.TraceJob("b", 9, duration=10, gpus=0.5), ap.TraceJob("d", 20, duration=10, gpus=2), ap.TraceJob("c", 10, duration=10, gpus=1)]
        self.assertEqual([(job.id, job.arrival) for job in ap.trace_jobs(rows)], [("c", 0), ("d", 10)])


if __name__ == "__main__":
    unittest.main()
