// Package solvertest is the conformance suite of solvers of P2: a solver that passes [Run] may decide in
// alloc.Reallocate.
//
// # What it computes
//
// Small instances with known answers; random ones of the paper's program and of the whole one against
// exhaustive enumeration: statuses, optima, bounds, ranks of the preference; generated clusters of the sizes that the
// caller chooses: the referee, certificates, determinism, an instance that is left alone; contexts that end before and
// during a search; instances that are none.
//
// # Contract
//
// Instances come from fixed seeds. [Options] say how many and how large they are and how long one check may
// take: a solver that hangs is stopped by its context and named together with the check and the
// instance. Checks of cancellation use the clock: a solver must return within [Patience].
//
// A solver's whole test file is an import and one call of Run.
package solvertest
