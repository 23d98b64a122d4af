#!/usr/bin/env python3
"""Writes a problem for "apportion dorm" of how fast jobs run: speeds in, worths and prices of restarts out."""

import json
import math

SERVERS, GPUS = 2, 4  # servers, and GPUs on each
COUNTS = [1, 2, 3, 4, 8]  # numbers of GPUs that a job may have: within a server, or whole servers
RESTART = 30  # seconds for which a job stands still when its GPUs change
FLOOR = 0.01  # having no GPU counts as so much of the fair speed: a logarithm has no other worth for it
SCALE = 7200  # GPU seconds after which a job counts as 1/sqrt(2) of a new one

# Samples a second by COUNTS; seconds since submission, GPU seconds attained, restarts; the GPUs that it has now.
JOBS = [
    {"id": "vision", "speed": [100, 190, 270, 340, 600], "age": 4000, "attained": 16000, "restarts": 1, "now": {"n0": 4}},
    {"id": "speech", "speed": [80, 120, 140, 150, 150], "age": 900, "attained": 1800, "restarts": 0, "now": {"n1": 2}},
    {"id": "text", "speed": [60, 115, 165, 215, 400], "age": 0, "attained": 0, "restarts": 0, "now": {}},
]


def fair_speed(speeds, count):
    """The speed with a number of GPUs that need not be whole, on the line between its neighbours."""
    before, below = 0, 0
    for n, speed in zip(COUNTS, speeds):
        if count <= n:
            return below + (speed - below) * (count - before) / (n - before)
        before, below = n, speed
    return below


def application(job):
    """A job by proportional fairness: w log(speed/fair speed), less for what a restart takes from one that runs."""
    fair = fair_speed(job["speed"], SERVERS * GPUS / len(JOBS))
    weight = (1 + job["attained"] / SCALE) ** -0.5
    held = sum(job["now"].values())
    kept = (job["age"] - RESTART * job["restarts"]) / (job["age"] + RESTART) if held else 1
    app = {
        "id": job["id"], "demand": [1], "counts": COUNTS, "max": COUNTS[-1],
        "worth": [weight * math.log(max(FLOOR, kept) * speed / fair) for speed in job["speed"]],
        "idle_worth": weight * math.log(FLOOR),
    }
    if held:  # a running job may have another number than those in COUNTS, and be worth what it is worth
        app["stay_worth"] = weight * math.log(fair_speed(job["speed"], held) / fair)
    return app


print(json.dumps({
    "kinds": ["gpu"],
    "servers": [{"id": f"n{j}", "capacity": [GPUS]} for j in range(SERVERS)],
    "applications": [application(job) for job in JOBS],
    "previous": {job["id"]: job["now"] for job in JOBS if job["now"]},
    "theta1": 1,  # worth decides; restarts have their price
    "theta2": 1,
}, indent=1))
