"""What a trainer needs to know of the scheduler that runs it, and how it answers."""

import fcntl
import gzip
import json
import os
import pathlib
import socket
import struct
import sys
import time

import numpy as np

from workerlog import WorkerLog

PATIENCE = 60  # seconds that a process waits for another one before it gives up


class NoLog:
    """The log of a process that keeps none."""

    def step(self, step):
        pass

    def saved(self, step):
        pass

    def end(self, step):
        pass


class Job:
    """The environment of one process of a job."""

    def __init__(self, parser):
        parser.add_argument("--steps", type=int, required=True, help="of the whole job, over all its runs")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--cost", type=float, default=0.0, help="seconds that a sample takes beside the arithmetic")
        parser.add_argument("--deaf", action="store_true", help="ignore requests to save")
        self.args = parser.parse_args()
        self.steps, self.seed = self.args.steps, self.args.seed
        self.rank = int(os.environ.get("APPORTION_RANK", "0"))
        self.size = int(os.environ.get("APPORTION_CONTAINERS", "1"))
        self.nodes = os.environ.get("APPORTION_SERVERS", "").split(",")
        self.dir = pathlib.Path(os.environ["APPORTION_CHECKPOINT_DIR"])
        self.restore = os.environ.get("APPORTION_RESTORE")  # as the framework names it
        self.place = self.claim()
        self.answered, self.kept = 0, set()  # the last request, and the files that answered it
        if self.rank == 0:
            self.curve = open(self.dir / "curve.jsonl", "a")

    def claim(self):
        """Takes this process's place in the job, which no other process may have at the same time."""
        place = open(self.dir.parent / f"rank-{self.rank}.lock", "w")
        try:
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            (self.dir.parent / "twice").write_text(f"rank {self.rank} in {self.dir}\n")
            sys.exit("another process has this place in the job")
        return place

    def batch(self, step, samples, size):
        """Returns this process's part of a batch."""
        return self.whole_batch(step, samples, size)[self.rank::self.size]

    def whole_batch(self, step, samples, size):
        """Returns the batch of a step, which depends on the seed and the step alone."""
        return np.random.default_rng([self.seed, step]).integers(0, samples, size)

    def report(self, step, value):
        """Process 0 tells the evaluation function: the scheduler by its output, the figures by a file."""
        if self.rank > 0:
            return
        line = json.dumps({"step": step, "value": value, "at": time.time()})
        print(line, flush=True)
        print(line, file=self.curve, flush=True)

    def finish(self):
        """Says that all steps are done; process 0 says so to the scheduler."""
        self.log.end(self.steps)
        if self.rank == 0:
            print(json.dumps({"step": self.steps, "done": True}), flush=True)

    def begin(self, step):
        """Says that this process begins, with so many steps done. A job outside of the protocol of checkpoints has neither
        name nor attempt, and keeps no log."""
        self.log = WorkerLog(self.dir, step) if "APPORTION_JOB" in os.environ else NoLog()

    def pace(self, step, samples):
        """Takes the time that the samples would take on a machine of their own, and says that the step is done."""
        self.log.step(step)
        time.sleep(samples * self.args.cost)

    def save_if_wanted(self, step, save):
        """Process 0 writes a checkpoint when the scheduler has asked for one, and says so. save writes
        into a folder and returns the names of its files. Those of the request before go only now."""
        if self.rank > 0 or self.args.deaf:
            return
        try:
            request = int(pathlib.Path(os.environ["APPORTION_SAVE_REQUEST"]).read_text())
        except (KeyError, FileNotFoundError):
            return
        if request == self.answered:
            return
        files = save(self.dir)
        self.log.saved(step)
        self.publish(pathlib.Path(os.environ["APPORTION_SAVE_ACK"]),
                     json.dumps({"request": request, "step": step, "files": files}))
        for name in self.kept - set(files):
            (self.dir / name).unlink()
        self.answered, self.kept = request, set(files)

    def publish(self, path, text):
        """Writes a file that others wait for, whole or not at all."""
        temporary = path.with_name(path.name + ".new")
        temporary.write_text(text)
        temporary.rename(path)

    def await_file(self, path):
        """Returns the text of a file that another process publishes."""
        limit = time.monotonic() + PATIENCE
        while not path.exists():
            if time.monotonic() > limit:
                raise TimeoutError(f"{path} does not appear")
            time.sleep(0.01)
        return path.read_text()


def digits():
    """Returns 1797 handwritten digits, 64 pixels in [0, 1] each, and what they show."""
    path = pathlib.Path(os.environ["APPORTION_FRAMEWORKS"]) / "digits.csv.gz"
    with gzip.open(path, "rt") as file:
        table = np.loadtxt(file, delimiter=",", dtype="float32")
    return table[:, :64] / 16, table[:, 64].astype("int64")


class Exchange:
    """Sums arrays of float32 over the processes of a job: process 0 collects, adds in the order of the
    ranks, and hands the sum out."""

    def __init__(self, job):
        self.job, self.peers = job, []
        address = job.dir / "sum.port"
        if job.size == 1:
            return
        if job.rank > 0:
            port = int(job.await_file(address))
            self.peers = [socket.create_connection(("127.0.0.1", port), PATIENCE)]
            self.peers[0].sendall(struct.pack("!I", job.rank))
            return
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(PATIENCE)
            job.publish(address, str(listener.getsockname()[1]))
            ranks = {}
            for _ in range(job.size - 1):
                peer = listener.accept()[0]
                peer.settimeout(PATIENCE)
                ranks[struct.unpack("!I", receive(peer, 4))[0]] = peer
        self.peers = [ranks[rank] for rank in sorted(ranks)]

    def sum(self, arrays):
        """Returns the sums; every process gives arrays of the same shapes."""
        if not self.peers:
            return arrays
        flat = np.concatenate([np.ravel(a) for a in arrays]).astype("float32")
        if self.job.rank > 0:
            self.peers[0].sendall(flat.tobytes())
            flat = np.frombuffer(receive(self.peers[0], flat.nbytes), "float32")
        else:
            for peer in self.peers:
                flat = flat + np.frombuffer(receive(peer, flat.nbytes), "float32")
            for peer in self.peers:
                peer.sendall(flat.tobytes())
        ends = np.cumsum([np.size(a) for a in arrays])[:-1]
        return [part.reshape(np.shape(a)) for part, a in zip(np.split(flat, ends), arrays, strict=True)]


def receive(peer, size):
    """Returns exactly size bytes."""
    data = bytearray()
    while len(data) < size:
        more = peer.recv(size - len(data))
        if not more:
            raise ConnectionError("another process of the job is gone")
        data += more
    return bytes(data)
