"""Saves and loads PyTorch checkpoints, see job.py. Every weight of checkpoint n is n."""

import itertools
import os

import torch

import job


def write(folder):
    model = torch.nn.LSTM(400, 400)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.zeros(1, 1, 400))[0].sum().backward()
    optimizer.step()
    for number in itertools.count(1):
        with torch.no_grad():
            for weights in model.parameters():
                weights.fill_(number)
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": number}
        torch.save(state, os.path.join(folder, f"model-{number}.pt"))
        print(number, flush=True)
        if number > 3:
            os.remove(os.path.join(folder, f"model-{number - 3}.pt"))


def load(folder, name):
    state = torch.load(os.path.join(folder, name))
    number = state["step"]
    torch.nn.LSTM(400, 400).load_state_dict(state["model"])
    return number if all((weights == number).all() for weights in state["model"].values()) else "differs"


job.serve(write, load)
