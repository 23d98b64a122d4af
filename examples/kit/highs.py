"""Solves the decisions of the kit with HiGHS (pip install highspy), and compares the best value that it finds.

    python3 highs.py [FOLDER]
"""

from __future__ import annotations

import json
import pathlib
import sys

import highspy

VALUE = 1e-6  # of the value of a decision
GAP = 1e-9  # HiGHS searches on until less than that is left


def best(problem: dict, answer: dict) -> float:
    """The value of Dorm's program, (6)-(8), (10), (15) and (16), with a price for each restart."""
    h = highspy.Highs()
    h.silent()
    for option in ("mip_rel_gap", "mip_abs_gap"):
        h.setOptionValue(option, GAP)
    kinds, servers, apps = range(len(problem["kinds"])), problem["servers"], problem["applications"]
    total = [sum(s["capacity"][k] for s in servers) for k in kinds]
    on = [[h.addIntegral(lb=0, ub=app["max"]) for _ in servers] for app in apps]
    for j, server in enumerate(servers):
        for k in kinds:
            h.addConstr(sum(app["demand"][k] * on[i][j] for i, app in enumerate(apps)) <= server["capacity"][k])
    value, losses, adjusted = [], [], []
    for i, app in enumerate(apps):
        n = sum(on[i][j] for j in range(len(servers)))
        h.addConstr(n <= app["max"])
        h.addConstr(n >= app.get("min", 0))
        parts = [d / t for d, t in zip(app["demand"], total) if d]
        value.append(sum(parts) * n)
        loss = h.addVariable(lb=0)
        h.addConstr(loss >= max(parts) * n - answer["fair"][i])
        h.addConstr(loss >= answer["fair"][i] - max(parts) * n)
        losses.append(loss)
        before = problem.get("previous", {}).get(app["id"])
        if before:
            moved = h.addBinary()
            for j, server in enumerate(servers):
                was = before.get(server["id"], 0)
                h.addConstr(on[i][j] - was <= app["max"] * moved)
                h.addConstr(was - on[i][j] <= max(was, 1) * moved)
            adjusted.append(moved)
            value.append(-answer["restart_cost"] * sum(before.values()) * sum(parts) * moved)
    h.addConstr(sum(losses) <= answer["loss_budget"])
    if adjusted:
        h.addConstr(sum(adjusted) <= answer["adjust_budget"])
    h.maximize(sum(value))
    if h.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise RuntimeError(h.modelStatusToString(h.getModelStatus()))
    return h.getObjectiveValue()


def main() -> int:
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "vectors")
    file = json.loads((folder / "decisions.json").read_text())
    failed = []
    for v in file["vectors"]:
        found = best(v["input"], v["output"])
        if abs(found - v["output"]["best"]) > VALUE:
            failed.append(f"{v['name']}: HiGHS finds {found}, the kit has {v['output']['best']}")
    print("\n".join(failed) if failed else f"HiGHS agrees on {len(file['vectors'])} decisions")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
