// Package milptest is the conformance suite of the back-ends of [milp]: a back-end that passes [Run] may
// stand behind milp.Solve.
//
// # What it computes
//
// Tiny models with known answers for every status and every sort of bound and row; searches that
// are cut short by each limit, cancelled before the start and in the middle; refusals of what
// a back-end does not claim to be able to do; programs that a solver has once got wrong; and random
// models whose optimum is found by exhaustive enumeration.
//
// # Notation
//
//	symbol      Go name                    unit             where
//	-           Options.Models             models/family    check.go
//	-           Options.Deadline, Patience time             check.go, limits.go
//	-           answerTol                  part of z*       check.go: what an answer may differ by
//	-           catalogueTol               objective        miplib.go: decimals of the catalogue
//
// # Contract
//
// Every answer passes through milp.Solve and so through its referee. A check that needs what the
// back-end does not claim (milp.Capabilities) is skipped, and the test log says which capability is
// missing. Random models come from fixed seeds; [Options] say how many there are and how long one check
// may take: a back-end that hangs is stopped where it can be, and named. Checks of cancellation and time limits use the
// clock: a back-end must stop within [Patience].
//
// A back-end's whole test file is an import and one call of Run.
//
// The suite is tested in turn. Every tiny model whose variables are bounded is solved by enumeration as
// well, and faults are planted in the reference back-end, one at a time: each must be found by the check
// that is meant for it. A new check comes with such a fault.
//
// # Deviations
//
// A node limit counts as kept up to twice its number and ten more, because engines look at it between
// batches of nodes. A memory limit is checked at one byte alone: what a byte is to an engine, its
// allocator decides.
package milptest
