"""The trainer that master.py starts: it counts, saves when a file asks for it, and goes on with the step that it is told.
Usage: trainer.py FOLDER STEPS BEGIN"""

import json
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "checkpoint" / "workerlog"))
import workerlog  # noqa: E402


def publish(path, value):
    """Writes a file as a whole or not at all."""
    path.with_suffix(".new").write_text(json.dumps(value))
    path.with_suffix(".new").rename(path)


def main(folder, steps, begin):
    run, step, answered = pathlib.Path(folder), int(begin), 0
    publish(run / "pid", [os.getpid(), int(os.environ["APPORTION_ATTEMPT"])])
    log = workerlog.WorkerLog("logs", step)
    while step < int(steps):
        time.sleep(0.01)
        step += 1
        log.step(step)
        request = run / "request"
        if request.exists() and int(request.read_text()) > answered:
            answered = int(request.read_text())
            log.saved(step)
            publish(run / "ack", {"request": answered, "step": step})
    log.end(step)
    publish(run / "done", step)


if __name__ == "__main__":
    main(*sys.argv[1:])
