"""Keeps the log of one worker, a process of a job, as Go's package checkpoint/workerlog reads it."""

import json
import os
import time


class WorkerLog:
    """The log of this process, in a folder that is made if it is not there. begin is the number of steps that the
    worker begins with, -1 if it does not know."""

    def __init__(self, folder, begin, env=os.environ):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        server, rank = env.get("APPORTION_SERVER", ""), int(env.get("APPORTION_RANK", "0"))
        own = f"{rank}-{os.getpid()}-{time.time_ns()}"
        self.line = {"job": env["APPORTION_JOB"], "attempt": int(env["APPORTION_ATTEMPT"]), "rank": rank,
                     "server": server, "life": f"{server}-{own}"}
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
        self.file = os.open(os.path.join(folder, own + ".worker.jsonl"), flags, 0o600)
        self.write("start", begin)

    def step(self, step):
        """So many steps were done."""
        self.write("step", step)

    def saved(self, step):
        """A checkpoint with so many steps is complete; to be called before it is acknowledged."""
        self.write("saved", step)

    def end(self, step):
        """The work is done."""
        self.write("end", step)

    def write(self, worker, step):
        """Writes a line at once: nothing of it is in this process when it is killed."""
        line = {"worker": worker, **self.line, "step": step, "at": time.time_ns()}
        os.write(self.file, (json.dumps(line) + "\n").encode())
