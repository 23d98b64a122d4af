// Package embedded solves Dorm's optimization problem P2 in pure Go. It is the default solver of
// package alloc: it needs no library, answers every instance with an allocation and a bound that
// anyone can recompute, and is the same on every machine.
//
// # What it computes
//
// An answer to a [p2.Instance] in four steps, each in files of its own:
//
//   - The root bound (dual.go, subgradient.go, root.go). Lagrangian relaxation of the capacities (6)
//     and the fairness budget (15) leaves one small concave problem for each application; of the
//     applications that run, the best few are freed, as the adjustment budget (16) allows. A
//     subgradient method improves the prices, first by shape of server, then by server.
//   - The search (state.go, pool.go, moves.go, recreate.go, anneal.go). Annealing with ruin and
//     recreate [Schrimpf00] on whole containers, and at once on the set of freed applications. Free
//     applications of equal demand share their containers in a pool, whose least loss has a closed
//     form, so that the search never chooses among equals (decode.go hands them out at the end).
//   - Enumeration (enumerate.go) of small instances, depth first, with the bounds of the root and
//     equal servers merged. It proves the whole preference of [p2.Rank], or infeasibility.
//   - Conflicts (conflict.go). Counting before the search, prices after it: were every container
//     worthless, the optimum would be 0, so that a dual bound below 0 proves that there is no
//     solution; enumeration finds a smallest set of constraints.
//
// # Notation
//
//	symbol   Go name             unit                  where
//	v_t      demandType.value    utilization           [Dorm] eq. (10), of a type of demand t
//	delta_t  demandType.delta    share per container   [Dorm] eq. (2)
//	p_gk     prices.server       utilization per unit  of kind k on a server of class g
//	lambda   prices.loss         utilization per share of the fairness budget (15)
//	free_i   dual.free           utilization           see p2.DualBound
//	keep_i   dual.keep           utilization           see p2.DualBound
//	G(n)     pool.at             share                 least loss of n containers in a pool
//
// # Contract
//
// Solve never panics on an instance and never answers with counts that fail [p2.Instance.Check].
// Bound is valid whenever Solve returns; without enumeration it is what p2.DualBound computes from
// Multipliers. Status Infeasible is proven; Unknown means that neither a solution nor a proof was
// found. Proven is ByOrder after enumeration, ByUtilization where the bound meets the utilization,
// else ByNothing; below what is proven, less loss and fewer adjusted applications are preferred:
// what runs now is the first candidate and gives way only to something better.
//
// A Solver is deterministic: numbers come from a generator of its own, effort is counted in moves
// and rounds, and no floating-point operation depends on the machine. A context that ends stops
// it within some dozens of moves; the answer then has Interrupted set.
//
// The time of a move hardly depends on the number of servers, the number of moves is in proportion
// to servers plus applications; a round of the root bound costs O(types x servers x kinds).
//
// # References
//
//	[Dorm]       P. Sun, Y. Wen, N. B. D. Ta, S. Yan. Towards Distributed Machine Learning in Shared
//	             Clusters: A Dynamically-Partitioned Approach. 2017.
//	[Geoffrion74] A. M. Geoffrion. Lagrangean relaxation for integer programming. Mathematical
//	             Programming Study 2, 1974.
//	[Polyak69]   B. T. Polyak. Minimization of unsmooth functionals. USSR Computational Mathematics
//	             and Mathematical Physics 9(3), 1969.
//	[Schrimpf00] G. Schrimpf, J. Schneider, H. Stamm-Wilbrandt, G. Dueck. Record breaking
//	             optimization results using the ruin and recreate principle. Journal of Computational
//	             Physics 159(2), 2000.
package embedded
