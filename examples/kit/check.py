"""Checks all vectors of the kit by other code than the library's, in plain Python: shares, plans, lines, limits and the run
protocol are computed anew, decisions and admissions are held to what they must keep.

    python3 check.py [FOLDER]
"""

from __future__ import annotations

import json
import math
import pathlib
import sys
from fractions import Fraction

NEAR = 1e-9
VALUE = 1e-6  # of the value of a decision: a restart costs a trifle more than is said, so that equal worth moves nobody


def near(a: float, b: float) -> bool:
    return abs(a - b) <= NEAR * max(1, abs(a), abs(b))


def claim_shares(pool: dict) -> list:
    """What one container of each claim is of the cluster, by its dominant kind."""
    return [max(Fraction(d, c) for d, c in zip(claim["demand"], pool["capacity"]) if d) for claim in pool["claims"]]


def divisible(pool: dict) -> list:
    """Progressive filling [Ghodsi11]: all rise together, each stops at its maximum or where a kind of its own is used up."""
    claims, one = pool["claims"], claim_shares(pool)
    has, free = [Fraction(0)] * len(claims), [Fraction(c) for c in pool["capacity"]]
    rising = set(range(len(claims)))
    while rising:
        # Containers of each for a rise of the level by one.
        rate = {i: Fraction(claims[i]["weight"]) / one[i] for i in rising}
        use = [sum(rate[i] * claims[i]["demand"][k] for i in rising) for k in range(len(free))]
        rise = min([f / u for f, u in zip(free, use) if u] + [(claims[i]["max"] - has[i]) / rate[i] for i in rising])
        for i in rising:
            has[i] += rate[i] * rise
        free = [f - u * rise for f, u in zip(free, use)]
        rising = {i for i in rising if has[i] < claims[i]["max"] and all(free[k] > 0 for k, d in enumerate(claims[i]["demand"]) if d)}
    return has


def whole(pool: dict) -> list:
    """One container at a time to the lowest level, the first of those; one that does not fit is out."""
    claims, one = pool["claims"], claim_shares(pool)
    has, free = [0] * len(claims), list(pool["capacity"])
    out: set = set()
    while len(out) < len(claims):
        i = min((i for i in range(len(claims)) if i not in out), key=lambda i: (has[i] * one[i] / Fraction(claims[i]["weight"]), i))
        if has[i] == claims[i]["max"] or any(d > f for d, f in zip(claims[i]["demand"], free)):
            out.add(i)
            continue
        has[i] += 1
        free = [f - d for f, d in zip(free, claims[i]["demand"])]
    return has


def shares(pool: dict, answer: list) -> bool:
    pool["claims"] = [{"weight": 1, "max": 10**9, **claim} for claim in pool["claims"]]
    for claim in pool["claims"]:
        claim["max"] = 10**9 if claim["max"] is None or claim["max"] < 0 else claim["max"]
    has = (whole if pool["whole"] else divisible)(pool)
    return all(near(a["containers"], float(n)) and near(a["share"], float(n * s)) for a, n, s in zip(answer, has, claim_shares(pool)))


def decisions(problem: dict, answer: dict) -> bool:
    """The allocation keeps the rows of the program, and has the value that is claimed, which no bound contradicts."""
    kinds, servers, apps = range(len(problem["kinds"])), problem["servers"], problem["applications"]
    total = [sum(s["capacity"][k] for s in servers) for k in kinds]
    fits = all(sum(app["demand"][k] * answer["allocation"].get(app["id"], {}).get(s["id"], 0) for app in apps) <= s["capacity"][k] for s in servers for k in kinds)
    value, loss, adjusted = 0.0, 0.0, 0
    for app, fair in zip(apps, answer["fair"]):
        now, before = answer["allocation"].get(app["id"], {}), problem.get("previous", {}).get(app["id"], {})
        n = sum(now.values())
        if not app.get("min", 0) <= n <= app["max"]:
            return False
        parts = [d / t for d, t in zip(app["demand"], total) if d]
        loss += abs(n * max(parts) - fair)
        value += n * sum(parts)
        if before and now != before:
            adjusted += 1
            value -= answer["restart_cost"] * sum(before.values()) * sum(parts)
    return (fits and abs(value - answer["best"]) <= VALUE and answer["best"] <= answer["bound"] + NEAR and loss <= answer["loss_budget"] + NEAR
            and adjusted <= answer["adjust_budget"])


def plans(change: dict, answer: list) -> bool:
    before, after, known = change["previous"], change["next"], change["applications"]
    names = sorted(set(before) | set(after))
    ended = [a for a in names if a not in known and before.get(a)]
    changed = [a for a in names if a in known and before.get(a, {}) != after.get(a, {})]
    saved = [a for a in changed if before.get(a)]
    steps = [{"action": "save", "application": a} for a in saved]
    for action, more, less in (("destroy", before, after), ("create", after, before)):
        for a in sorted(ended + changed):
            for server in sorted(more.get(a, {})):
                gone = {} if a in ended else less.get(a, {})
                n = more[a][server] - gone.get(server, 0)
                if n > 0 and not (action == "create" and a in ended):
                    steps.append({"action": action, "application": a, "server": server, "containers": n})
    steps += [{"action": "start", "application": a} for a in changed if not before.get(a)]
    steps += [{"action": "resume", "application": a} for a in saved if after.get(a)]
    return steps == answer


def lines(text: str, answer: dict | None) -> bool:
    try:
        said = json.loads(text)
    except ValueError:
        said = None
    step = said.get("step") if isinstance(said, dict) else None
    value, done = (said.get("value"), said.get("done", False)) if isinstance(said, dict) else (None, False)
    good = (type(step) is int and step >= 0 and (value is None or type(value) in (int, float)) and type(done) is bool)
    if not good:
        return answer is None
    want = {"step": step}
    if value is not None and math.isfinite(value):
        want["value"] = value
    if done:
        want["done"] = True
    return answer == want


def worth(utility: dict, after: int) -> float:
    """What a job is worth that ends so many slots after its arrival."""
    if "linear" in utility:
        start, slot = utility["linear"]
        return max(start - slot * after, 0)
    return next((value for within, value in utility["steps"] if after <= within), 0)


def price(low: float, high: float, used: float, capacity: float) -> float:
    """[OASiS] (22): from low on an empty server to high on a full one."""
    return low * (high / low) ** (used / capacity) if low and capacity else 0.0


def admission(question: dict, answers: list) -> bool:
    """Nothing is over-committed, work is done, every schedule costs what the prices say, and only what pays is admitted."""
    cluster, bounds = question["cluster"], question["bounds"]
    sides = (("workers", "worker", "worker_servers", "worker"), ("ps", "ps", "ps_servers", "ps"))
    used: dict = {}
    for job, answer in zip(question["jobs"], answers):
        if not answer["admitted"]:
            continue
        cost, work, taken = 0.0, 0, []
        for slot in answer["schedule"]:
            counts = {}
            for side, demand, servers, end in sides:
                counts[side] = 0
                for placed in slot.get(side) or []:
                    counts[side] += placed["count"]
                    for k, need in enumerate(job[demand]):
                        at = (side, slot["slot"], placed["server"], k)
                        capacity = cluster[servers][placed["server"]]["capacity"][k]
                        cost += placed["count"] * need * price(bounds["L_" + end][k], bounds["U_" + end][k], used.get(at, 0), capacity)
                        taken.append((at, placed["count"] * need, capacity))
            work += counts["workers"]
            if counts["workers"] > job["chunks"] or counts["ps"] != math.ceil(counts["workers"] * job["worker_bandwidth"] / job["ps_bandwidth"]):
                return False
            if slot["slot"] < job["arrival"]:
                return False
        for at, n, capacity in taken:
            used[at] = used.get(at, 0) + n
            if used[at] > capacity:
                return False
        chunk = job["minibatches"] * (job["minibatch_slots"] + job["comm_slots"])
        utility = worth(job["utility"], answer["completion"] - job["arrival"])
        if (work + NEAR < job["epochs"] * job["chunks"] * chunk or answer["completion"] != max(s["slot"] for s in answer["schedule"])
                or not near(cost, answer["cost"]) or not near(utility, answer["utility"]) or not near(utility - cost, answer["payoff"]) or answer["payoff"] <= 0):
            return False
    return True


def limits(worker: dict, answers: list) -> bool:
    """[Zheng] Algorithms 1 and 2 on one worker and one kind, of which every job uses all: lists are 0 (growing), 1 (watched), 2 (converged)."""
    jobs: dict = {}
    interval, due = worker["interval"], 0.0
    for step, answer in zip(worker["steps"], answers):
        arrived = [j for j in step["readings"] if j not in jobs]
        for j in arrived:
            jobs[j] = {"first": step["readings"][j], "list": 0, "growth": None, "limit": 0, "seen": (step["now"], step["readings"][j])}
        changes = {}
        if arrived or step["now"] >= due:
            for j, state in jobs.items():
                at, value = state["seen"]
                if step["now"] > at:
                    state["growth"] = abs(step["readings"][j] - value) / (step["now"] - at) / state["first"]
                    state["list"] = min(state["list"] + 1, 2) if state["growth"] < worker["alpha"] else 0
                    state["seen"] = (step["now"], step["readings"][j])
            free = all(s["list"] == 2 for s in jobs.values())
            waiting = any(s["growth"] is None for s in jobs.values())
            total, least = sum(s["growth"] or 0 for s in jobs.values()), 1 / (worker["beta"] * len(jobs))
            for j, state in jobs.items():
                if free or state["growth"] is None:
                    limit = 1.0
                elif state["list"] == 1 or state["list"] == 0 and waiting:
                    continue
                else:
                    limit = max(0 if waiting or not total else state["growth"] / total, least)
                if limit != state["limit"]:
                    state["limit"] = changes[j] = limit
            interval = 2 * interval if free and not arrived else worker["interval"]
            due = step["now"] + interval
        if set(changes) != set(answer["limits"]) or not all(near(answer["limits"][j], v) for j, v in changes.items()) or answer["next"] != due:
            return False
    return True


def rule(order: dict, fence: dict) -> tuple:
    """What a server does about an order, with why it does not; fence is what it remembers, and changes."""
    journal, attempt = order.get("journal", ""), order["attempt"]
    if fence["journal"] and journal and journal != fence["journal"] and fence["journal"] not in order.get("former", []):
        return "impossible", "journal"
    if order["epoch"] < fence["epoch"]:
        return "refused", "epoch"
    fence["epoch"] = order["epoch"]
    if journal:
        fence["number"] = max(order["id"], fence["number"] if journal == fence["journal"] else 0)
        fence["journal"] = journal
    if order["action"] == "stop":
        fence["stopped"] = max(fence["stopped"], attempt)
        return "perform", ""
    if attempt < fence["created"] or attempt <= fence["stopped"] and order["action"] != "release":
        return "refused", "attempt"
    if order["action"] == "release":
        return "perform", ""
    if attempt <= fence["lapsed"]:
        return "impossible", "lease"
    if order["action"] == "create":
        fence["created"] = attempt
    elif attempt > fence["created"]:
        return "impossible", "created"
    return ("repeated" if order["action"] == "resume" and attempt <= fence["resumed"] else "perform"), ""


def orders(messages: list, answer: list) -> bool:
    """The marks of a server only rise, and say which attempts may still be made, begun and saved there."""
    fence = {"epoch": 0, "journal": "", "number": 0, "created": 0, "resumed": 0, "stopped": 0, "lapsed": 0}
    for message, said in zip(messages, answer):
        ruling = ("", "")
        if "order" in message:
            ruling = rule(message["order"], fence)
        elif message["lapsed"] > max(fence["lapsed"], fence["stopped"]):
            fence["lapsed"] = message["lapsed"]
        want = {key: fence[key] for key in ("epoch", "created", "resumed", "stopped", "lapsed") if fence[key]}
        if fence["journal"]:
            want["witness"] = {key: fence[key] for key in ("journal", "number") if fence[key]}
        if said["fence"] != want or (said.get("ruling", ""), said.get("constraint", "")) != ruling:
            return False
    return len(messages) == len(answer)


def leases(lease: dict, answer: list) -> bool:
    """A lease counts from the newest of the server's own stamps that came back, of this boot."""
    newest = None
    for step, left in zip(lease["steps"], answer):
        now, echo = step["now"], step.get("echo")
        if newest and newest["boot"] != now["boot"]:
            newest = None
        if echo and echo["boot"] == now["boot"] and echo["at"] <= now["at"] and (newest is None or echo["at"] > newest["at"]):
            newest = echo
        if left != (max(0, lease["length"] - now["at"] + newest["at"]) if newest else 0):
            return False
    return len(lease["steps"]) == len(answer)


class Master:
    """Which runs of one job a master vouches for. It knows what it is told, and the next one begins anew."""

    def __init__(self, desk: dict, epoch: int, now: int):
        self.desk, self.epoch, self.began = desk, epoch, now
        self.admitted = self.fenced = self.begun = self.started = 0
        self.saves, self.reached, self.seen = {}, {}, {}

    def over(self, run: tuple, now: int) -> bool:
        seen = self.seen.get(run, {"granted": None, "ended": False})
        if seen["granted"] is None and 0 < self.begun <= run[0]:
            return True
        last = self.began if seen["granted"] is None else max(self.began, seen["granted"])
        return seen["ended"] or now - last > self.desk["length"] + self.desk["slack"]

    def tell(self, step: dict) -> None:
        do, now, attempt, server = step["do"], step["at"], step.get("attempt", 0), step.get("server")
        if do == "reached":
            self.reached[server] = now
        elif do == "fence":
            self.fenced = max(self.fenced, attempt)
        elif do == "save":
            self.saves[attempt, server] = self.saves.get((attempt, server), 0) + 1
        else:
            if do == "admit-started":
                self.started = attempt
            if do == "begin":
                if self.admitted < attempt and not self.begun:
                    self.begun = attempt
                self.seen = {run: seen for run, seen in self.seen.items() if run[0] >= attempt or not self.over(run, now)}
            self.admitted, self.fenced = max(self.admitted, attempt), max(self.fenced, attempt - 1)

    def rule(self, claim: dict, before: dict | None) -> str:
        attempt, server = claim["attempt"], claim["server"]
        if attempt <= self.fenced:
            return "fenced"
        if attempt != self.admitted:
            return "refused"
        if before and before["life"] != claim["life"] or not before and attempt == self.started and not claim.get("started"):
            return "fenced"
        late = self.desk["window"] and claim["at"] - self.reached.get(server, -math.inf) > self.desk["window"]
        return "refused" if late else "granted"

    def answer(self, claim: dict) -> tuple:
        run, now = (claim["attempt"], claim["server"]), claim["at"]
        if claim["epoch"] > self.epoch:
            return "refused", 0
        before = self.seen.get(run)
        said = self.rule(claim, before)
        same = before and before["life"] == claim["life"]
        news = run[0] == self.admitted or run[0] <= self.fenced and not self.over(run, now)
        if before and (same or said != "fenced") or not before and news:
            granted = now if said == "granted" else before and before["granted"]
            self.seen[run] = {"life": claim["life"], "granted": granted, "ended": claim.get("ended", False) or bool(same and before["ended"])}
        return said, self.saves.get(run, 0) if said == "granted" else 0


def claims(desk: dict, answer: list) -> bool:
    """A run is vouched for by one guard of the attempt that may run, and is over when it says so or a lease and the slack have passed."""
    master, newest = Master(desk, 1, 0), 1
    for step, said in zip(desk["steps"], answer):
        newest, granted = max(newest, step.get("attempt", 1)), ("", 0)
        if step["do"] == "follow":
            master = Master(desk, master.epoch + 1, step["at"])
        elif step["do"] == "claim":
            granted = master.answer(step)
        else:
            master.tell(step)
        over = [f"{a} {s}" for a in range(1, newest + 1) for s in ("s1", "s2") if master.over((a, s), step["at"])]
        if (said.get("answer", ""), said.get("save", 0)) != granted or said["over"] != sorted(over):
            return False
    return len(desk["steps"]) == len(answer)


CHECKS = {"shares": shares, "decisions": decisions, "plans": plans, "lines": lines, "admission": admission, "limits": limits, "orders": orders,
          "leases": leases, "claims": claims}


def main() -> int:
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "vectors")
    bad = 0
    for kind, check in CHECKS.items():
        file = json.loads((folder / f"{kind}.json").read_text())
        failed = [v["name"] for v in file["vectors"] if not check(v["input"], v["output"])]
        bad += len(failed)
        print(f"{kind}: {len(file['vectors'])} vectors, {len(failed)} failed {failed}" if failed else f"{kind}: {len(file['vectors'])} vectors agree")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
