// Package alloc is Dorm's utilization-fairness optimizer: given a cluster, its applications and
// what is running now, it decides who should have how many containers on which server, proves how
// good that is, and lists what to create and destroy.
//
// # What it computes
//
// [Reallocate] takes the decision at every arrival and completion by solving P2: the most
// utilization within a budget of fairness loss and a budget of adjusted applications. [NewPlan]
// turns the decision into steps, [Explain] says why it is what it is, [Verify] checks it and its bound
// with code that the solver does not share, [Record] keeps it so that anyone can do so elsewhere, and
// [Measure] computes equations (1)-(4) for any allocation, [NewFragmentation] reports what is free in pieces. The
// default solver is package embedded, and a [Decider] remembers what it has learned; package mip lets general
// solvers take the decision.
//
// The paper's P2 is for interchangeable servers, and where it has no solution nothing changes at all. For clusters
// as they are a Server has labels and may be cordoned; an [Application] may require labels, have numbers of
// containers in steps or from a list and limits by server, be pinned or preemptible, and have a priority and a
// cost of adjustment; and a decision is always possible, as Reallocate says. With Rule.Paper, and with
// these fields left zero, it is the paper's.
//
// # The whole program
//
//	max   sum_i W_i(n_i), K_i where i stays exactly as it is                      in place of (10)
//	(6)   what is on server j fits it; nothing of i is placed anew where j is not open to it, and no more
//	      than PerServer on one server, MaxServers servers
//	(7,8) n_i in [Min, Max], a multiple of Step, one of Counts
//	(15)  sum_i |s_i - s^_i| <= Lambda, at least theta1 sum_i s^_i, or in worth
//	      sum_i |speed_i(n_i)/speed_i(fair) - 1| <= Lambda, at least theta1 applications
//	(16)  sum over those that ran and are not forced of AdjustCost r_i <= ceil(theta2 sum AdjustCost)
//	(G)   sum over i below g of what i uses of k <= L_g[k]   for every queue g with a ceiling
//	i is in the domains of the topology that were chosen for it, [Program §13]
//	r_i = 0 for the pinned, a_i = 0 for the preemptible whose place went to one of higher priority
//
// over those who were taken in; forced are those that cannot stay as they are. Of equal answers one on few
// servers is taken. W_i is what an application states that its containers are worth by their number, of any shape, or
// v_i n; of an application with options these are those of the one in use, H_i. K_i is W_i of what it has and
// the price of a restart, by default an eighth of it; Decision.Objective is less the prices of those that are adjusted. Where anyone states a worth, the objective and its bound are in units of worth; W_i(0) counts
// for whoever is taken in, so that with Min 0 worth decides who runs.
//
// # How a decision is taken
//
// Reallocate goes through these steps; none of them goes back to one before.
//
//  1. Problem.Validate refuses bad input, all faults at once. Nothing after it returns an error for what a caller wrote.
//  2. Names become positions, every option of an application an entry of its own, and labels classes of servers. Who
//     cannot stay as it is, is found here, by the same rule that checks answers.
//  3. Admission says who is in. It holds an allocation of all who are in, each at its fewest containers, and takes others
//     in while that fits: by best fit, by asking a few to make room, by a search for all who still ask together, by a short one
//     for each, and last by preemption. This allocation is why a decision is always possible.
//     What is kept for an application that is due is no room for others. Domains are chosen as each is let in.
//  4. P2 for those who are in is stated in vectors and handed to the solver. Where the loss budget cannot be held it is
//     raised to the least loss, and P2 is solved once more.
//  5. What the solver answers is checked by code that it does not share. A wrong answer is ErrSolver, and nothing of it is
//     used.
//  6. Whoever is placed anew is gathered on few servers.
//  7. Positions become names, and everybody without containers gets a reason.
//
// With Rule.Paper step 3 falls away, and the existing allocation is kept where step 4 has no solution.
//
// # Cost
//
// With n applications, their options counted, J servers and m kinds, steps 2 and 7 take O(n J m), and so do Instance, Measure,
// Explain and a plan's list of the forced. Step 3 takes O((P + 256 J) m) for each that asks, with P placements, since at most
// 256 are asked to make room, and at most 4 short searches beside the one for all: in a crowded cluster whose servers and demands do not fit each
// other these can take longer than step 4 (BenchmarkAdmission). Step 4 takes what the solver takes; the embedded one bounds
// its work by Effort, and its memory by the sizes of the problem, see its documentation. Memory of this package grows with
// the problem; vectors are shared with it, and a solver sees the same slices.
//
// # Results and errors
//
// An error means that there is no decision:
//
//	apportion.Faults          the problem is bad; every fault is an *apportion.FieldError with item and field
//	ErrSolver                 the solver's answer is wrong, and says how
//	what a solver returns     it could not run: a library that is absent, a problem too large for it
//	ErrMismatch               Explain and Verify: this is no answer to that problem, and why not
//
// All else is a decision. Whoever waits, is suspended or was left out is listed with an apportion.Reason: the constraint,
// what is needed, what there is, and a sentence. When ctx ends, the best answer so far is returned and says
// Interrupted; so does a decision of which the context had ended before the call.
//
// # JSON
//
// Problem, Decision, Plan, Metrics, Explanation, Fragmentation and Record are their own JSON, and survive a round trip
// unchanged. Three things are not what a reader of the Go types alone expects: an absent weight is 1, as a queue's is; an
// absent bound or gap of a Decision that was decided is +Inf, which JSON cannot say; and a ceiling without limit is null.
// Enumerations are text. encoding/json ignores fields that it does not know; whoever wants them refused reads with the
// command of this repository.
//
// # Notation
//
//	symbol      Go name                 unit                       where
//	d[i][k]     Application.Demand      of the kind, per container Dorm §III-B
//	w_i         Application.Weight      -                          Dorm §III-B
//	W_i, K_i    Application.Worth, .IdleWorth, .StayWorth   the caller's   beyond the paper
//	speed_i     Application.Speed, Options.Loss   any      beyond the paper
//	H_i         Application.Options, .Option   -                  beyond the paper
//	n^max       Application.Max         containers                 Dorm (7)
//	n^min       Application.Min         containers                 Dorm (8)
//	c[j][k]     Server.Capacity         of the kind                Dorm (6)
//	x[i][j]     Allocation[app][server] containers                 Dorm (9)
//	u_k         Metrics.Utilization     share of the cluster       Dorm (1)
//	s_i, s^_i   Share.Actual, .Theoretical   dominant share        Dorm (2)
//	r_i         Share.Adjusted          -                          Dorm (3)
//	a_i         Application.AdjustCost  -                          beyond the paper
//	q_i         Application.PerServer   containers                 beyond the paper
//	E_i         Application.Requires    servers                    beyond the paper
//	-           Problem.Topology, Application.Within, .Slices, .Prefer   labels   beyond the paper
//	L_g[k]      Queue.Ceiling           of the kind                beyond the paper
//	m           -, in lossBudget        kinds                      Dorm (15)
//	-           Application.Passed, .Ends, Problem.Reservations   beyond the paper
//	theta1      Problem.Theta1          -                          Dorm (15)
//	theta2      Problem.Theta2          -                          Dorm (16)
//
// # Contract
//
// Inputs are read, never changed and never retained; results are the caller's. The same problem
// gives the same decision, whatever the order of maps and the number of CPUs, unless the context
// ends the search. Every allocation is checked against (6)-(9), (15) and (16) by code that the
// solver does not share, and every bound is at most the number of kinds. Results survive encoding/json
// unchanged. Infeasible problems and waiting applications are results with a reason;
// errors are bad input, all faults of it at once.
//
// # Deviations
//
// The paper leaves these open; the tests whose names begin with TestPaper, and TestUnservable, pin
// each reading.
//
//   - A_r in (15) and (16) is never defined: (15) sums over A^t as (2) does, (16) over the
//     applications of A^t that also ran before, since only they have an r.
//   - The budget of (15) is a part of the theoretical shares, since that of 2m lets one of four equal jobs have half of the cluster for
//     the CPUs that it asks for. With Rule.Paper it is as printed; Options.NoCeil15 drops its ceiling, NoCeil16 that of (16).
//     m counts the kinds that the cluster has any of.
//   - Theoretical shares hold every application within its bounds, see BoundedDRF.
//   - A newcomer that the empty cluster could not hold is left out of P2 and reported: the paper's
//     "keep the existing allocation" would block every later newcomer.
//   - With Problem.Queues theoretical shares are those of drf.Tree.
//   - An application with options claims the first that there is room for, in its theoretical share, whichever it uses:
//     another order of options is another claim. Changing its option is an adjustment.
//   - Among the many optima of P2 the preference follows P1: see solver.Rank.
package alloc
