// Package apportion is a library for schedulers of clusters that train machine-learning models. It
// answers four questions, in packages that only compute, and leaves everything else to its importer:
//
//   - drf: who deserves how much? Dominant resource fairness, divisible and in whole containers.
//   - alloc: who gets how many containers on which server right now? Dorm's utilization-fairness
//     optimizer, with an upper bound, a plan of what to create and destroy, and an explanation.
//   - primaldual: should this job be admitted, and when should it run? OASiS: admission by prices of
//     future resources, with the best schedule of workers and parameter servers.
//   - growth and placement: who still profits from resources, and where should the others go?
//     FlowCon's and SpeCon's classifiers, host choice, rebalancing and packers.
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
// # Index
//
// Where each part of the papers is: paper and section, file, names.
//
//	[Ghodsi11 §4.1, §4.3]	drf/waterfill.go	Fill
//	[Ghodsi11 Algorithm 1]	drf/progressive.go	FillWhole
//	[Ghodsi11 Algorithm 1]	drf/sorter.go	Sorter
//	[Ghodsi11 §3]	drf/verify.go	Verify
//	[Dorm §III-B]	alloc/problem.go	Application, Problem
//	[Dorm §III-C1]	alloc/reallocate.go	Reallocate
//	[Dorm §III-C2]	alloc/plan.go	NewPlan
//	[Dorm (1)-(4)]	alloc/metrics.go	Measure
//	[Dorm (6)-(18)]	alloc/mip/mip.go	Build, BuildFor
//	[Dorm (13), (14), big M]	alloc/mip/verbatim.go	verbatim, builder.adjusted
//	[Dorm (6)-(18), classes of servers]	alloc/mip/class.go	byClass
//	[Dorm (6)-(18), no big M]	alloc/mip/disjunctive.go	disjunctive
//	[Dorm (11), (12), (15)]	alloc/mip/loss.go	builder.loss, builder.wholeLoss
//	[Dorm (10)-(16)]	alloc/solver/instance.go	Instance
//	[Dorm (6)-(9), (15), (16)]	alloc/solver/check.go	Instance.Check
//	[Dorm P2, weak duality]	alloc/solver/dualbound.go	DualBound
//	[Dorm P2, weak duality]	alloc/solver/copybound.go	CopyBound
//	[Dorm P2, weak duality]	alloc/verify.go	Verify
//	[Dorm (2), theoretical share]	alloc/shares.go	resolved.shares
//	[Dorm (15), (16), right sides]	alloc/budgets.go	resolved.lossBudget, resolved.adjustBudget
//	[Dorm P2, no search]	alloc/solver/cap.go	Instance.Cap
//	[Dorm P2, default solver]	alloc/embedded/solver.go	Solver
//	[Dorm Table II]	alloc/alloctest/generate.go	Table2, Mixed
//	[linear programs, no paper]	alloc/milp/builder.go	Builder
//	[OASiS §3.1]	primaldual/job.go	Job
//	[OASiS (1)-(13)]	primaldual/offline.go	NewOffline
//	[OASiS (19), (20)]	primaldual/certificate.go	Certify
//	[OASiS (22)]	primaldual/price.go	curve
//	[OASiS (23)-(26)]	primaldual/boundsof.go	BoundsOf
//	[OASiS Algorithm 1]	primaldual/scheduler.go	Scheduler
//	[OASiS Algorithm 2]	primaldual/bestschedule.go	bestSchedule
//	[OASiS Algorithm 2, lines 12-22]	primaldual/cappeddp.go	cappedDP
//	[OASiS Algorithm 2, lines 12-22]	primaldual/chunkdp.go	chunkTables
//	[OASiS Algorithm 2, lines 23-46]	primaldual/slotcost.go	slotCosts
//	[Dorm §III-C2]	checkpoint/protocol.go	Machine
//	[Dorm §III-C2]	checkpoint/queue.go	Machine.schedule
//	[crash recovery, no paper]	internal/durable/durable.go	Write, WriteFile, ReplaceFile
//	[crash recovery, no paper]	checkpoint/recover.go	Recover
//	[crash recovery, no paper]	checkpoint/journal/journal.go	Journal
//	[crash recovery, no paper]	checkpoint/journal/takeover.go	Open
//	[fences and leases, no paper]	checkpoint/agent/fence.go	Fence.Admit
//	[fences and leases, no paper]	checkpoint/agent/lease.go	Lease.Renew, Lease.Left
//	[Dorm §III-C2]	checkpoint/agent/agent.go	Agent
//	[Dorm §III-C2]	checkpoint/bridge/bridge.go	Submit, Targets
//	[Dorm §III-C2]	checkpoint/bridge/previous.go	Previous
//	[Dorm §III-C2]	checkpoint/driver/driver.go	Driver.Run
//	[Dorm §III-C2]	checkpoint/store/store.go	Store
//	[Dorm §III-C2]	checkpoint/runner/runner.go	Runner
//	[Dorm §III-C2]	checkpoint/command/command.go	Commands, Runner
//	[Dorm §III-C2]	checkpoint/format/format.go	Format, Found
//	[Zheng (4.1), (4.2)]	growth/efficiency.go	Progress, Efficiency
//	[Zheng (4.2), R]	growth/usage.go	Usage, Counter
//	[Zheng (5.1)]	growth/series.go	Series.Gain
//	[Zheng §4.1.2]	growth/track.go	Track
//	[Zheng §5.1.2, §5.2.1]	growth/category.go	Category.After
//	[Zheng Algorithm 1, lines 4-13]	growth/threshold.go	Threshold
//	[Zheng Algorithm 3, lines 6-22]	growth/threshold.go	Decline
//	[robust classifier, no paper]	growth/prospect.go	Prospect
//	[Zheng (4.3)]	growth/flowcon/optimum.go	Optimize
//	[Zheng Algorithm 1, lines 1-17]	growth/flowcon/flowcon.go	Executor.classify, Executor.schedule
//	[Zheng Algorithm 1, lines 14-26]	growth/flowcon/limits.go	round.limit
//	[Zheng Algorithm 2]	growth/flowcon/flowcon.go	Executor.Step
//	[Zheng Algorithm 3]	growth/specon/monitor.go	Monitor.Step
//	[Zheng Algorithm 4]	placement/host.go	ChooseHost
//	[Zheng Algorithm 4, line 3]	placement/score.go	Weights
//	[Zheng Algorithm 5]	placement/rebalance.go	Rebalance
//
// # References
//
//   - [Dorm] P. Sun, Y. Wen, N. B. D. Ta, S. Yan. Towards Distributed Machine Learning in Shared
//     Clusters: A Dynamically-Partitioned Approach. SMARTCOMP 2017.
//   - [Ghodsi11] A. Ghodsi, M. Zaharia, B. Hindman, A. Konwinski, S. Shenker, I. Stoica. Dominant
//     Resource Fairness: Fair Allocation of Multiple Resource Types. NSDI 2011.
//   - [OASiS] Y. Bao, Y. Peng, C. Wu, Z. Li. Online Job Scheduling in Distributed Machine Learning
//     Clusters. INFOCOM 2018.
//   - [Zheng] W. Zheng. Efficient Resource Management for Deep Learning Applications with Virtual
//     Containers. Master's thesis (FlowCon and SpeCon).
package apportion
