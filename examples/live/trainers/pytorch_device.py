"""PyTorch on an accelerator: a deep linear network with Adam, whose size is a parameter. It tells what each beginning took, and
what memory of the device was taken before it began."""

import argparse
import json
import time

BEGAN = time.time()

import torch  # noqa: E402  its import is a part of what a beginning takes

from job import Job  # noqa: E402

BATCH = 64
LAYERS = 5
IMPORTED = time.time()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", required=True, help="cuda or cpu")
    parser.add_argument("--width", type=int, required=True, help="of a layer; each has its square of parameters")
    job = Job(parser)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(job.seed)
    device, width = torch.device(job.args.device), job.args.width
    free, total = torch.cuda.mem_get_info() if device.type == "cuda" else (0, 0)
    took = {"import": IMPORTED - BEGAN, "context": time.time() - IMPORTED}
    model = torch.nn.Sequential(*[torch.nn.Linear(width, width, bias=False, device=device) for _ in range(LAYERS)])
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-5)
    built = time.time()
    step = 0
    if job.restore:
        state = torch.load(job.restore, map_location=device)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        step = state["step"]
        del state
    took["model"], took["load"] = built - IMPORTED - took["context"], time.time() - built
    (job.dir / "begin.json").write_text(json.dumps({"taken": total - free, "seconds": took}))
    job.begin(step)
    endless = job.dir.parent / "endless"  # asks for a kernel that does not end
    while step < job.steps:
        generator = torch.Generator().manual_seed(job.seed * 1_000_003 + step)
        x = torch.randn(BATCH, width, generator=generator).to(device)
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), torch.roll(x, 1, 1))
        loss.backward()
        optimizer.step()
        step += 1
        job.report(step, loss.item())
        job.pace(step, BATCH)
        if endless.exists():
            endless.unlink()
            hang(device)

        def save(folder):
            name = f"checkpoint-{step}.pt"
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, folder / name)
            return [name]

        job.save_if_wanted(step, save)
    job.finish()


def hang(device):
    """Keeps the device busy until the process is killed, and waits for it as a step waits for a collective that hangs."""
    while True:
        if device.type == "cuda":
            torch.cuda._sleep(1 << 40)
            torch.cuda.synchronize()


if __name__ == "__main__":
    main()
