"""A trainer that can be resized: what every container of the jobs in these READMEs runs. It counts steps, saves when it is
asked to, and goes on with what was saved. Put it where all nodes see it."""

import json
import os
import pathlib
import time

LAST = int(os.environ.get("STEPS", "600"))
rank, containers = int(os.environ["APPORTION_RANK"]), int(os.environ["APPORTION_CONTAINERS"])
step = answered = 0
if "APPORTION_RESTORE_DIR" in os.environ:  # absent: begin anew
    step = json.loads(pathlib.Path(os.environ["APPORTION_RESTORE_DIR"], "model.json").read_text())["step"]
print(f"container {rank} of {containers} begins with step {step}", flush=True)

request = pathlib.Path(os.environ["APPORTION_SAVE_REQUEST"])
acknowledgement = pathlib.Path(os.environ["APPORTION_SAVE_ACK"])
while step < LAST:
    time.sleep(0.1)  # a step of training, together with the other containers
    step += 1
    wanted = int(request.read_text()) if rank == 0 and request.exists() else 0
    if wanted > answered:
        pathlib.Path(os.environ["APPORTION_CHECKPOINT_DIR"], "model.json").write_text(json.dumps({"step": step}))
        whole = acknowledgement.with_suffix(".new")  # renamed, so that nobody reads half of it
        whole.write_text(json.dumps({"request": wanted, "step": step, "files": ["model.json"]}))
        whole.rename(acknowledgement)
        answered = wanted
