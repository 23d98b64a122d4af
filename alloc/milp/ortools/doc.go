// Package ortools hands models to the engines of OR-Tools, CP-SAT, HiGHS, SCIP and GLOP, through the C
// interfaces of its shared libraries.
//
// # What it computes
//
// Four back-ends of package milp. [CPSAT] wants integer variables with finite bounds and searches by
// constraint propagation and clause learning. [HiGHS] and [SCIP] take any model. [GLOP] takes linear
// programs. What an engine cannot be told is missing from its Capabilities, so milp.Solve refuses
// the call instead of dropping an option in silence.
//
// The libraries are opened at run time: neither headers nor libraries are needed to build, and a
// program on a machine without them gets [ErrUnavailable], with the places searched, from every
// call. So does a program built without cgo. They are looked for in the back-end's Library, else in
// the folder named by [EnvLibrary], else where the system's loader looks; a place that is named and
// wrong is an error, not passed over. fetch.sh gets them from the official Python wheel; the C++
// archives and distribution packages of OR-Tools do as well. HiGHS needs libhighs only.
//
// # Notation
//
//	symbol      Go name                    unit             where
//	s           integerForm.scale          1                scaling.go: a power of ten
//	a', c'      integerForm.coefs          1 / s            scaling.go: rounded s a, s c
//	d           integerForm.deviation      row / s          scaling.go: sum_j |s a[j] - a'[j]| max |x[j]|
//	t           tightShare, looseShare     tolerance        cpmodel.go
//
// # Contract
//
// CP-SAT computes in 64 bit integers. A row is multiplied by the smallest power of ten s that leaves
// a deviation of at most a thousandth of the feasibility tolerance, or by the finest that
// fits into 2^60, if its deviation is at most a quarter of the tolerance; otherwise the row is
// refused by name. Both bounds are widened by the deviation and by that thousandth. A point of
// the model is therefore never lost, and a point found misses a row by less than the tolerance that
// the referee grants. Whole coefficients stay as they are. Coefficients such as 0.1 and 0.2 with
// bound 0.3, whose float64 values add up to a little more than the bound, come out as 1, 2 and 3.
//
// The objective is scaled likewise. Its bound is mapped back as bound/s - d/s, less the rounding of
// the constant: no feasible point is better than it.
//
// An end of the context is passed on to the engine, which stops where it next looks. HiGHS tells every
// better point and bound as it finds them, and GLOP has nothing before the end: their calls wait 30 ms
// for the engine and then return what is known. CP-SAT stops within milliseconds; SCIP finishes what
// it has begun, some tenths of a second; their calls wait for up to 3 s, as their best point comes last
// (figures at the Capabilities methods, from BenchmarkInterrupt). A search that was left so ends on a
// thread of its own, owns all that it uses and frees it; at most 8 are left at a time, [WindingUp]
// counts them and [WaitWindingUp] waits for them. The time limit of SCIP and GLOP is such an
// interruption, as MathOpt's C interface takes no parameters.
//
// CP-SAT gets no continuous variables. On a grid fine enough for the tolerances, its propagation may
// move the bounds of two variables against each other in steps of the grid, billions of times, and
// looks at no clock and no interruption meanwhile. A model that needs it can often be written with
// whole numbers instead, as mip.BuildFor does for P2.
//
// The bound of a linear program solved to the end is its objective: correct up to the engine's
// tolerance of reduced costs, not beyond. HiGHS is given a tenth of the tolerances asked for, so that
// its points still pass once integer variables are rounded; smaller coefficients than 1e-12, which
// it would drop, are refused. MathOpt's engines get no coefficient below 1e-9 and no number above
// 1e15: SCIP would take the first for zero and may loop for ever on the second.
//
// Back-ends hold no state and may be used by many goroutines. The libraries stay loaded until the
// process ends, all from one place: two copies in one process clash. Names are not handed over,
// messages beyond 2 GiB are refused, and MathOpt is asked for two engines only, since others
// end the process. No C buffer outlives its search and C keeps no Go pointer (memcheck.sh). CP-SAT's handler of
// the interrupt key is off, and so are SCIP's messages to stderr, for the whole process: it complains
// about an event of MathOpt's in every search that can be interrupted. HiGHS, rarely, writes a line to
// stdout that no option of its own is asked about.
//
// # Deviations
//
// CP-SAT's relative gap divides by at least 1, measured here in units of 1/s, where milp divides by the
// objective itself. A linear program that HiGHS or GLOP leave unfinished comes without a bound.
// Where an engine finds the relaxation unbounded, a second solve without costs decides between
// Unbounded and Infeasible ([Meyer74]).
package ortools
