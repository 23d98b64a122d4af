"""Places containers by the local search of Meta's Rebalancer: a problem in JSON on standard input, the answer on standard output."""

import json
import os
import sys
import time

from rebalancer import ProblemSolver


def solver(problem, demands):
    """All containers wait on a server of their own, which is to be freed."""
    servers = range(len(problem["capacity"]))
    kinds = range(len(problem["capacity"][0]))
    total = [sum(c[k] for c in problem["capacity"]) for k in kinds]
    s = ProblemSolver("beside", "beside")
    s.set_object_name("task").set_container_name("host")
    s.set_assignment({"waiting": list(demands), **{f"s{j}": [] for j in servers}})
    for k in kinds:
        kind = f"kind{k}"
        s.add_object_dimension(kind, {o: float(d[k]) for o, d in demands.items()})
        enough = float(1 + sum(d[k] for d in demands.values()))  # a number that is much larger breaks its sums
        s.add_container_dimension(kind, {"waiting": enough, **{f"s{j}": float(problem["capacity"][j][k]) for j in servers}})
        s.add_constraint({"capacitySpec": {"name": kind, "scope": "host", "dimension": kind}})
    s.add_object_dimension("value", {o: sum(d[k] / total[k] for k in kinds if total[k]) for o, d in demands.items()})
    s.add_goal({"toFreeSpec": {"name": "waiting", "containers": ["waiting"], "dimension": "value"}})
    moves = [{"singleMoveTypeSpec": {}}, {"swapMoveTypeSpec": {}}]
    return s.add_solver({"localSearchSolverSpec": {"solveTime": problem["seconds"], "moveTypeList": moves}})


def main():
    problem = json.load(sys.stdin)
    demands = {f"{a} {n}": app["demand"] for a, app in enumerate(problem["apps"]) for n in range(app["max"])}
    out = os.dup(1)
    os.dup2(2, 1)  # the library prints what it does
    began = time.process_time()
    placed = solver(problem, demands).solve()["assignment"]
    took = time.process_time() - began
    counts = [[0] * len(problem["capacity"]) for _ in problem["apps"]]
    for name, server in placed.items():
        if server != "waiting":
            counts[int(name.split()[0])][int(server[1:])] += 1
    os.write(out, json.dumps({"seconds": took, "counts": counts}).encode())


main()
