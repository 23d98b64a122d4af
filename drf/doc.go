// Package drf answers who deserves how much of a cluster: dominant resource fairness.
//
// # What it computes
//
// Clients share several kinds of resources and need them in different proportions. The dominant
// share of a client is the largest part of the cluster that it has of any kind; DRF makes the
// dominant shares, each divided by the client's weight, as equal as possible, lowest first.
//
//   - [Fill] divides a cluster into divisible containers, exactly.
//   - [FillWhole] hands out whole containers, one by one.
//   - [Sorter] keeps clients in the order in which to serve them while containers come and go.
//   - [Verify] checks any division against the properties that make it fair.
//   - [Explain] says what stopped each claim.
//   - [Tree] does all this for queues in a tree, with weights, guarantees and ceilings: [Tree.Fill],
//     [Tree.FillWhole], [Tree.NewSorter], [VerifyTree], [ExplainTree], and [Tree.Reclaim] for what would be
//     taken back from queues that have more than is guaranteed.
//   - [Derive] lets kinds be compared as one, as types of GPUs, in shares, guarantees and ceilings.
//   - [History] remembers what queues have used, so that one which had much is served later for a while.
//
// # Notation
//
//	symbol	Go name	unit	where
//	R = <r1..rm>	capacity, Sorter total	units of the kind	[Ghodsi11] Algorithm 1
//	D_i	Claim.Demand	units of the kind, one container	[Ghodsi11] Algorithm 1
//	w_i	Claim.Weight	none	[Ghodsi11] §4.3
//	n_i^min, n_i^max	Claim.Min, Claim.Max	containers	[Dorm]
//	G_g, L_g	Queue.Guarantee, Queue.Ceiling	units of the kind	of all below the queue
//	s_i	Filled.Share, Client.Share	part of the cluster	[Ghodsi11] §4.1
//	s_i/w_i	Filled.Level, Client.Level	share for a weight of 1	[Ghodsi11] §4.3
//
// # Contract
//
// Quantities are integers in [0, math.MaxInt64]; weights lie in [MinWeight, MaxWeight]. Inputs are
// read and not kept; what is returned is the caller's. The same claims in another order give the
// same numbers to the last bit: ties are decided by ID on exact fractions (10 of 100 at weight 2
// equals 15 of 100 at weight 3), and rates are summed without rounding. An impossible wish (a kind
// that the cluster has none of, minima that do not fit together) is an answer with a reason; an
// error is always [apportion.Faults] or [*apportion.FieldError] and means bad input.
//
// # Deviations
//
//   - Claims have bounds on the number of containers, as [Dorm] needs for its theoretical share.
//     Minima that do not fit together are dropped, all of them, and the answer says so.
//   - A kind with capacity zero takes no part in shares; a claim that demands it gets nothing and
//     does not count when minima are added up. The papers assume positive capacities.
//   - A demand of zero: the claim goes on when that kind is used up, as in [Parkes15]; a demand of
//     zero in all kinds is refused, since it has no share.
//   - One weight a claim for all kinds; [Ghodsi11] allows one for each kind.
//   - Of a queue only the kinds count that it would be served next, where [Bhattacharya13] rescales its
//     children to the least. Guarantees and ceilings are not in the paper. The properties that VerifyTree looks
//     at are those that hold; queues of different claims may envy one another.
//   - [FillWhole] by default goes on with other claims when a container does not fit.
//     WholeOptions.StopAtFirst is Algorithm 1 as printed.
package drf
