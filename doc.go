// Package apportion is a library for schedulers of clusters that train machine-learning models. It
// answers four questions, in packages that only compute, and leaves everything else to its importer:
//
//   - drf: who deserves how much? Dominant resource fairness, divisible and in whole containers.
//   - alloc: who gets how many containers on which server right now? Dorm's utilization-fairness
//     optimizer, with an upper bound, a plan of what to create and destroy, and an explanation.
//   - primaldual: should this job be admitted, and when should it run? OASiS: admission by prices of
//     future resources, with the best schedule of workers and parameter servers.
//   - growth and placement: who still profits from resources, and where should the others go?
//     FlowCon's and SpeCon's classifiers, host choice, rebalancing and packers. Below placement, sim
//     plays all of these against each other, and against a policy of one's own.
//
// The fifth carries out an answer that takes resources away from a running job:
//
//   - checkpoint: how is a job resized without losing its work, whatever dies meanwhile? Dorm's
//     checkpoint-based adjustment as a state machine, its journal, stores, runners of jobs and the formats
//     of frameworks.
//
// This package itself is their vocabulary: [Kinds] names the kinds of resources, [Resources] is an
// exact vector of quantities, [Server] a machine, [FieldError] and [Faults] what is wrong with an
// input.
//
// # House rules
//
// Quantities are int64 in the caller's own units, exact and checked for overflow. Shares, prices and
// utilities are float64, compared within tolerances that have names.
//
// Inputs are read, never changed and never retained; what is returned is the caller's. Where a
// method takes a destination to avoid allocating, it says so.
//
// The same input gives the same output, whatever the order of maps and the number of CPUs. Ties are
// broken by rules that the documentation states. Nothing reads a clock, draws from a global random
// source, starts a goroutine, logs or touches a disk, except back-ends of solvers and checkpoints.
// Effort is a number of steps, not of seconds; a context may end a search early, and then the
// result says so.
//
// An error means that the input is bad, and names the item and the field of every fault, or that a
// call could not run. What cannot be had (a rejected job, an application that must wait, an
// infeasible program) is a result with a reason and the numbers behind it.
//
// Every optimum comes with a bound that anyone can recompute, every share vector with a check.
//
// # Glossary
//
// One word for one thing, in all packages.
//
//   - application: what alloc calls a job, with Dorm's word ([github.com/apportion/apportion/alloc.Application]).
//   - job: one training run, which may hold several containers ([github.com/apportion/apportion/primaldual.Job],
//     [github.com/apportion/apportion/checkpoint.Job]).
//   - server: one machine of the cluster ([Server]): Dorm's slave, a Kubernetes node.
//   - worker: in growth and placement a server, as SpeCon says; in primaldual a container that trains.
//   - parameter server: a container that holds parameters of a job
//     ([github.com/apportion/apportion/primaldual.Job].PS); it is no [Server].
//   - container: the unit that a job is given; all containers of a job, or of one side of it, are alike.
//   - placement: a number of containers of one job on one server ([Placement]).
//   - kind: the name of a resource, in the caller's unit ([Kinds]).
//   - demand: what one container needs of each kind ([Resources]).
//   - claim: what somebody asks of a filling ([github.com/apportion/apportion/drf.Claim]).
//   - queue: a node of a tree, which shares with its siblings what their parent has
//     ([github.com/apportion/apportion/drf.Queue]).
//   - client: who is served by a sorter ([github.com/apportion/apportion/drf.Client]).
//   - share: the part of the cluster that somebody has of the kind of which this part is largest: the
//     dominant share ([Resources.DominantShare]).
//   - reading: one measurement of a running job ([github.com/apportion/apportion/growth/flowcon.Reading]).
//   - decision: the answer of an optimizer or a scheduler ([github.com/apportion/apportion/alloc.Decision],
//     [github.com/apportion/apportion/primaldual.Decision]).
//   - reason: why something was refused, waits or stopped, with the numbers ([Reason]).
//   - status: how a search ended ([github.com/apportion/apportion/alloc/solver.Status]).
//   - bound: a number that no answer can be better than; where it is a limit of the input, the text says
//     bounds of what.
//   - gap: (bound - objective)/|bound|, 0 where the answer is optimal.
//   - certificate: numbers from which anyone can recompute a bound
//     ([github.com/apportion/apportion/alloc/solver.Certificate],
//     [github.com/apportion/apportion/primaldual.Certificate]).
//   - plan: the steps from one allocation to the next ([github.com/apportion/apportion/alloc.Plan]).
//   - adjustment: the change of a running job's containers, by a checkpoint
//     ([github.com/apportion/apportion/checkpoint.Machine]).
//   - forced: of a job that cannot stay as it is, because its server is gone or too full, or its bounds or
//     requirements have changed; its adjustment counts against no budget.
//   - suspended: of a job that ran and is left without containers, its state saved; a newcomer without any waits.
//   - cordoned: of a server to which nothing new comes ([Server].Cordoned).
//   - attempt: one try to run a job, numbered so that a late answer to an earlier one is recognized
//     ([github.com/apportion/apportion/checkpoint.Job]).
//   - epoch: one pass of a job over its data ([github.com/apportion/apportion/primaldual.Job].Epochs).
//   - slot: a stretch of time of fixed length, from 1 ([github.com/apportion/apportion/primaldual.Cluster].Slots).
//
// # Index
//
// Where each part of the papers is: paper and section, file, names. Each key is there once.
//
//	[Ghodsi11 §4.1, §4.3, divisible]	drf/water.go	water.pass, water.freeze
//	[Ghodsi11 Algorithm 1, whole containers]	drf/whole.go	FillWhole
//	[Ghodsi11 Algorithm 1, in bulk]	drf/leap.go	whole.leap
//	[Ghodsi11 §4.3, exact levels]	drf/level.go	compareLevels, countBelow
//	[Ghodsi11 Algorithm 1, lines 3-4, next client]	drf/sorter.go	Sorter
//	[Ghodsi11 §3]	drf/verify.go	Verify
//	[Ghodsi11 §3, the five properties]	drf/properties.go	verifier.checkPareto, verifier.checkEnvy, verifier.checkIncentive
//	[Bhattacharya13 §3, trees]	drf/tree.go	Tree, NewTree
//	[Bhattacharya13 §4, divisible]	drf/fill.go	Fill, Tree.Fill, fluid.happen
//	[Bhattacharya13 §4, least children]	drf/vessel.go	vessel.regroup, vessel.changed
//	[Bhattacharya13, whole containers]	drf/whole.go	Tree.FillWhole
//	[Bhattacharya13, next client]	drf/client.go	group.lift, group.within
//	[Bhattacharya13 §3, properties]	drf/treeverify.go	VerifyTree
//	[derived kinds, no paper]	drf/derived.go	Derivation
//	[Kay88 §4, decayed use]	drf/history.go	History
//	[Kay88 §4, the decay of an interval]	drf/decay.go	keeps, blend
//	[borrowing and taking back, no paper]	drf/borrow.go	Sorter.Balances, Tree.Reclaim
//	[Dorm §III-B]	alloc/problem.go	Problem, Application, Option
//	[Program §2, (G), queues]	alloc/queue.go	Problem.limitedQueues, resolved.forceBelowCeilings
//	[Gupta99, minimum bin slack]	alloc/internal/packing/packing.go	Task.Pack
//	[Program §3, newcomers packed anew]	alloc/pack.go	admission.pack
//	[Program §13, domains]	alloc/internal/domain/tree.go	New
//	[Program §13, fewest domains]	alloc/internal/domain/choose.go	Tree.Choose
//	[Program §13, sets of domains worth keeping]	alloc/internal/domain/frontier.go	chooser.frontier, prune
//	[Program §13, held to domains]	alloc/confine.go	resolved.confine
//	[Program §13, referee]	alloc/domaincheck.go	Problem.checkDomainsOf
//	[Program §1, H]	alloc/option.go	Problem.apart, resolved.choices
//	[Program §2, H, referee]	alloc/solver/choice.go	Instance.checkChoices, Instance.Apart
//	[Program §4, H, bound]	alloc/solver/dualbound.go	DualBound, filler.choose
//	[Program §2, H, rows]	alloc/internal/program/choices.go	builder.choices
//	[Program §14, prices on pieces]	alloc/solver/pieces.go	PiecePrices, filler.splits
//	[Program §14, descent by them]	alloc/embedded/internal/lagrange/pieces.go	Dual.WithPieces
//	[Program §4, H, prices]	alloc/embedded/internal/lagrange/options.go	Dual.WithOptions, Dual.chooseOptions
//	[Pisinger95, joined servers]	alloc/embedded/internal/lagrange/joining.go	NewTotals, Totals.compress
//	[Pisinger95, ways of applications]	alloc/embedded/internal/lagrange/lister.go	lister, newCells
//	[Pisinger95, what is used]	alloc/embedded/internal/lagrange/ledger.go	Totals.Best, ledger.run
//	[joined servers, numbers to begin with, no paper]	alloc/embedded/totals.go	run.byTotals
//	[joined servers, places for numbers, no paper]	alloc/embedded/pack.go	packer.first, pack
//	[Program §2, H, search]	alloc/embedded/choices.go	Solver.solveChoices, chooser.byTotals, fix
//	[Danna05, near the relaxation]	alloc/embedded/program.go	Solver.answerBest, programmer.near
//	[Program §2, (G), referee]	alloc/solver/group.go	Instance.checkGroups, Instance.Room
//	[Program §2, (G), rows]	alloc/internal/program/ceilings.go	builder.ceilings
//	[Program §2, (G), search]	alloc/embedded/ceilings.go	Solver.solveGroups
//	[Program §2, (G), maxima]	alloc/embedded/maxima.go	run.apportioned, run.divide
//	[Program §2, (G), kept ceilings]	alloc/embedded/internal/lagrange/whole.go	Dual.Whole
//	[Program §2, (G), moves]	alloc/embedded/internal/search/ceilings.go	Annealer.relieve, Annealer.giveWay
//	[Program §4, nu]	alloc/embedded/internal/problem/ceilings.go	Problem.compileCeilings
//	[Dorm §III-C1]	alloc/reallocate.go	Reallocate
//	[Dorm §III-C2, plan]	alloc/plan.go	NewPlan
//	[Dorm (1)-(4)]	alloc/metrics.go	Measure
//	[Dorm (6)-(18)]	alloc/internal/program/build.go	Build
//	[Dorm (13), (14), big M]	alloc/internal/program/verbatim.go	verbatim, builder.adjusted
//	[Dorm (6)-(18), classes of servers]	alloc/internal/program/class.go	byClass
//	[Dorm (6)-(18), no big M]	alloc/internal/program/disjunctive.go	disjunctive
//	[Dorm (11), (12), (15)]	alloc/internal/program/loss.go	builder.loss, builder.wholeLoss
//	[Dorm (7), (8), (16), steps, lists, costs]	alloc/internal/program/numbers.go	builder.numbers, builder.adjustCosts
//	[Dorm P1 (5), containers moved]	alloc/internal/program/moved.go	movement
//	[proofs refuted by what is attained, no paper]	alloc/mip/refute.go	Solver.refute
//	[Dorm (10)-(16)]	alloc/solver/instance.go	Instance, App, Choice, Group
//	[Dorm (3), who stays]	alloc/solver/place.go	App.Adjusted, Instance.MayStay
//	[Dorm (6)-(9), (15), (16)]	alloc/solver/check.go	Instance.Check
//	[Dorm (7), (8), steps and lists]	alloc/solver/count.go	App.Allows
//	[worth by number, prices of restarts, no paper]	alloc/solver/worth.go	App.WorthOf
//	[Kelly98, proportional fairness]	alloc/worth/utility.go	Fair
//	[Mo00, alpha-fairness]	alloc/worth/utility.go	Alpha
//	[Qiao21 §4.2, price of a restart]	alloc/worth/weight.go	Restart
//	[Gu19 §4.1, attained service]	alloc/worth/weight.go	Attained
//	[worths of a job, no paper]	alloc/worth/worth.go	Of, FairSpeed
//	[worth by number, as stated, no paper]	alloc/worth.go	Application.numbers, resolved.stay
//	[worth by number, next step, no paper]	alloc/stop.go	stopper.gain
//	[worth by number, concave, no paper]	alloc/internal/program/worth.go	builder.concave
//	[worth by number, envelope, no paper]	alloc/embedded/internal/problem/curve.go	Curve
//	[Dorm P2, weak duality, Lagrangian bound]	alloc/solver/dualbound.go	DualBound
//	[Dorm P2, weak duality, copies by server]	alloc/solver/copybound.go	CopyBound
//	[Dorm P2, weak duality, check]	alloc/verify.go	Verify
//	[Weng23 §3.2, expected fragment]	alloc/gradient.go	resolved.unfilled
//	[Dorm (2), theoretical share]	alloc/shares.go	resolved.shares
//	[Dorm (15), (16), budgets that cannot bind]	alloc/warnings.go	stopper.warnings, mostLoss
//	[Dorm (15), (16), right sides]	alloc/budgets.go	resolved.lossBudget, resolved.adjustBudget
//	[Dorm (2), losses in worth]	alloc/loss.go	resolved.fairSpeeds, resolved.setLosses
//	[Dorm (2), losses by number]	alloc/solver/loss.go	App.Loss, App.LeastLoss, App.MostLoss
//	[Guignard87, packing of a server]	alloc/solver/packing.go	packing.best
//	[Dorm (16), knapsack of adjustments]	alloc/solver/knapsack.go	knapsack.best
//	[Dorm P2, no search]	alloc/solver/cap.go	Instance.Cap
//	[Dorm P2, default solver]	alloc/embedded/options.go	Solver
//	[Guignard87, decomposition]	alloc/embedded/internal/lagrange/decomposition.go	Decomposition.Evaluate
//	[Geoffrion74, prices by server]	alloc/embedded/internal/lagrange/evaluate.go	Dual.Evaluate
//	[Geoffrion74, filling classes]	alloc/embedded/internal/lagrange/steps.go	takeSteps
//	[Geoffrion74, limits]	alloc/embedded/internal/lagrange/limits.go	Limits
//	[Kiwiel90, bundle method]	alloc/embedded/internal/lagrange/descent.go	Descent.Run
//	[Kiwiel90, proposals]	alloc/embedded/internal/lagrange/bundle.go	bundle
//	[Kiwiel86, weights of cuts]	alloc/embedded/internal/lagrange/weights.go	weights
//	[Gilmore61, patterns]	alloc/embedded/internal/pattern/pattern.go	Lists
//	[Dantzig60, restricted master]	alloc/embedded/internal/colgen/master.go	master
//	[Dantzig60, residual problem]	alloc/embedded/internal/colgen/residual.go	Residual
//	[Land60, branching on who is freed]	alloc/embedded/internal/tree/branch.go	Tree.Run
//	[Land60, nodes]	alloc/embedded/internal/tree/node.go	node
//	[Schrimpf00, sets]	alloc/embedded/internal/sets/walk.go	Search.Run
//	[Geoffrion74, sets]	alloc/embedded/internal/sets/prices.go	prices.set
//	[exchanges at prices of a set, no paper]	alloc/embedded/internal/sets/climb.go	Search.climb
//	[Schrimpf00, annealing]	alloc/embedded/internal/search/anneal.go	Annealer.Run
//	[Schrimpf00, ruin]	alloc/embedded/internal/search/moves.go	Annealer.propose
//	[Schrimpf00, ruin and recreate]	alloc/embedded/internal/search/recreate.go	Annealer.recreate
//	[Dorm P2, preference]	alloc/embedded/internal/enumerate/rank.go	Rank
//	[Dorm P2, nearly equal]	alloc/embedded/internal/problem/standing.go	Standing
//	[Dorm P2, exactly full]	alloc/embedded/internal/filling/filling.go	Fill
//	[Dorm P2, compiled]	alloc/embedded/internal/problem/compile.go	New
//	[Dorm Table II]	alloc/alloctest/generate.go	Table2, Mixed
//	[linear programs, no paper]	alloc/milp/builder.go	Builder
//	[Land60, branch and bound]	alloc/milp/bb/search.go	search.run
//	[BGGHRV71, branching by pseudo-costs]	alloc/milp/bb/branching.go	pseudocosts
//	[Koberstein05 ch. 3]	alloc/milp/bb/dual.go	simplex.dual
//	[Maros03 ch. 9]	alloc/milp/bb/primal.go	simplex.primal
//	[IBM76, reader]	alloc/milp/mpsreader.go	ReadMPS
//	[IBM76, sections]	alloc/milp/mpssections.go	mpsParser.readRow
//	[IBM76, writer]	alloc/milp/mpswriter.go	Model.WriteMPS
//	[OASiS §3.1, jobs]	primaldual/job.go	Job
//	[OASiS §3.1, servers]	primaldual/cluster.go	Cluster
//	[OASiS §3.1, §5, f_i]	primaldual/utility.go	Utility
//	[OASiS (1)-(13)]	primaldual/offline.go	NewOffline
//	[OASiS (19), (20)]	primaldual/certificate.go	Certify
//	[OASiS (22)]	primaldual/price.go	curve
//	[OASiS (23)-(26), from jobs]	primaldual/boundsof.go	BoundsOf
//	[OASiS (23)-(26), U and L]	primaldual/bounds.go	Bounds
//	[OASiS Theorem 4, alpha]	primaldual/bounds.go	Bounds.Alpha
//	[OASiS Algorithm 1]	primaldual/scheduler.go	Scheduler
//	[OASiS Algorithm 1, lines 8-12]	primaldual/commit.go	Ledger.Commit, Ledger.Release
//	[OASiS §4.1, g, v, p, q]	primaldual/ledger.go	Ledger
//	[OASiS Table 1]	primaldual/market.go	market
//	[OASiS Algorithm 2]	primaldual/internal/schedule/search.go	Search
//	[hull bounds, no paper]	primaldual/internal/schedule/relaxation.go	relaxation.bound
//	[hull of a slot's costs, no paper]	primaldual/internal/schedule/hull.go	hulls
//	[reduced costs, no paper]	primaldual/internal/schedule/reducedcost.go	reduced.search
//	[price on parameter servers (6), no paper]	primaldual/internal/schedule/serverprice.go	Search.priceServers
//	[OASiS Algorithm 2, lines 12-22]	primaldual/internal/schedule/cappeddp.go	cappedDP
//	[OASiS Algorithm 2, lines 12-22, chunks as printed]	primaldual/chunkdp.go	workersFor
//	[OASiS Algorithm 2, lines 23-46]	primaldual/slotcost.go	slotCosts
//	[OASiS Algorithm 2, lines 25-31, 35-40]	primaldual/deploy.go	greedy.fill
//	[Jain15 §2, jobs with deadlines]	primaldual/deadline/job.go	Job
//	[Horn74, test for deadlines, with widths]	primaldual/deadline/demand.go	demand.take
//	[Ghodsi11 §4.1, several kinds as one]	primaldual/deadline/pool.go	pool.unit
//	[Vepsalainen87 §2, apparent tardiness]	primaldual/deadline/choice.go	Scheduler.plan, Scheduler.index
//	[a slot: what must be done now, no paper]	primaldual/deadline/slot.go	urgent
//	[Dantzig57, fluid price of promises]	primaldual/deadline/promise.go	Scheduler.fluidPrice, Scheduler.grant
//	[jobs with deadlines, slot by slot, no paper]	primaldual/deadline/scheduler.go	Scheduler
//	[promises that a change breaks, no paper]	primaldual/deadline/advance.go	Scheduler.Advance, Scheduler.SetCapacity
//	[Dorm §III-C2, protocol]	checkpoint/protocol.go	Machine, Machine.enter
//	[Dorm §III-C2, requests]	checkpoint/adjust.go	Machine.adjust, Machine.begin
//	[Dorm §III-C2, outcomes of effects]	checkpoint/reply.go	Machine.done, Machine.settle
//	[Dorm §III-C2, order of adjustments]	checkpoint/queue.go	Machine.schedule
//	[index of who waits for what, no paper]	checkpoint/books.go	books.enter, Machine.update
//	[Dorm §III-C2, jobs that wait in a circle]	checkpoint/queue.go	Machine.breakCircle
//	[room of servers, no paper]	checkpoint/room.go	Machine.room
//	[time-outs and retries, no paper]	checkpoint/tick.go	Machine.tick
//	[loss of servers, no paper]	checkpoint/server.go	Machine.lose
//	[silent servers, no paper]	checkpoint/server.go	Machine.serverSilent, Machine.silent
//	[drains and deadlines, no paper]	checkpoint/drain.go	Machine.drain
//	[jobs that hang or die at once, no paper]	checkpoint/exit.go	Machine.stalled, Machine.died
//	[deaths of processes, no paper]	checkpoint/exit.go	Machine.exited
//	[invariants of a job, no paper]	checkpoint/invariant.go	Job.fault
//	[retention of checkpoints, no paper]	checkpoint/reply.go	Machine.confirmed
//	[retention in a store, no paper]	checkpoint/store/files/retain.go	disk.retain
//	[commit by one rename, no paper]	checkpoint/store/files/write.go	draft.Commit
//	[order of a writer, no paper]	checkpoint/store/writer.go	newWriter
//	[a store on a medium of one's own, no paper]	checkpoint/store/portable.go	Medium, NewPortable
//	[verified reading, no paper]	checkpoint/store/stream.go	stream.Read
//	[ranges of parts, no paper]	checkpoint/store/reader.go	reader.Range
//	[sums of chunks, no paper]	checkpoint/store/sums.go	Sums
//	[collection of leftovers, no paper]	checkpoint/store/files/collect.go	Store.Collect
//	[checkpoints of several writers, no paper]	checkpoint/store/join.go	Shards.Join
//	[saves of several servers, no paper]	checkpoint/driver/shares.go	Driver.saveShares
//	[fence in a directory, no paper]	checkpoint/store/files/fence.go	disk.Fence
//	[identity of a store, no paper]	checkpoint/store/identity.go	Identity
//	[names of jobs as folders, no paper]	checkpoint/store/name.go	FolderOf
//	[frames of a journal, no paper]	checkpoint/journal/frame.go	appendRecord, readRecords
//	[room for a full disk, no paper]	checkpoint/journal/room.go	Journal.Spare
//	[records that were lost, no paper]	checkpoint/witness.go	Witness, Gap, Machine.orphan
//	[jobs that answer no save, no paper]	checkpoint/hurry.go	Machine.overdue, Machine.hurry
//	[accepted losses, no paper]	checkpoint/loss.go	Machine.AcceptLoss
//	[name of the store, no paper]	checkpoint/storenamed.go	Machine.storeNamed
//	[events in JSON, no paper]	checkpoint/eventjson.go	MarshalEvent, UnmarshalEvent
//	[durable files, no paper]	checkpoint/vfs/replace.go	Write, WriteFile, ReplaceFile
//	[crash recovery, no paper]	checkpoint/recover.go	Recover
//	[journal, no paper]	checkpoint/journal/journal.go	Journal
//	[takeover of a journal, no paper]	checkpoint/journal/takeover.go	Open
//	[records in etcd, no paper]	checkpoint/etcdjournal/journal.go	Journal.Append
//	[fences, no paper]	checkpoint/agent/fence.go	Fence.Admit
//	[leases, no paper]	checkpoint/agent/lease.go	Lease.Renew, Lease.Left
//	[lease of a run, no paper]	checkpoint/guard/run_linux.go	Run
//	[end of all that a run has started, no paper]	checkpoint/guard/keeper_linux.go	Keep, keeper.endAll
//	[who vouches for a run, no paper]	checkpoint/guard/desk.go	Desk.Answer, Desk.Over
//	[lease of an agent and its runs, no paper]	checkpoint/guard/vouch.go	Vouching
//	[signed calls, no paper]	checkpoint/wire/sign.go	Gate
//	[calls that count once, no paper]	checkpoint/wire/challenge.go	challenges.take
//	[runs judged by their workers, no paper]	checkpoint/workerlog/check.go	Check
//	[Dorm §III, a master beside a cluster manager]	checkpoint/controller/run.go	Controller.Run
//	[Dorm §IV, when a decision is due]	checkpoint/controller/decide.go	Controller.decideAll
//	[what a page tells its browsers, no paper]	checkpoint/page/frame.go	frame.since
//	[jobs that a cluster manager runs, no paper]	checkpoint/managed/fleet.go	Fleet.Agent
//	[agents of one name, no paper]	checkpoint/agent/incarnation.go	Incarnation
//	[Dorm §III-C2, DormSlave]	checkpoint/agent/agent.go	Agent
//	[Dorm §III-C2, effects on one server]	checkpoint/agent/perform.go	Agent.carryOut
//	[Dorm §III-C2, DormMaster]	checkpoint/driver/loop.go	Driver.Run
//	[Dorm §III-C2, reliable storage]	checkpoint/store/store.go	Store
//	[Dorm §III-C2, save and resume]	checkpoint/runner/runner.go	Runner
//	[Dorm §III-C2, start.sh and resume.sh]	checkpoint/command/command.go	Commands
//	[processes of a run, no paper]	checkpoint/command/stop.go	Runner.sweep
//	[request and acknowledgement of a save, no paper]	checkpoint/command/save.go	Runner.Save
//	[transfers into a store, no paper]	checkpoint/store/save.go	Save
//	[transfers out of a store, no paper]	checkpoint/store/load.go	Load
//	[files taken without a copy, no paper]	checkpoint/vfs/share.go	Sharer
//	[shares of a checkpoint, no paper]	checkpoint/store/only.go	Only, OfShare
//	[verification in pieces, no paper]	checkpoint/store/verify.go	Verify
//	[Dorm §III-C2, checkpoints of frameworks]	checkpoint/format/format.go	Format, Found
//	[torch.distributed.checkpoint, no paper]	checkpoint/format/distributed.go	Distributed
//	[safetensors, no paper]	checkpoint/format/safetensors.go	SafeTensors
//	[transformers' Trainer, no paper]	checkpoint/format/huggingface.go	HuggingFace
//	[DeepSpeed's engine, no paper]	checkpoint/format/deepspeed.go	DeepSpeed
//	[PyTorch Lightning, no paper]	checkpoint/format/lightning.go	Lightning
//	[Keras 3, no paper]	checkpoint/format/keras.go	Keras
//	[Orbax, no paper]	checkpoint/format/orbax.go	Orbax
//	[loose files of a checkpoint, no paper]	checkpoint/format/loose.go	Of, ErrAmbiguous
//	[Dorm §III-C2, targets of a decision]	checkpoint/bridge/bridge.go	Submit, Targets
//	[Dorm §III-C2, previous allocation]	checkpoint/bridge/previous.go	Previous
//	[Zheng (4.1), (4.2)]	growth/efficiency.go	Progress, Efficiency
//	[Zheng (4.2), R]	growth/usage.go	Usage, Counter
//	[Zheng (5.1)]	growth/series.go	Series.Gain
//	[Zheng §4.1.2]	growth/track.go	Track
//	[Zheng §5.1.2, §5.2.1]	growth/category.go	Category.After
//	[Zheng §5.1.2, normalization]	growth/normalization.go	Normalization
//	[Zheng Algorithm 1, lines 2-13, causes]	growth/change.go	CauseOf
//	[Zheng Algorithm 1, lines 4-13]	growth/threshold.go	Threshold
//	[Zheng Algorithm 3, lines 6-22]	growth/threshold.go	Decline
//	[Zheng (4.2), means of readings]	growth/pace.go	Series.Pace
//	[Zheng (4.1), direction]	growth/direction.go	Direction
//	[history of a run, no paper]	growth/history.go	Point
//	[course of a run, no paper]	growth/course.go	course.add
//	[leaps, no paper]	growth/leap.go	leaps.holds
//	[evidence of growth, no paper]	growth/evidence.go	Evidence
//	[robust classifier, no paper]	growth/prospect.go	Prospect
//	[Amdahl67], [Peng18 (3)]	growth/speedup/model.go	Model, sum
//	[Huber64, non-negative least squares]	growth/speedup/nonnegative.go	fitSum, leastSquares
//	[Qiao21 (8)-(11)]	growth/speedup/pollux.go	twoPhase, fitPollux
//	[Barlow72, isotonic regression]	growth/speedup/table.go	rise, lookUp
//	[Qiao21 §4.1, prior]	growth/speedup/curve.go	Cold, Curve.Speeds
//	[error on what was left out, no paper]	growth/speedup/fit.go	Fit, leaveOut
//	[Qiao21 §4.1, measurements]	growth/speedup/observation.go	Observation
//	[curve of a running job, no paper]	growth/speedup/estimator.go	Estimator
//	[Zheng Algorithm 1, lines 1-17]	growth/flowcon/flowcon.go	Executor.classify, Executor.schedule
//	[Zheng Algorithm 1, lines 14-26]	growth/flowcon/limits.go	round.limit
//	[Zheng Algorithm 2]	growth/flowcon/flowcon.go	Executor.Step
//	[Zheng Algorithm 2, listener]	growth/internal/monitor/roster.go	Roster.Match
//	[Zheng Algorithm 3]	growth/specon/monitor.go	Monitor.Step
//	[Zheng §5.2, manager]	growth/specon/manager.go	Manager.Step
//	[Zheng §5.2, decisions]	growth/specon/tick.go	Manager.Tick
//	[packing rules, no paper]	placement/pack.go	Packer
//	[Zheng Algorithm 4]	placement/host.go	ChooseHost
//	[Zheng Algorithm 4, line 3]	placement/score.go	Weights
//	[Zheng Algorithm 5]	placement/rebalance.go	Rebalance
//	[Smith99 §3, forecasts by replays]	placement/sim/forecast/forecast.go	New, Forecast
//	[Tsafrir07 §3, lengths]	placement/sim/forecast/history.go	History, History.levels
//	[forecasts, one replay, no paper]	placement/sim/forecast/replay.go	forecastCase.replay
//	[Dorm §III-C1, replayed]	placement/sim/forecast/decisions.go	Decisions
//	[Law15 §1.3, simulated cluster]	placement/sim/run.go	Run
//	[Dorm §III-B, exclusive containers]	placement/sim/exclusive.go	Exclusive
//	[Dorm §V-B5, pause of kill and resume]	placement/sim/job.go	job.advance
//	[Dorm (1), (4), simulated]	placement/sim/measure.go	cluster.sample
//	[Dorm (2), simulated]	placement/sim/view.go	fairness.loss
//	[Zheng §6.1.3, §6.1.4, shared CPU]	placement/sim/shared.go	Shared, Divide
//	[Zheng §4.1.3, learning curve]	placement/sim/curve.go	Curve
//	[OASiS §3.1, §5, slots]	placement/sim/slots.go	FromSlots, Ledger
//	[Dorm §V-A4, static Swarm]	placement/sim/policies/swarm.go	Swarm
//	[Dorm §III-C, §V-A2, simulated]	placement/sim/policies/dorm.go	Dorm
//	[OASiS §5, round robin]	placement/sim/policies/desk.go	desk
//	[OASiS §5, FIFO]	placement/sim/policies/fifo.go	FIFO
//	[Lifka95, EASY backfilling, simulated]	placement/sim/policies/easy.go	EASY
//	[OASiS §5, DRF]	placement/sim/policies/drf.go	DRF
//	[Irwin04, RRH of OASiS §5]	placement/sim/policies/rrh.go	RRH
//	[OASiS Algorithm 1, simulated]	placement/sim/policies/oasis.go	OASiS
//	[Jain15, jobs with deadlines, simulated]	placement/sim/policies/deadline.go	Deadline
//	[Zheng §6.1.2, §6.2.1, NA and DS]	placement/sim/policies/default.go	Default
//	[Zheng §5.1, simulated]	placement/sim/policies/flowcon.go	FlowCon
//	[Zheng §5.2, simulated]	placement/sim/policies/specon.go	SpeCon
//	[Narayanan20 §3, types of accelerators]	examples/studies/elastic/schedulers/fleet.go	kind.speeds, pack
//	[Dorm §V-A4, static, elastic jobs]	examples/studies/elastic/schedulers/static.go	Static
//	[Gu19 §4.1, two queues]	examples/studies/elastic/schedulers/tiresias.go	Tiresias
//	[Peng18 §4.1]	examples/studies/elastic/schedulers/optimus.go	Optimus
//	[Narayanan20 §4.1, §5]	examples/studies/elastic/schedulers/gavel.go	Gavel
//	[Jayaram23 §3.3]	examples/studies/elastic/schedulers/sia.go	Sia
//	[Dorm §III-C, n_max by speeds]	examples/studies/elastic/schedulers/dorm.go	Dorm
//	[worths of speeds, simulated, no paper]	examples/studies/elastic/schedulers/worth.go	Worth
//	[Mahajan20 (1), finish-time fairness]	examples/studies/elastic/schedulers/measure.go	Measure
//
// # Index by question
//
//	[who deserves how much?]	drf/whole.go	FillWhole
//	[which team is next?]	drf/sorter.go	Sorter
//	[what is an A100 worth in T4s?]	drf/derived.go	Derive, Derivation.NewTree
//	[who has used how much lately?]	drf/history.go	History.Advance, History.Charge
//	[who has borrowed, and what is taken back?]	drf/borrow.go	Sorter.Balances, Tree.Reclaim
//	[who is let in, and in which order?]	alloc/turn.go	turn.next
//	[what does the order of asking cost?]	alloc/open.go	resolved.openBound
//	[who of equals is let in?]	alloc/choose.go	turn.choose
//	[for whom is room kept?]	alloc/reserve.go	turn.reserve
//	[where can a gang be had soonest?]	alloc/soonest.go	draft.soonest
//	[who is taken from for another one?]	alloc/reclaim.go	admission.reclaim
//	[does a queue get what it is guaranteed?]	alloc/fulfil.go	admission.fulfil, resolved.solveGuaranteed
//	[who must move?]	alloc/resolve.go	resolved.findForced
//	[who is put on few servers?]	alloc/consolidate.go	resolved.consolidate
//	[why does a job wait?]	alloc/reason.go	noSolution, resolved.unservable
//	[why not one container more?]	alloc/explain.go	Explain, Stop
//	[how many running jobs may one decision move?]	alloc/budgets.go	resolved.adjustBudget
//	[what does a restart cost?]	alloc/worth/weight.go	Restart
//	[how fast is a job with more containers?]	growth/speedup/fit.go	Fit
//	[which containers start and stop?]	alloc/plan.go	NewPlan
//	[is the answer right?]	alloc/verify.go	Verify
//	[how is a decision taken again later?]	alloc/record.go	Record
//	[is room in pieces too small to use?]	alloc/fragments.go	NewFragmentation
//	[how long may a search take?]	alloc/embedded/options.go	Effort
//	[where is the time limit of a decision?]	checkpoint/controller/config.go	Decide, Config
//	[is a new job worth its resources?]	primaldual/scheduler.go	Scheduler.Offer
//	[which jobs end in time, and what is promised?]	primaldual/deadline/scheduler.go	Scheduler.Run
//	[how is a job resized?]	checkpoint/driver/driver.go	Driver.Apply
//	[in which order do jobs change places?]	checkpoint/queue.go	Machine.schedule
//	[when is a server given up?]	checkpoint/driver/config.go	Config, Options
//	[where does a job restart whose server or agent is killed?]	checkpoint/server.go	Machine.serverFenced, Machine.lose
//	[when does a job that dies end as failed?]	checkpoint/controller/follow.go	Controller.giveUp
//	[which lease is the default?]	checkpoint/controller/config.go	Config
//	[what ends a run when its master is gone?]	checkpoint/guard/run_linux.go	Run
//	[where are checkpoints?]	checkpoint/store/files/write.go	draft.Commit
//	[is a checkpoint whole?]	checkpoint/format/format.go	Format
//	[what does a master know after a crash?]	checkpoint/journal/takeover.go	Open
//	[as which user does a job run?]	checkpoint/command/user.go	User
//	[which credentials are trusted?]	checkpoint/wire/key.go	Secret, Credential
//	[what may the author of an agent rely on?]	checkpoint/effect.go	Effect
//	[what must the author of a controller write?]	checkpoint/controller/cluster.go	Cluster, View
//	[what must the author of a solver keep?]	alloc/solver/solver.go	Solver
//	[what may the author of a policy rely on?]	placement/sim/policy.go	Policy, State
//
// # What it does not do
//
//   - Gangs of unlike containers: an application's containers are alike, and Min is how many must be there together.
//   - Racks, networks and slices: labels say where containers may be and MaxServers on how many servers, not how near to each other.
//   - Devices: GPUs are a number for each server. Fractions are a matter of units (thousandths), and which device it is, and what
//     jobs on the same device do to each other, is known to nothing here.
//   - Starvation in a queue: queues get what they are guaranteed and take turns, but below one admission goes by priority and
//     submission, and a job that finds no room blocks none behind it; it reserves nothing and does not age. A caller raises its
//     Priority.
//   - Deadlines and lengths of jobs in alloc: a decision is about now. primaldual plans ahead.
//   - Resizing without a stop: containers change by a checkpoint, of a job that can write and read it.
//   - Servers that come and go by demand: controller.Advisor says what jobs should have, and buys nothing.
//   - Secrecy: calls are signed, and can be read on the wire unless TLS is around them; checkpoints are as private as their store.
//   - Several clusters: a problem, a journal and a controller are of one.
//
// # References
//
// Keys in brackets stand for these in all packages.
//
//   - [Achterberg09] T. Achterberg. SCIP: solving constraint integer programs. Mathematical Programming Computation 1, 2009.
//   - [Allcock17] W. Allcock, P. Rich, Y. Fan, Z. Lan. Experience and Practice of Batch Scheduling on Leadership
//     Supercomputers at Argonne. JSSPP 2017.
//   - [Amdahl67] G. M. Amdahl. Validity of the single processor approach to achieving large scale computing capabilities.
//     AFIPS 1967.
//   - [Barlow72] R. E. Barlow, H. D. Brunk. The isotonic regression problem and its dual. JASA 67, 1972.
//   - [BGGHRV71] M. Bénichou, J. M. Gauthier, P. Girodet, G. Hentges, G. Ribière, O. Vincent. Experiments in mixed-integer
//     linear programming. Mathematical Programming 1, 1971.
//   - [Bhattacharya13] A. Bhattacharya, D. Culler, E. Friedman, A. Ghodsi, S. Shenker, I. Stoica. Hierarchical Scheduling
//     for Diverse Datacenter Workloads. SoCC 2013.
//   - [Bixby98] R. E. Bixby, S. Ceria, C. M. McZeal, M. W. P. Savelsbergh. An Updated Mixed Integer Programming Library:
//     MIPLIB 3.0. Optima 58, 1998.
//   - [Bland77] R. G. Bland. New finite pivoting rules for the simplex method. Mathematics of Operations Research 2, 1977.
//   - [CornuejolsDawande98] G. Cornuéjols, M. Dawande. A class of hard small 0-1 programs. IPCO 1998.
//   - [Danna05] E. Danna, E. Rothberg, C. Le Pape. Exploring relaxation induced neighborhoods to improve MIP solutions.
//     Mathematical Programming 102, 2005.
//   - [Dantzig57] G. B. Dantzig. Discrete-variable extremum problems. Operations Research 5(2), 1957.
//   - [Dantzig60] G. B. Dantzig, P. Wolfe. Decomposition principle for linear programs. Operations Research 8(1), 1960.
//   - [Dean11] J. Dean, S. Ghemawat. LevelDB file format: table and block. Google 2011.
//   - [Dorm] P. Sun, Y. Wen, N. B. D. Ta, S. Yan. Towards Distributed Machine Learning in Shared Clusters: A
//     Dynamically-Partitioned Approach. SMARTCOMP 2017.
//   - [Geoffrion74] A. M. Geoffrion. Lagrangean relaxation for integer programming. Mathematical Programming Study 2, 1974.
//   - [Ghodsi11] A. Ghodsi, M. Zaharia, B. Hindman, A. Konwinski, S. Shenker, I. Stoica. Dominant Resource Fairness: Fair
//     Allocation of Multiple Resource Types. NSDI 2011.
//   - [Gilmore61] P. C. Gilmore, R. E. Gomory. A linear programming approach to the cutting-stock problem. Operations
//     Research 9(6), 1961.
//   - [Gu19] J. Gu et al. Tiresias: A GPU Cluster Manager for Distributed Deep Learning. NSDI 2019.
//   - [Guignard87] M. Guignard, S. Kim. Lagrangean decomposition: a model yielding stronger Lagrangean bounds. Mathematical
//     Programming 39, 1987.
//   - [Gupta99] J. N. D. Gupta, J. C. Ho. A new heuristic algorithm for the one-dimensional bin-packing problem. Production
//     Planning & Control 10(6), 1999.
//   - [Horn74] W. A. Horn. Some simple scheduling algorithms. Naval Research Logistics Quarterly 21(1), 1974.
//   - [HuangfuHall18] Q. Huangfu, J. A. J. Hall. Parallelizing the dual revised simplex method. Mathematical Programming
//     Computation 10, 2018.
//   - [Huber64] P. J. Huber. Robust estimation of a location parameter. Annals of Mathematical Statistics 35, 1964.
//   - [IBM76] IBM. Mathematical Programming System Extended (MPSX) Program Reference. SH19-1095, 1976.
//   - [Irwin04] D. Irwin, L. Grit, J. Chase. Balancing Risk and Reward in a Market-Based Task Service. HPDC 2004.
//   - [Jain15] N. Jain, I. Menache, J. Naor, J. Yaniv. Near-Optimal Scheduling Mechanisms for Deadline-Sensitive Jobs in
//     Large Computing Clusters. ACM TOPC 2(1), 2015.
//   - [Jayaram23] S. Jayaram Subramanya et al. Sia: Heterogeneity-aware, Goodput-optimized ML-Cluster Scheduling. SOSP 2023.
//   - [Jia14] Y. Jia et al. Caffe: Convolutional Architecture for Fast Feature Embedding. MM 2014.
//   - [Kaplan58] E. L. Kaplan, P. Meier. Nonparametric Estimation from Incomplete Observations. Journal of the American
//     Statistical Association 53(282), 1958.
//   - [Kay88] J. Kay, P. Lauder. A fair share scheduler. Communications of the ACM 31(1), 1988.
//   - [Kelly98] F. P. Kelly, A. K. Maulloo, D. K. H. Tan. Rate control for communication networks: shadow prices,
//     proportional fairness and stability. Journal of the Operational Research Society 49, 1998.
//   - [Kiwiel86] K. C. Kiwiel. A method for solving certain quadratic programming problems arising in nonsmooth
//     optimization. IMA Journal of Numerical Analysis 6(2), 1986.
//   - [Kiwiel90] K. C. Kiwiel. Proximity control in bundle methods for convex nondifferentiable minimization. Mathematical
//     Programming 46, 1990.
//   - [Koberstein05] A. Koberstein. The dual simplex method: techniques for a fast and stable implementation. Thesis,
//     Paderborn 2005.
//   - [Land60] A. H. Land, A. G. Doig. An automatic method of solving discrete programming problems. Econometrica 28(3),
//     1960.
//   - [Law15] A. M. Law. Simulation Modeling and Analysis. 5th edition, McGraw-Hill 2015.
//   - [Lifka95] D. Lifka. The ANL/IBM SP Scheduling System. JSSPP 1995.
//   - [Lucier13] B. Lucier, I. Menache, J. Naor, J. Yaniv. Efficient Online Scheduling for Deadline-Sensitive Jobs. SPAA 2013.
//   - [Mahajan20] K. Mahajan et al. Themis: Fair and Efficient GPU Cluster Scheduling. NSDI 2020.
//   - [Maros03] I. Maros. Computational Techniques of the Simplex Method. Kluwer 2003.
//   - [Meyer74] R. R. Meyer. On the existence of optimal solutions to integer and mixed-integer programming problems.
//     Mathematical Programming 7, 1974.
//   - [Mo00] J. Mo, J. Walrand. Fair end-to-end window-based congestion control. IEEE/ACM Transactions on Networking 8(5),
//     2000.
//   - [Narayanan20] D. Narayanan et al. Heterogeneity-Aware Cluster Scheduling Policies for Deep Learning Workloads. OSDI
//     2020.
//   - [NemhauserWolsey88] G. L. Nemhauser, L. A. Wolsey. Integer and Combinatorial Optimization. Wiley 1988.
//   - [Nurmi07] D. Nurmi, J. Brevik, R. Wolski. QBETS: Queue Bounds Estimation from Time Series. JSSPP 2007.
//   - [OASiS] Y. Bao, Y. Peng, C. Wu, Z. Li. Online Job Scheduling in Distributed Machine Learning Clusters. INFOCOM 2018.
//   - [Parkes15] D. C. Parkes, A. D. Procaccia, N. Shah. Beyond Dominant Resource Fairness: Extensions, Limitations, and
//     Indivisibilities. ACM TEAC 3(1), 2015.
//   - [Peng18] Y. Peng, Y. Bao, Y. Chen, C. Wu, C. Guo. Optimus: An Efficient Dynamic Resource Scheduler for Deep Learning
//     Clusters. EuroSys 2018.
//   - [PEP307] Python Software Foundation. Extensions to the pickle protocol. 2003; PEP 3154, protocol 4, 2011.
//   - [Pisinger95] D. Pisinger. A minimal algorithm for the multiple-choice knapsack problem. European Journal of
//     Operational Research 83(2), 1995.
//   - [Program] alloc/PROGRAM.md, the program that package alloc decides by.
//   - [Qiao21] A. Qiao et al. Pollux: Co-adaptive Cluster Scheduling for Goodput-Optimized Deep Learning. OSDI 2021.
//   - [Schrijver86] A. Schrijver. Theory of Linear and Integer Programming. Wiley 1986.
//   - [Schrimpf00] G. Schrimpf, J. Schneider, H. Stamm-Wilbrandt, G. Dueck. Record breaking optimization results using the
//     ruin and recreate principle. Journal of Computational Physics 159(2), 2000.
//   - [Smith99] W. Smith, V. Taylor, I. Foster. Using Run-Time Predictions to Estimate Queue Wait Times and Improve Scheduler
//     Performance. JSSPP 1999.
//   - [Tsafrir07] D. Tsafrir, Y. Etsion, D. Feitelson. Backfilling Using System-Generated Predictions Rather than User Runtime
//     Estimates. IEEE TPDS 18(6), 2007.
//   - [Vepsalainen87] A. P. J. Vepsalainen, T. E. Morton. Priority rules for job shops with weighted tardiness costs. Management
//     Science 33(8), 1987.
//   - [Weng23] Q. Weng et al. Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent. ATC 2023.
//   - [Zheng] W. Zheng. Efficient Resource Management for Deep Learning Applications with Virtual Containers. Master's
//     thesis; its chapters FlowCon, ICPP 2019, and SpeCon, arXiv 2010.11307, 2020.
package apportion
