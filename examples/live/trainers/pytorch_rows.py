"""PyTorch: an LSTM or a GRU that reads the rows of a handwritten digit, data-parallel over gloo."""

import argparse

import torch
import torch.distributed as dist

from job import Job, digits

BATCH = 64
HIDDEN = 48


class Reader(torch.nn.Module):
    """Reads 8 rows of 8 pixels and says which digit they show."""

    def __init__(self, cell):
        super().__init__()
        self.rows = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[cell](8, HIDDEN, batch_first=True)
        self.digit = torch.nn.Linear(HIDDEN, 10)

    def forward(self, x):
        return self.digit(self.rows(x)[0][:, -1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cell", choices=["lstm", "gru"], required=True)
    job = Job(parser)
    torch.set_num_threads(1)
    torch.manual_seed(job.seed)
    if job.size > 1:
        dist.init_process_group("gloo", f"file://{job.dir}/gloo", rank=job.rank, world_size=job.size)
    pixels, labels = digits()
    x, y = torch.tensor(pixels).reshape(-1, 8, 8), torch.tensor(labels)
    model = Reader(job.args.cell)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    step = 0
    if job.restore:
        state = torch.load(job.restore)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        step = state["step"]
    job.begin(step)
    while step < job.steps:
        mine = job.batch(step, len(y), BATCH)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x[mine]), y[mine], reduction="sum") / BATCH
        loss.backward()
        value = loss.detach()
        if job.size > 1:
            for tensor in [p.grad for p in model.parameters()] + [value]:
                dist.all_reduce(tensor)
        optimizer.step()
        step += 1
        job.report(step, value.item())
        job.pace(step, len(mine))

        def save(folder):
            name = f"checkpoint-{step}.pt"
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, folder / name)
            return [name]

        job.save_if_wanted(step, save)
    job.finish()


if __name__ == "__main__":
    main()
