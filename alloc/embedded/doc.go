// Package embedded solves Dorm's optimization problem P2 in pure Go. It is the default solver of
// package alloc: it needs no library, answers every instance with an allocation and a bound that
// anyone can recompute, and is the same on every machine.
//
// # What it computes
//
// A decision with a previous allocation is at heart: whom to free, that is, which few applications may
// change, and how to pack them and the newcomers into what the others leave. Each part of the answer is a
// package of its own below internal; calls run down this list:
//
//   - tuning: the numbers that trade time for quality.
//   - tree: branch and bound on who is freed, [Land60]. A node starts from the multipliers of a recent one;
//     where a unit of a scarce kind, as one of 5 GPUs, is about the gap, nodes also limit how much of that
//     kind is used.
//   - sets: a walk over sets of freed applications, [Schrimpf00]: some that share a server are freed, those
//     that a priced bound misses least are kept for them, and the residual problem judges the set. Where many may
//     be adjusted a climb goes first, by many exchanges at once.
//   - leaf: what is known about a set of freed applications. The residual problem is packed by an ascent
//     from its linear program, and settled for good by branching on counts and by dynamic programming on
//     slack. Where servers hold too much for lists of patterns, what the kept ones leave is an instance of
//     its own, small again.
//   - search: annealing with ruin and recreate [Schrimpf00] on containers and on the set at once; each
//     exchange of sets is repaired before it is judged. Minima go where they fit best, by groups of servers that have
//     equally much left, where many are placed at once.
//   - filling: minima that fill a cluster to the last unit are placed by trying every way.
//   - enumerate: proofs of the whole preference of [solver.Rank] on tiny instances.
//   - colgen: a linear program whose columns arrive as they are needed, [Dantzig60]: the residual problem
//     over patterns of servers and counts of types.
//   - lagrange: bounds by multipliers, which one bundle method lowers to those of the linear programs behind
//     them, [Kiwiel90]. Prices by server
//     relax the capacities (6) and the fairness budget (15), which leaves a small concave problem for each
//     application, [Geoffrion74]. The decomposition gives every server a copy of its own of which of its
//     applications are freed, and packs whole containers by lists of patterns, [Guignard87].
//   - pattern: the maximal patterns of a server, [Gilmore61], and the classes that servers come to as their
//     residents are freed.
//   - problem: the compiled instance. Applications of equal demand are one type, servers that hold as much
//     of each type one shape; the least loss of a type's containers has a closed form.
//
// The phases are in phases.go: by sets (sets.go) where servers are small enough for lists of patterns, else
// by containers (containers.go). What each part brings is printed by BenchmarkAblation, and TestNumbersAreListed of package
// tuning counts the numbers that steer them. Of each clever part there is a dumb twin that tests hold it against: every
// set of freed applications for the tree, every distribution for pools, every count for prices,
// and the exhaustive oracle of ../../internal/oracle for whole answers.
//
// A price of restarts (solver.App.Stay) is what keeping brings beside its containers, a constant of what is kept, in all of
// these; only the steps that utilizations come in are lost with it. Without that the search would be the one by containers.
//
// Where numbers of containers have worths of their own each application is a type by itself, and the search is the one
// by containers: moves follow the slope of the concave envelope (problem.Curve), the price bound tries every number, of
// whatever shape the worths are, and enumeration settles tiny instances.
//
// Whatever is not the paper's P2 has its servers joined before the search goes on: those that have an application in common are one
// (lagrange.Totals). Dynamic programming on what is used and on the loss finds the best numbers for these, of steps, lists and any
// shape of worths: that is a bound, and where the numbers can be packed (pack.go) it is the answer, proven. Numbers that are next to
// the best are packed too, as a start. At the end room is shifted between two applications at a time (shift.go), where numbers come in
// jumps.
//
// Ceilings of groups (G) that can be exceeded tell applications apart too: those of one type are below the same ones.
// Where an early answer without them (ceilings.go) exceeds one, the search is by containers: the price bound has a
// multiplier for each ceiling, a last evaluation keeps those of groups without a common application instead of pricing
// them, moves keep them all, and enumeration settles tiny instances. There is no branch and bound then. Where servers
// have lists of patterns a search by sets comes first (maxima.go), below maxima under which the ceilings hold: with
// nobody who may stay it is mostly the answer, and what it leaves is less than a part of a container.
//
// Of applications with options (solver.Choice) an option each is fixed, and the rest is an instance without: the search starts
// from what prices prefer, one option in use in each, or by the best numbers on joined servers where these are found, and goes on
// to the others by what these would lose at the prices. The bound is the lesser one of the prices and of the joined servers. An
// option that every solution uses, as that of a pinned application, is fixed before anything else.
//
// Where an instance is small and not the paper's P2 its linear program is written as well (program.go). A quick answer comes first.
// The relaxation is a bound, and the numbers of containers next to its own are an instance that is searched for itself, [Danna05].
// Branch and bound of package bb settles what it can in the end. Programs of a few applications beside what all others have, as
// neighbourhoods of the answer, improved one of 28 instances of 20 servers and 30 applications, and took a quarter of the time.
//
// # Notation
//
//	symbol   Go name                        unit                  where
//	v_t      problem.DemandType.Value       utilization           [Dorm] eq. (10), of a type of demand t
//	delta_t  problem.DemandType.Delta       share per container   [Dorm] eq. (2)
//	p_gk     lagrange.Dual, x[g*Kinds+k]    utilization per unit  of kind k on a server of class g
//	nu_c     between p and lambda           utilization per unit  of what a ceiling (G) limits
//	lambda   the last of a Dual's x         utilization per share of the fairness budget (15)
//	p_t      lagrange.Decomposition, x[t]   utilization           of a container of type t, see solver.CopyBound
//	mu_ij    the same, after lambda         utilization           of the room of application i on server j
//	sigma_k  the same, after mu             utilization per unit  of kind k, for limits on its use
//	F*       lagrange.Selection.Chosen      -                     whom the multipliers free
//	pi_t     colgen.Residual.Pi             utilization           of a container of type t that servers supply
//	G_t(N)   problem.Pool.At                share                 least loss of N containers of the free of type t
//
// # Contract
//
// Solve never panics on an instance and never answers with counts that fail [solver.Instance.Check].
// Bound is valid whenever Solve returns; where Searched is false the multipliers alone prove it.
// Status Infeasible is proven, by sums, enumeration or a bound; Unknown means that neither a solution nor a proof was found. Proven is
// ByOrder after enumeration, ByUtilization where the bound meets the utilization, else ByNothing;
// below what is proven, less loss and fewer adjusted applications are preferred: what runs now is the
// first candidate and gives way only to something better.
//
// A Solver is deterministic: numbers come from a generator of its own, effort is counted in work of
// annealing, rounds and nodes, and no floating-point operation depends on the machine. A context that ends stops
// it within some dozens of moves, or a step of a leaf; the answer then has Interrupted set. Up to 500 servers and
// 2,000 applications that is about 10 ms of work, in proportion to servers times demands beyond.
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
// (mostCounts, mostResiduals, mostSubsets), programs (mostRows, mostPricings), the cuts of a descent, 8 priceCuts K
// for each server at most, what is known of sets (mostSeenBytes), the nodes that wait (mostOpenBytes), the states of a
// leaf (mostStateBytes), and those of joined servers (mostLedger). An entry of Worth takes 24 bytes more; numbers of
// containers that nobody lists take nothing, however many there may be. At the usual efforts hardly any of it is used:
// 1,000 servers and 500 applications that all differ take 3 MB, see BenchmarkHeap.
package embedded
