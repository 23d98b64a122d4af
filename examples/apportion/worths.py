#!/usr/bin/env python3
"""Writes a problem for "apportion dorm" of how fast jobs run: speeds in, worths and prices of restarts out."""

import json
import math

SERVERS, GPUS = 2, 4  # servers, and GPUs on each
MEASURED = [1, 2, 3, 4, 8]  # numbers of GPUs with which speeds were measured; a job may have any number up to the last
RESTART = 30  # seconds for which a job stands still when its GPUs change
HORIZON = 200  # seconds within which that must pay for itself
SCALE = 7200  # GPU seconds after which a job counts as 1/sqrt(2) of a new one

# Samples a second as measured, GPU seconds attained, the GPUs that it has now.
JOBS = [
    {"id": "vision", "speed": [100, 190, 270, 340, 600], "attained": 16000, "now": {"n0": 4}},
    {"id": "speech", "speed": [80, 120, 140, 150, 150], "attained": 1800, "now": {"n1": 2}},
    {"id": "text", "speed": [60, 115, 165, 215, 400], "attained": 0, "now": {}},
]


def speed_with(speeds, count):
    """The speed with a number of GPUs that need not be whole, on the line between its neighbours."""
    before, below = 0, 0
    for n, speed in zip(MEASURED, speeds):
        if count <= n:
            return below + (speed - below) * (count - before) / (n - before)
        before, below = n, speed
    return below


def utility(speed):
    """Between the work done, which is the speed itself, and proportional fairness, which is its logarithm."""
    return 2 * math.sqrt(speed)


def application(job):
    """A job by the square roots of its speeds in parts of its fair one, less for what a restart takes from one that runs."""
    fair = speed_with(job["speed"], SERVERS * GPUS / len(JOBS))
    weight = (1 + job["attained"] / SCALE) ** -0.5
    held = sum(job["now"].values())
    kept = 1 - RESTART / HORIZON if held else 1
    app = {
        "id": job["id"], "demand": [1], "min": 1, "max": MEASURED[-1],
        "worth": [weight * utility(kept * speed_with(job["speed"], n + 1) / fair) for n in range(MEASURED[-1])],
    }
    if held:
        app["stay_worth"] = weight * utility(speed_with(job["speed"], held) / fair)
    return app


print(json.dumps({
    "kinds": ["gpu"],
    "servers": [{"id": f"n{j}", "capacity": [GPUS]} for j in range(SERVERS)],
    "applications": [application(job) for job in JOBS],
    "previous": {job["id"]: job["now"] for job in JOBS if job["now"]},
    "theta1": 1,  # worth decides; restarts have their price
    "theta2": 1,
}, indent=1))
