// Package bb is a reference back-end of package milp: branch and bound in pure Go, for small models.
//
// # What it computes
//
// The optimum of a mixed-integer program, with proof, by splitting on integer variables whose value
// in the linear relaxation is not whole ([Land60]). Open nodes wait in order of their bound;
// after a split the search plunges into the child nearer to the relaxation's value and stays
// in the subtree until it ends. The branching variable is chosen by pseudo-costs.
//
// The relaxation is solved by a dual simplex method for bounded variables that starts from whatever
// basis the last node left: only bounds differ between nodes, so that basis stays dual feasible, and
// nodes need to store no more than one pair of bounds. A primal simplex method finishes where
// the costs had to be changed on the way. The basis inverse is explicit and made afresh every 100
// pivots; columns of rows whose slack is basic are unit vectors, which nothing computes with.
//
// # Notation
//
//	symbol      Go name                 unit             where
//	A, s        relaxation, slacks      -                relaxation.go: A x + s = 0
//	B^-1        simplex.inverse         -                simplex.go
//	x, d, y     x, d, y                 variable, cost   simplex.go
//	z*, zLP     search.best, node.bound scaled objective search.go
//
// # Contract
//
// The same model and options give the same answer and the same number of nodes, unless the clock or
// the context ends the search. One goroutine. O(m k + nonzeros) a pivot and 8 m^2 bytes for m rows, of which k are tight:
// some hundred rows are comfortable, some thousand are the end, and a model beyond the
// memory limit (1 GiB without one) is answered with LimitReached at once. There
// is no presolve and there are no cuts. A model with integer variables without bounds
// may keep it busy for ever: set a limit.
//
// Tolerances are named in simplex.go and search.go. What is pruned is pruned by a proof that does not
// rely on the inverse: a bound is the Lagrangian value of multipliers, recomputed from the
// matrix, and infeasibility is a combination of rows whose range over the bounds misses 0. What
// remains is rounding in sums of that length, and reduced costs within 1e-9 (costs scaled to below
// 1) that count as 0. A feasible point has its integer variables rounded and fixed, its continuous
// ones optimised again, and passes milp's own check before it counts.
//
// Where a node can be neither solved nor split, its bound stays open, and the answer is Feasible or
// LimitReached with the reason instead of a claim.
//
// # Deviations
//
// The relaxation does not use gonum's lp.Simplex. It takes equations in non-negative variables,
// so every upper bound becomes a row; it cannot start from a parent's basis after a bound has
// moved, as that basis is no longer primal feasible; and it fails on matrices without full row
// rank. On the eight test instances one relaxation takes it 1 ms to 1 s and misc03 ends with
// "A is singular", where a node here takes some ten to hundreds of microseconds
// (BenchmarkRelaxation). gonum's method serves as the twin in the tests.
package bb
