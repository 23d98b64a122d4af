
# %% [markdown]
# Decide, and change something: who gets how many GPUs, and what happens when a job comes and a server goes.

# %%
import apportion as ap

problem = ap.Problem(
    kinds=["gpu", "cpu"],
    servers=[ap.Server(f"s{i}", {"gpu": 8, "cpu": 64}) for i in range(3)],
    applications=[
        ap.Application("vision", demand={"gpu": 1, "cpu": 4}, min=2, max=16),
        ap.Application("speech", demand={"gpu": 2, "cpu": 8}, min=1, max=8),
        ap.Application("tables", demand={"gpu": 0, "cpu": 16}, max=6),
    ],
    theta1=0.3, theta2=0.5)
decisions = ap.Decisions(problem)
for share in decisions.first[0].shares:
    print(share.id, share.containers, f"{share.actual:.2f} of {share.theoretical:.2f}")
# -> vision 12 0.50 of 0.50
# -> speech 6 0.50 of 0.50
# -> tables 6 0.50 of 0.50

# %%
# A job comes. What has to be done for it is a plan, in an order that always fits.
news = decisions.change(ap.Change(arrive=ap.Application("late", demand={"gpu": 4, "cpu": 8}, min=1, max=2)))
for step in news.plan:
    print(step.action, step.application, step.server or "", step.containers or "")
# -> save speech
# -> destroy speech s1 2
# -> create late s1 1
# -> start late
# -> resume speech

# %%
# A server is lost, with what ran there: the jobs that were on it go on elsewhere, or with less.
news = decisions.change(ap.Change(lose="s2"))
for name, places in sorted(news.allocation.items()):
    print(name, sum(places.values()), places)
# -> tables 4 {'s0': 2, 's1': 2}
# -> vision 4 {'s1': 4}
