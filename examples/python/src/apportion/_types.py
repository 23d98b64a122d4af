"""The types of what the library reads and writes. Made by generate.py from the schemas of the command: do not edit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence, Union

from ._views import DecisionViews, ResultViews

__all__ = [
    "Admission", "AdmissionOptions", "Advance", "Advanced", "Application", "Blocker", "Cancel", "Cancelled", "Change",
    "Claim", "Cluster", "Complete", "Completed", "Decision", "Derived", "Effect", "Ended", "Exit", "Fail", "Failed",
    "Fault", "Filled", "FilledQueue", "Filling", "FlowConOptions", "Forecast", "Help", "Horizon", "Job", "JobState",
    "KindPrice", "Known", "Lengths", "Limit", "Limits", "Metrics", "Migrations", "Move", "News", "NoForecast", "Option",
    "Options", "Orders", "Outcome", "Outlook", "Pool", "PriceBounds", "Prices", "Problem", "Proof", "Quantiles",
    "Question", "Queue", "QueueUse", "Reason", "Refusal", "Remedy", "Repair", "Repaired", "Request", "Requirement",
    "Reservation", "Result", "Run", "Sample", "Scenario", "Schedule", "Server", "Settings", "Settled", "Share",
    "SimJob", "Slices", "SpeConOptions", "State", "Staying", "Step", "Stop", "Tick", "Times", "Total", "Transfer",
    "Utility", "Waiting", "WhatIf", "Why", "Without", "Worker", "WorkerMove", "WorkerSample", "WorkerServer",
    "WorkerState",
]

# One quantity for each kind in the order of kinds, or by the names of the kinds: those without one are 0.
Resources = Union[Sequence[int], Mapping[str, int]]


@dataclass
class Claim:
    """Claim.

    id: Not empty, unique in its list.

    demand: What one container needs, not zero in all kinds.

    weight: Scales the fair share. Absent: 1.

    min: Containers that it gets first. Absent: 0.

    max: Containers that it gets at most; absent: no bound.

    queue: The queue that it belongs to, one that no other has as its parent; absent: none.
    """
    id: str
    demand: Resources
    weight: Optional[float] = None
    min: Optional[int] = None
    max: Optional[int] = None
    queue: Optional[str] = None


@dataclass
class Queue:
    """Queue.

    id: Not empty, unique in its list.

    parent: The queue that it is part of; absent: the whole cluster.

    weight: Scales its fair share among the children of its parent. Absent: 1.

    guarantee: What it gets before anybody has more than is guaranteed.

    usage: What it has used lately beside what it uses now, as a part of the cluster; counts in no share. Absent:
        0.

    ceiling: The most that all below it have together, in the order of kinds; null: no limit.
    """
    id: str
    parent: Optional[str] = None
    weight: Optional[float] = None
    guarantee: Optional[Resources] = None
    usage: Optional[float] = None
    ceiling: Optional[list[Union[None, int]]] = None


@dataclass
class Pool:
    """Who asks for what.

    kinds: The names of the kinds of resources, each once.

    capacity: What there is of each kind.

    claims: Who asks.

    queues: A tree of queues; absent: all claims share alike.

    filling: divisible: containers in fractions; whole: one by one. One of 'divisible', 'whole'. Absent:
        'divisible'.
    """
    kinds: list[str]
    capacity: Resources
    claims: list[Claim]
    queues: Optional[list[Queue]] = None
    filling: Optional[str] = None


@dataclass
class Filled:
    """Filled.

    containers: A fraction, or a whole number where the filling is whole.

    share: The dominant share.

    level: The weighted share, share / weight, at which it stopped.

    stopped_by: Why it has no more. One of 'max', 'exhausted', 'unservable', 'ceiling'.

    kind: The kind that stopped it; absent for max.

    queue: The queue whose ceiling stopped it.
    """
    id: str
    containers: float
    share: float
    level: float
    stopped_by: str
    kind: Optional[str] = None
    queue: Optional[str] = None


@dataclass
class FilledQueue:
    """FilledQueue.

    used: What all below it have together.

    share: Its largest part of any kind.

    borrowed: What it has above its guarantee.

    lent: What it has not of its guarantee.

    short_of: The first kind of which its ceiling does not allow all min below it, which were dropped then.

    from_: Those that lend what it borrows.

    taken_first: Its place among those that have borrowed: 1 has the most for its weight.
    """
    id: str
    used: list[float]
    share: float
    borrowed: list[float]
    lent: list[float]
    short_of: Optional[str] = None
    from_: Optional[list[str]] = None
    taken_first: Optional[int] = None


@dataclass
class Filling:
    """Who deserves how much.

    claims: One for each claim, in the order of the input.

    unused: What is left of each kind; whole numbers where the filling is whole.

    short_of: The first kind that does not suffice for all min together, which were dropped then.

    queues: One for each queue, in the order of the input.
    """
    claims: list[Filled]
    unused: list[float]
    short_of: Optional[str] = None
    queues: Optional[list[FilledQueue]] = None


@dataclass
class Server:
    """Server.

    id: Not empty, unique in its list.

    capacity: What containers may use there.

    labels: What sort of server it is, for requires.

    cordoned: Nothing new comes; what runs there may stay, and leaves where the budget allows. Absent: False.
    """
    id: str
    capacity: Resources
    labels: Optional[dict[str, str]] = None
    cordoned: Optional[bool] = None


@dataclass
class Slices:
    """Groups of its containers that are each in one domain.

    containers: How many are in a group; numbers of containers are multiples of it.

    within: The label of topology whose domains they are in.
    """
    containers: int
    within: str


@dataclass
class Requirement:
    """Requirement.

    key: The label; not empty.

    op: How the label is compared; a server without it satisfies not_in and not_exists. One of 'in', 'not_in',
        'exists', 'not_exists'.

    values: What in and not_in compare with.
    """
    key: str
    op: str
    values: Optional[list[str]] = None


@dataclass
class Option:
    """Option.

    id: Not empty, unique in its application.

    demand: What one container needs, not zero in all kinds.

    requires: What the labels of its servers satisfy, beside what the application requires.

    max: Containers that it has at most; absent: the last of counts.

    min: Containers that it has at least; where that of an option is 0 the application may have none. Absent: 0.

    step: The number of containers is a multiple of it; 0 means 1. Absent: 0.

    counts: The numbers of containers that it may have, ascending.

    worth: What its containers are worth: one number for each number of them above 0 that it may have, ascending;
        absent: as much as they add to the utilization.

    worth_on: What its containers are worth by their number and that of their servers, in place of worth: one list
        for each number, with an entry for 1, 2, and so on servers, of which the last counts for all beyond.

    speed: How fast it runs, one number for each number of containers above 0 that it may have, ascending, in any
        unit; with a loss in worth. Absent: as fast as its share is large.
    """
    id: str
    demand: Resources
    requires: Optional[list[Requirement]] = None
    max: Optional[int] = None
    min: Optional[int] = None
    step: Optional[int] = None
    counts: Optional[list[int]] = None
    worth: Optional[list[float]] = None
    worth_on: Optional[list[list[float]]] = None
    speed: Optional[list[float]] = None


@dataclass
class Application:
    """Application.

    id: Not empty, unique in its list.

    executor: The engine that runs its tasks; not interpreted.

    demand: What one container needs, not zero in all kinds.

    weight: Scales the fair share. Absent: 1.

    max: Containers that it has at most.

    min: Containers that it has at least. Absent: 0.

    start: The command that starts it, for the plan.

    resume: The command that resumes it from its saved state, for the plan.

    step: The number of containers is a multiple of it; 0 means 1. Absent: 0.

    counts: The numbers of containers that it may have, ascending.

    per_server: Containers that it has on one server at most; 0: no limit. Absent: 0.

    max_servers: Servers that it is on at most; 0: no limit. Absent: 0.

    within: A label of topology: all of its containers are in one domain of that level, or it has none.

    slices: Groups of its containers that are each in one domain.

    prefer: A label of topology: what is placed anew is in the fewest domains of the widest level, of these in the
        fewest of the next, and so on down to this one. Each domain beyond those that it would need on empty
        servers costs as spread_cost says of a server.

    requires: What the labels of its servers satisfy, all of it.

    pinned: It stays exactly as it is, if it can. Absent: False.

    preemptible: It may be suspended for one of higher priority, with the option preempt. Absent: False.

    adjust_cost: What changing its containers counts against the adjustment budget. Absent: 1.

    worth: What its containers are worth: one number for each number of them above 0 that it may have, ascending;
        absent: as much as they add to the utilization.

    worth_on: What its containers are worth by their number and that of their servers, in place of worth: one list
        for each number, with an entry for 1, 2, and so on servers, of which the last counts for all beyond.

    speed: How fast it runs, one number for each number of containers above 0 that it may have, ascending, in any
        unit; with a loss in worth. Absent: as fast as its share is large.

    idle_worth: What having no container is worth, where min is 0 and there is a worth. Absent: 0.

    most: The most containers that it ever had: growth beyond that does not count against the budget of
        adjustments; absent: all growth counts. No effect with paper_rule.

    spread_cost: Which part of what its containers are worth is lost for each server beyond the fewest that could
        hold them, but no less than one container is worth; absent: 0.13 where it uses a compact kind, else 0. No
        effect with paper_rule.

    restart_cost: What a restart costs it, in parts of what its containers are worth beyond having none; not with
        stay_worth; absent: options.restart_cost. No effect with paper_rule.

    stay_worth: What staying exactly as it is is worth to one that runs; less than the worth of its number: as
        much as that; absent: a restart costs what restart_cost says.

    priority: Who is admitted first, before the order of submission: the highest. Absent: 0.

    passed: What earlier decisions have let in past it, in parts of the cluster, as waiting[].passed of the last
        answer has it. Absent: 0.

    ends: How long it runs at most, from now or from its start, in any unit that all use; absent: nobody knows.

    held: How long it has had what it has, in the unit of ends; absent: longer than options.min_run.

    queue: The queue that it belongs to, one that no other has as its parent; absent: none.

    options: The ways in which it may run, of which one is in use, the one it would rather have first; in place of
        demand, max, min, step, counts and worth.

    option: The id of the option of what it has in previous; absent: the first. With one that is not in options it
        cannot stay.
    """
    id: str
    executor: Optional[str] = None
    demand: Optional[Resources] = None
    weight: Optional[float] = None
    max: Optional[int] = None
    min: Optional[int] = None
    start: Optional[list[str]] = None
    resume: Optional[list[str]] = None
    step: Optional[int] = None
    counts: Optional[list[int]] = None
    per_server: Optional[int] = None
    max_servers: Optional[int] = None
    within: Optional[str] = None
    slices: Optional[Slices] = None
    prefer: Optional[str] = None
    requires: Optional[list[Requirement]] = None
    pinned: Optional[bool] = None
    preemptible: Optional[bool] = None
    adjust_cost: Optional[int] = None
    worth: Optional[list[float]] = None
    worth_on: Optional[list[list[float]]] = None
    speed: Optional[list[float]] = None
    idle_worth: Optional[float] = None
    most: Optional[int] = None
    spread_cost: Optional[float] = None
    restart_cost: Optional[float] = None
    stay_worth: Optional[float] = None
    priority: Optional[int] = None
    passed: Optional[float] = None
    ends: Optional[float] = None
    held: Optional[float] = None
    queue: Optional[str] = None
    options: Optional[list[Option]] = None
    option: Optional[str] = None


@dataclass
class Derived:
    """A kind that is counted from others, as gpu_equivalent = 10 t4 + 38 a100.

    kind: Its name, which no other kind has.

    of: How many units of it one unit of a kind is; of one kind at least 1.
    """
    kind: str
    of: dict[str, int]


@dataclass
class Settled:
    """That of the last answer, handed back: asked again with nothing new the answer is what runs. Absent: nothing is
    known.

    digest: Of all that is asked, but for what follows from time and from decisions.

    allocation: Of what was decided.
    """
    digest: str
    allocation: str


@dataclass
class Reservation:
    """Reservation.

    id: The application that it is for; not empty, unique.

    servers: Its fewest containers by server; absent: below a ceiling alone.

    at: When it can start at the latest, from the decision that said so; absent: not known.

    for_: The applications whose end it waits for.
    """
    id: str
    servers: Optional[dict[str, int]] = None
    at: Optional[float] = None
    for_: Optional[list[str]] = None


@dataclass
class Options:
    """Options.

    share: The rule for theoretical shares; empty: DRF within min and max. One of '', 'pure', 'whole'. Absent: ''.

    loss: What the fairness loss is measured in; empty: shares. One of '', 'worth'. Absent: ''.

    no_ceil_15: The fairness budget is theta1 * 2m itself. Absent: False.

    no_ceil_16: The adjustment budget is theta2 * applications rounded down. Absent: False.

    admit_prefix: With paper_rule: where not all newcomers can be let in, let in the first of them. Absent: False.

    displace: With paper_rule: accept a previous allocation on servers that vanished or shrank. Absent: False.

    paper_rule: Keep everything as it is where not all can be had, as the paper does; without it a decision is
        always possible. Absent: False.

    order: The order in which applications are let in; empty: fair between queues. One of '', 'submission'.
        Absent: ''.

    preempt: Preemptible applications may be suspended: of the same queue for a higher priority, of another one
        for what is guaranteed. Absent: False.

    reclaim_level: With preempt: those of another queue also where it keeps no lower a level. Absent: False.

    choose: Of one queue and priority those are let in first that together use most of what is left. Absent:
        False.

    patience: From when on one that waits is due, in multiples of its own least counts that were let in past it;
        absent: 1.

    reservations: For how many applications that are due room is kept at most, one a queue; absent: 1; 0: none.

    worth: Which kinds the containers of an application that uses a compact one are worth their shares of. One of
        '', 'all kinds'. Absent: ''.

    restart_cost: What a voluntary adjustment takes from the objective, in parts of what the containers of the
        application are worth, where it states no stay_worth; absent: 1/8.

    min_gain: What a voluntary adjustment takes at least, in containers of the application. Absent: 0.

    moves: How many running applications a decision may move, beyond what is worth it, to make room for larger
        pieces of the compact kinds; absent: none. No effect with paper_rule.

    min_run: How long what an application has is left as it is, in the unit of ends, unless it cannot stay, is
        drained or has to make room by a guarantee. No effect with paper_rule. Absent: 0.
    """
    share: Optional[str] = None
    loss: Optional[str] = None
    no_ceil_15: Optional[bool] = None
    no_ceil_16: Optional[bool] = None
    admit_prefix: Optional[bool] = None
    displace: Optional[bool] = None
    paper_rule: Optional[bool] = None
    order: Optional[str] = None
    preempt: Optional[bool] = None
    reclaim_level: Optional[bool] = None
    choose: Optional[bool] = None
    patience: Optional[float] = None
    reservations: Optional[int] = None
    worth: Optional[str] = None
    restart_cost: Optional[float] = None
    min_gain: Optional[float] = None
    moves: Optional[int] = None
    min_run: Optional[float] = None


@dataclass
class Problem:
    """A cluster, its applications, and what runs now.

    kinds: The names of the kinds of resources, each once.

    servers: The machines.

    applications: Every application that runs or waits, in the order of submission.

    theta1: The part of the theoretical shares that may be lost together; 1 is no limit.

    theta2: The part of the running applications, weighed by adjust_cost, that one decision may adjust by its own
        will.

    compact: The kinds that are scarce and should lie close: a container of an application that uses one of them
        is worth its share of these alone, unless options.worth says otherwise; absent: none. No effect with
        paper_rule.

    queues: A tree of queues; absent: all applications share alike.

    derived: Kinds that are counted from others: they count in shares, guarantees and levels of queues in place of
        their parts, and in ceilings beside them. Vectors of queues have a quantity of each behind those of the
        kinds.

    previous: What runs now, containers by application and server. Applications that are not in the list have
        finished; servers that are not in the list are gone.

    settled: That of the last answer, handed back: asked again with nothing new the answer is what runs. Absent:
        nothing is known.

    reservations: Those of the last answer, handed back. What has gone meanwhile has no effect.

    topology: Labels of servers that say in which domain one is, from the widest to the narrowest; a domain is the
        path of labels from the widest on.
    """
    kinds: list[str]
    servers: list[Server]
    applications: list[Application]
    theta1: float
    theta2: float
    compact: Optional[list[str]] = None
    queues: Optional[list[Queue]] = None
    derived: Optional[list[Derived]] = None
    previous: Optional[dict[str, dict[str, int]]] = None
    settled: Optional[Settled] = None
    reservations: Optional[list[Reservation]] = None
    topology: Optional[list[str]] = None
    options: Optional[Options] = None


@dataclass
class Metrics:
    """Metrics.

    utilization: The used part of each kind.

    resource_utilization: Their sum.

    fairness_loss: How far the shares are from the theoretical ones, summed.

    adjusted: How many running applications change, forced and preempted ones included.

    loss_budget: What fairness_loss may be.

    adjust_budget: What adjust_cost may be.

    forced: How many of these could not stay as they were.

    adjust_cost: What the others of these count against the budget.

    extra_servers: On how many more servers the applications are than the fewest that would hold each.

    waiting_loss: The same with those that wait, at share 0, among all that could be served; absent: none of them
        waits.

    preempted: How many of these were suspended for one of higher priority; absent: none.

    forced_by_ceiling: How many of those forced had to change because a queue had more than its ceiling; absent:
        none.

    least_loss: The least fairness loss found, where that is above what theta1 gives: then the budget is that, and
        what whole containers add; absent otherwise.

    extra_domains: By label of topology, in how many more domains of that level the applications are than the
        fewest empty ones that would hold each; absent: no topology.
    """
    utilization: list[float]
    resource_utilization: float
    fairness_loss: float
    adjusted: int
    loss_budget: float
    adjust_budget: int
    forced: int
    adjust_cost: int
    extra_servers: int
    waiting_loss: Optional[float] = None
    preempted: Optional[int] = None
    forced_by_ceiling: Optional[int] = None
    least_loss: Optional[float] = None
    extra_domains: Optional[dict[str, int]] = None


@dataclass
class Share:
    """Share.

    option: The option in use; absent: it has none, or no containers.

    domain: The domain that it must be within, its labels from the widest on with slashes between; absent: it need
        not be within one, or was left out.

    guaranteed: How many of its containers were held, as they are within what its queue is guaranteed; absent: 0.

    most: How many containers it was allowed, as more is beyond what its queue is guaranteed and another one waits
        within its guarantee; absent: as many as it may have.

    forced: It changes because it could not stay; absent: no.

    worth: Its part of objective, where an application states a worth; absent: 0.
    """
    id: str
    containers: int
    actual: float
    theoretical: float
    loss: float
    adjusted: bool
    option: Optional[str] = None
    domain: Optional[str] = None
    guaranteed: Optional[int] = None
    most: Optional[int] = None
    forced: Optional[bool] = None
    worth: Optional[float] = None


@dataclass
class QueueUse:
    """QueueUse.

    used: What all below it have together, in the order of kinds.

    level: The largest part of the cluster that it has of any kind, and its usage, over its weight.

    guarantee: What it is guaranteed, scaled to what there is; absent: nothing of its own.

    waiting: How many applications below it have no containers; absent: 0.
    """
    id: str
    used: list[int]
    level: float
    guarantee: Optional[list[int]] = None
    waiting: Optional[int] = None


@dataclass
class Blocker:
    """What keeps a job off some servers, or off all of them together.

    cause: What it is.

    servers: How many servers it keeps the job off; absent: it is about all together.

    server: The first of them.

    label: The requirement that these servers do not satisfy, as a selector.

    kind: The kind that is short.

    need: What is needed of it: by one container on a server, or by all that is asked; absent: 0.

    free: What there is of it on these servers; absent: 0.

    largest: The most of it on one of them; absent: 0.

    fits: How many containers have room on these servers; absent: 0.

    limit: The number that a rule allows; absent: 0.

    queue: The queue whose ceiling or guarantee it is.

    applications: The applications that have what is missing.

    setting: The field of the input that would lift it; absent: none would.
    """
    cause: str
    servers: Optional[int] = None
    server: Optional[str] = None
    label: Optional[str] = None
    kind: Optional[str] = None
    need: Optional[int] = None
    free: Optional[int] = None
    largest: Optional[int] = None
    fits: Optional[int] = None
    limit: Optional[int] = None
    queue: Optional[str] = None
    applications: Optional[list[str]] = None
    setting: Optional[str] = None


@dataclass
class Remedy:
    """A change that lets it have what it asks for, all else as it is.

    change: What changes. One of 'setting', 'uncordon', 'server', 'suspend'.

    applications: The applications that it changes.

    server: The server that it is about: for one more, one that is alike.

    setting: The field of the input that it changes.

    value: The least value that is enough; absent: 0.

    price: What it takes from the objective; absent: 0.
    """
    change: str
    applications: Optional[list[str]] = None
    server: Optional[str] = None
    setting: Optional[str] = None
    value: Optional[float] = None
    price: Optional[float] = None


@dataclass
class Reason:
    """Reason.

    text: The whole in short sentences.

    applications: The ones it cannot be met for; absent: all together.

    kind: The kind that is short.

    asked: How many containers more it asks for; absent: nobody has looked at the servers.

    fits: How many of these have room; absent: 0.

    blockers: What keeps it off the servers; absent: nobody has looked.

    remedies: Single changes that each are enough, the cheapest first; absent: none was found.
    """
    text: str
    constraint: Optional[str] = None
    applications: Optional[list[str]] = None
    kind: Optional[str] = None
    need: Optional[float] = None
    have: Optional[float] = None
    asked: Optional[int] = None
    fits: Optional[int] = None
    blockers: Optional[list[Blocker]] = None
    remedies: Optional[list[Remedy]] = None


@dataclass
class Waiting:
    """Waiting.

    left_out: The decision was taken as if the application were not there.

    passed: What was let in past it so far, in parts of the cluster: for the next input; absent: 0.
    """
    id: str
    reason: Reason
    left_out: Optional[bool] = None
    passed: Optional[float] = None


@dataclass
class Staying:
    """Staying.

    servers: The cordoned ones that it is on.
    """
    id: str
    servers: list[str]
    reason: Reason


@dataclass
class Step:
    """Step.

    action: One of 'save', 'destroy', 'create', 'start', 'resume'.

    option: The option of the containers; absent: the application has none.
    """
    action: str
    application: str
    option: Optional[str] = None
    server: Optional[str] = None
    containers: Optional[int] = None
    command: Optional[list[str]] = None


@dataclass
class Stop:
    """Stop.

    option: The option that this is about: the one in use, or that it would have; absent: it has none.

    spread: What its servers beyond the fewest take from the objective, and which application would have to move
        to end that; absent: nothing.

    last: What its last step to the number that it has has added; absent: 0.

    asked: How many containers more it asks for; absent: nobody has looked at the servers.

    fits: How many of these have room; absent: 0.

    blockers: What keeps it off the servers; absent: nobody has looked.

    remedies: Single changes that each are enough, the cheapest first; absent: none was found.
    """
    id: str
    containers: int
    min: int
    max: int
    gain: float
    need: float
    have: float
    price: float
    text: str
    option: Optional[str] = None
    constraint: Optional[str] = None
    kind: Optional[str] = None
    spread: Optional[str] = None
    last: Optional[float] = None
    applications: Optional[list[str]] = None
    asked: Optional[int] = None
    fits: Optional[int] = None
    blockers: Optional[list[Blocker]] = None
    remedies: Optional[list[Remedy]] = None


@dataclass
class KindPrice:
    """KindPrice."""
    kind: str
    unused: int
    highest: float
    server: str
    mean: float


@dataclass
class Prices:
    """What one more unit would bring, in utilization, at most.

    order: What the order of asking costs at most; absent: nothing is known of that.
    """
    kinds: list[KindPrice]
    fairness: float
    adjustment: float
    order: Optional[str] = None


@dataclass
class Decision(DecisionViews):
    """Who should have how many containers on which server.

    status: decided: allocation is an answer; kept, with paper_rule: what ran goes on. One of 'decided', 'kept'.

    objective: The utilization of allocation, summed over the kinds; the sum of worths where an application states
        one.

    proven: How far down the preference among optima the answer is proven. One of 'nothing', 'utilization',
        'loss', 'adjusted', 'moved', 'order'.

    interrupted: The time limit ended the search.

    shares: One for each application, in the order of the input.

    waiting: The newcomers without containers; all without containers when kept.

    suspended: The applications that ran and are left without containers.

    allocation: Containers by application and server.

    plan: What to do, in this order.

    explanation: What kept each application from one more container.

    prices: What one more unit would bring, in utilization, at most.

    bound: No allocation has more; absent when kept or unknown.

    gap: (bound - objective) / bound; absent when kept or unknown.

    open_bound: No choice of who is let in is worth more, whatever is lost; absent: nobody was left out, or worths
        have no bound.

    left_out: How many of waiting and suspended were left out: bound and gap are about the others; absent: none.

    queues: How every queue fares, in the order of the input; absent: none, or by submission, or with paper_rule.

    draining: The applications that leave cordoned servers; absent: none.

    staying: The applications that are left on cordoned servers, and why; absent: none.

    yielding: The applications that gave way to others by a guarantee, a level or a priority and go on, and those
        that grew by a guarantee: their change counts against no budget; absent: none.

    settled: For the next input; absent with the paper's rule.

    reservations: What is kept for applications that are due: for the next input; absent: nothing.

    reason: Why what ran was kept; absent when decided.

    domains: To which domains the bound is held, and of which applications these are certified to be the fewest;
        absent: to none.

    warnings: Budgets that cannot bind, whatever is decided, or that a ceiling has loosened.
    """
    status: str
    objective: float
    proven: str
    interrupted: bool
    metrics: Metrics
    shares: list[Share]
    waiting: list[Waiting]
    suspended: list[Waiting]
    allocation: dict[str, dict[str, int]]
    plan: list[Step]
    explanation: list[Stop]
    prices: Prices
    bound: Optional[float] = None
    gap: Optional[float] = None
    open_bound: Optional[float] = None
    left_out: Optional[int] = None
    queues: Optional[list[QueueUse]] = None
    draining: Optional[list[str]] = None
    staying: Optional[list[Staying]] = None
    yielding: Optional[list[str]] = None
    settled: Optional[Settled] = None
    reservations: Optional[list[Reservation]] = None
    reason: Optional[Reason] = None
    domains: Optional[str] = None
    warnings: Optional[list[str]] = None


@dataclass
class Proof:
    """A recorded decision that holds every constraint and whose numbers follow from it.

    status: That of the decision. One of 'decided', 'kept'.

    objective: Its utilization.

    searched: bound is lower than proven_bound because of a search, which replay repeats.

    unchecked: The fields of the decision that do not follow from problem, allocation and certificate, and so are
        its solver's word.

    bound: The bound that it claims; absent when kept or unknown.

    proven_bound: The bound that its certificate proves, computed afresh; absent when kept.

    least_loss: Where the loss budget was raised, a lower bound on the loss of every allocation that its
        certificate proves; absent: 0.
    """
    status: str
    objective: float
    searched: bool
    unchecked: list[str]
    bound: Optional[float] = None
    proven_bound: Optional[float] = None
    least_loss: Optional[float] = None


@dataclass
class Help:
    """Help.

    change: What is otherwise.

    containers: What it has then.

    objective: That of the whole cluster then.

    adjusted: How many applications are restarted then.
    """
    change: str
    containers: int
    objective: float
    adjusted: int


@dataclass
class Why:
    """What keeps an application from one more container, and what would help.

    tried: How many changes were tried, each by a decision.

    helps: Changes with which it has more, the most first.

    option: The option that this is about: the one in use, or that it would have; absent: it has none.

    spread: What its servers beyond the fewest take from the objective, and which application would have to move
        to end that; absent: nothing.

    staying: Why it is left on cordoned servers; absent: it is on none.

    last: What its last step to the number that it has has added; absent: 0.

    asked: How many containers more it asks for; absent: nobody has looked at the servers.

    fits: How many of these have room; absent: 0.

    blockers: What keeps it off the servers; absent: nobody has looked.

    remedies: Single changes that each are enough, the cheapest first; absent: none was found.

    starts: When it starts from now on, by replays of the decisions to come; absent: it has containers, or nothing
        is known of lengths.
    """
    id: str
    containers: int
    min: int
    max: int
    gain: float
    need: float
    have: float
    price: float
    text: str
    tried: int
    helps: list[Help]
    option: Optional[str] = None
    constraint: Optional[str] = None
    kind: Optional[str] = None
    spread: Optional[str] = None
    staying: Optional[str] = None
    last: Optional[float] = None
    applications: Optional[list[str]] = None
    asked: Optional[int] = None
    fits: Optional[int] = None
    blockers: Optional[list[Blocker]] = None
    remedies: Optional[list[Remedy]] = None
    starts: Optional[str] = None


@dataclass
class PriceBounds:
    """PriceBounds.

    U_worker: The price of one unit of a kind on a full worker server. 0: no job demands it.

    L_worker: The price on an empty one; 0 where U is.

    U_ps: The same for parameter-server servers.

    L_ps: The same for parameter-server servers.

    eta_worker: The scaling factor that L was made with; takes no part in prices.

    eta_ps: The same for parameter-server servers.
    """
    U_worker: Union[float, list[float]]
    L_worker: Union[float, list[float]]
    U_ps: Union[float, list[float]]
    L_ps: Union[float, list[float]]
    eta_worker: Optional[float] = None
    eta_ps: Optional[float] = None


@dataclass
class AdmissionOptions:
    """AdmissionOptions.

    literal: U and L as the paper prints them. Absent: False.

    eta_per_job: The scaling factor of each job by itself; false: the largest for all. Absent: True.

    raw_units: Add up quantities of different kinds as they are, not in the mean capacity of a server. Absent:
        False.

    l_floor_eps: The part of the largest utility below which utilities do not pull L down. Absent: 0.05.

    l_scale: Multiplies L. Absent: 1.

    u_scale: Multiplies U. Absent: 1.

    reached: A total utility that some schedule of the jobs reaches: raises L as far as the guarantee allows. 0:
        not known. Absent: 0.

    rolling: Every job may use all slots from its arrival on, for streams that advance. Absent: False.

    method: How the best schedule is found; all but the last are exact. One of 'bounds first', 'capped dp', 'chunk
        dp'. Absent: 'bounds first'.

    certificate_steps: The effort behind the upper bound: each step costs about as much as all decisions. Absent:
        60.
    """
    literal: Optional[bool] = None
    eta_per_job: Optional[bool] = None
    raw_units: Optional[bool] = None
    l_floor_eps: Optional[float] = None
    l_scale: Optional[float] = None
    u_scale: Optional[float] = None
    reached: Optional[float] = None
    rolling: Optional[bool] = None
    method: Optional[str] = None
    certificate_steps: Optional[int] = None


@dataclass
class Horizon:
    """The cluster, and how prices are made.

    kinds: The names of the kinds of resources, each once.

    slots: T: how many slots a schedule may reach over, the current one included.

    worker_servers: The servers for workers.

    ps_servers: The servers for parameter servers; an id that is on both sides is refused.

    bounds: The ends of the price functions; absent: from all jobs of the stream, which is then read to its end
        before the first answer.
    """
    kinds: list[str]
    slots: int
    worker_servers: list[Server]
    ps_servers: list[Server]
    bounds: Optional[PriceBounds] = None
    options: Optional[AdmissionOptions] = None


@dataclass
class Utility:
    """Utility.

    sigmoid: [gamma1, gamma2, gamma3]: gamma1 / (1 + exp(gamma2 (d - gamma3))).

    constant: The same whenever it ends.

    linear: [start, per_slot]: max(0, start - per_slot d).

    steps: [[d, u], ...], d rising: u if it ends at most d slots after its arrival; 0 after the last.
    """
    sigmoid: Optional[list[float]] = None
    constant: Optional[float] = None
    linear: Optional[list[float]] = None
    steps: Optional[list[Any]] = None


@dataclass
class Job:
    """Job.

    id: Not empty, unique in the stream.

    arrival: The slot in which it arrives, and the first that it may use; never before that of the job before.

    epochs: E: passes over the data.

    chunks: N: chunks of data, and the most workers at one time.

    minibatches: M: mini-batches in a chunk.

    minibatch_slots: tau: slots in which one worker trains one mini-batch.

    worker_bandwidth: b: what one worker reserves; only the ratio to ps_bandwidth counts.

    ps_bandwidth: B: what one parameter server reserves.

    worker: What one worker needs.

    ps: What one parameter server needs.

    utility: What the job is worth by the slots from arrival to completion; never rises.

    comm_slots: 2e/b: slots in which one worker sends gradients and receives parameters for one mini-batch.

    worker_requires: What the labels of the servers of its workers satisfy, all of it.

    ps_requires: The same for parameter servers.
    """
    id: str
    arrival: int
    epochs: int
    chunks: int
    minibatches: int
    minibatch_slots: float
    worker_bandwidth: int
    ps_bandwidth: int
    worker: Resources
    ps: Resources
    utility: Utility
    comm_slots: Optional[float] = None
    worker_requires: Optional[list[Requirement]] = None
    ps_requires: Optional[list[Requirement]] = None


@dataclass
class Advance:
    """A slot becomes the current one.

    advance: A slot.
    """
    advance: int


@dataclass
class Cancel:
    """A job ends without being worth anything."""
    cancel: str


@dataclass
class Complete:
    """A job has ended in a slot, sooner than planned.

    slot: A slot.
    """
    complete: str
    slot: int


@dataclass
class Fail:
    """A server is lost in a slot and all later ones.

    slot: A slot.
    """
    fail: str
    slot: int


@dataclass
class Repair:
    """A lost server is back in a slot and all later ones.

    slot: A slot.
    """
    repair: str
    slot: int


@dataclass
class Schedule:
    """Schedule.

    workers: Workers by server.

    ps: Parameter servers by server.
    """
    slot: int
    workers: dict[str, int]
    ps: dict[str, int]


@dataclass
class Admission:
    """Admission.

    payoff: Utility less the price of the schedule; 0 where it is not admitted.

    utility: What it is worth at its completion; 0 where it is not admitted.

    completion: The last slot with a worker; 0 where it is not admitted.

    reason: One of 'admitted', 'bandwidth too small', 'fits no worker server', 'fits no ps server', 'too few
        slots', 'worthless', 'no room', 'too expensive'.

    schedule: The slots in which it has workers, ascending.
    """
    id: str
    admitted: bool
    payoff: float
    utility: float
    completion: int
    reason: str
    schedule: list[Schedule]


@dataclass
class Ended:
    """Ended."""
    id: str
    completion: int
    utility: float


@dataclass
class Advanced:
    """Advanced.

    ended: The jobs whose schedule has ended.
    """
    advance: int
    ended: list[Ended]


@dataclass
class Cancelled:
    """Cancelled."""
    cancel: str


@dataclass
class Completed:
    """Completed."""
    complete: str
    completion: int
    utility: float


@dataclass
class Failed:
    """Failed.

    displaced: New decisions about the jobs that ran there; one that is not admitted has lost its place.
    """
    fail: str
    slot: int
    displaced: list[Admission]


@dataclass
class Repaired:
    """Repaired."""
    repair: str
    slot: int


@dataclass
class Total:
    """Total.

    total_utility: What all jobs earned or will.

    upper_bound: No schedules of these jobs earn more.

    certified_ratio: upper_bound / total_utility; absent where it is infinite.
    """
    total_utility: float
    upper_bound: float
    certified_ratio: Optional[float] = None


@dataclass
class Fault:
    """Fault.

    item: What has the fault; empty: the input itself.

    field: Its field.

    detail: The value, or a remark.

    problem: The sort of fault. One of 'is empty', 'is there twice', 'is unknown', 'is negative', 'is out of
        range', 'is not a finite number', 'overflows int64', 'has the wrong length', 'contradicts another field',
        'is missing', 'has the wrong type', 'demands nothing', 'holds more than its capacity', 'increases with the
        completion time', 'is larger than the limit on memory', 'is no state, or a damaged one', 'is no snapshot,
        or a damaged one'.

    line: The line of the text on which it stands; absent where only the whole shows it, and in streams, where
        item says it.
    """
    item: str
    field: str
    detail: str
    problem: str
    line: Optional[int] = None


@dataclass
class Refusal:
    """The answer to a line that is at fault, which changes nothing.

    line: Which line of the stream.

    faults: Every fault of the input.
    """
    line: int
    error: str
    faults: Optional[list[Fault]] = None


@dataclass
class FlowConOptions:
    """FlowConOptions.

    normalization: What the values of a container are divided by. One of 'first-value', 'raw', 'largest-growth'.
        Absent: 'first-value'.

    classifier: The thesis' test, or one that is robust to noise and takes alpha as a share of the improvement so
        far. One of 'threshold', 'prospect'. Absent: 'threshold'.

    confidence: Of the classifier prospect: how many factors of two the odds of a growing job must lie above those
        of a slow one. Absent: 4.

    silence: Seconds without a sample after which a container counts as slow; 0: five intervals. Absent: 0.

    steering: The kind whose usage counts; absent: the first.

    beta: The least limit on a worker with n containers is 1 / (beta n). Absent: 2.

    max_interval: The longest interval in seconds; 0: none. Absent: 0.

    min_interval: The least time in seconds over which growth is measured. Absent: 0.

    bound_converged_only: The least limit holds for converged containers only, as printed. Absent: False.

    unmeasured_is_zero: The growth of a container that is not measured yet counts as 0, not as infinite. Absent:
        False.

    missing_is_zero: Where nothing new was sampled since the run before, growth is 0. Absent: False.

    bound_one_more: The least limit is 1 / (n + 1); not beside beta. Absent: False.
    """
    normalization: Optional[str] = None
    classifier: Optional[str] = None
    confidence: Optional[float] = None
    silence: Optional[float] = None
    steering: Optional[str] = None
    beta: Optional[float] = None
    max_interval: Optional[float] = None
    min_interval: Optional[float] = None
    bound_converged_only: Optional[bool] = None
    unmeasured_is_zero: Optional[bool] = None
    missing_is_zero: Optional[bool] = None
    bound_one_more: Optional[bool] = None


@dataclass
class Worker:
    """The kinds that are limited on the worker, and how.

    kinds: The names of the kinds of resources, each once.

    interval: itval: seconds between two runs while any container grows.

    alpha: The growth efficiency below which a container is slow.
    """
    kinds: list[str]
    interval: float
    alpha: float
    options: Optional[FlowConOptions] = None


@dataclass
class Sample:
    """Sample.

    time: Seconds since any origin.

    container: Not empty. A name that is new is a container that has arrived.

    value: The evaluation function; absent: the container runs, and nothing is known yet.

    usage: For every kind the average usage since the sample before, as a share of the worker.

    direction: Which values are better; stands until a later sample says otherwise. One of 'either way', 'smaller
        is better', 'larger is better'.
    """
    time: float
    container: str
    value: Optional[Union[float, str]] = None
    usage: Optional[dict[str, float]] = None
    direction: Optional[str] = None


@dataclass
class Exit:
    """A container is gone."""
    exit: str


@dataclass
class Tick:
    """Asks for an answer: the time now, in seconds."""
    tick: float


@dataclass
class Move:
    """Move.

    from_: One of 'outside', 'progressing', 'watching', 'converged'.

    to: One of 'outside', 'progressing', 'watching', 'converged'.

    growth: What it showed.

    reason: One of 'arrived', 'left', 'grows slowly', 'grows again', 'value is not finite', 'fell silent'.
    """
    container: str
    from_: str
    to: str
    growth: float
    reason: str


@dataclass
class Limit:
    """Limit.

    limit: The upper limit on its usage, as a share of the worker; soft.

    was: The limit before; 0 for a new container.

    reason: One of 'not measured', 'free competition', 'share of growth', 'lower bound'.
    """
    container: str
    kind: str
    limit: float
    was: float
    reason: str


@dataclass
class Limits:
    """The answer to a tick.

    trigger: Why limits were set anew: containers came or left, or the interval is over. One of 'not-due', 'due',
        'listener'.

    interval: The interval in seconds from now on.

    next: When to tick next, if no container comes or leaves before.

    moves: Changes of category.

    limits: The limits that changed; the others stay.
    """
    time: float
    trigger: str
    interval: float
    next: float
    moves: list[Move]
    limits: list[Limit]


@dataclass
class WorkerServer:
    """WorkerServer.

    id: Not empty, unique.

    capacity: What containers may use there.
    """
    id: str
    capacity: Resources


@dataclass
class SpeConOptions:
    """SpeConOptions.

    normalization: What the values of a container are divided by. One of 'first-value', 'raw', 'largest-growth'.
        Absent: 'first-value'.

    classifier: The thesis' test, or one that is robust to noise and takes alpha as a share of the improvement so
        far. One of 'decline', 'prospect'. Absent: 'decline'.

    confidence: Of the classifier prospect: how many factors of two the odds of a growing job must lie above those
        of a slow one. Absent: 4.

    silence: Seconds without a sample after which a container counts as slow; 0: five intervals. Absent: 0.

    steering: The kind whose usage counts; absent: the first.

    separate: One slow interval takes a container all the way to converged, as printed. Absent: False.

    at_entry: A container asks for another host as soon as it is converged, not one interval later. Absent: False.

    weights: Weights of progressing, watching and converged containers in a worker's score: multiples of 1/2 that
        fall. Absent: [2, 1.5, 1].

    ignore_room: Move containers to workers without room, as the thesis does. Absent: False.

    rebalance: Even the workers out when all containers are converged. Absent: True.

    rebalance_literal: Do so as printed: one container to each idle worker. Absent: False.

    rebalance_ceiling: Round the containers of a worker up, not down. Absent: False.
    """
    normalization: Optional[str] = None
    classifier: Optional[str] = None
    confidence: Optional[float] = None
    silence: Optional[float] = None
    steering: Optional[str] = None
    separate: Optional[bool] = None
    at_entry: Optional[bool] = None
    weights: Optional[list[float]] = None
    ignore_room: Optional[bool] = None
    rebalance: Optional[bool] = None
    rebalance_literal: Optional[bool] = None
    rebalance_ceiling: Optional[bool] = None


@dataclass
class Cluster:
    """The workers, and how containers are judged and moved.

    kinds: The names of the kinds of resources, each once.

    workers: The machines.

    interval: Seconds between two categorizations.

    alpha: The gain in an interval below which a container is slow.
    """
    kinds: list[str]
    workers: list[WorkerServer]
    interval: float
    alpha: float
    options: Optional[SpeConOptions] = None


@dataclass
class WorkerSample:
    """WorkerSample.

    time: Seconds since any origin.

    container: Not empty. A name that is new is a container that has arrived.

    value: The evaluation function; absent: the container runs, and nothing is known yet.

    usage: For every kind the average usage since the sample before; absent: 1 each.

    direction: Which values are better; stands until a later sample says otherwise. One of 'either way', 'smaller
        is better', 'larger is better'.

    worker: Where it is; needed in its first sample, then absent: where it was, or was moved to.

    demand: What it needs; absent: as before, at first nothing.
    """
    time: float
    container: str
    value: Optional[Union[float, str]] = None
    usage: Optional[dict[str, float]] = None
    direction: Optional[str] = None
    worker: Optional[str] = None
    demand: Optional[Resources] = None


@dataclass
class WorkerMove:
    """WorkerMove.

    from_: One of 'outside', 'progressing', 'watching', 'converged'.

    to: One of 'outside', 'progressing', 'watching', 'converged'.

    growth: What it showed.

    reason: One of 'arrived', 'left', 'grows slowly', 'grows again', 'value is not finite', 'fell silent'.
    """
    container: str
    from_: str
    to: str
    growth: float
    reason: str


@dataclass
class WorkerState:
    """WorkerState."""
    id: str
    progressing: int
    watching: int
    converged: int
    score: float


@dataclass
class Request:
    """Request."""
    container: str
    gain: float
    decision: str


@dataclass
class Transfer:
    """Transfer."""
    container: str
    from_: str
    to: str
    reason: str


@dataclass
class Migrations:
    """The answer to a tick.

    ran: The interval was over, and containers were judged.

    next: When to tick next.

    moves: Changes of category.

    workers: The containers of each worker by category, and its score, after all moves.

    requests: The containers that ask for another host, and what was decided.

    rebalance: Containers that are to move to even the workers out, in this order.

    migration: One container that is to move; absent: none.
    """
    time: float
    ran: bool
    next: float
    moves: list[WorkerMove]
    workers: list[WorkerState]
    requests: list[Request]
    rebalance: list[Transfer]
    migration: Optional[Transfer] = None


@dataclass
class SimJob:
    """A job.

    id: Not empty, unique.

    demand: What one container needs; not zero in all kinds.

    max: The most containers.

    work: How long it takes at speed 1.

    weight: Scales the fair share. Absent: 1.

    min: The fewest containers that it runs with. Absent: 0.

    arrival: When it is submitted. Absent: 0.

    fixed: How many containers a policy with fixed numbers gives it; absent: max.

    speed: Its speed by the number of containers from 1 on; the last holds for more. Absent: their number.
    """
    id: str
    demand: Resources
    max: int
    work: float
    weight: Optional[float] = None
    min: Optional[int] = None
    arrival: Optional[float] = None
    fixed: Optional[int] = None
    speed: Optional[list[float]] = None


@dataclass
class Scenario:
    """A cluster, and the jobs that will be submitted to it. Times are in seconds.

    kinds: The names of the kinds of resources, each once.

    servers: What there is; one or more.

    jobs: In any order; those of one arrival are submitted in this order.

    adjust_cost: How long a job makes no progress after each change of its containers. Absent: 0.

    horizon: When the run ends; absent: when nothing happens any more.

    policy: Who decides; absent: the caller, see the answers to states. One of 'backfill', 'dorm', 'drf', 'fifo'.

    theta1: Of dorm: how unfair a decision may be. Absent: 0.

    theta2: Of dorm: the part of the running jobs that one decision may change. Absent: 0.
    """
    kinds: list[str]
    servers: list[Server]
    jobs: list[SimJob]
    adjust_cost: Optional[float] = None
    horizon: Optional[float] = None
    policy: Optional[str] = None
    theta1: Optional[float] = None
    theta2: Optional[float] = None


@dataclass
class Orders:
    """The answer to a state.

    places: By job, how many containers it has on which server from now on; a job that is not named stays as it
        is.

    refused: Waiting jobs that leave without having run.

    next: When the policy is asked again at the latest, behind now; absent: when a job comes or ends.
    """
    places: dict[str, dict[str, int]]
    refused: Optional[list[str]] = None
    next: Optional[float] = None


@dataclass
class JobState:
    """A job of a state.

    left: How long it still takes at speed 1.

    places: How many containers it has on which server.

    new: No state before had it.
    """
    id: str
    left: float
    places: dict[str, int]
    new: Optional[bool] = None


@dataclass
class State:
    """The cluster at a decision, which the next line of the input answers.

    now: The time.

    jobs: All that have arrived and neither completed nor been refused, in the order of submission.

    ended: Jobs that have completed since the state before.
    """
    now: float
    jobs: list[JobState]
    ended: list[str]


@dataclass
class Outcome:
    """What became of a job.

    adjusted: How often it was changed while it ran.

    paused: How long it stood still for that.

    refused: It has left without having run.

    start: When it had its first containers; absent: never.

    completion: When its work was done; absent: never.
    """
    id: str
    adjusted: int
    paused: float
    refused: Optional[bool] = None
    start: Optional[float] = None
    completion: Optional[float] = None


@dataclass
class Result(ResultViews):
    """The end of the run.

    policy: Who has decided.

    makespan: When the last job has completed.

    mean_response: The mean time from submission to completion.

    utilization: The part of each kind that is in use, as a mean over the makespan.

    fairness_loss: What jobs lack of their fair shares or have beyond them, as a mean over the makespan.

    adjusted: How often running jobs were changed.

    jobs: In the order of the first line.
    """
    policy: str
    makespan: float
    mean_response: float
    utilization: list[float]
    fairness_loss: float
    adjusted: int
    jobs: list[Outcome]


@dataclass
class Outlook:
    """The decision without the changes.

    adjusted: How many running applications are restarted.

    waiting: How many have nothing.
    """
    objective: float
    fairness_loss: float
    adjusted: int
    waiting: int
    bound: Optional[float] = None


@dataclass
class Effect:
    """Effect.

    now: What it has now; absent: it is not there.

    then: What it has then; absent: it is not there.

    restarts: It runs, and is restarted.

    text: Why it has nothing then.
    """
    id: str
    now: Optional[int] = None
    then: Optional[int] = None
    restarts: Optional[bool] = None
    text: Optional[str] = None


@dataclass
class WhatIf:
    """A decision beside that of a changed problem, both from the same allocation.

    changes: What is otherwise, in words.

    now: The decision without the changes.

    then: The decision with them.

    applications: Those that have other containers then.
    """
    changes: list[str]
    now: Outlook
    then: Outlook
    applications: list[Effect]


@dataclass
class Quantiles:
    """In seconds from now; absent: later than the horizon.

    p10: A tenth of the replays are earlier.

    p50: Half of the replays are earlier.

    p90: Nine tenths of the replays are earlier.
    """
    p10: Optional[float] = None
    p50: Optional[float] = None
    p90: Optional[float] = None


@dataclass
class Times:
    """Times.

    start: When it starts.

    end: When it ends.
    """
    id: str
    start: Quantiles
    end: Quantiles


@dataclass
class NoForecast:
    """That nothing is known of lengths: there are no times."""
    constraint: Any
    need: float
    have: float
    text: str


@dataclass
class Without:
    """Without.

    id: The application that was left out.
    """
    id: str
    jobs: list[Times]


@dataclass
class Forecast:
    """When applications start and end.

    jobs: The applications that were asked for; none where reason says why.

    replays: How many replays there were.

    horizon: How far they looked, in seconds.

    decisions: How many decisions all replays took.

    reason: That nothing is known of lengths: there are no times.

    unknown: Applications of whose length nothing is known: they run beyond the horizon.

    without: When the others start without one application.
    """
    jobs: list[Times]
    replays: int
    horizon: float
    decisions: int
    reason: Optional[NoForecast] = None
    unknown: Optional[list[str]] = None
    without: Optional[list[Without]] = None


@dataclass
class Known:
    """Known.

    id: That of the application.

    user: Its user, for the runs.

    queue: Its queue, for the runs; absent: that of the application.

    ran: For how long it has run.

    left: Lengths that it may still run, each as likely.
    """
    id: str
    user: Optional[str] = None
    queue: Optional[str] = None
    ran: Optional[float] = None
    left: Optional[list[float]] = None


@dataclass
class Run:
    """Run.

    length: How long it ran.

    limit: Its walltime limit; absent: none.
    """
    length: float
    user: Optional[str] = None
    queue: Optional[str] = None
    limit: Optional[float] = None


@dataclass
class Lengths:
    """What is known of lengths, in seconds.

    known: By application.

    runs: Jobs that have ended, in that order.
    """
    known: Optional[list[Known]] = None
    runs: Optional[list[Run]] = None


@dataclass
class Settings:
    """Settings that are otherwise from now on."""
    theta1: Optional[float] = None
    theta2: Optional[float] = None
    preempt: Optional[bool] = None


@dataclass
class Change:
    """One thing that is otherwise: exactly one field.

    arrive: An application comes; it is asked last.

    update: An application is otherwise, in its place.

    end: An application has ended.

    join: A server comes. One that is lost by the same changes joins by the next.

    lose: A server is gone, with what ran there.

    cordon: Nothing new comes to a server; what runs there leaves if it can.

    uncordon: A server takes containers again.
    """
    arrive: Optional[Application] = None
    update: Optional[Application] = None
    end: Optional[str] = None
    join: Optional[Server] = None
    lose: Optional[str] = None
    cordon: Optional[str] = None
    uncordon: Optional[str] = None
    set: Optional[Settings] = None


@dataclass
class Question:
    """One question.

    changes: What has happened; the cluster is decided with it. Empty: decide again.

    whole: All of the answer, and not what is new.

    why: An application: what keeps it from more containers.

    what_if: What could happen: nothing changes by it.

    show: problem: what the next decision begins from, as a first line; record: the last decision of the whole,
        for verify and replay. One of 'problem', 'record'.
    """
    changes: Optional[list[Change]] = None
    whole: Optional[bool] = None
    why: Optional[str] = None
    what_if: Optional[list[Change]] = None
    show: Optional[str] = None


@dataclass
class News:
    """What is new by changes.

    allocation: The applications whose containers are others now, by server; empty: it has none.

    whole: Why the whole cluster was decided; absent: the changes were decided by themselves, near the best
        answer.
    """
    status: str
    objective: float
    metrics: Metrics
    allocation: dict[str, dict[str, int]]
    plan: list[Step]
    waiting: list[Waiting]
    suspended: list[Waiting]
    whole: Optional[str] = None
    bound: Optional[float] = None
    gap: Optional[float] = None
    open_bound: Optional[float] = None
    interrupted: Optional[bool] = None


# The types of the lines that a stream answers with.
OASIS_OUTPUT = (Admission, Advanced, Cancelled, Completed, Failed, Repaired, Total, Refusal,)
FLOWCON_OUTPUT = (Limits, Refusal,)
SPECON_OUTPUT = (Migrations, Refusal,)
SIM_OUTPUT = (State, Result,)
SESSION_OUTPUT = (Decision, News, Why, WhatIf, Problem, Refusal,)
