// Package primaldual decides at its arrival whether a training job is admitted, and on which schedule
// of workers and parameter servers over the coming time slots: OASiS, an online primal-dual algorithm.
//
// # What it computes
//
// Every server has a price for every kind of resource in every slot, which rises exponentially with
// what is taken of it. A job is worth f(d) if it ends d slots after its arrival. It is admitted if the
// schedule with the greatest payoff, utility less the price of what the schedule takes, has a positive
// one; then that schedule is reserved and prices rise.
//
//   - [BoundsOf] sets the two ends of the price functions from known or sampled jobs.
//   - Package deadline decides about jobs with deadlines where nothing is known of the jobs to come, without prices.
//   - [Scheduler] is the state machine: Offer, Cancel, Complete, Advance, Snapshot, and Fail and Repair for servers that go
//     and come back. Jobs may ask for labels ([Job].WorkerRequires).
//   - [Ledger] holds what is taken, and the prices, for schedules of any origin.
//   - [Certify] bounds what any policy could have earned from the same jobs.
//   - [NewOffline] states the offline problem as a mixed-integer program.
//
// # Notation
//
//	symbol	Go name	unit	where
//	T, t	Cluster.Slots, slot	slots, from 1	[OASiS] §3.1
//	H, K	WorkerServers, PSServers	servers	[OASiS] §3.1
//	c_h[r], c_k[r]	Server.Capacity	units of the kind	(4), (5)
//	a_i	Job.Arrival	slot	[OASiS] §3.1
//	E_i, N_i, M_i	Epochs, Chunks, Minibatches	none	[OASiS] §3.1
//	tau_i, 2 e_i/b_i	MinibatchSlots, CommSlots	slots	(2)
//	b_i, B_i	WorkerBandwidth, PSBandwidth	the caller's	(6)
//	w_i[r], s_i[r]	Worker, PS	units of the kind	(4), (5)
//	m_i	Job.ChunkSlots	slots	M_i (tau_i + 2 e_i/b_i)
//	W_i	Job.WorkerSlots	worker-slots	right-hand side of (2)
//	n_i	Job.ShortestSlots	slots	ceil(E_i m_i)
//	f_i	Job.Utility	the caller's	(1)
//	y_ih(t), z_ik(t)	SlotPlan.Workers, PS	containers	[OASiS] §3.1
//	t^_i	Decision.Completion	slot	(8)
//	mu_i	Decision.Payoff	utility	(21)
//	p_h[r](t), q_k[r](t)	Ledger.Prices	utility a unit	(22)
//	g_h[r](t), v_k[r](t)	Ledger.Used	units of the kind	[OASiS] §4.1
//	U1[r], L1, U2[r], L2	UWorker, LWorker, UPS, LPS	utility a unit	(23)-(26)
//	eta_1, eta_2	EtaWorker, EtaPS	none	[OASiS] §4.1
//	alpha	Bounds.Alpha	none	[OASiS] Theorem 4
//	C_t(y)	slotCosts	utility	Algorithm 2, lines 23-46
//
// # Contract
//
// Quantities are exact integers: no server is ever over-committed, and the parameter servers of y
// workers are exactly ceil(y b/B). Prices, utilities and payoffs are float64; payoffs within 1e-10 of a
// job's best utility count as equal. Inputs are read and not kept; what is returned is the caller's. A
// refusal is a decision with a reason; an error is bad input and changes nothing. The same calls in the
// same order give the same answers, on any machine that computes exp alike.
//
// Of schedules with the greatest payoff one with the earliest completion is taken, and in each slot
// the cheapest servers, those with the lowest index where costs are equal. Which of several
// allocations over the slots of equal cost and completion is taken follows from the method and is
// not part of the contract.
//
// The run earns at least 1/(2 alpha) of the offline optimum if (a) U and L are valid for all jobs, (b)
// the optimum admits a job that is worth something and demands something on both sides, (c) every job takes a small part
// of any one server in any one slot, all its workers there together, and (d) no better schedule of an admitted job was
// hidden by a server without room. With jobs that take much of a server the ratio can be anything; [Certify] holds
// always.
//
// # Deviations
//
//   - U is f_i(n_i - 1) over the demand: a job that takes n_i slots from its arrival on ends n_i - 1
//     slots after it. With f_i(n_i) a full server need not refuse.
//   - L takes eta of each job by itself, measures kinds in the mean capacity of a server, ignores
//     utilities below a twentieth of the largest, and uses the smallest positive utility that a job
//     can end with. As printed, L depends on the units of the kinds, and one job with a sharp deadline
//     makes it so small that servers have no price until they are nearly full. BoundsOptions.Literal is
//     the printed form.
//   - The printed L answers for the worth of a single job. Theorem 4 needs no more than an initial dual
//     value of at most half of the optimum; where a total utility is known that these jobs can reach,
//     BoundsOptions.Reached makes L as large as that allows. A job whose worth is then below the
//     lowest price is refused even by an empty cluster.
//   - The factor 1/4 and eta in (24) and (26) are those with which the proof of Theorem 4 goes through:
//     they keep the initial dual value at half the optimum or less.
//   - Z_i, the fewest parameter-server slots in L, is ceil(W_i b_i/B_i).
//   - Work is counted in worker-slots, as constraint (2) does. Algorithm 2 counts whole chunks in
//     each slot, which can only cost more; the method ChunkDP does that.
//   - The best schedule is found by bounds first; the printed dynamic program is there for
//     comparison. Both are exact.
//   - The horizon may move on, jobs may end early, late or be cancelled, servers may fail; prices then fall or rise. The paper has a fixed span and
//     keeps every promise. What a failure costs a job is reported: [Displacement].
//   - A kind without capacity, or that no job demands, has price 0. A demand of 0 limits nothing.
package primaldual
