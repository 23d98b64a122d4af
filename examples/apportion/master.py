"""A master of two jobs on this machine: it plays "apportion adjust" and carries its effects out on real processes. It may
be killed at any moment; the next one goes on. Usage: master.py FOLDER STEPS apportion adjust -journal JOURNAL"""

import datetime, fcntl, json, os, pathlib, shutil, signal, subprocess, sys, time  # noqa: E401

HERE = pathlib.Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[2] / "checkpoint" / "workerlog"))
import workerlog  # noqa: E402


def train(run, steps, start):
    """The trainer: it counts, saves when the file asks for it, and goes on with the step that it is told."""
    step, answered = int(start), 0
    publish(run / "pid", [os.getpid(), int(os.environ["APPORTION_ATTEMPT"])])
    log = workerlog.WorkerLog("logs", step)
    while step < int(steps):
        time.sleep(0.01)
        step += 1
        log.step(step)
        if (run / "request").exists() and int((run / "request").read_text()) > answered:
            answered = int((run / "request").read_text())
            log.saved(step)
            publish(run / "ack", {"request": answered, "step": step})
    log.end(step)
    publish(run / "done", step)


def publish(path, value):
    """Writes a file as a whole or not at all."""
    path.with_suffix(".new").write_text(json.dumps(value))
    path.with_suffix(".new").rename(path)


def lock(run):
    """Takes the lock that a trainer holds for as long as it lives, whoever its parent is; None: one lives."""
    run.mkdir(parents=True, exist_ok=True)
    file = open(run / "lock", "w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return file
    except BlockingIOError:
        return None


def carry_out(e, steps):
    """Carries out an effect and returns the step that a save holds; what goes wrong is an exception."""
    job, number = e["job"], e.get("checkpoint", 0)
    run, store = pathlib.Path("runs", job), pathlib.Path("store", job)
    if e["action"] == "resume":
        if (held := lock(run)) is None:  # it was started by the master before
            return -int(json.loads((run / "pid").read_text())[1] == e["attempt"]) or 1 / 0
        for name in "request", "ack", "pid":
            (run / name).unlink(missing_ok=True)
        start = json.loads((store / str(number)).read_text())["step"] if number else 0
        env = {**os.environ, "APPORTION_JOB": job, "APPORTION_ATTEMPT": str(e["attempt"]), "APPORTION_SERVER": "here"}
        subprocess.Popen([sys.executable, "-B", HERE, "train", run, str(steps), str(start)], env=env, pass_fds=[held.fileno()])
    elif e["action"] == "save":
        publish(run / "request", number)
        limit = time.monotonic() + 5
        while not (run / "ack").exists() or json.loads((run / "ack").read_text())["request"] != number:
            if time.monotonic() > limit:
                raise TimeoutError("the job does not answer")
            time.sleep(0.01)
        store.mkdir(parents=True, exist_ok=True)
        shutil.copy(run / "ack", store / str(number))  # the state of this trainer is its step
        return json.loads((run / "ack").read_text())["step"]
    elif e["action"] == "verify":
        json.loads((store / str(number)).read_text())
    elif e["action"] == "stop":
        while lock(run) is None:  # nobody is alive who could hold it, or one is and is killed
            if (run / "pid").exists():
                os.kill(json.loads((run / "pid").read_text())[0], signal.SIGKILL)
            time.sleep(0.01)
    return -1


def main(folder, steps, *command):
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    jobs, effects = {}, []

    def say(line):  # a line in, its answer out
        child.stdin.write(json.dumps(line) + "\n")
        child.stdin.flush()
        answer = json.loads(child.stdout.readline())
        jobs.update({j["name"]: j for j in answer["jobs"]})
        effects.extend(answer["effects"])

    say({"kinds": ["cpu"], "timeout": 10})
    say({"event": "server-up", "server": {"id": "here", "capacity": [4]}})
    for job in [j for j in ("a", "b") if j not in jobs]:
        say({"event": "submit", "job": job, "demand": [1]})
    turn = 0
    while any(j["phase"] != "ended" for j in jobs.values()):
        while effects:
            e = effects.pop(0)
            try:
                reply = {"outcome": "done", "step": carry_out(e, steps)}
            except Exception as error:
                reply = {"outcome": "failed", "step": -1, "detail": repr(error)}
            if e["action"] != "prune":
                say({"event": "reply", "id": e["id"], "job": e["job"], **reply})
        for name, j in list(jobs.items()):
            run = pathlib.Path("runs", name)
            if j["phase"] == "running" and lock(run) is not None:
                say({"event": "finished" if (run / "done").exists() else "exited", "job": name, "attempt": j["attempt"]})
        turn += all(j["phase"] == "running" for j in jobs.values())
        more = min(turn // 5, 3) % 2  # the decision of this master: for a while the two take turns in having more
        say({"event": "adjust", "totals": {"a": 1 + more, "b": 2 - more}})
        say({"event": "tick", "now": datetime.datetime.now(datetime.timezone.utc).isoformat()})
        time.sleep(0.01)
    print({name: j["ending"] for name, j in jobs.items()})


if __name__ == "__main__":
    if sys.argv[1] == "train":
        train(pathlib.Path(sys.argv[2]), *sys.argv[3:])
    else:
        main(*sys.argv[1:])
