
# %% [markdown]
# Admission with OASiS: jobs come one after the other, each worth something that depends on when it ends.

# %%
import apportion as ap

one_gpu = dict(minibatches=10, minibatch_slots=0.08, comm_slots=0.02, worker_bandwidth=1, ps_bandwidth=4, worker=[1, 2], ps=[0, 1])
horizon = ap.Horizon(kinds=["gpu", "cpu"], slots=8, worker_servers=[ap.Server("gpu-1", [4, 16])], ps_servers=[ap.Server("cpu-1", [0, 8])],
                     bounds=ap.PriceBounds(U_worker=20, L_worker=0.05, U_ps=20, L_ps=0.05))
jobs = [
    ap.Job("nightly", arrival=1, epochs=3, chunks=4, utility=ap.Utility(linear=[30, 1]), **one_gpu),
    ap.Job("report", arrival=1, epochs=1, chunks=4, utility=ap.Utility(steps=[[3, 50]]), **one_gpu),
    ap.Job("whim", arrival=2, epochs=4, chunks=4, utility=ap.Utility(steps=[[6, 1]]), **one_gpu),
]

# %%
oasis = ap.OASiS(horizon)
for job in jobs:
    [answer] = oasis.send(job)
    print(answer.id, answer.reason, *(["ends in slot", answer.completion, f"worth {answer.utility:.0f}"] if answer.admitted else []))
    for slot in answer.schedule:
        print("  slot", slot.slot, slot.workers)
# -> nightly admitted ends in slot 3 worth 28
# ->   slot 1 {'gpu-1': 4}
# ->   slot 2 {'gpu-1': 4}
# ->   slot 3 {'gpu-1': 4}
# -> report admitted ends in slot 4 worth 50
# ->   slot 4 {'gpu-1': 4}
# -> whim too expensive

# %%
# No schedule, not even of somebody who knew all jobs beforehand, earns more than the bound.
total = oasis.close()[-1]
print(f"earned {total.total_utility:.1f} of at most {total.upper_bound:.1f}")
# -> earned 78.0 of at most 79.0
