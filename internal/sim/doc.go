// Package sim simulates a cluster on virtual time: applications arrive, train at a speed that
// depends on their containers, and leave; a policy decides at every arrival and completion.
//
// # What it computes
//
// [Run] plays a [Scenario] under a [Policy] ([Swarm], [Dorm] or one of your own) and returns, for
// each decision, utilization, fairness loss and adjusted applications (equations (1)-(4) of
// [Dorm], by package alloc, so the same for every policy), and for each application when it
// started and completed. [Queue], the future event list below it, knows nothing of clusters.
//
// # Notation
//
//	symbol                 Go name                  unit                where
//	t                      State.Now, Sample.At     virtual time        [Dorm Table I]
//	A^t                    State.Apps               applications        [Dorm Table I]
//	x^t-1, x^t             State.Running, result    containers          [Dorm eq. (3)]
//	sum_k u_k              Sample.Total             between 0 and m     [Dorm eq. (1)]
//	sum_i l_i              Sample.FairnessLoss      shares              [Dorm eq. (2)]
//	sum_i r_i              Sample.Adjusted          applications        [Dorm eq. (4)]
//	S(n)                   Speedup                  ratio               -
//	-                      AdjustCost               time                [Dorm §V-B5]
//
// # Contract
//
// Time is an int64 of nanoseconds and work is counted in integers of 128 bits, so that each
// application does exactly the work it was submitted with: it completes in the first nanosecond in
// which the work is done. Speeds are rounded once, to a millionth of a container. Whatever
// arrives or completes at one instant, one decision follows; arrivals of one instant are submitted
// in the order of Scenario.Apps. The same input gives the same result; Run takes a context because
// solvers do.
//
// # Deviations
//
// The paper says neither what a change of containers costs nor when progress stops; its Fig. 9(b)
// gives 5 % for an application of three hours that is adjusted twice, which is read as a pause of
// 4.5 minutes for each change. Fairness loss is summed over every application that was submitted
// and has not completed; Table I of the paper says "running", and a policy that lets applications
// wait looks fair under that reading: Sample.RunningLoss has it.
//
// # References
//
//	[Dorm] P. Sun, Y. Wen, N. B. D. Ta, S. Yan. Towards Distributed Machine Learning in Shared
//	       Clusters: A Dynamically-Partitioned Approach. 2017.
//	[Law]  A. M. Law. Simulation Modeling and Analysis. 5th edition, McGraw-Hill, 2015.
package sim
