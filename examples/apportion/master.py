"""A master of two jobs on this machine: it plays "apportion adjust" and carries its effects out on real processes. It may
be killed at any moment; the next one goes on. Usage: master.py FOLDER STEPS apportion adjust -journal JOURNAL"""

import datetime, fcntl, json, os, pathlib, shutil, signal, subprocess, sys, time  # noqa: E401
from trainer import publish

TRAINER = pathlib.Path(__file__).resolve().with_name("trainer.py")


def lock(run):
    """Takes the lock that a trainer holds for as long as it lives, whoever its parent is; None: one lives."""
    run.mkdir(parents=True, exist_ok=True)
    file = open(run / "lock", "w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return file
    except BlockingIOError:
        return None


def read(path, default=None):
    return json.loads(path.read_text()) if path.exists() else default


def carry_out(e, steps):
    """Carries out an effect and returns the step that a save holds, or -1; what goes wrong is an exception."""
    run, saved = pathlib.Path("runs", e["job"]), pathlib.Path("store", e["job"], str(e.get("checkpoint", 0)))
    if e["action"] == "resume" and (held := lock(run)):
        for name in "request", "ack", "pid":
            (run / name).unlink(missing_ok=True)
        argv = [sys.executable, "-B", TRAINER, run, steps, str(read(saved, {"step": 0})["step"])]
        env = {"APPORTION_JOB": e["job"], "APPORTION_ATTEMPT": str(e["attempt"]), "APPORTION_SERVER": "here"}
        subprocess.Popen(argv, env={**os.environ, **env}, pass_fds=[held.fileno()])
    elif e["action"] == "resume" and read(run / "pid")[1] != e["attempt"]:  # of this attempt the master before has started it
        raise RuntimeError("another attempt lives")
    elif e["action"] == "save":
        publish(run / "request", e["checkpoint"])
        limit = time.monotonic() + 5
        while read(run / "ack", {"request": 0})["request"] != e["checkpoint"]:
            if time.monotonic() > limit:
                raise TimeoutError("the job does not answer")
            time.sleep(0.01)
        saved.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(run / "ack", saved)  # the state of this trainer is its step
        return read(saved)["step"]
    elif e["action"] == "verify":
        json.loads(saved.read_text())
    elif e["action"] == "stop":
        while lock(run) is None:  # nobody is alive who could hold it, or one is and is killed
            if pid := read(run / "pid"):
                os.kill(pid[0], signal.SIGKILL)
            time.sleep(0.01)
    return -1


def main(folder, steps, *command):
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    jobs, effects, turn = {}, [], 0

    def say(**line):  # a line in, its answer out
        child.stdin.write(json.dumps(line) + "\n")
        child.stdin.flush()
        answer = json.loads(child.stdout.readline())
        jobs.update({j["name"]: j for j in answer["jobs"]})
        effects.extend(answer["effects"])

    say(kinds=["cpu"], timeout=10)
    say(event="server-up", server={"id": "here", "capacity": [4]})
    for job in sorted({"a", "b"} - jobs.keys()):
        say(event="submit", job=job, demand=[1])
    while any(j["phase"] != "ended" for j in jobs.values()):
        while effects:
            e = effects.pop(0)
            try:
                reply = {"outcome": "done", "step": carry_out(e, steps)}
            except Exception as error:
                reply = {"outcome": "failed", "step": -1, "detail": repr(error)}
            if e["action"] != "prune":
                say(event="reply", id=e["id"], job=e["job"], **reply)
        for name, j in list(jobs.items()):
            if j["phase"] == "running" and lock(run := pathlib.Path("runs", name)) is not None:
                say(event="finished" if (run / "done").exists() else "exited", job=name, attempt=j["attempt"])
        turn += all(j["phase"] == "running" for j in jobs.values())
        more = min(turn // 5, 3) % 2  # the decision of this master: for a while the two take turns in having more
        say(event="adjust", totals={"a": 1 + more, "b": 2 - more})
        say(event="tick", now=datetime.datetime.now(datetime.timezone.utc).isoformat())
        time.sleep(0.01)
    print({name: j["ending"] for name, j in jobs.items()})


if __name__ == "__main__":
    main(*sys.argv[1:])
