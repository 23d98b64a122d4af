// Package embedded solves Dorm's optimization problem P2 in pure Go. It is the default solver of
// package alloc: it needs no library, answers every instance with an allocation and a bound that
// anyone can recompute, and is the same on every machine.
//
// # What it computes
//
// A decision with a previous allocation is at heart: whom to free, that is, which few applications may
// change, and how to pack them and the newcomers into what the others leave. Applications of equal
// demand are one type (problem.go), and the least loss of a type's containers has a closed form
// (pool.go). A bound depends on multipliers, which one subgradient method lowers (descent.go,
// [Polyak69]), and on whom a node of branch and bound has freed or kept (selection.go):
//
//   - Prices by server (dual.go, root.go) relax the capacities (6) and the fairness budget (15), which
//     leaves a small concave problem for each application, [Geoffrion74]. Where nothing may stay the
//     prices go by shape of server, and column generation finds the best ones (blocks.go).
//   - The decomposition (pattern.go, split.go, spliteval.go) gives every server a copy of its own of
//     which of its applications are freed, and packs whole containers by lists of maximal patterns,
//     [Guignard87], [Gilmore61]. It is used where servers are small enough for lists. Where a unit of a
//     kind is worth much, as one of 5 GPUs, nodes also limit how much of that kind is used (limits.go).
//
// For a set of freed applications what remains is the residual problem: bounded by column generation
// over patterns of servers and counts of types (residual.go, master.go, [Dantzig60]), packed by an
// ascent from its solution (rounding.go), and settled for good by branching on counts and by dynamic
// programming on slack (leaves.go, slack.go). The search is then
//
//   - with lists of patterns: a local search over sets, ranked by a priced bound and judged by the
//     residual problem (sets.go), then branch and bound on who is freed (tree.go, [Land60]) with the
//     decomposition at the nodes, and more of both where the gap is about a unit of a scarce kind;
//     unpack.go deals the patterns out to servers;
//   - else: annealing with ruin and recreate [Schrimpf00] on containers and on the set at once, several
//     times from the start where there are sets to choose from (state.go, anneal.go, starts.go, moves.go,
//     exchange.go, recreate.go), each exchange of sets packed anew before it is judged (repair.go), and
//     the same branch and bound with the prices by server at nodes and leaves; a leaf that these do not
//     rule out is an instance of its own, small again (restleaves.go). A part of it comes after the
//     first start: small trees are finished then.
//
// At the end containers of a type are handed to its applications, close to where these have them now
// (decode.go). Tiny instances are enumerated (enumerate.go), which proves the whole preference of
// [solver.Rank]. What has no solution is recognized by counting, by prices, by branch and bound or by
// enumeration, with the constraints that cannot hold together (conflict.go).
//
// # Notation
//
//	symbol   Go name             unit                  where
//	v_t      demandType.value    utilization           [Dorm] eq. (10), of a type of demand t
//	delta_t  demandType.delta    share per container   [Dorm] eq. (2)
//	p_gk     dual, x[g*kinds+k]  utilization per unit  of kind k on a server of class g
//	lambda   the last of dual's  utilization per share of the fairness budget (15)
//	free_i   dual.free           utilization           see solver.DualBound
//	keep_i   dual.keep           utilization           see solver.DualBound
//	p_t      split, x[t]         utilization           of a container of type t, see solver.CopyBound
//	mu_ij    split, after lambda utilization           of the room of application i on server j
//	F*       selection.chosen    -                     whom the multipliers free
//	pi_t     residual.pi         utilization           of a container of type t that servers supply
//	G_t(N)   pool.at             share                 least loss of N containers of the free of type t
//	L'       residual.budget     share                 loss budget less the loss of the kept
//
// # Contract
//
// Solve never panics on an instance and never answers with counts that fail [solver.Instance.Check].
// Bound is valid whenever Solve returns; where Searched is false the multipliers alone prove it.
// Status Infeasible is proven; Unknown means that neither a solution nor a proof was found. Proven is
// ByOrder after enumeration, ByUtilization where the bound meets the utilization, else ByNothing;
// below what is proven, less loss and fewer adjusted applications are preferred: what runs now is the
// first candidate and gives way only to something better.
//
// A Solver is deterministic: numbers come from a generator of its own, effort is counted in moves,
// rounds and nodes, and no floating-point operation depends on the machine. A context that ends stops
// it within some dozens of moves, or a step of a leaf; the answer then has Interrupted set.
//
// The time of a move hardly depends on the number of servers; their number, and that of rounds and
// nodes, is in proportion to Effort and falls where each costs more. A round of the decomposition
// costs O(sets of applications on servers), one of the prices O(types x servers x kinds).
//
// # Memory
//
// With S servers, A applications of T different demands, and K kinds, no decision takes more than about
//
//	8 S T + 16 P T + 32 T min(P, largest maximum) + 100 S K + 500 A + 200 MB
//
// bytes, where P <= S is the servers that differ in what they have or in what may stay on them. The last term
// bounds what grows with the effort, each part by a constant of its own: the lists of patterns
// (mostCounts, mostResiduals, mostSubsets), programs (mostRows, columnsPerRow, mostPricings), what is known of
// sets (mostSeenBytes), the nodes that wait (mostOpenBytes), and the states of a leaf (mostStateBytes). At the
// usual efforts hardly any of it is used: 1,000 servers and 500 applications that all differ take 13 MB,
// see BenchmarkHeap.
//
// # References
//
//	[Dantzig60]  G. B. Dantzig, P. Wolfe. Decomposition principle for linear programs. Operations
//	             Research 8(1), 1960.
//	[Dorm]       P. Sun, Y. Wen, N. B. D. Ta, S. Yan. Towards Distributed Machine Learning in Shared
//	             Clusters: A Dynamically-Partitioned Approach. 2017.
//	[Geoffrion74] A. M. Geoffrion. Lagrangean relaxation for integer programming. Mathematical
//	             Programming Study 2, 1974.
//	[Gilmore61]  P. C. Gilmore, R. E. Gomory. A linear programming approach to the cutting-stock
//	             problem. Operations Research 9(6), 1961.
//	[Guignard87] M. Guignard, S. Kim. Lagrangean decomposition: a model yielding stronger Lagrangean
//	             bounds. Mathematical Programming 39, 1987.
//	[Land60]     A. H. Land, A. G. Doig. An automatic method of solving discrete programming problems.
//	             Econometrica 28(3), 1960.
//	[Polyak69]   B. T. Polyak. Minimization of unsmooth functionals. USSR Computational Mathematics
//	             and Mathematical Physics 9(3), 1969.
//	[Schrimpf00] G. Schrimpf, J. Schneider, H. Stamm-Wilbrandt, G. Dueck. Record breaking
//	             optimization results using the ruin and recreate principle. Journal of Computational
//	             Physics 159(2), 2000.
package embedded
