
# %% [markdown]
# Why, and what if: what keeps a job from more, which single change would help, and what a drained server would do.

# %%
import apportion as ap

decisions = ap.Decisions(ap.Problem(
    kinds=["gpu"],
    servers=[ap.Server("s1", [8]), ap.Server("s2", [8]), ap.Server("s3", [4])],
    applications=[ap.Application("vision", demand=[2], min=1, max=8), ap.Application("speech", demand=[1], min=2, max=8),
                  ap.Application("large", demand=[4], min=1, max=2, weight=2)],
    theta1=0.2, theta2=0.5))

# %%
why = decisions.why("vision")
print(why.containers, "containers:", why.text)
for help in why.helps[:3]:
    print(f"  {help.change}: {help.containers}")
# -> 3 containers: no server has room. All 3 servers have no gpu free
# ->   another server like s1: 7
# ->   large ends: 7
# ->   speech ends: 6

# %%
# Nothing changes by a question.
answer = decisions.what_if(ap.Change(cordon="s1"))
print(answer.changes, f"{answer.now.objective:.2f} -> {answer.then.objective:.2f}")
for effect in answer.applications:
    print(" ", effect.id, effect.now, "->", effect.then, "restarted" if effect.restarts else "")
# -> ['drained: s1'] 1.00 -> 0.56
# ->   vision 3 -> 1 restarted
# ->   large 2 -> 1 restarted
