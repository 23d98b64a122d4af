// Package milp states mixed-integer linear programs without naming a solver, hands them to one, and
// re-checks what comes back.
//
// # What it computes
//
// A program has n variables x, m rows and one objective:
//
//	minimise (or maximise)   constant + sum_j cost[j] x[j]
//	subject to               lower[i] <= sum_j a[i][j] x[j] <= upper[i]     for every row i
//	                         low[j] <= x[j] <= high[j]                      for every variable j
//	                         x[j] integer                                   for the integer ones
//
// Any bound may be infinite. A [Builder] collects the program and keeps the first fault of its
// caller until [Builder.Build], which gives an immutable [Model]. A [Solver] has one method. [Solve]
// checks options and capabilities before the call and the answer after it: a referee that shares
// no code with any solver recomputes every row, every bound and the objective. [ReadMPS],
// [Model.WriteMPS] and [Model.WriteLP] exchange models with other programs and with people.
//
// # Notation
//
//	symbol      Go name               unit           where
//	n, m        Variables(), Rows()   -              Model
//	a[i][j]     Row(i), Term.Coef     row / variable Model, Builder
//	x[j]        Values[j]             variable       Solution
//	z, zLP      Objective, Bound      objective      Solution
//	gap         Gap()                 fraction       Solution
//
// # Contract
//
// Finite numbers are smaller than [Infinite] in size, because solvers take larger ones for
// infinite. Terms of one variable in one row are added up, terms that come to zero are dropped, and
// a row lists its variables in ascending order. Names are optional and without white space.
//
// Slices that a caller passes in are neither kept nor changed. Slices that a Model gives out are its
// own and are read-only; those of a Solution are the caller's. A Model may be used by many
// goroutines; a Builder by one.
//
// An outcome of a search (infeasible, unbounded, limit reached, cancelled) is a [Status]. An error
// means that the call could not be made as asked, or that the solver's answer is wrong
// ([WrongAnswerError]).
//
// # Deviations
//
// MPS and LP are families of dialects. Ours: the first N row is the objective, later ones are
// kept as rows without bounds; a right-hand side of the objective is its constant, negated; an
// integer column between markers without any BOUNDS entry is in [0, 1], as CPLEX, Gurobi, SCIP and
// HiGHS read it; a negative UP without an earlier lower bound sets the lower bound to minus
// infinity; numbers of size 1e20 and above are infinite bounds. The writer states
// every bound on which dialects differ.
// A row with two different finite bounds is written as one bound and a width (RANGES). Where no
// float64 width joins the two exactly, the second is off by one unit in the last place after
// reading back.
package milp
