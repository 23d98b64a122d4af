"""The installed package. Run by python test_apportion.py, and by go test."""

from __future__ import annotations

import dataclasses
import decimal
import doctest
import fractions
import json
import os
import pathlib
import random
import tempfile
import threading
import unittest

import apportion as ap
import generate
from apportion import _native

COMMAND = pathlib.Path(__file__).parent.parent / "apportion"


def problem(seed: int, servers: int = 4, applications: int = 6) -> ap.Problem:
    draw = random.Random(seed)
    return ap.Problem(
        kinds=["gpu", "cpu"], servers=[ap.Server(f"s{j}", [8, 64]) for j in range(servers)], theta1=0.2, theta2=0.2,
        applications=[ap.Application(f"a{i}", demand={"gpu": draw.randint(1, 2), "cpu": draw.randint(1, 9)}, max=draw.randint(1, 9))
                      for i in range(applications)])


class Decisions(unittest.TestCase):
    def test_decision(self) -> None:
        p = problem(1)
        d = ap.decide(p)
        self.assertEqual(d.status, "decided")
        self.assertGreaterEqual(d.bound or 0, d.objective)
        capacity = {s.id: 8 for s in p.servers}
        for a in p.applications:
            for server, count in d.allocation.get(a.id, {}).items():
                capacity[server] -= count * a.demand["gpu"]
        self.assertGreaterEqual(min(capacity.values()), 0)
        p.previous = d.allocation
        self.assertEqual(ap.decide(p).allocation, d.allocation)

    def test_same_answer_as_the_command(self) -> None:
        text = (COMMAND / "cluster.json").read_text()
        code, answer = _native.Session("dorm").call(text)
        self.assertEqual(code, 0)
        self.assertEqual(dataclasses.asdict(ap.decide(ap._convert.decode(text.encode(), ap.Problem))),
                         dataclasses.asdict(ap._convert.decode(answer, ap.Decision)))

    def test_types_hold_all_fields(self) -> None:
        code, answer = _native.Session("dorm").call((COMMAND / "worth.json").read_text())
        self.assertEqual(code, 0)
        self.assertEqual(json.loads(ap._convert.encode(ap._convert.decode(answer, ap.Decision))), json.loads(answer))

    def test_faults(self) -> None:
        p = problem(1)
        p.applications[2].weight = -1
        p.servers[1].capacity = [8]
        with self.assertRaises(ap.BadInput) as raised:
            ap.decide(p)
        found = {(f.item, f.field) for f in raised.exception.faults}
        self.assertEqual(found, {('application "a2"', "weight"), ('server "s1"', "capacity")})
        with self.assertRaisesRegex(ValueError, "'watts' is no kind"):
            ap.decide(ap.Problem(kinds=["gpu"], servers=[], applications=[ap.Application("a", demand={"watts": 1})], theta1=0, theta2=0))
        with self.assertRaisesRegex(ValueError, "positive"):
            ap.decide(p, timeout=-1)

    def test_values_that_json_does_not_have(self) -> None:
        p = problem(1)
        p.servers[0].id, p.servers[1].capacity = "\ud800", [{1}, 8]
        p.theta1, p.previous = float("nan"), {"a0": {"\udfff": 1}}
        with self.assertRaises(ap.BadInput) as raised:
            ap.decide(p)
        found = {(f.field, f.problem) for f in raised.exception.faults}
        self.assertEqual(found, {("servers[0].id", "is out of range"), ("servers[1].capacity[0]", "has the wrong type"), ("theta1", "is not a finite number"),
                                 ("previous.a0", "is out of range")})
        same = ap.decide(dataclasses.replace(problem(1), theta1=fractions.Fraction(1, 4), theta2=decimal.Decimal("0.5")))
        self.assertEqual(same, ap.decide(dataclasses.replace(problem(1), theta1=0.25, theta2=0.5)))

    def test_record(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "decision.json")
            d = ap.decide(problem(2), record=path, effort=20)
            self.assertEqual(ap.verify(path).objective, d.objective)
            record = json.loads(pathlib.Path(path).read_text())
            record["decision"]["objective"] += 1
            pathlib.Path(path).write_text(json.dumps(record))
            with self.assertRaises(ap.ApportionError):
                ap.verify(path)

    def test_why(self) -> None:
        p = problem(3, servers=2, applications=5)
        for a in p.applications:
            w = ap.why(p, a.id)
            self.assertEqual(w.id, a.id)
            for h in w.helps:
                self.assertGreater(h.containers, w.containers)
        with self.assertRaises(ap.BadInput):
            ap.why(p, "nobody")

    def test_fill(self) -> None:
        f = ap.fill(ap.Pool(kinds=["cpu", "memory"], capacity=[9, 18], claims=[ap.Claim("A", demand=[1, 4]), ap.Claim("B", demand=[3, 1])]))
        self.assertEqual([c.containers for c in f.claims], [3, 2])

    def test_views(self) -> None:
        p = problem(1, servers=1)
        p.applications[0].id = "<b>&"
        d = ap.decide(p)
        picture = d._repr_html_()
        self.assertIn("&lt;b&gt;&amp;", picture)
        self.assertNotIn("<b>&", picture)
        try:
            import pandas  # noqa: F401
        except ImportError:
            return
        self.assertEqual(list(d.to_pandas()["containers"]), [s.containers for s in d.shares])

    def test_threads(self) -> None:
        want, got = [ap.decide(problem(s)) for s in range(8)], [None] * 8

        def ask(s: int) -> None:
            got[s] = ap.decide(problem(s))

        threads = [threading.Thread(target=ask, args=[s]) for s in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(got, want)


class DecisionsOneAfterTheOther(unittest.TestCase):
    def test_questions(self) -> None:
        d = ap.Decisions(problem(3), effort=20)
        [first] = d.first
        self.assertEqual(first, ap.decide(problem(3), effort=20))
        has = dict(first.allocation)
        new = ap.Application("new", demand={"cpu": 1}, min=1, max=2)
        for change in [ap.Change(arrive=new), ap.Change(set=ap.Settings(theta2=1)), ap.Change(end="new")]:
            with self.subTest(change=change):
                foreseen, shown = d.what_if(change), d.problem()
                news = d.change(change)
                self.assertEqual(foreseen.then.objective, news.objective)
                has = {name: servers for name, servers in {**has, **news.allocation}.items() if servers and name != change.end}
                self.assertEqual(d.problem().previous, has)
                self.assertNotEqual(d.problem(), shown)
        with self.assertRaises(ap.BadInput) as raised:
            d.change(ap.Change(end="new"))
        self.assertEqual(raised.exception.faults[0].field, "changes[0].end")
        self.assertEqual(d.whole().allocation, has)
        self.assertEqual(d.why(first.shares[0].id).id, first.shares[0].id)


class Streams(unittest.TestCase):
    def stream(self, subcommand: str, first: type, lines: str) -> tuple[list, list]:
        """The answers by the package, and those of one run over the whole text."""
        head, *rest = lines.splitlines()
        cls = {"oasis": ap.OASiS, "flowcon": ap.FlowCon, "specon": ap.SpeCon}[subcommand]
        got = []
        with cls(ap._convert.decode(head.encode(), first)) as s:
            for line in rest:
                got += s.send(json.loads(line))
            got += s.close()
        session = _native.Session(subcommand)
        want = b"".join(session.call(line)[1] for line in [head, *rest]) + session.close()[1]
        return got, [ap._convert.decode_line(line, cls._answers) for line in want.splitlines()]

    def test_streams(self) -> None:
        for subcommand, first, file in [("oasis", ap.Horizon, "jobs.jsonl"), ("flowcon", ap.Worker, "flowcon.jsonl"), ("specon", ap.Cluster, "specon.jsonl")]:
            got, want = self.stream(subcommand, first, (COMMAND / file).read_text())
            self.assertEqual(got, want)
            self.assertGreater(len(got), 2, subcommand)

    def test_answers_come_at_once(self) -> None:
        s = ap.FlowCon(ap.Worker(kinds=["cpu"], interval=20, alpha=0.01))
        self.assertEqual(s.send(ap.Sample(time=0, container="vae", value=180, usage={"cpu": 0.9})), [])
        [limits] = s.send(ap.Tick(0))
        self.assertIsInstance(limits, ap.Limits)
        with self.assertRaises(ap.BadInput) as raised:
            s.send({"time": 1, "container": "vae", "value": 1, "usage": {"gpu": 1}})
        self.assertIn("line", raised.exception.faults[0].item)
        self.assertEqual(len(s.send(ap.Tick(20))), 1)
        with self.assertRaises(ap.ApportionError):
            s.close()  # lines were refused
        self.assertEqual(s.close(), [])

    def test_first_line_at_fault(self) -> None:
        with self.assertRaises(ap.BadInput):
            ap.OASiS(ap.Horizon(kinds=[], slots=0, worker_servers=[], ps_servers=[]))


def scenario(seed: int) -> ap.Scenario:
    draw, at, jobs = random.Random(seed), 0.0, []
    for i in range(12):
        at += draw.expovariate(0.05)
        jobs.append(ap.SimJob(f"j{i}", demand={"gpu": 1}, max=draw.choice([1, 2, 4]), arrival=at, work=draw.uniform(50, 500)))
    return ap.Scenario(kinds=["gpu"], servers=[ap.Server(f"s{j}", [4]) for j in range(2)], jobs=jobs, adjust_cost=5)


def first_come(state: ap.State) -> ap.Orders:
    """What "fifo" does, where every job has one container."""
    free = {f"s{j}": 4 - sum(job.places.get(f"s{j}", 0) for job in state.jobs) for j in range(2)}
    places = {}
    for job in state.jobs:
        server = next((s for s, n in free.items() if n > 0), None)
        if not job.places and server:
            places[job.id] = {server: 1}
            free[server] -= 1
    return ap.Orders(places)


class Simulations(unittest.TestCase):
    def test_own_policy_is_that_of_the_library(self) -> None:
        for seed in range(5):
            s = scenario(seed)
            for job in s.jobs:
                job.max = 1
            own, fifo = ap.simulate(s, first_come), ap.simulate(s, "fifo")
            self.assertEqual(own.jobs, fifo.jobs)
            self.assertGreater(own.mean_response, 0)

    def test_compare(self) -> None:
        table = ap.compare(scenario, {"own": first_come, "fifo": "fifo", "drf": "drf"}, range(6))
        self.assertEqual(table["own"]["adjusted"].mean, 0)
        self.assertGreater(table["drf"]["adjusted"].mean, 0)
        self.assertGreater(table["drf"]["mean_response"].half or 0, 0)
        self.assertEqual(table, ap.compare(scenario, {"own": first_come, "fifo": "fifo", "drf": "drf"}, range(6)))
        single = ap.compare(scenario, {"fifo": "fifo"}, [1])["fifo"]["makespan"]
        self.assertEqual((single.half, str(single)), (None, f"{single.mean:.4g}"))

    def test_orders_at_fault(self) -> None:
        with self.assertRaisesRegex(ap.ApportionError, "cannot place: 9 containers"):
            ap.simulate(scenario(1), lambda state: ap.Orders({state.jobs[0].id: {"s0": 9}}))
        with self.assertRaises(ZeroDivisionError):
            ap.simulate(scenario(1), lambda state: 1 // 0)
        with self.assertRaises(ap.BadInput):
            ap.simulate(scenario(1), "no-such")


class Package(unittest.TestCase):
    def test_types_are_those_of_the_schemas(self) -> None:
        self.assertEqual(generate.generate(), (pathlib.Path(generate.__file__).parent / "src" / "apportion" / "_types.py").read_text())

    def test_misuse(self) -> None:
        for args in [[], ["no-such"], ["dorm", "-effort", "x"]]:
            code, text = _native.Session(*args).call("{}")
            self.assertEqual((code, list(json.loads(text))), (2, ["error"]))
        s = _native.Session("drf")
        s.close()
        self.assertEqual(s.call("{}")[0], 2)

    def test_docs(self) -> None:
        self.assertEqual(doctest.testmod(ap), (0, 3))
        self.assertEqual(doctest.testmod(ap._stream), (0, 3))
        failed, tried = doctest.testfile("README.md", optionflags=doctest.ELLIPSIS)
        self.assertEqual(failed, 0)
        self.assertGreater(tried, 7)

    def test_version(self) -> None:
        self.assertRegex(ap.version(), r"^apportion .*go1\.")


if __name__ == "__main__":
    unittest.main()
