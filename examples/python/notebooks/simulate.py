
# %% [markdown]
# A policy of one's own, beside those of the library, on virtual time and over seeds.

# %%
import pathlib
import random

import apportion as ap


def scenario(seed):
    draw = random.Random(seed)
    jobs = [ap.SimJob(f"job{i}", demand={"gpu": 1}, max=8, arrival=120 * i, work=draw.choice([300, 1200, 4800])) for i in range(25)]
    return ap.Scenario(kinds=["gpu"], servers=[ap.Server("s1", [8]), ap.Server("s2", [8])], jobs=jobs, adjust_cost=15, theta1=0.5, theta2=0.5)

# %%
# A policy is a function of the state. This one gives each job a like part, and lets a job that runs keep what it has where it can.
def equal_parts(state):
    each = max(1, min(8, 16 // max(len(state.jobs), 1)))
    free, places = {"s1": 8, "s2": 8}, {}
    for job in state.jobs:
        want = {}
        for server in sorted(free, key=lambda s: -job.places.get(s, 0)):
            n = min(each - sum(want.values()), free[server])
            if n > 0:
                want[server] = n
                free[server] -= n
        if want != job.places:
            places[job.id] = want
    return ap.Orders(places)

# %%
table = ap.compare(scenario, {"equal parts": equal_parts, "first come": "fifo", "Dorm": "dorm"}, seeds=range(4))
for policy, row in table.items():
    print(f"{policy:12} response {row['mean_response']}, adjusted {row['adjusted']}")
# -> equal parts  response 987.6 +- 6.2e+02, adjusted 75 +- 15
# -> first come   response 568.5 +- 2.8e+02, adjusted 0 +- 0
# -> Dorm         response 648.9 +- 3.2e+02, adjusted 25.75 +- 3.8

# %%
# The same on a trace: a day of jobs of a real cluster, each able to use up to four times the GPUs that it had.
rows = ap.read_trace(pathlib.Path(__file__).parents[2] / "studies" / "dorm" / "data" / "ms_itp_cluster07.csv")[:20]
day = ap.Scenario(kinds=["gpu"], servers=[ap.Server(f"s{i}", [8]) for i in range(3)], jobs=ap.trace_jobs(rows, grow=4), adjust_cost=30, theta1=0.5, theta2=0.5)
for policy in ("fifo", "dorm"):
    print(policy, f"{ap.simulate(day, policy).mean_response / 3600:.1f} hours")
# -> fifo 2.0 hours
# -> dorm 1.6 hours
