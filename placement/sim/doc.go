// Package sim simulates a cluster on virtual time: jobs arrive, train at a speed that depends on what
// they hold, and leave; a policy decides in between. It is for comparing policies, one's own with those
// of package policies.
//
// # What it computes
//
// [Run] plays a [Scenario] under a [Policy] and returns a [Result]: for each job when it started and
// completed, what it held and how fast it ran meanwhile, how often it was adjusted and what it is worth;
// for each decision utilization, fairness loss and adjusted jobs. [Table] prints results side by side.
//
// What differs between the worlds of the papers is how fast jobs run, and when things happen:
//
//   - [Exclusive]: containers reserve their demand, as in Dorm; a job runs at the speed of its number of
//     containers ([Speedup]), or of where they are (Job.SpeedOn): measured step times by placement, servers of
//     several types.
//   - [Shared]: each job is one container, and those of a worker share its CPU, as in FlowCon and SpeCon;
//     a job reports the value of its evaluation function from a learning curve ([Curve]).
//   - Scenario.Slot: jobs end with a slot, and decisions fall between slots, as in OASiS. [FromSlots] makes
//     such a scenario of a cluster and jobs of package primaldual, with parameter servers and utilities.
//
// # An instant
//
// The simulation goes from one instant in which something happens to the next. In each of them
//
//  1. every job has done what its rate and the time since the instant before make;
//  2. the jobs whose work is done complete, and what they held is free;
//  3. the jobs whose time has come arrive, and wait;
//  4. the policy is asked once, if any job completed or arrived or if it wanted to be asked, and its orders
//     are checked and carried out;
//  5. the law gives every job its rate for the time to come: that of its containers, its share of a worker,
//     or none while it waits or pauses;
//  6. the result gets a sample, and a span of every job that does something else than before.
//
// The next instant is the first in which a job arrives, completes or ends a pause at these rates, or for
// which the policy has asked.
//
// # Worlds of one's own
//
// A world that differs in speed alone needs a Speedup; one that differs in what changes cost, an
// AdjustCost. A [Law] cannot be written outside of this package, because the referee of package simtest
// has to know all of them; what a new one must answer is in its definition.
//
// # Notation
//
//	symbol          Go name                  unit                where
//	t               State.Now, Sample.At     virtual time        Dorm Table I
//	A^t             State.Jobs               jobs                Dorm Table I
//	x^t-1           JobState.Places          containers          Dorm (3)
//	x^t             Orders.Places            containers          Dorm (3)
//	sum_k u_k       Sample.Total             between 0 and m     Dorm (1)
//	sum_i l_i       Sample.FairnessLoss      shares              Dorm (2)
//	sum_i r_i       Sample.Adjusted          jobs                Dorm (4)
//	S(n)            Speedup                  ratio               -
//	-               AdjustCost               time                Dorm §V-B5, Zheng Fig. 3.2
//	L_c, R_c        Limit.Share, Span.Rate   millionths          Zheng Algorithm 1, (4.2)
//	E_c(t)          JobState.Value           the job's own       Zheng §4.1.3
//	W_i             Job.Work / Slot          worker-slots        OASiS (2)
//	f_i             Outcome.Worth            utility             OASiS §3.1
//	n_i             Job.Fixed                containers          OASiS §5
//
// # Contract
//
// Time is an int64 of nanoseconds, a rate an int64 of millionths and work their product in 128 bits, so
// each job does exactly the work that it was submitted with: it completes in the first nanosecond, or
// with the first slot, in which the work is done. Completions of one instant come before arrivals,
// arrivals in the order of Scenario.Jobs, then the policy decides once. The same input gives the same
// result. Nothing reads a clock or draws numbers; a policy that does gets its source from its caller.
//
// Scenarios are checked at the start, orders when they are given: what is wrong with a scenario is
// apportion.Faults, with an order an [OrderError] that names policy, job and order. Package simtest
// holds results to what must hold of them, for policies of one's own too.
//
// # Deviations
//
// Dorm's paper says neither what a change of containers costs nor when progress stops; its Fig. 9(b)
// gives 5 % for an application of three hours that is adjusted twice, which is read as a pause of 4.5
// minutes for each change. Fairness loss is summed over every job that was submitted and has not
// completed; Table I says "running", and a policy that lets jobs wait looks fair under that reading:
// Sample.RunningLoss has it.
//
// The thesis has no model of a worker; its numbers imply this one. Limits are soft: what is left when
// every job has its limit is shared again, evenly and without regard to limits, which gives 25 % and
// 75 % under limits of 0.25 and 1 (§6.1.3), and half each without limits. The makespan of one worker
// would then hardly depend on limits, since all CPU is used in any order; the thesis reports makespans
// 1 % to 5 % shorter where jobs overlap less, so jobs that run together may cost something:
// Shared.Interference. Room is ignored, as the thesis does. Fairness loss is against an even division of
// all workers together.
//
// Changes cost nothing in OASiS: AdjustCost is 0 from FromSlots. Its fairness loss, and Dorm's view of
// it, count a worker with its part b/B of a parameter server as one container, in thousandths of a
// parameter server, rounded up, and give each server an equal part of all parameter servers.
package sim
